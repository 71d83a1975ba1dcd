"""The bins of several rewriters as stacked bars beneath each other."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from robustcs.documents.figures import BIN_COLOURS, COLUMN_WIDTH, letters, page_width, style
from robustcs.documents.text import one_line, shortened
from robustcs.documents.words import marks

#: From the left: answered, errors of the rewriter, errors of the QA component; with Original and without.
_ORDERS = (("111", "011", "001", "101", "000", "100", "010", "110"), ("-11", "-01", "-00", "-10"))
# Measures of the page, in inches.
_RIGHT, _TOP, _BAR, _AXIS, _LEGEND = 0.17, 0.08, 0.24, 0.4, 0.22
_LEFT, _LETTER = 0.5, 0.062
_NAME, _SHORT_NAME = 22, 14  # characters of a rewriter's name on a page and in a column
_SHOWN = 0.04  # share from which a part carries its number
_LIGHT = frozenset({"110", "010", "001", "-10", "-01"})  # colours that want black letters


def bars_figure(counts: Mapping[str, Mapping[str, int]], turns: int) -> Figure:
    """``counts``: rewriter → bin → turns, of ``turns`` in all; the first stands on top."""
    order = _ORDERS[any(bin_.startswith("-") for bins in counts.values() for bin_ in bins)]
    full = page_width()
    narrow = full <= COLUMN_WIDTH
    longest = _SHORT_NAME if narrow else _NAME
    left = max(_LEFT, 0.12 + letters(_LETTER) * max(len(shortened(name, longest)) for name in counts))
    inside = _BAR * len(counts)
    legend = _LEGEND * (2.4 if narrow else 1)
    height = _TOP + inside + _AXIS + legend
    with style():
        figure = Figure(figsize=(full, height))
        width = full - left - letters(_RIGHT)
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
        axes.set_xticks([percent / 100 for percent in ticks], [f"{percent} %" for percent in ticks])
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
