"""Every turn as a square, bin by bin: what the counts of a breakdown are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from robustcs.documents.figures import BIN_COLOURS, BIN_LABELS, FULL_WIDTH, INK, style
from robustcs.documents.text import turn_anchor
from robustcs.documents.words import marks

# Measures of the page, in inches.
_LEFT, _RIGHT, _TOP, _EDGE = 2.95, 0.1, 0.2, 0.06
_SQUARE, _STEP, _GAP = 0.105, 0.125, 0.07
_SMALLEST_ROW = 0.15


def squares_figure(turns: Mapping[str, Sequence[str]]) -> Figure:
    """Bin → the ids of its turns, in the order shown; every square links to its turn. The bins stand below each other."""
    columns = int((FULL_WIDTH - _LEFT - _RIGHT) / _STEP)
    lines = {bin_: -(-len(names) // columns) for bin_, names in turns.items()}
    heights = {bin_: max(count * _STEP, _SMALLEST_ROW) + _GAP for bin_, count in lines.items()}
    height = _TOP + sum(heights.values()) + _EDGE
    with style():
        figure = Figure(figsize=(FULL_WIDTH, height))

        def write(x: float, y: float, text: str, align: str = "left", weight: str = "normal") -> None:
            where = {"ha": align, "va": "center", "fontsize": 6.5, "fontweight": weight}
            figure.text(x / FULL_WIDTH, y / height, text, **where)  # type: ignore[arg-type]

        top = height - _TOP
        for x, title in ((0.05, "QR Human" if "-00" in turns else "Original QR Human"), (_LEFT - 0.12, "turns")):
            write(x, top + 0.1, title, "left" if x < 1 else "right", "bold")
        for bin_, names in turns.items():
            middle = top - (heights[bin_] - _GAP) / 2 - _GAP / 2
            write(0.05, middle, marks(bin_))
            write(0.42, middle, BIN_LABELS[bin_])
            write(_LEFT - 0.12, middle, str(len(names)), "right", "bold")
            for place, name in enumerate(names):
                line, column = divmod(place, columns)
                x, y = _LEFT + column * _STEP, top - _GAP / 2 - line * _STEP - _SQUARE
                square = Rectangle(
                    (x / FULL_WIDTH, y / height), _SQUARE / FULL_WIDTH, _SQUARE / height,
                    facecolor=BIN_COLOURS[bin_], edgecolor=INK, linewidth=0.25,
                )  # fmt: skip
                square.set_url(f"#{turn_anchor(name)}")
                figure.add_artist(square)
            top -= heights[bin_]
    return figure
