"""Which of two systems people prefer, criterion by criterion (Acute-eval)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from robustcs.inputs.preferences import TIE, Preference
from robustcs.statistics.correction import holm
from robustcs.statistics.intervals import wilson
from robustcs.statistics.paired import mcnemar_exact

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = (
    "criterion", "first", "second", "wins", "losses", "ties", "share", "ci_low", "ci_high", "p", "p_corrected", "judgments",
)  # fmt: skip


def preference_table(preferences: Sequence[Preference]) -> pd.DataFrame:
    """One row per criterion and pair of systems; a pair stands in the order in which the file names it first.

    ``wins`` and ``losses`` are the first system's, ``share`` is wins of both (nan with ties only) with Wilson's interval.
    ``p``: exact binomial test, two-sided, of the share against one half, ties left out (it is McNemar's exact test);
    ``p_corrected``: Holm over the criteria of the pair.
    """
    import pandas as pd

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
    frame = pd.DataFrame(rows, columns=list(_COLUMNS))
    for _, part in frame.groupby(["first", "second"], sort=False):
        frame.loc[part.index, "p_corrected"] = holm(part["p"])
    return frame


def repeated_pairs(preferences: Sequence[Preference]) -> tuple[int, int]:
    """Judgments that name their pair of conversations, and the number of those pairs."""
    named = [(frozenset((judged.first, judged.second)), judged.criterion, judged.pair) for judged in preferences if judged.pair]
    return len(named), len(set(named))
