"""Figure of the judged share by rank and of the bounds of each score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from robustcs.documents.figures import INK, letters, page_width, style
from robustcs.documents.forest import AXIS, LETTER, NAME, RIGHT, ROW, TOP, name_rows, panel_grid, room_of
from robustcs.documents.text import shortened
from robustcs.lazy import pd

#: Colours that differ in hue and lightness, for any colour vision. Further runs repeat them with another line and marker.
RUN_COLOURS = ("#0b3a66", "#cf5c0c", "#2fa585", "#e377c2", "#6f4a1f", "#7db0da")
_LINES = ("-", (0, (4, 1.5)), (0, (1, 1)), "-.")
_DOTS = ("o", "s", "D", "^")

# Lengths, in inches.
_LEFT, _RANKS_HEIGHT, _LEGEND_ROW = 0.55, 1.6, 0.14


def unjudged_figure(lines: Mapping[str, pd.DataFrame], panels: Mapping[str, pd.DataFrame], depth: int) -> Figure:
    """Draw the judged share by rank, and below it one panel with the bounds of each measure.

    ``lines``: run → its points, each with its last ``rank`` and the judged ``share`` since the previous point. ``panels``:
    measure → ``low``, ``score`` and ``high`` of every run. ``depth`` (k) is marked. Each run keeps its colour, line and marker
    in all panels; the legend names them.
    """
    names, runs = [shortened(run, NAME) for run in lines], list(lines)
    full, top, axis = page_width(), letters(TOP), letters(AXIS)
    columns = max(1, int(full / (letters(LETTER) * max(map(len, names)) + 0.45)))
    legend = letters(_LEGEND_ROW) * -(-len(lines) // columns) + 0.06
    above = top + _RANKS_HEIGHT + axis + legend
    with style():
        figure, grid = panel_grid(len(panels), room_of(runs), letters(ROW) * (len(lines) + 0.4), above=above)
        height, left = figure.get_figheight(), letters(_LEFT)
        bottom = height - top - _RANKS_HEIGHT
        axes = figure.add_axes((left / full, bottom / height, (full - left - RIGHT) / full, _RANKS_HEIGHT / height))
        _draw_ranks(axes, list(lines.values()), depth)
        figure.legend(
            handles=axes.get_lines()[: len(lines)], labels=names, ncols=columns,
            loc="upper left", bbox_to_anchor=(0.1 / full, (bottom - axis) / height), borderpad=0, borderaxespad=0,
            handlelength=2.2, columnspacing=1.0, labelspacing=0.3, handletextpad=0.4,
        )  # fmt: skip
        for (title, panel), (axes, leftmost) in zip(panels.items(), grid, strict=True):
            _draw_intervals(axes, panel)
            name_rows(axes, runs, leftmost, title, "score")
            for number, label in enumerate(axes.get_yticklabels() if leftmost else ()):
                label.set_color(_look(number)[0])
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
    axes.set_yticks(np.linspace(0, 1, 6), [f"{percent}%" for percent in range(0, 101, 20)])
    axes.set_xlabel("rank", labelpad=2)
    axes.set_ylabel("judged", labelpad=2)
    axes.set_title("Judged share of passages by rank", loc="left")


def _draw_intervals(axes: Axes, panel: pd.DataFrame) -> None:
    for number, row in enumerate(panel.itertuples()):
        (colour, _, dot), place = _look(number), len(panel) - 1 - number
        axes.plot([row.low, row.high], [place, place], color=colour, linewidth=1.4, alpha=0.55)
        axes.vlines([row.low, row.high], place - 0.22, place + 0.22, color=colour, linewidth=1)
        axes.plot(row.score, place, dot, color=colour, markersize=3.6)
