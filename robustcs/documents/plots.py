"""Turn a drawing into a matplotlib figure, for notebooks; reports do not need matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from robustcs.documents.drawing import (
    INK,
    LABEL,
    SMALL,
    TITLE,
    Area,
    Dots,
    Drawing,
    Lines,
    Panel,
    Point,
    Words,
)
from robustcs.documents.text import one_line

_STYLE: dict[Any, Any] = {
    "font.family": [
        "DejaVu Sans"
    ],  # comes with matplotlib, so figures are the same on every machine
    "text.parse_math": False,  # names come from input files: a dollar sign is a dollar sign
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.facecolor": "none",
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
}
_SIDES = {"start": "left", "middle": "center", "end": "right"}


def matplotlib_figure(drawing: Drawing) -> Figure:
    """Return the drawing as a matplotlib figure with one Axes per panel, and a last one for the texts between them."""
    with mpl.rc_context({**mpl.rcParamsDefault, **_STYLE, "backend": mpl.rcParams["backend"]}):
        figure = Figure(figsize=(drawing.width, drawing.height))
        for panel in (*drawing.panels, drawing.page):
            left, width = panel.left / drawing.width, panel.width / drawing.width
            box = (left, panel.bottom / drawing.height, width, panel.height / drawing.height)
            _panel(figure.add_axes(box), panel)
    return figure


def _panel(axes: Axes, panel: Panel) -> None:
    axes.set(xlim=panel.x, ylim=panel.y)
    for side, spine in axes.spines.items():
        spine.set_visible(side[0] in panel.frame)
    for name, ticks in (("x", panel.x_ticks), ("y", panel.y_ticks)):
        axis = getattr(axes, f"{name}axis")
        axis.set_ticks(
            [place for place, _ in ticks],
            [one_line(label) for _, label in ticks],
            fontsize=SMALL * panel.enlarged,
        )
        axis.set_ticks([], minor=True)
        axes.tick_params(axis=name, length=2.5 if name in panel.marked else 0)  # type: ignore[arg-type]
        if name in panel.grid:
            axis.grid(True, color=INK, alpha=0.15, linewidth=0.4)
    if panel.slanted:
        axes.tick_params(axis="x", rotation=30)
    axes.set_axisbelow(True)
    axes.set_title(one_line(panel.title), fontsize=TITLE * panel.enlarged)
    axes.set_xlabel(one_line(panel.x_label), fontsize=LABEL * panel.enlarged, labelpad=2)
    axes.set_ylabel(one_line(panel.y_label), fontsize=LABEL * panel.enlarged, labelpad=2)
    for number, mark in enumerate(panel.ordered()):
        _draw(axes, mark, [panel.x, panel.y]).set(zorder=2 + number, clip_on=False)


def _draw(axes: Axes, mark: Lines | Dots | Area | Words, limits: list[Point]) -> Artist:
    def places(points: Sequence[Point]) -> np.ndarray:
        """Return float[n, 2], with infinite places at the edge."""
        found: np.ndarray = np.clip(
            np.array(points, dtype=float).reshape(-1, 2), *np.sort(limits).T
        )
        return found

    look: dict[str, Any]
    if isinstance(mark, Lines):
        look = {
            "linewidths": mark.width,
            "linestyles": (0, mark.dashes or None),
            "alpha": mark.alpha,
            "colors": mark.colour,
        }
        return axes.add_collection(LineCollection([places(path) for path in mark.paths], **look))
    if isinstance(mark, Dots):
        look = {
            "color": mark.colour,
            "edgecolors": mark.edge or "none",
            "linewidths": mark.edge_width,
            "alpha": mark.alpha,
        }
        x, y = places(mark.points).T
        return axes.scatter(x, y, s=np.square(mark.sizes), marker=mark.shape, **look)
    if isinstance(mark, Area):
        look = {
            "edgecolor": mark.edge or "none",
            "linewidth": mark.edge_width,
            "alpha": mark.alpha,
            "facecolor": mark.colour,
        }
        points = places([*mark.points, mark.points[0]])
        return axes.add_patch(PathPatch(Path(points, closed=True), **look))
    text = "\n".join(map(one_line, mark.text.split("\n")))
    look = {
        "ha": _SIDES[mark.align],
        "va": mark.above,
        "fontsize": mark.size,
        "color": mark.colour,
        "rotation": mark.angle,
    }
    return axes.text(
        *mark.at, text, weight="bold" if mark.bold else "normal", rotation_mode="anchor", **look
    )
