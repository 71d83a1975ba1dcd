"""Numbers and field terms as people read them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from robustcs.evaluation.measures import parse_measure
from robustcs.evaluation.thresholds import parse_threshold
from robustcs.reports.document import Column, Table

if TYPE_CHECKING:
    import pandas as pd

CAUSE_TITLES = {"qa": "QA error", "qr": "rewriter error", "correct": "correct"}
FORMULATION_NAMES = {"original": "Original", "qr": "QR", "human": "Human"}


def marks(bin_: str) -> str:
    """``101`` → ``✓ × ✓``."""
    return " ".join("✓" if bit == "1" else "×" for bit in bin_)


def percent(share: float) -> str:
    """A share with one decimal: ``32.9 %``; ``–`` where it is undefined."""
    return "–" if math.isnan(share) else f"{100 * share:.1f} %"


def percent_interval(low: float, high: float) -> str:
    """An interval of shares, in per cent: ``26–40``."""
    return "–" if math.isnan(low) else f"{100 * low:.0f}–{100 * high:.0f}"


def score(value: float) -> str:
    """A score with four decimals, as trec_eval prints it."""
    return "–" if math.isnan(value) else f"{value:.4f}"


def p_value(p: float) -> str:
    """A p value with three decimals."""
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def measure_label(name: str) -> str:
    """``ndcg_cut_3`` → ``NDCG@3``."""
    return parse_measure(name).label


def threshold_label(text: str) -> str:
    """``>=0.5`` → ``≥ 0.5``."""
    return parse_threshold(text).label


def plain_table(name: str, frame: pd.DataFrame) -> Table:
    """A table of a result as it is, under its own column names; scores have four decimals and missing values are ``–``."""
    numbers = [frame[column].dtype.kind in "iuf" for column in frame]
    columns = tuple(
        Column(str(column), "right" if number else "left") for column, number in zip(frame, numbers, strict=True)
    )
    missing = frame.isna().to_numpy()
    rows = tuple(
        tuple(
            "–" if lacks else score(value) if isinstance(value, float) else str(value)
            for value, lacks in zip(row, gone, strict=True)
        )
        for row, gone in zip(frame.itertuples(index=False), missing, strict=True)
    )
    return Table(name, name, columns, rows)
