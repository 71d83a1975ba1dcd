"""Render results for a notebook."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from robustcs.documents.document import Block, Card, Cards, Figure, Heading, Layers, Paragraph, Table
from robustcs.documents.figures import draw_picture, link_turns
from robustcs.documents.text import head_groups, one_line, visible

if TYPE_CHECKING:
    from robustcs.result import Evaluated


def notebook_html(blocks: Iterable[Block], evaluated: Evaluated) -> str:
    """Return tables and figures as an HTML fragment without style, script or links, ending with the policy."""
    parts = [part for block in blocks for part in _fragment(block)]
    notes = [Markup("<p><small>{}</small></p>").format(one_line(note)) for note in evaluated.notes]
    closing = Markup("<p><small>{}</small></p>").format(one_line(evaluated.policy_line))
    return str(Markup("\n").join([*parts, *notes, closing]))


def _fragment(block: Block) -> list[Markup]:
    if isinstance(block, Heading):
        return [Markup("<h{0}>{1}</h{0}>").format(block.level + 2, one_line(block.text))]
    if isinstance(block, Paragraph):
        about = Markup("<strong>{}</strong> ").format(one_line(block.about)) if block.about else ""
        return [Markup("<p>{}{}</p>").format(about, visible(block.text))]
    if isinstance(block, Table):
        return [_table(block)]
    if isinstance(block, Figure):
        svg = Markup(link_turns(draw_picture(block).svg, {}))
        return [Markup("<figure>{}<figcaption>{}</figcaption></figure>").format(svg, one_line(block.caption))]
    if isinstance(block, Layers):
        block = block.as_cards()
    assert isinstance(block, Cards)
    return [Markup("<p><b>{}</b></p>").format(one_line(block.caption)), *map(_card, block.cards)]


def _card(card: Card) -> Markup:
    fields = (Markup("<dt>{}</dt><dd>{}</dd>").format(one_line(name), visible(text)) for name, text in card.fields)
    whole = Markup("<details><summary>{}</summary><dl>{}</dl></details>")
    return whole.format(one_line(card.title), Markup("").join(fields))


def _table(table: Table) -> Markup:
    groups = head_groups(table.columns)
    heads = []
    if any(group for group, _ in groups):
        shared = (Markup('<th colspan="{}">{}</th>').format(span, one_line(group)) for group, span in groups)
        heads.append(Markup("").join(shared))
    heads.append(Markup("").join(Markup("<th>{}</th>").format(one_line(column.title)) for column in table.columns))
    rows = [Markup("").join(Markup("<td>{}</td>").format(one_line(cell)) for cell in row) for row in table.rows]
    line = Markup("<tr>{}</tr>")
    return Markup("<table><caption>{}</caption><thead>{}</thead><tbody>{}</tbody></table><p><small>{}</small></p>").format(
        escape(one_line(table.caption)),
        Markup("").join(map(line.format, heads)),
        Markup("").join(map(line.format, rows)),
        one_line(table.note),
    )
