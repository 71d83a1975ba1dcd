"""Scatter plots of question similarity and answer similarity (Figures 2 and 3 of the error-analysis paper)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from robustcs.documents.figures import COLUMN_WIDTH, INK, MOST_MARKS, letters, page_width, style
from robustcs.documents.text import one_line, shortened, turn_anchor

#: Colour and marker of the two corners: similar questions with different answers, and the reverse.
CORNER_LOOKS = (("#cf5c0c", "v"), ("#147a5f", "^"))
_POINT = "#2f74b0"

# Dimensions in inches.
_LEFT, _RIGHT, _TOP, _BOTTOM = 0.5, 0.08, 0.3, 0.36
_MARGINAL, _BETWEEN = 0.36, 0.06
_LEGEND = 0.3
_LABEL = 0.095  # height of a turn id
_MOST_LABELS = 3  # per corner; the lines of more would cross
_TITLE_CHARACTERS = 46
# The same for small multiples.
_PER_ROW, _PER_ROW_IN_COLUMN, _GAP, _HEAD = 3, 2, 0.2, 0.34
_PANEL_CHARACTERS = 14  # per inch


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


def scatter_figure(scatter: Scatter) -> Figure:
    """Draw one point per turn (larger: several turns), the diagonal, both distributions, and the outliers with their ids.

    The figure fills one column of a paper. Both axes go from 0 to 1, or further if the values do.
    """
    side = COLUMN_WIDTH - _LEFT - _RIGHT - _MARGINAL - _BETWEEN
    height = _BOTTOM + _LEGEND + side + _BETWEEN + _MARGINAL + _TOP
    with style():
        figure = Figure(figsize=(COLUMN_WIDTH, height))

        def place(left: float, bottom: float, wide: float, high: float, shared: Axes | None = None, axis: str = "") -> Axes:
            box = (left / COLUMN_WIDTH, bottom / height, wide / COLUMN_WIDTH, high / height)
            return figure.add_axes(box, **({f"share{axis}": shared} if shared else {}))  # type: ignore[call-overload, no-any-return]

        bottom = _BOTTOM + _LEGEND
        axes = place(_LEFT, bottom, side, side)
        above = place(_LEFT, bottom + side + _BETWEEN, side, _MARGINAL, axes, "x")
        right = place(_LEFT + side + _BETWEEN, bottom, _MARGINAL, side, axes, "y")
        limits = _limits(scatter.x), _limits(scatter.y)
        _marginals(above, right, scatter, limits)
        _points(axes, scatter)
        for corner, (colour, dot) in zip(scatter.corners, CORNER_LOOKS, strict=True):
            _corner(axes, scatter, corner, colour, dot)
        for number, corner in enumerate(scatter.corners):
            _names(axes, scatter, corner, CORNER_LOOKS[number][0], limits, side)
        axes.set(xlim=_padded(*limits[0]), ylim=_padded(*limits[1]))
        axes.set_xlabel(one_line(scatter.x_label), labelpad=2)
        axes.set_ylabel(one_line(scatter.y_label), labelpad=2)
        title = shortened(scatter.title, _TITLE_CHARACTERS)
        figure.text(_LEFT / COLUMN_WIDTH, 1 - 0.06 / height, title, fontsize=7.5, fontweight="bold", va="top")
        _legend(figure, [scatter], COLUMN_WIDTH, height)
    return figure


def scatter_panels(scatters: Sequence[Scatter]) -> Figure:
    """Draw several rewriters as small multiples with common axes: points, diagonal and corners, without turn ids.

    The panels fill the width of a page, three to a row, or of a column, two to a row, with one legend.
    """
    full = page_width()
    per_row = _PER_ROW if full > COLUMN_WIDTH else _PER_ROW_IN_COLUMN
    columns, rows = min(len(scatters), per_row), -(-len(scatters) // per_row)
    side = (full - _LEFT - _RIGHT - _GAP * (per_row - 1)) / per_row
    width = _LEFT + columns * side + (columns - 1) * _GAP + _RIGHT
    height = rows * (_HEAD + side) + _BOTTOM + _LEGEND
    limits = [
        _padded(*map(float, (min(low), max(high))))
        for low, high in (zip(*(_limits(getattr(one, axis)) for one in scatters), strict=True) for axis in "xy")
    ]
    with style():
        figure = Figure(figsize=(width, height))
        for number, scatter in enumerate(scatters):
            row, column = divmod(number, per_row)
            left, bottom = _LEFT + column * (side + _GAP), height - (row + 1) * (_HEAD + side)
            axes = figure.add_axes((left / width, bottom / height, side / width, side / height))
            _points(axes, scatter)
            for corner, (colour, dot) in zip(scatter.corners, CORNER_LOOKS, strict=True):
                _corner(axes, scatter, corner, colour, dot)
            axes.set(xlim=limits[0], ylim=limits[1])
            title = shortened(scatter.title, int(_PANEL_CHARACTERS * side / letters(1)))
            axes.set_title(title, loc="left", fontsize=letters(7), pad=3)
            axes.tick_params(labelleft=column == 0, labelbottom=number + per_row >= len(scatters))
        middle = (_LEFT + (width - _RIGHT - _LEFT) / 2) / width
        below = one_line(scatters[0].x_label)
        figure.text(middle, (_LEGEND + 0.06) / height, below, fontsize=letters(7), ha="center", va="center")
        across = (height + _BOTTOM + _LEGEND) / 2 / height
        label = one_line(scatters[0].y_label)
        figure.text(0.07 / width, across, label, fontsize=letters(7), rotation=90, ha="center", va="center")
        _legend(figure, scatters, width, height)
    return figure


def _padded(low: float, high: float) -> tuple[float, float]:
    pad = 0.03 * (high - low)
    return low - pad, high + pad


def _limits(values: np.ndarray) -> tuple[float, float]:
    return min(0.0, float(values.min(initial=0.0))), max(1.0, float(values.max(initial=1.0)))


def _points(axes: Axes, scatter: Scatter) -> None:
    places = np.column_stack([scatter.x, scatter.y])
    points, point_of, counts = np.unique(places, axis=0, return_inverse=True, return_counts=True)
    axes.axline((0, 0), slope=1, color=INK, linewidth=0.6, linestyle=(0, (4, 3)), alpha=0.5, zorder=1)
    sizes = np.minimum(5 * np.sqrt(counts), 60)
    drawn = axes.scatter(points[:, 0], points[:, 1], s=sizes, color=_POINT, alpha=0.55, linewidths=0, zorder=2)
    drawn.set_rasterized(len(points) > MOST_MARKS)
    anchors: list[list[str]] = [[] for _ in points]
    for point, turn in zip(point_of.ravel(), scatter.turns, strict=True):
        anchors[point].append(turn_anchor(turn))
    drawn.set_urls([f"#{','.join(turns)}" for turns in anchors])


def _corner(axes: Axes, scatter: Scatter, corner: ScatterCorner, colour: str, dot: str) -> None:
    left, right, bottom, top = corner.box
    box = Rectangle((left, bottom), right - left, top - bottom, facecolor=colour, alpha=0.1, linewidth=0, zorder=0)
    axes.add_patch(box)
    x, y = scatter.x[corner.rows], scatter.y[corner.rows]
    drawn = axes.scatter(x, y, s=14, marker=dot, color=colour, edgecolors="white", linewidths=0.3, zorder=4)
    drawn.set_urls([f"#{turn_anchor(scatter.turns[row])}" for row in corner.rows])


def _names(
    axes: Axes,
    scatter: Scatter,
    corner: ScatterCorner,
    colour: str,
    limits: tuple[tuple[float, float], tuple[float, float]],
    side: float,
) -> None:
    """Write turn ids in a column left of the corner's points, without overlaps, each with a line to its point."""
    rows = sorted(corner.rows[:_MOST_LABELS], key=lambda row: (float(scatter.y[row]), -float(scatter.x[row])))
    if not rows:
        return
    (x_low, x_high), (y_low, y_high) = limits
    step = _LABEL / side * (y_high - y_low) * 1.06
    wanted = scatter.y[rows]
    heights = np.empty(len(rows))
    for place, y in enumerate(wanted):
        heights[place] = y if place == 0 else max(y, heights[place - 1] + step)
    heights -= max(0.0, float((heights - wanted).mean()))
    heights += max(0.0, y_low - heights[0])
    heights -= max(0.0, heights[-1] - y_high)
    gap = 0.12 / side * (x_high - x_low)
    column = min(float(scatter.x[rows].min()), corner.box[0] if corner.box[0] > x_low else 2.0) - gap
    for row, height in zip(rows, heights, strict=True):
        axes.plot([column, scatter.x[row]], [height, scatter.y[row]], color=colour, linewidth=0.4, zorder=3)
        axes.text(
            column, height, shortened(scatter.turns[row], 12), color=colour, fontsize=letters(5.5), ha="right",
            va="center", zorder=5, bbox={"facecolor": "white", "alpha": 0.6, "linewidth": 0, "pad": 0.4},
        )  # fmt: skip


def _marginals(above: Axes, right: Axes, scatter: Scatter, limits: tuple[tuple[float, float], tuple[float, float]]) -> None:
    for axes, values, (low, high), orientation in (
        (above, scatter.x, limits[0], "vertical"),
        (right, scatter.y, limits[1], "horizontal"),
    ):
        axes.hist(values, bins=np.linspace(low, high, 21), orientation=orientation, color=_POINT, alpha=0.7)  # type: ignore[arg-type]
        axes.axis("off")


def _legend(figure: Figure, scatters: Sequence[Scatter], width: float, height: float) -> None:
    for number, (colour, dot) in enumerate(CORNER_LOOKS):
        y = (_LEGEND - 0.06 - 0.13 * number) / height
        figure.text(_LEFT / width, y, "▼" if dot == "v" else "▲", color=colour, fontsize=letters(5.5), va="center")
        counts = ", ".join(str(len(scatter.corners[number].rows)) for scatter in scatters)
        text = f"{scatters[0].corners[number].meaning} ({counts})"
        figure.text((_LEFT + 0.12) / width, y, text, fontsize=letters(6.5), va="center")
