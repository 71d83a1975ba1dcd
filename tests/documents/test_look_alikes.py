"""Ids that look alike, because they differ in characters without any width, differ in every form of a table."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from robustcs.documents import pdf
from robustcs.documents.document import Column, Document, TableBlock
from robustcs.documents.forms import render_markdown
from robustcs.documents.html import notebook_html, render_html
from robustcs.documents.latex import render_latex
from robustcs.documents.terminal import render_terminal
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated

ALIKE = (
    "31_1",
    "31_1\u200b",
    "31\u200d_1",
    "31_1\ufeff",
    "31_1\u202e",
    "31_\u20661",
    "31_1\ufe0f",
    "31_1\xad",
    "31_1\x1b",
)
SHOWN = ["00AD", "200B", "200D", "202E", "2066", "FE0F", "FEFF"]
TABLE = TableBlock("t", "Turns", (Column("turn", "left"),), tuple((turn,) for turn in ALIKE))


def on_terminal() -> str:
    out = io.StringIO()
    render_terminal([TABLE], "p", (), Console(file=out, width=80))
    return out.getvalue()


FORMS = {
    "terminal": on_terminal,
    "markdown": lambda: render_markdown((TABLE,), "p"),
    "html": lambda: render_html(Document("T", (TABLE,), "p")),
    "notebook": lambda: notebook_html((TABLE,), Evaluated(EvaluationPolicy(), "runs", 9, 0)),
    "pdf": lambda: "\n".join(map(pdf._line, ALIKE)),
}


@pytest.mark.parametrize("form", FORMS)
def test_look_alikes_differ(form: str) -> None:
    text = FORMS[form]()
    assert sorted(re.findall("⟨U\\+([0-9A-F]{4})⟩", text)) == SHOWN
    assert "1␛" in text


def test_look_alikes_differ_in_latex_too() -> None:
    text = render_latex((TABLE,), "p")
    assert text.isascii()
    assert sorted(
        re.findall(r"\\ensuremath\{\\langle\}U\+([0-9A-F]{4})\\ensuremath\{\\rangle\}", text)
    ) == ["001B", *SHOWN]
