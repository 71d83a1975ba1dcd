"""Render tables as LaTeX with booktabs, ready for a paper."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from robustcs.documents.document import Block, Cards, Column, Figure, Layers, Table
from robustcs.documents.text import anchor, breakable, column_batches, head_groups, one_line

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "`": r"\textasciigrave{}",
    "--": "-{}-",  # two hyphens would become a dash
    # A bracket after \\ would be read as its argument.
    "[": "{[}",
    "]": "{]}",
    "\u00a0": "~",
    "\u200b": r"\hspace{0pt}",
    "–": "--",
    "—": "---",
    "…": r"\dots{}",
    "·": r"\ensuremath{\cdot}",
    "✓": r"\ensuremath{\checkmark}",
    "✗": r"\ensuremath{\times}",
    "×": r"\ensuremath{\times}",
    "±": r"\ensuremath{\pm}",
    "−": r"\ensuremath{-}",
    "≥": r"\ensuremath{\geq}",
    "≤": r"\ensuremath{\leq}",
    "≠": r"\ensuremath{\neq}",
    "≈": r"\ensuremath{\approx}",
    "→": r"\ensuremath{\rightarrow}",
    "∩": r"\ensuremath{\cap}",
    "κ": r"\ensuremath{\kappa}",
    "ρ": r"\ensuremath{\rho}",
    "τ": r"\ensuremath{\tau}",
    "Δ": r"\ensuremath{\Delta}",
    "⟨": r"\ensuremath{\langle}",
    "⟩": r"\ensuremath{\rangle}",
    # symbols for control characters, which few fonts have
    **{chr(0x2400 + code): rf"\ensuremath{{\langle}}U+{code:04X}\ensuremath{{\rangle}}" for code in range(0x20)},
    "␡": r"\ensuremath{\langle}U+007F\ensuremath{\rangle}",
}
_CHARACTERS = re.compile("|".join(map(re.escape, _SPECIAL)))
#: Letters and marks beyond ASCII that pdflatex supports without packages.
_LATIN = "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿŁłŒœŠšŽžČčŘřŚśĆćŃńŻżŹźĞğŐőŰűĚěŮů“”‘’"
_OTHER = re.compile(f"[^\x00-\x7f{_LATIN}{re.escape(''.join(_SPECIAL))}]+")
#: Shows its argument with lualatex and xelatex; pdflatex would stop with an error at such characters.
_OTHER_SCRIPT = (
    r"\providecommand{\otherscript}[1]{\ifdefined\directlua#1\else\ifdefined\XeTeXversion#1\else?\fi\fi}"
    "% pdflatex shows ?\n"
)
#: Width in points of a column and of a page of a two-column article, slightly less than the narrowest usual ones.
_COLUMN, _PAGE = 236.0, 500.0
#: Font sizes, half the distance between columns in points, and the scale of letter widths.
_SIZES = ((r"\small", 4.0, 0.93), (r"\small", 2.5, 0.93), (r"\footnotesize", 2.5, 0.85), (r"\scriptsize", 2.0, 0.78))
#: A column with a cell longer than the first may be set as a paragraph with at least the second number of characters.
_LONG_CELL = 24
_LEAST_PARAGRAPH = 14
#: Width of a wide letter in points; it determines where words in paragraphs may break.
_WIDE_LETTER = 5.4
#: Widths of Computer Modern's letters in points at ten points, rounded up; 5.6 for the others.
_LETTERS = {
    **dict.fromkeys("ijlI.,:;!|'·[]", 2.9), **dict.fromkeys("f -", 3.4), **dict.fromkeys("rst()/", 4.0),
    **dict.fromkeys("cegzv", 4.6), **dict.fromkeys("0123456789–aoxyk", 5.1), **dict.fromkeys("wABCDEFGHKLNOPQRSTUVXYZ&", 7.4),
    **dict.fromkeys("mMW%@…✓×−±≥≤=+<>≈→", 8.4),
}  # fmt: skip
#: The command for notes below a table; authors can redefine it as empty.
_NOTE = (
    r"\providecommand{\tablenote}[1]{\par\smallskip\begin{minipage}{\linewidth}\footnotesize #1\end{minipage}}"
    "% \\renewcommand{\\tablenote}[1]{} removes these notes\n"
)
_PACKAGES = r"% needs \usepackage{amssymb,array,booktabs}"


def render_latex(blocks: Iterable[Block], policy: str, notes: Sequence[str] = ()) -> str:
    r"""Return one ``table`` environment per :class:`Table`; a comment replaces each figure and each set of cards.

    A table is as wide as a column of a two-column article if it fits there with letters of at least seven points, else as
    wide as the page. The notes and the policy are below every table, so each table can be copied alone, in ``\tablenote``,
    which authors can redefine as empty. Non-Latin scripts work with lualatex and xelatex and a suitable font; pdflatex prints
    a question mark instead.
    """
    parts = [_PACKAGES]
    for block in blocks:
        if isinstance(block, Table):
            parts.append(_table(block, [*notes, policy]))
        elif isinstance(block, Figure):
            parts.append(f"% figure {anchor(block.slug)}: not part of this file")
        elif isinstance(block, Cards):
            parts.append(f"% {len(block.cards)} turns of {anchor(block.slug)}: not part of this file")
        elif isinstance(block, Layers):
            parts.append(f"% {len(block.texts)} annotated texts of {anchor(block.slug)}: not part of this file")
    return "\n\n".join(parts) + "\n"


@dataclass(frozen=True)
class _Layout:
    """The layout of a table: ``table`` (a column) or ``table*`` (the page), the font size, and the columns of each part.

    ``paragraphs``: column → width in points.
    """

    environment: str
    size: str
    gap: float
    parts: Sequence[Sequence[int]]
    paragraphs: Mapping[int, float]


def _layout(table: Table) -> _Layout:
    """Return the layout with the largest font that fits a column, else the page, else a split into parts."""
    natural = [_width(table, index) for index in range(len(table.columns))]
    for environment, available in (("table", _COLUMN), ("table*", _PAGE)):
        for size, gap, scale in _SIZES:
            paragraphs = _paragraphs(table, [scale * width for width in natural], scale, gap, available)
            if paragraphs is not None:
                return _Layout(environment, size, gap, [range(len(table.columns))], paragraphs)
    size, gap, scale = _SIZES[-1]
    least = {index: _LEAST_PARAGRAPH * 5.3 * scale for index in range(len(table.columns)) if _is_long(table, index)}
    widths = [least.get(index, scale * width) for index, width in enumerate(natural)]
    parts = column_batches(table.columns, widths, 2 * gap, _PAGE)
    return _Layout("table*", size, gap, parts, least)


def _paragraphs(table: Table, widths: Sequence[float], scale: float, gap: float, available: float) -> dict[int, float] | None:
    """Return the columns that must be paragraphs so that the table fits, with their widths; None if it does not fit."""
    room = available - 2 * gap * (len(widths) - 1) - _groups_excess(table, widths, gap, scale)
    if sum(widths) <= room:
        return {}
    long = [index for index in range(len(widths)) if _is_long(table, index)]
    rest = room - sum(width for index, width in enumerate(widths) if index not in long)
    least = _LEAST_PARAGRAPH * 5.3 * scale
    if not long or rest < least * len(long):
        return None
    found = {}
    for place, index in enumerate(sorted(long, key=lambda index: widths[index])):
        found[index] = min(widths[index], rest / (len(long) - place))
        rest -= found[index]
    return found


def _is_long(table: Table, index: int) -> bool:
    return table.columns[index].align == "left" and any(len(row[index]) > _LONG_CELL for row in table.rows)


def _width(table: Table, index: int) -> float:
    """Return the width at ten points of a column's cells and of its head, which may have two lines."""
    title = max(map(_letters, _lines(table.columns[index].title, table, index)))
    return max(title, *(_letters(one_line(row[index])) for row in table.rows), 0.0)


