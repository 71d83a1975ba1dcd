"""Scatter plots of question similarity and answer similarity (Figures 2 and 3 of the error-analysis paper)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robustcs.documents.drawing import (
    COLUMN_WIDTH,
    DASHED,
    INK,
    MOST_MARKS,
    Drawing,
    Key,
    Panel,
    letters,
    page_width,
    panels_across,
    room,
    round_ticks,
)
from robustcs.documents.old_grid import BETWEEN, RIGHT, panel_grid
from robustcs.documents.text import shortened, turn_anchor

#: Colour and marker of the two corners: similar questions with different answers, and the reverse.
CORNER_LOOKS = (("#cf5c0c", "v"), ("#147a5f", "^"))
_POINT = "#2f74b0"

# Dimensions in inches.
_LEFT, _RIGHT, _TOP, _BOTTOM = 0.5, 0.08, 0.3, 0.36
_MARGINAL, _BETWEEN = 0.36, 0.06
_LEGEND = 0.3
_TITLE_CHARACTERS = 46
_PANEL_CHARACTERS = 14  # per inch, of small multiples


@dataclass(frozen=True)
class ScatterCorner:
    """An outlier corner: its box (x from, x to, y from, y to), its meaning, and the rows of its turns."""

    box: tuple[float, float, float, float]
    meaning: str
    rows: np.ndarray


@dataclass(frozen=True)
class Scatter:
    """n turns with their question similarity (x) and answer similarity (y), shape [n], and the two corners in fixed order."""

    title: str
    x_label: str
    y_label: str
    turns: Sequence[str]
    x: np.ndarray
    y: np.ndarray
    corners: tuple[ScatterCorner, ScatterCorner]


def scatter_figure(scatter: Scatter) -> Drawing:
    """Draw one point per turn (larger: several turns), the diagonal, both distributions, and the outliers.

    The figure fills one column of a paper. Both axes go from 0 to 1, or further if the values do.
    """
    side = COLUMN_WIDTH - _LEFT - _RIGHT - _MARGINAL - _BETWEEN
    drawing = Drawing(COLUMN_WIDTH, _BOTTOM + _LEGEND + side + _BETWEEN + _MARGINAL + _TOP)
    limits = _limits(scatter.x), _limits(scatter.y)
    bottom = _BOTTOM + _LEGEND
    panel = drawing.panel(_LEFT, bottom, side, side, _padded(*limits[0]), _padded(*limits[1]))
    above = drawing.panel(_LEFT, bottom + side + _BETWEEN, side, _MARGINAL, panel.x, frame="")
    right = drawing.panel(_LEFT + side + _BETWEEN, bottom, _MARGINAL, side, y=panel.y, frame="")
    _marginals(above, right, scatter, limits)
    _corners(panel, scatter)
    panel.x_ticks, panel.y_ticks = (round_ticks(*edge, 5) for edge in (panel.x, panel.y))
    panel.x_label, panel.y_label = scatter.x_label, scatter.y_label
    title = shortened(scatter.title, int(_TITLE_CHARACTERS / letters(1)))
    drawing.write(_LEFT, drawing.height - 0.06, title, 7.5, bold=True, above="top")
    _legend(drawing, [scatter])
    return drawing


def scatter_panels(scatters: Sequence[Scatter]) -> Drawing:
    """Draw several rewriters as small multiples with common axes: points, diagonal and corners, without turn ids.

    The panels fill the width of a page, three to a row, or of a column, two to a row, with one legend.
    """
    across = panels_across(len(scatters), 3, 2)
    side = (page_width() - _LEFT - RIGHT - BETWEEN * (across - 1)) / across
    drawing, grid = panel_grid(len(scatters), _LEFT, side, below=_LEGEND, narrow=2)
    x, y = (
        _padded(min(low), max(high))
        for low, high in (
            zip(*(_limits(getattr(one, axis)) for one in scatters), strict=True) for axis in "xy"
        )
    )
    for (panel, leftmost), scatter in zip(grid, scatters, strict=True):
        panel.x, panel.y, panel.x_ticks = x, y, round_ticks(*x, 4)
        panel.y_ticks = [(place, label if leftmost else "") for place, label in round_ticks(*y, 4)]
        panel.x_label, panel.y_label = scatter.x_label, scatter.y_label if leftmost else ""
        name, value = scatter.title.rsplit(": ", 1)
        panel.title = f"{shortened(name, int(_PANEL_CHARACTERS * side / letters(1)) - len(value) - 2)}: {value}"
        _corners(panel, scatter)
    _legend(drawing, scatters)
    return drawing


def _padded(low: float, high: float) -> tuple[float, float]:
    pad = 0.03 * (high - low)
    return low - pad, high + pad


def _limits(values: np.ndarray) -> tuple[float, float]:
    return min(0.0, float(values.min(initial=0.0))), max(1.0, float(values.max(initial=1.0)))


def _corners(panel: Panel, scatter: Scatter) -> None:
    """Draw the corners, the diagonal, the points, and the outliers on top."""
    places = list(zip(scatter.x.tolist(), scatter.y.tolist(), strict=True))
    for corner, (colour, _) in zip(scatter.corners, CORNER_LOOKS, strict=True):
        (left, right), (bottom, top) = (
            np.clip(corner.box[:2], *panel.x),
            np.clip(corner.box[2:], *panel.y),
        )
        panel.box(left, bottom, right, top, colour, alpha=0.1)
    ends = [max(panel.x[0], panel.y[0]), min(panel.x[1], panel.y[1])]
    panel.line(ends, ends, INK, 0.6, dashes=DASHED, alpha=0.5)
    anchors: dict[tuple[float, float], list[str]] = {}
    for place, turn in zip(places, scatter.turns, strict=True):
        anchors.setdefault(place, []).append(turn_anchor(turn))
    sizes = [min(5 * len(turns) ** 0.5, 60) ** 0.5 for turns in anchors.values()]
    linked = [",".join(turns) for turns in anchors.values()] if len(anchors) <= MOST_MARKS else ()
    x, y = (np.array(list(anchors)).reshape(-1, 2)[:, axis] for axis in (0, 1))
    panel.dots(x, y, _POINT, sizes, alpha=0.55, anchors=linked)
    for corner, (colour, dot) in zip(scatter.corners, CORNER_LOOKS, strict=True):
        turns = [turn_anchor(scatter.turns[row]) for row in corner.rows]
        x, y = scatter.x[corner.rows], scatter.y[corner.rows]
        panel.dots(x, y, colour, 3.7, dot, edge="white", edge_width=0.3, anchors=turns)


def _marginals(
    above: Panel,
    right: Panel,
    scatter: Scatter,
    limits: tuple[tuple[float, float], tuple[float, float]],
) -> None:
    for axis, values, edge in (("x", scatter.x, limits[0]), ("y", scatter.y, limits[1])):
        counts, ends = np.histogram(values, np.linspace(*edge, 21))
        most = max(1, int(counts.max(initial=0))) * 1.05
        for count, low, high in zip(counts / most, ends[:-1], ends[1:], strict=True):
            if count and axis == "x":
                above.box(low, 0, high, count, _POINT, alpha=0.7)
            elif count:
                right.box(0, low, count, high, _POINT, alpha=0.7)


def _legend(drawing: Drawing, scatters: Sequence[Scatter]) -> None:
    keys = []
    for number, (colour, dot) in enumerate(CORNER_LOOKS):
        meaning = scatters[0].corners[number].meaning
        counts = f"{meaning} ({', '.join(str(len(scatter.corners[number].rows)) for scatter in scatters)})"
        fits = _LEFT + _MARGINAL + room([counts]) <= drawing.width
        keys.append(Key(counts if fits else meaning, colour, shape=dot, size=4.0))
    drawing.legend(keys, _LEFT, _LEGEND - 0.06, 1)
