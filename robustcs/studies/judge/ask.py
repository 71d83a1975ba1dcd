"""The worklist of judging, from the files of a workspace."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from robustcs.errors import UsageError
from robustcs.evaluation.hole_influence import expected_influence
from robustcs.evaluation.hole_model import fit_hole_model
from robustcs.evaluation.holes import JudgedRun, judged_run
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.measures import averaged, parse_measure
from robustcs.evaluation.ranking import Ranking
from robustcs.evaluation.run_pool import CollectedRun, Grades, PoolBuilder, RunPool
from robustcs.inputs.arrays import as_arrow
from robustcs.project.model import Project
from robustcs.project.requirements import measures_of_rankings
from robustcs.project.run_groups import run_sources
from robustcs.project.workspace import Workspace
from robustcs.studies.judge.analysis import Pair, Worklist, judging_worklist, reach

#: What CAsT ranks systems by.
_DEFAULT_MEASURE = parse_measure("ndcg_cut_3")
#: The depth at which CAsT 2020's holes were judged, where the measures have no cut-off of their own.
_DEFAULT_TOP = 3


def highest_grade(workspace: Workspace) -> int:
    """The highest grade of the qrels. Raises :class:`UsageError` where it does not make a scale."""
    highest = int(workspace.qrels.grades.max())
    if not 1 <= highest <= 9:
        raise UsageError("no-scale", f"the highest grade in the qrels is {highest}", "name the scale's with --max-grade 1 to 9")
    return highest


def ask(workspace: Workspace, *, top: int | None = None, max_grade: int | None = None) -> Worklist:
    """The unjudged passages of the top ``top`` of all systems, by how much their grades probably change the comparisons.

    ``top``: by default the largest cut-off of the measures, or 3. ``max_grade``: the highest grade of the scale, by default
    that of the qrels.

    Raises :class:`UsageError` without qrels or runs, and for a measure of answers.
    """
    highest = max_grade or highest_grade(workspace)
    project = workspace.project
    workspace.require_runs()
    names, comparisons = _comparisons(project)
    measures_of_rankings(workspace)
    measures = averaged(project.metrics or (_DEFAULT_MEASURE,))
    top = top or max((measure.cutoff or 0 for measure in measures), default=0) or _DEFAULT_TOP
    qrels = workspace.qrels
    depth = reach(measures, top)
    files = workspace.system_files(names)
    builder = PoolBuilder(qrels.turns, qrels)

    def build(ranking: Ranking) -> tuple[JudgedRun, CollectedRun]:
        return judged_run(ranking, qrels, 0, depth), builder.collect(ranking)

    holes, collected = zip(*workspace.per_run(files, build), strict=True)
    turns = workspace.count_turns(names, files, [one.matrix for one in holes], holes=True)
    systems = dict(zip(names, holes, strict=True))
    pool = builder.build(collected)
    expected, notes = _expected(pool, pool.grades(qrels), comparisons, measures, project, top, turns.counted)
    notes = [*qrels.notes, *notes]
    return judging_worklist(systems, comparisons, measures, project.policy, top, highest, turns, notes, expected)


def _expected(
    pool: RunPool,
    grades: Grades,
    comparisons: Sequence[tuple[str, str]],
    measures: Sequence[Measure],
    project: Project,
    top: int,
    counted: npt.NDArray[np.bool_],
) -> tuple[dict[Pair, float] | None, list[str]]:
    """The expected influence of every hole in a top ``top``; None, and why, where the judgments cannot teach the model."""
    try:
        model = fit_hole_model(pool, grades, top, run_sources(project, pool.names).learned, project.seed)
    except UsageError as error:
        if error.slug != "one-grade":
            raise
        return None, [f"ordered by influence, however improbable the grade behind it: {error.found}"]
    if model is None:
        return {}, []
    compared = [(pool.names.index(first), pool.names.index(second)) for first, second in comparisons]
    values = expected_influence(model, pool, grades, measures, project.policy, compared, counted)
    turns = [pool.turns[turn] for turn in model.holes.turns]
    documents = pool.documents.take(as_arrow(pool.pair_documents[model.pairs].astype(np.int32))).to_pylist()
    return dict(zip(zip(turns, documents, strict=True), values.tolist(), strict=True)), []


def _comparisons(project: Project) -> tuple[list[str], list[tuple[str, str]]]:
    """The systems to look at, and which of them are compared: the groups' baselines with their sets, or all pairs."""
    systems = project.systems
    if not project.groups:
        return list(systems), list(combinations(systems, 2))
    pairs = [(group.baseline, name) for group in project.groups.values() for name in group.sets]
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    return names, list(dict.fromkeys(pairs))