def _letters(text: str) -> float:
    return sum(_LETTERS.get(letter, 5.6) for letter in text)


def _lines(title: str, table: Table, index: int) -> list[str]:
    """Return the lines of a head: two if it is wider than the cells."""
    title = one_line(title)
    words = title.split()
    cells = max((_letters(one_line(row[index])) for row in table.rows), default=0.0)
    if len(words) < 2 or _letters(title) <= cells:
        return [title]
    cuts = [(" ".join(words[:cut]), " ".join(words[cut:])) for cut in range(1, len(words))]
    return list(min(cuts, key=lambda parts: max(map(_letters, parts))))


def _groups_excess(table: Table, widths: Sequence[float], gap: float, scale: float) -> float:
    """Return by how much shared heads are wider than their columns."""
    excess, start = 0.0, 0
    for group, span in head_groups(table.columns):
        inside = sum(widths[start : start + span]) + 2 * gap * (span - 1)
        excess += max(0.0, scale * _letters(one_line(group)) - inside)
        start += span
    return excess


def _table(table: Table, closing: Sequence[str]) -> str:
    layout = _layout(table)
    lines = [
        rf"\begin{{{layout.environment}}}[tb]",
        rf"\centering{layout.size}\setlength{{\tabcolsep}}{{{layout.gap:g}pt}}",
        rf"\caption{{{_text(table.caption)}}}",
        rf"\label{{tab:{anchor(table.slug)}}}",
    ]
    for number, part in enumerate(layout.parts):
        lines += [r"\par\medskip"] if number else []
        lines += _tabular(table, list(part), layout.paragraphs)
    texts = [text for text in (table.note, *closing) if text]
    notes = r" \par ".join(_text(text) for text in texts)
    lines += [rf"\tablenote{{{notes}}}", rf"\end{{{layout.environment}}}"]
    text = _NOTE + "\n".join(lines)
    return _OTHER_SCRIPT + text if r"\otherscript{" in text else text


