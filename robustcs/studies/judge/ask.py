"""The worklist of judging, from the files of a workspace."""

from __future__ import annotations

from itertools import combinations

from robustcs.errors import UsageError
from robustcs.evaluation.holes import judged_run
from robustcs.evaluation.measures import averaged, parse_measure
from robustcs.project.model import Project
from robustcs.project.requirements import measures_of_rankings
from robustcs.project.workspace import Workspace
from robustcs.studies.judge.analysis import Worklist, judging_worklist, reach

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
    """The unjudged passages of the top ``top`` of all systems, by how much their grades could change the comparisons.

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
    holes = workspace.per_run(files, lambda ranking: judged_run(ranking, qrels, 0, depth))
    turns = workspace.count_turns(names, files, [one.matrix for one in holes], holes=True)
    systems = dict(zip(names, holes, strict=True))
    return judging_worklist(systems, comparisons, measures, project.policy, top, highest, turns, qrels.notes)


def _comparisons(project: Project) -> tuple[list[str], list[tuple[str, str]]]:
    """The systems to look at, and which of them are compared: the groups' baselines with their sets, or all pairs."""
    systems = project.systems
    if not project.groups:
        return list(systems), list(combinations(systems, 2))
    pairs = [(group.baseline, name) for group in project.groups.values() for name in group.sets]
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    return names, list(dict.fromkeys(pairs))
