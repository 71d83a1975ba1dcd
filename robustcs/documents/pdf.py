"""Render a document as PDF, typeset by typst."""

from __future__ import annotations

import json
import os
from typing import Any

from robustcs.documents.document import (
    Cards,
    Document,
    Figure,
    Fold,
    Heading,
    Paragraph,
    Picture,
    TableBlock,
    TurnLinks,
)
from robustcs.documents.figures import draw_picture, link_turns, typeset
from robustcs.documents.text import breakable, column_batches, head_groups, one_line, visible

#: The first comes with typst; the second, with matplotlib, has other characters and the letters of figures.
_FONTS = ["Libertinus Serif", "DejaVu Sans"]
#: Width of the text in points, and the rough width of a character as a share of the font size.
_TEXT_WIDTH = 470.0
_CHARACTER = 0.52
_GUTTER = 1.8  # characters
_SIZES = (9.0, 8.0, 7.0)
#: Longer cells are set as texts that share the width, with at least this number of characters.
_LONG_CELL = 24
#: Properties of a verdict on the first page.
_VERDICT = ("number", "between", "text", "caveat", "basis", "tone")


def render_pdf(document: Document) -> bytes:
    """Return the document as A4 pages, without turns to read.

    The same document gives the same bytes; :func:`typeset` describes the fonts.

    ``SOURCE_DATE_EPOCH`` is the date in the file; without it, the file has no date.
    """
    epoch, opening = os.environ.get("SOURCE_DATE_EPOCH", ""), document.opening
    first = opening and {
        "what": _line(opening.what),
        "verdicts": [
            {name: _line(getattr(verdict, name)) for name in _VERDICT}
            for verdict in opening.verdicts
        ],
        "blocks": list(map(_block, opening.blocks)),
    }
    data: dict[str, Any] = {
        "title": _line(document.title),
        "opening": first,
        "blocks": [
            _block(block)
            for block in document.blocks
            if not isinstance(block, Fold | Cards | TurnLinks)
        ],
        "appendix": _appendix(document),
        "notes": [_line(note) for note in document.notes],
        "policy": _line(document.policy),
        "provenance": [(_line(label), _text(value)) for label, value in document.provenance],
        "fonts": _FONTS,
        "dated": epoch.isdigit(),
    }
    inputs = {"document": json.dumps(data, ensure_ascii=False)}
    return typeset("report.typ", inputs, int(epoch) if epoch.isdigit() else None)


def _appendix(document: Document) -> list[dict[str, Any]]:
    """Return the folded parts of the page, each with the heading that it follows."""
    parts = []
    title = ""
    for block in document.blocks:
        if isinstance(block, Heading):
            title = block.text
        elif isinstance(block, Fold) and not block.page_only:
            shown = [_block(one) for one in block.blocks if not isinstance(one, Cards)]
            parts.append({"title": _line(title or block.title), "blocks": shown})
    return parts


def _block(block: Heading | Paragraph | TableBlock | Figure | Picture) -> dict[str, Any]:
    if isinstance(block, Heading):
        return {"kind": "heading", "level": block.level, "text": _line(block.text)}
    if isinstance(block, Paragraph):
        return {"kind": "paragraph", "text": _text(block.text)}
    if isinstance(block, TableBlock):
        return {
            "kind": "table",
            "caption": _line(block.caption),
            "note": _line(block.note),
            "parts": _parts(block),
        }
    drawn = draw_picture(block)
    caption, alt = _line(drawn.caption), one_line(drawn.alt)
    return {
        "kind": "figure",
        "svg": link_turns(drawn.svg, {}),
        "alt": alt,
        "caption": caption,
        "width": drawn.width,
    }


def _parts(table: TableBlock) -> list[dict[str, Any]]:
    """Return the table at the largest font size at which it fits; if none does, split at the smallest."""
    titles = [max(map(len, one_line(column.title).split()), default=0) for column in table.columns]
    cells = [
        max((len(one_line(row[index])) for row in table.rows), default=0)
        for index in range(len(titles))
    ]
    least = [max(title, min(cell, _LONG_CELL)) for title, cell in zip(titles, cells, strict=True)]
    for size in _SIZES:
        batches = column_batches(table.columns, least, _GUTTER, _TEXT_WIDTH / (_CHARACTER * size))
        if len(batches) == 1:
            break
    return [_part(table.part(batch), [cells[index] for index in batch], size) for batch in batches]


def _part(table: TableBlock, cells: list[int], size: float) -> dict[str, Any]:
    groups = [(_line(group), span) for group, span in head_groups(table.columns)]
    return {
        "size": size,
        # Shares of the free width for long texts; 0 is a column as wide as its cells.
        "widths": [min(width, 4 * _LONG_CELL) if width > _LONG_CELL else 0 for width in cells],
        "aligns": [column.align for column in table.columns],
        "heads": 2 if groups else 1,
        "groups": groups,
        "titles": [_line(column.title) for column in table.columns],
        "rows": [list(map(_line, row)) for row in table.rows],
        "rules": sorted(table.rules - {0}),
    }


def _line(text: str) -> str:
    return breakable(one_line(text))


def _text(text: str) -> str:
    return breakable(visible(text))
