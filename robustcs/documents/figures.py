"""Figures: one style, one colour per bin, and reproducible files."""

from __future__ import annotations

import io
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import matplotlib as mpl
from matplotlib.figure import Figure

from robustcs.documents.dates import source_date
from robustcs.documents.document import Figure as FigureBlock
from robustcs.documents.document import Picture
from robustcs.documents.files import write_bytes
from robustcs.documents.text import anchor, one_line
from robustcs.documents.typeset import drawing_pdf
from robustcs.errors import UsageError

#: Widths in inches of a figure in one column and across both columns of a paper.
COLUMN_WIDTH = 3.4
FULL_WIDTH = 7.0

#: Colour of axes and letters; in HTML they have the colour of the page's text.
INK = "#23272b"

#: One colour per bin (Original, QR, Human; 1 = correct). They can be distinguished with any colour vision and, for bins that
#: touch in the sweep, in grey (CIE lightness 38 62 80 55 25 48 70 88 from the bottom up).
BIN_COLOURS: Mapping[str, str] = {
    "000": "#0b3a66",
    "100": "#2f74b0",
    "010": "#7db0da",
    "110": "#cadff0",
    "001": "#f2bf62",
    "101": "#cf5c0c",
    "011": "#2fa585",
    "111": "#873a73",
    "-00": "#0b3a66",
    "-10": "#7db0da",
    "-01": "#f2bf62",
    "-11": "#2fa585",
}

#: Meaning of each bin.
BIN_LABELS: Mapping[str, str] = {
    "000": "QA error",
    "100": "QA error; Original is correct",
    "010": "QA error; QR is correct",
    "110": "QA error; Original and QR are correct",
    "001": "rewriter error",
    "101": "rewriter error; Original is correct",
    "011": "QR and Human correct; Original is wrong",
    "111": "all three correct",
    "-00": "QA error",
    "-10": "QA error; QR is correct",
    "-01": "rewriter error",
    "-11": "QR and Human correct",
}

#: Attributes whose numbers are positions in points; they are rounded to hundredths, which no printer resolves.
_GEOMETRY = frozenset({"d", "transform", "x", "y", "cx", "cy", "r", "width", "height", "points"})
_LONG_NUMBER = re.compile(r"-?[0-9]+\.[0-9]{3,}(?![0-9e])")
_SPACES = re.compile(r"\s+")

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"
_SANS = "'DejaVu Sans', Verdana, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
_STYLE: dict[Any, Any] = {
    "font.family": ["DejaVu Sans"],  # comes with matplotlib, so figures are the same on every machine
    "font.size": 7,
    "axes.titlesize": 7.5,
    "axes.titleweight": "bold",
    "axes.labelsize": 7,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": INK,
    "text.parse_math": False,  # names come from input files: a dollar sign is a dollar sign
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "lines.linewidth": 1.2,
    "legend.frameon": False,
    "legend.fontsize": 6.5,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.dpi": 200,
    "svg.fonttype": "none",
    "svg.hashsalt": "robustcs",
}


#: Whether figures are drawn for one column of a paper, or for a phone.
_IN_COLUMN: ContextVar[bool] = ContextVar("in_column", default=False)
#: Letters in a column are larger by this factor, so that they are 11 pixels high on a phone of 390 pixels.
_COLUMN_LETTERS = 1.18


@contextmanager
def style() -> Iterator[None]:
    """Return a context with the settings for every figure."""
    sized = {key: letters(value) for key, value in _STYLE.items() if key.endswith("size") and "major" not in key}
    with mpl.rc_context({**mpl.rcParamsDefault, **_STYLE, **sized, "backend": "agg"}):
        yield


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


def panels_across(panels: int, most: int) -> int:
    """Return the number of panels side by side: at most ``most`` on a page, one in a column."""
    return 1 if _IN_COLUMN.get() else min(panels, most)


def letters(size: float) -> float:
    """Return ``size`` (of letters in points, or of their space in inches), enlarged in a column."""
    return size * _COLUMN_LETTERS if _IN_COLUMN.get() else size


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write ``figure`` as PNG (200 dpi), SVG or PDF, by the suffix of ``path``; the same figure gives the same bytes.

    Raises :class:`UsageError` for any other suffix, and ``OutputError`` if the file cannot be written.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (".png", ".svg", ".pdf"):
        raise UsageError("bad-figure-format", f"figure {os.fspath(path)}", "end its name in .png, .svg or .pdf")
    if suffix == ".pdf":
        data = figure_pdf(svg_text(figure, "figure", ""))
    else:
        _without_links(figure)
        data = _figure_bytes(figure, suffix[1:])
    write_bytes(path, data)


def figure_pdf(svg: str) -> bytes:
    """Return the result of :func:`svg_text` as a PDF on white, without links."""
    return drawing_pdf(link_turns(svg, {}))


def _without_links(figure: Figure) -> None:
    """Remove links to turns from ``figure``; they work only inside a page."""
    for artist in figure.findobj():
        artist.set_url(None)  # type: ignore[arg-type]
        if hasattr(artist, "set_urls"):
            artist.set_urls([])


def _figure_bytes(figure: Figure, kind: str, transparent: bool = False) -> bytes:
    source_date()  # with an invalid date, matplotlib would stop with a traceback
    # None omits dates and versions, which would make every file different.
    metadata = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}[kind]
    buffer = io.BytesIO()
    with style(), warnings.catch_warnings():
        # Characters missing from the font are boxes; in SVG they stay text, and the viewer may have a font for them.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(buffer, format=kind, metadata=metadata, facecolor="none" if transparent else "white")
    return buffer.getvalue()


