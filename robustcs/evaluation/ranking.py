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
_FEW = 0.1
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
    constant
        Number of turns with at least three documents that all have the same score (or rank), before ``depth`` applies.
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
        """Yield every turn with the ids of its top ``depth`` documents, or of all if ``depth`` is None."""
        codes, lengths = self.document_codes, np.diff(self.starts)
        if depth is not None:
            codes = codes[places_within(lengths) < depth]
            lengths = np.minimum(lengths, depth)
        pieces = (
            self.ids.take(codes[start : start + _ROWS]).texts()
            for start in range(0, len(codes), _ROWS)
        )
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
    keys: npt.NDArray[Any] = -run.scores
    if policy.order == "rank":
        assert run.ranks is not None, "read the run with ranks=True"
        keys = run.ranks
    rows = _sorted_rows(run.turn_codes, keys, len(run.turns))
    turns, tied = _ties(run, keys, rows)
    if policy.order == "score":
        rows = _order_ties(run, rows, tied)
    first = _first_occurrences(run, rows)
    repeated = len(rows) - len(first)
    if repeated:
        rows = first
        turns, tied = _ties(run, keys, rows)
    starts = _starts(turns, len(run.turns))
    lengths = np.diff(starts)
    constant = int(
        ((np.bincount(turns[tied], minlength=len(lengths)) == lengths - 1) & (lengths > 2)).sum()
    )
    if policy.depth is not None:
        kept = np.arange(len(rows)) - starts[turns] < policy.depth
        rows, tied = rows[kept], tied[kept]
        starts = _starts(turns[kept], len(run.turns))
    notes = (*run.notes, *notes_on_rows(run.name, repeated, constant, len(run.turns), policy))
    return Ranking(run.name, run.turns, starts, run.ids, rows, tied, repeated, notes, constant)


def notes_on_rows(
    name: str, repeated: int, constant: int, turns: int, policy: EvaluationPolicy
) -> tuple[str, ...]:
    """Return notes on documents that occur several times in a turn, and on :attr:`Ranking.constant` turns if they are many."""
    notes: list[str] = []
    if repeated and policy.documents:
        kind = "of documents skipped; the best-ranked passage of each document counts"
        notes = [Note.of(name, counted(repeated, "further passage"), kind)]
    elif repeated:
        kind = "skipped; the best-ranked row of each counts"
        notes = [Note.of(name, counted(repeated, "repeated document"), kind)]
    if policy.order == "score" and constant > _FEW * turns:
        ordered, some = (
            f"{BY_RANK} orders them by rank",
            f"{constant:,} of {counted(turns, 'turn')}",
        )
        kind = f"all scores of a turn are equal, so its passages are ordered by id; {ordered}"
        alone = (
            f"{name}: all scores are equal in {some}, whose passages are ordered by id; {ordered}"
        )
        notes.append(Note.of(name, some, kind, alone))
    return tuple(notes)


def notes_on_ranks(run: Run, path: StrPath, policy: EvaluationPolicy) -> tuple[str, ...]:
    """Return a note if the ranks in a file of TREC lines contradict its scores in many turns.

    A turn counts if the passage of its best rank does not have the highest score. The ranks are read only if this is so for the
    first passage of many turns.
    """
    from robustcs.inputs.sniff import identify

    if policy.order == "rank" or _contradicting(run, np.arange(len(run))) <= _FEW * len(run.turns):
        return ()
    kind = identify(parts_of(path)[0])
    try:
        ranks = (
            read_run(path, run.name, ranks=True).ranks
            if kind is not None and kind.shape == "lines"
            else None
        )
    except InputError:  # ranks that are not numbers cannot be used either
        return ()
    found = 0 if ranks is None else _contradicting(run, ranks)
    if found <= _FEW * len(run.turns):
        return ()
    some = f"in {found:,} of {counted(len(run.turns), 'turn')},"
    what = (
        "another passage has a higher score than that of rank 1; passages are ordered by score, and"
    )
    what = f"{what} {BY_RANK} orders them by rank"
    return (Note.of(run.name, some.rstrip(","), what, f"{run.name}: {some} {what}"),)


def _contradicting(run: Run, places: Codes) -> int:
    """Return the number of turns whose only row with the lowest place does not have the highest score."""
    turns, count = run.turn_codes, len(run.turns)
    best, highest = np.full(count, np.iinfo(np.int64).max), np.full(count, -np.inf, np.float32)
    np.minimum.at(best, turns, places)
    np.maximum.at(highest, turns, run.scores)
    rows = np.flatnonzero(places == best[turns])
    only = rows[np.bincount(turns[rows], minlength=count)[turns[rows]] == 1]
    return int((run.scores[only] < highest[turns[only]]).sum())


def _starts(turns: npt.NDArray[np.int32], count: int) -> Codes:
    return np.concatenate(([0], np.cumsum(np.bincount(turns, minlength=count))))


def _sorted_rows(
    turns: npt.NDArray[np.int32], keys: npt.NDArray[Any], count: int
) -> npt.NDArray[np.int32]:
    """Return the rows by turn code and ascending key within a turn; most files already have this order."""
    same = turns[1:] == turns[:-1]
    if int(len(same) - same.sum()) == count - 1 and np.all((keys[1:] >= keys[:-1]) | ~same):
        return np.arange(len(turns), dtype=np.int32)
    return np.lexsort((keys, turns)).astype(np.int32)


def _ties(
    run: Run, keys: npt.NDArray[Any], rows: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int32], Mask]:
    """Return the turns of ``rows``, and bool[n]: whether a row has the same turn and key as the previous one."""
    turns, keys = run.turn_codes.take(rows), keys.take(rows)
    tied = np.zeros(len(rows), dtype=bool)
    tied[1:] = (keys[1:] == keys[:-1]) & (turns[1:] == turns[:-1])
    return turns, tied


def _order_ties(run: Run, rows: npt.NDArray[np.int32], tied: Mask) -> npt.NDArray[np.int32]:
    """Return ``rows`` with ties within a turn in descending order of document ids; ``tied``: see :func:`_ties`."""
    if not tied.any():
        return rows
    places = (tied | np.append(tied[1:], False)).nonzero()[0]
    group = np.cumsum(~tied[places])
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
