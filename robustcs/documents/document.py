"""The document that all renderers share: headings, paragraphs, tables, figures and cards.

``show.py`` of a study turns its result into blocks; terminal, Markdown, LaTeX, HTML and PDF render the same blocks. All
strings are plain text, never markup: each renderer escapes them for its own language.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

    from robustcs.documents.width import Width


@dataclass(frozen=True)
class TurnSet:
    """Turns that a page lists.

    says
        What they are, in the plural: ``rewriter errors``.
    where
        The filter that selects them (:mod:`robustcs.records.filter`).
    count
        Their number.
    sort
        The order of the list; empty for that of their ids.
    """

    says: str
    where: str
    count: int
    sort: str = ""


@dataclass(frozen=True)
class Heading:
    """A heading: a question that the document answers (``level`` 1), or a part of the answer (2)."""

    text: str
    level: int = 1


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of text; ``turns``, if any, are those behind its number, to which a page links."""

    text: str
    turns: TurnSet | None = None


@dataclass(frozen=True)
class TurnLinks:
    """Links to the turns of a section that are worth reading; only a page has them."""

    sets: tuple[TurnSet, ...]


@dataclass(frozen=True)
class Column:
    """A table column; adjacent columns of the same ``group`` get a shared head above their titles."""

    title: str
    align: Literal["left", "right"] = "right"
    group: str = ""


@dataclass(frozen=True)
class TableBlock:
    """A table of rounded values; ``caption`` says what is counted, and ``note`` out of what.

    slug
        Lower-case name, unique within a document; used for labels, anchors and file names.
    rules
        Indices of rows that have a thin rule above them.
    of
        The table of the result that it shows; empty if there is none.
    hint
        How to see more of it, for the terminal only.
    on_request
        Shown only if its table is named.
    """

    slug: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    rules: frozenset[int] = frozenset()
    of: str = ""
    hint: str = ""
    on_request: bool = False

    def part(self, places: Sequence[int]) -> TableBlock:
        """Return the table with some of its columns."""
        rows = tuple(tuple(row[place] for place in places) for row in self.rows)
        return replace(self, columns=tuple(self.columns[place] for place in places), rows=rows)


@dataclass(frozen=True)
class Figure:
    """A figure, drawn when a renderer needs it.

    alt
        Describes it in words, for screen readers.
    draw
        Draws it with matplotlib for a width, with the rcParams in force: :func:`robustcs.documents.figures.drawn` sets those
        of :mod:`robustcs.documents.style`.
    """

    slug: str
    caption: str
    alt: str
    draw: Callable[[Width], MatplotlibFigure] = field(repr=False)


@dataclass(frozen=True)
class Picture:
    """A figure that has been drawn: an ``<svg>`` element, whose points may link to turns, and its width in inches.

    ``column``: the figure for one column of a paper, or for a phone; empty if ``svg`` is no wider.
    """

    slug: str
    caption: str
    alt: str
    svg: str = field(repr=False)
    width: float
    column: str = field(repr=False, default="")


#: The largest number of layers that remain distinguishable over one text.
MAX_LAYERS = 8


@dataclass(frozen=True)
class Card:
    """A text to read: a title, labelled texts, and below them a text of which parts are marked.

    layers
        (name, half-open [start, end) spans of ``marked`` in characters), such as the snippets that an annotator selected; at
        most :data:`MAX_LAYERS`. HTML draws a coloured layer for each over the text.
    """

    title: str
    fields: tuple[tuple[str, str], ...]
    marked: str = ""
    layers: tuple[tuple[str, tuple[tuple[int, int], ...]], ...] = ()

    @property
    def texts(self) -> tuple[tuple[str, str], ...]:
        """The labelled texts without colours: the parts of each layer follow the marked text."""
        if not self.layers:
            return self.fields
        parts = [
            (name, " … ".join(self.marked[start:end] for start, end in spans))
            for name, spans in self.layers
        ]
        return (
            *self.fields,
            ("Text", self.marked),
            *((name, part or "(nothing)") for name, part in parts),
        )


@dataclass(frozen=True)
class Cards:
    """Texts to read, under one caption."""

    slug: str
    caption: str
    cards: tuple[Card, ...]


#: What verdicts are about, in the order in which users ask.
Subject = Literal[
    "blame", "drop", "unjudged", "similarity", "rewording", "systems", "differences", "judgments", "reading", "clarification",
    "other", "bias", "agreement",
]  # fmt: skip
SUBJECTS: tuple[Subject, ...] = get_args(Subject)


