"""Paraphrases of turns, in one of two formats that the header determines.

ECAsT
    CSV with the columns TURN_ID, MANUAL PARAPHRASE and RAW PARAPHRASE. One row is one wording of one turn: manual, which is
    understood without the conversation, and raw, which depends on it. An optional column CATEGORY names the kind of variation.
labelled variations
    CSV with ``q_id``, ``variation`` and ``transformation_type`` (the category), as query variation generators publish them
    (Penha et al., 2022). A variation serves as manual and raw text. Rows with a false value in ``valid`` are skipped and
    counted.

Other columns are ignored; fields may be quoted as in any CSV (RFC 4180).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from robustcs.errors import InputError, ProblemList, input_error
from robustcs.inputs.records import ID_NAMES, LONGEST_OF_TURN, RowProblems, csv_rows, find_column
from robustcs.inputs.sniff import refuse_other_kinds
from robustcs.inputs.turns import turn_depth, turn_sort_key

#: The columns to read, in any letter case, with words joined by a space or by ``_``.
COLUMNS = ("TURN_ID", "MANUAL PARAPHRASE", "RAW PARAPHRASE")


CATEGORY = "CATEGORY"


#: Columns of labelled variations: text, category, and whether the meaning is unchanged.
VARIATION, TRANSFORMATION, VALID = "variation", "transformation_type", "valid"


_VARIATION_IDS = ("q_id", *ID_NAMES)


@dataclass(frozen=True)
class Paraphrase:
    """One row, with single spaces in its texts. ``line`` counts from 1; ``category`` may be empty."""

    turn: str
    manual: str
    raw: str
    line: int
    category: str = ""


class Paraphrases(dict[str, tuple[Paraphrase, ...]]):
    """Turn → its paraphrases in file order, the turns in natural order; ``notes`` mention skipped rows."""

    notes: tuple[str, ...] = ()


def read_paraphrases(path: str | os.PathLike[str]) -> Paraphrases:
    """Return the paraphrases of every turn.

    Raises :class:`InputError` with every bad row (bounded): a wrong number of columns, no turn id or (ECAsT) one without a
    place in the conversation, an empty paraphrase, a quote that is not closed, a value of ``valid`` that is neither true nor
    false; or if columns or rows are missing.
    """
    refuse_other_kinds(path, "paraphrases")
    problems = RowProblems(path, "paraphrases")
    rows = csv_rows(path, ",", problems)
    first = next(rows, None)
    if first is None:
        problems.raise_if_any()
        raise input_error(path, None, "the file is empty", f"write {', '.join(COLUMNS)} in the first line", "empty")
    line, header = first
    labelled = find_column([cell.strip() for cell in header], (VARIATION,)) is not None
    form = _Variations(path, line, header) if labelled else _Ecast(path, line, header)
    found: dict[str, list[Paraphrase]] = {}
    for line, cells in _whole_rows(rows, len(header), problems):
        row = form.row(line, cells, problems)
        if row is not None:
            found.setdefault(row.turn, []).append(row)
    problems.raise_if_any(sum(map(len, found.values())))
    if not found:
        raise input_error(path, None, "the file has no paraphrases", "check the path", "empty")
    paraphrases = Paraphrases((turn, tuple(found[turn])) for turn in sorted(found, key=turn_sort_key))
    paraphrases.notes = form.notes
    return paraphrases


def _whole_rows(rows: Iterator[tuple[int, list[str]]], width: int, problems: ProblemList) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are as wide as the header, with single spaces in their cells."""
    for line, cells in rows:
        if len(cells) == width:
            yield line, [" ".join(cell.split()) for cell in cells]
            continue
        problems.skip(
            line, f"{len(cells)} column{'s' * (len(cells) != 1)}, but the header has {width}",
            "put texts with commas in quotes" if len(cells) > width else "complete the row or delete it",
            "wrong-columns",
        )  # fmt: skip


