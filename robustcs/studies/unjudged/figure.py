"""Unjudged passages as a figure: judged share by rank, and how far every score could move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from robustcs.documents.figures import INK, letters, page_width, panels_across, style
from robustcs.documents.text import one_line, shortened
from robustcs.lazy import pd

#: Told apart with any colour vision, in hue and lightness; further runs repeat them with another line and dot.
RUN_COLOURS = ("#0b3a66", "#cf5c0c", "#2fa585", "#e377c2", "#6f4a1f", "#7db0da")
_LINES = ("-", (0, (4, 1.5)), (0, (1, 1)), "-.")
_DOTS = ("o", "s", "D", "^")

# Measures of the page, in inches.
_RIGHT, _BETWEEN, _TOP, _AXIS, _EDGE = 0.15, 0.3, 0.26, 0.4, 0.05
_LEFT, _LETTER = 0.55, 0.065  # the least room for names, and what a letter of them takes
_RANKS_HEIGHT = 1.6
_ROW, _LEGEND_ROW = 0.17, 0.14
_PER_ROW = 3
_NAME = 22  # characters of a run's name


def unjudged_figure(lines: Mapping[str, pd.DataFrame], panels: Mapping[str, pd.DataFrame], depth: int) -> Figure:
    """Lines of the judged share by rank (k = ``depth`` is marked), below them one dot-and-range panel per measure.

    ``lines``: run → its points, the last ``rank`` of each with the judged ``share`` since the point before. ``panels``:
    measure → the ``low``, ``score`` and ``high`` of every run. Every run has one colour, line and dot throughout, which the
    legend names.
    """
    names = [shortened(run, _NAME) for run in lines]
    per_row = panels_across(len(panels), _PER_ROW) if panels else 1
    rows = -(-len(panels) // per_row)
    full, top, axis = page_width(), letters(_TOP), letters(_AXIS)
    panel_height = letters(_ROW) * (len(lines) + 0.4)
    longest = max(map(len, names))
    columns = max(1, int(full / (letters(_LETTER) * longest + 0.45)))
    legend = letters(_LEGEND_ROW) * -(-len(lines) // columns) + 0.06
    height = top + _RANKS_HEIGHT + axis + legend + rows * (top + panel_height + axis) + _EDGE
    with style():
        figure = Figure(figsize=(full, height))
        left_edge = max(_LEFT, 0.1 + letters(_LETTER) * longest)
        width = full - left_edge - _RIGHT
        bottom = height - top - _RANKS_HEIGHT
        left = letters(_LEFT)
        axes = figure.add_axes((left / full, bottom / height, (full - left - _RIGHT) / full, _RANKS_HEIGHT / height))
        _draw_ranks(axes, list(lines.values()), depth)
        figure.legend(
            handles=axes.get_lines()[: len(lines)], labels=names, ncols=columns,
            loc="upper left", bbox_to_anchor=(0.1 / full, (bottom - axis) / height), borderpad=0, borderaxespad=0,
            handlelength=2.2, columnspacing=1.0, labelspacing=0.3, handletextpad=0.4,
        )  # fmt: skip
        bottom -= legend
        for number, (title, panel) in enumerate(panels.items()):
            row, column = divmod(number, per_row)
            panel_width = (width - _BETWEEN * (per_row - 1)) / per_row
            left = left_edge + column * (panel_width + _BETWEEN)
            low = bottom - axis - (row + 1) * (top + panel_height) - row * axis
            axes = figure.add_axes((left / full, low / height, panel_width / full, panel_height / height))
            _draw_intervals(axes, title, panel, names, column == 0)
    return figure


def _look(number: int) -> tuple[str, Any, str]:
    turn = number // len(RUN_COLOURS) % len(_LINES)
    return RUN_COLOURS[number % len(RUN_COLOURS)], _LINES[turn], _DOTS[turn]


def _draw_ranks(axes: Axes, lines: Sequence[pd.DataFrame], depth: int) -> None:
    last = max([2, *(int(line["rank"].max()) for line in lines if len(line))])
    for number, line in enumerate(lines):
        colour, dashes, dot = _look(number)
        axes.plot(line["rank"], line["share"], linestyle=dashes, color=colour, marker=dot, markersize=2.6, linewidth=1)
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


def _draw_intervals(axes: Axes, title: str, panel: pd.DataFrame, names: Sequence[str], leftmost: bool) -> None:
    places = np.arange(len(names))[::-1]
    for number, (place, row) in enumerate(zip(places, panel.itertuples(), strict=True)):
        colour, _, dot = _look(number)
        axes.plot([row.low, row.high], [place, place], color=colour, linewidth=1.4, alpha=0.55)
        axes.vlines([row.low, row.high], place - 0.22, place + 0.22, color=colour, linewidth=1)
        axes.plot(row.score, place, dot, color=colour, markersize=3.6)
    axes.set_yticks(places, names if leftmost else [""] * len(names))
    axes.set_ylim(-0.7, len(names) - 0.3)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=INK, alpha=0.15, linewidth=0.4)
    axes.set_axisbelow(True)
    axes.set_title(one_line(title), loc="left")
    axes.set_xlabel("score", labelpad=2)
    for number, label in enumerate(axes.get_yticklabels() if leftmost else ()):
        label.set_color(_look(number)[0])
