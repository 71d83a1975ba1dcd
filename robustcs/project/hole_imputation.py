"""The runs of a workspace with their holes filled by the hole model."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.hole_expectation import FilledHoles, expected_drops, fill_holes
from robustcs.evaluation.hole_features import MOST_RUNS
from robustcs.evaluation.judgments import JudgedPool, OffScale, merge_qrels, on_scale, scale_of
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measure import Measure, parse_measure
from robustcs.evaluation.run_pool import PoolBuilder, collect_run
from robustcs.evaluation.state import RunSources
from robustcs.evaluation.turns import Answered, Expected, count_turns
from robustcs.inputs.qrels import Qrels
from robustcs.lazy import pd
from robustcs.project.model import Project
from robustcs.project.open_questions import comparable_groups
from robustcs.project.workspace import Workspace
from robustcs.statistics.units import units_of


def judged_pool(workspace: Workspace, human: Qrels | None, off_scale: OffScale) -> JudgedPool:
    """Read the project's judges and runs beside the judgments ``human``, None where people judged nothing so far.

    Raises :class:`InputError` for grades off the scale where they are refused, and for runs that have nothing to do with the
    judgments; :class:`UsageError` without judges.
    """
    project = workspace.project
    labels = workspace.judges
    sides = [human] if human is not None else [one.qrels for one in labels.values()]
    lowest, highest = zip(*map(scale_of, sides), strict=True)
    scale = min(lowest), max(highest)
    judges = {name: on_scale(one, scale, off_scale, project.judges[name]) for name, one in labels.items()}
    # the judges' grades are left out again: what is merged here are the pairs
    every = [*([human] if human is not None else []), *(judge.qrels for judge in judges.values())]
    pairs = merge_qrels(every[0], every[1:], "keep").qrels
    builder = PoolBuilder(pairs.turns, pairs)
    files = workspace.system_files(list(project.systems))
    workspace.per_run(files, partial(collect_run, builder.turns), keep=builder.add)
    pool = builder.build()
    known = pool.grades(pairs)
    answered = [
        Answered(name, path, lacks, *first, pool.extra_turns, bool((known[places] > UNJUDGED).any()))
        for (name, path), lacks, first, places in zip(files, pool.missing, pool.first, pool.places, strict=True)
    ]
    expected = Expected(pool.turns, "the judgments", passage=pairs.documents[0])
    turns = count_turns(expected, answered, project.policy.missing)
    grades = {name: pool.grades(judge.qrels) for name, judge in judges.items()}
    nothing = np.full(len(pool) + 1, UNJUDGED, dtype=np.int16)
    return JudgedPool(pool, nothing if human is None else pool.grades(human), judges, grades, scale, turns)


def run_groups(project: Project) -> dict[str, tuple[str, ...]]:
    """Group → its runs, of every run of the project: those of ``[run_groups]``, and every other run as a group of its own.

    Without ``[run_groups]`` the sets of every group of ``[groups]`` are one. Empty where neither is given: then groups are
    to be guessed. Raises :class:`UsageError` for a name that is no run of the project, or that stands in two groups.
    """
    named = project.run_groups or _sets(project)
    if not named:
        return {}
    of: dict[str, str] = {}
    for group, runs in named.items():
        for run in runs:
            if run not in project.systems:
                have = f"there are {', '.join(project.systems)}"
                raise UsageError("no-such-run", f"[run_groups] {group} has {run!r}, which is no run", have)
            if run in of:
                raise UsageError("repeated-run", f"[run_groups] has {run!r} in {of[run]} and in {group}", "leave it in one")
            of[run] = group
    alone = {run: (run,) for run in project.systems if run not in of}
    if both := alone.keys() & named.keys():
        raise UsageError("repeated-run", f"[run_groups] {both.pop()} is the name of a run that it lacks", "choose another name")
    return {**named, **alone}


def run_sources(project: Project, runs: tuple[str, ...]) -> RunSources:
    """The sources of ``runs`` for the hole model: it learns of ``[run_groups]``, and warns of the sets of ``[groups]`` too.

    Where there are too many for a slope of each, it guesses.
    """
    groups = run_groups(project)
    if not groups:
        return RunSources()
    numbers = group_numbers(groups, runs)
    learned = numbers if project.run_groups and len(groups) <= MOST_RUNS else None
    return RunSources(learned, numbers, dict(enumerate(groups)))


def group_numbers(groups: Mapping[str, tuple[str, ...]], runs: tuple[str, ...]) -> tuple[int, ...]:
    """The number of every run's group, by the order of ``groups``."""
    number = {run: place for place, members in enumerate(groups.values()) for run in members}
    return tuple(number[run] for run in runs)


def _sets(project: Project) -> dict[str, tuple[str, ...]]:
    """The sets of every group, each in the first group that has it, and without what is a baseline too."""
    left = set(project.systems) - {group.baseline for group in project.groups.values()}
    found = {}
    for name, group in project.groups.items():
        own = tuple(run for run in group.sets if run in left)
        left -= set(own)
        if own:
            found[f"the sets of {name}"] = own
    return found


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