def svg_text(figure: Figure, name: str, alt: str) -> str:
    """Return ``figure`` as an ``<svg>`` element for an HTML page or a typst document.

    Letters stay text, so they can be searched, and have the colour of the surrounding text. Ids start with ``name``, so
    several figures fit into one page. There are no style attributes, since a strict Content-Security-Policy forbids them.
    ``alt`` is for screen readers.
    """
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _XLINK)
    root = ElementTree.fromstring(_figure_bytes(figure, "svg", transparent=True))
    prefix = anchor(name)
    links = False
    root.remove(root[0])  # metadata
    root.remove(root[0])  # a style sheet; the attributes of the root below replace it
    for element in root.iter():
        _presentation_attributes(element)
        _prefix_ids(element, prefix)
        links |= _plain_link(element)
        element.text = element.text if element.text and element.text.strip() else None
        element.tail = None
    # no <title>: browsers would show it over the whole figure
    description = ElementTree.Element(f"{{{_SVG}}}desc", {"id": f"{prefix}.desc"})
    description.text = one_line(alt)
    root.insert(0, description)
    root.attrib |= {
        "role": "group" if links else "img",  # links inside an image cannot be reached
        "aria-labelledby": f"{prefix}.desc",
        "color": INK,
        "stroke-linejoin": "round",
        "stroke-linecap": "butt",
    }
    return ElementTree.tostring(root, encoding="unicode")


def svg_file(svg: str) -> str:
    """Return the result of :func:`svg_text` as an SVG file on white, without links."""
    head, end, rest = link_turns(svg, {}).partition("</desc>")
    return f'{head}{end}<rect width="100%" height="100%" fill="white" />{rest}\n'


def _plain_link(element: ElementTree.Element) -> bool:
    """Return whether the element is a link; if so, keep only its address, as ``href``."""
    if element.tag != f"{{{_SVG}}}a":
        return False
    address = element.attrib.pop(f"{{{_XLINK}}}href", "")
    element.attrib.clear()
    element.set("href", address)
    return True


def _presentation_attributes(element: ElementTree.Element) -> None:
    """Replace ``style="fill: red"`` by ``fill="red"``, and the ink by the colour of the surrounding text."""
    for declaration in element.attrib.pop("style", "").split(";"):
        key, _, value = declaration.partition(":")
        if value:
            key, value = key.strip(), value.strip()
            element.set(key, _SANS if key == "font-family" else "currentColor" if value == INK else value)
    for key in _GEOMETRY & element.attrib.keys():
        element.set(key, _SPACES.sub(" ", _LONG_NUMBER.sub(lambda match: f"{float(match[0]):.2f}", element.attrib[key])))


def _prefix_ids(element: ElementTree.Element, prefix: str) -> None:
    if "id" in element.attrib:
        element.set("id", f"{prefix}.{element.attrib['id']}")
    link = element.get(f"{{{_XLINK}}}href")
    if link and element.tag == f"{{{_SVG}}}use":
        element.set(f"{{{_XLINK}}}href", f"#{prefix}.{link[1:]}")
    clip = element.get("clip-path")
    if clip:
        element.set("clip-path", clip.replace("url(#", f"url(#{prefix}."))


def draw_picture(figure: FigureBlock) -> Picture:
    """Draw the figure at its full width and, if it supports one, for a column."""
    wide = figure.draw()
    with in_column():
        column = figure.draw()
    narrow = svg_text(column, f"{figure.slug}-column", figure.alt) if column.get_figwidth() <= COLUMN_WIDTH else ""
    svg = svg_text(wide, figure.slug, figure.alt)
    return Picture(figure.slug, figure.caption, figure.alt, svg, wide.get_figwidth(), narrow)


#: Colour on white → colour on a dark page, light enough to stand out from the background.
DARK_COLOURS: Mapping[str, str] = {
    "#0b3a66": "#3f7cba",
    "#2f74b0": "#62a0dc",
    "#7db0da": "#93c2e8",
    "#cf5c0c": "#e4762a",
    "#873a73": "#b565a0",
    "#147a5f": "#35a888",
    "#b07d12": "#d09c30",
    "#6f4a1f": "#b58550",
}

#: Above this number, marks have no links: ten thousand links make a page slow, and are too dense to click.
MOST_MARKS = 2_000

_LINK = re.compile(r'<a href="([^"]*)">(.*?)</a>', re.DOTALL)


def link_turns(svg: str, titles: Mapping[str, str]) -> str:
    """Return ``svg`` with links to the turns of ``titles`` (anchor → tooltip) only.

    The address of a mark for several turns is their anchors, separated by commas. It links to the first, and ``data-turns``
    lists all.
    """

    def link(match: re.Match[str]) -> str:
        known = [turn for turn in match[1].removeprefix("#").split(",") if turn in titles]
        if not known:
            return f"<g>{match[2]}</g>"
        title, more = titles[known[0]], ""
        if len(known) > 1:
            title = f"{len(known)} turns at this point, one of them {title}"
            more = f' data-turns="{" ".join(known)}"'
        return f'<a href="#{known[0]}"{more}><title>{escape(one_line(title))}</title>{match[2]}</a>'

    return _LINK.sub(link, svg)
