"""Figures of a breakdown: every turn as a square in its bin, and the bins of several rewriters as stacked bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from robustcs.documents.figures import BIN_COLOURS, BIN_LABELS, COLUMN_WIDTH, INK, letters, page_width, style
from robustcs.documents.text import one_line, shortened, turn_anchor
from robustcs.documents.words import marks

# Dimensions in inches.
_LEFT, _RIGHT, _TOP, _EDGE = 2.95, 0.1, 0.2, 0.06
_SQUARE, _STEP, _GAP = 0.105, 0.125, 0.07
_SMALL_SQUARE, _SMALL_STEP, _SMALL_GAP = 0.085, 0.1, 0.05  # in a column
_SMALLEST_ROW = 0.15


def squares_figure(turns: Mapping[str, Sequence[str]]) -> Figure:
    """Draw one row of squares per bin; every square links to its turn.

    ``turns``: bin → turn ids, in the order shown.
    """
    full = page_width()
    narrow = full <= COLUMN_WIDTH
    # in a column, the label of a bin is above its squares
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


#: From the left: QR and Human correct, rewriter errors, QA errors; with Original and without.
_ORDERS = (("111", "011", "001", "101", "000", "100", "010", "110"), ("-11", "-01", "-00", "-10"))
# Dimensions in inches.
_BAR_RIGHT, _BAR_TOP, _BAR, _AXIS, _LEGEND = 0.17, 0.08, 0.24, 0.4, 0.22
_BAR_LEFT, _LETTER = 0.5, 0.062
_NAME, _SHORT_NAME = 22, 14  # characters of a rewriter's name on a page and in a column
_SHOWN = 0.04  # smallest share whose part shows its number
_LIGHT = frozenset({"110", "010", "001", "-10", "-01"})  # colours that need black text


def bars_figure(counts: Mapping[str, Mapping[str, int]], turns: int) -> Figure:
    """Draw one stacked bar per rewriter, the first on top.

    ``counts``: rewriter → bin → turns; ``turns``: their total.
    """
    order = _ORDERS[any(bin_.startswith("-") for bins in counts.values() for bin_ in bins)]
    full = page_width()
    narrow = full <= COLUMN_WIDTH
    longest = _SHORT_NAME if narrow else _NAME
    left = max(_BAR_LEFT, 0.12 + letters(_LETTER) * max(len(shortened(name, longest)) for name in counts))
    inside = _BAR * len(counts)
    legend = _LEGEND * (2.4 if narrow else 1)
    height = _BAR_TOP + inside + _AXIS + legend
    with style():
        figure = Figure(figsize=(full, height))
        width = full - left - letters(_BAR_RIGHT)
        axes = figure.add_axes((left / full, (_AXIS + legend) / height, width / full, inside / height))
        places = np.arange(len(counts))[::-1]
        for place, bins in zip(places, counts.values(), strict=True):
            start = 0
            for bin_ in order:
                number = int(bins.get(bin_, 0))
                axes.barh(place, number / turns, left=start / turns, height=0.76, color=BIN_COLOURS[bin_], linewidth=0)
                if number / turns >= _SHOWN * (2 if narrow else 1):
                    colour = "black" if bin_ in _LIGHT else "white"
                    middle = (start + number / 2) / turns
                    axes.text(middle, place, str(number), ha="center", va="center", fontsize=letters(6), color=colour)
                start += number
        axes.set_yticks(places, [shortened(one_line(name), longest) for name in counts])
        axes.tick_params(axis="y", length=0)
        axes.set(xlim=(0, 1), ylim=(-0.5, len(counts) - 0.5))
        ticks = range(0, 101, 50 if narrow else 20)
        axes.set_xticks([percent / 100 for percent in ticks], [f"{percent}%" for percent in ticks])
        axes.set_xlabel(f"share of {turns} turns (numbers: turns)", labelpad=2)
        handles = [Patch(color=BIN_COLOURS[bin_], label=marks(bin_).replace(" ", "")) for bin_ in order]
        title = "Original, QR, Human:" if len(order) == 8 else "QR, Human:"
        if not narrow:  # in one line with the colours
            handles.insert(0, Patch(alpha=0, label=title))
        figure.legend(
            handles=handles, loc="lower center", ncols=4 if narrow else len(handles), title=title if narrow else None,
            title_fontsize=letters(6.5), fontsize=letters(6.5), handlelength=1, handletextpad=0.4, columnspacing=1.0,
            borderpad=0,
        )  # fmt: skip
    return figure
