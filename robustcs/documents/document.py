"""What every rendered form has in common: a document made of headings, paragraphs, tables, figures and cards.

An analysis result is turned into blocks once (``show.py`` of its study); terminal, Markdown, LaTeX, HTML and PDF render the
same blocks. All strings are plain text, never markup: each renderer escapes them for its own language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

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
    rules
        Indices of rows that have a thin rule above them.
    of
        The table of the result that it shows; empty for a table of its own.
    hint
        How to see more of it at the terminal; no page and no paper has it.
    asked
        Shown only where its table is named.
    """

    slug: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    rules: frozenset[int] = frozenset()
    of: str = ""
    hint: str = ""
    asked: bool = False


@dataclass(frozen=True)
class Figure:
    """A figure, drawn when a renderer needs it. ``alt`` says in words what it shows, for those who do not see it."""

    slug: str
    caption: str
    alt: str
    draw: Callable[[], MatplotlibFigure] = field(repr=False)


@dataclass(frozen=True)
class Picture:
    """A figure that has been drawn: ``<svg>`` elements, whose points may link to turns, and its width in inches.

    ``column``: the same for one column of a paper, and for a phone; empty where ``svg`` is no wider.
    """

    slug: str
    caption: str
    alt: str
    svg: str = field(repr=False)
    width: float
    column: str = field(repr=False, default="")


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


#: What verdicts are about, in the order in which users ask.
Subject = Literal[
    "blame", "drop", "unjudged", "similarity", "rewording", "systems", "differences", "judgments", "reading", "clarification",
    "other", "bias", "agreement",
]  # fmt: skip
SUBJECTS: tuple[Subject, ...] = get_args(Subject)


@dataclass(frozen=True)
class Verdict:
    """One thing to know: a number, and the sentence that it carries.

    number, interval
        ``40%`` and its 95% interval ``31% to 49%``, which is empty where there is none.
    text
        A sentence of plain words that holds the number, without a full stop, or one that goes on from it: ``of the turns …``.
    basis
        What the number goes over, with its denominator: ``69 of 173 turns``.
    weight
        How much is at stake, 0 to 1: a share of the turns, or of the scale of a score. The worst news stand first.
    tone
        The colour that stands for it: ``qa``, ``qr`` or ``correct``, as for the bins; empty for none.
    about
        The heading that tells more.
    subject
        What it is about; None for the subject of the question that it answers.
    caveat
        Why it is less certain than it looks, in whole sentences.
    barred
        It may not open a report.
    """

    number: str
    interval: str
    text: str
    basis: str
    weight: float
    tone: str = ""
    about: str = ""
    subject: Subject | None = None
    caveat: str = ""
    barred: bool = False

    @property
    def between(self) -> str:
        """The interval with its name: ``95% CI 31% to 49%``; empty where there is none."""
        return f"95% CI {self.interval}" if self.interval else ""

    @property
    def sentence(self) -> str:
        """All of it as one sentence, and its caveat."""
        caveat = f" {self.caveat}" if self.caveat else ""
        if self.number in self.text:
            return f"{self.text} ({'; '.join(filter(None, (self.between, self.basis)))}).".replace(") (", "; ") + caveat
        between = f" ({self.between})" if self.interval else ""
        return f"{self.number}{between} {self.text} ({self.basis}).{caveat}"


@dataclass(frozen=True)
class Fold:
    """Blocks for whoever wants more: folded in a page, in the appendix of a PDF unless they are for the page alone.

    In the appendix they stand under the heading that the fold follows.
    """

    title: str
    blocks: tuple[Heading | Paragraph | Table | Figure | Picture | Cards | Layers, ...]
    page_only: bool = False


@dataclass(frozen=True)
class Opening:
    """The first screen and the first page: what was compared, at most three verdicts, one table and one figure."""

    what: str
    verdicts: tuple[Verdict, ...]
    blocks: tuple[Table | Figure | Picture, ...] = ()


Block = Heading | Paragraph | Table | Figure | Cards | Layers


@dataclass(frozen=True)
class Document:
    """A whole report.

    opening
        What the reader meets first.
    policy
        The line that closes it.
    provenance
        (label, value) pairs: command, versions, inputs.
    latex
        Slug of a table → the table as LaTeX, to be copied from the page.
    turns
        Every turn with its texts, scores and top passages, as :mod:`robustcs.reporting.turns` describes it; empty without.
    """

    title: str
    blocks: tuple[Block | Picture | Fold, ...]
    policy: str
    notes: tuple[str, ...] = ()
    provenance: tuple[tuple[str, str], ...] = ()
    opening: Opening | None = None
    latex: Mapping[str, str] = field(default_factory=dict)
    turns: Mapping[str, Any] = field(default_factory=dict)


def every_block(document: Document) -> Iterator[Block | Picture]:
    """All blocks in the order of the page: those that open it, and those inside folds."""
    if document.opening:
        yield from document.opening.blocks
    for block in document.blocks:
        if isinstance(block, Fold):
            yield from block.blocks
        else:
            yield block
