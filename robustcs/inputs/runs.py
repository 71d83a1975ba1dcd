"""TREC runs: ``turn Q0 document rank score tag``, one retrieved passage a line."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from robustcs.inputs.arrays import as_numpy
from robustcs.inputs.columns import Field, Layout, read_columns


def _advise(columns: int) -> str:
    return {
        3: "it looks like per-turn scores, which --scores takes",
        4: "it looks like qrels, which --qrels takes",
    }.get(columns, "write the six columns of a TREC run")


_LAYOUT = Layout(
    what="run",
    columns=("turn", "Q0", "document", "rank", "score", "tag"),
    fields=(Field("turn", 0, "label"), Field("document", 2, "text"), Field("score", 4, "real")),
    more=True,
    advise=_advise,
)
_LAYOUT_WITH_RANK = Layout(_LAYOUT.what, _LAYOUT.columns, (*_LAYOUT.fields, Field("rank", 3, "integer")), _LAYOUT.more, _advise)


@dataclass(frozen=True, eq=False)
class Run:
    """A run as it stands in its file, columnar: n rows in file order.

    turns
        The turn ids, each once, in order of first appearance.
    turn_codes
        int32[n], index into ``turns``.
    documents
        Arrow strings[n], the document id of every row.
    scores
        float32[n]; trec_eval keeps scores as 32-bit floats.
    ranks
        int64[n], the file's rank column; only where it was asked for.
    notes
        What was passed over while reading (header, comments).
    """

    name: str
    turns: tuple[str, ...]
    turn_codes: npt.NDArray[np.int32]
    documents: pa.StringArray
    scores: npt.NDArray[np.float32]
    ranks: npt.NDArray[np.int64] | None = None
    notes: tuple[str, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.turn_codes)


def read_run(path: str | os.PathLike[str], name: str | None = None, ranks: bool = False) -> Run:
    """Read a run, plain or compressed. ``name`` defaults to the file's name; ``ranks`` keeps the rank column.

    Column 2 and the tag are not read; the rank column only with ``ranks`` (real runs start at 0, at 1, or repeat it).
    Scores are compared as 32-bit floats later, so a score beyond their range becomes infinite.

    Raises :class:`InputError` for malformed lines, with all of them (bounded).
    """
    columns = read_columns(path, _LAYOUT_WITH_RANK if ranks else _LAYOUT)
    table = columns.table
    turns = table["turn"].chunk(0)
    name = Path(path).name if name is None else name
    with np.errstate(over="ignore"):
        scores = as_numpy(table["score"].chunk(0)).astype(np.float32)
    return Run(
        name=name,
        turns=tuple(turns.dictionary.to_pylist()),
        turn_codes=as_numpy(turns.indices),
        documents=table["document"].chunk(0),
        scores=scores,
        ranks=as_numpy(table["rank"].chunk(0)) if ranks else None,
        notes=tuple(
            note
            for note, there in (
                (f"{name}: the first line is a header and was left out", columns.header),
                (f"{name}: {columns.comments} comment lines were left out", columns.comments),
            )
            if there
        ),
    )
