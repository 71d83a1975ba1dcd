"""Draw the way from questions to outcomes: kinds of turns, whether gold passages were given, outcomes; one panel per system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from robustcs.documents.drawing import INK, Drawing, Panel, letters, page_width, panels_across, room
from robustcs.documents.text import shortened

#: A flow: kind, gold given (as shown), outcome → number of turns.
Flow = Mapping[tuple[str, str, str], int]
#: Lengths: height of a panel and of its title in inches; the gap between nodes and the least height of a label, as shares of
#: the turns.
_PANEL, _TITLE, _GAP, _LABEL = 2.2, 0.22, 0.03, 0.06
_BESIDE = 0.1  # inches beside a label
#: Heads of the columns.
_HEADS = ("kind of turn", "gold passage", "outcome")
#: The labels of the middle column end before the last one.
_PLACES = (0.0, 0.42, 1.0)
_NODE = 0.025
#: A band between two columns: its number of points, and the share of its way at each, level at both ends.
_STEPS = 25
_CURVE = (1 - np.cos(np.linspace(0, np.pi, _STEPS))) / 2
_GREY = "#8b949e"


def flow_figure(flows: Mapping[str, Flow], names: Sequence[Sequence[str]], colours: Mapping[str, str]) -> Drawing:
    """Draw a panel per system; ``names``: the nodes of the three columns in order, ``colours``: outcome → colour."""
    across = panels_across(len(flows), 2)
    rows = -(-len(flows) // across)
    width, height, title = page_width() / across, letters(_PANEL), letters(_TITLE) if len(flows) > 1 else 0.0
    before, after = (room(f"{path[place]} 99%" for flow in flows.values() for path in flow) + _BESIDE for place in (0, 2))
    inside = width - before - after
    drawing = Drawing(page_width(), height * rows)
    for number, (name, flow) in enumerate(flows.items()):
        row, column = divmod(number, across)
        panel = drawing.panel(column * width, (rows - 1 - row) * height, width, height - title, frame="", marked="")
        panel.x = -before / inside, 1 + after / inside
        if title:
            drawing.write(panel.left + 0.05, panel.bottom + panel.height + 0.07, shortened(name, 40), 7.5, bold=True)
        _panel(panel, flow, names, colours)
    return drawing


def _panel(panel: Panel, flow: Flow, names: Sequence[Sequence[str]], colours: Mapping[str, str]) -> None:
    total = sum(flow.values())
    nodes = max(len({path[place] for path in flow}) for place in range(3))
    panel.y = 1.02 + _GAP * nodes, -0.12
    # the outer ones are written outwards, so that they do not meet in a column
    for place, word, x, align in zip(_PLACES, _HEADS, (_NODE / 2, 0, -_NODE / 2), ("end", "middle", "start"), strict=True):
        panel.write(place + x, -0.035, word, above="baseline", align=align)
    tops = [_nodes(panel, flow, place, order, total, colours) for place, order in enumerate(names)]
    for left in (0, 1):
        _ribbons(panel, flow, left, names, [dict(one) for one in tops[left : left + 2]], total, colours)


def _nodes(
    panel: Panel, flow: Flow, place: int, order: Sequence[str], total: int, colours: Mapping[str, str]
) -> dict[str, float]:
    """Draw the nodes of a column with their labels; return the top of each."""
    tops, top, free = {}, 0.0, -1.0
    for name in order:
        size = sum(count for path, count in flow.items() if path[place] == name) / total
        if not size:
            continue
        tops[name] = top
        x = _PLACES[place] - _NODE / 2
        panel.box(x, top, x + _NODE, top + size, colours[name] if place == 2 else _GREY, edge=INK, edge_width=0.4)
        middle = max(top + size / 2, free + _LABEL)  # labels of thin nodes do not overlap
        free = middle
        label = f"{name} {100 * size:.0f}%" if size >= 0.005 else f"{name} <1%"
        panel.write(x - 0.015 if place == 0 else x + _NODE + 0.015, middle, label, align="start" if place else "end")
        top += size + _GAP
    return tops


def _ribbons(
    panel: Panel, flow: Flow, left: int, names: Sequence[Sequence[str]], tops: Sequence[dict[str, float]], total: int,
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
        x = np.linspace(_PLACES[left] + _NODE / 2, _PLACES[left + 1] - _NODE / 2, _STEPS)
        panel.band(x, y + (other - y) * _CURVE, y + (other - y) * _CURVE + size, colours[path[2]], alpha=0.55)
