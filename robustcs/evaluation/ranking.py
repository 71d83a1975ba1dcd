"""Turn a run as read from its file into the ranking that is evaluated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise
from typing import Any

import numpy as np

from robustcs.errors import InputError
from robustcs.inputs.ids import Ids, document_ids, first_of_pairs
from robustcs.inputs.paths import StrPath, parts_of
from robustcs.inputs.runs import BY_RANK, Run, read_run
from robustcs.lazy import npt
from robustcs.policy import EvaluationPolicy
from robustcs.statistics import Codes, Mask, places_within
from robustcs.wording import Note, counted

#: Rows whose ids are searched or decoded together, so that they fit the processor's cache.
_ROWS = 16_384
#: Share of turns up to which equal scores or contradicting ranks give no note.
_UNNOTED_SHARE = 0.1
#: Fewest documents of a turn whose equal scores are conspicuous.
_LEAST_CONSTANT = 3
#: Turn → its best passages with their grades; None for unjudged passages.
GradedTop = dict[str, list[tuple[str, int | None]]]


@dataclass(frozen=True, eq=False)
class Ranking:
    """The documents of every turn in the order that is evaluated.

    starts
        int64[turns + 1]; turn i has the rows ``starts[i]:starts[i + 1]``, best first.
    ids
        The document ids of the run in the order of its file; a document of several turns occurs
        several times.
    document_codes
        int32[n]: indices into ``ids``.
    tied
        bool[n]: whether the document has the same score (or rank) as the previous one of the turn.
    repeated
        Number of rows skipped because their document is ranked higher in the same turn.
    constant
        Number of turns with at least three documents that all have the same score (or rank), before
        ``depth`` applies.
    """

    name: str
    turns: tuple[str, ...]
    starts: Codes
    ids: Ids
    document_codes: npt.NDArray[np.int32]
    tied: Mask
    repeated: int
    notes: tuple[str, ...]
    constant: int = 0

    def by_turn(self, depth: int | None = None) -> Iterator[tuple[str, list[str]]]:
        """Yield every turn with the ids of its top ``depth`` documents, or of all if it is None."""
        codes, lengths = self.document_codes, np.diff(self.starts)
        if depth is not None:
            codes = codes[places_within(lengths) < depth]
            lengths = np.minimum(lengths, depth)
        documents = chain.from_iterable(self._decoded(codes))
        for turn, length in zip(self.turns, lengths.tolist(), strict=True):
            yield turn, list(islice(documents, length))

    def _decoded(self, codes: npt.NDArray[np.int32]) -> Iterator[list[str]]:
        """Yield the ids of the documents in parts."""
        for start in range(0, len(codes), _ROWS):
            yield self.ids.take(codes[start : start + _ROWS]).texts()


def rank_run(run: Run, policy: EvaluationPolicy) -> Ranking:
    """Order a run by the policy.

    By score (float32) descending, ties by document id descending, as trec_eval does. If a document
    occurs twice in a turn, trec_eval stops; here the better ranked row counts, and the others are
    skipped and counted. With ``documents``, passages first get the id of their document, so the
    best passage of a document counts. Ordering by rank requires a run read with its rank column.
    """
    if policy.documents:
        run = replace(run, ids=document_ids(run.ids))
    keys: npt.NDArray[Any] = -run.scores
    if policy.order == "rank":
        assert run.ranks is not None, "read the run with ranks=True"
        keys = run.ranks
    rows = _sorted_rows(run.turn_codes, keys, len(run.turns))
    turns, tied = _ties(run, keys, rows)
    if policy.order == "score":
        rows = _order_ties(run, rows, tied)
    first_rows = _first_occurrences(run, rows)
    repeated = len(rows) - len(first_rows)
    if repeated:
        rows = first_rows
        turns, tied = _ties(run, keys, rows)
    starts = _starts(turns, len(run.turns))
    constant = _constant_turns(turns[tied], np.diff(starts))
    if policy.depth is not None:
        kept = np.arange(len(rows)) - starts[turns] < policy.depth
        rows, tied = rows[kept], tied[kept]
        starts = _starts(turns[kept], len(run.turns))
    notes = (*run.notes, *notes_on_rows(run.name, repeated, constant, len(run.turns), policy))
    return Ranking(run.name, run.turns, starts, run.ids, rows, tied, repeated, notes, constant)


def _constant_turns(turns_of_ties: npt.NDArray[np.int32], lengths: Codes) -> int:
    """Return the number of turns in which every row but the first is tied with the one before."""
    ties = np.bincount(turns_of_ties, minlength=len(lengths))
    return int(((ties == lengths - 1) & (lengths >= _LEAST_CONSTANT)).sum())


def notes_on_rows(
    name: str, repeated: int, constant: int, turns: int, policy: EvaluationPolicy
) -> tuple[str, ...]:
    """Return notes on documents that occur several times in a turn, and on constant scores.

    ``repeated``, ``constant``: see :class:`Ranking`; the latter are noted if they are many.
    ``turns``: the number of turns of the run.
    """
    notes: list[str] = []
    if repeated and policy.documents:
        skipped = "of documents skipped; the best-ranked passage of each document counts"
        notes.append(Note.of(name, counted(repeated, "further passage"), skipped))
    elif repeated:
        skipped = "skipped; the best-ranked row of each counts"
        notes.append(Note.of(name, counted(repeated, "repeated document"), skipped))
    if policy.order == "score" and constant > _UNNOTED_SHARE * turns:
        which = f"{constant:,} of {counted(turns, 'turn')}"
        advice = f"{BY_RANK} orders them by rank"
        kind = f"all scores of a turn are equal, so its passages are ordered by id; {advice}"
        note = (
            f"{name}: all scores are equal in {which}, whose passages are ordered by id; {advice}"
        )
        notes.append(Note.of(name, which, kind, note))
    return tuple(notes)


def notes_on_ranks(run: Run, path: StrPath, policy: EvaluationPolicy) -> tuple[str, ...]:
    """Return a note if the ranks in a file of TREC lines contradict its scores in many turns.

    A turn counts if the passage of its best rank does not have the highest score. The ranks are
    read only if this is so for the first passage of many turns.
    """
    few = _UNNOTED_SHARE * len(run.turns)
    if policy.order == "rank" or _contradicting(run, np.arange(len(run))) <= few:
        return ()
    ranks = _ranks_of(run, path)
    contradicting = 0 if ranks is None else _contradicting(run, ranks)
    if contradicting <= few:
        return ()
    where = f"in {contradicting:,} of {counted(len(run.turns), 'turn')}"
    kind = (
        "another passage has a higher score than that of rank 1; passages are ordered by score,"
        f" and {BY_RANK} orders them by rank"
    )
    return (Note.of(run.name, where, kind, f"{run.name}: {where}, {kind}"),)


def _ranks_of(run: Run, path: StrPath) -> Codes | None:
    """Return the rank column of a run's file; None without one, or if it cannot be read."""
    from robustcs.inputs.sniff import identify

    kind = identify(parts_of(path)[0])
    if kind is None or kind.shape != "lines":
        return None
    try:
        return read_run(path, run.name, ranks=True).ranks
    except InputError:  # ranks that are not numbers cannot be used either
        return None


