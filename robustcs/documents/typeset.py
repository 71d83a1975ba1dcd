"""Typeset with typst: data as pages, and a drawing as a page of its size. Fonts are those of the figures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

import typst

from robustcs.documents.drawing import advances, font_folder

_TEMPLATES = Path(__file__).parent / "templates"


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
    used = set().union(*inputs.values())
    return typst.compile(
        _TEMPLATES / template,
        font_paths=_fonts(not advances().keys() >= set(map(ord, used)) - {ord("\n"), ord("\t")}),
        sys_inputs=dict(inputs),
        timestamp=timestamp,
        format=form,
        ppi=200 if form == "png" else None,
        pdf_standards=version,
    )


@cache
def _fonts(of_system: bool) -> typst.Fonts:
    """Return the fonts, which are read once: reading them takes longer than typesetting a figure."""
    return typst.Fonts(include_system_fonts=of_system, font_paths=[font_folder()])
