"""A document with every kind of block, and texts that try to break out of each output language."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure as MatplotlibFigure

from robustcs.documents.document import (
    Block,
    Card,
    Cards,
    Column,
    Document,
    Figure,
    Fold,
    Heading,
    Paragraph,
    Picture,
    TableBlock,
)
from robustcs.documents.style import Width
from robustcs.studies.sweep.figure import STACK, SweepPanel, sweep_figure

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "]]></style></script><!--",
    "{{ 7*7 }}{% raw %}",
    '#panic("typst") $x$ @ref <label> *b* _i_ `c`',
    r"\input{/etc/passwd} \write18{ls} %x & # ^ ~ { } \\[1cm]",
    "[bold red]rich[/] [link=file:///x]y[/link] :smile:",
    "\u202eright to left\u202c שלום עולم مرحبا",
    "emoji 👩‍👩‍👧 🇩🇪 ✓ × ≥ 中文 ñ é",
    "NUL \x00 ESC \x1b[2J\x1b]0;title\x07 C1 \x9b31m",
    "| pipe | table\nsecond line\r\nthird",
    "lone surrogate \udcff end",
    "x" * 10_000,
    "long words " * 200,
)


def panel(title: str, turns: int = 173) -> SweepPanel:
    """A sweep with falling shares."""
    thresholds = np.round(np.arange(51) * 0.02, 2)
    falling = 1 - thresholds
    shares = {name: np.zeros(51) for name in STACK}
    shares |= {
        "111": 0.45 * falling**2,
        "011": 0.3 * falling,
        "001": 0.12 * falling,
        "101": 0.02 * falling,
    }
    shares |= {"100": np.full(51, 0.02), "010": np.full(51, 0.02), "110": np.full(51, 0.01)}
    shares["000"] = 1 - sum(shares.values())
    return SweepPanel(title, thresholds, shares, turns)


def breakdown_table() -> TableBlock:
    """The layout of the published table: three marks and two columns for each of four measures."""
    groups = ("P@1 = 1", "NDCG@3 > 0", "NDCG@3 ≥ 0.5", "NDCG@3 = 1")
    qa_errors = ((49, 10, 55, 154), (0, 0, 0, 0), (2, 0, 1, 0), (0, 1, 1, 0))
    counts = (*qa_errors, (19, 10, 25, 4), (0, 1, 0, 0), (48, 63, 47, 11))
    marks = ("×××", "✓××", "×✓×", "✓✓×", "××✓", "✓×✓", "×✓✓", "✓✓✓")
    columns = [Column(name, "left") for name in ("Original", "QR", "Human")]
    columns += [Column(title, group=group) for group in groups for title in ("turns", "same")]
    rows = [
        (*mark, *(text for count in row for text in (str(count), f"({count // 3})")))
        for mark, row in zip(marks, (*counts, (55, 88, 44, 4)), strict=True)
    ]
    note = "Out of 173 turns; in brackets the turns whose Human text equals the Original text."
    return TableBlock("bins", "Turns per bin", tuple(columns), tuple(rows), note, frozenset({4, 6}))


def hostile_document() -> Document:
    """Every hostile text in titles, ids, captions, cells, notes, cards and provenance."""
    blocks: list[object] = []
    for number, text in enumerate(HOSTILE):
        short = text[:300]
        columns = (
            Column("turn", "left"),
            Column(short[:40], "left", short[:20]),
            Column("score", "right", short[:20]),
        )
        rows = ((short[:12], text, "0.45"), ("31_4", short, "−1.50"))
        blocks += [
            Heading(short, 1 + number % 2),
            Paragraph(text),
            TableBlock(short, short, columns, rows, short),
            Cards(short, short, (Card(short, ((short[:30], text), ("Human", short))),)),
        ]
    for text in HOSTILE[:6]:
        blocks.append(
            Figure(text, text, text, lambda width, text=text: sweep_figure(width, [panel(text)]))
        )
    return Document(
        HOSTILE[0], tuple(blocks), HOSTILE[1], HOSTILE, tuple(zip(HOSTILE, HOSTILE, strict=True))
    )


def every_block(document: Document) -> Iterator[Block | Picture]:
    """Yield all blocks in the order of the page, including those of the first screen and inside folds."""
    if document.opening:
        yield from document.opening.blocks
    for block in document.blocks:
        if isinstance(block, Fold):
            yield from block.blocks
        else:
            yield block


def plain_document() -> Document:
    """What a report usually holds."""

    def three(width: Width) -> MatplotlibFigure:
        return sweep_figure(width, [panel("NDCG@3"), panel("P@1"), panel("Reciprocal rank")])

    turns = tuple(
        (
            f"{31 + number // 9}_{1 + number % 9}",
            "Is it treatable?"
            if number % 2
            else "What about the physician's assistant that works there now?",
            "Is throat cancer treatable when it is found in time, and by whom?",
            f"{(number * 37 % 100) / 100:.2f}",
            f"{(number * 53 % 100) / 100:.2f}",
            "×✓✓" if number % 3 else "××✓",
        )
        for number in range(60)
    )
    columns = (
        Column("turn", "left"),
        Column("Original", "left"),
        Column("Human", "left"),
        Column("QR", group="NDCG@3"),
        Column("Human", group="NDCG@3"),
        Column("bin", "left"),
    )
    card = Card(
        "31_4 · ××✓ at NDCG@3 ≥ 0.5",
        (
            (
                "Conversation",
                "What is throat cancer?\nIs it treatable?\nTell me about lung cancer.",
            ),
            ("Original", "What are its symptoms?"),
            ("QR", "What are throat cancer's symptoms?"),
            ("Human", "What are lung cancer's symptoms?"),
            ("Scores", "Original 0.00 · QR 0.12 · Human 0.85"),
        ),
    )
    finding = (
        "The rewriter is to blame for 14 % of the turns (95 % interval 10 to 21 %), the ranker for 33 % (27 to 41 %). "
        "Repairing every rewriter error would lift mean NDCG@3 from 0.44 to 0.52."
    )
    return Document(
        "Where the CAsT 2019 runs fail",
        (
            Heading("Findings"),
            Paragraph(finding),
            Heading("Does the rewriter or the ranker cause the errors?"),
            breakdown_table(),
            Heading("At every threshold", 2),
            Figure(
                "sweep",
                "Shares of the eight bins over the threshold.",
                "Stacked areas, falling.",
                three,
            ),
            Figure(
                "one",
                "The same, one measure.",
                "Stacked areas.",
                lambda width: sweep_figure(width, [panel("NDCG@3")]),
            ),
            Heading("Which turns should I read?"),
            TableBlock("turns", "Turns with their scores", columns, turns, "Sorted by turn."),
            Cards("cards", "Rewriter errors to read", (card,) * 5),
        ),
        "173 turns · missing turns score 0 (1) · ties by docid descending · scores as float32 · relevant ≥ 2 (binary measures)",
        ("105_9 is missing from the run auto.",),
        (
            ("command", "robustcs report"),
            ("robustcs", "0.1"),
            ("raw.run", "sha256 " + "9f86d081884c7d65" * 4),
        ),
    )


@pytest.fixture(scope="session")
def hostile() -> Document:
    return hostile_document()


@pytest.fixture(scope="session")
def plain() -> Document:
    return plain_document()


def pdf_words(pdf: bytes, folder: Path) -> str:
    """The text of a PDF; the test is skipped where poppler is absent."""
    if not shutil.which("pdftotext"):
        pytest.skip("pdftotext (poppler-utils) is not on this machine")
    (folder / "x.pdf").write_bytes(pdf)
    text = subprocess.run(
        ["pdftotext", "-layout", "x.pdf", "-"], cwd=folder, capture_output=True, check=True
    ).stdout
    return text.decode()
