"""Figures of a breakdown: every turn as a square in its bin, and the bins of several rewriters as stacked bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from robustcs.documents.bins import marks
from robustcs.documents.drawing import COLUMN_WIDTH, INK, SMALL, Drawing, Key, letters, page_width, room
from robustcs.documents.figures import BIN_COLOURS, BIN_LABELS
from robustcs.documents.text import shortened, turn_anchor

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
    heights = {bin_: max(count * step, 0 if narrow else _SMALLEST_ROW) + above + gap for bin_, count in lines.items()}
    drawing = Drawing(full, _TOP + sum(heights.values()) + _EDGE)
    top = drawing.height - _TOP
    said = "QR, Human" if "-00" in turns else "Original, QR, Human"
    drawing.write(0.05, top + 0.1, f"{said}: turns" if narrow else said, bold=True)
    if not narrow:
        drawing.write(edge - 0.12, top + 0.1, "turns", align="end", bold=True)
    for bin_, names in turns.items():
        middle = top - above / 2 - gap / 2 if narrow else top - heights[bin_] / 2
        drawing.write(0.05, middle, marks(bin_))
        drawing.write(edge if narrow else 0.5, middle, f"{BIN_LABELS[bin_]}: {len(names)}" if narrow else BIN_LABELS[bin_])
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


#: From the left: QR and Human correct, rewriter errors, QA errors; with Original and without.
_ORDERS = (("111", "011", "001", "101", "000", "100", "010", "110"), ("-11", "-01", "-00", "-10"))
# Dimensions in inches.
_BAR_RIGHT, _BAR_TOP, _BAR, _AXIS, _LEGEND = 0.17, 0.08, 0.24, 0.4, 0.22
_BAR_LEFT = 0.5
_NAME, _SHORT_NAME = 22, 14  # characters of a rewriter's name on a page and in a column
_SHOWN = 0.04  # smallest share whose part shows its number
_LIGHT = frozenset({"110", "010", "001", "-10", "-01"})  # colours that need black text


def bars_figure(counts: Mapping[str, Mapping[str, int]], turns: int) -> Drawing:
    """Draw one stacked bar per rewriter, the first on top.

    ``counts``: rewriter → bin → turns; ``turns``: their total.
    """
    order = _ORDERS[any(bin_.startswith("-") for bins in counts.values() for bin_ in bins)]
    full = page_width()
    narrow = full <= COLUMN_WIDTH
    names = [shortened(name, _SHORT_NAME if narrow else _NAME) for name in counts]
    left = max(_BAR_LEFT, 0.12 + room(names))
    inside = _BAR * len(counts)
    legend = _LEGEND * (2.4 if narrow else 1)
    drawing = Drawing(full, _BAR_TOP + inside + _AXIS + legend)
    panel = drawing.panel(left, _AXIS + legend, full - left - letters(_BAR_RIGHT), inside)
    rows = panel.rows(names)
    panel.y = (len(names) - 0.5, -0.5)
    for row, bins in zip(rows, counts.values(), strict=True):
        start = 0
        for bin_ in order:
            number = int(bins.get(bin_, 0))
            panel.box(start / turns, row + 0.38, (start + number) / turns, row - 0.38, BIN_COLOURS[bin_])
            if number / turns >= _SHOWN * (2 if narrow else 1):
                colour = "black" if bin_ in _LIGHT else "white"
                panel.write((start + number / 2) / turns, row, str(number), 6, colour=colour)
            start += number
    panel.x_ticks = [(percent / 100, f"{percent}%") for percent in range(0, 101, 50 if narrow else 20)]
    panel.x_label = f"share of {turns} turns (numbers: turns)"
    keys = [Key(marks(bin_).replace(" ", ""), BIN_COLOURS[bin_], shape="box") for bin_ in order]
    title = "Original, QR, Human:" if len(order) == 8 else "QR, Human:"
    if narrow:
        drawing.write(full / 2, legend - 0.06, title, align="middle")
        drawing.legend(keys, full / 2, legend - 0.06 - letters(0.13), 4, "middle")
    else:  # in one line with the colours
        drawing.legend([Key(title), *keys], full / 2, legend / 2, align="middle")
    return drawing
