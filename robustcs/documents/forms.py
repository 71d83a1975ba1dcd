"""Write a result in each output format, for the command line and for Python."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from robustcs.documents.data import to_csv, to_json
from robustcs.documents.document import Block, Figure, Heading, Paragraph, TableBlock
from robustcs.documents.tables import collection_tables, plain_tables
from robustcs.documents.text import one_line
from robustcs.errors import UsageError
from robustcs.version import __version__

if TYPE_CHECKING:
    from robustcs.result import Result


def chosen_tables(result: Result, names: Sequence[str]) -> list[str]:
    """Return ``names`` in the result's order, or all. Raises :class:`UsageError` if the result has no such table."""
    tables = list(result.tables)
    for name in names:
        if name not in tables:
            raise UsageError(
                "no-such-table", f"no table is named {name!r}", f"choose from {', '.join(tables)}"
            )
    return [name for name in tables if not names or name in names]


def shown_blocks(result: Result, blocks: Sequence[Block], names: Sequence[str]) -> list[Block]:
    """Return the blocks of the tables ``names``, with the headings and sentences above them.

    Without names: all blocks, except tables that must be named. A table without a block is shown unformatted.
    """
    if not names:
        return [
            *(
                block
                for block in blocks
                if not (isinstance(block, TableBlock) and block.on_request)
            ),
            *collection_tables(result),
        ]
    shown: list[Block] = []
    missing = set(names)
    above: list[Heading | Paragraph] = []
    for block in blocks:
        if isinstance(block, Heading):
            above = [
                *(one for one in above if isinstance(one, Heading) and one.level < block.level),
                block,
            ]
        elif isinstance(block, Paragraph):
            above.append(block)
        elif isinstance(block, TableBlock) and block.of in names:
            missing.discard(block.of)
            shown += [*above, block]
            above = []
        else:
            above = [one for one in above if isinstance(one, Heading)]
    for name in (name for name in names if name in missing):
        shown += (
            collection_tables(result, name)
            if name in result.by_collection
            else plain_tables(result, [name])
        )
    return shown


def data_of(
    form: str,
    command: str,
    result: Result,
    inputs: Sequence[Mapping[str, Any]],
    names: Sequence[str] = (),
) -> str:
    """Return the tables of ``names`` for programs: ``json``, or the first of them as ``csv`` or ``raw-csv``."""
    tables = chosen_tables(result, names)
    if form == "json":
        evaluated = result.evaluated
        every = {name: result.table(name) for name in tables}
        return to_json(command, __version__, evaluated.as_dict(), inputs, every, evaluated.notes)
    return to_csv(result.table(tables[0]), raw=form == "raw-csv")


def text_of(
    form: str,
    result: Result,
    blocks: Sequence[Block],
    names: Sequence[str] = (),
    terminal: bool = False,
) -> str:
    """Return the tables of ``names`` for people: ``latex``, ``markdown``, ``html``, or ``table`` (as on a terminal).

    ``terminal``: the text is for a terminal, whose width and colours apply.
    """
    chosen_tables(result, names)
    blocks, evaluated = shown_blocks(result, blocks, names), result.evaluated
    if form == "latex":
        from robustcs.documents.latex import render_latex

        return render_latex(blocks, evaluated.policy_line, evaluated.notes)
    if form == "markdown":
        return render_markdown(blocks, evaluated.policy_line, evaluated.notes)
    if form == "html":
        from robustcs.documents.html import notebook_html

        return notebook_html(blocks, evaluated)
    return _terminal_text(blocks, evaluated.policy_line, evaluated.notes, terminal)


def _terminal_text(
    blocks: Sequence[Block], policy: str, notes: Sequence[str], terminal: bool
) -> str:
    import io

    from rich.console import Console

    from robustcs.documents.terminal import render_terminal

    text = io.StringIO()
    columns = os.environ.get("COLUMNS", "")
    width = None if terminal else int(columns) if columns.isdecimal() and int(columns) else 80
    console = Console(
        file=text,
        force_terminal=terminal,
        width=width,
        no_color=not terminal or "NO_COLOR" in os.environ,
    )
    render_terminal(blocks, policy, notes, console)
    return text.getvalue()


# ---------------------------------------------------------------- GitHub-flavoured Markdown

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
    elif isinstance(block, TableBlock):
        yield from _table(block)
    elif isinstance(block, Figure):
        yield f"**{_text(block.caption)}**"
        yield _line(block.alt)
    else:
        yield f"**{_text(block.caption)}**"
        for card in block.cards:
            yield f"#### {_text(card.title)}"
            yield "\n".join(f"- **{_text(label)}:** {_text(text)}" for label, text in card.texts)


def _table(table: TableBlock) -> Iterable[str]:
    yield f"**{_text(table.caption)}**"
    heads = [
        _text(f"{column.group} · {column.title}" if column.group else column.title)
        for column in table.columns
    ]
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
