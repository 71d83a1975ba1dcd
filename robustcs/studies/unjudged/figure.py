"""Unjudged passages as a figure: judged share by rank, and how far every score could move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from robustcs.documents.figures import FULL_WIDTH, INK, style
from robustcs.documents.text import one_line, shortened

#: Told apart with any colour vision; further runs repeat them with another line and dot.
RUN_COLOURS = ("#0b3a66", "#cf5c0c", "#2fa585", "#873a73", "#2f74b0", "#b07d12")
_LINES = ("-", "--", ":", "-.")
_DOTS = ("o", "s", "D", "^")

# Measures of the page, in inches.
_RIGHT, _BETWEEN, _TOP, _AXIS, _EDGE = 0.15, 0.3, 0.26, 0.4, 0.05
_LEFT, _LETTER = 0.55, 0.065  # the least room for names, and what a letter of them takes
_RANKS_HEIGHT = 1.6
_ROW = 0.17
_PER_ROW = 3
_NAME = 22  # characters of a run's name


@dataclass(frozen=True)
class RankLine:
    """A run's judged share (0 to 1, NaN where nothing is retrieved) over the ranks since the point before, shape [n].

    ranks
        The last rank of every point, ascending, shape [n].
    """

    run: str
    ranks: np.ndarray
    shares: np.ndarray


@dataclass(frozen=True)
class IntervalPanel:
    """One measure: per run the lowest, the present and the highest score, each shape [runs]."""

    title: str
    low: np.ndarray
    score: np.ndarray
    high: np.ndarray


def unjudged_figure(lines: Sequence[RankLine], panels: Sequence[IntervalPanel], depth: int) -> Figure:
    """Lines of the judged share by rank (k = ``depth`` is marked), below them one dot-and-range panel per measure.

    Every run has one colour and one dot throughout; the names beside the panels are the legend.
    """
    rows = -(-len(panels) // _PER_ROW)
    panel_height = _ROW * (len(lines) + 0.4)
    height = _TOP + _RANKS_HEIGHT + _AXIS + rows * (_TOP + panel_height + _AXIS) + _EDGE
    with style():
        figure = Figure(figsize=(FULL_WIDTH, height))
        left_edge = max(_LEFT, 0.1 + _LETTER * max(len(shortened(line.run, _NAME)) for line in lines))
        width = FULL_WIDTH - left_edge - _RIGHT
        bottom = height - _TOP - _RANKS_HEIGHT
        axes = figure.add_axes((left_edge / FULL_WIDTH, bottom / height, width / FULL_WIDTH, _RANKS_HEIGHT / height))
        _draw_ranks(axes, lines, depth)
        per_row = min(len(panels), _PER_ROW)
        for number, panel in enumerate(panels):
            row, column = divmod(number, per_row)
            panel_width = (width - _BETWEEN * (per_row - 1)) / per_row
            left = left_edge + column * (panel_width + _BETWEEN)
            low = bottom - _AXIS - (row + 1) * (_TOP + panel_height) - row * _AXIS
            axes = figure.add_axes((left / FULL_WIDTH, low / height, panel_width / FULL_WIDTH, panel_height / height))
            _draw_intervals(axes, panel, [line.run for line in lines], column == 0)
    return figure


def _look(number: int) -> tuple[str, str, str]:
    turn = number // len(RUN_COLOURS) % len(_LINES)
    return RUN_COLOURS[number % len(RUN_COLOURS)], _LINES[turn], _DOTS[turn]


def _draw_ranks(axes: Axes, lines: Sequence[RankLine], depth: int) -> None:
    last = 2
    for number, line in enumerate(lines):
        colour, dashes, dot = _look(number)
        axes.plot(line.ranks, line.shares, dashes, color=colour, marker=dot, markersize=2, linewidth=1)
        last = max(last, int(line.ranks.max(initial=1)))
    axes.axvline(depth, color=INK, linewidth=0.5, alpha=0.4)
    axes.set_xscale("log")
    ticks = [tick for tick in (1, 2, 3, 5, 10, 20, 30, 50, 100) if tick <= last]
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set(xlim=(0.93, last * 1.07), ylim=(0, 1.03))
    axes.set_yticks(np.linspace(0, 1, 6), [f"{percent} %" for percent in range(0, 101, 20)])
    axes.set_xlabel("rank", labelpad=2)
    axes.set_ylabel("judged", labelpad=2)
    axes.set_title("Judged share of the passages by rank", loc="left")


def _draw_intervals(axes: Axes, panel: IntervalPanel, runs: Sequence[str], leftmost: bool) -> None:
    places = np.arange(len(runs))[::-1]
    for number, place in enumerate(places):
        colour, _, dot = _look(number)
        axes.plot([panel.low[number], panel.high[number]], [place, place], color=colour, linewidth=1.4, alpha=0.55)
        for end in (panel.low[number], panel.high[number]):
            axes.plot([end, end], [place - 0.22, place + 0.22], color=colour, linewidth=1)
        axes.plot(panel.score[number], place, dot, color=colour, markersize=3.6)
    names = [shortened(run, _NAME) for run in runs]
    axes.set_yticks(places, names if leftmost else [""] * len(names))
    axes.set_ylim(-0.7, len(runs) - 0.3)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=INK, alpha=0.15, linewidth=0.4)
    axes.set_axisbelow(True)
    axes.set_title(one_line(panel.title), loc="left")
    axes.set_xlabel("score", labelpad=2)
    if leftmost:
        for number, label in enumerate(axes.get_yticklabels()):
            label.set_color(_look(number)[0])
