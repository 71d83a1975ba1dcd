"""Steps of ``robustcs unjudged``: read runs with their grades, and choose the groups to compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress

from robustcs.evaluation.groups import Group
from robustcs.evaluation.holes import JudgedRun, judged_run
from robustcs.evaluation.ranking import Ranking
from robustcs.evaluation.run_pool import CollectedRun, collect_run
from robustcs.inputs.qrels import Qrels
from robustcs.project.model import Project
from robustcs.project.open_questions import comparable_groups
from robustcs.statistics import Mask
from robustcs.wording import first_of, system_name, turns_in_words


def read_judged(
    ranking: Ranking, qrels: Qrels, depth: int, ranks: int | None, turns: Sequence[str] | None
) -> tuple[JudgedRun, CollectedRun | None]:
    """Return a run with its grades, and for the pool if its ``turns`` are given."""
    return judged_run(ranking, qrels, depth, ranks), None if turns is None else collect_run(
        turns, ranking
    )


def compared_groups(project: Project) -> dict[str, Group]:
    """Return the comparisons for drops: Human with every other formulation, by its name, and the groups of the project."""
    human = next((part.name for part in project.formulations.values() if part.role == "human"), "")
    groups = {
        part.name: Group(human, (part.name,))
        for part in project.formulations.values()
        if part.role != "human"
    }
    groups |= comparable_groups(project)
    systems = project.systems.keys()
    return {
        name: group for name, group in groups.items() if {group.baseline, *group.sets} <= systems
    }


def groups_of_every_turn(
    compared: Mapping[str, Group], asked: Mapping[str, Mask]
) -> tuple[dict[str, Group], list[str]]:
    """Return the groups whose sets cover every turn, and a note on the others; ``asked``: set → bool[T]."""
    partly = [
        name
        for name, group in compared.items()
        if not all(asked[one].all() for one in group.sets if one in asked)
    ]
    told = [
        f"expected drop of {name} not computed, because its sets do not cover every turn"
        for name in partly
    ]
    return {name: group for name, group in compared.items() if name not in partly}, told


def groups_of_runs(project: Project) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Return group → its runs without the baseline, and the notes.

    Several groups also form a group of all their runs. Without groups, all runs form one.
    """
    systems = project.systems
    groups = {
        name: group.sets
        for name, group in project.groups.items()
        if set(group.sets) <= systems.keys()
    }
    notes = [
        f"group {name} is excluded because some of its runs are not given"
        for name in project.groups
        if name not in groups
    ]
    if not groups:
        return {"all runs": tuple(systems)}, notes
    if len(groups) > 1:
        groups["all groups"] = tuple(
            dict.fromkeys(name for sets in groups.values() for name in sets)
        )
    return groups, notes


def short_lists(runs: Sequence[JudgedRun], depth: int) -> list[str]:
    """Return a note on the turns for which runs retrieve fewer than ``depth`` passages; missing turns have their own note."""
    found = [
        (run.name, (run.matrix.retrieved > 0) & (run.matrix.retrieved < depth), run.matrix.turns)
        for run in runs
    ]
    told = [
        f"{system_name(name)} for {turns_in_words([*compress(turns, few)])}"
        for name, few, turns in found
        if few.any()
    ]
    return [f"fewer than {depth} passages: {first_of(told, 5)}"] if told else []
