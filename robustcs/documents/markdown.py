"""Render blocks as GitHub-flavoured Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from robustcs.documents.document import Block, Figure, Heading, Paragraph, Table
from robustcs.documents.text import one_line

#: Characters with a meaning in Markdown; an underscore inside a word (``ndcg_cut_3``) is plain text.
_MARKUP = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])")
#: Starts of a line that would make it a list, a heading, a quotation or a rule.
_LINE_START = re.compile(r"^(\d{1,9})?([-+#>=.)])")


def render_markdown(blocks: Iterable[Block], policy: str, notes: Sequence[str] = ()) -> str:
    """Return the blocks, the notes and the policy line. A figure becomes its caption and its description."""
    parts = [part for block in blocks for part in _block(block)]
    parts += [f"Note: {_text(note)}" for note in notes]
    parts.append(f"*{_text(policy)}*")
    return "\n\n".join(parts) + "\n"


def _block(block: Block) -> Iterable[str]:
    if isinstance(block, Heading):
        yield f"{'#' * (block.level + 1)} {_text(block.text)}"
    elif isinstance(block, Paragraph):
        yield _line(block.text)
    elif isinstance(block, Table):
        yield from _table(block)
    elif isinstance(block, Figure):
        yield f"**{_text(block.caption)}**"
        yield _line(block.alt)
    else:
        yield f"**{_text(block.caption)}**"
        for card in block.cards:
            yield f"#### {_text(card.title)}"
            yield "\n".join(f"- **{_text(label)}:** {_text(text)}" for label, text in card.texts)


def _table(table: Table) -> Iterable[str]:
    yield f"**{_text(table.caption)}**"
    heads = [_text(f"{column.group} · {column.title}" if column.group else column.title) for column in table.columns]
    rules = ["---:" if column.align == "right" else ":---" for column in table.columns]
    rows = [heads, rules, *([_text(cell) for cell in row] for row in table.rows)]
    yield "\n".join("| " + " | ".join(row) + " |" for row in rows)
    if table.note:
        yield _line(table.note)


def _text(text: str) -> str:
    escaped = one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKUP.sub(lambda match: "\\" + match[0], escaped)


def _line(text: str) -> str:
    return _LINE_START.sub(lambda match: f"{match[1] or ''}\\{match[2]}", _text(text))
