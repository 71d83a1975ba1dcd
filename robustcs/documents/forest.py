"""Panels with named rows, and forest plots of means with their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robustcs.documents.drawing import (
    DASHED,
    Drawing,
    Panel,
    letters,
    page_width,
    panels_across,
    room,
)
from robustcs.documents.text import shortened
from robustcs.wording import system_name

_COLOUR, _MARK = "#0b3a66", "#cf5c0c"
# Sizes in inches.
TOP, AXIS, EDGE, ROW = 0.26, 0.4, 0.05, 0.17
RIGHT, BETWEEN = 0.15, 0.3
_LEFT, _BESIDE = 0.55, 0.12  # the smallest width of the names, and the space next to them
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
    between: float = BETWEEN,
    below: float = EDGE,
    width: float | None = None,
    narrow: int = 1,
) -> tuple[Drawing, list[tuple[Panel, bool]]]:
    """Return a drawing with ``count`` panels of height ``body``, at most three side by side (in a column
    ``narrow``), and which of them are leftmost.

    ``left``, ``above`` and ``below`` are margins around all panels, in inches.
    """
    full, top, axis = width or page_width(), letters(TOP), letters(AXIS)
    across = panels_across(count, _PER_ROW, narrow) if count else 1
    height = above + -(-count // across) * (top + body + axis) + below
    inside = (full - left - RIGHT - between * (across - 1)) / across
    drawing, panels = Drawing(full, height), []
    for line, column in (divmod(number, across) for number in range(count)):
        x, y = (
            left + column * (inside + between),
            height - above - (line + 1) * (top + body) - line * axis,
        )
        panels.append((drawing.panel(x, y, inside, body), column == 0))
    return drawing, panels


def names_and_room(names: Sequence[str], most: int = NAME) -> tuple[list[str], float]:
    """Return the names of rows as they are shown, and their width in inches."""
    shown = [shortened(system_name(name), most) for name in names]
    return shown, max(_LEFT, _BESIDE + room(shown))


def forest(
    names: Sequence[str],
    panels: Sequence[MeanPanel],
    label: str = "mean and 95% CI",
    zero: bool = False,
) -> Drawing:
    """Draw one panel per measure, with the same row for a system in all of them.

    ``label`` is printed below each axis; with ``zero``, a line marks 0.
    """
    shown, width = names_and_room(names)
    drawing, grid = panel_grid(len(panels), width, letters(ROW) * (len(names) + 0.4))
    for one, (panel, leftmost) in zip(panels, grid, strict=True):
        rows = panel.rows(shown, leftmost)
        panel.title, panel.x_label, panel.grid = one.title, label, "x"
        panel.fit([*one.low, *one.value, *one.high, one.mark, 0.0 if zero else math.nan])
        panel.intervals(one.low, one.high, rows, _COLOUR, alpha=0.6)
        panel.dots(one.value, rows, _COLOUR)
        if not math.isnan(one.mark):
            panel.vertical(one.mark, _MARK, 0.8, dashes=DASHED)
        if zero:
            panel.vertical(0)
    return drawing
