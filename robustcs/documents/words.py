"""Numbers and field terms as people read them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from robustcs.evaluation.measures import parse_measure
from robustcs.evaluation.thresholds import parse_threshold

if TYPE_CHECKING:
    pass

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


def p_equals(p: float) -> str:
    """``= 0.012`` or ``<0.001``, to follow a p."""
    text = p_value(p)
    return text if text.startswith("<") else f"= {text}"


def with_interval(row: Mapping[str, Any], value: str, digits: int = 3) -> str:
    """``0.123 (95 % interval 0.100 to 0.140)`` of a row with ci_low and ci_high."""
    low, high = plain(row["ci_low"], digits), plain(row["ci_high"], digits)
    return plain(row[value], digits) + ("" if math.isnan(row["ci_low"]) else f" (95 % interval {low} to {high})")


def plain(value: float, digits: int = 3) -> str:
    """A number within a sentence."""
    return "undefined" if math.isnan(value) else number(value, digits)


def number(value: float, digits: int) -> str:
    """A number of a table."""
    return "–" if math.isnan(value) else f"{value:.{digits}f}".replace("-", "−")


def signed(value: float, digits: int = 4) -> str:
    """A difference with its sign."""
    return "–" if math.isnan(value) else f"{value:+.{digits}f}".replace("-", "−")


def number_interval(low: float, high: float, digits: int = 3) -> str:
    """``−0.012 to 0.146``."""
    return "–" if math.isnan(low) else f"{number(low, digits)} to {number(high, digits)}"


def signed_interval(low: float, high: float) -> str:
    """``−0.012 to +0.146``."""
    return "–" if math.isnan(low) else f"{signed(low, 3)} to {signed(high, 3)}"


def measure_label(name: str) -> str:
    """``ndcg_cut_3`` → ``NDCG@3``."""
    return parse_measure(name).label


def threshold_label(text: str) -> str:
    """``>=0.5`` → ``≥ 0.5``."""
    return parse_threshold(text).label


def interval(low: float, high: float, digits: int = 3) -> str:
    """``0.146–0.216``."""
    return "–" if math.isnan(low) else f"{low:.{digits}f}–{high:.{digits}f}"
