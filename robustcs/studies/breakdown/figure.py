"""Every turn as a square, bin by bin: what the counts of a breakdown are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from robustcs.documents.figures import BIN_COLOURS, BIN_LABELS, COLUMN_WIDTH, INK, letters, page_width, style
from robustcs.documents.text import turn_anchor
from robustcs.documents.words import marks

# Measures of the page, in inches.
_LEFT, _RIGHT, _TOP, _EDGE = 2.95, 0.1, 0.2, 0.06
_SQUARE, _STEP, _GAP = 0.105, 0.125, 0.07
_SMALL_SQUARE, _SMALL_STEP, _SMALL_GAP = 0.085, 0.1, 0.05  # in a column
_SMALLEST_ROW = 0.15


def squares_figure(turns: Mapping[str, Sequence[str]]) -> Figure:
    """Bin → the ids of its turns, in the order shown; every square links to its turn. The bins stand below each other."""
    full = page_width()
    narrow = full <= COLUMN_WIDTH
    # in a column the label of a bin stands above its squares
    edge, above = (0.62, letters(6.5) / 72 * 1.5) if narrow else (_LEFT, 0.0)
    side, step, gap = (_SMALL_SQUARE, _SMALL_STEP, _SMALL_GAP) if narrow else (_SQUARE, _STEP, _GAP)
    columns = int((full - edge - _RIGHT) / step)
    lines = {bin_: -(-len(names) // columns) for bin_, names in turns.items()}
    heights = {bin_: max(count * step, 0 if narrow else _SMALLEST_ROW) + above + gap for bin_, count in lines.items()}
    height = _TOP + sum(heights.values()) + _EDGE
    with style():
        figure = Figure(figsize=(full, height))

        def write(x: float, y: float, text: str, align: str = "left", weight: str = "normal") -> None:
            where = {"ha": align, "va": "center", "fontsize": letters(6.5), "fontweight": weight}
            figure.text(x / full, y / height, text, **where)  # type: ignore[arg-type]

        top = height - _TOP
        said = "QR, Human" if "-00" in turns else "Original, QR, Human"
        write(0.05, top + 0.1, f"{said}: turns" if narrow else said, weight="bold")
        if not narrow:
            write(edge - 0.12, top + 0.1, "turns", "right", "bold")
        for bin_, names in turns.items():
            middle = top - above / 2 - gap / 2 if narrow else top - heights[bin_] / 2
            write(0.05, middle, marks(bin_))
            write(edge if narrow else 0.5, middle, f"{BIN_LABELS[bin_]}: {len(names)}" if narrow else BIN_LABELS[bin_])
            if not narrow:
                write(edge - 0.12, middle, str(len(names)), "right", "bold")
            for place, name in enumerate(names):
                line, column = divmod(place, columns)
                x, y = edge + column * step, top - above - gap / 2 - line * step - side
                square = Rectangle(
                    (x / full, y / height), side / full, side / height,
                    facecolor=BIN_COLOURS[bin_], edgecolor=INK, linewidth=0.25,
                )  # fmt: skip
                square.set_url(f"#{turn_anchor(name)}")
                figure.add_artist(square)
            top -= heights[bin_]
    return figure
