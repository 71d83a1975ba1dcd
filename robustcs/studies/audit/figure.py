"""A judge beside people as a figure: both grades, the direction of the errors, and the systems under both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from robustcs.documents.figures import FULL_WIDTH, INK, style
from robustcs.documents.text import one_line, shortened

Floats = npt.NDArray[np.float64]

_COLOUR, _OTHER = "#0b3a66", "#cf5c0c"
_SHADES = LinearSegmentedColormap.from_list("share", ["#ffffff", "#7db0da", "#0b3a66"])
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
    """One row per judge: confusion, bias on the same axis for all, and systems where there are runs."""
    ends = [end for judge in judges for slice_ in judge.slices.values() for end in slice_ if end == end]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    limits = low - 0.06 * (high - low or 1), high + 0.06 * (high - low or 1)
    widest = max((len(shortened(name, _NAME)) for judge in judges for name in judge.slices), default=0)
    names = widest * _LETTER + 0.1
    heights = [max(_LEAST, _ROW * (len(judge.slices) + 0.6)) for judge in judges]
    height = sum(heights) + len(judges) * (_TOP + _AXIS)
    shown = [3 if judge.human else 2 for judge in judges]
    with style():
        figure = Figure(figsize=(FULL_WIDTH, height))
        top = height
        for judge, tall, panels in zip(judges, heights, shown, strict=True):
            bottom = top - _TOP - tall
            square = min(tall, _LEAST)
            lefts = _LEFT, _LEFT + square + 0.15 + names
            room = FULL_WIDTH - lefts[1] - _RIGHT
            middle = room - (square + _BETWEEN if panels == 3 else 0)
            boxes = [(lefts[0], square), (lefts[1], middle), (lefts[1] + middle + _BETWEEN, square)]
            draw = (_confusion, _bias, _systems)
            for number in range(panels):
                left, width = boxes[number]
                box_height = tall if number == 1 else square
                axes = figure.add_axes((left / FULL_WIDTH, (top - _TOP - box_height) / height, width / FULL_WIDTH,
                                        box_height / height))  # fmt: skip
                draw[number](axes, judge)
                if number == 1:
                    axes.set_xlim(*limits)
            figure.text(0.005, (top - 0.12) / height, one_line(shortened(judge.name, 40)), fontsize=7.5, weight="bold")
            top = bottom - _AXIS
    return figure


def _confusion(axes: Axes, judge: JudgePanel) -> None:
    totals = judge.confusion.sum(axis=1, keepdims=True)
    shares = np.divide(judge.confusion, totals, out=np.zeros_like(judge.confusion), where=totals > 0)
    axes.imshow(shares, cmap=_SHADES, vmin=0, vmax=1, aspect="equal")
    for row, column in np.ndindex(shares.shape):
        colour = "white" if shares[row, column] > 0.6 else INK
        axes.text(column, row, f"{judge.confusion[row, column]:.0f}", ha="center", va="center", fontsize=5.5, color=colour)
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
