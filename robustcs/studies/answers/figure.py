"""Draw the way from questions to outcomes: kinds of turns, whether gold passages were given, outcomes; one panel per system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path

from robustcs.documents.figures import INK, letters, page_width, panels_across, style
from robustcs.documents.text import one_line, shortened

#: A flow: kind, gold given (as shown), outcome → number of turns.
Flow = Mapping[tuple[str, str, str], int]
#: Lengths: height of a panel in inches; the gap between nodes and the least height of a label, as shares of the turns.
_PANEL, _GAP, _LABEL = 2.2, 0.03, 0.06
#: Heads of the columns.
_HEADS = ("question", "gold passage", "outcome")
_PLACES = (0.0, 0.5, 1.0)
_NODE = 0.025
_GREY = "#8b949e"


def flow_figure(flows: Mapping[str, Flow], names: Sequence[Sequence[str]], colours: Mapping[str, str]) -> Figure:
    """Draw a panel per system; ``names``: the nodes of the three columns in order, ``colours``: outcome → colour."""
    across = panels_across(len(flows), 2)
    rows = -(-len(flows) // across)
    with style():
        figure = Figure(figsize=(page_width(), letters(_PANEL) * rows), layout="constrained")
        every = figure.subplots(rows, across, squeeze=False).flat
        for axes in every:
            axes.set_axis_off()
        for (name, flow), axes in zip(flows.items(), figure.axes, strict=False):
            if len(flows) > 1:
                axes.set_title(one_line(shortened(name, 40)), loc="left", fontsize=letters(7.5))
            _panel(axes, flow, names, colours)
    return figure


def _panel(axes: Axes, flow: Flow, names: Sequence[Sequence[str]], colours: Mapping[str, str]) -> None:
    total = sum(flow.values())
    nodes = max(len({path[place] for path in flow}) for place in range(3))
    axes.set(xlim=(-0.5, 1.5), ylim=(1 + _GAP * nodes, -0.09))
    for place, word in zip(_PLACES, _HEADS, strict=True):
        axes.text(place, -0.03, word, ha="center", va="bottom", fontsize=letters(6.5), style="italic")
    tops = [_nodes(axes, flow, place, order, total, colours) for place, order in enumerate(names)]
    for left in (0, 1):
        _ribbons(axes, flow, left, names, [dict(one) for one in tops[left : left + 2]], total, colours)


def _nodes(
    axes: Axes, flow: Flow, place: int, order: Sequence[str], total: int, colours: Mapping[str, str]
) -> dict[str, float]:
    """Draw the nodes of a column with their labels; return the top of each."""
    tops, top, free = {}, 0.0, -1.0
    for name in order:
        size = sum(count for path, count in flow.items() if path[place] == name) / total
        if not size:
            continue
        tops[name] = top
        x = _PLACES[place] - _NODE / 2
        colour = colours[name] if place == 2 else _GREY
        axes.add_patch(Rectangle((x, top), _NODE, size, facecolor=colour, edgecolor=INK, linewidth=0.4))
        middle = max(top + size / 2, free + _LABEL)  # labels of thin nodes do not overlap
        free = middle
        label = f"{name} {100 * size:.0f}%" if size >= 0.005 else f"{name} <1%"
        where = {0: (x - 0.015, "right"), 1: (x + _NODE + 0.015, "left"), 2: (x + _NODE + 0.015, "left")}[place]
        axes.text(where[0], middle, label, ha=where[1], va="center", fontsize=letters(6.5))
        top += size + _GAP
    return tops


def _ribbons(
    axes: Axes, flow: Flow, left: int, names: Sequence[Sequence[str]], tops: Sequence[dict[str, float]], total: int,
    colours: Mapping[str, str],
) -> None:  # fmt: skip
    """Draw the bands between two columns, in the order of the nodes on both sides; each has the colour of its outcome."""
    order = [{name: place for place, name in enumerate(column)} for column in names]
    paths = sorted(flow, key=lambda path: [order[place][path[place]] for place in (left, left + 1, 0 if left else 2)])
    starts = {}
    for path in paths:
        starts[path] = tops[0][path[left]]
        tops[0][path[left]] += flow[path] / total
    for path in sorted(flow, key=lambda path: [order[place][path[place]] for place in (left + 1, left, 0 if left else 2)]):
        size, y, other = flow[path] / total, starts[path], tops[1][path[left + 1]]
        tops[1][path[left + 1]] += size
        x, end = _PLACES[left] + _NODE / 2, _PLACES[left + 1] - _NODE / 2
        mid = (x + end) / 2
        points = [(x, y), (mid, y), (mid, other), (end, other), (end, other + size), (mid, other + size), (mid, y + size),
                  (x, y + size), (x, y)]  # fmt: skip
        codes = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3, Path.CLOSEPOLY]
        axes.add_patch(PathPatch(Path(np.array(points), codes), facecolor=colours[path[2]], edgecolor="none", alpha=0.55))
