"""Panels with named rows, and forest plots of means with their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from robustcs.documents.figures import INK, letters, page_width, panels_across, style
from robustcs.documents.text import one_line, shortened

_COLOUR, _MARK = "#0b3a66", "#cf5c0c"
# Sizes in inches.
TOP, AXIS, EDGE, ROW = 0.26, 0.4, 0.05, 0.17
RIGHT, BETWEEN = 0.15, 0.3
_LEFT, LETTER = 0.55, 0.065  # the smallest width of the names, and the width of a letter
_PER_ROW = 3
#: Characters shown of a system's name.
NAME = 22


@dataclass(frozen=True)
class MeanPanel:
    """One measure: lower limit, mean and upper limit, each of shape [systems]; NaN without an interval.

    mark
        Position of a dashed line; NaN for none.
    """

    title: str
    low: np.ndarray
    value: np.ndarray
    high: np.ndarray
    mark: float = math.nan


def panel_grid(
    count: int,
    left: float,
    body: float,
    *,
    above: float = 0.0,
    top: float = TOP,
    axis: float = AXIS,
    right: float = RIGHT,
    between: float = BETWEEN,
    edge: float = EDGE,
    width: float | None = None,
) -> tuple[Figure, list[tuple[Axes, bool]]]:
    """Return a figure with ``count`` panels of height ``body``, at most three side by side, and which of them are leftmost.

    ``left``, ``right`` and ``above`` are margins around all panels; ``top`` and ``axis`` are the heights of the title and the
    axis of each panel on a page. All are in inches.
    """
    full, top, axis = width or page_width(), letters(top), letters(axis)
    across = panels_across(count, _PER_ROW) if count else 1
    height = above + -(-count // across) * (top + body + axis) + edge
    inside = (full - left - right - between * (across - 1)) / across
    figure, panels = Figure(figsize=(full, height)), []
    for line, column in (divmod(number, across) for number in range(count)):
        x, y = left + column * (inside + between), height - above - (line + 1) * (top + body) - line * axis
        panels.append((figure.add_axes((x / full, y / height, inside / full, body / height)), column == 0))
    return figure, panels


def room_of(names: Sequence[str]) -> float:
    """Return the width of the names of rows, in inches."""
    return max(_LEFT, 0.1 + letters(LETTER) * max(len(shortened(name, NAME)) for name in names))


def name_rows(axes: Axes, names: Sequence[str], leftmost: bool, title: str, label: str) -> None:
    """Name the rows of a panel from the top down, and label its axis."""
    axes.set_yticks(np.arange(len(names))[::-1], [shortened(name, NAME) if leftmost else "" for name in names])
    axes.set_ylim(-0.7, len(names) - 0.3)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=INK, alpha=0.15, linewidth=0.4)
    axes.set_axisbelow(True)
    axes.set_title(one_line(title), loc="left")
    axes.set_xlabel(label, labelpad=2)


def forest(names: Sequence[str], panels: Sequence[MeanPanel], label: str = "mean and 95% CI", zero: bool = False) -> Figure:
    """Draw one panel per measure, with the same row for a system in all of them.

    ``label`` is printed below each axis; with ``zero``, a line marks 0.
    """
    places = np.arange(len(names))[::-1]
    with style():
        figure, grid = panel_grid(len(panels), room_of(names), letters(ROW) * (len(names) + 0.4))
        for panel, (axes, leftmost) in zip(panels, grid, strict=True):
            axes.hlines(places, panel.low, panel.high, color=_COLOUR, linewidth=1.4, alpha=0.6)
            axes.plot(panel.value, places, "o", color=_COLOUR, markersize=3.6)
            name_rows(axes, names, leftmost, panel.title, label)
            if not math.isnan(panel.mark):
                axes.axvline(panel.mark, color=_MARK, linewidth=0.8, linestyle=(0, (3, 2)))
            if zero:
                axes.axvline(0, color=INK, linewidth=0.6)
    return figure
