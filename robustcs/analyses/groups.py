"""Systems that are compared with a baseline of their own."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Group:
    """Systems that are compared with one baseline, such as paraphrase sets with the original turns; all by name."""

    baseline: str
    sets: tuple[str, ...]
