"""Judgments of several files: merged, with a list of all conflicts, selected, and written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from robustcs.evaluation.matrix import Grades
from robustcs.inputs.ids import Ids
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.turns import turn_sort_key
from robustcs.statistics import Codes

#: Grade of a pair with two different grades: the earlier file's, the later file's, or the higher.
ConflictRule = Literal["keep", "replace", "max"]


@dataclass(frozen=True)
class Conflict:
    """A pair that was judged again with a different grade.

    old, new
        The grade before ``new_file`` was merged (from ``old_file``), and the grade in ``new_file``.
    kept
        The grade in the merged judgments once ``new_file`` is merged.
    """

    turn: str
    document: str
    old: int
    new: int
    kept: int
    old_file: str
    new_file: str


@dataclass(frozen=True)
class Joined:
    """The contribution of one file of new judgments.

    added
        Pairs that were unjudged before; ``added_turns`` of their turns had no judgments.
    repeated
        Pairs judged before with the same grade.
    conflicts
        Pairs judged before with a different grade.
    """

    file: str
    judgments: int
    added: int
    added_turns: int
    repeated: int
    conflicts: int


@dataclass(frozen=True)
class Merge:
    """Merged judgments, each pair once, and their sources."""

    qrels: Qrels
    conflicts: tuple[Conflict, ...]
    joined: tuple[Joined, ...]


class _ByPair(NamedTuple):
    """The judgments of all files, those of one (turn, document) pair together, in file order.

    keys
        int64[n]: ``turn · number of documents + document``, ascending.
    files
        int64[n]: the file of each judgment.
    starts
        int64[pairs]: the first judgment of each pair.
    """

    keys: Codes
    grades: Grades
    files: Codes
    starts: Codes


class _Settled(NamedTuple):
    """One grade for each pair, the conflicts by pair, and for each file the number it caused."""

    grades: Grades
    conflicts: list[Conflict]
    conflicts_of_file: list[int]


def merge_qrels(old: Qrels, new: Sequence[Qrels], rule: ConflictRule) -> Merge:
    """Merge the ``new`` files into the judgments ``old``, one after the other.

    ``rule`` decides the grade of a pair with two grades; a grade that a later file contradicts
    again is a further conflict. Turns that only new files judge are included.
    """
    files = [old, *new]
    turns = tuple(dict.fromkeys(turn for file in files for turn in file.turns))
    documents = Ids.joined([file.documents for file in files]).encoded()[0]
    judgments = _by_pair(files, turns, documents)
    settled = _settle(judgments, rule, files, turns, documents)
    turn_codes, document_codes = np.divmod(judgments.keys[judgments.starts], len(documents))
    merged = Qrels(
        name="merged judgments",
        turns=turns,
        turn_codes=turn_codes.astype(np.int32),
        ids=documents.take(document_codes),
        grades=settled.grades,
        notes=tuple(note for file in files for note in file.notes),
    )
    conflicts = sorted(
        settled.conflicts, key=lambda conflict: (turn_sort_key(conflict.turn), conflict.document)
    )
    added = np.bincount(judgments.files[judgments.starts], minlength=len(files)).tolist()
    return Merge(merged, tuple(conflicts), _contributions(files, added, settled.conflicts_of_file))


def _by_pair(files: Sequence[Qrels], turns: Sequence[str], documents: Ids) -> _ByPair:
    """Return the judgments of all ``files``, sorted by pair."""
    row_of = {turn: row for row, turn in enumerate(turns)}
    keys_of_file = []
    for file in files:
        rows = np.array([row_of[turn] for turn in file.turns], dtype=np.int64)
        codes = file.documents.codes_in(documents)
        keys_of_file.append(rows[file.turn_codes] * len(documents) + codes[file.document_codes])
    keys = np.concatenate(keys_of_file)
    grades = np.concatenate([file.grades for file in files])
    numbers = np.repeat(np.arange(len(files)), [len(file) for file in files])
    order = np.argsort(keys, kind="stable")  # equal pairs keep the order of their files
    keys = keys[order]
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    return _ByPair(keys, grades[order], numbers[order], starts)


def _settle(
    judgments: _ByPair,
    rule: ConflictRule,
    files: Sequence[Qrels],
    turns: Sequence[str],
    documents: Ids,
) -> _Settled:
    """Return the grade of every pair after ``rule``, and the conflicts."""
    grades = judgments.grades[judgments.starts]
    ends = np.append(judgments.starts[1:], len(judgments.keys))
    first_grades = np.repeat(grades, ends - judgments.starts)
    contradicting = np.flatnonzero(judgments.grades != first_grades)
    pairs = np.unique(np.searchsorted(judgments.starts, contradicting, side="right") - 1)
    conflicts = []
    conflicts_of_file = [0] * len(files)
    for pair in pairs.tolist():
        first = int(judgments.starts[pair])
        row, code = divmod(int(judgments.keys[first]), len(documents))
        kept = first  # the judgment whose grade counts so far
        for again in range(first + 1, int(ends[pair])):
            old_grade, new_grade = int(judgments.grades[kept]), int(judgments.grades[again])
            if new_grade == old_grade:
                continue
            old_file, new_file = int(judgments.files[kept]), int(judgments.files[again])
            if rule == "replace" or (rule == "max" and new_grade > old_grade):
                kept = again
            conflict = Conflict(
                turn=turns[row],
                document=documents[code],
                old=old_grade,
                new=new_grade,
                kept=int(judgments.grades[kept]),
                old_file=files[old_file].name,
                new_file=files[new_file].name,
            )
            conflicts.append(conflict)
            conflicts_of_file[new_file] += 1
        grades[pair] = judgments.grades[kept]
    return _Settled(grades, conflicts, conflicts_of_file)


def _contributions(
    files: Sequence[Qrels], added: Sequence[int], conflicts: Sequence[int]
) -> tuple[Joined, ...]:
    """Return the contribution of every file but the first.

    ``added``, ``conflicts``: for each file, the number of pairs that no earlier file judged, and of
    those that one judged differently.
    """
    joined = []
    judged_turns = set(files[0].turns)
    for number, file in enumerate(files[1:], 1):
        new_turns = set(file.turns) - judged_turns
        judged_turns |= new_turns
        contribution = Joined(
            file=file.name,
            judgments=len(file),
            added=added[number],
            added_turns=len(new_turns),
            repeated=len(file) - added[number] - conflicts[number],
            conflicts=conflicts[number],
        )
        joined.append(contribution)
    return tuple(joined)


def taken(qrels: Qrels, kept: np.ndarray) -> Qrels:
    """Return the judgments selected by ``kept`` (bool[n]), and the turns that still have any."""
    codes, turn_codes = np.unique(qrels.turn_codes[kept], return_inverse=True)
    return replace(
        qrels,
        turns=tuple(qrels.turns[code] for code in codes),
        turn_codes=turn_codes.astype(np.int32),
        ids=qrels.ids.take(kept),
        grades=qrels.grades[kept],
    )


def qrels_text(qrels: Qrels) -> str:
    """Return the judgments in TREC format (``turn 0 document grade``).

    They are sorted by turn in natural order, then by document id.
    """
    in_order = sorted(range(len(qrels.turns)), key=lambda code: turn_sort_key(qrels.turns[code]))
    place_of_turn = np.empty(len(in_order), dtype=np.int64)
    place_of_turn[in_order] = np.arange(len(in_order))
    rows = np.lexsort((qrels.ids.places(), place_of_turn[qrels.turn_codes]))
    codes, documents = qrels.turn_codes[rows], qrels.ids.take(rows).texts()
    lines = []
    for code, document, grade in zip(codes, documents, qrels.grades[rows], strict=True):
        lines.append(f"{qrels.turns[code]} 0 {document} {grade}\n")
    return "".join(lines)