def _contradicting(run: Run, ranks: Codes) -> int:
    """Return the number of turns whose best row does not have the highest score.

    The best row is the only one with the lowest of ``ranks`` (int64[n]: of each row). A turn with
    several such rows does not count.
    """
    turns, count = run.turn_codes, len(run.turns)
    best_rank = np.full(count, np.iinfo(np.int64).max)
    highest_score = np.full(count, -np.inf, np.float32)
    np.minimum.at(best_rank, turns, ranks)
    np.maximum.at(highest_score, turns, run.scores)
    best_rows = np.flatnonzero(ranks == best_rank[turns])
    rows_of_turn = np.bincount(turns[best_rows], minlength=count)
    best_rows = best_rows[rows_of_turn[turns[best_rows]] == 1]
    return int((run.scores[best_rows] < highest_score[turns[best_rows]]).sum())


def _starts(turns: npt.NDArray[np.int32], count: int) -> Codes:
    """Return int64[count + 1]: the first row of every turn, and the number of rows."""
    return np.concatenate(([0], np.cumsum(np.bincount(turns, minlength=count))))


def blocks_of_turns(starts: Codes, rows: int) -> list[tuple[int, int]]:
    """Return ranges of successive turns (first, end) with about this number of ``rows`` each.

    ``starts``: int64[turns + 1], the first row of every turn, and the number of all rows.
    """
    ends = np.searchsorted(starts, range(rows, int(starts[-1]), rows))
    bounds = sorted({0, *ends.tolist(), len(starts) - 1})
    return list(pairwise(bounds))


def _sorted_rows(
    turns: npt.NDArray[np.int32], keys: npt.NDArray[Any], count: int
) -> npt.NDArray[np.int32]:
    """Return int32[n]: the rows by turn code, and by ascending key within a turn.

    ``count``: the number of turns. Most files already have this order.
    """
    same_turn = turns[1:] == turns[:-1]
    changes = len(same_turn) - int(same_turn.sum())
    # turns are numbered by first appearance: if each is in one piece, their codes ascend
    if changes == count - 1 and np.all((keys[1:] >= keys[:-1]) | ~same_turn):
        return np.arange(len(turns), dtype=np.int32)
    return np.lexsort((keys, turns)).astype(np.int32)


def _ties(
    run: Run, keys: npt.NDArray[Any], rows: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int32], Mask]:
    """Return the turns of ``rows``, and whether each has the turn and key of the previous one.

    int32[n] and bool[n].
    """
    turns, keys = run.turn_codes.take(rows), keys.take(rows)
    tied = np.zeros(len(rows), dtype=bool)
    tied[1:] = (keys[1:] == keys[:-1]) & (turns[1:] == turns[:-1])
    return turns, tied


def _order_ties(run: Run, rows: npt.NDArray[np.int32], tied: Mask) -> npt.NDArray[np.int32]:
    """Return ``rows`` with ties in descending order of document ids; ``tied``: of :func:`_ties`."""
    if not tied.any():
        return rows
    tied_with_next = np.append(tied[1:], False)
    places = (tied | tied_with_next).nonzero()[0]
    groups = np.cumsum(~tied[places])  # a group begins where a row is not tied with the previous
    tied_rows = rows[places]
    ordered = rows.copy()
    ordered[places] = tied_rows[run.ids.take(tied_rows).descending(groups)]
    return ordered


def _first_occurrences(run: Run, rows: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Return the rows whose document has not occurred earlier in the turn."""
    if len(rows) <= _ROWS and first_of_pairs(run.turn_codes, run.ids) is None:
        return rows
    # a few turns at a time, so that their ids fit the processor's cache
    is_first = np.ones(len(rows), dtype=bool)
    turns, starts = run.turn_codes[rows], _starts(run.turn_codes, len(run.turns))
    for first_turn, end_turn in blocks_of_turns(starts, _ROWS):
        start, end = starts[first_turn], starts[end_turn]
        first = first_of_pairs(turns[start:end], run.ids.take(rows[start:end]))
        if first is not None:
            is_first[start:end] = first == np.arange(end - start)
    return rows[is_first]
