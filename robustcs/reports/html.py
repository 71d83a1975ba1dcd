"""A document as one self-contained HTML file."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from robustcs.reports.document import Cards, Document, Figure, Heading, Paragraph, Table
from robustcs.reports.figures import FULL_WIDTH, svg_text
from robustcs.reports.text import anchor, head_groups, one_line, visible

_TEMPLATES = Path(__file__).parent / "templates"


def render_html(document: Document) -> str:
    """The whole page: style, script and figures inside, nothing loaded from anywhere.

    Its Content-Security-Policy admits only the style and the script that stand in it, by hash, so that nothing in the
    texts can run even if it escaped the escaping. Without the script the page shows everything; with it tables can be
    sorted and filtered.
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
    return environment.get_template("report.html.j2").render(
        document=document,
        blocks=_blocks(document),
        # The two files are part of the program and hold no text of a user.
        style=Markup(style),
        script=Markup(script),
        style_hash=_hash(style),
        script_hash=_hash(script),
    )


def _hash(text: str) -> str:
    """A source of a Content-Security-Policy that admits exactly this inlined text."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _blocks(document: Document) -> list[dict[str, Any]]:
    """The blocks as the template wants them, each with an id of its own in the page."""
    ids = _Ids()
    blocks: list[dict[str, Any]] = []
    for block in document.blocks:
        if isinstance(block, Heading):
            blocks.append({"kind": "heading", "id": ids.take(block.text), "block": block})
        elif isinstance(block, Paragraph):
            blocks.append({"kind": "paragraph", "block": block})
        elif isinstance(block, Table):
            groups = head_groups(block.columns)
            blocks.append(
                {
                    "kind": "table",
                    "id": ids.take(block.slug),
                    "block": block,
                    "groups": groups if any(group for group, _ in groups) else [],
                    "long": [_is_long(block, index) for index in range(len(block.columns))],
                }
            )
        elif isinstance(block, Figure):
            name = ids.take(block.slug)
            drawn = block.draw()
            svg = Markup(svg_text(drawn, name, block.alt))
            narrow = drawn.get_figwidth() < FULL_WIDTH / 2
            blocks.append({"kind": "figure", "id": name, "block": block, "svg": svg, "narrow": narrow})
        elif isinstance(block, Cards):
            name = ids.take(block.slug)
            cards = [{"id": ids.take(f"{name}-{card.title}"), "card": card} for card in block.cards]
            blocks.append({"kind": "cards", "id": name, "block": block, "cards": cards})
    return blocks


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
