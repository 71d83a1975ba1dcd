"""Rewritten sets and their baseline: both must have gone through the same rewriter, or the rewriter passes for the wording.

That a run was rewritten is known from what stands beside it (:mod:`robustcs.retrieval.sidecar`), never from its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from robustcs.errors import UsageError
from robustcs.evaluation.groups import ORIGINAL_REWRITTEN, Group
from robustcs.project.model import Project
from robustcs.retrieval.sidecar import fits, read_sidecar


def wants_original_rewritten(project: Project) -> bool:
    """Does a group name :data:`ORIGINAL_REWRITTEN`, and is there a rewriter but neither a run nor texts of that name?"""
    named = any(ORIGINAL_REWRITTEN in (group.baseline, *group.sets) for group in project.groups.values())
    given = {*project.systems, *project.texts, *project.raw_texts}
    return bool(named and ORIGINAL_REWRITTEN not in given and project.retrieval and project.retrieval.rewriter)


def check_baselines(project: Project) -> None:
    """Raise :class:`UsageError` for the first group of rewritten sets whose baseline did not go through the same rewriter."""
    for name in project.groups:
        error = misfit_baseline(project, name)
        if error is not None:
            raise error


def comparable_groups(project: Project) -> dict[str, Group]:
    """The groups that :func:`check_baselines` accepts."""
    return {name: group for name, group in project.groups.items() if misfit_baseline(project, name) is None}


def misfit_baseline(project: Project, name: str) -> UsageError | None:
    """Why the sets of a group cannot be compared with its baseline, and what to write instead; None where they can.

    A baseline of which nothing is known counts as not rewritten, unless the user calls it :data:`ORIGINAL_REWRITTEN`.
    """
    group, systems = project.groups[name], project.systems
    rewritten = {set_: how for set_ in group.sets if (how := _rewriter_of(set_, systems))}
    if not rewritten:
        return None
    baseline = _rewriter_of(group.baseline, systems)
    if baseline is None and group.baseline == ORIGINAL_REWRITTEN:
        return None
    odd = [set_ for set_, how in rewritten.items() if how != baseline]
    if not odd:
        return None
    how = "by " + " and ".join(dict.fromkeys(rewritten[set_] for set_ in odd))
    other = f"was rewritten by {baseline}" if baseline else "was not" if baseline == "" else "was not as far as is known"
    found = f"group {name}: {', '.join(odd)} {'was' if len(odd) == 1 else 'were'} rewritten {how}, and the baseline"
    if group.baseline == ORIGINAL_REWRITTEN:
        advice = "retrieve both with the same rewriter"
    else:
        sets = ",".join([ORIGINAL_REWRITTEN, *odd])
        advice = f'write --group {name}={sets}, or baseline = "{ORIGINAL_REWRITTEN}" in [groups.{name}]'
    return UsageError("unrewritten-baseline", f"{found} {group.baseline} {other}", advice)


def _rewriter_of(name: str, systems: Mapping[str, Path]) -> str | None:
    """The rewriter of a system's texts, empty where they were searched as they are; None where nothing is known."""
    run = systems.get(name)
    sidecar = read_sidecar(run) if run is not None else None
    if run is None or sidecar is None or not sidecar.made or not fits(run, sidecar):
        return None
    return sidecar.rewriter
