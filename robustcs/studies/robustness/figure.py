"""Figures of robustness: drops with confidence intervals by set, and the spread of every turn over the sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from robustcs.documents.figures import FULL_WIDTH, INK, MOST_MARKS, letters, page_width, style
from robustcs.documents.forest import panel_grid
from robustcs.documents.text import one_line, shortened, turn_anchor

_SETS = "#2f74b0"
_BASELINE = "#cf5c0c"
_LIGHT = "#a9c4dd"
_LONGEST_NAME = 24

# Lengths, in inches.
_ROW, _GAP, _TOP, _AXIS, _RIGHT, _BETWEEN = 0.15, 0.08, 0.26, 0.42, 0.12, 0.16
_PER_CHARACTER = 0.058
_SPREAD_HEIGHT, _SPREAD_LEFT = 1.35, 0.5


@dataclass(frozen=True)
class Drop:
    """A drop in points with its confidence interval; ``mean`` marks the mean of a group."""

    name: str
    drop: float
    low: float
    high: float
    mean: bool = False


@dataclass(frozen=True)
class SpreadPanel:
    """Scores of one group, one entry per turn in display order: lowest, mean and highest of the sets, and the baseline.

    ``turns`` are the turn ids.
    """

    title: str
    low: np.ndarray
    mean: np.ndarray
    high: np.ndarray
    baseline: np.ndarray
    turns: Sequence[str] = ()


def drops_figure(panels: Mapping[str, Sequence[Sequence[Drop]]]) -> Figure:
    """Draw title → groups → drops. The panels share their rows; the first panel of a line names them."""
    first = next(iter(panels.values()))
    names = [shortened(drop.name, _LONGEST_NAME) for group in first for drop in group]
    row_height = letters(_ROW)
    places = [
        -(row * row_height + number * _GAP) for row, number in enumerate(i for i, group in enumerate(first) for _ in group)
    ]
    left = 0.2 + letters(_PER_CHARACTER) * max(map(len, names))
    with style():
        figure, grid = panel_grid(
            len(panels), left, row_height - places[-1], top=_TOP, axis=_AXIS, right=_RIGHT, between=_BETWEEN, edge=0
        )
        FigureCanvasAgg(figure)
        for (title, groups), (axes, leftmost) in zip(panels.items(), grid, strict=True):
            axes.axvline(0, color=INK, linewidth=0.6)
            for place, drop in zip(places, (drop for group in groups for drop in group), strict=True):
                colour = INK if drop.mean else _SETS
                axes.plot([drop.low, drop.high], [place, place], color=colour, linewidth=1.6 if drop.mean else 1.0)
                axes.plot(drop.drop, place, "D" if drop.mean else "o", color=colour, markersize=3.6, clip_on=False)
            axes.set_ylim(places[-1] - row_height / 2, row_height / 2)
            axes.set_yticks(places, names if leftmost else [])
            axes.tick_params(axis="y", length=0)
            axes.spines["left"].set_visible(False)
            axes.locator_params(axis="x", nbins=5)
            axes.set_title(one_line(title))
            axes.set_xlabel("drop below the baseline, in points")
    return figure


def spread_figure(panels: Sequence[SpreadPanel], label: str) -> Figure:
    """Draw one panel per group below each other, with a line from the lowest to the highest score of every turn."""
    full, top = page_width(), letters(_TOP) * (1.6 if page_width() < FULL_WIDTH else 1)
    block = top + _SPREAD_HEIGHT + 0.18
    height = len(panels) * block + 0.26
    with style():
        figure = Figure(figsize=(full, height))
        FigureCanvasAgg(figure)
        for number, panel in enumerate(panels):
            y = height - number * block - top - _SPREAD_HEIGHT
            width = full - _SPREAD_LEFT - _RIGHT
            axes = figure.add_axes((_SPREAD_LEFT / full, y / height, width / full, _SPREAD_HEIGHT / height))
            turns = np.arange(1, len(panel.mean) + 1)
            size = float(np.clip(220 * full / FULL_WIDTH / len(turns), 0.8, 3))
            lines = axes.vlines(turns, panel.low, panel.high, color=_LIGHT, linewidth=size, label="lowest to highest")
            lines.set_rasterized(len(turns) > MOST_MARKS)
            lines.set_urls([f"#{turn_anchor(turn)}" for turn in panel.turns])
            axes.plot(turns, panel.mean, ".", color=_SETS, markersize=1.4 * size, label="mean of the sets")
            axes.plot(
                turns, panel.baseline, "_", color=_BASELINE, markersize=1.6 * size + 1, markeredgewidth=0.9, label="baseline"
            )
            axes.set_xlim(0, len(turns) + 1)
            axes.set_ylabel(label)
            axes.set_title(one_line(panel.title), loc="left")
            if number == 0:
                axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, borderaxespad=0.1, handletextpad=0.4)
            if number == len(panels) - 1:
                axes.set_xlabel("turns, sorted by mean over the sets")
    return figure
