"""Figures of robustness: drops with confidence intervals by set, and the spread of every turn over the sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robustcs.documents.drawing import FULL_WIDTH, INK, MOST_MARKS, Drawing, Key, letters, page_width, round_ticks
from robustcs.documents.forest import names_and_room, panel_grid
from robustcs.documents.text import turn_anchor
from robustcs.lazy import pd

_SETS = "#2f74b0"
_BASELINE = "#cf5c0c"
_LIGHT = "#a9c4dd"
_LONGEST_NAME = 24

# Lengths, in inches.
_ROW, _GAP, _TOP, _AXIS, _RIGHT, _BETWEEN = 0.15, 0.08, 0.26, 0.42, 0.12, 0.16
_SPREAD_HEIGHT, _SPREAD_LEFT = 1.35, 0.5


@dataclass(frozen=True)
class Drop:
    """A drop in points with its confidence interval; ``mean`` marks the mean of a group."""

    name: str
    drop: float
    low: float
    high: float
    mean: bool = False


def drops_figure(panels: Mapping[str, Sequence[Sequence[Drop]]]) -> Drawing:
    """Draw title → groups → drops. The panels share their rows; the first panel of a line names them."""
    first = next(iter(panels.values()))
    names, left = names_and_room([drop.name for group in first for drop in group], _LONGEST_NAME)
    row_height = letters(_ROW)
    places = [
        -(row * row_height + number * _GAP) for row, number in enumerate(i for i, group in enumerate(first) for _ in group)
    ]
    drawing, grid = panel_grid(
        len(panels), left, row_height - places[-1], top=_TOP, axis=_AXIS, right=_RIGHT, between=_BETWEEN, edge=0
    )
    for (title, groups), (panel, leftmost) in zip(panels.items(), grid, strict=True):
        drops = [drop for group in groups for drop in group]
        panel.title, panel.x_label = title, "drop below the baseline"
        panel.frame, panel.marked = "b", "x"
        panel.y = places[-1] - row_height / 2, row_height / 2
        panel.y_ticks = list(zip(places, names, strict=True)) if leftmost else []
        panel.fit([0.0, *(value for drop in drops for value in (drop.low, drop.drop, drop.high))])
        panel.vertical(0)
        for place, drop in zip(places, drops, strict=True):
            colour = INK if drop.mean else _SETS
            panel.intervals([drop.low], [drop.high], [place], colour, 1.6 if drop.mean else 1.0)
            panel.dots([drop.drop], [place], colour, shape="D" if drop.mean else "o")
    return drawing


def spread_figure(panels: Mapping[str, pd.DataFrame], label: str) -> Drawing:
    """Draw one panel per group below each other, with a line from the lowest to the highest score of every turn.

    ``panels``: title → the rows of the table ``turns`` in display order.
    """
    full, top = page_width(), letters(_TOP) * (1.6 if page_width() < FULL_WIDTH else 1)
    block = top + _SPREAD_HEIGHT + 0.18
    drawing = Drawing(full, len(panels) * block + 0.26)
    for number, (title, rows) in enumerate(panels.items()):
        bottom, last = drawing.height - number * block - top - _SPREAD_HEIGHT, len(rows) + 1
        panel = drawing.panel(_SPREAD_LEFT, bottom, full - _SPREAD_LEFT - _RIGHT, _SPREAD_HEIGHT, (0, last), title=title)
        turns = range(1, last)
        size = float(np.clip(220 * full / FULL_WIDTH / len(turns), 0.8, 3))
        lines = [[(turn, low), (turn, high)] for turn, low, high in zip(turns, rows["low"], rows["high"], strict=True)]
        linked = [turn_anchor(turn) for turn in rows["turn"]] if len(turns) <= MOST_MARKS else ()
        panel.lines(lines, _LIGHT, size, anchors=linked)
        panel.dots(turns, rows["mean"], _SETS, 0.7 * size + 1)
        half = (0.8 * size + 0.5) / 72 / panel.width * last  # half the width of a mark, in turns
        panel.intervals([turn - half for turn in turns], [turn + half for turn in turns], rows["baseline"], _BASELINE, 0.9)
        low, high = (float(edge(rows[["low", "high", "baseline"]])) for edge in (np.nanmin, np.nanmax))
        panel.y = low - 0.05 * (high - low or 1), high + 0.05 * (high - low or 1)
        panel.y_ticks, panel.y_label = round_ticks(*panel.y, 5), label
        panel.x_ticks = [tick for tick in round_ticks(*panel.x, 8) if float(tick[1]).is_integer()]
        if number == len(panels) - 1:
            panel.x_label = "turns, sorted by mean over the sets"
    keys = [
        Key("lowest to highest", _LIGHT, 3.0), Key("mean of the sets", _SETS, shape="o", size=2.5),
        Key("baseline", _BASELINE, 0.9),
    ]  # fmt: skip
    drawing.legend(keys, full - _RIGHT, drawing.height - letters(0.1), align="end")
    return drawing
