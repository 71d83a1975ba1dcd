"""Parts of figures: panels in inches, rows of names, round ticks, titles, legends.

Lengths and places are in inches from the bottom left corner. matplotlib's layout engines draw a figure several times to find
its margins; here, margins are computed from the widths of the texts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from robustcs.documents.style import (
    MAX_HEIGHT,
    SMALL,
    TITLE,
    Width,
    fitted,
    room,
    scaled,
    text_width,
)
from robustcs.documents.text import one_line, shortened_names
from robustcs.wording import counted, system_name

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection, PolyCollection
    from matplotlib.figure import Figure

#: Space above a panel for its title, below it for its axis, and below all; height of a row; to the right of all panels;
#: between two panels.
TOP, AXIS, EDGE, ROW = 0.26, 0.4, 0.05, 0.17
RIGHT, BETWEEN = 0.15, 0.3
_LEFT, _BESIDE = 0.55, 0.17  # the smallest width of the names, and the space next to them
_PER_ROW = 3
#: Height of a note on panels that are left out.
NOTE = 0.14
#: Characters shown of a system's name.
NAME = 22
#: Ticks per inch.
_TICKS = 2.6
#: The smallest space between the labels of two ticks, in inches.
_BETWEEN_TICKS = 0.05
#: Width of a legend's mark with its space, and space between its columns, as shares of the font size.
_KEY, _BETWEEN_KEYS = 2.4, 1.2
_CORNERS: dict[str, Any] = {
    "left": "upper left",
    "center": "upper center",
    "right": "upper right",
}
#: Above this number, marks have no links: ten thousand links make a page slow, and are too dense to click.
MOST_MARKS = 2_000


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height))


def add_panel(figure: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    """Add axes at a place on the page, without ticks."""
    full, high = figure.get_size_inches()
    axes: Axes = figure.add_axes((left / full, bottom / high, width / full, height / high))
    axes.set_xticks([])
    axes.set_yticks([])
    return axes


def panel_grid(
    count: int,
    width: Width,
    left: float,
    body: float,
    *,
    above: float = 0.0,
    between: float = BETWEEN,
    below: float = EDGE,
    full: float | None = None,
    most: int = _PER_ROW,
    narrow: int = 1,
) -> tuple[Figure, list[tuple[Axes, bool]]]:
    """Return a figure with ``count`` panels of height ``body``, and for each panel whether it is leftmost.

    At most ``most`` panels are side by side, in a column ``narrow``. ``left``, ``above`` and ``below`` are margins around all
    panels; ``full`` is the width of the figure (default: that of the page or column).
    """
    full = full or width.inches
    across = panels_across(count, width, most, narrow)
    height = above + grid_height(count, across, body) + below
    inside = (full - left - RIGHT - between * (across - 1)) / across
    figure, panels = new_figure(full, height), []
    for number in range(count):
        line, column = divmod(number, across)
        x = left + column * (inside + between)
        y = height - above - grid_height(line + 1, 1, body) + scaled(AXIS)
        panels.append((add_panel(figure, x, y, inside, body), column == 0))
    return figure, panels


def panels_across(count: int, width: Width, most: int = _PER_ROW, narrow: int = 1) -> int:
    """Return the number of panels side by side."""
    return max(1, min(count, narrow if width.narrow else most))


def grid_height(count: int, across: int, body: float) -> float:
    """Return the height of ``count`` panels, ``across`` in a line, with their titles and axes."""
    return -(-count // across) * (scaled(TOP) + body + scaled(AXIS))


def fitting(count: int, across: int, body: float, around: float) -> int:
    """Return how many of ``count`` panels fit on a page, at least one.

    around
        The height of all else. Where panels are left out, the figure needs :data:`NOTE` for :func:`tell_left_out`, too.
    """
    most = count
    while most > 1:
        note = scaled(NOTE) if most < count else 0.0
        if grid_height(most, across, body) + around + note <= MAX_HEIGHT:
            break
        most -= 1
    return most


def tell_left_out(figure: Figure, gone: int, y: float = EDGE) -> None:
    """Write, from ``y`` up, that so many panels are left out; nothing if there are none."""
    if gone:
        wide, high = figure.get_size_inches()
        text = f"{counted(gone, 'other panel')} would not fit on a page; the tables have all."
        figure.text(0.05 / wide, y / high, text, va="bottom")


def names_and_room(names: Sequence[str], most: int = NAME) -> tuple[list[str], float]:
    """Return the names of rows as they are shown, with at most ``most`` characters, and their width in inches."""
    shown = shortened_names([system_name(name) for name in names], most)
    return shown, max(_LEFT, _BESIDE + room(shown))


def name_rows(axes: Axes, names: Sequence[str], shown: bool = True) -> np.ndarray:
    """Make a row for each name, the first on top; return their places on y, 0 to n − 1.

    ``shown``: whether the names are written; else another panel to the left has them.
    """
    places = np.arange(len(names))
    axes.set_ylim(len(names) - 0.4, -0.6)
    if shown:
        axes.tick_params(axis="y", length=0, pad=6)  # before there are ticks: it changes each
        axes.set_yticks(places, [one_line(name) for name in names])
    else:
        axes.yaxis.set_visible(False)
    return places


def panel_title(axes: Axes, text: str, spare: float = 0.0) -> None:
    """Write the title of a panel, at most ``spare`` inches wider than it; it ends at the panel's right edge then."""
    from matplotlib import rcParams

    size = float(rcParams["font.size"]) * TITLE / SMALL
    wide = panel_width(axes)
    shown = fitted(text, wide + spare, size, bold=True)
    start = min(0.0, 1 - text_width(shown, size, bold=True) / wide)
    axes.set_title(shown, x=start)


