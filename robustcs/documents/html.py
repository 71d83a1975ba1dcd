"""Render a document as one self-contained HTML file."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from robustcs.documents.document import (
    Block,
    Card,
    Document,
    Figure,
    Fold,
    Heading,
    Paragraph,
    Picture,
    TableBlock,
    TurnLinks,
)
from robustcs.documents.figures import draw_picture, link_turns
from robustcs.documents.page.address import turns_address
from robustcs.documents.page.first import FIRST_TURNS, TURNS, first_turns
from robustcs.documents.panels import MOST_MARKS
from robustcs.documents.style import DARK_COLOURS, DARK_PAPER, PAGE
from robustcs.documents.text import (
    UNSAFE_IN_SCRIPTS,
    head_groups,
    one_line,
    unique_anchor,
    visible,
)
from robustcs.wording import counted

if TYPE_CHECKING:
    from robustcs.result import Evaluated, Result

_TEMPLATES = Path(__file__).parent / "templates"
#: The modules of the page's script in the order in which they need each other.
_MODULES = ("text", "address", "tables", "filter", "turns", "list", "reader", "review", "page")


def result_page(
    title: str,
    result: Result,
    blocks: Sequence[Block],
    inputs: Sequence[Mapping[str, Any]],
    turns: Mapping[str, Any],
) -> str:
    """Return the page of a single result; it lists ``inputs`` at its end. ``turns``: as in :class:`Document`."""
    files = tuple(
        (str(entry["role"]), f"{os.path.basename(entry['path'])} · {entry['rows']} rows")
        for entry in inputs
    )
    evaluated = result.evaluated
    return render_html(
        Document(title, tuple(blocks), evaluated.policy_line, evaluated.notes, files, turns=turns)
    )


def render_html(document: Document) -> str:
    """Return the whole page, with its style, script and figures; it loads nothing.

    The Content-Security-Policy allows only the page's own style and script, by hash, so nothing in the texts can run even if
    escaping failed. With the script, tables can be sorted, filtered and copied, and the turns of ``document.turns`` are listed
    and read. Without it, the page shows everything except passages and all turns after the first ones.
    """
    style = _read(_TEMPLATES / "report.css")
    script = _script()
    if document.turns:
        table = first_turns(document.turns)
        document = replace(document, blocks=(*document.blocks, Heading("All turns"), table))
    style += _dark_colours()
    page = _Page(document)
    opening = [page.entry(block) for block in document.opening.blocks] if document.opening else []
    blocks = list(map(page.entry, document.blocks))
    return (
        _templates()
        .get_template("report.html.j2")
        .render(
            document=document,
            opening=opening,
            blocks=blocks,
            headings=page.headings,
            data=_data(document, page.latex),
            identity=_identity(document),
            # The two files are part of the program and contain no text of a user.
            style=Markup(style),
            script=Markup(script),
            style_hash=_hash(style),
            script_hash=_hash(script),
        )
    )


def notebook_html(blocks: Iterable[Block], evaluated: Evaluated) -> str:
    """Return tables and figures as an HTML fragment without style, script or links, ending with the policy."""
    page = _Page(Document("", tuple(blocks), evaluated.policy_line, evaluated.notes), styled=False)
    show = _templates().get_template("blocks.html.j2").module.show  # type: ignore[attr-defined]
    closing = (
        Markup("<p><small>{}</small></p>").format(one_line(text))
        for text in (*evaluated.notes, evaluated.policy_line)
    )
    return "\n".join([*(show(page.entry(block)) for block in page.document.blocks), *closing])  # type: ignore[arg-type]


def _script() -> str:
    """Return the modules of the script as one, whose names do not leave it."""
    folder = Path(__file__).parent / "page"
    modules = "\n".join(_read(folder / f"{name}.js") for name in _MODULES)
    return f'"use strict";\n(() => {{\n{modules}}})();\n'


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8").replace("\r\n", "\n")


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"line": one_line, "visible": visible}
    environment.globals |= {"turns_address": turns_address, "counted": counted}
    return environment


def _hash(text: str) -> str:
    """Return the source of a Content-Security-Policy that allows exactly this inline text."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _identity(document: Document) -> str:
    """Return an id of the report for the notes of its readers; added runs or judgments do not change it."""
    turns = document.turns
    text = json.dumps([document.title, turns.get("ids"), turns.get("formulations")])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _dark_colours() -> str:
    """Return the style rules for the colours of figures on a dark page; a printed page is white."""
    rules = "".join(
        f'figure svg [{name}="{colour}"]{{{name}:{dark}}}'
        for colour, dark in DARK_COLOURS.items() for name in ("fill", "stroke", "stop-color")
    )  # fmt: skip
    # open dots, and the edges of dots that overlap, are white on white paper; white letters have no edge
    rules += (
        f'figure svg [fill="#ffffff"][stroke]{{fill:{DARK_PAPER}}}'
        f'figure svg [stroke="#ffffff"]{{stroke:{DARK_PAPER}}}'
    )
    return f"@media screen and (prefers-color-scheme:dark){{{rules}}}\n"


