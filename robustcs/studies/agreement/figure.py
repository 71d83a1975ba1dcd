"""Agreement as figures: overlap of annotators by text, and what raters said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from robustcs.documents.figures import COLUMN_WIDTH, FULL_WIDTH, INK, style
from robustcs.documents.text import one_line, shortened

_BLUE = "#2f74b0"
_PALE = "#cadff0"
#: From the lowest to the highest rating: told apart with any colour vision and in grey.
_LOW, _MIDDLE, _HIGH = "#cf5c0c", "#f3f0e6", "#0b3a66"
_ROW = 0.3
_NAME = 24  # characters of a criterion's name


@dataclass(frozen=True)
class OverlapRow:
    """J_k of every text, and its mean with an interval."""

    label: str
    values: np.ndarray
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class RatingRow:
    """The shares (0 to 1) of the ratings of one criterion, ``ratings`` from low to high."""

    criterion: str
    ratings: tuple[str, ...]
    shares: tuple[float, ...]


def overlap_figure(rows: Sequence[OverlapRow]) -> Figure:
    """One row per k: quartiles of the texts as a box, from the 5th to the 95th per cent a line, the mean with its interval."""
    with style():
        figure = Figure(figsize=(COLUMN_WIDTH, 0.55 + _ROW * len(rows)), layout="constrained")
        axes = figure.subplots()
        places = np.arange(len(rows))[::-1]
        for place, row in zip(places, rows, strict=True):
            low, first, third, high = np.quantile(row.values, [0.05, 0.25, 0.75, 0.95])
            axes.plot([low, high], [place, place], color=_BLUE, linewidth=0.8)
            axes.barh(place, third - first, left=first, height=0.5, color=_PALE, edgecolor=_BLUE, linewidth=0.6)
            axes.plot([row.low, row.high], [place, place], color=INK, linewidth=1.4)
            axes.plot(row.mean, place, "o", color=INK, markersize=3.6)
        axes.set_yticks(places, [row.label for row in rows])
        axes.tick_params(axis="y", length=0)
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.6, len(rows) - 0.4))
        axes.set_xlabel("share of the characters that any annotator chose", labelpad=2)
        axes.grid(axis="x", color=INK, alpha=0.15, linewidth=0.4)
        axes.set_axisbelow(True)
    return figure


def rating_figure(rows: Sequence[RatingRow]) -> Figure:
    """One stacked bar per criterion, from the lowest rating on the left to the highest on the right."""
    with style():
        figure = Figure(figsize=(FULL_WIDTH, 0.5 + _ROW * len(rows)), layout="constrained")
        axes = figure.subplots()
        scale = _scale(rows)
        colours = dict(zip(scale, _colours(len(scale)), strict=True))
        for place, row in enumerate(rows):
            left = 0.0
            for rating, share in zip(row.ratings, row.shares, strict=True):
                colour = colours[rating]
                axes.barh(place, share, left=left, height=0.72, color=colour, edgecolor=INK, linewidth=0.4)
                if share >= 0.035:
                    axes.text(left + share / 2, place, one_line(rating), ha="center", va="center", fontsize=6.5,
                              color="#ffffff" if _dark(colour) else "#000000")  # fmt: skip
                left += share
        axes.set_yticks(range(len(rows)), [shortened(row.criterion, _NAME) for row in rows])
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
        axes.set(xlim=(0, 1))
        axes.set_xticks(np.linspace(0, 1, 6), [f"{per_cent} %" for per_cent in range(0, 101, 20)])
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