def panel_width(axes: Axes) -> float:
    """Return the width of a panel in inches."""
    figure: Any = axes.figure
    return float(axes.get_position().width * figure.get_size_inches()[0])


def fit_x(axes: Axes, values: Iterable[float], margin: float = 0.05) -> None:
    """Let x show all finite ``values``, with as many round ticks as there is room for."""
    known = np.array([value for value in values if np.isfinite(value)] or [0.0, 1.0], dtype=float)
    low, high = known.min(), known.max()
    pad = margin * (high - low) or 0.05
    axes.set_xlim(low - pad, high + pad)
    ticks = fitting_ticks(low - pad, high + pad, panel_width(axes))
    axes.set_xticks([place for place, _ in ticks], [label for _, label in ticks])


def fitting_ticks(low: float, high: float, inches: float) -> list[tuple[float, str]]:
    """Return round numbers between two limits, whose labels have room on an axis of this length."""
    for most in range(min(8, max(3, int(_TICKS * inches / scaled(1)))), 0, -1):
        ticks = round_ticks(low, high, most)
        if len(ticks) < 2:
            break
        step = (ticks[1][0] - ticks[0][0]) / (high - low) * inches
        if step > room(label for _, label in ticks) + scaled(_BETWEEN_TICKS):
            break
    return ticks