class _Ecast:
    """The ECAsT format."""

    notes: tuple[str, ...] = ()

    def __init__(self, path: str | os.PathLike[str], line: int, header: list[str]):
        self.places = [_position(path, line, name, header) for name in COLUMNS]
        names = [_plain(cell) for cell in header]
        self.category = names.index(CATEGORY) if CATEGORY in names else None

    def row(self, line: int, cells: list[str], problems: ProblemList) -> Paraphrase | None:
        """Return the paraphrase of a row; None for a wrong row, which goes to ``problems``."""
        turn, manual, raw = (cells[place] for place in self.places)
        if turn_depth(turn) is None:
            what = f"turn id {turn!r} contains no place in a conversation" if turn else "no turn id"
            problems.skip(line, what, "write TOPIC_DEPTH, such as 31_4", "no-turn-id")
        elif not manual or not raw:
            column = COLUMNS[1] if not manual else COLUMNS[2]
            problems.skip(line, f"turn {turn}: empty {column}", "write the text or delete the row", "empty-text")
        elif not _too_long(line, turn, max(manual, raw, key=len), problems):
            return Paraphrase(turn, manual, raw, line, "" if self.category is None else cells[self.category])
        return None


class _Variations:
    """The format of labelled variations."""

    def __init__(self, path: str | os.PathLike[str], line: int, header: list[str]):
        names = [cell.strip() for cell in header]
        columns = {name: find_column(names, (name,)) for name in (VARIATION, TRANSFORMATION, VALID)}
        turn = find_column(names, _VARIATION_IDS)
        if turn is None or columns[TRANSFORMATION] is None:
            raise _no_column(path, line, "q_id" if turn is None else TRANSFORMATION, header, "add it to the first line")
        self.turn = names.index(turn)
        self.text, self.category = (names.index(str(columns[name])) for name in (VARIATION, TRANSFORMATION))
        self.valid = None if columns[VALID] is None else names.index(str(columns[VALID]))
        self.invalid = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """A note on the number of invalid variations."""
        return (f"variations skipped because the file marks them as invalid: {self.invalid}",) if self.invalid else ()

    def row(self, line: int, cells: list[str], problems: ProblemList) -> Paraphrase | None:
        """Return the paraphrase of a row; None for an invalid row, and for a wrong one, which goes to ``problems``."""
        turn, text, category = cells[self.turn], cells[self.text], cells[self.category]
        valid = "true" if self.valid is None else cells[self.valid].lower()
        if valid in ("false", "0"):
            self.invalid += 1
        elif valid not in ("true", "1"):
            problems.add(line, f"{VALID} is {valid!r}", "write True or False", "not-a-flag")
        elif not turn:
            problems.skip(line, "no turn id", "complete the row or delete it", "no-turn-id")
        elif not text or not category:
            column = VARIATION if not text else TRANSFORMATION
            problems.skip(line, f"turn {turn}: empty {column}", "write the text or delete the row", "empty-text")
        elif not _too_long(line, turn, text, problems):
            return Paraphrase(turn, text, text, line, category)
        return None


def _too_long(line: int, turn: str, text: str, problems: ProblemList) -> bool:
    if len(text) <= LONGEST_OF_TURN:
        return False
    found = f"turn {turn}: the text has {len(text):,} characters"
    problems.skip(line, found, f"the limit is {LONGEST_OF_TURN:,}; check for a quote that is not closed", "too-long")
    return True


def _plain(name: str) -> str:
    return " ".join(name.replace("_", " ").upper().split())


def _position(path: str | os.PathLike[str], line: int, name: str, header: list[str]) -> int:
    names = [_plain(cell) for cell in header]
    if _plain(name) in names:
        return names.index(_plain(name))
    raise _no_column(path, line, name, header, f"write CSV whose first line is {','.join(COLUMNS)}")


def _no_column(path: str | os.PathLike[str], line: int, name: str, header: list[str], advice: str) -> InputError:
    there = ", ".join(" ".join(cell.split())[:40] for cell in header[:6])
    return input_error(path, line, f"no column {name!r}; the columns are: {there}", advice, "no-such-column")