def _tabular(table: Table, part: Sequence[int], paragraphs: Mapping[int, float]) -> list[str]:
    columns = [table.columns[index] for index in part]
    kinds = [_kind(column, paragraphs.get(index)) for index, column in zip(part, columns, strict=True)]
    lines = [
        rf"\begin{{tabular}}{{@{{}}{''.join(kinds)}@{{}}}}",
        r"\toprule",
        *_groups(columns),
        " & ".join(_head(table, index, index in paragraphs) for index in part) + r" \\",
        r"\midrule",
    ]
    for number, row in enumerate(table.rows):
        if number and number in table.rules:
            lines.append(r"\midrule")
        lines.append(" & ".join(_cell(row[index], paragraphs.get(index)) for index in part) + r" \\")
    return [*lines, r"\bottomrule", r"\end{tabular}"]


def _kind(column: Column, width: float | None) -> str:
    if width is None:
        return column.align[0]
    return rf">{{\raggedright\arraybackslash}}p{{{width:.0f}pt}}"


def _head(table: Table, index: int, paragraph: bool) -> str:
    column = table.columns[index]
    lines = _lines(column.title, table, index)
    if len(lines) == 1 or paragraph:
        return _text(column.title)
    return rf"\shortstack[{column.align[0]}]{{{_text(lines[0])}\\{_text(lines[1])}}}"


def _groups(columns: Sequence[Column]) -> Iterable[str]:
    groups = head_groups(columns)
    if not any(group for group, _ in groups):
        return
    yield " & ".join(rf"\multicolumn{{{span}}}{{c}}{{{_text(group)}}}" for group, span in groups) + r" \\"
    start = 1
    rules = []
    for group, span in groups:
        if group:
            rules.append(rf"\cmidrule(lr){{{start}-{start + span - 1}}}")
        start += span
    yield " ".join(rules)


def _cell(text: str, width: float | None) -> str:
    """Return a cell; in a column of ``width`` points, wider words may break."""
    return _text(text) if width is None else _text(text, int(width / _WIDE_LETTER))


def _text(text: str, longest: int = 24) -> str:
    plain = breakable(one_line(text), min(longest, 24))
    escaped = _CHARACTERS.sub(lambda match: _SPECIAL[match[0]], plain)
    return _OTHER.sub(lambda match: rf"\otherscript{{{match[0]}}}", escaped)
