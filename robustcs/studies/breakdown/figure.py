"""Figure of a breakdown: every turn as a square in its bin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from robustcs.documents.bins import marks
from robustcs.documents.figures import BIN_COLOURS, BIN_LABELS
from robustcs.documents.panels import add_panel, dots, new_figure
from robustcs.documents.style import INK, SMALL, Width, room, scaled
from robustcs.documents.text import turn_anchor

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Dimensions in inches.
_LEFT, _RIGHT, _TOP, _EDGE = 2.95, 0.1, 0.2, 0.06
_SQUARE, _STEP, _GAP = 0.105, 0.125, 0.07
_SMALL_SQUARE, _SMALL_STEP, _SMALL_GAP = 0.085, 0.1, 0.05  # in a column
_SMALLEST_ROW = 0.15
_LABELS = 0.5  # the smallest indent of the labels on a page
_INDENT = 0.62  # of the labels and squares in a column, where labels are above the squares


def squares_figure(width: Width, turns: Mapping[str, Sequence[str]]) -> Figure:
    """Draw one row of squares per bin; every square links to its turn.

    ``turns``: bin → turn ids, in the order shown.
    """
    indent = max(_LABELS, 0.13 + room(map(marks, turns)))
    if width.narrow:
        edge, above = _INDENT, scaled(SMALL / 72 * 1.5)
        side, step, gap, smallest = _SMALL_SQUARE, _SMALL_STEP, _SMALL_GAP, 0.0
    else:
        counts = [str(len(names)) for names in turns.values()]
        words = room(BIN_LABELS[bin_] for bin_ in turns) + room(counts, bold=True)
        edge, above = max(_LEFT, indent + words + 0.12 + scaled(0.1)), 0.0
        side, step, gap, smallest = _SQUARE, _STEP, _GAP, scaled(_SMALLEST_ROW)
    across = max(1, int((width.inches - edge - _RIGHT) / step))
    heights = {
        bin_: max(-(-len(names) // across) * step, smallest) + above + gap
        for bin_, names in turns.items()
    }
    height = scaled(_TOP) + sum(heights.values()) + _EDGE
    figure = new_figure(width.inches, height)
    axes = add_panel(figure, 0, 0, width.inches, height)  # its units are inches
    axes.set(xlim=(0, width.inches), ylim=(0, height))
    axes.set_axis_off()
    top = height - scaled(_TOP)
    head = "QR, Human" if "-00" in turns else "Original, QR, Human"
    axes.text(
        0.05,
        top + scaled(0.1),
        f"{head}: turns" if width.narrow else head,
        va="center",
        weight="bold",
    )
    if not width.narrow:
        axes.text(edge - 0.12, top + scaled(0.1), "turns", va="center", ha="right", weight="bold")
    places, colours, urls = [], [], []
    for bin_, names in turns.items():
        count = str(len(names))
        if width.narrow:
            middle = top - above / 2 - gap / 2
            axes.text(edge, middle, f"{BIN_LABELS[bin_]}: {count}", va="center")
        else:
            middle = top - heights[bin_] / 2
            axes.text(indent, middle, BIN_LABELS[bin_], va="center")
            axes.text(edge - 0.12, middle, count, va="center", ha="right", weight="bold")
        axes.text(0.05, middle, marks(bin_), va="center")
        for place, name in enumerate(names):
            line, column = divmod(place, across)
            low = top - above - gap / 2 - line * step - side / 2
            places.append((edge + column * step + side / 2, low))
            colours.append(BIN_COLOURS[bin_])
            urls.append(f"#{turn_anchor(name)}")
        top -= heights[bin_]
    x, y = np.array(places, dtype=float).reshape(-1, 2).T
    dots(axes, x, y, colours, 72 * side, urls, marker="s", edgecolors=INK, linewidths=0.25)
    return figure
