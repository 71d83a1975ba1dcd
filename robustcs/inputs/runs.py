"""Runs: TREC lines ``turn Q0 document rank score tag``, tables with column names, and JSON of current collections.

:mod:`robustcs.inputs.file_formats` lists the JSON formats. Three columns, ``turn document rank``, are MS MARCO's format.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from robustcs.errors import ProblemList, input_error
from robustcs.inputs.columns import (
    Columns,
    Kind,
    Layout,
    column_pieces,
    joined,
    kind_unless_plain,
    read_columns,
)
from robustcs.inputs.ids import Ids
from robustcs.inputs.paths import PooledFile, StrPath, shown
from robustcs.inputs.readings import CLASH
from robustcs.inputs.tables import RANK_NAMES, SCORE_NAMES, read_table
from robustcs.inputs.text import id_text, number_of, whole_of
from robustcs.inputs.trec_lines import MS_MARCO, RUN_COLUMNS
from robustcs.lazy import npt
from robustcs.messages import Message, OptionName
from robustcs.wording import Note

_IDS: dict[str, Kind] = {"turn": "label", "document": "text"}
_WITHOUT_RANK = Layout(
    "run",
    RUN_COLUMNS,
    {**_IDS, "score": "single"},
    "write the six columns of a TREC run",
    more="rank",
)
#: By whether the ranks are read.
_LAYOUTS = {
    False: _WITHOUT_RANK,
    True: _WITHOUT_RANK._replace(kinds={**_WITHOUT_RANK.kinds, "rank": "integer"}),
}
_THREE_COLUMNS = _WITHOUT_RANK._replace(
    columns=("turn", "document", "rank"), kinds={**_IDS, "rank": "integer"}, more=""
)
#: How to order passages by rank, for notes.
BY_RANK = Message(OptionName("order", "rank"), ' (order = "rank" in [policy])')
#: Number of rows in which ascending scores are sought, and fewest rows of a turn: fewer may ascend by chance.
_SAMPLED, _FEWEST = 1000, 5


@dataclass(frozen=True, eq=False)
class Run:
    """A run in columns: n rows in file order.

    turns
        The turn ids, each once, in order of first appearance.
    turn_codes
        int32[n], index into ``turns``.
    ids
        The document id of every row; ``documents`` contains them as Arrow strings[n].
    scores
        float32[n]; trec_eval keeps scores as 32-bit floats.
    ranks
        int64[n], the file's rank column; only if requested.
    notes
        Notes on skipped lines (header, comments).
    parts
        For several files: the number of rows of each.
    """

    name: str
    turns: tuple[str, ...]
    turn_codes: npt.NDArray[np.int32]
    ids: Ids
    scores: npt.NDArray[np.float32]
    ranks: npt.NDArray[np.int64] | None = None
    notes: tuple[str, ...] = field(default=())
    parts: tuple[int, ...] = field(default=())

    @classmethod
    def of(
        cls,
        name: str,
        rows: Sequence[tuple[str, str, float]],
        ranks: Sequence[int] | None = None,
        notes: tuple[str, ...] = (),
    ) -> Run:
        """Return a run of rows (turn, document, score); scores beyond the range of 32-bit floats are infinite."""
        codes = {turn: code for code, turn in enumerate(dict.fromkeys(turn for turn, _, _ in rows))}
        turns = np.array([codes[turn] for turn, _, _ in rows], np.int32)
        with np.errstate(over="ignore"):
            scores = np.array([score for _, _, score in rows], np.float64).astype(np.float32)
        ids = Ids.of([document for _, document, _ in rows])
        return cls(
            name,
            tuple(codes),
            turns,
            ids,
            scores,
            None if ranks is None else np.array(ranks, np.int64),
            notes,
        )

    def __len__(self) -> int:
        return len(self.turn_codes)


def read_run(path: StrPath, name: str | None = None, ranks: bool = False) -> Run:
    """Read a run, plain or compressed. ``name`` defaults to the file's name; ``ranks`` keeps the rank column.

    Column 2 and the tag are not read, and the rank column only with ``ranks`` (real ranks start at 0, at 1, or repeat).
    Scores are later compared as 32-bit floats, so a score beyond their range becomes infinite. If a file has ranks or an order
    but no scores, the score of a passage is its negative rank. Several files form one run with different turns.

    Raises :class:`InputError` with all malformed lines (bounded), for a file of another kind, and for a turn in two of several
    files.
    """
    if isinstance(path, PooledFile):
        return _whole(list(_pieces_of_files(path, lambda file: [read_run(file, name, ranks)])))
    name = Path(path).name if name is None else name
    found, chunks = kind_unless_plain(path, "run")
    if found is not None and "run" in found.kinds and found.shape != "lines":
        rows, places = _checked_rows(path, found.shape, ranks)
        return Run.of(name, rows, places if ranks else None)
    if found is not None and found.family in MS_MARCO.values():
        return _from_three(path, name, read_columns(path, _THREE_COLUMNS), ranks)
    return _from_trec(name, read_columns(path, _LAYOUTS[ranks], chunks), ranks)


class ScatteredError(Exception):
    """The rows of a turn are not contiguous, so the run cannot be evaluated in pieces."""


def run_pieces(path: StrPath, name: str | None = None, ranks: bool = False) -> Iterator[Run]:
    """Read a run as :func:`read_run` does, in pieces of whole turns, so that only one piece is in memory.

    The notes and parts of the last piece are those of the run. Raises :class:`InputError` as ``read_run`` does, and
    :class:`ScatteredError` if a turn continues after another one has begun.
    """
    if isinstance(path, PooledFile):
        yield from _pieces_of_files(path, lambda file: run_pieces(file, name, ranks))
        return
    name = Path(path).name if name is None else name
    found, chunks = kind_unless_plain(path, "run")
    if found is not None and (found.shape != "lines" or found.family in MS_MARCO.values()):
        yield read_run(path, name, ranks)
        return
    open_: list[
        Columns
    ] = []  # rows of one turn, and the last piece: most runs of few turns are a single one
    for columns in column_pieces(path, _LAYOUTS[ranks], chunks):
        codes = columns.numbers("turn")
        if bool((codes[1:] < codes[:-1]).any()) or (open_ and codes[0] < _last_turn(open_[-1])):
            raise ScatteredError
        if open_:
            last = open_.pop()
            done = _last_turn(last)
            cut = int(np.searchsorted(last.numbers("turn"), done))
            if cut or (open_ and _last_turn(open_[-1]) != done):
                yield _from_trec(
                    name, joined([*open_, last.rows(slice(0, cut))], compact=False), ranks
                )
                open_, last = [], last.rows(slice(cut, None))
            open_.append(last)
        open_.append(columns)
    yield _from_trec(name, joined(open_, compact=False), ranks)


def _pieces_of_files(
    path: PooledFile, pieces: Callable[[Path | str], Iterable[Run]]
) -> Iterator[Run]:
    """Yield the pieces of several files. Raises :class:`InputError` for a turn in two of them."""
    seen: dict[str, int] = {}
    notes: tuple[str, ...] = ()
    rows: list[int] = []
    for place, file in enumerate(path.files):
        last: Run | None = None
        rows.append(0)
        for piece in pieces(file):
            for turn in piece.turns:
                if seen.setdefault(turn, place) != place:
                    other = shown(path.files[seen[turn]])
                    found = f"turn {turn} is also in {other}, another file of the same run"
                    raise input_error(
                        file, None, found, f"name two systems, or {CLASH}", "contradicting-files"
                    )
            rows[-1] += len(piece)
            last = piece
            yield replace(piece, notes=(*notes, *piece.notes), parts=tuple(rows))
        notes += last.notes if last else ()


def _whole(pieces: Sequence[Run]) -> Run:
    """Join pieces without common turns into one run."""
    shifts = np.cumsum([0, *(len(piece.turns) for piece in pieces[:-1])], dtype=np.int32)
    ranks = [piece.ranks for piece in pieces if piece.ranks is not None]
    return replace(
        pieces[-1],
        turns=tuple(turn for piece in pieces for turn in piece.turns),
        turn_codes=np.concatenate(
            [piece.turn_codes + shift for piece, shift in zip(pieces, shifts, strict=True)]
        ),
        ids=Ids.joined([piece.ids for piece in pieces]),
        scores=np.concatenate([piece.scores for piece in pieces]),
        ranks=np.concatenate(ranks) if ranks else None,
    )


def _last_turn(columns: Columns) -> int:
    return int(columns.numbers("turn")[-1])


def _from_trec(name: str, columns: Columns, ranks: bool) -> Run:
    """Return a run of the turns in this piece, with a note if the scores of its first turn ascend, as ranks do."""
    scores = columns.numbers("score")
    if ranks:
        return _run(name, columns, scores, columns.numbers("rank"))
    turn = columns.numbers("turn")[:_SAMPLED]
    first = scores[:_SAMPLED][turn == turn[0]]
    if len(first) < _FEWEST or bool((first[1:] <= first[:-1]).any()):
        return _run(name, columns, scores, None)
    turn_, best = f"turn {columns.labels[turn[0]]}", "the passage in its last row counts as best"
    advice = Message("if they are ranks or distances, correct them or use ", BY_RANK)
    alone = f"{name}: the scores of {turn_} ascend, and {best}; {advice}"
    note = Note.of(name, turn_, f"the scores of a turn ascend, and {best}; {advice}", alone)
    return _run(name, columns, scores, None, note)


def _run(
    name: str,
    columns: Columns,
    scores: npt.NDArray[np.float32],
    ranks: npt.NDArray[np.int64] | None,
    *notes: str,
) -> Run:
    codes, ids = columns.numbers("turn"), columns.ids("document")
    first, last = int(codes.min()), int(codes.max())
    turns = tuple(columns.labels[first : last + 1])
    return Run(
        name, turns, codes - np.int32(first), ids, scores, ranks, (*columns.notes(name), *notes)
    )


def _from_three(path: StrPath, name: str, columns: Columns, ranks: bool) -> Run:
    """Return a run of ``turn document rank``."""
    numbers = columns.numbers("rank")
    if np.unique(np.stack([columns.numbers("turn"), numbers]), axis=1).shape[1] < len(numbers):
        found = "three columns, but the numbers repeat within a turn, so they are not ranks"
        raise input_error(
            path, None, found, Message("use grades with ", OptionName("qrels")), "other-kind"
        )
    note = Note.of(name, "", "three columns, read as turn, document and rank")
    return _run(name, columns, (-numbers).astype(np.float32), numbers if ranks else None, note)


_LARGEST_RANK = 10**9


#: Turn, passage, unchecked score and rank (None if the file has none), line.
_Row = tuple[str, str, object, object, int | None]


def _checked_rows(
    path: StrPath, shape: str, ranks: bool
) -> tuple[list[tuple[str, str, float]], list[int]]:
    """Return (turn, document, score) of every row, and the ranks, of a JSON run (``shape`` json) or a table with column names.

    Raises :class:`InputError` with every malformed row (bounded), or if there are no rows.
    """
    problems = ProblemList(path)
    rows: list[tuple[str, str, float]] = []
    places: list[int] = []
    counts: dict[str, int] = {}
    for turn, document, score, given, line in (_from_json if shape == "json" else _from_table)(
        path, problems
    ):
        counts[turn] = place = counts.get(turn, 0) + 1
        # ranks of real runs are unreliable, so they are read only if needed
        rank = (
            place
            if given is None or not (ranks or score is None)
            else whole_of(given, _LARGEST_RANK)
        )
        value = (None if rank is None else -float(rank)) if score is None else number_of(score)
        if value is None or rank is None:
            what, cell, wanted = (
                ("rank", given, "whole") if rank is None else ("score", score, "decimal")
            )
            found = f"turn {turn} passage {document}: {what} {str(cell)[:40]!r} is not a {wanted} number"
            problems.add(line, found, f"write a {wanted} number", "not-a-number")
            continue
        rows.append((sys.intern(turn), document, value))  # one text for all rows of a turn
        places.append(rank)
    problems.finish(rows, "passages")
    return rows, places


def _from_table(path: StrPath, problems: ProblemList) -> Iterator[_Row]:
    table = read_table(path)
    assert table is not None
    places = table.find(SCORE_NAMES), table.find(RANK_NAMES)
    for line, turn, document, cells in table.passages(problems):
        # a missing cell is no number
        score, rank = (
            None if place is None else "" if cells[place] is None else cells[place]
            for place in places
        )
        yield turn, document, score, rank, line


def _from_json(path: StrPath, problems: ProblemList) -> Iterator[_Row]:
    """Yield the passages of every turn; if one of them has no score, the file order ranks the turn."""
    from robustcs.inputs.file_formats import run_format_of
    from robustcs.inputs.mtrag import json_records

    records = list(json_records(path, problems))
    kind = run_format_of(records[0].fields) if records else None
    for turn, fields, line in kind.entries(records, problems) if kind else ():
        passages = kind.passages(fields) if kind else []
        if passages and not id_text(turn):
            problems.add(
                line, "no turn id", "add a turn id such as 31_4 to every passage", "no-turn-id"
            )
            continue
        ordered = any(score is None for _, score in passages)
        # without scores, a passage counts at its first occurrence
        for document, score in (
            {repr(one): (one, None) for one, _ in passages}.values() if ordered else passages
        ):
            if passage := id_text(document):
                yield id_text(turn), passage, score, None, line
            else:
                problems.add(
                    line,
                    f"turn {turn}: a passage without an id",
                    "add an id to every passage",
                    "no-passage-id",
                )
