"""A figure as panels of lines, dots, areas and words; :mod:`~robustcs.documents.svg` writes it.

Lengths and places on the page are in inches from the bottom left corner, sizes of fonts, lines and dots in points.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

#: Widths in inches of a figure in one column and across both columns of a paper.
COLUMN_WIDTH = 3.4
FULL_WIDTH = 7.0

#: Colour of axes and letters; in HTML they have the colour of the page's text.
INK = "#23272b"
#: Above this number, marks have no links: ten thousand links make a page slow, and are too dense to click.
MOST_MARKS = 2_000
#: Font sizes of titles, labels of axes, and everything else.
TITLE, LABEL, SMALL = 7.5, 7.0, 6.5
#: Line patterns: lengths of dashes and gaps.
DASHED = (4.0, 3.0)

#: Whether figures are drawn for one column of a paper, or for a phone.
_IN_COLUMN: ContextVar[bool] = ContextVar("in_column", default=False)
#: Letters in a column are larger by this factor, so that they are 11 pixels high on a phone of 390 pixels.
_COLUMN_LETTERS = 1.18
#: Length of tick marks, and the gap between them and their labels.
_TICK, _PAD = 2.5, 3.5
#: Ticks per inch.
_TICKS = 2.6

Numbers = Iterable[float]
Point = tuple[float, float]


@cache
def font_folder() -> Path:
    """Return the folder of DejaVu Sans, which comes with matplotlib, so that figures are the same on every machine."""
    found = find_spec("matplotlib")  # without importing it
    assert found is not None and found.origin is not None  # robustcs requires matplotlib
    return Path(found.origin).parent / "mpl-data" / "fonts" / "ttf"


@cache
def advances(bold: bool = False) -> Mapping[int, float]:
    """Return code point → width of its character as a share of the font size, for all characters of the font."""
    from fontTools.ttLib import TTFont

    with TTFont(font_folder() / f"DejaVuSans{'-Bold' if bold else ''}.ttf", lazy=True) as font:
        font.setGlyphOrder(
            list(map(str, range(font["maxp"].numGlyphs)))
        )  # numbers, because reading the names takes longest
        widths, units = font["hmtx"], font["head"].unitsPerEm
        return {code: widths[glyph][0] / units for code, glyph in font.getBestCmap().items()}


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Return the width of one line of text in inches; ``size`` is that of the font in points."""
    known = advances(bold)
    return sum(known.get(ord(character), 1.0) for character in text) * size / 72


@contextmanager
def in_column() -> Iterator[None]:
    """Return a context in which figures fill one column of a paper; see :func:`page_width` and :func:`letters`."""
    token = _IN_COLUMN.set(True)
    try:
        yield
    finally:
        _IN_COLUMN.reset(token)


def page_width() -> float:
    """Return the full width in inches, of the page or of a column."""
    return COLUMN_WIDTH if _IN_COLUMN.get() else FULL_WIDTH


def panels_across(panels: int, most: int, narrow: int = 1) -> int:
    """Return the number of panels side by side: at most ``most`` on a page, and ``narrow`` in a column."""
    return min(panels, narrow if _IN_COLUMN.get() else most)


def letters(size: float) -> float:
    """Return ``size`` (of letters in points, or of their space in inches), enlarged in a column."""
    return size * _COLUMN_LETTERS if _IN_COLUMN.get() else size


def room(texts: Iterable[str], size: float = SMALL) -> float:
    """Return the width of the longest text in inches, enlarged in a column."""
    return max((text_width(text, letters(size)) for text in texts), default=0.0)


@dataclass(frozen=True)
class Lines:
    """Lines through points, of one look."""

    paths: Sequence[Sequence[Point]]
    colour: str
    width: float
    dashes: Sequence[float] = ()
    alpha: float = 1.0


@dataclass(frozen=True)
class Dots:
    """Dots of one look; ``anchors``: the turns of each dot, separated by commas."""

    points: Sequence[Point]
    sizes: Sequence[float]
    shape: str
    colour: str
    edge: str = ""
    edge_width: float = 0.0
    alpha: float = 1.0
    anchors: Sequence[str] = ()


