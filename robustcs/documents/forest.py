"""Means of systems with their intervals as a forest plot."""

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
# Measures of the page, in inches.
_RIGHT, _BETWEEN, _TOP, _AXIS, _EDGE, _ROW = 0.15, 0.3, 0.26, 0.4, 0.05, 0.17
_LEFT, _LETTER = 0.55, 0.065  # the least room for names, and what a letter of them takes
_PER_ROW = 3
_NAME = 22  # characters of a system's name


@dataclass(frozen=True)
class MeanPanel:
    """One measure: per system the lower limit, the mean and the upper limit, each shape [systems]; NaN without an interval.

    mark
        Where a dashed line stands; NaN for none.
    """

    title: str
    low: np.ndarray
    value: np.ndarray
    high: np.ndarray
    mark: float = math.nan


def forest(names: Sequence[str], panels: Sequence[MeanPanel], label: str = "mean, 95 % interval", zero: bool = False) -> Figure:
    """One panel per measure; every system has the same line in all of them.

    ``label`` stands below each axis; with ``zero`` a line marks 0.
    """
    per_row = panels_across(len(panels), _PER_ROW)
    rows = -(-len(panels) // per_row)
    row_height, top, axis, full = letters(_ROW), letters(_TOP), letters(_AXIS), page_width()
    inside = row_height * (len(names) + 0.4)
    height = rows * (top + inside + axis) + _EDGE
    with style():
        figure = Figure(figsize=(full, height))
        left_edge = max(_LEFT, 0.1 + letters(_LETTER) * max(len(shortened(name, _NAME)) for name in names))
        width = (full - left_edge - _RIGHT - _BETWEEN * (per_row - 1)) / per_row
        for number, panel in enumerate(panels):
            row, column = divmod(number, per_row)
            left = left_edge + column * (width + _BETWEEN)
            bottom = height - (row + 1) * (top + inside) - row * axis
            axes = figure.add_axes((left / full, bottom / height, width / full, inside / height))
            _draw(axes, panel, names, column == 0, label)
            if not math.isnan(panel.mark):
                axes.axvline(panel.mark, color=_MARK, linewidth=0.8, linestyle=(0, (3, 2)))
            if zero:
                axes.axvline(0, color=INK, linewidth=0.6)
    return figure


def _draw(axes: Axes, panel: MeanPanel, names: Sequence[str], leftmost: bool, label: str) -> None:
    places = np.arange(len(names))[::-1]
    axes.hlines(places, panel.low, panel.high, color=_COLOUR, linewidth=1.4, alpha=0.6)
    axes.plot(panel.value, places, "o", color=_COLOUR, markersize=3.6)
    axes.set_yticks(places, [shortened(name, _NAME) if leftmost else "" for name in names])
    axes.set_ylim(-0.7, len(names) - 0.3)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=INK, alpha=0.15, linewidth=0.4)
    axes.set_axisbelow(True)
    axes.set_title(one_line(panel.title), loc="left")
    axes.set_xlabel(label, labelpad=2)
