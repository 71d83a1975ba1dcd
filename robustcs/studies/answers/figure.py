"""What became of gold items, as one stacked bar for each system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from robustcs.documents.figures import FULL_WIDTH, INK, style
from robustcs.documents.text import shortened

#: Told apart with any colour vision and in grey: what is there is dark, what is missing ever lighter, the unknown hatched.
COLOURS: Mapping[str, str] = {
    "covered": "#0b3a66", "generator": "#cf5c0c", "rewriter": "#e9a23b", "retrieval": "#f6dfae",
    "rewriter or retrieval": "#f0c273", "unknown": "#ffffff",
}  # fmt: skip
_DARK = frozenset({"covered", "generator"})
_ROW = 0.3
_NAME = 28


@dataclass(frozen=True)
class CauseRow:
    """The shares of one system's items by what became of them, in the order of the legend."""

    system: str
    shares: Mapping[str, float]


def causes_figure(rows: Sequence[CauseRow]) -> Figure:
    """One bar for each system: what is covered on the left, then what was missed, by cause."""
    causes = [cause for cause in COLOURS if any(row.shares.get(cause) for row in rows)]
    with style():
        figure = Figure(figsize=(FULL_WIDTH, 0.75 + _ROW * len(rows)), layout="constrained")
        axes = figure.subplots()
        left = np.zeros(len(rows))
        for cause in causes:
            widths = np.array([row.shares.get(cause, 0.0) for row in rows])
            axes.barh(
                range(len(rows)), widths, left=left, height=0.72, color=COLOURS[cause], edgecolor=INK, linewidth=0.4,
                hatch="////" if cause == "unknown" else None, label="covered" if cause == "covered" else f"missed: {cause}",
            )  # fmt: skip
            for place, width in enumerate(widths):
                if width >= 0.05 and cause != "unknown":
                    axes.text(left[place] + width / 2, place, f"{100 * width:.0f} %", ha="center", va="center", fontsize=6.5,
                              color="#ffffff" if cause in _DARK else "#000000")  # fmt: skip
            left += widths
        axes.set_yticks(range(len(rows)), [shortened(row.system, _NAME) for row in rows])
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
        axes.set(xlim=(0, 1))
        axes.set_xticks(np.linspace(0, 1, 6), [f"{per_cent} %" for per_cent in range(0, 101, 20)])
        figure.legend(loc="outside upper center", ncols=len(causes), frameon=False, fontsize=6.5, handlelength=1.2)
    return figure
