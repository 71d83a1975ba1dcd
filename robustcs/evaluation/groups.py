"""Systems that are compared with a baseline of their own."""

from __future__ import annotations

from dataclasses import dataclass

#: The original turns behind the project's rewriter: a group that names this system gets it made, as raw texts are.
ORIGINAL_REWRITTEN = "original_rewritten"


@dataclass(frozen=True)
class Group:
    """Systems that are compared with one baseline, such as paraphrase sets with the original turns; all by name."""

    baseline: str
    sets: tuple[str, ...]