@dataclass(frozen=True)
class Area:
    """An area within lines through points."""

    points: Sequence[Point]
    colour: str
    edge: str = ""
    edge_width: float = 0.0
    alpha: float = 1.0


@dataclass(frozen=True)
class Words:
    """One or more lines of text at a point."""

    at: Point
    text: str
    size: float
    colour: str = INK
    align: Literal["start", "middle", "end"] = "middle"
    above: Literal["center", "top", "baseline"] = "center"
    bold: bool = False
    angle: float = 0.0


@dataclass
class Panel:
    """Axes with marks in the units of the data; infinite places are at the edge.

    x, y
        The data at the left and right, and at the bottom and top edge.
    x_ticks, y_ticks
        (place, label) pairs.
    frame, marked, grid
        The sides with a line (``l``, ``b``), the axes with tick marks, and those with a grid (``x``, ``y``).
    slanted
        Whether the labels of x are written upwards.
    enlarged
        The factor of all font sizes.
    """

    left: float
    bottom: float
    width: float
    height: float
    x: Point = (0.0, 1.0)
    y: Point = (0.0, 1.0)
    title: str = ""
    x_label: str = ""
    y_label: str = ""
    x_ticks: Sequence[tuple[float, str]] = ()
    y_ticks: Sequence[tuple[float, str]] = ()
    frame: str = "lb"
    marked: str = "xy"
    grid: str = ""
    slanted: bool = False
    marks: list[Lines | Dots | Area | Words] = field(default_factory=list)
    enlarged: float = field(default_factory=lambda: letters(1.0))

    def lines(
        self, paths: Sequence[Sequence[Point]], colour: str, width: float, **look: Any
    ) -> None:
        """Draw lines of one look."""
        self.marks.append(Lines(paths, colour, width, **look))

    def line(self, x: Numbers, y: Numbers, colour: str, width: float = 1.2, **look: Any) -> None:
        """Draw a line through points."""
        self.lines([list(zip(x, y, strict=True))], colour, width, **look)

    def vertical(self, x: float, colour: str = INK, width: float = 0.6, **look: Any) -> None:
        """Draw a line from the bottom to the top."""
        self.line([x, x], [-math.inf, math.inf], colour, width, **look)

    def intervals(
        self,
        low: Numbers,
        high: Numbers,
        rows: Numbers,
        colour: str,
        width: float = 1.4,
        **look: Any,
    ) -> None:
        """Draw a horizontal line in each row; without limits, nothing."""
        paths = [
            [(start, row), (end, row)] for start, end, row in zip(low, high, rows, strict=True)
        ]
        self.lines(paths, colour, width, **look)

    def dots(
        self,
        x: Numbers,
        y: Numbers,
        colour: str,
        size: float | Sequence[float] = 4.6,
        shape: str = "o",
        **look: Any,
    ) -> None:
        """Draw dots; ``size`` is their width, ``shape`` one of ``o s D ^ v``."""
        points = list(zip(x, y, strict=True))
        self.marks.append(
            Dots(
                points,
                [size] * len(points) if isinstance(size, float) else size,
                shape,
                colour,
                **look,
            )
        )

    def area(self, points: Sequence[Point], colour: str, **look: Any) -> None:
        """Draw the area within points; see :class:`Area`."""
        self.marks.append(Area(points, colour, **look))

    def box(
        self, left: float, bottom: float, right: float, top: float, colour: str, **look: Any
    ) -> None:
        """Draw a rectangle."""
        self.area([(left, bottom), (right, bottom), (right, top), (left, top)], colour, **look)

    def band(self, x: Numbers, low: Numbers, high: Numbers, colour: str, **look: Any) -> None:
        """Draw the area between two lines."""
        self.area(
            [*zip(x, low, strict=True), *reversed(list(zip(x, high, strict=True)))], colour, **look
        )

    def write(self, x: float, y: float, text: str, size: float = SMALL, **look: Any) -> None:
        """Write text; ``size`` is enlarged in a column."""
        self.marks.append(Words((x, y), text, letters(size), **look))

    def rows(self, names: Sequence[str], shown: bool = True) -> list[int]:
        """Make a row for each name, the first on top; return their places."""
        places = list(range(len(names)))
        self.y, self.marked = (len(names) - 0.4, -0.6), "x"
        self.y_ticks = [
            (place, name if shown else "") for place, name in zip(places, names, strict=True)
        ]
        return places

    def fit(self, values: Numbers, margin: float = 0.05) -> None:
        """Let x show all known ``values``, with as many ticks as there is room for."""
        known = [float(value) for value in values if math.isfinite(value)] or [0.0, 1.0]
        low, high = min(known), max(known)
        pad = margin * (high - low) or 0.05
        self.x = low - pad, high + pad
        self.x_ticks = round_ticks(*self.x, min(8, max(2, int(_TICKS * self.width / letters(1)))))

    def ordered(self) -> list[Lines | Dots | Area | Words]:
        """Return the marks from the bottom up: words are on top."""
        return sorted(self.marks, key=lambda mark: isinstance(mark, Words))

    def gridlines(self) -> Iterator[Lines]:
        """Yield a line at each tick of the axes with a grid, in the units of the data."""
        for axis, ticks in (("x", self.x_ticks), ("y", self.y_ticks)):
            if axis in self.grid:
                ends = [
                    [(place, end) if axis == "x" else (end, place) for end in (-math.inf, math.inf)]
                    for place, _ in ticks
                ]
                yield Lines(ends, INK, 0.4, alpha=0.15)

    def furniture(self) -> Iterator[Lines | Words]:
        """Yield the lines and words around the data, in points from the bottom left corner of the panel."""
        wide, high = 72 * self.width, 72 * self.height
        small, label, title = (size * self.enlarged for size in (SMALL, LABEL, TITLE))
        gap = {axis: _PAD + (_TICK if axis in self.marked else 0) for axis in "xy"}
        columns = [(wide * self.share("x", place), label) for place, label in self.x_ticks]
        rows = [(high * self.share("y", place), label) for place, label in self.y_ticks]
        if "l" in self.frame:
            yield Lines([[(0, 0), (0, high)]], INK, 0.6)
        if "b" in self.frame:
            yield Lines([[(0, 0), (wide, 0)]], INK, 0.6)
        if "x" in self.marked and columns:
            yield Lines([[(place, 0), (place, -_TICK)] for place, _ in columns], INK, 0.6)
        if "y" in self.marked and rows:
            yield Lines([[(0, place), (-_TICK, place)] for place, _ in rows], INK, 0.6)
        for place, text in columns:
            if self.slanted:
                yield Words(
                    (place + small / 2, -gap["x"] - small / 3), text, small, align="end", angle=30
                )
            else:
                yield Words((place, -gap["x"]), text, small, above="top")
        for place, text in rows:
            yield Words((-gap["y"], place), text, small, align="end")
        if self.x_label:
            yield Words((wide / 2, -gap["x"] - small - 2.5), self.x_label, label, above="top")
        if self.y_label:
            beside = (
                gap["y"]
                + 72 * max((text_width(text, small) for _, text in rows), default=0.0)
                + 2.5
                + label / 2
            )
            yield Words((-beside, high / 2), self.y_label, label, angle=90)
        if self.title:
            # a title that is wider than the panel begins further left, above the labels
            left = min(0.0, wide - 72 * text_width(self.title, title, bold=True))
            yield Words(
                (left, high + 6), self.title, title, align="start", above="baseline", bold=True
            )

    def share(self, axis: Literal["x", "y"], value: float) -> float:
        """Return the place of a value between the lower (0) and the upper (1) edge."""
        low, high = self.x if axis == "x" else self.y
        if math.isinf(value):
            return float(value > 0)
        return (value - low) / (high - low)


