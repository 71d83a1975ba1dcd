"""Figure of robustness: drops with confidence intervals by set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from robustcs.documents.drawing import INK, Drawing, letters
from robustcs.documents.forest import names_and_room, panel_grid

_SETS = "#2f74b0"
_LONGEST_NAME = 24

# Lengths, in inches.
_ROW, _GAP = 0.15, 0.08


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
    drawing, grid = panel_grid(len(panels), left, row_height - places[-1])
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
