"""Groups of systems to compare, and sources of runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

#: System name for the original turns after the project's rewriter. If a group names it, it is
#: produced like raw texts.
ORIGINAL_REWRITTEN = "original_rewritten"


@dataclass(frozen=True)
class RunSources:
    """The source of every run as a number, for the hole model and its warnings.

    Each tuple has one number for each run; runs with equal numbers come from one source.

    learned
        Sources given by the user, whose differences the model learns; None if it guesses them.
    warned
        Sources whose exclusive passages are examined for warnings; None for those of the model.
    names
        Names of the sources in ``warned``.
    """

    learned: tuple[int, ...] | None = None
    warned: tuple[int, ...] | None = None
    names: Mapping[int, str] = field(default_factory=dict)


#: The sources of the runs are unknown.
UNKNOWN_SOURCES = RunSources()


@dataclass(frozen=True)
class Group:
    """Names of systems to compare with a baseline, such as paraphrase sets with the original."""

    baseline: str
    sets: tuple[str, ...]


def baselines(
    groups: Iterable[tuple[str, Sequence[str]]], systems: Collection[str]
) -> dict[str, str]:
    """Return system → the system with which it is compared: its group's baseline, else Human.

    groups
        Baseline and systems of each group.
    systems
        The systems that are scored; only these are in the result.
    """
    found = {}
    for baseline, names in groups:
        for name in names:
            if name in systems and baseline in systems:
                found[name] = baseline
    for name in systems if "human" in systems else ():
        if name != "human":
            found.setdefault(name, "human")
    return found
