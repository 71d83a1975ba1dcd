"""Paraphrases of turns in the ECAsT form: CSV with the columns TURN_ID, MANUAL PARAPHRASE and RAW PARAPHRASE.

One row is one wording of one turn: manual, which can be understood alone, and raw, which leans on the conversation so far.
Other columns are passed over; fields may be quoted as in any CSV (RFC 4180).
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from robustcs.errors import ProblemList, input_error
from robustcs.inputs.kinds import refuse_other_kinds
from robustcs.inputs.records import LONGEST_OF_TURN
from robustcs.inputs.rows import csv_rows
from robustcs.inputs.turns import turn_depth, turn_sort_key

#: The columns that are read; letter case does not matter, nor whether words are joined by a space or by ``_``.
COLUMNS = ("TURN_ID", "MANUAL PARAPHRASE", "RAW PARAPHRASE")


@dataclass(frozen=True)
class Paraphrase:
    """One row; white space around and inside the texts is one space. ``line`` counts from 1."""

    turn: str
    manual: str
    raw: str
    line: int


def read_paraphrases(path: str | os.PathLike[str]) -> dict[str, tuple[Paraphrase, ...]]:
    """Turn → its paraphrases in file order; the turns in natural order.

    Raises :class:`InputError` with every bad row (bounded): a wrong number of columns, no turn id or one that does not say
    its place in the conversation, an empty paraphrase, a quote that is not closed; or when columns or rows are missing.
    """
    refuse_other_kinds(path, "paraphrases")
    problems = ProblemList(path)
    rows = csv_rows(path, ",", problems)
    first = next(rows, None)
    if first is None:
        problems.raise_if_any()
        raise input_error(path, None, "the file is empty", f"its first line names {', '.join(COLUMNS)}", "empty")
    line, header = first
    positions = [_position(path, line, name, header) for name in COLUMNS]
    found: dict[str, list[Paraphrase]] = {}
    for line, cells in rows:
        if len(cells) != len(header):
            problems.add(
                line, f"{len(cells)} column{'s' * (len(cells) != 1)} where the header has {len(header)}",
                "put a text with commas in quotes" if len(cells) > len(header) else "complete the row or leave it out",
                "wrong-columns",
            )  # fmt: skip
            continue
        turn, manual, raw = (" ".join(cells[position].split()) for position in positions)
        if turn_depth(turn) is None:
            what = f"turn id {turn!r} does not say its place in a conversation" if turn else "no turn id"
            problems.add(line, what, "write TOPIC_DEPTH, such as 31_4", "no-turn-id")
        elif not manual or not raw:
            column = COLUMNS[1] if not manual else COLUMNS[2]
            problems.add(line, f"turn {turn}: empty {column}", "write the text or leave the row out", "empty-text")
        elif max(len(manual), len(raw)) > LONGEST_OF_TURN:
            found_text = f"turn {turn}: a text of {max(len(manual), len(raw)):,} characters"
            problems.add(line, found_text, f"it may have {LONGEST_OF_TURN:,}; is a quote not closed?", "too-long")
        else:
            found.setdefault(turn, []).append(Paraphrase(turn, manual, raw, line))
    problems.raise_if_any()
    if not found:
        raise input_error(path, None, "the file has no paraphrases", "check the path", "empty")
    return {turn: tuple(found[turn]) for turn in sorted(found, key=turn_sort_key)}


def _plain(name: str) -> str:
    return " ".join(name.replace("_", " ").upper().split())


def _position(path: str | os.PathLike[str], line: int, name: str, header: list[str]) -> int:
    names = [_plain(cell) for cell in header]
    if _plain(name) in names:
        return names.index(_plain(name))
    there = ", ".join(" ".join(cell.split())[:40] for cell in header[:6])
    raise input_error(
        path, line, f"no column {name!r}; the columns are: {there}",
        f"write CSV whose first line is {','.join(COLUMNS)}", "no-such-column",
    )  # fmt: skip