def _data(document: Document, latex: Mapping[str, str]) -> str:
    """Return turns and LaTeX tables as compressed JSON, which the script unpacks after the page is shown.

    Compression keeps ten thousand turns small. The browser does not run it, and no text can end it, since it is base64. Texts
    of turns are as they are in the files, so that filters find the same; the script shows control characters as symbols. Empty
    if there are neither turns nor tables.
    """
    if not document.turns and not latex:
        return ""
    shown = {name: visible(text) for name, text in latex.items()}
    packed = json.dumps(
        {"turns": document.turns, "latex": shown, "unsafe": UNSAFE_IN_SCRIPTS},
        ensure_ascii=False,
        separators=(",", ":"),
        allow_nan=False,
    )
    return base64.b64encode(gzip.compress(packed.encode("utf-8", "replace"), 6, mtime=0)).decode()


class _Page:
    """The blocks as the template reads them, each with a unique id.

    ``headings``: text → id, of the headings in the table of contents. ``latex``: id of a table → the table as LaTeX.
    Without the page's style (``styled``), marked texts have no layers, and figures only one width.
    """

    def __init__(self, document: Document, styled: bool = True):
        self.styled = styled
        taken = {
            "content",
            "contents",
            "notes",
            "policy",
            "provenance",
            "reader",
            "help",
            "data",
            "review",
            "where",
            "order",
        }
        self.take = partial(unique_anchor, taken=taken)  # ids are unique in a page
        self.document = document
        self.headings: dict[str, str] = {}
        self.latex: dict[str, str] = {}
        turns = document.turns
        anchors = list(turns.get("anchors", ()))
        # by the shown name, for cells and titles
        self.anchors = dict(zip(map(one_line, turns.get("ids", ())), anchors, strict=True))
        self.titles = dict(zip(anchors, _point_titles(turns), strict=True))
        self.rows = anchors[:FIRST_TURNS]
        for block in document.blocks:
            if isinstance(block, Heading) and block.level == 1:
                self.headings.setdefault(block.text, self.take(block.text))

    def entry(self, block: Block | Picture | Fold | TurnLinks) -> dict[str, Any]:
        """Return one block for the template; only a page with turns has links to them."""
        if isinstance(block, Paragraph):
            read = block.turns if self.document.turns else None
            return {"kind": "paragraph", "block": block, "turns": read}
        if isinstance(block, TurnLinks):
            return {"kind": "turns", "sets": block.sets if self.document.turns else ()}
        if isinstance(block, Heading):
            known = self.headings.get(block.text) if block.level == 1 else None
            return {"kind": "heading", "id": known or self.take(block.text), "block": block}
        if isinstance(block, Fold):
            name = self.take(block.title)
            return {
                "kind": "fold",
                "id": name,
                "block": block,
                "blocks": list(map(self.entry, block.blocks)),
            }
        name = self.take(block.slug)
        if isinstance(block, TableBlock):
            return {"id": name, "block": block, **self._table(name, block)}
        if isinstance(block, Figure | Picture):
            return {"id": name, "block": block, **self._figure(replace(block, slug=name))}
        return {
            "kind": "cards",
            "id": name,
            "block": block,
            "cards": [self._card(name, card) for card in block.cards],
        }

    def _card(self, name: str, card: Card) -> dict[str, Any]:
        return {
            "id": self.take(f"{name}-{card.title}"),
            "card": card,
            "fields": card.fields if self.styled else card.texts,
            "pieces": _pieces(card) if self.styled and card.layers else [],
            "link": self.anchors.get(card.title.split(" · ")[0]),
        }

    def _table(self, name: str, block: TableBlock) -> dict[str, Any]:
        if block.slug in self.document.latex:
            self.latex[name] = self.document.latex[block.slug]
        turns = block.slug == TURNS
        return {
            "kind": "table",
            "groups": head_groups(block.columns),
            # texts, not names or numbers
            "long": [
                column.align == "left" and any(len(row[index]) > 30 for row in block.rows)
                for index, column in enumerate(block.columns)
            ],
            # cells of columns headed "turn" link to their turn
            "links": [
                self.anchors if column.title.lower() == "turn" else {} for column in block.columns
            ],
            "anchors": self.rows if turns else [],
            "rows": block.rows,
        }

    def _figure(self, block: Figure | Picture) -> dict[str, Any]:
        drawn = draw_picture(block)
        titles = self.titles if drawn.svg.count("<a ") <= MOST_MARKS else {}
        wide, column = (
            Markup(link_turns(svg, titles))
            for svg in (drawn.svg, drawn.column if self.styled else "")
        )
        return {
            "kind": "figure",
            "svg": wide,
            "column": column,
            "small": drawn.width < PAGE.inches / 2,
        }


def _point_titles(turns: Mapping[str, Any]) -> list[str]:
    """Return the tooltip of every turn's point: its id and its most explicit text."""
    ids, texts = turns.get("ids", ()), [texts for _, texts in turns.get("texts", ())]
    found = []
    for place, turn in enumerate(ids):
        text = next((one[place] for one in reversed(texts) if one[place]), "")
        found.append(f"{turn}: {text[:200]}" if text else turn)
    return found


def _pieces(card: Card) -> list[tuple[str, list[int], str]]:
    """Return the marked text in pieces between the ends of layers: (piece, numbers of its layers from 1, their names)."""
    ends = {0, len(card.marked)} | {
        end for _, spans in card.layers for span in spans for end in span
    }
    pieces = []
    for start, end in pairwise(sorted(ends)):
        over = [
            (number, name)
            for number, (name, spans) in enumerate(card.layers, 1)
            if any(first <= start and end <= last for first, last in spans)
        ]
        pieces.append(
            (
                card.marked[start:end],
                [number for number, _ in over],
                ", ".join(name for _, name in over),
            )
        )
    return pieces
