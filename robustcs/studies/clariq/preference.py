"""Which of two systems people prefer, criterion by criterion (Acute-eval)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from robustcs.inputs.preferences import TIE, Preference
from robustcs.result import count, number, p_value, share, table, text
from robustcs.statistics.correction import holm
from robustcs.statistics.intervals import wilson
from robustcs.statistics.paired import mcnemar_exact

if TYPE_CHECKING:
    import pandas as pd

PREFERENCE = table(
    "preference", "Which of two systems people prefer; a pair stands in the order in which the file names it first.",
    text("criterion", header="Criterion"), text("first"), text("second"), count("wins", "of the first system"),
    count("losses", "of the first system"), count("ties"), share("share", "wins of wins and losses; null with ties only"),
    number("ci_low", "Wilson's interval"), number("ci_high"),
    p_value("p", "exact binomial test of the share against one half, two-sided, ties left out; McNemar's exact test"),
    p_value("p_corrected", "Holm, over the criteria of the pair", "Holm"), count("judgments"),
)  # fmt: skip


def preference_table(preferences: Sequence[Preference]) -> pd.DataFrame:
    """The table :data:`PREFERENCE`: one row per criterion and pair of systems."""
    pairs: dict[frozenset[str], tuple[str, str]] = {}
    counts: dict[tuple[str, str, str], dict[str, int]] = {}
    for judged in preferences:
        first, second = pairs.setdefault(frozenset((judged.first, judged.second)), (judged.first, judged.second))
        tally = counts.setdefault((judged.criterion, first, second), {first: 0, second: 0, TIE: 0})
        tally[judged.winner] += 1
    rows = []
    for (criterion, first, second), tally in counts.items():
        wins, losses, ties = tally[first], tally[second], tally[TIE]
        decided = wins + losses
        share = wins / decided if decided else float("nan")
        rows.append(
            (criterion, first, second, wins, losses, ties, share, *wilson(wins, decided), mcnemar_exact(wins, losses),
             float("nan"), decided + ties)
        )  # fmt: skip
    frame = PREFERENCE.frame(rows)
    for _, part in frame.groupby(["first", "second"], sort=False):
        frame.loc[part.index, "p_corrected"] = holm(part["p"])
    return frame


def repeated_pairs(preferences: Sequence[Preference]) -> tuple[int, int]:
    """Judgments that name their pair of conversations, and the number of those pairs."""
    named = [(frozenset((judged.first, judged.second)), judged.criterion, judged.pair) for judged in preferences if judged.pair]
    return len(named), len(set(named))
