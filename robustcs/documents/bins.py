"""The eight bins for people: their marks and causes, and rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from robustcs.documents.tables import rules_between
from robustcs.evaluation.bins import BINS, CAUSE_OF_BIN, bins_of
from robustcs.result import Field, text
from robustcs.wording import FORMULATION_NAMES

CAUSE_TITLES = {"qa": "QA error", "qr": "rewriter error", "correct": "QR and Human correct"}


def marks(bin_: str) -> str:
    """Return ``✓ × ✓`` for ``101``; unknown formulations are omitted: ``× ✓`` for ``-01``."""
    return " ".join("✓" if bit == "1" else "×" for bit in bin_ if bit != "-")


def formulations(rows: Iterable[Any]) -> str:
    """Return the formulations of the bins in rows of a table, in order: ``Original, QR, Human``."""
    names = list(FORMULATION_NAMES.values())
    return ", ".join(names if bins_of(rows) == BINS else names[1:])


def bin_rules(bins: Sequence[str]) -> frozenset[int]:
    """Return the rows with a thin rule above them: it separates QA errors, rewriter errors and correct turns."""
    return rules_between([CAUSE_OF_BIN[bin_] for bin_ in bins])


def bin_columns(bins: Sequence[str]) -> list[tuple[Field, Callable[[str], str]]]:
    """Return columns for Original (if known), QR and Human with a tick or a cross for each bin; empty for other rows."""

    def mark_at(place: int) -> Callable[[str], str]:
        return lambda bin_: {"1": "✓", "0": "×"}.get(bin_[place : place + 1], "")

    return [
        (text(name), mark_at(place))
        for place, name in enumerate(FORMULATION_NAMES.values())
        if bins[0][place] != "-"
    ]
