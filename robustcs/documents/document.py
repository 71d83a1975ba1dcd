"""What every rendered form has in common: a document made of headings, paragraphs, tables, figures and cards.

An analysis result is turned into blocks once (``show.py`` of its study); terminal, Markdown, LaTeX, HTML and PDF render the
same blocks. All strings are plain text, never markup: each renderer escapes them for its own language.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure


@dataclass(frozen=True)
class Heading:
    """``level`` 1 is a question that the document answers, 2 a part of the answer."""

    text: str
    level: int = 1


@dataclass(frozen=True)
class Paragraph:
    """One paragraph of running text; ``about`` stands before it and names the heading of which it tells the gist."""

    text: str
    about: str = ""


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
    rows
        A row whose first cell starts with two spaces continues the row above it, wherever that goes.
    rules
        Indices of rows that have a thin rule above them.
    of
        The table of the result that it shows; empty for a table of its own.
    """

    slug: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    rules: frozenset[int] = frozenset()
    of: str = ""

    def continues(self, row: int) -> bool:
        """Whether a row belongs to the one above it."""
        return bool(self.rows[row]) and self.rows[row][0].startswith("  ")


@dataclass(frozen=True)
class Figure:
    """A figure, drawn when a renderer needs it. ``alt`` says in words what it shows, for those who do not see it."""

    slug: str
    caption: str
    alt: str
    draw: Callable[[], MatplotlibFigure] = field(repr=False)


@dataclass(frozen=True)
class Picture:
    """A figure that has been drawn: an ``<svg>`` element, whose points may link to turns, and its width in inches."""

    slug: str
    caption: str
    alt: str
    svg: str = field(repr=False)
    width: float


@dataclass(frozen=True)
class Card:
    """One turn to read: a head line and labelled texts."""

    title: str
    fields: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Cards:
    """Turns to read, under one caption.

    asked
        An option asked for them: they are shown beside a single table as well.
    """

    slug: str
    caption: str
    cards: tuple[Card, ...]
    asked: bool = False


@dataclass(frozen=True)
class LayeredText:
    """A text and what several annotators chose in it.

    layers
        (annotator, half-open [start, end) spans in characters); at most :data:`MAX_LAYERS`.
    fields
        Labelled texts that stand above it, such as the question.
    """

    title: str
    fields: tuple[tuple[str, str], ...]
    text: str
    layers: tuple[tuple[str, tuple[tuple[int, int], ...]], ...]


#: Layers that can be told apart over one text.
MAX_LAYERS = 8


@dataclass(frozen=True)
class Layers:
    """Annotated texts, under one caption: HTML draws a coloured layer per annotator over the text."""

    slug: str
    caption: str
    texts: tuple[LayeredText, ...]

    def as_cards(self) -> Cards:
        """The same without layers: every annotator's snippets, named, below the text."""
        cards = []
        for text in self.texts:
            chosen = [
                (name, " … ".join(text.text[start:end] for start, end in spans) or "(nothing)") for name, spans in text.layers
            ]
            cards.append(Card(text.title, (*text.fields, ("Text", text.text), *chosen)))
        return Cards(self.slug, self.caption, tuple(cards))


Block = Heading | Paragraph | Table | Figure | Cards | Layers


@dataclass(frozen=True)
class Document:
    """A whole report.

    policy
        The line that closes it.
    provenance
        (label, value) pairs: command, versions, inputs.
    lead
        What stands below the title: inputs and policy in brief.
    turns
        Every turn with its texts, scores and top passages, as :mod:`robustcs.reporting.turns` describes it; empty without.
    """

    title: str
    blocks: tuple[Block | Picture, ...]
    policy: str
    notes: tuple[str, ...] = ()
    provenance: tuple[tuple[str, str], ...] = ()
    lead: tuple[str, ...] = ()
    turns: Mapping[str, Any] = field(default_factory=dict)
