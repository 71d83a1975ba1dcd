"""Turn matplotlib's SVG into an ``<svg>`` element for an HTML page with a strict policy, for files, and for typst.

matplotlib writes styles, metadata, ids and groups; here, looks become attributes, marks of one look share a group, lines of
one look a path, and numbers have two decimals. Letters stay text and have the colour of the page's text.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from robustcs.documents.style import INK
from robustcs.documents.text import anchor, one_line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SANS = "'DejaVu Sans', Verdana, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
_SVG, _HREF = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
#: Properties of matplotlib's styles that are kept as attributes.
_LOOKS = (
    "fill",
    "fill-opacity",
    "stroke",
    "stroke-width",
    "stroke-opacity",
    "stroke-dasharray",
    "opacity",
    "font-size",
    "font-weight",
    "text-anchor",
)
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")
_STEP = re.compile(r"([MLCQz])([^MLCQz]*)")
#: ``bold 7.5px 'DejaVu Sans'``, as matplotlib before 3.10 writes fonts.
_FONT = re.compile(r"(?P<weight>bold|[5-9]00)?.*?(?P<size>[\d.]+)px")
_BOLD = {"bold", "600", "700", "800", "900"}


@dataclass(frozen=True)
class _Mark:
    """An element of the drawing: its own attributes, those that neighbours may share (``look``), its text and its link."""

    tag: str
    own: str
    look: str
    text: str = ""
    link: str = ""

    def written(self, look: str = "") -> str:
        end = f">{escape(self.text, False)}</text>" if self.tag == "text" else "/>"
        element = f"<{self.tag}{self.own}{look}{end}"
        return f'<a href="{self.link}">{element}</a>' if self.link else element


def svg_of(figure: Figure) -> bytes:
    """Return a figure as matplotlib saves it, without background.

    A character that its font lacks causes no warning: a page has further fonts.
    """
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    buffer = io.BytesIO()
    figure.patch.set_visible(False)  # the page, which may be dark, shows through
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        canvas: Any = FigureCanvasSVG(figure)
        canvas.print_svg(buffer, metadata={"Date": None})
    return buffer.getvalue()


def page_svg(figure: Figure, name: str, alt: str) -> str:
    """Return a figure as an ``<svg>`` element for an HTML page or a typst document.

    Letters stay text, so they can be searched, and have the colour of the surrounding text. The ids start with ``name``, so
    several figures fit into one page. There are no style attributes, since a strict Content-Security-Policy forbids them.
    ``alt`` is for screen readers. Each point with a URL is a link.
    """
    root = ElementTree.fromstring(svg_of(figure))
    prefix = anchor(name)
    reader = _MarkReader(prefix)
    marks = list(reader.marks(root, ""))
    body = "".join(_grouped(_joined(marks)))
    width, height = (72 * inches for inches in figure.get_size_inches())
    size = f'width="{_short(width)}pt" height="{_short(height)}pt"'
    role = "group" if "<a " in body else "img"  # links inside an image cannot be reached
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {_short(width)} {_short(height)}"'
        f' role="{role}" aria-labelledby="{prefix}.desc" color="{INK}" fill="currentColor" stroke-linejoin="round"'
        # no <title>: browsers would show it over the whole figure
        f' font-family="{_SANS}"><desc id="{prefix}.desc">{escape(one_line(alt), False)}</desc>'
        f"{reader.clips(root)}{body}</svg>"
    )


class _MarkReader:
    """The marks of matplotlib's SVG in their order; ``prefix`` begins the ids of a figure."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.shapes: dict[
            str, ElementTree.Element
        ] = {}  # id → shape that is used at several places
        self.clipped: dict[str, str] = {}  # id of a clip path → short id

    def marks(self, element: ElementTree.Element, link: str, clip: str = "") -> Iterator[_Mark]:
        """Yield the marks inside an element, which has this link and clip path."""
        tag = element.tag.removeprefix(_SVG)
        if tag in ("metadata", "style", "clipPath"):
            return
        if tag == "defs":
            self.shapes |= {one.get("id", ""): one for one in element}
        elif tag == "path":
            yield from self._path(element, element, (0.0, 0.0), link, clip)
        elif tag == "use":
            at = float(element.get("x", 0)), float(element.get("y", 0))
            yield from self._path(self.shapes[element.get(_HREF, "")[1:]], element, at, link, clip)
        elif tag == "text":
            yield from self._text(element)
        else:
            clip = element.get("clip-path", clip)
            link = element.get(_HREF, link)
            inside = chain.from_iterable(self.marks(child, link, clip) for child in element)
            if element.get("id", "").startswith("matplotlib.axis"):
                # lines of an axis before its words, so that those of one look are neighbours
                yield from sorted(
                    inside, key=lambda mark: (mark.tag == "text", mark.tag != "text" and mark.look)
                )
            else:
                yield from inside

    def clips(self, root: ElementTree.Element) -> str:
        """Return the definitions of the clip paths that marks use."""
        found = ""
        for path in root.iter(f"{_SVG}clipPath"):
            short = self.clipped.get(path.get("id", ""))
            if short and len(path) and path[0].tag == f"{_SVG}rect":
                sides = ("x", "y", "width", "height")
                box = "".join(f' {side}="{_short(float(path[0].get(side, 0)))}"' for side in sides)
                found += f'<clipPath id="{short}"><rect{box}/></clipPath>'
            elif short and len(path):
                found += f'<clipPath id="{short}"><path d="{_rounded(path[0].get("d", ""))}"/></clipPath>'
        return f"<defs>{found}</defs>" if found else ""

    def _path(
        self,
        shape: ElementTree.Element,
        element: ElementTree.Element,
        at: tuple[float, float],
        link: str,
        clip: str,
    ) -> Iterator[_Mark]:
        look = _look({"fill": "#000000", **_style(shape), **_style(element)})
        if 'fill="none"' in look and "stroke=" not in look:
            return  # the invisible background
        if clip := element.get("clip-path", clip):
            known = clip[5:-1]
            short = self.clipped.setdefault(known, f"{self.prefix}.clip{len(self.clipped) + 1}")
            look += f' clip-path="url(#{short})"'
        path = shape.get("d", "")
        circle = _circle(path)
        if circle:
            x, y, radius = circle
            yield _Mark(
                "circle",
                f' cx="{_short(x + at[0])}" cy="{_short(y + at[1])}" r="{_short(radius)}"',
                look,
                link=link,
            )
        elif path:
            yield _Mark("path", f' d="{_rounded(path, at)}"', look, link=link)

    def _text(self, element: ElementTree.Element) -> Iterator[_Mark]:
        style = _style(element)
        look = _look({"fill": "#000000", **style})  # matplotlib leaves out black
        x, y, turn = element.get("x"), element.get("y"), ""
        moved = _NUMBER.findall(element.get("transform", ""))
        if x is None:  # translate(x y) rotate(angle)
            x, y, angle = moved[0], moved[1], moved[2] if len(moved) > 2 else "0"
        else:
            angle = moved[0] if moved else "0"
        places = _short(float(x)), _short(float(y or 0))
        if float(angle):
            turn = f' transform="rotate({_short(float(angle))} {" ".join(places)})"'
        own = f' x="{places[0]}" y="{places[1]}"{turn}'
        yield _Mark("text", own, look, one_line(element.text or ""))


