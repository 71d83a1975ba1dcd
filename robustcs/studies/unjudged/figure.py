"""Figure of the judged share by rank and of the bounds of each score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from robustcs.documents.panels import (
    AXIS,
    BETWEEN,
    EDGE,
    NOTE,
    RIGHT,
    ROW,
    TOP,
    add_legend,
    add_panel,
    dots,
    fit_x,
    fitting,
    intervals,
    keys_across,
    legend_height,
    name_rows,
    names_and_room,
    panel_grid,
    panel_title,
    panels_across,
    tell_left_out,
)
from robustcs.documents.style import INK, Width, scaled
from robustcs.lazy import pd

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colours that differ in hue and lightness, for any colour vision. Further runs repeat them with another line and marker.
RUN_COLOURS = ("#0b3a66", "#cf5c0c", "#2fa585", "#e377c2", "#6f4a1f", "#7db0da")
#: The line and the marker of the runs that have these colours first, and of those that repeat them.
_LOOKS: Sequence[tuple[Any, str]] = (("-", "o"), ((0, (4, 1.5)), "s"))
#: The largest number of runs with a line each.
MOST_LINES = len(RUN_COLOURS) * len(_LOOKS)
_TICKS = (1, 2, 3, 5, 10, 20, 30, 50, 100)

# Lengths, in inches.
_LEFT, _RANKS_HEIGHT = 0.55, 1.6
_CAP = 0.22  # half the height of the caps of an interval, in rows
#: The look of lines of runs and of caps.
_THIN: dict[str, Any] = {"linewidths": 1.0, "clip_on": False, "zorder": 2}


def unjudged_figure(
    width: Width,
    lines: Mapping[str, pd.DataFrame],
    panels: Mapping[str, pd.DataFrame],
    depth: int,
) -> Figure:
    """Draw the judged share by rank, and below it one panel with the bounds of each measure.

    ``lines``: run → its points, each with its last ``rank`` and the judged ``share`` since the previous point, for at most
    :data:`MOST_LINES` runs. ``panels``: measure → ``low``, ``score`` and ``high`` of every run. ``depth`` (k) is marked. Each
    run keeps its colour, line and marker in all panels; the legend names them.
    """
    from matplotlib.lines import Line2D

    names, left = names_and_room(list(lines))
    across = keys_across(names, width.inches - 0.25)
    legend = legend_height(len(names), across)
    above = scaled(TOP) + _RANKS_HEIGHT + scaled(AXIS) + legend + 0.1
    body = scaled(ROW) * (len(names) + 0.4)
    # in a column, panels are below each other where they fit
    around = above + EDGE
    narrow = 1 if fitting(len(panels), 1, body, around) == len(panels) else 2
    side_by_side = panels_across(len(panels), width, narrow=narrow)
    shown = list(panels.items())[: fitting(len(panels), side_by_side, body, around)]
    gone = len(panels) - len(shown)
    below = EDGE + (scaled(NOTE) if gone else 0.0)
    figure, grid = panel_grid(
        len(shown), width, left, body, above=above, below=below, narrow=narrow
    )
    height = float(figure.get_size_inches()[1])
    bottom, edge = height - scaled(TOP) - _RANKS_HEIGHT, scaled(_LEFT)
    ranks = add_panel(figure, edge, bottom, width.inches - edge - RIGHT, _RANKS_HEIGHT)
    _draw_ranks(ranks, list(lines.values()), depth)
    keys = []
    look: dict[str, Any] = {"linewidth": 1.0, "markersize": 3.6, "markeredgewidth": 0}
    for number, name in enumerate(names):
        colour, line, marker = _look(number)
        keys.append((name, Line2D([], [], color=colour, linestyle=line, marker=marker, **look)))
    add_legend(figure, keys, 0.1, bottom - scaled(AXIS) - 0.02, across)
    for (title, rows), (axes, leftmost) in zip(shown, grid, strict=True):
        name_rows(axes, names, leftmost)
        panel_title(axes, title, left - EDGE if leftmost else BETWEEN - 0.1)
        axes.set_xlabel("score")
        axes.grid(axis="x")
        _draw_bounds(axes, rows)
    tell_left_out(figure, gone)
    return figure


def _look(number: int) -> tuple[str, Any, str]:
    """Return the colour, the line and the marker of a run."""
    line, marker = _LOOKS[number // len(RUN_COLOURS) % len(_LOOKS)]
    return RUN_COLOURS[number % len(RUN_COLOURS)], line, marker


def _by_marker(count: int) -> Iterator[tuple[str, list[int]]]:
    """Yield each marker with the places of its runs."""
    for start in range(0, count, len(RUN_COLOURS)):
        yield _look(start)[2], list(range(start, min(start + len(RUN_COLOURS), count)))


def _draw_ranks(axes: Axes, lines: Sequence[pd.DataFrame], depth: int) -> None:
    from matplotlib.collections import LineCollection

    last = max([2, *(int(line["rank"].max()) for line in lines if len(line))])
    axes.set_xscale("log")
    axes.minorticks_off()
    axes.set(xlim=(0.93, last * 1.07), ylim=(0, 1.03), xlabel="rank", ylabel="judged")
    panel_title(axes, "Judged share of passages by rank")
    ticks = [tick for tick in _TICKS if tick <= last]
    axes.set_xticks(ticks, map(str, ticks))
    percents = range(0, 101, 20)
    axes.set_yticks([share / 100 for share in percents], [f"{share}%" for share in percents])
    axes.axvline(depth, color=INK, linewidth=0.5, alpha=0.4)
    paths = [line[["rank", "share"]].to_numpy() for line in lines]
    colours, dashes, _ = zip(*map(_look, range(len(lines))), strict=True)
    axes.add_collection(
        LineCollection(paths, colors=colours, linestyles=list(dashes), **_THIN), autolim=False
    )
    for marker, runs in _by_marker(len(lines)):
        points = np.concatenate([paths[run] for run in runs])
        of = [colours[run] for run in runs for _ in paths[run]]
        dots(axes, points[:, 0], points[:, 1], of, 3.6, marker=marker)


def _draw_bounds(axes: Axes, rows: pd.DataFrame) -> None:
    """Draw the score of each run as a dot, and its bounds as a line with caps, since they are no confidence interval."""
    from matplotlib.collections import LineCollection

    fit_x(axes, [*rows["low"], *rows["high"]])
    low, score, high = rows[["low", "score", "high"]].to_numpy(float).T
    places = np.arange(len(rows))
    colours = [_look(place)[0] for place in range(len(rows))]
    intervals(axes, low, high, places, colours)
    open_ = np.flatnonzero(high > low)
    caps = [
        [(end[place], place - _CAP), (end[place], place + _CAP)]
        for end in (low, high)
        for place in open_
    ]
    of = [colours[place] for place in open_]
    axes.add_collection(LineCollection(caps, colors=of * 2, **_THIN), autolim=False)
    for marker, runs in _by_marker(len(rows)):
        dots(axes, score[runs], places[runs], [colours[run] for run in runs], marker=marker)
