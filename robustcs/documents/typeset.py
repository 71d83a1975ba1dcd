"""Typesetting by typst, with the letters that figures are drawn in: data to pages, and a drawing to a page of its own size."""

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
    """The PDF of a typst template, to which ``inputs`` are ``sys.inputs``: data, never markup. The same gives the same bytes.

    Letters come from fonts inside typst and matplotlib. Only where a text holds characters that those lack are the
    fonts of the system searched; what no font has is shown as a box, and the text behind it stays whole.
    ``version`` is that of PDF.
    """
    used = set().union(*inputs.values())
    return typst.compile(
        _TEMPLATES / template,
        font_paths=[_FONT_FOLDER],
        ignore_system_fonts=_characters().issuperset(map(ord, used)),
        sys_inputs=dict(inputs),
        timestamp=timestamp,
        format="pdf",
        pdf_standards=version,
    )


def drawing_pdf(svg: str) -> bytes:
    """An ``<svg>`` element as a PDF of its own, undated: vectors, and letters as text in embedded TrueType fonts.

    The version of PDF is one that every LaTeX takes in.
    """
    return typeset("drawing.typ", {"svg": svg}, version="1.4")


@cache
def _characters() -> frozenset[int]:
    """The code points that need no font of the system."""
    font = FT2Font(_FONT_FOLDER / "DejaVuSans.ttf")
    return frozenset(font.get_charmap()) | {ord("\n"), ord("\t")}
