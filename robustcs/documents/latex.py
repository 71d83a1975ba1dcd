"""Render tables as LaTeX with booktabs, ready for a paper."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import product

from robustcs.documents.document import Block, Column, Heading, Paragraph, TableBlock
from robustcs.documents.text import (
    anchor,
    breakable,
    column_batches,
    head_groups,
    one_line,
    widened,
)

#: Signs that are commands of the mathematical mode, without their backslash.
_SIGNS = {
    "·": "cdot", "✓": "checkmark", "✗": "times", "×": "times", "±": "pm", "≥": "geq", "≤": "leq", "≠": "neq", "≈": "approx",
    "→": "rightarrow", "∩": "cap", "κ": "kappa", "ρ": "rho", "τ": "tau", "Δ": "Delta", "⟨": "langle", "⟩": "rangle",
}  # fmt: skip
_SPECIAL = {
    **{sign: rf"\{sign}" for sign in "{}$&#%_"},
    **{sign: rf"\ensuremath{{\{command}}}" for sign, command in _SIGNS.items()},
    "\\": r"\textbackslash{}",
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
    "−": r"\ensuremath{-}",
    # symbols for control characters, which few fonts have
    **{
        chr(0x2400 + code): rf"\ensuremath{{\langle}}U+{code:04X}\ensuremath{{\rangle}}"
        for code in range(0x20)
    },
}
_CHARACTERS = re.compile("|".join(map(re.escape, _SPECIAL)))
#: Letters and marks beyond ASCII that pdflatex supports without packages.
_LATIN = (
    "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿŁłŒœŠšŽžČčŘřŚśĆćŃńŻżŹźĞğŐőŰűĚěŮů“”‘’"
)
_OTHER = re.compile(f"[^\x00-\x7f{_LATIN}{re.escape(''.join(_SPECIAL))}]+")
#: Shows its argument with lualatex and xelatex; pdflatex would stop with an error at such characters.
_OTHER_SCRIPT = (
    r"\providecommand{\otherscript}[1]{\ifdefined\directlua#1\else\ifdefined\XeTeXversion#1\else?\fi\fi}"
    "% pdflatex shows ?\n"
)
#: Width in points of a column and of a page of a two-column article, slightly less than the narrowest usual ones.
_WIDTHS = {"table": 236.0, "table*": 500.0}
#: Font sizes, half the distance between columns in points, and the scale of letter widths.
_SIZES = {r"\small": (3.0, 0.93), r"\footnotesize": (2.5, 0.85), r"\scriptsize": (2.0, 0.78)}
#: The texts of a column with a longer cell may fold; the column has at least the second width at ten points.
_LONG_CELL, _LEAST_PARAGRAPH = 24, 74.0
#: Such a column, and the length of the words that fit into it.
_FOLDED, _SHORT_WORD = r">{\raggedright\arraybackslash}X", 12
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
_PACKAGES = r"% needs \usepackage{amssymb,booktabs,tabularx}"


def render_latex(blocks: Iterable[Block], policy: str, notes: Sequence[str] = ()) -> str:
    r"""Return one ``table`` environment per :class:`TableBlock`; a comment replaces each figure and each set of cards.

    A table is as wide as a column of a two-column article if it fits there with letters of at least seven points, else as
    wide as the page. The notes and the policy are below every table, so each table can be copied alone, in ``\tablenote``,
    which authors can redefine as empty. Non-Latin scripts work with lualatex and xelatex and a suitable font; pdflatex prints
    a question mark instead.
    """
    parts = [_PACKAGES]
    for block in blocks:
        if isinstance(block, TableBlock):
            parts.append(_table(block, [*notes, policy]))
        elif not isinstance(block, Heading | Paragraph):
            parts.append(f"% {anchor(block.slug)}: not part of this file")
    return "\n\n".join(parts) + "\n"


def _table(table: TableBlock, closing: Sequence[str]) -> str:
    """Return the table with the largest font at which it fits a column, else the page, else in parts."""
    natural = [_width(table, index) for index in range(len(table.columns))]
    least = [
        min(width, _LEAST_PARAGRAPH) if _is_long(table, index) else width
        for index, width in enumerate(natural)
    ]
    for environment, size in product(_WIDTHS, _SIZES):
        gap, scale = _SIZES[size]
        room, gutter = _WIDTHS[environment] / scale, 2 * gap / scale
        parts = column_batches(
            table.columns, widened(table.columns, least, _letters, gutter), gutter, room
        )
        if len(parts) == 1:
            break
    widths = widened(table.columns, natural, _letters, gutter)
    folded = [sum(widths[index] + gutter for index in part) > room + gutter for part in parts]
    notes = r" \par ".join(_text(text) for text in (table.note, *closing) if text)
    lines = [
        rf"\begin{{{environment}}}[tb]",
        rf"\centering{size}\setlength{{\tabcolsep}}{{{gap:g}pt}}",
        rf"\caption{{{_text(table.caption)}}}",
        rf"\label{{tab:{anchor(table.slug)}}}",
        "\n\\par\\medskip\n".join(
            _tabular(table.part(part), folds) for part, folds in zip(parts, folded, strict=True)
        ),
        rf"\tablenote{{{notes}}}",
        rf"\end{{{environment}}}",
    ]
    text = _NOTE + "\n".join(lines)
    return _OTHER_SCRIPT + text if r"\otherscript{" in text else text


def _is_long(table: TableBlock, index: int) -> bool:
    return table.columns[index].align == "left" and any(
        len(row[index]) > _LONG_CELL for row in table.rows
    )


def _width(table: TableBlock, index: int) -> float:
    """Return the width at ten points of a column's cells and of its head, which may have two lines."""
    return max(
        map(_letters, (*_lines(table, index), *(one_line(row[index]) for row in table.rows)))
    )


