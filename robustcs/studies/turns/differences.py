"""The words by which a text differs from another, marked in one line."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from robustcs.similarity.texts import words


def marked_difference(text: str, human: str) -> str:
    """Return ``text`` with its difference from ``human``.

    Words that only ``text`` has are marked as ``{+word+}``, words that only ``human`` has as
    ``[-word-]``. Case and punctuation do not count.
    """
    own, other = text.split(), human.split()
    matcher = SequenceMatcher(None, _keys(own), _keys(other), autojunk=False)
    parts: list[str] = []
    for kind, start, end, other_start, other_end in matcher.get_opcodes():
        if kind == "equal":
            parts += own[start:end]
            continue
        if other_end > other_start:
            parts.append(f"[-{' '.join(other[other_start:other_end])}-]")
        if end > start:
            parts.append(f"{{+{' '.join(own[start:end])}+}}")
    return " ".join(parts)


def _keys(tokens: Sequence[str]) -> list[str]:
    """Return what tokens are compared by; a token without letters and digits only equals another."""
    return [" ".join(words(token)) for token in tokens]
