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
    "turn": ("q_id", *ID_NAMES), "manual": ("variation",), "raw": ("variation",), "category": ("transformation_type",),
}  # fmt: skip


@dataclass(frozen=True)
class Paraphrase:
    """One row, with single spaces in its texts. ``line`` counts from 1; ``category`` may be empty."""

    turn: str
    manual: str
    raw: str
    line: int
    category: str = ""


class Paraphrases(dict[str, tuple[Paraphrase, ...]]):
    """Turn → its paraphrases in file order, the turns in natural order; ``notes`` mention skipped
    rows.
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
    labelled = find_column(columns, ("variation",)) is not None
    needed, optional = (
        (_VARIATIONS, named("valid")) if labelled else (_ECAST, {"category": (CATEGORY,)})
    )
    read: dict[str, list[Paraphrase]] = {}
    invalid = 0
    for line, cells in by_field(path, columns, rows, needed, optional):
        row = {part: " ".join(text_of(cell).split()) for part, cell in cells.items()}
        turn, valid = row["turn"], row.get("valid", "true").lower()
        lacking = next((part for part in needed if not row[part]), "")
        longest = max(len(row["manual"]), len(row["raw"]))
        if valid in ("false", "0"):
            invalid += 1
        elif valid not in ("true", "1"):
            problems.add(line, f"valid is {valid!r}", "write True or False", "not-a-flag")
        elif not turn:
            problems.skip(line, "no turn id", "complete the row or delete it", "no-turn-id")
        elif lacking:
            found = f"turn {turn}: empty {needed[lacking][0]}"
            problems.skip(line, found, "write the text or delete the row", "empty-text")
        elif longest > LONGEST_OF_TURN:
            advice = f"the limit is {LONGEST_OF_TURN:,}; check for a quote that is not closed"
            problems.skip(
                line, f"turn {turn}: the text has {longest:,} characters", advice, "too-long"
            )
        else:
            read.setdefault(turn, []).append(
                Paraphrase(turn, row["manual"], row["raw"], line, row.get("category", ""))
            )
    problems.finish(read, "paraphrases", sum(map(len, read.values())))
    paraphrases = Paraphrases((turn, tuple(read[turn])) for turn in sorted(read, key=turn_sort_key))
    if invalid:
        paraphrases.notes = (
            f"variations skipped because the file marks them as invalid: {invalid}",
        )
    return paraphrases