def _style(element: ElementTree.Element) -> dict[str, str]:
    """Return the properties of a ``style`` attribute."""
    parts = (part.partition(":") for part in element.get("style", "").split(";"))
    style = {name.strip(): value.strip() for name, _, value in parts}
    found = _FONT.match(style.get("font", ""))
    if found:
        style |= {"font-size": found["size"], "font-weight": found["weight"] or "normal"}
    return style


def _look(style: dict[str, str]) -> str:
    """Return the properties as attributes, without those that have the default value of the page."""
    kept = {name: style[name] for name in _LOOKS if name in style}
    for name in ("fill", "stroke"):
        if kept.get(name) == INK:
            kept[name] = "currentColor"
    if kept.get("text-anchor") == "start":
        del kept["text-anchor"]
    if "font-weight" in kept:
        bold = kept.pop("font-weight") in _BOLD
        kept |= {"font-weight": "bold"} if bold else {}
    if kept.get("stroke") == "none":
        kept = {name: value for name, value in kept.items() if not name.startswith("stroke")}
    if kept.get("stroke-width") == "0":
        kept = {name: value for name, value in kept.items() if not name.startswith("stroke")}
    if kept.get("fill") == "currentColor" and "stroke" not in kept:
        del kept["fill"]
    return "".join(f' {name}="{_rounded_look(value)}"' for name, value in kept.items())


def _rounded_look(value: str) -> str:
    """Return the value of an attribute with short numbers; a colour is unchanged."""
    if value.startswith(("#", "none", "currentColor", "bold", "middle", "end", "url")):
        return value
    return " ".join(_short(float(number)) for number in _NUMBER.findall(value))


def _circle(path: str) -> tuple[float, float, float] | None:
    """Return the centre and the radius of a path that is matplotlib's circle, of eight curves; None for others."""
    if path.count("C") != 8 or path.count("L"):
        return None
    numbers = [float(number) for number in _NUMBER.findall(path)]
    x, y = numbers[::2], numbers[1::2]
    width, height = max(x) - min(x), max(y) - min(y)
    if abs(width - height) > 0.01:
        return None
    return min(x) + width / 2, min(y) + height / 2, width / 2


def _rounded(path: str, at: tuple[float, float] = (0.0, 0.0)) -> str:
    """Return the data of a path, moved by ``at``, with two decimals."""
    steps = []
    for letter, rest in _STEP.findall(path):
        places = [
            _short(float(number) + at[place % 2])
            for place, number in enumerate(_NUMBER.findall(rest))
        ]
        steps.append(letter + " ".join(places))
    return "".join(steps)


def _short(value: float) -> str:
    """Return a number with at most two decimals; no printer resolves more.

    A tie is rounded up, even if the last bit differs on another processor.
    """
    text = f"{value + 1e-7:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _joined(marks: Iterable[_Mark]) -> Iterator[_Mark]:
    """Yield the marks; neighbouring lines of one look become one path."""
    for (tag, look, link), some in groupby(marks, lambda mark: (mark.tag, mark.look, mark.link)):
        if tag == "path" and not link and 'fill="none"' in look:
            paths = "".join(mark.own[4:-1] for mark in some)
            yield _Mark("path", f' d="{paths}"', look)
        else:
            yield from some


def _grouped(marks: Iterable[_Mark]) -> Iterator[str]:
    """Yield the marks as SVG; neighbours of one look share a group."""
    for look, run in groupby(marks, lambda mark: mark.look):
        some = list(run)
        if len(some) == 1 or not look:
            yield "".join(mark.written(look) for mark in some)
        else:
            yield f"<g{look}>{''.join(mark.written() for mark in some)}</g>"
