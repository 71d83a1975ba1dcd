"""Figure of the judged share by rank and of the bounds of each score."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from robustcs.documents.drawing import Drawing, Key, Panel, letters, page_width
from robustcs.documents.old_grid import AXIS, RIGHT, ROW, TOP, names_and_room, panel_grid
from robustcs.lazy import pd

#: Colours that differ in hue and lightness, for any colour vision. Further runs repeat them with another line and marker.
RUN_COLOURS = ("#0b3a66", "#cf5c0c", "#2fa585", "#e377c2", "#6f4a1f", "#7db0da")
_DASHES: Sequence[Sequence[float]] = ((), (4, 1.5), (1, 1), (6, 2, 1, 2))
_DOTS = ("o", "s", "D", "^")

# Lengths, in inches.
_LEFT, _RANKS_HEIGHT, _LEGEND_ROW = 0.55, 1.6, 0.14


def unjudged_figure(
    lines: Mapping[str, pd.DataFrame], panels: Mapping[str, pd.DataFrame], depth: int
) -> Drawing:
    """Draw the judged share by rank, and below it one panel with the bounds of each measure.

    ``lines``: run → its points, each with its last ``rank`` and the judged ``share`` since the previous point. ``panels``:
    measure → ``low``, ``score`` and ``high`` of every run. ``depth`` (k) is marked. Each run keeps its colour, line and marker
    in all panels; the legend names them.
    """
    names, width = names_and_room(list(lines))
    keys = []
    for name, (colour, dashes, dot) in zip(names, map(_look, range(len(names))), strict=True):
        keys.append(Key(name, colour, 1.0, dashes, dot, 3.6))
    full, top, axis = page_width(), letters(TOP), letters(AXIS)
    columns = max(1, int(full / (width + 0.45)))
    legend = letters(_LEGEND_ROW) * -(-len(lines) // columns) + 0.06
    drawing, grid = panel_grid(
        len(panels),
        width,
        letters(ROW) * (len(lines) + 0.4),
        above=top + _RANKS_HEIGHT + axis + legend,
    )
    left, bottom = letters(_LEFT), drawing.height - top - _RANKS_HEIGHT
    _draw_ranks(
        drawing.panel(left, bottom, full - left - RIGHT, _RANKS_HEIGHT), list(lines.values()), depth
    )
    drawing.legend(keys, 0.1, bottom - axis - 0.06, columns)
    for (title, rows), (panel, leftmost) in zip(panels.items(), grid, strict=True):
        places = panel.rows(names, leftmost)
        panel.title, panel.x_label, panel.grid = title, "score", "x"
        panel.fit([*rows["low"], *rows["high"]])
        for row, place, key in zip(rows.itertuples(), places, keys, strict=True):
            panel.intervals([row.low], [row.high], [place], key.colour, alpha=0.55)
            panel.lines(
                [[(end, place - 0.22), (end, place + 0.22)] for end in (row.low, row.high)],
                key.colour,
                1.0,
            )
            panel.dots([row.score], [place], key.colour, shape=key.shape)
    return drawing


def _look(number: int) -> tuple[str, Sequence[float], str]:
    turn = number // len(RUN_COLOURS) % len(_DASHES)
    return RUN_COLOURS[number % len(RUN_COLOURS)], _DASHES[turn], _DOTS[turn]


def _draw_ranks(panel: Panel, lines: Sequence[pd.DataFrame], depth: int) -> None:
    last = max([2, *(int(line["rank"].max()) for line in lines if len(line))])
    panel.x, panel.y = (math.log(0.93), math.log(last * 1.07)), (0, 1.03)
    for number, line in enumerate(lines):
        colour, dashes, dot = _look(number)
        ranks = np.log(line["rank"])
        panel.line(ranks, line["share"], colour, 1.0, dashes=dashes)
        panel.dots(ranks, line["share"], colour, 3.6, dot)
    panel.vertical(math.log(depth), width=0.5, alpha=0.4)
    panel.x_ticks = [
        (math.log(tick), str(tick)) for tick in (1, 2, 3, 5, 10, 20, 30, 50, 100) if tick <= last
    ]
    panel.y_ticks = [(percent / 100, f"{percent}%") for percent in range(0, 101, 20)]
    panel.x_label, panel.y_label, panel.title = "rank", "judged", "Judged share of passages by rank"
