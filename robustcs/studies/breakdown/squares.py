"""All turns as squares in the colours of their bins."""

from __future__ import annotations

from robustcs.documents.document import Figure
from robustcs.documents.headline import Cut, at, headline_cut, shown_cuts
from robustcs.documents.words import CAUSE_TITLES, cut_label, formulations, marks
from robustcs.evaluation.bins import bins_of
from robustcs.lazy import Drawing
from robustcs.studies.breakdown.analysis import Breakdown
from robustcs.wording import counted

#: More squares are too small to be told apart.
_MOST_TURNS = 800


def show_squares(result: Breakdown) -> list[Figure]:
    """A figure of the turns at the headline measure and threshold; none for very many turns, nor for several rewriters."""
    if result.evaluated.turns > _MOST_TURNS or result.bins["rewriter"].nunique() > 1:
        return []
    turns = result.turns
    cut = headline_cut(shown_cuts(turns))
    counts = at(turns, cut)["bin"].value_counts()
    causes = at(result.attribution, cut).set_index("cause")["count"]
    words = "; ".join(f"{marks(bin_)}: {counts.get(bin_, 0)}" for bin_ in bins_of(result.bins))
    return [
        Figure(
            "every-turn",
            f"Every turn as a square, in its bin; correct: {cut_label(cut)}. The bins without Human ✓ add up to"
            f" {counted(causes['qa'], CAUSE_TITLES['qa'])}, those with Human ✓ but not QR to"
            f" {counted(causes['qr'], CAUSE_TITLES['qr'])}.",
            f"Turns per bin ({formulations(result.bins)}): {words}.",
            lambda: draw_squares(result, str(turns["rewriter"].iloc[0]), cut),
        )
    ]


def draw_squares(result: Breakdown, rewriter: str, cut: Cut) -> Drawing:
    """The figure of one rewriter at one (metric, threshold)."""
    from robustcs.studies.breakdown.figure import squares_figure

    turns = result.turns
    part = at(turns[turns["rewriter"] == rewriter], cut)
    return squares_figure({bin_: list(part[part["bin"] == bin_]["turn"]) for bin_ in bins_of(result.bins)})
