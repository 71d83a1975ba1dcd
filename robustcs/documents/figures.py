"""Figures in documents: one colour per bin, links to turns, and reproducible files."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from robustcs.documents.document import Figure, Picture
from robustcs.documents.files import write_bytes
from robustcs.documents.page_svg import page_svg
from robustcs.documents.style import (
    COLUMN,
    PAGE,
    Width,
    font_folder,
    in_style,
    in_user_style,
    known_characters,
)
from robustcs.documents.text import one_line
from robustcs.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

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


_TEMPLATES = Path(__file__).parent / "templates"


def drawn(figure: Figure, width: Width, name: str = "figure", alt: str = "") -> tuple[str, float]:
    """Draw a figure in the style of this package; return its ``<svg>`` element and its width in inches.

    ``name``: the beginning of its ids. ``alt``: its description.
    """
    with in_style(width):
        made = figure.draw(width)
        return page_svg(made, name, alt), float(made.get_size_inches()[0])


def plotted(figure: Figure) -> MatplotlibFigure:
    """Draw a figure at the width of a page; every rcParam that the user has changed applies to it."""
    with in_user_style():
        return figure.draw(PAGE)


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as PNG (200 dpi), SVG or PDF, by the suffix of ``path``; the same figure gives the same bytes.

    Raises :class:`UsageError` for any other suffix, and ``OutputError`` if the file cannot be written.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (".svg", ".pdf", ".png"):
        raise UsageError(
            "bad-figure-format", f"figure {os.fspath(path)}", "end its name in .png, .svg or .pdf"
        )
    svg, _ = drawn(figure, PAGE)
    if suffix == ".svg":
        data = f'<?xml version="1.0" encoding="utf-8"?>\n{svg_file(svg)}'.encode("utf-8", "replace")
    else:
        data = figure_pdf(svg, "pdf" if suffix == ".pdf" else "png")
    write_bytes(path, data)


def figure_pdf(svg: str, form: Literal["pdf", "png"] = "pdf") -> bytes:
    """Return the result of :func:`page_svg` on white, without links, as an undated PDF or a PNG.

    The PDF has vectors, and text in embedded TrueType fonts; every LaTeX can include its version.
    """
    return typeset("figure.typ", {"svg": link_turns(svg, {})}, version="1.4", form=form)


def typeset(
    template: str,
    inputs: Mapping[str, str],
    timestamp: int | None = None,
    version: Literal["1.4", "1.7"] = "1.7",
    form: Literal["pdf", "png"] = "pdf",
) -> bytes:
    """Return the PDF of a typst template, or with ``form`` its PNG (200 dpi).

    ``inputs`` are its ``sys.inputs``: data, never markup.

    The same inputs give the same bytes. The fonts are those of typst and matplotlib. System fonts are searched only for
    characters that those do not have. A character without a font is shown as a box, and the text itself is unchanged.
    ``version`` is the version of PDF.
    """
    import typst

    used = set().union(*inputs.values())
    return typst.compile(
        _TEMPLATES / template,
        font_paths=_fonts(not known_characters() >= set(map(ord, used)) - {ord("\n"), ord("\t")}),
        sys_inputs=dict(inputs),
        timestamp=timestamp,
        format=form,
        ppi=200 if form == "png" else None,
        pdf_standards=version,
    )


@cache
def _fonts(of_system: bool) -> Any:
    """Return the fonts, which are read once: reading them takes longer than typesetting a figure.

    Of matplotlib's fonts, only DejaVu Sans: its Last Resort font has a box for every character, so typst would draw all
    letters of a text as boxes if one of them is unknown. typst takes folders only, and follows their links at once. Where no
    links can be made, all fonts of matplotlib are used.
    """
    import typst

    with suppress(OSError), tempfile.TemporaryDirectory(prefix="robustcs-fonts-") as folder:
        for font in font_folder().glob("DejaVuSans*.ttf"):
            (Path(folder) / font.name).symlink_to(font)
        return typst.Fonts(include_system_fonts=of_system, font_paths=[folder])
    return typst.Fonts(include_system_fonts=of_system, font_paths=[font_folder()])


def svg_file(svg: str) -> str:
    """Return the result of :func:`page_svg` as an SVG file on white, without links."""
    head, end, rest = link_turns(svg, {}).partition("</desc>")
    return f'{head}{end}<rect width="100%" height="100%" fill="white" />{rest}\n'


def draw_picture(figure: Figure | Picture) -> Picture:
    """Draw the figure at its full width and for a column; a picture is returned as it is."""
    if isinstance(figure, Picture):
        return figure
    wide, inches = drawn(figure, PAGE, figure.slug, figure.alt)
    column, narrow = drawn(figure, COLUMN, f"{figure.slug}-column", figure.alt)
    fits = narrow <= COLUMN.inches + 1e-6
    return Picture(figure.slug, figure.caption, figure.alt, wide, inches, column if fits else "")


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
        return f'<a href="#{known[0]}"{more}><title>{escape(one_line(title), False)}</title>{match[2]}</a>'

    return _LINK.sub(link, svg)
