"""The record of a turn: everything known about it in one object, and the file of all records."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, cast

from robustcs.errors import not_written
from robustcs.records.schema import (
    Graded,
    Head,
    RankingRest,
    TurnRecord,
)
from robustcs.records.table import FieldColumn, TurnField, TurnTable
from robustcs.tempfiles import temporary

#: Name of the file in the folder of a report.
TURNS = "turns.jsonl"
#: Largest size of the file in bytes; beyond it, rankings are cut.
MOST_BYTES = 100_000_000
#: Largest depth of rankings, and the depth within which passages' texts are kept.
DEEPEST, READ = 100, 10
#: Texts of passages in one line of the file.
_IN_LINE = 1_000
#: Fields whose key in the record differs from their name in filters.
KEYS = {"first": "first_relevant"}


class Details(Protocol):
    """What is known about turns and is not a field of filters."""

    @property
    def systems(self) -> Sequence[str]:
        """The names of all systems, in their order."""

    @property
    def formulations(self) -> Sequence[str]:
        """The names of the formulations: Original, the rewriters, Human."""

    @property
    def cutoff(self) -> int:
        """The largest cutoff of the measures."""

    @property
    def longest(self) -> int:
        """The number of passages in the longest ranking."""

    def history(self, turn: str) -> Sequence[tuple[str, str]]:
        """Return (speaker, text) of every message before the turn."""

    def texts_by_formulation(self, turn: str) -> Mapping[str, str]:
        """Return formulation → text."""

    def gold_answers(self, turn: str) -> Sequence[str]:
        """Return the gold answers."""

    def judged(self, turn: str) -> Mapping[int, int]:
        """Return grade → number of judged passages."""

    def judgments(self, turn: str) -> str:
        """Return a checksum of the judgments; empty without judgments."""

    def labels(self, turn: str) -> Mapping[str, tuple[Sequence[str], str]]:
        """Return reader → tags and note."""

    def ranking(self, system: str, turn: str) -> Sequence[Graded] | None:
        """Return the passages of the system, best first, with grades; None without a run.

        Of very long runs, these are only the best.
        """

    def retrieved(self, system: str, turn: str) -> tuple[int, int]:
        """Return the number of passages of the whole run, and how many of them are unjudged."""

    def absent(self, system: str, turn: str) -> str:
        """Return what a file of per-turn scores lacks: ``turn``, ``score`` or nothing."""

    def answer(self, system: str, turn: str) -> str | None:
        """Return the answer; None if there is none."""

    def given(self, system: str, turn: str) -> Sequence[Graded] | None:
        """Return the passages from which the answer was generated, with grades; None if unknown."""

    def unsupported(self, system: str, turn: str) -> Sequence[str] | None:
        """Return sentences without support; None if unknown."""

    def passage_texts(self, wanted: Collection[str]) -> Mapping[str, str]:
        """Return the texts of passages, as far as some source has them."""


class TurnRecords:
    """The turns of a project, from which records are made one at a time.

    head
        Returns the first line of the file with whole rankings, once everything is read.
    table
        The fields at the headline measure and threshold.
    cuts
        Every measure and threshold, as a filter writes them, the headline first.
    details
        Everything else.
    """

    def __init__(
        self,
        head: Callable[[], Head],
        table: TurnTable,
        cuts: Sequence[tuple[str, str]],
        details: Details,
    ) -> None:
        self.head, self.table, self.cuts, self.details = head, table, list(cuts), details
        self._places = {turn: place for place, turn in enumerate(table.ids)}
        self._tables = dict.fromkeys(self.cuts[:1], table)

    def add_cut(self, cut: tuple[str, str]) -> None:
        """Add a measure and threshold at which records have causes and places."""
        if cut not in self.cuts:
            self.cuts.append(cut)

    # ------------------------------------------------------------ one record

    def record(self, turn: str, depth: int | None = DEEPEST, complete: bool = True) -> TurnRecord:
        """Return the record of a turn.

        depth
            Number of passages of each ranking; None for all.
        complete
            Whether to include the fields on request.

        Raises :class:`KeyError` for an unknown turn.
        """
        place, details = self._places[turn], self.details
        systems: dict[str, dict[str, Any]] = {name: {"scores": {}} for name in details.systems}
        record: dict[str, Any] = {
            "turn": turn,
            "conversation": _one(self.table.columns["conversation"], "", place),
            "depth": _one(self.table.columns["depth"], "", place),
            "history": [{"who": who, "text": text} for who, text in details.history(turn)],
            "texts": dict(details.texts_by_formulation(turn)),
            "gold": list(details.gold_answers(turn)),
            "judged": {str(grade): number for grade, number in details.judged(turn).items()},
            **_known("judgments", details.judgments(turn)),
            "systems": systems,
            "slices": {},
            "labels": {
                coder: {"tags": list(tags), "note": note}
                for coder, (tags, note) in details.labels(turn).items()
            },
        }
        for name, own in systems.items():
            self._add_details(own, name, turn, depth)
        for one in self.table.columns.fields:
            if one.place != "none" and (complete or not one.on_request):
                self._add_field(record, one, turn, place)
        return cast(TurnRecord, record)

    def _add_details(self, own: dict[str, Any], name: str, turn: str, depth: int | None) -> None:
        """Add ranking, answer, given passages and unsupported sentences, where they are known."""
        own |= _known("absent", self.details.absent(name, turn))
        ranking = self.details.ranking(name, turn)
        if ranking is not None:
            own["ranking"] = list(ranking[:depth])
            own |= _known("rest", self._rest(name, turn, own["ranking"]))
        answer = self.details.answer(name, turn)
        if answer is None:
            return
        own["answer"] = answer
        given = self.details.given(name, turn)
        if given is not None:
            own["given"] = list(given)
        unsupported = self.details.unsupported(name, turn)
        if unsupported is not None:
            own["unsupported"] = list(unsupported)

    def _rest(self, name: str, turn: str, kept: Sequence[Graded]) -> RankingRest | None:
        """Return the number of passages below those that are kept; None if there are none."""
        passages, unjudged = self.details.retrieved(name, turn)
        if passages == len(kept):
            return None
        unjudged -= sum(grade is None for _, grade in kept)
        return {"passages": passages - len(kept), "unjudged": unjudged}

    def _add_field(self, record: dict[str, Any], one: TurnField, turn: str, place: int) -> None:
        """Add the values of a field to the turn and its systems."""
        key = KEYS.get(one.name, one.name)
        if one.by_cut:
            for measure, threshold in self.cuts:
                column = self.at((measure, threshold)).columns[one.name]
                for system in column.values:
                    value = _one(column, system, place)
                    if value is not None:
                        own = record["systems"].setdefault(system, {"scores": {}})
                        own.setdefault(key, {})[f"{measure}{threshold}"] = value
            return
        column = self.table.columns[one.name]
        for system in column.values:
            value = _one(column, system, place)
            if one.name == "first" and value is None and self.details.judged(turn):
                self._of(record, system)[key] = None
            if value is None:
                continue
            owner = self._of(record, system)
            if one.place == "own":
                owner[key] = value
            else:
                owner.setdefault(one.place, {})[one.name] = value

    def _of(self, record: dict[str, Any], system: str) -> dict[str, Any]:
        """Return the part of a record that has the values of a system, or of the turn itself."""
        if not system:
            return record
        return cast("dict[str, Any]", record["systems"].setdefault(system, {"scores": {}}))

    def at(self, cut: tuple[str, str]) -> TurnTable:
        """Return the table at a measure and threshold."""
        if self.table.at is None:
            return self.table
        if cut not in self._tables:
            self._tables[cut] = self.table.at(*cut)
        return self._tables[cut]

    # ------------------------------------------------------------ all records

    def write(self, path: Path, most: int = MOST_BYTES) -> int:
        """Write ``turns.jsonl`` and return the depth to which rankings are kept.

        ``most``: see :meth:`contents`. Raises :class:`OutputError` if the file cannot be written.
        """
        data, depth = self.contents(most)
        try:
            with temporary(path.parent) as draft:
                draft.write_bytes(data)
                draft.replace(path)
        except OSError as error:
            raise not_written(path, error) from None
        return depth

    def contents(self, most: int = MOST_BYTES) -> tuple[bytes, int]:
        """Return the contents of ``turns.jsonl``, and the depth to which rankings are kept.

        Rankings are kept as they are, or cut to :data:`DEEPEST`, or cut to the largest cutoff of
        the measures (at least :data:`READ`), whichever is the first that keeps the file below
        ``most`` bytes; the last is taken in any case.
        """
        least = max(READ, self.details.cutoff)
        depths = sorted({self.details.longest, DEEPEST, least}, reverse=True)
        depths = [depth for depth in depths if depth <= max(self.details.longest, least)]
        for depth in depths[:-1]:
            data = _encoded(self._lines(depth), most)
            if data is not None:
                return data, depth
        return _encoded(self._lines(depths[-1])) or b"", depths[-1]

    def _lines(self, depth: int) -> Iterator[Mapping[str, Any]]:
        """Yield the objects of the file, one per line."""
        texts = list(self.passages.items())
        if self.table.ids:
            self.record(self.table.ids[0])  # reads all files, which the first line names
        yield {**self.head(), "depth": depth, "turns": len(self.table.ids)}
        for turn in self.table.ids:
            yield self.record(turn, depth)
        for start in range(0, len(texts), _IN_LINE):
            yield {"passages": dict(texts[start : start + _IN_LINE])}

    @cached_property
    def passages(self) -> Mapping[str, str]:
        """Passage → text of those that are kept: of the top 10 and of answers."""
        wanted: dict[str, None] = {}
        for turn in self.table.ids:
            for system in self.details.systems:
                shown = (self.details.ranking(system, turn) or ())[:READ]
                given = self.details.given(system, turn) or ()
                wanted.update(dict.fromkeys(passage for passage, _ in (*shown, *given)))
        return self.details.passage_texts(wanted)


def _known(key: str, value: Any) -> dict[str, Any]:
    """Return an entry of a record; nothing for an empty value."""
    return {key: value} if value else {}


def _one(column: FieldColumn, system: str, place: int) -> Any:
    """Return the value of one turn as JSON has it; None if there is none."""
    if column.field.kind == "number":
        number = float(column.numbers[system][place])
        if math.isnan(number):
            return None
        return int(number) if number.is_integer() and column.field.place != "scores" else number
    words = column.values[system][place]
    if column.field.several:
        return list(words) or None
    return words[0] if len(words) else None


def _encoded(lines: Iterable[Mapping[str, Any]], most: float = math.inf) -> bytes | None:
    """Return objects as JSON lines; None if these have ``most`` bytes or more."""
    encoded: list[bytes] = []
    size = 0
    for line in lines:
        text = json.dumps(line, ensure_ascii=False, allow_nan=False)
        encoded.append(text.encode("utf-8", "replace") + b"\n")
        size += len(encoded[-1])
        if size >= most:
            return None
    return b"".join(encoded)
