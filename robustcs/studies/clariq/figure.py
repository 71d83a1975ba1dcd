"""Clarifying questions as a figure: how good the documents are after each system's question, and between which ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from robustcs.documents.figures import INK, letters, page_width, panels_across, style
from robustcs.documents.text import shortened

_SYSTEM, _BASELINE, _NONE = "#2f74b0", "#8a8f94", "#cf5c0c"
_PER_ROW = 4
_NAME = 22  # characters of a run's name

# Measures of the page, in inches.
_ROW, _TOP, _AXIS, _RIGHT, _BETWEEN = 0.19, 0.26, 0.3, 0.12, 0.18
_LEFT, _LETTER = 0.18, 0.058


@dataclass(frozen=True)
class RunMean:
    """The mean of one run with its interval; ``baseline``: it is the worst, no or the best question."""

    name: str
    mean: float
    low: float
    high: float
    baseline: bool


@dataclass(frozen=True)
class MeasurePanel:
    """One measure: its runs in the order shown, and the mean of asking nothing (NaN where unknown)."""

    title: str
    runs: Sequence[RunMean]
    nothing: float


def relevance_figure(panels: Sequence[MeasurePanel]) -> Figure:
    """One panel per measure: a dot and an interval per run, a line where asking nothing stands."""
    names = [shortened(run.name, _NAME) for run in panels[0].runs]
    left = _LEFT + letters(_LETTER) * max(map(len, names))
    across = panels_across(len(panels), _PER_ROW)
    down = -(-len(panels) // across)
    body, top, axis, full = letters(_ROW) * (len(names) + 0.4), letters(_TOP), letters(_AXIS), page_width()
    height = down * (top + body + axis)
    width = (full - left - _RIGHT - (across - 1) * _BETWEEN) / across
    places = np.arange(len(names))[::-1]
    with style():
        figure = Figure(figsize=(full, height))
        FigureCanvasAgg(figure)
        for number, panel in enumerate(panels):
            line, column = divmod(number, across)
            x, y = left + column * (width + _BETWEEN), height - line * (top + body + axis) - top - body
            axes = figure.add_axes((x / full, y / height, width / full, body / height))
            if not np.isnan(panel.nothing):
                axes.axvline(panel.nothing, color=_NONE, linewidth=0.8, linestyle=(0, (3, 2)))
            for place, run in zip(places, panel.runs, strict=True):
                colour = _BASELINE if run.baseline else _SYSTEM
                axes.plot([run.low, run.high], [place, place], color=colour, linewidth=1.2)
                axes.plot(run.mean, place, "D" if run.baseline else "o", color=colour, markersize=3.6)
            axes.set_yticks(places, names if column == 0 else [])
            axes.tick_params(axis="y", length=0)
            axes.set(xlim=(-0.02, 1.02), ylim=(-0.7, len(names) - 0.3))
            axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
            axes.grid(axis="x", color=INK, alpha=0.15, linewidth=0.4)
            axes.set_axisbelow(True)
            axes.set_title(panel.title, loc="left")
    return figure
