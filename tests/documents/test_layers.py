"""Annotated texts in every form."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from robustcs.documents.document import Card, Cards, Document
from robustcs.documents.forms import render_markdown
from robustcs.documents.html import render_html
from robustcs.documents.latex import render_latex
from robustcs.documents.terminal import render_terminal

TEXT = "<b>Mix</b> flour & water\x1b[31m daily."
LAYERS = Cards(
    "layers", "What did each choose?",
    (
        Card(
            "1_2 · p1", (("Question", "How?"),), TEXT,
            (("ada", ((0, 10), (11, 16))), ("<ben>", ((11, 24),)), ("cem", ())),
        ),
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def page() -> str:
    return render_html(Document("T", (LAYERS,), "policy"))


def test_html_draws_each_layer_over_its_characters_and_escapes_all(page: str) -> None:
    body = page.partition('<p class="layered"')[2].partition("</p>")[0]
    spans = re.findall(r'<span class="([^"]*)" title="([^"]*)">(.*?)</span>', body, re.DOTALL)
    assert spans == [
        ("layer-1", "ada", "&lt;b&gt;Mix&lt;/b&gt;"), ("layer-1 layer-2", "ada, &lt;ben&gt;", "flour"),
        ("layer-2", "&lt;ben&gt;", " &amp; water"),
    ]  # fmt: skip
    plain = re.sub(r"<[^>]*>", "", body.partition(">")[2])
    assert plain.strip() == "&lt;b&gt;Mix&lt;/b&gt; flour &amp; water␛[31m daily."
    assert re.findall(r'<span class="(layer-\d)"><bdi>', page) == ["layer-1", "layer-2", "layer-3"]


def test_html_has_a_colour_for_every_layer_and_no_style_attribute(page: str) -> None:
    assert set(re.findall(r"^\.layer-(\d) \{ --layer: (#\w+);", page, re.MULTILINE)) == {
        *zip("12345678", re.findall(r"--layer: (#\w+);", page), strict=True)
    }
    assert len(set(re.findall(r"--layer: (#\w+);", page))) == 8
    assert " style=" not in page


def test_elsewhere_snippets_stand_below_the_text() -> None:
    assert LAYERS.cards[0].texts == (
        ("Question", "How?"), ("Text", TEXT), ("ada", "<b>Mix</b> … flour"), ("<ben>", "flour & water"), ("cem", "(nothing)"),
    )  # fmt: skip
    out = io.StringIO()
    render_terminal([LAYERS], "policy", (), Console(file=out, width=80))
    assert "<b>Mix</b> … flour" in out.getvalue() and "\x1b" not in out.getvalue()
    assert "- **cem:** (nothing)" in render_markdown([LAYERS], "policy")
    assert "% layers: not part of this file" in render_latex([LAYERS], "policy")
