"""Turn a run as read from its file into the ranking that is evaluated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise
from typing import Any

import numpy as np

from robustcs.inputs.ids import Ids, document_ids, first_of_pairs
from robustcs.inputs.runs import Run
from robustcs.lazy import npt
from robustcs.policy import EvaluationPolicy
from robustcs.wording import counted

#: Rows whose ids are searched or decoded together, so that they fit the processor's cache.
_ROWS = 16_384
#: Turn → its best passages with their grades; None for unjudged passages.
Top = dict[str, list[tuple[str, int | None]]]


@dataclass(frozen=True, eq=False)
class Ranking:
    """The documents of every turn in the order that is evaluated.

    starts
        int64[turns + 1]; turn i has the rows ``starts[i]:starts[i + 1]``, best first.
    ids
        The document ids of the run in the order of its file; a document of several turns occurs several times.
    document_codes
        int32[n]: indices into ``ids``.
    tied
        bool[n]: whether the document has the same score (or rank) as the previous one of the turn.
    repeated
        Number of rows skipped because their document is ranked higher in the same turn.
    """

    name: str
    turns: tuple[str, ...]
    starts: npt.NDArray[np.int64]
    ids: Ids
    document_codes: npt.NDArray[np.int32]
    tied: npt.NDArray[np.bool_]
    repeated: int
    notes: tuple[str, ...]

    def by_turn(self, depth: int | None = None) -> Iterator[tuple[str, list[str]]]:
        """Yield every turn with the ids of its top ``depth`` documents, or of all if ``depth`` is None."""
        codes, lengths = self.document_codes, np.diff(self.starts)
        if depth is not None:
            codes = codes[np.arange(len(codes)) - np.repeat(self.starts[:-1], lengths) < depth]
            lengths = np.minimum(lengths, depth)
        pieces = (self.ids.take(codes[start : start + _ROWS]).texts() for start in range(0, len(codes), _ROWS))
        names = chain.from_iterable(pieces)
        for turn, length in zip(self.turns, lengths.tolist(), strict=True):
            yield turn, list(islice(names, length))


def rank_run(run: Run, policy: EvaluationPolicy) -> Ranking:
    """Order a run by the policy: by score (float32) descending, ties by document id descending, as trec_eval does.

    If a document occurs twice in a turn, trec_eval stops; here the better ranked row counts, and the others are skipped and
    counted. With ``documents``, passages first get the id of their document, so the best passage of a document counts. Ordering
    by rank requires a run read with its rank column.
    """
    if policy.documents:
        run = replace(run, ids=document_ids(run.ids))
    turns = run.turn_codes
    if policy.order == "rank":
        assert run.ranks is not None, "read the run with ranks=True"
        rows = _sorted_rows(turns, run.ranks, len(run.turns))
        keys: npt.NDArray[Any] = run.ranks
    else:
        rows = _order_ties(run, _sorted_rows(turns, -run.scores, len(run.turns)))
        keys = run.scores
    rows = _first_occurrences(run, rows)
    repeated = len(run) - len(rows)
    starts = _starts(turns[rows], len(run.turns))
    if policy.depth is not None:
        rows = rows[np.arange(len(rows)) - starts[turns[rows]] < policy.depth]
        starts = _starts(turns[rows], len(run.turns))
    turns, keys = turns[rows], keys[rows]
    tied = np.zeros(len(turns), dtype=bool)
    tied[1:] = (keys[1:] == keys[:-1]) & (turns[1:] == turns[:-1])
    notes = (*run.notes, *notes_on_repeated(run.name, repeated, policy))
    return Ranking(run.name, run.turns, starts, run.ids, rows, tied, repeated, notes)


def notes_on_repeated(name: str, repeated: int, policy: EvaluationPolicy) -> tuple[str, ...]:
    """Return a note on documents that occur several times in a turn."""
    if not repeated:
        return ()
    if policy.documents:
        return (f"{name}: {repeated:,} further passages of documents skipped; the best-ranked passage of each document counts",)
    return (f"{name}: {counted(repeated, 'repeated document')} skipped; the best-ranked row of each counts",)


def _starts(turns: npt.NDArray[np.int32], count: int) -> npt.NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(np.bincount(turns, minlength=count))))


def _sorted_rows(turns: npt.NDArray[np.int32], keys: npt.NDArray[Any], count: int) -> npt.NDArray[np.int32]:
    """Return the rows by turn code and ascending key within a turn; most files already have this order."""
    same = turns[1:] == turns[:-1]
    if int(len(same) - same.sum()) == count - 1 and np.all((keys[1:] >= keys[:-1]) | ~same):
        return np.arange(len(turns), dtype=np.int32)
    return np.lexsort((keys, turns)).astype(np.int32)


def _order_ties(run: Run, rows: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Return ``rows`` with ties within a turn in descending order of document ids."""
    scores, turns = run.scores[rows], run.turn_codes[rows]
    equal = (scores[1:] == scores[:-1]) & (turns[1:] == turns[:-1])
    if not equal.any():
        return rows
    tied = np.zeros(len(scores), dtype=bool)
    tied[1:] |= equal
    tied[:-1] |= equal
    places = tied.nonzero()[0]
    group = np.cumsum(~equal[places - 1])  # of the last row for the first one, which begins a group either way
    rows = rows.copy()
    rows[places] = rows[places][run.ids.take(rows[places]).descending(group)]
    return rows


def _first_occurrences(run: Run, rows: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Return the rows whose document has not occurred earlier in the turn."""
    if len(rows) <= _ROWS and first_of_pairs(run.turn_codes, run.ids) is None:
        return rows
    keep = np.ones(len(rows), dtype=bool)
    turns, starts = run.turn_codes[rows], _starts(run.turn_codes, len(run.turns))
    bounds = starts[np.searchsorted(starts, range(0, len(rows), _ROWS))]
    for start, end in pairwise([*dict.fromkeys(bounds.tolist()), len(rows)]):
        first = first_of_pairs(turns[start:end], run.ids.take(rows[start:end]))
        if first is not None:
            keep[start:end] = first == np.arange(end - start)
    return rows[keep]
