"""Which runs come from one source: a team, a ranker, a rewriter, or one way of making test sets.

Runs of one source find the same passages. What only they found was judged where the source took part in making the judgments,
and hardly anywhere else; so it is sources, not runs, that are left out or that the hole model tells apart.
"""

from __future__ import annotations

from collections.abc import Mapping

from robustcs.errors import UsageError
from robustcs.evaluation.groups import RunSources
from robustcs.evaluation.hole_features import MOST_RUNS
from robustcs.project.model import Project


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
