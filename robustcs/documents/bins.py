"""The eight bins as rows of a table."""

from __future__ import annotations

from collections.abc import Callable

from robustcs.documents.words import FORMULATION_NAMES
from robustcs.result import Field, text

#: Thin rules between errors of the QA component, errors of the rewriter, and what is answered.
BIN_RULES = (4, 6)


def bin_columns() -> list[tuple[Field, Callable[[str], str]]]:
    """Original, QR, Human: a tick or a cross for each, from a bin such as ``001``; empty for any other row."""
    return [
        (text(name), lambda bin_, place=place: {"1": "✓", "0": "×"}.get(bin_[place : place + 1], ""))  # type: ignore[misc]
        for place, name in enumerate(FORMULATION_NAMES.values())
    ]
