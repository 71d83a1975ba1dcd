"""Forest plots: means with their intervals, one row for each system and one panel for each measure."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robustcs.documents.panels import (
    BETWEEN,
    EDGE,
    NOTE,
    ROW,
    dots,
    fit_x,
    fitting,
    intervals,
    name_rows,
    names_and_room,
    panel_grid,
    panel_title,
    panel_width,
    panels_across,
    tell_left_out,
)
from robustcs.documents.style import FIRST, INK, LABEL, SECOND, Width, room, scaled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The largest number of names in three panels side by side.
MOST_ROWS = 36
#: The row that stands for the names that are left out.
LEFT_OUT = "…"


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


def forest(
    width: Width,
    names: Sequence[str],
    panels: Sequence[MeanPanel],
    label: str = "mean and 95% CI",
    zero: bool = False,
    marked: Collection[str] = (),
    diamonds: bool = False,
) -> Figure:
    """Draw one panel per measure, with the same row for a system in all of them.

    Panels that would make the figure higher than a page are left out, and the figure says so.

    label
        Printed below each axis.
    zero
        Whether a line marks 0.
    marked
        The names with another colour.
    diamonds
        Whether these have diamonds instead of dots.
    """
    shown, left = names_and_room(names)
    body = scaled(ROW) * (len(names) + 0.4)
    # in a column, panels are below each other where they fit
    narrow = 1 if fitting(len(panels), 1, body, EDGE) == len(panels) else 2
    across = panels_across(len(panels), width, narrow=narrow)
    drawn = panels[: fitting(len(panels), across, body, EDGE)]
    gone = len(panels) - len(drawn)
    below = EDGE + (scaled(NOTE) if gone else 0.0)
    figure, grid = panel_grid(len(drawn), width, left, body, below=below, narrow=narrow)
    colours = [SECOND if name in marked else FIRST for name in names]
    special = np.array([diamonds and name in marked for name in names])
    for panel, (axes, leftmost) in zip(drawn, grid, strict=True):
        rows = name_rows(axes, shown, leftmost)
        panel_title(axes, panel.title, left - EDGE if leftmost else BETWEEN - 0.1)
        inside = panel_width(axes)
        if room([label], scaled(LABEL)) <= inside + BETWEEN - 0.1:
            axes.set_xlabel(label)
        elif leftmost:  # one label below all panels of the line
            axes.set_xlabel(label, x=(across * inside + BETWEEN * (across - 1)) / 2 / inside)
        axes.grid(axis="x")
        fit_x(axes, [*panel.low, *panel.value, *panel.high, panel.mark, *([0.0] if zero else [])])
        intervals(axes, panel.low, panel.high, rows, _known(colours, panel.low, panel.high))
        dots(axes, np.where(special, np.nan, panel.value), rows, colours)
        if diamonds:
            dots(axes, np.where(special, panel.value, np.nan), rows, colours, marker="D")
        if not math.isnan(panel.mark):
            axes.axvline(panel.mark, color=SECOND, linewidth=0.8, linestyle="--")
        if zero:
            axes.axvline(0, color=INK, linewidth=0.6)
    tell_left_out(figure, gone)
    return figure


def best_and_worst(names: Sequence[str], panels: int, groups: int = 1, extra: int = 0) -> list[str]:
    """Return the names, from the best to the worst, that a forest of this many panels can show on a page.

    Of more, the first and the last are shown, with :data:`LEFT_OUT` between them.

    groups
        The number of groups with names of their own, below each other.
    extra
        The number of further rows of each group.
    """
    most = (MOST_ROWS if panels <= 3 else MOST_ROWS // 2) // groups - extra
    most = max(3, most)
    if len(names) <= most:
        return list(names)
    best = most // 2
    return [*names[:best], LEFT_OUT, *names[len(names) - (most - best - 1) :]]


def told_left_out(names: Sequence[str], panels: int, by: str) -> str:
    """Return the sentence of a caption on the names that :func:`best_and_worst` leaves out; empty if there are none."""
    shown = best_and_worst(names, panels)
    if LEFT_OUT not in shown:
        return ""
    best = shown.index(LEFT_OUT)
    worst = len(shown) - best - 1
    return f" Shown: the {best} best and the {worst} worst of {len(names)} systems by {by}."


def _known(colours: Sequence[str], low: np.ndarray, high: np.ndarray) -> list[str]:
    """Return the colours of the rows with both limits."""
    both = np.isfinite(np.asarray(low, float) + np.asarray(high, float))
    return [colour for colour, known in zip(colours, both, strict=True) if known]
