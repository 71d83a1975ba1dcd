"""The bins of several rewriters as stacked bars beneath each other."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from robustcs.documents.figures import BIN_COLOURS, FULL_WIDTH, style
from robustcs.documents.text import one_line, shortened
from robustcs.documents.words import marks

#: From the left: answered, errors of the rewriter, errors of the QA component; with Original and without.
_ORDERS = (("111", "011", "001", "101", "000", "100", "010", "110"), ("-11", "-01", "-00", "-10"))
# Measures of the page, in inches.
_RIGHT, _TOP, _BAR, _AXIS, _LEGEND = 0.15, 0.08, 0.24, 0.4, 0.22
_LEFT, _LETTER = 0.5, 0.062
_NAME = 22  # characters of a rewriter's name
_SHOWN = 0.04  # share from which a part carries its number
_LIGHT = frozenset({"110", "010", "001", "-10", "-01"})  # colours that want black letters


def bars_figure(counts: Mapping[str, Mapping[str, int]], turns: int) -> Figure:
    """``counts``: rewriter → bin → turns, of ``turns`` in all; the first stands on top."""
    order = _ORDERS[any(bin_.startswith("-") for bins in counts.values() for bin_ in bins)]
    left = max(_LEFT, 0.12 + _LETTER * max(len(shortened(name, _NAME)) for name in counts))
    inside = _BAR * len(counts)
    height = _TOP + inside + _AXIS + _LEGEND
    with style():
        figure = Figure(figsize=(FULL_WIDTH, height))
        width = FULL_WIDTH - left - _RIGHT
        axes = figure.add_axes((left / FULL_WIDTH, (_AXIS + _LEGEND) / height, width / FULL_WIDTH, inside / height))
        places = np.arange(len(counts))[::-1]
        for place, bins in zip(places, counts.values(), strict=True):
            start = 0
            for bin_ in order:
                number = int(bins.get(bin_, 0))
                axes.barh(place, number / turns, left=start / turns, height=0.76, color=BIN_COLOURS[bin_], linewidth=0)
                if number / turns >= _SHOWN:
                    colour = "black" if bin_ in _LIGHT else "white"
                    middle = (start + number / 2) / turns
                    axes.text(middle, place, str(number), ha="center", va="center", fontsize=6, color=colour)
                start += number
        axes.set_yticks(places, [shortened(one_line(name), _NAME) for name in counts])
        axes.tick_params(axis="y", length=0)
        axes.set(xlim=(0, 1), ylim=(-0.5, len(counts) - 0.5))
        axes.set_xticks(np.linspace(0, 1, 6), [f"{percent} %" for percent in range(0, 101, 20)])
        axes.set_xlabel(f"share of {turns} turns (numbers: turns)", labelpad=2)
        handles = [Patch(color=BIN_COLOURS[bin_], label=marks(bin_).replace(" ", "")) for bin_ in order]
        title = "Original, QR, Human:" if len(order) == 8 else "QR, Human:"
        figure.legend(
            handles=[Patch(alpha=0, label=title), *handles], loc="lower center", ncols=len(order) + 1, frameon=False,
            fontsize=6.5, handlelength=1, handletextpad=0.4, columnspacing=1.0, borderpad=0,
        )  # fmt: skip
    return figure
