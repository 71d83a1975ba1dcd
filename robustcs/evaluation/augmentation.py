"""More judgments for the same turns: qrels merged with new ones, every contradiction listed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from robustcs.inputs.arrays import as_arrow, as_numpy
from robustcs.inputs.ids import Ids
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.turns import turn_sort_key

#: Which grade stands where a pair has two: the earlier file's, the later file's, or the higher one.
Rule = Literal["keep", "replace", "max"]


@dataclass(frozen=True)
class Conflict:
    """A pair that was judged again with another grade.

    old, new
        The grade that stood when ``new_file`` joined (it came from ``old_file``), and that file's own.
    kept
        The grade that stands afterwards.
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
    """What one file of new judgments did.

    added
        Pairs that nobody had judged before; ``added_turns`` of their turns had no judgment at all.
    repeated
        Pairs judged before with the same grade.
    conflicts
        Pairs judged before with another grade.
    """

    file: str
    judgments: int
    added: int
    added_turns: int
    repeated: int
    conflicts: int


@dataclass(frozen=True)
class Merge:
    """Merged judgments, each pair once, and how they came about.

    files
        Names of what was merged, the old judgments first.
    holders
        int16[n]: of every judgment the place in ``files`` of the one whose grade stands; the earliest that gave it.
    """

    qrels: Qrels
    files: tuple[str, ...]
    holders: npt.NDArray[np.int16]
    conflicts: tuple[Conflict, ...]
    joined: tuple[Joined, ...]


def merge_qrels(old: Qrels, new: Sequence[Qrels], rule: Rule) -> Merge:
    """Judgments of ``old`` with those of the ``new`` files, which join one after the other.

    A pair with two grades gets one by ``rule``; a grade that a later file contradicts again is a further conflict. Turns that
    only new files judge are part of the result.
    """
    files = [old, *new]
    turns = list(dict.fromkeys(turn for file in files for turn in file.turns))
    documents = pc.unique(pa.chunked_array([file.documents for file in files]))
    keys, grades = _keys(files, turns, documents), np.concatenate([file.grades for file in files])
    sources = np.repeat(np.arange(len(files)), [len(file) for file in files])

    order = np.argsort(keys, kind="stable")  # equal pairs stay in the order of their files
    keys, grades, sources = keys[order], grades[order], sources[order]
    first = np.append(True, keys[1:] != keys[:-1])
    group = np.cumsum(first) - 1
    starts = np.flatnonzero(first)
    contradicted = np.unique(group[grades != grades[starts[group]]])
    standing, holders = grades[starts].copy(), sources[starts].copy()
    conflicts: list[tuple[int, Conflict]] = []
    ends = np.append(starts[1:], len(keys))
    for pair in contradicted:
        turn, document = (int(part) for part in divmod(keys[starts[pair]], len(documents)))
        kept, holder = int(grades[starts[pair]]), int(sources[starts[pair]])
        for row in range(starts[pair] + 1, ends[pair]):
            old_grade, old_holder, grade, source = kept, holder, int(grades[row]), int(sources[row])
            if grade == old_grade:
                continue
            if rule == "replace" or (rule == "max" and grade > old_grade):
                kept, holder = grade, source
            found = Conflict(
                turns[turn], documents[document].as_py(), old_grade, grade, kept, files[old_holder].name, files[source].name
            )
            conflicts.append((source, found))
        standing[pair], holders[pair] = kept, holder
    conflicts.sort(key=lambda item: (turn_sort_key(item[1].turn), item[1].document, item[0]))

    turn_codes, document_codes = np.divmod(keys[starts], len(documents))
    merged = Qrels(
        name="merged judgments",
        turns=tuple(turns),
        turn_codes=turn_codes.astype(np.int32),
        ids=Ids.from_arrow(documents).take(document_codes),
        grades=standing,
        notes=tuple(note for file in files for note in file.notes),
    )
    added = np.bincount(sources[starts], minlength=len(files))
    against = np.bincount([source for source, _ in conflicts], minlength=len(files))
    known = set(old.turns)
    joined = []
    for source, file in enumerate(new, 1):
        fresh = set(file.turns) - known
        known |= fresh
        repeated = len(file) - int(added[source]) - int(against[source])
        joined.append(Joined(file.name, len(file), int(added[source]), len(fresh), repeated, int(against[source])))
    names = tuple(file.name for file in files)
    return Merge(merged, names, holders.astype(np.int16), tuple(conflict for _, conflict in conflicts), tuple(joined))


def _keys(files: Sequence[Qrels], turns: Sequence[str], documents: pa.StringArray) -> npt.NDArray[np.int64]:
    """One number per judgment, file after file: the same for the same (turn, document) pair."""
    place = {turn: number for number, turn in enumerate(turns)}
    parts = []
    for file in files:
        turn_of = np.array([place[turn] for turn in file.turns], dtype=np.int64)
        document_of = as_numpy(pc.index_in(file.documents, value_set=documents)).astype(np.int64)
        parts.append(turn_of[file.turn_codes] * len(documents) + document_of[file.document_codes])
    return np.concatenate(parts)


def qrels_text(qrels: Qrels) -> str:
    """The judgments in TREC form (``turn 0 document grade``), by turn in natural order, then by document id."""
    in_order = sorted(range(len(qrels.turns)), key=lambda code: turn_sort_key(qrels.turns[code]))
    rank = np.empty(len(in_order), dtype=np.int32)
    rank[in_order] = np.arange(len(in_order))
    documents = qrels.documents.take(as_arrow(qrels.document_codes))
    table = pa.table({"turn": as_arrow(rank[qrels.turn_codes]), "document": documents})
    order = pc.sort_indices(table, sort_keys=[("turn", "ascending"), ("document", "ascending")])
    rows = as_numpy(order)
    lines = zip(qrels.turn_codes[rows], documents.take(order).to_pylist(), qrels.grades[rows], strict=True)
    return "".join(f"{qrels.turns[turn]} 0 {document} {grade}\n" for turn, document, grade in lines)
