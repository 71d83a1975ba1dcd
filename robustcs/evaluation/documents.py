"""A ranking of passages evaluated as a ranking of documents."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robustcs.evaluation.ranking import Ranking
from robustcs.inputs.arrays import as_arrow, as_numpy
from robustcs.inputs.documents import document_ids
from robustcs.inputs.ids import Ids


def as_documents(ranking: Ranking, depth: int | None = None) -> Ranking:
    """The ranking of documents that a ranking of passages ``DOC-N`` makes: the first passage of every document counts.

    ``depth`` keeps the first so many documents of every turn; rank the passages without a depth then.
    """
    size = len(ranking.turns)
    documents = document_ids(ranking.documents.take(as_arrow(ranking.document_codes)))
    turns = np.repeat(np.arange(size), np.diff(ranking.starts))
    names = documents.dictionary_encode()
    keys = turns * max(len(names.dictionary), 1) + as_numpy(names.indices)
    rows = np.sort(np.unique(keys, return_index=True)[1])
    further = len(keys) - len(rows)
    starts = np.searchsorted(turns[rows], np.arange(size + 1))
    if depth is not None:
        rows = rows[np.arange(len(rows)) - starts[turns[rows]] < depth]
        starts = np.searchsorted(turns[rows], np.arange(size + 1))
    # passages of one score stand side by side; what is left of them still does
    level = np.cumsum(~ranking.tied)[rows]
    tied = np.zeros(len(rows), dtype=bool)
    tied[1:] = level[1:] == level[:-1]
    note = f"{ranking.name}: passages DOC-N count as documents DOC; {further:,} further passages of a document left out"
    return replace(
        ranking, starts=starts, ids=Ids.from_arrow(documents), document_codes=rows.astype(np.int32), tied=tied,
        notes=(*ranking.notes, note),
    )  # fmt: skip
