"""Stacked bars of shares that add up to 1, one bar for each name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from robustcs.documents.document import Figure
from robustcs.documents.panels import (
    add_legend,
    add_panel,
    keys_across,
    legend_height,
    name_rows,
    names_and_room,
    new_figure,
    rectangles,
)
from robustcs.documents.style import FIRST, INK, SECOND, Width, is_dark, mixed, scaled, text_width
from robustcs.documents.text import one_line
from robustcs.documents.words import percent
from robustcs.lazy import pd
from robustcs.wording import system_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MatplotlibFigure

#: From the lowest to the highest rating; distinguishable with any colour vision and in grey.
_RAMP = (SECOND, "#f3f0e6", FIRST)
_ROW = 0.3
_BAR = 0.72  # height of a bar as a share of its row
_NAME = 36  # characters of a name


def share_figure(
    slug: str,
    caption: str,
    frame: pd.DataFrame,
    name: str,
    part: str,
    colours: Mapping[str, str] | None = None,
) -> Figure:
    """Return a figure with a bar for every value of column ``name``, made of the ``share`` of every ``part``."""
    shares = {
        system_name(str(key)): dict(zip(own[part].astype(str), own["share"], strict=True))
        for key, own in frame.groupby(name, sort=False)
    }
    words = (
        f"{key}: {', '.join(f'{one} {percent(share)}' for one, share in own.items())}"
        for key, own in shares.items()
    )
    return Figure(
        slug, caption, f"{'; '.join(words)}.", lambda width: stacked_bars(width, shares, colours)
    )


def stacked_bars(
    width: Width,
    shares: Mapping[str, Mapping[str, float]],
    colours: Mapping[str, str] | None = None,
) -> MatplotlibFigure:
    """Draw one bar for each name; ``colours``: part → colour, with a legend. Without it, colours run from low to high."""
    from matplotlib.patches import Patch

    parts = list(dict.fromkeys(part for own in shares.values() for part in own))
    if colours is None:
        of = _ramp_colours(parts)
    else:
        of = {part: colours[part] for part in colours if part in parts}
    names, left = names_and_room(list(shares), _NAME // 2 if width.narrow else _NAME)
    keys = list(of) if colours else []
    across = keys_across(keys, width.inches - 0.3)
    axis, above = scaled(0.25), legend_height(len(keys), across) + 0.1
    height = axis + _ROW * len(shares) + above
    figure = new_figure(width.inches, height)
    inside = width.inches - left - scaled(0.17)
    axes = add_panel(figure, left, axis, inside, _ROW * len(shares))
    rows = name_rows(axes, names)
    axes.set(xlim=(0, 1), ylim=(len(names) - 0.5, -0.5))
    _bars(axes, rows, shares, of, inside, with_share=colours is not None)
    ticks = np.arange(0, 101, 50 if width.narrow else 20)
    axes.set_xticks(ticks / 100, [f"{tick}%" for tick in ticks])
    boxes = [(part, Patch(facecolor=of[part], edgecolor=INK, linewidth=0.4)) for part in keys]
    add_legend(figure, boxes, width.inches / 2, height - 0.05, across, "center")
    return figure


def _bars(
    axes: Axes,
    rows: np.ndarray,
    shares: Mapping[str, Mapping[str, float]],
    colours: Mapping[str, str],
    inside: float,
    with_share: bool,
) -> None:
    """Draw the bars, and in each part that is wide enough its share or, without ``with_share``, its name.

    ``inside``: width of the panel in inches.
    """
    starts = np.zeros(len(rows))
    for part, colour in colours.items():
        widths = np.nan_to_num([float(own.get(part, 0.0)) for own in shares.values()])
        ends = starts + widths
        some = widths > 0
        low, high = rows[some] + _BAR / 2, rows[some] - _BAR / 2
        rectangles(axes, starts[some], low, ends[some], high, colour, edgecolors=INK)
        letters = "#ffffff" if is_dark(colour) else "#000000"
        for row, start, end in zip(rows, starts, ends, strict=True):
            text = f"{100 * (end - start):.0f}%" if with_share else one_line(part)
            if text_width(text) + 0.04 <= (end - start) * inside:
                middle = (start + end) / 2
                axes.text(middle, row, text, color=letters, ha="center", va="center")
        starts = ends


def _ramp_colours(parts: list[str]) -> dict[str, str]:
    """Return a colour for each rating, from low to high if all are numbers, else in their order."""
    try:
        ordered = sorted(parts, key=float)
    except ValueError:
        ordered = parts
    last = max(1, len(ordered) - 1)
    return {part: mixed(_RAMP, place / last) for place, part in enumerate(ordered)}