def _letters(text: str) -> float:
    return sum(_LETTERS.get(letter, 5.6) for letter in text)


def _lines(table: TableBlock, index: int) -> tuple[str, ...]:
    """Return the lines of a head: two if it is wider than the cells."""
    title = one_line(table.columns[index].title)
    words = title.split()
    if len(words) < 2 or _letters(title) <= max(
        (_letters(one_line(row[index])) for row in table.rows), default=0.0
    ):
        return (title,)
    cuts = [(" ".join(words[:cut]), " ".join(words[cut:])) for cut in range(1, len(words))]
    return min(cuts, key=lambda parts: max(map(_letters, parts)))


def _tabular(table: TableBlock, folds: bool) -> str:
    """Return the table without its caption; with ``folds``, it has the full width, and long texts fold."""
    folded = [folds and _is_long(table, index) for index in range(len(table.columns))]
    kinds = [
        _FOLDED if folds else column.align[0]
        for column, folds in zip(table.columns, folded, strict=True)
    ]
    name, width = ("tabularx", r"{\linewidth}") if any(folded) else ("tabular", "")
    lines = [
        rf"\begin{{{name}}}{width}{{@{{}}{''.join(kinds)}@{{}}}}",
        r"\toprule",
        *_groups(table.columns),
        " & ".join(_head(table, index) for index in range(len(table.columns))) + r" \\",
        r"\midrule",
    ]
    for number, row in enumerate(table.rows):
        if number and number in table.rules:
            lines.append(r"\midrule")
        cells = (
            _text(cell, _SHORT_WORD if folds else _LONG_CELL)
            for cell, folds in zip(row, folded, strict=True)
        )
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", rf"\end{{{name}}}"])


def _head(table: TableBlock, index: int) -> str:
    lines = [_text(line) for line in _lines(table, index)]
    return (
        lines[0]
        if len(lines) == 1
        else rf"\shortstack[{table.columns[index].align[0]}]{{{lines[0]}\\{lines[1]}}}"
    )


def _groups(columns: Sequence[Column]) -> list[str]:
    """Return the line of shared heads, and the rules under them; nothing without heads."""
    heads, rules, start = [], [], 1
    for group, span in head_groups(columns):
        heads.append(rf"\multicolumn{{{span}}}{{c}}{{{_text(group)}}}")
        rules += [rf"\cmidrule(lr){{{start}-{start + span - 1}}}"] if group else []
        start += span
    return [" & ".join(heads) + r" \\", " ".join(rules)] if heads else []


def _text(text: str, longest: int = _LONG_CELL) -> str:
    """Return a text with its special characters as commands; words of more than ``longest`` characters may break."""
    escaped = _CHARACTERS.sub(lambda match: _SPECIAL[match[0]], breakable(one_line(text), longest))
    return _OTHER.sub(lambda match: rf"\otherscript{{{match[0]}}}", escaped)
