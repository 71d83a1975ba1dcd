"""Figure of scores before and after new judgments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from robustcs.documents.figures import COLUMN_WIDTH, INK, letters, style
from robustcs.documents.forest import ROW, panel_grid
from robustcs.documents.text import one_line, shortened

_BEFORE = "#7db0da"
_AFTER = "#0b3a66"
_LONGEST_NAME = 28
# Lengths, in inches.
_TOP, _AXIS, _EDGE, _BETWEEN, _LETTER = 0.42, 0.36, 0.12, 0.2, 0.062


@dataclass(frozen=True)
class ChangePanel:
    """One measure: mean score of every run before and after, from the top row down."""

    title: str
    runs: tuple[str, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]


def augment_figure(panels: Sequence[ChangePanel]) -> Figure:
    """Draw open dots before and filled dots after, joined by a line, with three panels (measures) to a row.

    Every panel sorts the runs by their score before. A run whose filled dot is to the right of the one above it has overtaken
    that run.
    """
    names = max(len(shortened(run, _LONGEST_NAME)) for panel in panels for run in panel.runs) * letters(_LETTER) + 0.1
    body = letters(ROW) * (len(panels[0].runs) + 0.6)
    with style():
        figure, grid = panel_grid(
            len(panels), names, body, top=_TOP, axis=_AXIS, right=_EDGE, between=names + _BETWEEN, edge=0,
            width=COLUMN_WIDTH if len(panels) == 1 else None,
        )  # fmt: skip
        for panel, (axes, _) in zip(panels, grid, strict=True):
            _draw(axes, panel)
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles, labels, loc="upper right", ncols=2, borderpad=0.2, handletextpad=0.2, columnspacing=1.0)
    return figure


def _draw(axes: Axes, panel: ChangePanel) -> None:
    rows = range(len(panel.runs))
    axes.hlines(rows, panel.before, panel.after, color=_AFTER, linewidth=1.0)
    axes.plot(panel.before, rows, "o", markersize=3.6, markerfacecolor="white", markeredgecolor=_BEFORE, label="before")
    axes.plot(panel.after, rows, "o", markersize=3.6, color=_AFTER, label="after")
    axes.set_yticks(rows, [shortened(run, _LONGEST_NAME) for run in panel.runs])
    axes.set_ylim(len(panel.runs) - 0.4, -0.6)
    axes.margins(x=0.06)
    axes.grid(axis="y", color=INK, alpha=0.15, linewidth=0.4)
    axes.locator_params(axis="x", nbins=4)
    axes.tick_params(axis="y", length=0)
    axes.set_title(one_line(panel.title), loc="left")
    axes.set_xlabel("mean score", labelpad=2)