@dataclass(frozen=True)
class Key:
    """An entry of a legend: a text after a box, a line (if it has a width), or a dot (if it has another shape)."""

    label: str
    colour: str = INK
    width: float = 0.0
    dashes: Sequence[float] = ()
    shape: str = ""
    size: float = 4.6
    edge: str = ""

    @property
    def room(self) -> float:
        """The width before the text as a share of the font size."""
        return 1.6 if self.shape == "box" else 2.4 if self.width else 1.2 if self.shape else 0.0


class Drawing:
    """A figure of ``width`` by ``height`` inches: ``panels``, and on top the ``page``, whose units are inches."""

    def __init__(self, width: float, height: float):
        self.width, self.height = width, height
        self.panels: list[Panel] = []
        self.page = Panel(0, 0, width, height, (0, width), (0, height), frame="", marked="")

    def panel(
        self,
        left: float,
        bottom: float,
        width: float,
        height: float,
        x: Point = (0, 1),
        y: Point = (0, 1),
        **rest: Any,
    ) -> Panel:
        """Add a panel at a place on the page."""
        self.panels.append(Panel(left, bottom, width, height, x, y, **rest))
        return self.panels[-1]

    def write(self, x: float, y: float, text: str, size: float = SMALL, **look: Any) -> None:
        """Write text on the page, by default to the right of the point."""
        self.page.write(x, y, text, size, **{"align": "start", **look})

    def legend(
        self, keys: Sequence[Key], x: float, y: float, across: int = 0, align: str = "start"
    ) -> None:
        """Write the keys from ``y`` down, ``across`` in a line (0: all), left or right of ``x`` or around it."""
        across, em = across or len(keys), letters(SMALL) / 72
        columns = [keys[column::across] for column in range(across)]
        widths = [
            max((key.room * em + room([key.label]) for key in column), default=0)
            for column in columns
        ]
        x -= (sum(widths) + 1.2 * em * (across - 1)) * {"start": 0.0, "middle": 0.5, "end": 1.0}[
            align
        ]
        for number, key in enumerate(keys):
            row, column = divmod(number, across)
            left, at = x + sum(widths[:column]) + 1.2 * em * column, y - 1.35 * em * row
            if key.shape == "box":
                self.page.box(
                    left,
                    at - 0.35 * em,
                    left + 1.1 * em,
                    at + 0.35 * em,
                    key.colour,
                    edge=key.edge,
                    edge_width=0.4,
                )
            elif key.width:
                self.page.line(
                    [left, left + 2 * em], [at, at], key.colour, key.width, dashes=key.dashes
                )
            if key.shape not in ("", "box"):
                look = {"edge": key.edge, "edge_width": 1.0} if key.edge else {}
                self.page.dots(
                    [left + (key.room - 0.4) / 2 * em],
                    [at],
                    key.colour,
                    key.size,
                    key.shape,
                    **look,
                )
            self.write(left + key.room * em, at, key.label)


