"""Find the unjudged passages of a workspace that could be judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

from robustcs.evaluation.hole_check import check_hole_model, model_warnings
from robustcs.evaluation.hole_model import HoleModel, fit_hole_model
from robustcs.evaluation.hole_order import Contest
from robustcs.evaluation.holes import JudgedRun, judged_run
from robustcs.evaluation.measure import Measure, parse_measure
from robustcs.evaluation.ranking import Ranking
from robustcs.evaluation.run_pool import CollectedRun, Grades, PoolBuilder, RunPool, collect_run
from robustcs.evaluation.turns import Turns
from robustcs.inputs.qrels import Qrels
from robustcs.project.hole_imputation import run_sources, selection_warnings
from robustcs.project.model import Project
from robustcs.project.requirements import highest_grade, measures_of_rankings
from robustcs.project.workspace import Workspace
from robustcs.studies.judge.analysis import Pair, reach

#: The measure by which CAsT ranks systems.
_DEFAULT_MEASURE = parse_measure("ndcg_cut_3")
#: The default depth for measures without a cutoff: that of the later judgments of CAsT 2020.
_DEFAULT_TOP = 3


@dataclass(frozen=True, eq=False)
class Holes:
    """The systems of a project and the unjudged passages in their top K.

    grades
        int16[N + 1]: the grades of the pairs of the pool.
    pairs
        Unjudged (turn, document) in the top K of any system → its number in the pool; only turns that count.
    """

    project: Project
    systems: Mapping[str, JudgedRun]
    comparisons: Sequence[tuple[str, str]]
    measures: Sequence[Measure]
    top: int
    max_grade: int
    pool: RunPool
    grades: Grades
    turns: Turns
    pairs: Mapping[Pair, int]
    notes: Sequence[str]

    @property
    def contest(self) -> Contest:
        """The compared systems, as numbers of the pool."""
        names = self.pool.names
        compared = tuple((names.index(first), names.index(second)) for first, second in self.comparisons)
        counted = self.turns.counted
        return Contest(self.pool, compared, tuple(self.measures), self.project.policy, counted, self.top, self.max_grade)

    def with_grades(self, judged: Mapping[Pair, int]) -> Grades:
        """Return int16[N + 1], the grades of the pool updated with ``judged``."""
        grades = self.grades.copy()
        for pair, grade in judged.items():
            if pair in self.pairs:
                grades[self.pairs[pair]] = grade
        return grades

    def warnings(self, model: HoleModel) -> tuple[str, ...]:
        """Return the warnings about ``model`` that belong to each order of judging and each state of orders."""
        known = self.pool, self.grades, self.measures
        check = check_hole_model(model, *known, self.project.policy, self.turns.counted)
        sources = run_sources(self.project, self.pool.names)
        return (*selection_warnings(self.project), *model_warnings(model, check, *known, sources))

    def model(self, grades: Grades) -> HoleModel | None:
        """Fit the hole model to ``grades``; None if no passage is unjudged. Raises :class:`UsageError` if fitting fails."""
        learned = run_sources(self.project, self.pool.names).learned
        return fit_hole_model(self.pool, grades, self.top, learned, self.project.seed)


def find_holes(
    workspace: Workspace, top: int | None = None, max_grade: int | None = None, pairs: Sequence[tuple[str, str]] = ()
) -> Holes:
    """Read the compared systems, and find the unjudged passages in the top ``top`` of any of them.

    ``pairs``: the compared systems; default: the comparisons of the project.

    Raises :class:`UsageError` without qrels or runs, and for a measure of answers.
    """
    highest = max_grade or highest_grade(workspace.qrels)
    project = workspace.project
    workspace.require_runs()
    names, comparisons = _comparisons(project, pairs)
    measures_of_rankings(workspace)
    measures = workspace.averaged(project.metrics or (_DEFAULT_MEASURE,))
    top = top or max((measure.cutoff or 0 for measure in measures), default=0) or _DEFAULT_TOP
    qrels = workspace.qrels
    depth = reach(measures, top)
    files = workspace.system_files(names)
    builder = PoolBuilder(qrels.turns, qrels)

    def keep(found: tuple[JudgedRun, CollectedRun]) -> JudgedRun:
        builder.add(found[1])
        return found[0]

    holes = workspace.per_run(files, partial(_read, builder.turns, qrels, depth), keep=keep)
    turns = workspace.count_turns(names, files, [one.matrix for one in holes], holes=True)
    pool = builder.build()
    found = Holes(
        project, dict(zip(names, holes, strict=True)), comparisons, measures, top, highest, pool, pool.grades(qrels), turns,
        {}, list(qrels.notes),
    )  # fmt: skip
    numbers = found.contest.holes(found.grades)
    in_turns = [pool.turns[turn] for turn in pool.pair_turns[numbers]]
    documents = pool.documents.take(pool.pair_documents[numbers]).texts()
    return replace(found, pairs=dict(zip(zip(in_turns, documents, strict=True), numbers.tolist(), strict=True)))


def _read(turns: Sequence[str], qrels: Qrels, depth: int | None, ranking: Ranking) -> tuple[JudgedRun, CollectedRun]:
    return judged_run(ranking, qrels, 0, depth), collect_run(turns, ranking)


def _comparisons(project: Project, asked: Sequence[tuple[str, str]]) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the systems and the compared pairs: ``asked``, else each group's baseline with its sets, else all pairs."""
    systems = project.systems
    if not (asked or project.groups):
        return list(systems), list(combinations(systems, 2))
    pairs = list(asked) or [(group.baseline, name) for group in project.groups.values() for name in group.sets]
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    return names, list(dict.fromkeys(pairs))
