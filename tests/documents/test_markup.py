"""Markdown and LaTeX."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from robustcs.documents.document import Column, Document, Paragraph, TableBlock
from robustcs.documents.forms import render_markdown
from robustcs.documents.latex import render_latex
from tests.documents.conftest import HOSTILE, breakdown_table


def test_markdown_table() -> None:
    table = TableBlock(
        "t",
        "Cap",
        (Column("turn", "left"), Column("n", group="g")),
        (("31_4", "-1"), ("a|b", "2")),
        "note",
    )
    expected = "**Cap**\n\n| turn | g · n |\n| :--- | ---: |\n| 31_4 | -1 |\n| a\\|b | 2 |\n\nnote\n\n*policy*\n"
    assert render_markdown((table,), "policy") == expected


def test_markdown_shows_hostile_texts_as_they_are() -> None:
    """Another Markdown implementation reads back exactly the text, and finds no markup in it."""
    parser = MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough")
    more = (
        "# no heading",
        "1. no list",
        "- no list",
        "> no quote",
        "***",
        "snake_case_name _x_ __y__",
        "&lt; &amp;",
        "~~a~~",
    )
    for text in (*HOSTILE[:10], *more):
        html = parser.render(render_markdown((Paragraph(text),), "p"))
        inner = re.fullmatch(r"<p>(.*)</p>\n<p><em>p</em></p>\n", html, re.DOTALL)
        assert inner, html
        assert "<" not in inner[1]


def test_markdown_of_a_hostile_document_keeps_its_tables(hostile: Document) -> None:
    parser = MarkdownIt("commonmark").enable("table")
    html = parser.render(render_markdown(hostile.blocks, hostile.policy, hostile.notes))
    assert html.count("<table>") == len(HOSTILE)
    assert html.count("<tr>") == 3 * len(HOSTILE)
    assert html.count("<td") == 6 * len(HOSTILE)
    assert "<script" not in html and "<img" not in html


def test_latex_table() -> None:
    text = render_latex((breakdown_table(),), "relevant ≥ 2", ("100 % of a_b",))
    assert text.startswith(
        "% needs \\usepackage{amssymb,booktabs,tabularx}\n\n\\providecommand{\\tablenote}"
    )
    assert "\n\\begin{table*}[tb]\n" in text
    assert r"\cmidrule(lr){4-5} \cmidrule(lr){6-7} \cmidrule(lr){8-9} \cmidrule(lr){10-11}" in text
    assert r"\multicolumn{2}{c}{NDCG@3 \ensuremath{\geq} 0.5}" in text
    assert r"\label{tab:bins}" in text and r"\begin{tabular}{@{}lllrrrrrrrr@{}}" in text
    assert r"\providecommand{\tablenote}" in text
    assert (
        r"\ensuremath{\checkmark} & \ensuremath{\times} & \ensuremath{\checkmark} & 0 & (0) & 1 & (0)"
        in text
    )
    assert "100 \\% of a\\_b \\par relevant \\ensuremath{\\geq} 2}" in text
    assert text.isascii()


def test_latex_escapes_every_command() -> None:
    table = TableBlock(
        "t}{",
        r"\input{/etc/passwd}%",
        (Column("a", "left"),),
        ((r"\write18{ls} $x$ ~^#&_ [1cm] a--b",),),
    )
    text = render_latex((table,), "p")
    assert r"\caption{\textbackslash{}input\{/etc/passwd\}\%}" in text
    cell = r"\textbackslash{}write18\{ls\} \$x\$ \textasciitilde{}\textasciicircum{}\#\&\_ {[}1cm{]} a-{}-b \\"
    assert cell in text.split("\n")
    assert r"\label{tab:t}" in text


def test_a_table_takes_a_column_then_the_page_then_is_split() -> None:
    def made(columns: int, cell: str) -> str:
        heads = (
            Column("turn", "left"),
            *(Column(f"measure {number}") for number in range(columns)),
        )
        return render_latex((TableBlock("t", "c", heads, (("31_1", *[cell] * columns),)),), "p")

    assert r"\begin{table}[tb]" in made(4, "0.1234") and r"\small" in made(4, "0.1234")
    wide = made(12, "0.1234")
    assert r"\begin{table*}[tb]" in wide and wide.count(r"\begin{tabular}") == 1
    assert r"\shortstack[r]{measure\\11}" in wide
    split = made(40, "0.1234 (0.01)")
    assert split.count(r"\begin{tabular}") > 1 and split.count("31\\_1 &") == split.count(
        r"\begin{tabular}"
    )


def test_latex_has_no_controls(hostile: Document) -> None:
    text = render_latex(hostile.blocks, hostile.policy, hostile.notes)
    assert not re.search(
        "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text
    )


@pytest.mark.parametrize("name", ["plain", "hostile"])
def test_latex_compiles(request: pytest.FixtureRequest, tmp_path: Path, name: str) -> None:
    if not shutil.which("pdflatex"):
        pytest.skip("pdflatex is not on this machine")
    document: Document = request.getfixturevalue(name)
    body = render_latex(document.blocks, document.policy, document.notes)
    source = (
        "\\documentclass{article}\n\\usepackage{amssymb,booktabs,tabularx}\n\\begin{document}\n"
    )
    (tmp_path / "x.tex").write_text(source + body + "\\end{document}\n", encoding="utf-8")
    command = [
        "pdflatex",
        "-no-shell-escape",
        "-halt-on-error",
        "-interaction=nonstopmode",
        "x.tex",
    ]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120)
    assert run.returncode == 0, run.stdout.decode("utf-8", "replace")[-2000:]
