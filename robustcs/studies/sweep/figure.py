"""The figure of a sweep: stacked shares of the bins by threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robustcs.documents.figures import BIN_COLOURS
from robustcs.documents.panels import (
    BETWEEN,
    NOTE,
    add_legend,
    fitting,
    keys_across,
    legend_height,
    panel_grid,
    panel_title,
    panel_width,
    panels_across,
    tell_left_out,
)
from robustcs.documents.style import COLUMN, SMALL, Width, fitted, room, scaled
from robustcs.documents.text import panel_titles
from robustcs.wording import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

#: Bins from the bottom up.
STACK = ("111", "011", "001", "101", "000", "100", "010", "110")

#: The four labelled regions, and their bins.
_REGIONS = (
    ("answered by Original", ("111",)),
    ("only after rewriting", ("011",)),
    ("rewriter error", ("001", "101")),
    ("QA error", ("000", "100", "010", "110")),
)
#: The same without Original, whose bins are empty.
_REGIONS_WITHOUT_ORIGINAL = (("QR and Human correct", ("111", "011")), *_REGIONS[2:])
_DARK = frozenset({"111", "101", "000", "100"})  # bins whose colour needs white text

# Dimensions in inches.
_PANEL_HEIGHT = 1.75
_LABELLED = 3  # up to this number, panels in a column have the width for the labels of all regions
_LEFT, _EDGE = 0.56, 0.05
_TITLE_CHARACTERS = 15  # per inch
_WIDE = 1.6  # width above which a panel has a tick every 0.2


@dataclass(frozen=True)
class SweepPanel:
    """The sweep of one rewriter and measure.

    thresholds
        Ascending, shape [n]; 0 means "> 0", every other t means ">= t".
    shares
        Bin of :data:`STACK` → its share of the turns at each threshold, 0 to 1, shape [n]; the shares add up to 1.
    turns
        The number of turns.
    original
        Whether there is Original; if not, its bins (with 1 in the first place) are empty.
    marked
        A threshold between 0 and 1 that is marked with a line; None for no line.
    """

    title: str
    thresholds: np.ndarray
    shares: Mapping[str, np.ndarray]
    turns: int
    original: bool = True
    marked: float | None = None


@dataclass(frozen=True)
class _Bands:
    """The stack of bands: band i lies between ``edges[i]`` and ``edges[i + 1]``, point j between ``x[j]`` and ``x[j + 1]``."""

    x: np.ndarray
    edges: np.ndarray

    @classmethod
    def of(cls, panel: SweepPanel) -> _Bands:
        # The share at t applies to (previous t, t]. The first point, "> 0", has no previous point: it gets a step of the
        # usual width to the left of 0.
        thresholds = np.asarray(panel.thresholds, dtype=float)
        first = thresholds[0] - (np.median(np.diff(thresholds)) if len(thresholds) > 1 else 0.02)
        heights = np.array([panel.shares[name] for name in STACK], dtype=float)
        edges = np.vstack([np.zeros(len(thresholds)), np.cumsum(heights, axis=0)])
        return cls(np.concatenate([[first], thresholds]), edges)


def sweep_figure(width: Width, panels: Sequence[SweepPanel]) -> Figure:
    """Draw stacked shares by threshold, one panel per sweep.

    QA errors are on top, then rewriter errors, turns answered only after rewriting, and turns answered by Original. The share
    at a threshold t covers the interval from the previous grid point to t; the narrow step left of 0 is "> 0". One panel fills
    a column of a paper; two or more fill the full width, three to a row.
    """
    full = COLUMN.inches if len(panels) == 1 else width.inches
    narrow = 1 if len(panels) <= _LABELLED else 2
    left = scaled(_LEFT)
    keys, across = _keys(panels[0].original, full - left - _EDGE)
    legend = legend_height(len(keys) + across, across)
    most = panels_across(len(panels), width, narrow=narrow)
    drawn = panels[: fitting(len(panels), most, _PANEL_HEIGHT, legend + 2 * _EDGE)]
    gone = len(panels) - len(drawn)
    note = scaled(NOTE) if gone else 0.0
    figure, grid = panel_grid(
        len(drawn),
        width,
        left,
        _PANEL_HEIGHT,
        below=legend + 2 * _EDGE + note,
        full=full,
        narrow=narrow,
    )
    same_turns = len({panel.turns for panel in drawn}) == 1
    longest = int(panel_width(grid[0][0]) * _TITLE_CHARACTERS / scaled(1))
    turns = ["" if same_turns else f" ({counted(panel.turns, 'turn')})" for panel in drawn]
    titles = panel_titles(
        [panel.title for panel in drawn], max(longest - max(map(len, turns), default=0), 1)
    )
    for one, (axes, leftmost), title, more in zip(drawn, grid, titles, turns, strict=True):
        steps = _Bands.of(one)
        _draw(axes, one, steps)
        panel_title(axes, title + more, left - _EDGE if leftmost else BETWEEN - 0.1)
        percents = range(0, 101, 20)
        labels = [f"{percent}%" if leftmost else "" for percent in percents]
        axes.set_yticks([percent / 100 for percent in percents], labels)
        if leftmost:
            of = counted(one.turns, "turn") if same_turns else "turns"
            axes.set_ylabel(f"share of {of}")
        _labels(axes, one, steps)
    said = "Original, QR, Human" if panels[0].original else "QR, Human"
    top = legend + _EDGE + note
    high = figure.get_size_inches()[1]
    head = fitted(f"{said} (✓ correct, × wrong):", full - left - _EDGE)
    figure.text(left / full, top / high, head, va="top")
    add_legend(figure, keys, left, top - legend_height(1, 1), across)
    tell_left_out(figure, gone)
    return figure


def _regions(panel: SweepPanel) -> Sequence[tuple[str, tuple[str, ...]]]:
    return _REGIONS if panel.original else _REGIONS_WITHOUT_ORIGINAL


def _draw(axes: Axes, one: SweepPanel, steps: _Bands) -> None:
    x = np.repeat(steps.x, 2)[1:-1]
    bands = [np.repeat(edge, 2) for edge in steps.edges]
    axes.set(xlim=(steps.x[0], steps.x[-1]), ylim=(0, 1), xlabel="threshold")
    for index, name in enumerate(STACK):
        if one.shares[name].any():
            axes.fill_between(
                x,
                bands[index],
                bands[index + 1],
                facecolor=BIN_COLOURS[name],
                clip_on=False,
                linewidth=0,
            )
    for _, names in _regions(one)[:-1]:  # white lines separate the regions in print without colours
        edge = bands[STACK.index(names[-1]) + 1]
        axes.plot(x, edge, color="white", linewidth=0.9, clip_on=False)
    axes.axvline(steps.x[1], color="white", linewidth=0.6)
    if one.marked is not None:
        axes.axvline(one.marked, color="white", linewidth=0.9)  # visible on dark and light bands
        # black also on a dark page, where INK is light
        axes.axvline(one.marked, color="black", linewidth=0.9, linestyle=(0, (3, 2)))
    every = np.linspace(0, 1, 6 if panel_width(axes) > _WIDE else 3)
    ticks = [tick for tick in every if steps.x[1] < tick <= steps.x[-1]]
    first = (steps.x[0] + steps.x[1]) / 2
    axes.set_xticks([first, *ticks], [">0", *(f"{tick:.1f}" for tick in ticks)])


def _labels(axes: Axes, one: SweepPanel, steps: _Bands) -> None:
    """Label the regions along their slope, where there is most room; a region without room has only the legend."""
    for label, names in _regions(one):
        bottom, top = STACK.index(names[0]), STACK.index(names[-1]) + 1
        place = _label_place(
            steps, steps.edges[bottom], steps.edges[top], room([label]) + 0.1, panel_width(axes), one.marked
        )  # fmt: skip
        if place:
            x, y, angle = place
            band = STACK[int(np.argmax(steps.edges[1:, np.searchsorted(steps.x, x) - 1] > y))]
            axes.text(
                x, y, label, color="white" if band in _DARK else "black", rotation=angle,
                rotation_mode="anchor", ha="center", va="center",
            )  # fmt: skip


def _label_place(
    steps: _Bands,
    lower: np.ndarray,
    upper: np.ndarray,
    inches: float,
    width: float,
    line: float | None,
) -> tuple[float, float, float] | None:
    """Return the middle (x, y) and the angle in degrees of a label between two edges; None without room.

    It is where there is most room, if possible next to the ``line``. ``inches``: the width of the label. ``width``: that of
    the panel, in inches.
    """
    scale = (steps.x[-1] - steps.x[0]) / width  # threshold per inch
    span = inches * scale
    height = (scaled(SMALL) / 72 * 1.2 + 0.02) / _PANEL_HEIGHT
    middles = (steps.x[1:] + steps.x[:-1]) / 2
    places = []
    for start in steps.x[1:-1]:
        end = start + span
        covered = (steps.x[1:] > start) & (steps.x[:-1] < end)
        if end > steps.x[-1] + 1e-9 or covered.sum() < 2:
            continue
        x, low, high = middles[covered], lower[covered], upper[covered]
        far = x - x.mean()
        slope = far @ (low + high) / 2 / (far @ far)  # least squares
        angle = np.arctan(slope * scale * _PANEL_HEIGHT)
        # the free strip of this slope lies between the highest point below it and the lowest point above it
        bottom, top = (low - slope * x).max(), (high - slope * x).min()
        free = (top - bottom) * np.cos(angle)
        if free > height:
            centre = start + span / 2 * np.cos(angle)
            beside = line is None or not start < line < end
            y = (top + bottom) / 2 + slope * centre
            places.append((beside, free, centre, y, np.degrees(angle)))
    return max(places)[2:] if places else None


def _keys(original: bool, inches: float) -> tuple[list[tuple[str, Patch]], int]:
    """Return the colours with their marks (Original if known, QR, Human), from the top of the stack down.

    Also, how many are side by side in a legend of this width.
    """
    from matplotlib.patches import Patch

    names = [name for name in STACK[::-1] if original or name in ("010", "000", "001", "011")]
    keys = []
    for name in names:
        marks = "".join("✓" if mark == "1" else "×" for mark in name[not original :])
        keys.append((marks, Patch(facecolor=BIN_COLOURS[name], linewidth=0)))
    fits = keys_across([label for label, _ in keys], inches)
    return keys, fits if fits >= len(keys) else min(fits, 4)
