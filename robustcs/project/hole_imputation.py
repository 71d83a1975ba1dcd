"""Estimate the grades of unjudged passages in the runs of a workspace with the hole model."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from itertools import compress
from pathlib import Path

import numpy as np

from robustcs.errors import InputError, UsageError
from robustcs.evaluation.groups import RunSources
from robustcs.evaluation.hole_expectation import FilledHoles, expected_drops, fill_holes
from robustcs.evaluation.hole_features import MOST_RUNS
from robustcs.evaluation.judges import JudgedPool, OffScale, on_scale, scale_of
from robustcs.evaluation.judgments import merge_qrels
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measure import Measure, parse_measure
from robustcs.evaluation.run_pool import PoolBuilder, RunPool, collect_run
from robustcs.evaluation.turns import (
    CoveredTurns,
    Expected,
    Turns,
    count_turns,
    covered_by_turns,
    strangers,
)
from robustcs.inputs.qrels import Qrels
from robustcs.lazy import pd
from robustcs.project.conversations import grouping_of
from robustcs.project.model import Project
from robustcs.project.open_questions import comparable_groups
from robustcs.project.workspace import Workspace
from robustcs.statistics.units import units_of


def judged_pool(workspace: Workspace, human: Qrels | None, off_scale: OffScale) -> JudgedPool:
    """Read the project's judges and runs together with the human judgments ``human`` (None if there are none).

    Raises :class:`InputError` for grades off the scale, if ``off_scale`` rejects them, for runs that share no turn with the
    judgments, and for labels that share none with the runs; :class:`UsageError` without judges.
    """
    project = workspace.project
    labels = workspace.judges
    sides = [human] if human is not None else [one.qrels for one in labels.values()]
    lowest, highest = zip(*map(scale_of, sides), strict=True)
    scale = min(lowest), max(highest)
    judges = {
        name: on_scale(one, scale, off_scale, project.judges[name]) for name, one in labels.items()
    }
    # merge for the pairs only; the judges' grades are not used here
    every = [*([human] if human is not None else []), *(judge.qrels for judge in judges.values())]
    pairs = merge_qrels(every[0], every[1:], "keep").qrels
    pool = read_pool(workspace, pairs).build()
    turns = counted_turns(workspace, pool, pairs, "the judgments")
    grades = {name: pool.grades(judge.qrels) for name, judge in judges.items()}
    of_runs = Expected(tuple(compress(pool.turns, ~np.all(pool.missing, axis=0))), "the runs")
    own = [
        covered_by_turns(name, project.judges[name], judge.qrels.turns, of_runs)
        for name, judge in judges.items()
    ]
    if pool.names and (wrong := strangers(of_runs, own)):
        raise InputError(wrong)
    nothing = np.full(len(pool) + 1, UNJUDGED, dtype=np.int16)
    return JudgedPool(
        pool, nothing if human is None else pool.grades(human), judges, grades, scale, turns
    )


def read_pool(
    workspace: Workspace,
    qrels: Qrels,
    turns: Sequence[str] = (),
    files: Sequence[tuple[str, Path]] = (),
) -> PoolBuilder:
    """Read runs, by default all of the project, over ``turns``, by default those of the judgments ``qrels``."""
    builder = PoolBuilder(turns or qrels.turns, qrels)
    files = files or workspace.system_files(list(workspace.project.systems))
    workspace.per_run(files, partial(collect_run, builder.turns), keep=builder.add)
    return builder


def counted_turns(
    workspace: Workspace,
    pool: RunPool,
    qrels: Qrels,
    what: str = "the qrels",
    *,
    holes: bool = False,
) -> Turns:
    """Return the turns of a pool of runs that count under the policy; ``what`` names the judgments in messages.

    ``holes``: see :func:`~robustcs.evaluation.turns.count_turns`.

    Raises :class:`InputError` for runs that share no turn with the judgments.
    """
    project = workspace.project
    grades = pool.grades(qrels)
    covered = [
        CoveredTurns(
            name,
            project.systems[name],
            lacks,
            *first,
            pool.extra_turns,
            bool((grades[places] > UNJUDGED).any()),
        )
        for name, lacks, first, places in zip(
            pool.names, pool.missing, pool.first, pool.places, strict=True
        )
    ]
    policy = project.policy
    expected = Expected(pool.turns, what, qrels.ids[0], policy.documents)
    return count_turns(expected, covered, policy.missing, holes=holes)


def run_groups(project: Project) -> dict[str, tuple[str, ...]]:
    """Return group → runs: the groups of ``[run_groups]``, and each other run of the project as a separate group.

    Without ``[run_groups]``, the sets of each group in ``[groups]`` form one group. Empty if neither is given; then groups must
    be guessed. Raises :class:`UsageError` for an unknown run, or a run in two groups.
    """
    named = project.run_groups or _sets(project)
    if not named:
        return {}
    of: dict[str, str] = {}
    for group, runs in named.items():
        for run in runs:
            if run not in project.systems:
                have = f"choose from {', '.join(project.systems)}"
                raise UsageError(
                    "no-such-run", f"[run_groups] {group} names {run!r}, which is not a run", have
                )
            if run in of:
                found = f"[run_groups] has {run!r} in {of[run]} and in {group}"
                raise UsageError("repeated-run", found, "keep it in one group")
            of[run] = group
    alone = {run: (run,) for run in project.systems if run not in of}
    if both := alone.keys() & named.keys():
        found = f"[run_groups] {both.pop()} has the name of a run that is not in it"
        raise UsageError("repeated-run", found, "choose another name")
    return {**named, **alone}


def run_sources(project: Project, runs: tuple[str, ...]) -> RunSources:
    """Return the sources of ``runs`` for the hole model: it learns from ``[run_groups]``; warnings also use ``[groups]``.

    If there are too many groups for one slope each, the model guesses the sources.
    """
    groups = run_groups(project)
    if not groups:
        return RunSources()
    numbers = group_numbers(groups, runs)
    learned = numbers if project.run_groups and len(groups) <= MOST_RUNS else None
    return RunSources(learned, numbers, dict(enumerate(groups)))


def group_numbers(groups: Mapping[str, tuple[str, ...]], runs: tuple[str, ...]) -> tuple[int, ...]:
    """Return the number of each run's group, in the order of ``groups``."""
    number = {run: place for place, members in enumerate(groups.values()) for run in members}
    return tuple(number[run] for run in runs)


