"""A document as one self-contained HTML file."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from robustcs.documents.document import Cards, Document, Figure, Heading, LayeredText, Layers, Paragraph, Picture, Table
from robustcs.documents.figures import FULL_WIDTH, draw_picture, link_turns
from robustcs.documents.text import anchor, head_groups, one_line, turn_anchor, visible
from robustcs.documents.turn_table import TURNS, turn_table

_TEMPLATES = Path(__file__).parent / "templates"


def render_html(document: Document) -> str:
    """The whole page: style, script and figures inside, nothing loaded from anywhere.

    Its Content-Security-Policy admits only the style and the script that stand in it, by hash, so that nothing in the
    texts can run even if it escaped the escaping. With the script tables can be sorted and filtered, and every turn of
    ``document.turns`` opens as a card; without it the page shows everything but the passages.
    """
    style, script = (
        (_TEMPLATES / name).read_text(encoding="utf-8").replace("\r\n", "\n") for name in ("report.css", "report.js")
    )
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"line": one_line, "visible": visible}
    if document.turns:
        table = turn_table(document.turns)
        document = replace(document, blocks=(*document.blocks, Heading("All turns"), table))
    return environment.get_template("report.html.j2").render(
        document=document,
        blocks=_blocks(document),
        turn_data=_turn_data(document.turns),
        # The two files are part of the program and hold no text of a user.
        style=Markup(style),
        script=Markup(script),
        style_hash=_hash(style),
        script_hash=_hash(script),
    )


def _hash(text: str) -> str:
    """A source of a Content-Security-Policy that admits exactly this inlined text."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _turn_data(turns: Mapping[str, Any]) -> Markup:
    """The turns as JSON that no text can end: as data of the page it is read, never run."""
    if not turns:
        return Markup("")
    data = {**turns, "turns": [{**turn, "anchor": turn_anchor(turn["turn"])} for turn in turns["turns"]]}
    text = json.dumps(_visible(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _visible(value: Any) -> Any:
    """All texts inside a JSON value made harmless."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {key: _visible(entry) for key, entry in value.items()}
    return list(map(_visible, value)) if isinstance(value, list | tuple) else value


def _blocks(document: Document) -> list[dict[str, Any]]:
    """The blocks as the template wants them, each with an id of its own in the page."""
    ids = _Ids()
    blocks: list[dict[str, Any]] = []
    names = [turn["turn"] for turn in document.turns.get("turns", ())]
    # by the name as it is shown, for cells and titles
    anchors = {one_line(name): turn_anchor(name) for name in names}
    titles = {turn_anchor(turn["turn"]): _point_title(turn) for turn in document.turns.get("turns", ())}
    for block in document.blocks:
        if isinstance(block, Heading):
            blocks.append({"kind": "heading", "id": ids.take(block.text), "block": block})
        elif isinstance(block, Paragraph):
            blocks.append({"kind": "paragraph", "block": block, "link": ""})
        elif isinstance(block, Table):
            groups = head_groups(block.columns)
            blocks.append(
                {
                    "kind": "table",
                    "id": ids.take(block.slug),
                    "block": block,
                    "groups": groups if any(group for group, _ in groups) else [],
                    "long": [_is_long(block, index) for index in range(len(block.columns))],
                    "links": _links(block, anchors),
                    "more": [row for row in range(len(block.rows)) if block.continues(row)],
                    "rows": list(map(turn_anchor, names)) if block.slug == TURNS else [],
                }
            )
        elif isinstance(block, Figure | Picture):
            name = ids.take(block.slug)
            drawn = draw_picture(replace(block, slug=name)) if isinstance(block, Figure) else block
            svg = Markup(link_turns(drawn.svg, titles))
            narrow = drawn.width < FULL_WIDTH / 2
            blocks.append({"kind": "figure", "id": name, "block": block, "svg": svg, "narrow": narrow})
        elif isinstance(block, Cards):
            name = ids.take(block.slug)
            cards = [
                {"id": ids.take(f"{name}-{card.title}"), "card": card, "link": anchors.get(card.title.split(" · ")[0])}
                for card in block.cards
            ]
            blocks.append({"kind": "cards", "id": name, "block": block, "cards": cards})
        elif isinstance(block, Layers):
            name = ids.take(block.slug)
            texts = [{"id": ids.take(f"{name}-{text.title}"), "text": text, "pieces": _pieces(text)} for text in block.texts]
            blocks.append({"kind": "layers", "id": name, "block": block, "texts": texts})
    headings = {entry["block"].text: entry["id"] for entry in blocks if entry["kind"] == "heading"}
    for entry in blocks:
        if entry["kind"] == "paragraph":
            entry["link"] = headings.get(entry["block"].about, "")
    return blocks


def _links(table: Table, anchors: dict[str, str]) -> list[dict[str, str]]:
    """Per column, cell → the turn that it names; only columns headed "turn" name turns."""
    return [anchors if column.title.lower() == "turn" else {} for column in table.columns]


def _point_title(turn: Mapping[str, Any]) -> str:
    """What a pointer over a turn's point is told: its id and its clearest text."""
    text = next((text for text in reversed(turn["texts"]) if text), "")
    return f"{turn['turn']}: {text[:200]}" if text else str(turn["turn"])


def _pieces(text: LayeredText) -> list[tuple[str, list[int], str]]:
    """The text cut where any layer starts or ends: (piece, numbers of its layers from 1, their names)."""
    ends = {0, len(text.text)} | {end for _, spans in text.layers for span in spans for end in span}
    pieces = []
    for start, end in pairwise(sorted(ends)):
        over = [
            (number, name)
            for number, (name, spans) in enumerate(text.layers, 1)
            if any(first <= start and end <= last for first, last in spans)
        ]
        pieces.append((text.text[start:end], [number for number, _ in over], ", ".join(name for _, name in over)))
    return pieces


def _is_long(table: Table, index: int) -> bool:
    """Whether a column holds texts, not names or numbers."""
    return table.columns[index].align == "left" and any(len(row[index]) > 30 for row in table.rows)


class _Ids:
    """Ids that are safe in a page and stand there once."""

    def __init__(self) -> None:
        self.taken = {"content", "contents", "notes", "policy", "provenance"}

    def take(self, text: str) -> str:
        name = anchor(text)
        candidate, number = name, 2
        while candidate in self.taken:
            candidate, number = f"{name}-{number}", number + 1
        self.taken.add(candidate)
        return candidate
