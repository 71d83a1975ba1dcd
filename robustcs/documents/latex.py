"""Tables as LaTeX with booktabs, to be pasted into a paper unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from robustcs.documents.document import Block, Cards, Column, Figure, Layers, Table
from robustcs.documents.text import anchor, breakable, head_groups, one_line

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
    # the pictures of controls, which few fonts have
    **{chr(0x2400 + code): rf"\ensuremath{{\langle}}U+{code:04X}\ensuremath{{\rangle}}" for code in range(0x20)},
    "␡": r"\ensuremath{\langle}U+007F\ensuremath{\rangle}",
}
_CHARACTERS = re.compile("|".join(map(re.escape, _SPECIAL)))
#: Letters and marks beyond ASCII that pdflatex knows by itself.
_LATIN = "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿŁłŒœŠšŽžČčŘřŚśĆćŃńŻżŹźĞğŐőŰűĚěŮů“”‘’"
_OTHER = re.compile(f"[^\x00-\x7f{_LATIN}{re.escape(''.join(_SPECIAL))}]+")
#: Shows its argument with lualatex and xelatex; pdflatex would stop with an error at such characters.
_OTHER_SCRIPT = (
    r"\providecommand{\otherscript}[1]{\ifdefined\directlua#1\else\ifdefined\XeTeXversion#1\else?\fi\fi}"
    "% pdflatex shows ?\n"
)
#: A column with a longer cell than this is set as a paragraph of fixed width.
_LONG_CELL = 40
#: Tables with more columns are set closer.
_MANY_COLUMNS = 7
_PACKAGES = r"% needs \usepackage{amssymb,array,booktabs}"


def render_latex(blocks: Iterable[Block], policy: str, notes: Sequence[str] = ()) -> str:
    """One ``table`` environment per :class:`Table`; other blocks are left out, figures and cards with a comment.

    The notes and the policy stand below every table, so that each can be pasted alone. Other scripts than Latin are
    kept for lualatex and xelatex, which need a font that has them; pdflatex shows a question mark in their place.
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


def _table(table: Table, closing: Sequence[str]) -> str:
    long = [
        column.align == "left" and any(len(row[index]) > _LONG_CELL for row in table.rows)
        for index, column in enumerate(table.columns)
    ]
    lines = [
        r"\begin{table}[tb]",
        r"\centering\small" + (r"\setlength{\tabcolsep}{3pt}" if len(table.columns) > _MANY_COLUMNS else ""),
        rf"\caption{{{_text(table.caption)}}}",
        rf"\label{{tab:{anchor(table.slug)}}}",
        rf"\begin{{tabular}}{{{_preamble(table, long)}}}",
        r"\toprule",
        *_groups(table.columns),
        _row([column.title for column in table.columns]),
        r"\midrule",
    ]
    for number, row in enumerate(table.rows):
        if number and number in table.rules:
            lines.append(r"\midrule")
        lines.append(_row(row))
    texts = [text for text in (table.note, *closing) if text]
    lines += [r"\bottomrule", r"\end{tabular}", r"\par\smallskip", r"\begin{minipage}{\linewidth}\footnotesize"]
    lines += ["\\par\n".join(_text(text) for text in texts), r"\end{minipage}", r"\end{table}"]
    text = "\n".join(lines)
    return _OTHER_SCRIPT + text if r"\otherscript{" in text else text


def _preamble(table: Table, long: Sequence[bool]) -> str:
    """Column types; long texts share what the short columns, at about 0.014 of the line per character, leave of it."""
    short = 0.0
    for index, column in enumerate(table.columns):
        longest = max(len(text) for text in (column.title, *(row[index] for row in table.rows)))
        short += 0.035 + (0 if long[index] else 0.014 * longest)
    share = max(0.15, (1 - short) / max(1, sum(long)))
    paragraph = rf">{{\raggedright\arraybackslash}}p{{{share:.2f}\linewidth}}"
    kinds = [paragraph if wide else column.align[0] for column, wide in zip(table.columns, long, strict=True)]
    return "@{}" + "".join(kinds) + "@{}"


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


def _row(cells: Sequence[str]) -> str:
    return " & ".join(map(_text, cells)) + r" \\"


def _text(text: str) -> str:
    plain = breakable(one_line(text))
    escaped = _CHARACTERS.sub(lambda match: _SPECIAL[match[0]], plain)
    return _OTHER.sub(lambda match: rf"\otherscript{{{match[0]}}}", escaped)