def round_ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Return round numbers between two limits, at most ``most`` + 1, with as few digits as they need."""
    power = math.floor(math.log10((high - low) / most)) - 1
    steps = ((-place, factor) for place in range(power, power + 4) for factor in (1, 2, 5))
    for digits, factor in steps:
        step = factor * 10.0**-digits
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first <= most:
            break
    places = [number * step for number in range(first, last + 1)]
    labels = [f"{place:.{max(0, digits)}f}".replace("-", "−") for place in places]
    return list(zip(places, labels, strict=True))


def intervals(
    axes: Axes,
    low: Iterable[float],
    high: Iterable[float],
    rows: Iterable[float],
    colour: str | Sequence[str],
    width: float = 1.4,
    **look: Any,
) -> None:
    """Draw a horizontal line in each row; without limits, nothing."""
    from matplotlib.collections import LineCollection

    ends = zip(low, high, rows, strict=True)
    paths = [[(start, row), (end, row)] for start, end, row in ends if np.isfinite(start + end)]
    look = {"alpha": 0.6, "clip_on": False, **look}
    lines = LineCollection(paths, colors=colour, linewidths=width, zorder=2, **look)
    axes.add_collection(lines, autolim=False)


def dots(
    axes: Axes,
    x: Iterable[float],
    y: Iterable[float],
    colour: str | Sequence[str],
    size: float | Sequence[float] = 4.6,
    urls: Sequence[str] = (),
    **look: Any,
) -> PathCollection:
    """Draw dots above lines; ``size`` is their width in points.

    ``urls``: the address of each dot, ``#`` and the anchors of its turns, separated by commas. Above :data:`MOST_MARKS`, the
    page leaves them out.
    """
    look = {"clip_on": False, "zorder": 3, "linewidths": 0, **look}
    places = np.asarray(list(x), float), np.asarray(list(y), float)
    limits = axes.get_xlim(), axes.get_ylim()
    marks = axes.scatter(*places, s=np.square(size), c=colour, **look)
    axes.set(xlim=limits[0], ylim=limits[1])
    if urls:
        # matplotlib before 3.10 forgets the address of a single one; of two, it uses the first for one dot
        marks.set_urls([*urls, *urls] if len(urls) == 1 else urls)
    return marks


def rectangles(
    axes: Axes,
    left: Iterable[float],
    bottom: Iterable[float],
    right: Iterable[float],
    top: Iterable[float],
    colours: str | Sequence[str],
    **look: Any,
) -> PolyCollection:
    """Draw rectangles below lines and dots, each of one colour; ``colours`` is one for all, or one for each."""
    from matplotlib.collections import PolyCollection

    sides = zip(left, bottom, right, top, strict=True)
    corners = [[(x, y), (end, y), (end, high), (x, high)] for x, y, end, high in sides]
    look = {"edgecolors": "none", "linewidths": 0.4, "clip_on": False, "zorder": 1, **look}
    boxes = PolyCollection(corners, facecolors=colours, **look)
    axes.add_collection(boxes, autolim=False)
    return boxes


def add_legend(
    figure: Figure,
    keys: Sequence[tuple[str, Artist]],
    x: float,
    y: float,
    across: int = 0,
    align: Literal["left", "center", "right"] = "left",
) -> None:
    """Write a legend from ``y`` down, ``across`` keys in a line (0: all), left or right of ``x``, or around it (center).

    ``keys``: a text and the artist that it explains, such as ``Line2D([], [], color=…)``. Texts run along lines.
    """
    if not keys:
        return
    across = min(across or len(keys), len(keys))
    full, high = figure.get_size_inches()
    # matplotlib fills a legend column by column; readers read lines
    ordered = [key for column in range(across) for key in keys[column::across]]
    legend = figure.legend(
        [artist for _, artist in ordered],
        [one_line(label) for label, _ in ordered],
        loc=_CORNERS[align],
        bbox_to_anchor=(x / full, y / high),
        ncols=across,
    )
    legend.set_zorder(4)


def keys_across(labels: Sequence[str], inches: float) -> int:
    """Return how many keys of a legend fit into a line of this width, at least 1."""
    em = scaled(SMALL / 72)
    for across in range(len(labels), 1, -1):
        columns = [labels[column::across] for column in range(across)]
        wide = sum(_KEY * em + room(column) for column in columns)
        if wide + _BETWEEN_KEYS * em * (across - 1) <= inches:
            return across
    return 1


def legend_height(count: int, across: int) -> float:
    """Return the height of a legend of ``count`` keys, ``across`` in a line."""
    lines = -(-count // max(1, across))
    return lines * scaled(1.5 * SMALL / 72)
