"""Systems that are compared with a baseline of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

#: The original turns behind the project's rewriter: a group that names this system gets it made, as raw texts are.
ORIGINAL_REWRITTEN = "original_rewritten"


@dataclass(frozen=True)
class RunSources:
    """Which runs come from one source, as a number for every run; what the hole model and its warnings go by.

    learned
        Told by the user: the model learns how the finds of each differ. None lets it guess.
    warned
        Sources whose own finds are looked at for warnings; None takes those that the model knows.
    names
        What ``warned`` are called.
    """

    learned: tuple[int, ...] | None = None
    warned: tuple[int, ...] | None = None
    names: Mapping[int, str] = field(default_factory=dict)


#: Nobody said where the runs come from.
UNKNOWN_SOURCES = RunSources()


@dataclass(frozen=True)
class Group:
    """Systems that are compared with one baseline, such as paraphrase sets with the original turns; all by name."""

    baseline: str
    sets: tuple[str, ...]
