"""Relevance judgments (qrels): ``turn iteration document grade``, one judged passage a line."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from robustcs.errors import MAX_PROBLEMS, NotInstalledError, ProblemList, UsageError, at_line, input_error
from robustcs.inputs.arrays import as_numpy
from robustcs.inputs.columns import Columns, Field, Layout, line_of_row, read_columns

#: What ``irds:`` identifiers start with.
IRDS_PREFIX = "irds:"
#: Grades are kept as int16; real ones are -2 to 4.
MAX_GRADE = 1000


def _advise(columns: int) -> str:
    if columns >= 6:
        return "it looks like a run, which --run, --original, --qr or --human takes"
    if columns == 3:
        return "it looks like per-turn scores, which --scores takes"
    return "write the four columns of qrels"


_LAYOUT = Layout(
    what="qrels file",
    columns=("turn", "iteration", "document", "grade"),
    fields=(Field("turn", 0, "label"), Field("document", 2, "label"), Field("grade", 3, "integer")),
    more=False,
    advise=_advise,
)


@dataclass(frozen=True, eq=False)
class Qrels:
    """Judgments, columnar: n judged (turn, document) pairs, each once.

    turns
        The turn ids, each once, in order of first appearance.
    turn_codes, document_codes
        int32[n], indices into ``turns`` and ``documents``.
    documents
        Arrow strings, the document ids, each once.
    grades
        int16[n]; negative grades are judged and not relevant.
    """

    name: str
    turns: tuple[str, ...]
    turn_codes: npt.NDArray[np.int32]
    documents: pa.StringArray
    document_codes: npt.NDArray[np.int32]
    grades: npt.NDArray[np.int16]
    notes: tuple[str, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.turn_codes)


def read_qrels(source: str | os.PathLike[str]) -> Qrels:
    """Read judgments from a file, plain or compressed, or from ir_datasets (``irds:trec-cast/v1/2020/judged``).

    A pair that is judged twice with the same grade counts once and is noted; with different grades it is a problem, since
    every score would depend on which line wins.

    Raises :class:`InputError` for malformed lines and contradictions, :class:`NotInstalledError` for ``irds:`` without
    that package.
    """
    text = os.fspath(source)
    if text.startswith(IRDS_PREFIX):
        return _read_ir_datasets(text.removeprefix(IRDS_PREFIX))
    columns = read_columns(source, _LAYOUT)
    return _from_columns(Path(source).name, columns, source)


def _from_columns(name: str, columns: Columns, path: str | os.PathLike[str]) -> Qrels:
    table = columns.table
    turns, documents = (table[column].chunk(0) for column in ("turn", "document"))
    turn_codes, document_codes = as_numpy(turns.indices), as_numpy(documents.indices)
    grades = as_numpy(table["grade"].chunk(0))
    problems = ProblemList(path)

    def line(row: int) -> int | None:
        return None if os.fspath(path).startswith(IRDS_PREFIX) else line_of_row(path, row)

    extreme = np.flatnonzero(np.abs(grades) > MAX_GRADE)
    for row in extreme[:MAX_PROBLEMS]:
        problems.add(
            line(row), f"grade {grades[row]} is out of range",
            "grades are small whole numbers such as 0 to 4", "bad-grade",
        )  # fmt: skip
    problems.total = len(extreme)
    problems.raise_if_any()
    notes = [f"{name}: {columns.comments} comment lines were left out"] if columns.comments else []
    if columns.header:
        notes.append(f"{name}: the first line is a header and was left out")

    keys = turn_codes.astype(np.int64) * len(documents.dictionary) + document_codes
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    if len(first) < len(keys):
        contradicting = np.flatnonzero(grades != grades[first[inverse]])
        for row in contradicting[:MAX_PROBLEMS]:
            other = int(first[inverse[row]])
            earlier = line(other)
            problems.add(
                line(row),
                f"turn {turns[int(row)]} document {documents[int(row)]} has grade {grades[row]}"
                f" but grade {grades[other]} " + ("before" if earlier is None else f"in {at_line(path, earlier)}"),
                "keep one of the two",
                "contradicting-grades",
            )
        problems.total = len(contradicting)
        problems.raise_if_any()
        notes.append(f"{name}: {len(keys) - len(first)} repeated judgments were counted once")
        keep = np.sort(first)
        turn_codes, document_codes, grades = turn_codes[keep], document_codes[keep], grades[keep]
    return Qrels(
        name=name,
        turns=tuple(turns.dictionary.to_pylist()),
        turn_codes=turn_codes,
        documents=documents.dictionary,
        document_codes=document_codes,
        grades=grades.astype(np.int16),
        notes=tuple(notes),
    )


def _read_ir_datasets(identifier: str) -> Qrels:
    try:
        import ir_datasets  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        raise NotInstalledError(
            "no-ir-datasets", f"{IRDS_PREFIX}{identifier} needs ir_datasets", "pip install ir_datasets"
        ) from None
    try:
        dataset = ir_datasets.load(identifier)
    except KeyError:
        raise UsageError(
            "unknown-dataset", f"ir_datasets knows no {identifier!r}", "see the catalogue of ir_datasets"
        ) from None
    if not dataset.has_qrels():
        raise UsageError("no-qrels", f"{identifier} has no qrels", "name a subset that has, such as …/judged")
    rows = [(qrel.query_id, qrel.doc_id, qrel.relevance) for qrel in dataset.qrels_iter()]
    if not rows:
        raise input_error(f"{IRDS_PREFIX}{identifier}", None, "no judgments", "name another subset", "empty")
    turns, documents, grades = zip(*rows, strict=True)
    table = pa.table(
        {
            "turn": pa.array(turns, pa.string()).dictionary_encode(),
            "document": pa.array(documents, pa.string()).dictionary_encode(),
            "grade": pa.array(grades, pa.int64()),
        }
    )
    return _from_columns(f"{IRDS_PREFIX}{identifier}", Columns(table, 0, False), f"{IRDS_PREFIX}{identifier}")
