"""From a run as it stands in its file to the ranking that is evaluated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from robustcs.inputs.runs import Run
from robustcs.policy import EvaluationPolicy


@dataclass(frozen=True, eq=False)
class Ranking:
    """The documents of every turn in the order that counts.

    starts
        int64[turns + 1]; turn i has the rows ``starts[i]:starts[i + 1]``, best first.
    document_codes
        int32[n], index into ``documents``.
    repeated
        Rows left out because their document stands higher in the same turn already.
    """

    name: str
    turns: tuple[str, ...]
    starts: npt.NDArray[np.int64]
    documents: pa.StringArray
    document_codes: npt.NDArray[np.int32]
    repeated: int
    notes: tuple[str, ...]


def rank_run(run: Run, policy: EvaluationPolicy) -> Ranking:
    """Order a run by the policy: score descending (float32), equal scores by document id descending, as trec_eval does.

    trec_eval stops at a document that stands twice in a turn; here the better ranked one counts and the others are left
    out and counted. Order by rank needs a run that was read with its rank column.
    """
    turns, rows = run.turn_codes, None
    if policy.order == "rank":
        assert run.ranks is not None, "read the run with ranks=True"
        if not _is_sorted(turns, run.ranks, len(run.turns)):
            rows = np.lexsort((run.ranks, turns))
    else:
        if not _is_sorted(turns, -run.scores, len(run.turns)):
            rows = np.lexsort((-run.scores, turns))
        rows = _order_ties(run, rows)
    codes = run.document_codes
    if rows is not None:
        codes, turns = codes[rows], turns[rows]
    keep = _first_occurrences(turns, codes, len(run.documents))
    repeated = 0
    if keep is not None:
        repeated = len(codes) - int(keep.sum())
        codes, turns = codes[keep], turns[keep]
    starts = _starts(turns, len(run.turns))
    if policy.depth is not None:
        position = np.arange(len(turns)) - starts[turns]
        codes, turns = codes[position < policy.depth], turns[position < policy.depth]
        starts = _starts(turns, len(run.turns))
    notes = list(run.notes)
    if repeated:
        notes.append(f"{run.name}: {repeated} repeated documents were left out, the best ranked of each counts")
    return Ranking(run.name, run.turns, starts, run.documents, codes, repeated, tuple(notes))


def _starts(turns: npt.NDArray[np.int32], count: int) -> npt.NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(np.bincount(turns, minlength=count))))


def _is_sorted(turns: npt.NDArray[np.int32], keys: npt.NDArray[Any], count: int) -> bool:
    """Whether the rows stand by turn code, and within a turn by ascending key."""
    same = turns[1:] == turns[:-1]
    if int(len(same) - same.sum()) != count - 1:
        return False
    return bool(np.all((keys[1:] >= keys[:-1]) | ~same))


def _order_ties(run: Run, rows: npt.NDArray[np.intp] | None) -> npt.NDArray[np.intp] | None:
    """``rows`` (None: file order) with every group of equal turn and score put into descending document order."""
    scores = run.scores if rows is None else run.scores[rows]
    turns = run.turn_codes if rows is None else run.turn_codes[rows]
    equal = (scores[1:] == scores[:-1]) & (turns[1:] == turns[:-1])
    if not equal.any():
        return rows
    tied = np.zeros(len(scores), dtype=bool)
    tied[1:] |= equal
    tied[:-1] |= equal
    group = np.concatenate(([0], np.cumsum(~equal)))[tied]
    places = np.flatnonzero(tied)
    members = places if rows is None else rows[places]
    names = run.documents.take(pa.array(run.document_codes[members]))
    table = pa.table({"group": group, "document": names})
    # Arrow compares strings by bytes, as strcmp in trec_eval does
    order = pc.sort_indices(table, sort_keys=[("group", "ascending"), ("document", "descending")]).to_numpy()
    rows = np.arange(len(scores)) if rows is None else rows.copy()
    rows[places] = members[order.astype(np.intp)]
    return rows


def _first_occurrences(
    turns: npt.NDArray[np.int32], codes: npt.NDArray[np.int32], documents: int
) -> npt.NDArray[np.bool_] | None:
    """Mask of the rows whose document has not stood in the turn before; None when that is all of them."""
    keys = turns.astype(np.int64) * documents + codes
    ordered = np.sort(keys)
    if not np.any(ordered[1:] == ordered[:-1]):
        return None
    _, first = np.unique(keys, return_index=True)
    keep = np.zeros(len(keys), dtype=bool)
    keep[first] = True
    return keep
