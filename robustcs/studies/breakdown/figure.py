"""Figure of a breakdown: every turn as a square in its bin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from robustcs.documents.bins import marks
from robustcs.documents.drawing import COLUMN_WIDTH, INK, SMALL, Drawing, letters, page_width
from robustcs.documents.figures import BIN_COLOURS, BIN_LABELS
from robustcs.documents.text import turn_anchor

# Dimensions in inches.
_LEFT, _RIGHT, _TOP, _EDGE = 2.95, 0.1, 0.2, 0.06
_SQUARE, _STEP, _GAP = 0.105, 0.125, 0.07
_SMALL_SQUARE, _SMALL_STEP, _SMALL_GAP = 0.085, 0.1, 0.05  # in a column
_SMALLEST_ROW = 0.15


def squares_figure(turns: Mapping[str, Sequence[str]]) -> Drawing:
    """Draw one row of squares per bin; every square links to its turn.

    ``turns``: bin → turn ids, in the order shown.
    """
    full = page_width()
    narrow = full <= COLUMN_WIDTH
    # in a column, the label of a bin is above its squares
    edge, above = (0.62, letters(SMALL) / 72 * 1.5) if narrow else (_LEFT, 0.0)
    side, step, gap = (_SMALL_SQUARE, _SMALL_STEP, _SMALL_GAP) if narrow else (_SQUARE, _STEP, _GAP)
    columns = int((full - edge - _RIGHT) / step)
    lines = {bin_: -(-len(names) // columns) for bin_, names in turns.items()}
    heights = {
        bin_: max(count * step, 0 if narrow else _SMALLEST_ROW) + above + gap
        for bin_, count in lines.items()
    }
    drawing = Drawing(full, _TOP + sum(heights.values()) + _EDGE)
    top = drawing.height - _TOP
    said = "QR, Human" if "-00" in turns else "Original, QR, Human"
    drawing.write(0.05, top + 0.1, f"{said}: turns" if narrow else said, bold=True)
    if not narrow:
        drawing.write(edge - 0.12, top + 0.1, "turns", align="end", bold=True)
    for bin_, names in turns.items():
        middle = top - above / 2 - gap / 2 if narrow else top - heights[bin_] / 2
        drawing.write(0.05, middle, marks(bin_))
        drawing.write(
            edge if narrow else 0.5,
            middle,
            f"{BIN_LABELS[bin_]}: {len(names)}" if narrow else BIN_LABELS[bin_],
        )
        if not narrow:
            drawing.write(edge - 0.12, middle, str(len(names)), align="end", bold=True)
        places = [divmod(place, columns) for place in range(len(names))]
        x = [edge + column * step + side / 2 for _, column in places]
        y = [top - above - gap / 2 - line * step - side / 2 for line, _ in places]
        drawing.page.dots(
            x, y, BIN_COLOURS[bin_], 72 * side, "s", edge=INK, edge_width=0.25,
            anchors=[turn_anchor(name) for name in names],
        )  # fmt: skip
        top -= heights[bin_]
    return drawing
