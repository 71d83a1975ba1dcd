"""Write a drawing as SVG: letters stay text, and each dot may link to its turn."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from html import escape

from robustcs.documents.drawing import INK, Area, Dots, Drawing, Lines, Panel, Point, Words
from robustcs.documents.text import anchor, one_line

_SANS = "'DejaVu Sans', Verdana, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
#: Height of the baseline below the place of a text, as a share of the font size; height of a line.
_BASELINE = {"center": 0.36, "top": 0.76, "baseline": 0.0}
_LINE = 1.2
#: Corners of dots that are no circles, as shares of their width; y points down.
_CORNERS = {
    "s": ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)),
    "D": ((0, -0.65), (0.65, 0), (0, 0.65), (-0.65, 0)),
    "^": ((0, -0.5), (0.5, 0.5), (-0.5, 0.5)),
    "v": ((0, 0.5), (0.5, -0.5), (-0.5, -0.5)),
}

#: From data, or points from the corner of a panel, to points from the top left corner of the page.
Place = Callable[[Point], Point]


def svg_text(drawing: Drawing, name: str, alt: str) -> str:
    """Return the drawing as an ``<svg>`` element for an HTML page or a typst document.

    Letters stay text, so they can be searched, and have the colour of the surrounding text. The one id starts with ``name``,
    so several figures fit into one page. There are no style attributes, since a strict Content-Security-Policy forbids them.
    ``alt`` is for screen readers.
    """
    body = "".join(
        part
        for panel in (*drawing.panels, drawing.page)
        for part in _panel(panel, 72 * drawing.height)
    )
    width, height, described = (
        _number(72 * drawing.width),
        _number(72 * drawing.height),
        f"{anchor(name)}.desc",
    )
    role = "group" if "<a " in body else "img"  # links inside an image cannot be reached
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}pt" height="{height}pt" viewBox="0 0 {width} {height}"'
        f' role="{role}" aria-labelledby="{described}" color="{INK}" fill="currentColor" stroke-linejoin="round"'
        # no <title>: browsers would show it over the whole figure
        f' font-family="{_SANS}"><desc id="{described}">{escape(one_line(alt), False)}</desc>{body}</svg>'
    )


def _panel(panel: Panel, height: float) -> Iterator[str]:
    left, bottom, wide, high = (
        72 * panel.left,
        height - 72 * panel.bottom,
        72 * panel.width,
        72 * panel.height,
    )

    def data(point: Point) -> Point:
        return left + wide * panel.share("x", point[0]), bottom - high * panel.share("y", point[1])

    for mark in (*panel.gridlines(), *panel.ordered()):
        yield _mark(mark, data)
    for mark in panel.furniture():
        yield _mark(mark, lambda point: (left + point[0], bottom - point[1]))


def _mark(mark: Lines | Dots | Area | Words, place: Place) -> str:
    if isinstance(mark, Words):
        return _words(mark, place(mark.at))
    if isinstance(mark, Lines):
        look = f'fill="none"{_stroke(mark.colour, mark.width, mark.alpha)}'
        look += (
            f' stroke-dasharray="{" ".join(_number(dash * mark.width) for dash in mark.dashes)}"'
            if mark.dashes
            else ""
        )
        path = "".join(_path([place(point) for point in path]) for path in mark.paths)
        return f'<path d="{path}" {look}/>' if path else ""
    edge = _stroke(mark.edge, mark.edge_width) if mark.edge else ""
    look = f'fill="{mark.colour}"{_opacity("fill", mark.alpha)}{edge}'
    if isinstance(mark, Area):
        path = _path([place(point) for point in mark.points])
        return f'<path d="{path}z" {look}/>' if path else ""
    dots = [
        _dot(place(point), size, mark.shape)
        for point, size in zip(mark.points, mark.sizes, strict=True)
    ]
    return f"<g {look}>{_linked(dots, mark.anchors)}</g>" if any(dots) else ""


def _linked(shapes: Sequence[str], anchors: Sequence[str]) -> str:
    """Return the shapes, each as a link to its turn if it has one."""
    if not any(anchors):
        return "".join(shapes)
    return "".join(
        f'<a href="#{to}">{shape}</a>' for shape, to in zip(shapes, anchors, strict=True) if shape
    )


def _path(points: Sequence[Point]) -> str:
    """Return the data of a path; empty if a point is unknown."""
    if any(math.isnan(x) or math.isnan(y) for x, y in points):
        return ""
    return "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in points)


def _dot(at: Point, size: float, shape: str) -> str:
    if math.isnan(at[0]) or math.isnan(at[1]):
        return ""
    if shape == "o":
        return f'<circle cx="{_number(at[0])}" cy="{_number(at[1])}" r="{_number(size / 2)}"/>'
    return (
        f'<path d="{_path([(at[0] + x * size, at[1] + y * size) for x, y in _CORNERS[shape]])}z"/>'
    )


def _words(words: Words, at: Point) -> str:
    x, y = at
    lines = [one_line(line) for line in words.text.split("\n")]
    look = f' font-size="{_number(words.size)}"'
    look += f' fill="{words.colour}"' if words.colour != INK else ""
    look += f' text-anchor="{words.align}"' if words.align != "start" else ""
    look += ' font-weight="bold"' if words.bold else ""
    look += (
        f' transform="rotate({_number(-words.angle)} {_number(x)} {_number(y)})"'
        if words.angle
        else ""
    )
    first = y + (_BASELINE[words.above] - (len(lines) - 1) / 2 * _LINE) * words.size
    return "".join(
        f'<text x="{_number(x)}" y="{_number(first + number * _LINE * words.size)}"{look}>{escape(line, False)}</text>'
        for number, line in enumerate(lines) if line
    )  # fmt: skip


def _stroke(colour: str, width: float, alpha: float = 1.0) -> str:
    colour = "currentColor" if colour == INK else colour
    return f' stroke="{colour}" stroke-width="{_number(width)}"{_opacity("stroke", alpha)}'


def _opacity(what: str, alpha: float) -> str:
    return f' {what}-opacity="{_number(alpha)}"' if alpha < 1 else ""


def _number(value: float) -> str:
    """Return a number with at most two decimals; no printer resolves more.

    A tie is rounded up, even if the last bit differs on another processor.
    """
    return f"{value + 1e-7:.2f}".rstrip("0").rstrip(".")
