"""Typeset with typst: data as pages, and a drawing as a page of its size. Fonts are those of the figures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

import matplotlib as mpl
import typst
from matplotlib.ft2font import FT2Font

_FONT_FOLDER = Path(mpl.get_data_path()) / "fonts" / "ttf"

_TEMPLATES = Path(__file__).parent / "templates"


def typeset(
    template: str, inputs: Mapping[str, str], timestamp: int | None = None, version: Literal["1.4", "1.7"] = "1.7"
) -> bytes:
    """Return the PDF of a typst template. ``inputs`` are its ``sys.inputs``: data, never markup.

    The same inputs give the same bytes. The fonts are those of typst and matplotlib. System fonts are searched only for
    characters that those do not have. A character without a font is shown as a box, and the text itself is unchanged.
    ``version`` is the version of PDF.
    """
    used = set().union(*inputs.values())
    return typst.compile(
        _TEMPLATES / template,
        font_paths=_fonts(not _characters().issuperset(map(ord, used))),
        sys_inputs=dict(inputs),
        timestamp=timestamp,
        format="pdf",
        pdf_standards=version,
    )


def drawing_pdf(svg: str) -> bytes:
    """Return an ``<svg>`` element as an undated PDF, with vectors, and text in embedded TrueType fonts.

    Every LaTeX can include this version of PDF.
    """
    return typeset("drawing.typ", {"svg": svg}, version="1.4")


@cache
def _fonts(of_system: bool) -> typst.Fonts:
    """Return the fonts, which are read once: reading them takes longer than typesetting a figure."""
    return typst.Fonts(include_system_fonts=of_system, font_paths=[_FONT_FOLDER])


@cache
def _characters() -> frozenset[int]:
    """Return the code points that need no system font."""
    font = FT2Font(_FONT_FOLDER / "DejaVuSans.ttf")
    return frozenset(font.get_charmap()) | {ord("\n"), ord("\t")}
