"""A judge beside people as a figure: both grades, the direction of the errors, and the systems under both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from robustcs.documents.figures import COLUMN_WIDTH, INK, letters, page_width, style
from robustcs.documents.text import one_line, shortened

Floats = npt.NDArray[np.float64]

_COLOUR, _OTHER = "#0b3a66", "#cf5c0c"
# Measures of the page, in inches.
_TOP, _AXIS, _LEFT, _BETWEEN, _LETTER, _RIGHT = 0.34, 0.38, 0.35, 0.42, 0.058, 0.08
_ROW, _LEAST = 0.14, 1.45
_NAME = 26  # characters of a slice's name


@dataclass(frozen=True)
class JudgePanel:
    """One judge.

    grades
        The scale, V grades.
    confusion
        float64[V, V]: pairs by grade of the people (rows) and of the judge.
    slices
        Name → mean difference of grades and the limits of its interval, NaN without.
    human, model
        Mean scores of the systems under both, empty without runs; ``metric`` is their measure, ``turned`` the pairs of systems
        that stand the other way round.
    """

    name: str
    grades: tuple[int, ...]
    confusion: Floats
    slices: dict[str, tuple[float, float, float]]
    metric: str
    human: tuple[float, ...]
    model: tuple[float, ...]
    turned: tuple[tuple[int, int], ...]


def audit_figure(judges: Sequence[JudgePanel]) -> Figure:
    """One row per judge: confusion, bias on the same axis for all, and systems where there are runs; in a column bias below."""
    ends = [end for judge in judges for slice_ in judge.slices.values() for end in slice_ if end == end]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    limits = low - 0.06 * (high - low or 1), high + 0.06 * (high - low or 1)
    widest = max((len(shortened(name, _NAME)) for judge in judges for name in judge.slices), default=0)
    names = letters(_LETTER) * widest + 0.1
    full, top_edge, axis = page_width(), letters(_TOP), letters(_AXIS)
    narrow = full <= COLUMN_WIDTH
    least = (full - 2 * _LEFT - _BETWEEN - _RIGHT) / 2 if narrow else _LEAST
    talls = [max(letters(_ROW) * (len(judge.slices) + 0.6), 0 if narrow else least) for judge in judges]
    heights = [tall + (least + axis if narrow else 0) for tall in talls]
    height = sum(heights) + len(judges) * (top_edge + axis)
    with style():
        figure = Figure(figsize=(full, height))
        top = height
        for judge, tall, whole in zip(judges, talls, heights, strict=True):
            square = least if narrow else min(tall, least)
            under = top - top_edge
            if narrow:
                boxes = [
                    (_LEFT, under - square, square, square),
                    (names + 0.05, under - square - axis - tall, full - names - 0.05 - _RIGHT, tall),
                    (full - _RIGHT - square, under - square, square, square),
                ]
            else:
                second = _LEFT + square + 0.15 + names
                middle = full - second - _RIGHT - (square + _BETWEEN if judge.human else 0)
                boxes = [
                    (_LEFT, under - square, square, square),
                    (second, under - tall, middle, tall),
                    (second + middle + _BETWEEN, under - square, square, square),
                ]
            for number, draw in enumerate((_confusion, _bias, _systems) if judge.human else (_confusion, _bias)):
                left, bottom, wide, high_ = boxes[number]
                axes = figure.add_axes((left / full, bottom / height, wide / full, high_ / height))
                draw(axes, judge)
                if number == 1:
                    axes.set_xlim(*limits)
            name = one_line(shortened(judge.name, 40))
            figure.text(0.005, (top - 0.12) / height, name, fontsize=letters(7.5), weight="bold")
            top -= top_edge + whole + axis
    return figure


def _confusion(axes: Axes, judge: JudgePanel) -> None:
    totals = judge.confusion.sum(axis=1, keepdims=True)
    shares = np.divide(judge.confusion, totals, out=np.zeros_like(judge.confusion), where=totals > 0)
    size = len(shares)
    axes.set(xlim=(-0.5, size - 0.5), ylim=(size - 0.5, -0.5))
    for row, column in np.ndindex(shares.shape):
        share = float(shares[row, column])  # of the ground of the page, so that it follows the page's colours
        axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=_COLOUR, alpha=share, linewidth=0))
        colour = "white" if share > 0.6 else INK
        axes.text(
            column, row, f"{judge.confusion[row, column]:.0f}", ha="center", va="center", fontsize=letters(5.5), color=colour
        )
    ticks = np.arange(len(judge.grades))
    axes.set_xticks(ticks, list(map(str, judge.grades)))
    axes.set_yticks(ticks, list(map(str, judge.grades)))
    axes.tick_params(length=0)
    axes.set_xlabel("grade of the judge", labelpad=1)
    axes.set_ylabel("of people", labelpad=1)


def _bias(axes: Axes, judge: JudgePanel) -> None:
    rows = np.arange(len(judge.slices))
    values, low, high = np.array(list(judge.slices.values())).T
    axes.axvline(0, color=INK, linewidth=0.5, alpha=0.5)
    axes.hlines(rows, low, high, color=_COLOUR, linewidth=1.4, alpha=0.6)
    axes.plot(values, rows, "o", color=_COLOUR, markersize=3.2)
    axes.set_yticks(rows, [shortened(name, _NAME) for name in judge.slices])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.locator_params(axis="x", nbins=5)
    axes.grid(axis="y", color=INK, alpha=0.15, linewidth=0.4)
    axes.set_xlabel("mean grade, judge − people", labelpad=2)


def _systems(axes: Axes, judge: JudgePanel) -> None:
    human, model = np.array(judge.human), np.array(judge.model)
    low, high = min(human.min(), model.min()), max(human.max(), model.max())
    edge = 0.06 * (high - low or 1)
    limits = low - edge, high + edge
    axes.plot(limits, limits, color=INK, linewidth=0.5, alpha=0.4)
    for first, second in judge.turned:
        axes.plot(human[[first, second]], model[[first, second]], color=_OTHER, linewidth=0.6, alpha=0.6)
    axes.plot(human, model, "o", color=_COLOUR, markersize=3)
    axes.set_xlim(*limits)
    axes.set_ylim(*limits)
    axes.locator_params(nbins=4)
    axes.set_xlabel("under people", labelpad=2)
    axes.set_ylabel("under the judge", labelpad=1)
    axes.set_title(one_line(judge.metric), loc="left")
