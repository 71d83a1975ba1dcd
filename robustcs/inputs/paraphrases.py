"""Paraphrases of turns, in one of two formats that the header determines.

ECAsT
    CSV with the columns TURN_ID, MANUAL PARAPHRASE and RAW PARAPHRASE. One row is one wording of
    one turn: manual, which is understood without the conversation, and raw, which depends on it. An
    optional column CATEGORY names the kind of variation.
labelled variations
    CSV with ``q_id``, ``variation`` and ``transformation_type`` (the category), as query variation
    generators publish them (Penha et al., 2022). A variation serves as manual and raw text. Rows
    with a false value in ``valid`` are skipped and counted.

Other columns are ignored; fields may be quoted as in any CSV (RFC 4180).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from robustcs.inputs.paths import StrPath
from robustcs.inputs.records import ID_NAMES, LONGEST_OF_TURN, RowProblems
from robustcs.inputs.sniff import refuse_other_kinds
from robustcs.inputs.tables import Fields, by_field, find_column, named, read_rows, text_of
from robustcs.inputs.turns import turn_sort_key

#: The columns to read, in any letter case, with words joined by a space or by ``_``.
COLUMNS = ("TURN_ID", "MANUAL PARAPHRASE", "RAW PARAPHRASE")

CATEGORY = "CATEGORY"

#: Part of a paraphrase → its column in each format; the first name present counts.
_ECAST: Fields = {"turn": COLUMNS[:1], "manual": COLUMNS[1:2], "raw": COLUMNS[2:]}
_VARIATIONS: Fields = {
    "turn": ("q_id", *ID_NAMES),
    "manual": ("variation",),
    "raw": ("variation",),
    "category": ("transformation_type",),
}


@dataclass(frozen=True)
class Paraphrase:
    """One row, with single spaces in its texts.

    ``line`` counts from 1; ``category`` may be empty.
    """

    turn: str
    manual: str
    raw: str
    line: int
    category: str = ""


class Paraphrases(dict[str, tuple[Paraphrase, ...]]):
    """Turn → its paraphrases in file order, the turns in natural order.

    ``notes`` mention skipped rows.
    """

    notes: tuple[str, ...] = ()


def read_paraphrases(path: StrPath) -> Paraphrases:
    """Return the paraphrases of every turn.

    Raises :class:`InputError` with every bad row (bounded): a wrong number of columns, no turn id,
    an empty paraphrase, a quote that is not closed, a value of ``valid`` that is neither true nor
    false; or if columns or rows are missing.
    """
    refuse_other_kinds(path, "paraphrases")
    problems = RowProblems(path, "paraphrases")
    columns, rows = read_rows(path, problems)
    is_variations = find_column(columns, ("variation",)) is not None
    needed: Fields = _VARIATIONS if is_variations else _ECAST
    optional: Fields = named("valid") if is_variations else {"category": (CATEGORY,)}
    by_turn: dict[str, list[Paraphrase]] = {}
    invalid = 0
    for line, cells in by_field(path, columns, rows, needed, optional):
        parts = {part: " ".join(text_of(cell).split()) for part, cell in cells.items()}
        valid = parts.get("valid", "true").lower()
        if valid in ("false", "0"):
            invalid += 1
        elif valid not in ("true", "1"):
            problems.add(line, f"valid is {valid!r}", "write True or False", "not-a-flag")
        elif _is_usable(parts, line, needed, problems):
            paraphrase = Paraphrase(
                parts["turn"], parts["manual"], parts["raw"], line, parts.get("category", "")
            )
            by_turn.setdefault(paraphrase.turn, []).append(paraphrase)
    problems.finish(by_turn, "paraphrases", sum(map(len, by_turn.values())))
    turns = sorted(by_turn, key=turn_sort_key)
    paraphrases = Paraphrases((turn, tuple(by_turn[turn])) for turn in turns)
    if invalid:
        note = f"variations skipped because the file marks them as invalid: {invalid}"
        paraphrases.notes = (note,)
    return paraphrases


def _is_usable(parts: Mapping[str, str], line: int, needed: Fields, problems: RowProblems) -> bool:
    """Return whether a row has all its parts; otherwise it is skipped with a problem."""
    turn = parts["turn"]
    if not turn:
        problems.skip(line, "no turn id", "complete the row or delete it", "no-turn-id")
        return False
    for part, columns in needed.items():
        if not parts[part]:
            problem = f"turn {turn}: empty {columns[0]}"
            problems.skip(line, problem, "write the text or delete the row", "empty-text")
            return False
    longest = max(len(parts["manual"]), len(parts["raw"]))
    if longest > LONGEST_OF_TURN:
        problem = f"turn {turn}: the text has {longest:,} characters"
        advice = f"the limit is {LONGEST_OF_TURN:,}; check for a quote that is not closed"
        problems.skip(line, problem, advice, "too-long")
        return False
    return True
