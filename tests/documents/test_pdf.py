"""The typeset pages."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from robustcs.documents.document import Column, Document, Heading, Paragraph, Picture, TableBlock
from robustcs.documents.pdf import render_pdf
from tests.documents.conftest import pdf_words


def test_hostile_texts_are_texts(hostile: Document, tmp_path: Path) -> None:
    pdf = render_pdf(hostile)
    assert pdf.startswith(b"%PDF-")
    text = pdf_words(pdf, tmp_path)
    for literal in (
        '#panic("typst") $x$ @ref <label> *b* _i_ `c`',
        r"\input{/etc/passwd}",
        "<script>alert(1)</script>",
    ):
        assert literal in text


def test_the_same_bytes_twice(plain: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    undated = render_pdf(plain)
    assert undated == render_pdf(plain)
    assert b"CreateDate" not in undated
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    dated = render_pdf(plain)
    assert dated == render_pdf(plain)
    assert b"<xmp:CreateDate>2001-09-09T01:46:40+00:00<" in dated


def test_pages_are_numbered_heads_repeated_and_everything_is_there(
    plain: Document, tmp_path: Path
) -> None:
    pages = pdf_words(render_pdf(plain), tmp_path).rstrip("\f").split("\f")
    for number, page in enumerate(pages, start=1):
        assert re.search(rf"\b{number} ?/ ?{len(pages)}\s*$", page)
    with_rows = [
        page for page in pages if re.search(r"^ *3\d_\d +\S.*\d\.\d\d", page, re.MULTILINE)
    ]
    assert len(with_rows) > 1
    assert all(re.search(r"turn +Original +Human +QR +Human +bin", page) for page in with_rows)
    text = "".join(pages)
    assert "share of 173 turns" in text  # letters in figures can be searched
    for literal in (plain.title, plain.notes[0], "robustcs report"):
        assert literal in text


def test_wide_tables_are_split_and_nothing_runs_off_the_page(tmp_path: Path) -> None:
    if not shutil.which("pdftotext"):
        pytest.skip("pdftotext (poppler-utils) is not on this machine")
    columns = (
        Column("turn", "left"),
        *(Column(f"measure{n}", group="g") for n in range(30)),
        Column("id", "left"),
    )
    row = ("31_1", *(f"{n}.123456" for n in range(30)), "clueweb22-" + "0123456789abcdef" * 8)
    table = TableBlock("t", "c", columns, (row,) * 3)
    (tmp_path / "x.pdf").write_bytes(
        render_pdf(Document("t", (table, Paragraph("x" * 10_000)), "p"))
    )
    boxes = subprocess.run(
        ["pdftotext", "-bbox", "x.pdf", "-"], cwd=tmp_path, capture_output=True, check=True
    ).stdout
    right = [float(edge) for edge in re.findall(rb'xMax="([\d.]+)"', boxes)]
    assert len(right) > 200
    assert max(right) <= 595.3 - 22 / 25.4 * 72 + 2


@pytest.mark.parametrize("lines", [0, 18, 26, 36])
def test_no_figure_stands_before_its_heading(lines: int, tmp_path: Path) -> None:
    square = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400"><rect width="400" height="400"/></svg>'
    figure = Picture("f", "Caption.", "A square.", square, width=4)
    blocks = (
        *map(Paragraph, ["Before."] * lines),
        Heading("Question?"),
        Paragraph("Answer."),
        figure,
        Paragraph("After."),
    )
    text = pdf_words(render_pdf(Document("t", blocks, "p")), tmp_path)
    places = [text.index(words) for words in ("Question?", "Answer.", "Caption.", "After.")]
    assert places == sorted(places)