@dataclass(frozen=True)
class Verdict:
    """The main conclusion of an analysis: a number and a sentence.

    number, interval
        ``40%`` and its 95% interval ``31% to 49%``; the interval is empty if there is none.
    text
        A sentence that contains the number, without a full stop.
    basis
        The denominator of the number: ``69 of 173 turns``.
    weight
        The effect, 0 to 1: a share of the turns, or of the range of a score. The largest comes first.
    tone
        Its colour: ``qa``, ``qr`` or ``correct``, as for the bins; empty for none.
    about
        The heading with the details.
    subject
        Its subject; None for the subject of the question that it answers.
    caveat
        Why it is less certain than it looks, in whole sentences.
    barred
        Whether it must not open a report.
    turns, count, sort
        The filter that selects the turns behind the number (:mod:`robustcs.records.filter`), how many it selects, and the order
        in which to read them; empty and 0 if it is not about a set of turns.
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
    turns: str = ""
    count: int = 0
    sort: str = ""

    @property
    def read(self) -> TurnSet | None:
        """The turns behind the number; None if there are none."""
        return TurnSet("turns", self.turns, self.count, self.sort) if self.count else None

    @property
    def between(self) -> str:
        """The interval with its name: ``95% CI 31% to 49%``; empty where there is none."""
        return f"95% CI {self.interval}" if self.interval else ""

    @property
    def sentence(self) -> str:
        """The verdict with its interval and basis, followed by its caveat.

        Interval and basis follow the clause that contains the number.
        """
        end = _end_of_clause(self.text, self.number)
        basis = "; ".join(filter(None, (self.between, self.basis)))
        clause = f"{self.text[:end]} ({basis})".replace(") (", "; ") if basis else self.text[:end]
        return f"{clause}{self.text[end:]}. {self.caveat}".rstrip()


def _end_of_clause(text: str, number: str) -> int:
    """Return the position of the first semicolon or full stop after ``number`` outside brackets; else the end of the text."""
    depth = 0
    for place in range(text.index(number) + len(number), len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if depth <= 0 and text[place : place + 2] in ("; ", ". "):
            return place
    return len(text)


@dataclass(frozen=True)
class Fold:
    """Further details: folded in a page and, unless ``page_only``, in the appendix of a PDF.

    The appendix repeats the heading above the fold.
    """

    title: str
    blocks: tuple[Heading | Paragraph | TableBlock | Figure | Picture | Cards, ...]
    page_only: bool = False


@dataclass(frozen=True)
class Opening:
    """The first screen or page: what was compared, at most three verdicts, one table and one figure."""

    what: str
    verdicts: tuple[Verdict, ...]
    blocks: tuple[TableBlock | Figure | Picture, ...] = ()


Block = Heading | Paragraph | TableBlock | Figure | Cards


@dataclass(frozen=True)
class Document:
    """A whole report.

    opening
        The first screen.
    policy
        The policy line at the end.
    provenance
        (label, value) pairs: command, versions, inputs.
    latex
        Slug of a table → the table as LaTeX, which the page copies.
    turns
        All turns, as described in :mod:`robustcs.documents.page.pack`; may be empty.
    """

    title: str
    blocks: tuple[Block | Picture | Fold | TurnLinks, ...]
    policy: str
    notes: tuple[str, ...] = ()
    provenance: tuple[tuple[str, str], ...] = ()
    opening: Opening | None = None
    latex: Mapping[str, str] = field(default_factory=dict)
    turns: Mapping[str, Any] = field(default_factory=dict)


def begun(blocks: Sequence[Block], misfit: str, unordered: bool) -> tuple[Block, ...]:
    """Return the blocks of a study after a sentence on judgments that do not fit the collection (``misfit``; may be empty).

    ``unordered``: its last clause, what the judgments cannot tell, also begins the caption of every table and figure.
    """
    if not misfit:
        return tuple(blocks)
    clause = misfit.rpartition(": ")[2]
    told = f"{clause[0].upper()}{clause[1:]}. "
    if unordered:
        blocks = [
            replace(one, caption=told + one.caption)
            if isinstance(one, TableBlock | Figure)
            else one
            for one in blocks
        ]
    said = misfit if unordered else f"{misfit}; scores depend on it"
    return Paragraph(f"{said}."), *blocks
