"""The runs of a workspace with their holes filled by the hole model."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.hole_expectation import FilledHoles, expected_drops, fill_holes
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.measures import parse_measure
from robustcs.evaluation.run_pool import PoolBuilder, collect_run
from robustcs.lazy import pd
from robustcs.project.model import Project
from robustcs.project.rewritten import comparable_groups
from robustcs.project.run_groups import run_sources
from robustcs.project.workspace import Workspace
from robustcs.statistics.units import units_of

#: Runs up to which drops are read together with all pairs, as the command that shows the pairs does.
_MOST_PAIRED = 50


def filled_holes(workspace: Workspace, measures: Sequence[Measure], turns: Collection[str]) -> FilledHoles:
    """Every run of the project, in its order, under drawn grades, over ``turns``; each run is read anew.

    So all who ask get the same draws, whichever runs they compare. Raises :class:`UsageError` as :func:`fill_holes` does.
    """
    builder = PoolBuilder(workspace.qrels.turns, workspace.qrels)
    files = workspace.system_files(list(workspace.project.systems))
    workspace.per_run(files, partial(collect_run, builder.turns), keep=builder.add)
    return fill(workspace, builder, measures, turns)


def fill(workspace: Workspace, builder: PoolBuilder, measures: Sequence[Measure], turns: Collection[str]) -> FilledHoles:
    """As :func:`filled_holes`, of the runs that ``builder`` has taken."""
    pool, project = builder.build(), workspace.project
    kept = set(turns)
    counted = np.array([turn in kept for turn in pool.turns])
    units = units_of([turn for turn in pool.turns if turn in kept], project.policy.unit)
    sources = run_sources(project, pool.names)
    grades = pool.grades(workspace.qrels)
    return fill_holes(pool, grades, measures, project.policy, counted, units, project.seed, sources)


def selection_warnings(project: Project) -> tuple[str, ...]:
    """What must stand beside the model's numbers where judged passages are no pool."""
    if project.qrels_selection == "pool":
        return ()
    return (
        f"Passages were selected for judging in another way than by pooling ([qrels] selection: {project.qrels_selection}). The"
        " model takes unjudged passages to be like judged ones at the same ranks, so read expected values with their tipping"
        " points only.",
    )


def filled_drops(workspace: Workspace, metrics: Sequence[str], turns: Collection[str]) -> pd.DataFrame:
    """The table ``drops`` of the project's groups; empty where the judgments cannot teach the hole model.

    Empty also where judged passages are no pool: ``robustcs unjudged`` has what is expected then, beside its tipping points.
    """
    measures = [parse_measure(metric) for metric in metrics]
    filled = None
    try:
        if workspace.project.qrels_selection == "pool":
            filled = filled_holes(workspace, measures, turns)
    except UsageError as error:
        if error.slug != "one-grade":
            raise
    names = list(workspace.project.systems)
    return expected_drops(names, measures, comparable_groups(workspace.project), filled, len(names) <= _MOST_PAIRED)[1]
