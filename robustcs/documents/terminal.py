"""Render blocks for a terminal: tables fit its width, with simple rules and no boxes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Literal, TypeAlias

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from robustcs.documents.document import Block, Cards, Figure, Heading, Paragraph, TableBlock
from robustcs.documents.text import column_batches, head_groups, one_line, visible, widened

Align: TypeAlias = Literal["left", "center", "right"]

#: Characters between columns, and the smallest width of a column of long texts; a table that does not fit gets the next.
_LAYOUTS = ((2, 16), (1, 16), (1, 8))


def render_terminal(
    blocks: Iterable[Block], policy: str, notes: Sequence[str], console: Console
) -> None:
    """Print ``blocks``, the notes and the policy line.

    Tables fit ``console.width``: long texts fold, numbers never do, and columns move closer. A table that is still too wide is
    split into several of about the same width, each with the row names. Texts come from input files: they are not read as
    rich markup, and control characters are shown as symbols.
    """
    for block in blocks:
        if isinstance(block, Heading):
            _print(
                console,
                Text(one_line(block.text), "bold underline" if block.level == 1 else "bold"),
            )
        elif isinstance(block, Paragraph):
            _print(console, Text(visible(block.text)))
        elif isinstance(block, TableBlock):
            _table(block, console)
        elif isinstance(block, Figure):
            _print(console, Text(f"Figure: {one_line(block.caption)}", "dim"))
        else:
            _cards(block, console)
        _print(console, Text())
    for note in notes:
        _print(console, Text(f"Note: {one_line(note)}"))
    _print(console, Text(one_line(policy), "dim"))


def _print(console: Console, line: Text, indent: int = 0) -> None:
    for part in line.wrap(console, console.width - indent, overflow="fold"):
        part.rstrip()
        console.print(Text(" " * indent).append_text(part), no_wrap=True, highlight=False)


def _cards(block: Cards, console: Console) -> None:
    _print(console, Text(one_line(block.caption), "bold"))
    for card in block.cards:
        _print(console, Text())
        _print(console, Text(one_line(card.title), "bold"), 2)
        for label, text in card.texts:
            _print(console, Text(one_line(label), "dim"), 4)
            _print(console, Text(visible(text)), 6)


def _table(table: TableBlock, console: Console) -> None:
    _print(console, Text(one_line(table.caption), "bold"))
    columns = tuple(replace(column, title=one_line(column.title)) for column in table.columns)
    table = replace(
        table, columns=columns, rows=tuple(tuple(map(one_line, row)) for row in table.rows)
    )
    natural = [
        max(map(cell_len, (column.title, *(row[index] for row in table.rows))))
        for index, column in enumerate(columns)
    ]
    for gutter, narrowest in _LAYOUTS:
        wide = widened(columns, natural, cell_len, gutter)
        least = [_least(table, index, natural[index], narrowest) for index in range(len(columns))]
        least = widened(columns, least, _longest_word, gutter)
        batches = column_batches(columns, least, gutter, console.width)
        if len(batches) == 1:
            break
    for batch in batches:
        widths = _fit(
            [wide[index] for index in batch],
            [least[index] for index in batch],
            gutter,
            console.width,
        )
        _grid(table.part(batch), widths, gutter, console)
    if table.note or table.hint:
        _print(console, Text(one_line(f"{table.note} {table.hint}"), "dim"))


def _least(table: TableBlock, index: int, natural: int, narrowest: int) -> float:
    """Return the smallest width of a column: titles fold between words, numbers only before their interval."""
    title = _longest_word(table.columns[index].title)
    if table.columns[index].align == "left":
        return min(natural, max(narrowest, title))
    return max(
        [
            title,
            *(
                cell_len(part)
                for row in table.rows
                for part in _interval_below(row[index]).split("\n")
            ),
        ]
    )


def _fit(natural: list[float], least: list[float], gutter: int, available: int) -> list[int]:
    """Return widths between ``least`` and ``natural`` if they fit; the widest column shrinks first."""
    widths = [int(width) for width in natural]
    while sum(widths) + gutter * (len(widths) - 1) > available:
        index = max(
            range(len(widths)), key=lambda index: (widths[index] > least[index], widths[index])
        )
        if widths[index] <= least[index]:
            break
        widths[index] -= 1
    return [min(width, available) for width in widths]


def _longest_word(text: str) -> int:
    return max((cell_len(word) for word in text.split()), default=0)


def _grid(table: TableBlock, widths: list[int], gutter: int, console: Console) -> None:
    aligns = [column.align for column in table.columns]
    rule = Text("─" * (sum(widths) + gutter * (len(widths) - 1)), "dim")
    console.print(rule)
    if groups := head_groups(table.columns):  # each is centred over its columns, above a rule
        rest = iter(widths)
        spans = [sum(islice(rest, span)) + gutter * (span - 1) for _, span in groups]
        _row(
            [one_line(group) for group, _ in groups],
            "bold",
            ["center"] * len(groups),
            spans,
            gutter,
            console,
        )
        rules = [
            "─" * width if group else "" for (group, _), width in zip(groups, spans, strict=True)
        ]
        _row(rules, "dim", ["left"] * len(groups), spans, gutter, console)
    _row([column.title for column in table.columns], "bold", aligns, widths, gutter, console)
    console.print(rule)
    for number, row in enumerate(table.rows):
        if number and number in table.rules:
            console.print(rule)
        _row(row, "", aligns, widths, gutter, console)
    console.print(rule)


def _row(
    cells: Sequence[str],
    style: str,
    aligns: Sequence[Align],
    widths: Sequence[int],
    gutter: int,
    console: Console,
) -> None:
    """Print the lines of one row; cells of heads, which are bold, are aligned at their last line."""
    folded = [_folded(cell, width, console) for cell, width in zip(cells, widths, strict=True)]
    height = max((len(lines) for lines in folded), default=0)
    for number in range(height):
        parts = []
        for lines, align, width in zip(folded, aligns, widths, strict=True):
            at = number - (height - len(lines)) if style == "bold" else number
            parts.append(Text(lines[at] if 0 <= at < len(lines) else "", style))
            parts[-1].align(align, width)
        line = Text(" " * gutter).join(parts)
        line.rstrip()
        console.print(line, no_wrap=True, highlight=False)


def _interval_below(cell: str) -> str:
    """Split a number and its interval, ``0.512 (0.430 to 0.600)``, into two lines."""
    return re.sub(r"(?<=[\d%]) (?=\([^()]* to [^()]*\)$)", "\n", cell)


def _parted(word: str, width: int) -> str:
    """Break a name that is too long where its parts end: ``gpt4o/ru_`` and ``monot5``."""
    lines = [""]
    for part in re.findall(r"[^_/:.-]*[_/:.-]+|.+", word) if cell_len(word) > width else [word]:
        if lines[-1] and cell_len(lines[-1] + part) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def _folded(cell: str, width: int, console: Console) -> list[str]:
    if cell_len(cell) <= width:
        return [cell]
    cell = re.sub(r"\S+", lambda word: _parted(word[0], width), _interval_below(cell))
    return [line.plain.rstrip() for line in Text(cell).wrap(console, width, overflow="fold")]
