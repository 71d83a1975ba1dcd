"""Ratings and grades as stacked bars, one for each criterion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robustcs.documents.document import Figure
from robustcs.documents.text import one_line, shortened
from robustcs.documents.words import percent
from robustcs.lazy import Drawing, pd

#: From the lowest to the highest rating: told apart with any colour vision and in grey.
_LOW, _MIDDLE, _HIGH = "#cf5c0c", "#f3f0e6", "#0b3a66"
_ROW = 0.3
_NAME = 36  # characters of a criterion's name


@dataclass(frozen=True)
class RatingRow:
    """The shares (0 to 1) of the ratings of one criterion, ``ratings`` from low to high."""

    criterion: str
    ratings: tuple[str, ...]
    shares: tuple[float, ...]


def distribution_figure(distribution: pd.DataFrame, what: str = "Ratings given") -> Figure:
    """The ratings of each criterion as stacked bars; ``what`` they are."""
    words: Mapping[str, str] = {
        str(name): ", ".join(f"{row.rating} {percent(row.share)}" for row in part.itertuples())
        for name, part in distribution.groupby("criterion", sort=False)
    }
    return Figure(
        "ratings", f"{what} for each criterion, lowest on the left.",
        "; ".join(f"{name}: {text}" for name, text in words.items()) + ".", lambda: draw_ratings(distribution),
    )  # fmt: skip


def draw_ratings(distribution: pd.DataFrame) -> Drawing:
    """The figure of :func:`distribution_figure`."""
    return rating_figure(
        [
            RatingRow(str(name), tuple(part["rating"]), tuple(part["share"]))
            for name, part in distribution.groupby("criterion", sort=False)
        ]
    )


def rating_figure(rows: Sequence[RatingRow]) -> Drawing:
    """One stacked bar per criterion, from the lowest rating on the left to the highest on the right."""
    from matplotlib.figure import Figure as MatplotlibFigure

    from robustcs.documents.figures import FULL_WIDTH, INK, letters, page_width, style

    wide = page_width() == FULL_WIDTH
    with style():
        figure = MatplotlibFigure(figsize=(page_width(), letters(0.5) + _ROW * len(rows)), layout="constrained")
        axes = figure.subplots()
        scale = _scale(rows)
        colours = dict(zip(scale, _colours(len(scale)), strict=True))
        for place, row in enumerate(rows):
            left = 0.0
            for rating, share in zip(row.ratings, row.shares, strict=True):
                colour = colours[rating]
                axes.barh(place, share, left=left, height=0.72, color=colour, edgecolor=INK, linewidth=0.4)
                if share >= (0.035 if wide else 0.08):
                    axes.text(left + share / 2, place, one_line(rating), ha="center", va="center", fontsize=letters(6.5),
                              color="#ffffff" if _dark(colour) else "#000000")  # fmt: skip
                left += share
        axes.set_yticks(range(len(rows)), [shortened(row.criterion, _NAME if wide else _NAME // 2) for row in rows])
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
        axes.set(xlim=(0, 1))
        ticks = range(0, 101, 20 if wide else 50)
        axes.set_xticks([per_cent / 100 for per_cent in ticks], [f"{per_cent} %" for per_cent in ticks])
    return figure


def _scale(rows: Sequence[RatingRow]) -> list[str]:
    """Every rating of any criterion, from low to high: one colour means one rating."""
    every = list(dict.fromkeys(rating for row in rows for rating in row.ratings))
    try:
        return sorted(every, key=float)
    except ValueError:
        return every


def _colours(count: int) -> list[tuple[float, float, float]]:
    from matplotlib.colors import LinearSegmentedColormap

    ramp = LinearSegmentedColormap.from_list("ratings", [_LOW, _MIDDLE, _HIGH])
    return [ramp(place)[:3] for place in (np.linspace(0, 1, count) if count > 1 else [1.0])]  # type: ignore[misc]


def _dark(colour: tuple[float, float, float]) -> bool:
    return float(np.dot(colour, (0.299, 0.587, 0.114))) < 0.5