def _sets(project: Project) -> dict[str, tuple[str, ...]]:
    """Return the sets of each group, each set in its first group only, and without baselines."""
    left = set(project.systems) - {group.baseline for group in project.groups.values()}
    found = {}
    for name, group in project.groups.items():
        own = tuple(run for run in group.sets if run in left)
        left -= set(own)
        if own:
            found[f"the sets of {name}"] = own
    return found


#: Largest number of runs for which drops and all pairs form one family, as in the command that shows the pairs.
_MOST_PAIRED = 50


def fill(
    workspace: Workspace,
    builder: PoolBuilder,
    measures: Sequence[Measure],
    turns: Collection[str],
    check: bool = True,
) -> FilledHoles:
    """Draw grades for the unjudged passages of the runs in ``builder``, which are all runs, over ``turns``.

    So the draws do not depend on which runs are compared. ``check`` and errors: see :func:`fill_holes`.
    """
    pool, project = builder.build(), workspace.project
    kept = set(turns)
    counted = np.array([turn in kept for turn in pool.turns])
    units = units_of(
        [turn for turn in pool.turns if turn in kept], grouping_of(workspace, pool.turns)
    )
    sources = run_sources(project, pool.names)
    grades = pool.grades(workspace.qrels)
    return fill_holes(
        pool, grades, measures, project.policy, counted, units, project.seed, sources, check
    )


def selection_warnings(project: Project) -> tuple[str, ...]:
    """Return the warning for the model's estimates if judged passages are not a pool."""
    if project.qrels_selection == "pool":
        return ()
    return (
        f"Passages were not selected for judging by pooling ([qrels] selection: {project.qrels_selection}). The hole model"
        " assumes that unjudged passages resemble judged passages at the same ranks, so read expected values only together with"
        " their tipping points.",
    )


def filled_drops(
    workspace: Workspace, metrics: Sequence[str], turns: Collection[str], groups: Collection[str]
) -> pd.DataFrame:
    """Return the table ``drops`` of the project's groups; empty if the hole model cannot learn from the judgments.

    Also empty if judged passages are not a pool; then ``robustcs unjudged`` shows expected values with their tipping points.
    ``groups``: names of groups whose sets ask all ``turns``; others are left out.
    """
    measures = [parse_measure(metric) for metric in metrics]
    filled = None
    try:
        if workspace.project.qrels_selection == "pool":
            filled = fill(
                workspace, read_pool(workspace, workspace.qrels), measures, turns, check=False
            )
    except UsageError as error:
        if error.slug != "one-grade":
            raise
    names = list(workspace.project.systems)
    compared = {
        name: group
        for name, group in comparable_groups(workspace.project).items()
        if name in groups
    }
    family = len(names) <= _MOST_PAIRED
    return expected_drops(names, measures, compared, filled, family, shown=False)[1]
