"""What every rendered form has in common: a document made of headings, paragraphs, tables, figures and cards.

An analysis result is turned into blocks once (``reports/present/``); terminal, Markdown, LaTeX, HTML and PDF render the
same blocks. All strings are plain text, never markup: each renderer escapes them for its own language.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure


@dataclass(frozen=True)
class Heading:
    """``level`` 1 is a question that the document answers, 2 a part of the answer."""

    text: str
    level: int = 1


@dataclass(frozen=True)
class Paragraph:
    """One paragraph of running text."""

    text: str


@dataclass(frozen=True)
class Column:
    """A table column; columns of equal ``group`` that stand side by side get one shared head above their titles."""

    title: str
    align: Literal["left", "right"] = "right"
    group: str = ""


@dataclass(frozen=True)
class Table:
    """Cells are strings already rounded for people; ``caption`` says what is counted and ``note`` out of what.

    slug
        Lower-case name, unique within a document; used for labels, anchors and file names.
    rules
        Indices of rows that have a thin rule above them.
    """

    slug: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    rules: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Figure:
    """A figure, drawn when a renderer needs it. ``alt`` says in words what it shows, for those who do not see it."""

    slug: str
    caption: str
    alt: str
    draw: Callable[[], MatplotlibFigure] = field(repr=False)


@dataclass(frozen=True)
class Card:
    """One turn to read: a head line and labelled texts."""

    title: str
    fields: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Cards:
    """Turns to read, under one caption."""

    slug: str
    caption: str
    cards: tuple[Card, ...]


Block = Heading | Paragraph | Table | Figure | Cards


@dataclass(frozen=True)
class Document:
    """A whole report. ``policy`` closes it; ``provenance`` is (label, value) pairs: command, versions, inputs."""

    title: str
    blocks: tuple[Block, ...]
    policy: str
    notes: tuple[str, ...] = ()
    provenance: tuple[tuple[str, str], ...] = ()
