"""Scatter plots of question similarity and answer similarity (Figures 2 and 3 of the error-analysis paper)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from robustcs.documents.panels import (
    BETWEEN,
    EDGE,
    MOST_MARKS,
    NOTE,
    RIGHT,
    add_legend,
    add_panel,
    dots,
    fitting,
    legend_height,
    new_figure,
    panel_grid,
    panel_title,
    panel_width,
    panels_across,
    rectangles,
    round_ticks,
    tell_left_out,
)
from robustcs.documents.style import (
    COLUMN,
    INK,
    LABEL,
    TITLE,
    Width,
    fitted,
    scaled,
    text_width,
)
from robustcs.documents.text import turn_anchor

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colour and marker of the two corners: similar questions with different answers, and the reverse.
CORNER_LOOKS = (("#cf5c0c", "v"), ("#147a5f", "^"))
_POINT = "#2f74b0"

# Dimensions in inches.
_LEFT, _RIGHT, _TOP, _BOTTOM = 0.5, 0.08, 0.3, 0.36
_MARGINAL, _BETWEEN = 0.36, 0.06
_KEY = 0.24  # width of a mark in the legend with its space
_BINS = 20  # of a marginal histogram

Limits = tuple[float, float]


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
    """Draw one point per turn (larger: several turns), the diagonal, both distributions, and the outliers.

    The figure fills one column of a paper. Both axes go from 0 to 1, or further if the values do.
    """
    full, left, bottom = COLUMN.inches, scaled(_LEFT), scaled(_BOTTOM) + _legend_height()
    side = full - left - _RIGHT - _MARGINAL - _BETWEEN
    figure = new_figure(full, bottom + side + _BETWEEN + _MARGINAL + scaled(_TOP))
    axes = add_panel(figure, left, bottom, side, side)
    x, y = _limits(scatter.x), _limits(scatter.y)
    axes.set(xlim=_padded(x), ylim=_padded(y))
    _label_axes(axes, scatter, 5)
    _turns(axes, scatter)
    above = add_panel(figure, left, bottom + side + _BETWEEN, side, _MARGINAL)
    above.set(xlim=axes.get_xlim(), ylim=(0, 1.05))
    heights, starts, ends = _histogram(scatter.x, x)
    rectangles(above, starts, np.zeros(len(starts)), ends, heights, _POINT, alpha=0.7)
    right = add_panel(figure, left + side + _BETWEEN, bottom, _MARGINAL, side)
    right.set(xlim=(0, 1.05), ylim=axes.get_ylim())
    widths, starts, ends = _histogram(scatter.y, y)
    rectangles(right, np.zeros(len(starts)), starts, widths, ends, _POINT, alpha=0.7)
    for margin in (above, right):
        margin.set_axis_off()
    panel_title(above, scatter.title, full - left - side - _RIGHT)
    _legend(figure, [scatter], _legend_height())
    return figure


def scatter_panels(width: Width, scatters: Sequence[Scatter]) -> Figure:
    """Draw several rewriters as small multiples with common axes: points, diagonal and corners, without turn ids.

    The panels fill the width of a page, three to a row, or of a column, two to a row, with one legend.
    """
    across = panels_across(len(scatters), width, narrow=2)
    left = scaled(_LEFT)
    side = (width.inches - left - RIGHT - BETWEEN * (across - 1)) / across
    drawn = scatters[: fitting(len(scatters), across, side, _legend_height())]
    gone = len(scatters) - len(drawn)
    note = scaled(NOTE) if gone else 0.0
    below = _legend_height() + note
    figure, grid = panel_grid(len(drawn), width, left, side, below=below, narrow=2)
    x = _padded(_limits(np.concatenate([one.x for one in scatters])))
    y = _padded(_limits(np.concatenate([one.y for one in scatters])))
    for (axes, leftmost), scatter in zip(grid, drawn, strict=True):
        axes.set(xlim=x, ylim=y)
        _label_axes(axes, scatter, 4, leftmost)
        _turns(axes, scatter)
        name, value = scatter.title.rsplit(": ", 1)
        size = scaled(TITLE)
        spare = 0.0 if leftmost else BETWEEN - 0.1
        most = side + spare - text_width(f": {value}", size, bold=True)
        panel_title(axes, f"{fitted(name, most, size, bold=True)}: {value}", spare)
    _legend(figure, drawn, below)
    tell_left_out(figure, gone)
    return figure


def _padded(limits: Limits) -> Limits:
    low, high = limits
    pad = 0.03 * (high - low)
    return low - pad, high + pad


def _limits(values: np.ndarray) -> Limits:
    return min(0.0, float(values.min(initial=0.0))), max(1.0, float(values.max(initial=1.0)))


def _label_axes(axes: Axes, scatter: Scatter, most: int, leftmost: bool = True) -> None:
    """Write ticks and labels; the values of y are those of the leftmost panel."""
    x, y = round_ticks(*axes.get_xlim(), most), round_ticks(*axes.get_ylim(), most)
    axes.set_xticks([place for place, _ in x], [label for _, label in x])
    axes.set_yticks([place for place, _ in y], [label if leftmost else "" for _, label in y])
    inches = panel_width(axes) + scaled(0.2)
    axes.set_xlabel(fitted(scatter.x_label, inches, scaled(LABEL)))
    if leftmost:
        axes.set_ylabel(fitted(scatter.y_label, inches, scaled(LABEL)))


def _turns(axes: Axes, scatter: Scatter) -> None:
    """Draw the corners, the diagonal, the points, and the outliers on top."""
    x, y = axes.get_xlim(), axes.get_ylim()
    boxes = np.array([corner.box for corner in scatter.corners])
    left, right = np.clip(boxes[:, :2], *x).T
    bottom, top = np.clip(boxes[:, 2:], *y).T
    rectangles(axes, left, bottom, right, top, [colour for colour, _ in CORNER_LOOKS], alpha=0.1)
    ends = [max(x[0], y[0]), min(x[1], y[1])]
    axes.plot(ends, ends, color=INK, linewidth=0.6, linestyle="--", alpha=0.5)
    anchors: dict[tuple[float, float], list[str]] = {}
    points = zip(scatter.x.tolist(), scatter.y.tolist(), strict=True)
    for place, turn in zip(points, scatter.turns, strict=True):
        anchors.setdefault(place, []).append(turn_anchor(turn))
    places = np.array(list(anchors), dtype=float).reshape(-1, 2)
    counts = np.array([len(turns) for turns in anchors.values()])
    sizes = np.sqrt(np.minimum(5 * np.sqrt(counts), 60))
    urls = [f"#{','.join(turns)}" for turns in anchors.values()]
    linked = urls if len(urls) <= MOST_MARKS else ()
    dots(axes, places[:, 0], places[:, 1], _POINT, sizes, linked, alpha=0.55)
    for corner, (colour, marker) in zip(scatter.corners, CORNER_LOOKS, strict=True):
        urls = [f"#{turn_anchor(scatter.turns[row])}" for row in corner.rows]
        outliers = scatter.x[corner.rows], scatter.y[corner.rows]
        look: dict[str, Any] = {"marker": marker, "edgecolors": "white", "linewidths": 0.3}
        dots(axes, *outliers, colour, 3.7, urls, **look)


def _histogram(values: np.ndarray, limits: Limits) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the heights of the bars that are not empty (the highest is 1), and where they start and end."""
    counts, edges = np.histogram(values, np.linspace(*limits, _BINS + 1))
    some = counts > 0
    return counts[some] / max(1, counts.max()), edges[:-1][some], edges[1:][some]


def _legend_height() -> float:
    return EDGE + legend_height(len(CORNER_LOOKS), 1)


def _legend(figure: Figure, scatters: Sequence[Scatter], top: float) -> None:
    """Write the meanings of the corners, from ``top`` (inches) down, with their numbers of turns if there is room."""
    from matplotlib.lines import Line2D

    left = scaled(_LEFT) - scaled(0.07)  # marks are in the middle of their space
    most = float(figure.get_size_inches()[0]) - left - scaled(_KEY)
    keys = []
    for number, (colour, marker) in enumerate(CORNER_LOOKS):
        meaning = scatters[0].corners[number].meaning
        counts = ", ".join(str(len(scatter.corners[number].rows)) for scatter in scatters)
        counted = f"{meaning} ({counts})"
        look: dict[str, Any] = {"marker": marker, "markersize": 4.0, "linestyle": "none"}
        fits = text_width(counted) <= most
        key = counted if fits else fitted(meaning, most)
        keys.append((key, Line2D([], [], color=colour, markeredgewidth=0, **look)))
    add_legend(figure, keys, left, top, 1)
