"""The figure of a sweep: stacked shares of the bins by threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robustcs.documents.drawing import (
    COLUMN_WIDTH,
    INK,
    SMALL,
    Drawing,
    Key,
    Panel,
    letters,
    page_width,
    room,
)
from robustcs.documents.figures import BIN_COLOURS
from robustcs.documents.old_grid import panel_grid
from robustcs.documents.text import panel_titles
from robustcs.wording import counted

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
_ROW = 0.15
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
class _Steps:
    """The stack of bands: band i lies between ``edges[i]`` and ``edges[i + 1]``, point j between ``x[j]`` and ``x[j + 1]``."""

    x: np.ndarray
    edges: np.ndarray

    @classmethod
    def of(cls, panel: SweepPanel) -> _Steps:
        # The share at t applies to (previous t, t]. The first point, "> 0", has no previous point: it gets a step of the
        # usual width to the left of 0.
        thresholds = np.asarray(panel.thresholds, dtype=float)
        first = thresholds[0] - (np.median(np.diff(thresholds)) if len(thresholds) > 1 else 0.02)
        heights = np.array([panel.shares[name] for name in STACK], dtype=float)
        edges = np.vstack([np.zeros(len(thresholds)), np.cumsum(heights, axis=0)])
        return cls(np.concatenate([[first], thresholds]), edges)


def sweep_figure(panels: Sequence[SweepPanel]) -> Drawing:
    """Draw stacked shares by threshold, one panel per sweep.

    QA errors are on top, then rewriter errors, turns answered only after rewriting, and turns answered by Original. The share
    at a threshold t covers the interval from the previous grid point to t; the narrow step left of 0 is "> 0". One panel fills
    a column of a paper; two or more fill the full width, three to a row.
    """
    width = COLUMN_WIDTH if len(panels) == 1 else page_width()
    legend = letters(_ROW) * (3 if width == COLUMN_WIDTH else 1)
    drawing, grid = panel_grid(
        len(panels),
        _LEFT,
        _PANEL_HEIGHT,
        below=legend + _EDGE,
        width=width,
        narrow=1 if len(panels) <= _LABELLED else 2,
    )
    same_turns = len({panel.turns for panel in panels}) == 1
    longest = int(grid[0][0].width * _TITLE_CHARACTERS / letters(1))
    turns = ["" if same_turns else f" ({counted(panel.turns, 'turn')})" for panel in panels]
    titles = panel_titles(
        [panel.title for panel in panels], max(longest - max(map(len, turns), default=0), 1)
    )
    for one, (panel, leftmost), title, more in zip(panels, grid, titles, turns, strict=True):
        steps = _Steps.of(one)
        _draw(panel, one, steps)
        panel.title = title + more
        panel.y_ticks = [
            (percent / 100, f"{percent}%" if leftmost else "") for percent in range(0, 101, 20)
        ]
        if leftmost:
            panel.y_label = (
                f"share of {counted(one.turns, 'turn')}" if same_turns else "share of turns"
            )
        _labels(panel, one, steps)
    _legend(drawing, legend, panels[0].original)
    return drawing


def _regions(panel: SweepPanel) -> Sequence[tuple[str, tuple[str, ...]]]:
    return _REGIONS if panel.original else _REGIONS_WITHOUT_ORIGINAL


def _draw(panel: Panel, one: SweepPanel, steps: _Steps) -> None:
    x = np.repeat(steps.x, 2)[1:-1]
    bands = [np.repeat(edge, 2) for edge in steps.edges]
    panel.x = float(steps.x[0]), float(steps.x[-1])
    for index, name in enumerate(STACK):
        if one.shares[name].any():
            panel.band(x, bands[index], bands[index + 1], BIN_COLOURS[name])
    for _, names in _regions(one)[:-1]:  # white lines separate the regions in print without colours
        panel.line(x, bands[STACK.index(names[-1]) + 1], "white", 0.9)
    panel.vertical(steps.x[1], "white")
    if one.marked is not None:
        panel.vertical(one.marked, "white", 0.9)  # visible on dark and light bands
        panel.vertical(one.marked, INK, 0.9, dashes=(3, 2))
    ticks = [
        tick
        for tick in np.linspace(0, 1, 6 if panel.width > _WIDE else 3)
        if steps.x[1] < tick <= steps.x[-1]
    ]
    panel.x_ticks = [
        ((steps.x[0] + steps.x[1]) / 2, ">0"),
        *((tick, f"{tick:.1f}") for tick in ticks),
    ]
    panel.x_label = "threshold"


def _labels(panel: Panel, one: SweepPanel, steps: _Steps) -> None:
    """Label the regions along their slope, where there is most room; a region without room has only the legend."""
    scale = (steps.x[-1] - steps.x[0]) / panel.width  # threshold per inch
    height = (letters(SMALL) / 72 * 1.2 + 0.02) / _PANEL_HEIGHT
    middles = (steps.x[1:] + steps.x[:-1]) / 2
    for label, names in _regions(one):
        lower, upper = steps.edges[STACK.index(names[0])], steps.edges[STACK.index(names[-1]) + 1]
        span = (room([label]) + 0.1) * scale
        places = []
        for start in steps.x[1:-1]:
            covered = (steps.x[1:] > start) & (steps.x[:-1] < start + span)
            if start + span > steps.x[-1] + 1e-9 or covered.sum() < 2:
                continue
            x = middles[covered]
            far = x - x.mean()
            slope = far @ (lower[covered] + upper[covered]) / 2 / (far @ far)  # least squares
            angle = np.arctan(slope * scale * _PANEL_HEIGHT)
            # the free strip of this slope lies between the highest point below it and the lowest point above it
            bottom, top = (lower[covered] - slope * x).max(), (upper[covered] - slope * x).min()
            centre = start + span / 2 * np.cos(angle)
            places.append(
                (
                    (top - bottom) * np.cos(angle),
                    centre,
                    (top + bottom) / 2 + slope * centre,
                    np.degrees(angle),
                )
            )
        free, x, y, angle = max(places, default=(0.0, 0.0, 0.0, 0.0))
        if free > height:
            band = STACK[int(np.argmax(steps.edges[1:, np.searchsorted(steps.x, x) - 1] > y))]
            panel.write(x, y, label, colour="white" if band in _DARK else "black", angle=angle)


def _legend(drawing: Drawing, height: float, original: bool) -> None:
    """Draw the colours with their marks (Original if known, QR, Human), from the top of the stack down."""
    names = [name for name in STACK[::-1] if original or name in ("010", "000", "001", "011")]
    said = "Original, QR, Human" if original else "QR, Human"
    keys = [
        Key(
            "".join("✓" if mark == "1" else "×" for mark in name[not original :]),
            BIN_COLOURS[name],
            shape="box",
        )
        for name in names
    ]
    line = letters(_ROW)
    top = height + _EDGE - line / 2
    if drawing.width > COLUMN_WIDTH:
        drawing.legend([Key(f"{said}:"), *keys], _LEFT, top)
    else:
        drawing.write(_LEFT, top, f"{said} (✓ correct, × wrong):")
        drawing.legend(keys, _LEFT, top - line, 4)