def mixed(ramp: Sequence[str], share: float) -> str:
    """Return the colour at a share (0 to 1) of the way through the colours of ``ramp``, which are ``#rrggbb``."""
    place = min(int(share * (len(ramp) - 1)), len(ramp) - 2)
    part = share * (len(ramp) - 1) - place
    pairs = zip(_rgb(ramp[place]), _rgb(ramp[place + 1]), strict=True)
    return "#" + "".join(f"{round(one + part * (other - one)):02x}" for one, other in pairs)


def is_dark(colour: str) -> bool:
    """Return whether white letters are easier to read on a colour than black ones."""
    red, green, blue = _rgb(colour)
    return 0.299 * red + 0.587 * green + 0.114 * blue < 127.5


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour[1:]))


def round_ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Return round numbers between two limits, at most ``most`` + 1, with as few digits as they need."""
    power = math.floor(math.log10((high - low) / most)) - 1
    for digits, factor in (
        (-place, factor) for place in range(power, power + 4) for factor in (1, 2, 5)
    ):
        step = factor * 10.0**-digits
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first <= most:
            break
    ticks = (
        (number * step, f"{number * step:.{max(0, digits)}f}") for number in range(first, last + 1)
    )
    return [(place, label.replace("-", "−")) for place, label in ticks]
