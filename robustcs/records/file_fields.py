"""The turns of ``turns.jsonl`` in the form of those of a project: fields, orders and records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, cast

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.thresholds import Threshold, parse_threshold
from robustcs.records.filter import normalised
from robustcs.records.implied import (
    coder_values,
    correct_values,
    judged_values,
    loss_values,
    score_field,
    searched_texts,
    tag_values,
)
from robustcs.records.reading import ROLES, TurnsFile
from robustcs.records.record import KEYS, READ, TurnRecords
from robustcs.records.recorded import RecordedTurns
from robustcs.records.table import (
    NO_SYSTEM,
    Contribution,
    FieldColumns,
    TurnField,
    TurnTable,
    Values,
    aligned_numbers,
    aligned_words,
)

#: A measure and threshold as filters write them.
Cut = tuple[str, str]


def turns_in(file: TurnsFile, fields: Iterable[TurnField]) -> TurnRecords:
    """Return the turns of a file; ``fields``: those that studies declare."""
    found = _FileFields(file, list(fields))
    table = found.table(found.headline)
    return TurnRecords(lambda: file.head, table, found.cuts, found.details)


class _FileFields:
    """The fields that the records of a file have."""

    def __init__(self, file: TurnsFile, fields: Sequence[TurnField]) -> None:
        self.file = file
        self.fields = fields
        self.ids = list(file.records)
        names = file.head["formulations"]
        formulations = sorted(names, key=lambda name: ROLES.index(names[name]))
        cutoffs = [parse_measure(name, given=True).cutoff or 0 for name in self.measures]
        cutoff = max(cutoffs, default=0)
        self.details = RecordedTurns(file.records, file.passages, formulations, cutoff)

    @cached_property
    def searched(self) -> list[str]:
        """The text of every turn in which words of a filter are searched."""
        return searched_texts(self.ids, self.details)

    @cached_property
    def measures(self) -> list[str]:
        """The measures of all scores."""
        names = dict.fromkeys(self.file.head["judges"])
        for record in self.file.records.values():
            for own in record["systems"].values():
                names.update(dict.fromkeys(own["scores"]))
        return list(names)

    @cached_property
    def cuts(self) -> list[Cut]:
        """Every measure and threshold for which the file has causes, the headline first."""
        names = [one.name for one in self.fields if one.by_cut]
        found = dict.fromkeys([self.file.head["headline"]])
        for record in self.file.records.values():
            for own in record["systems"].values():
                for name in names:
                    found.update(dict.fromkeys(cast("dict[str, Any]", own).get(name, ())))
        cuts = (self._cut(written) for written in found)
        return [cut for cut in cuts if cut is not None]

    def _cut(self, written: str) -> Cut | None:
        """Return ``ndcg_cut_3>=0.5`` as a measure and a threshold; None without a threshold."""
        for measure in sorted(self.measures, key=len, reverse=True):
            if written.startswith(measure) and written != measure:
                return measure, written.removeprefix(measure)
        return None

    @property
    def headline(self) -> Cut | None:
        """The measure and threshold of texts; None without one."""
        return self._cut(self.file.head["headline"])

    def table(self, cut: Cut | None) -> TurnTable:
        """Return the table of turns, with causes and places at ``cut``."""
        measure = cut[0] if cut else self.file.head["headline"]
        return TurnTable(
            self.ids,
            FieldColumns(self._contributions(cut)),
            lambda: self.searched,
            self._at,
            measure,
        )

    def _at(self, measure: str, threshold: str) -> TurnTable:
        """Return the table at a measure and threshold.

        Raises :class:`UsageError` for one that the file does not have.
        """
        asked = parse_threshold(threshold)
        for cut in self.cuts:
            names = (cut[0], parse_measure(cut[0], given=True).label)
            if normalised(measure) in map(normalised, names) and parse_threshold(cut[1]) == asked:
                return self.table(cut)
        known = ", ".join("".join(cut) for cut in self.cuts)
        raise UsageError(
            "no-such-measure",
            f"the report has no results at {measure}{threshold}",
            f"choose from {known}" if known else "leave out at:",
        )

    def _contributions(self, cut: Cut | None) -> list[Contribution]:
        found = []
        for one in self.fields:
            compute = self._declared(one, cut)
            if compute is not None:
                found.append(Contribution(one, compute))
        for name in self.measures:
            found.append(Contribution(score_field(name), partial(self._scores, name)))
        for name, per_system in self._slices.items():
            field = TurnField(
                name, "words", f"the property {name}", "turns", per_system, place="slices"
            )
            found.append(Contribution(field, partial(self._slice, name, per_system)))
        return found

    def _declared(self, one: TurnField, cut: Cut | None) -> Any:
        """Return the function that computes a declared field; None if the file has none of it."""
        derived = {
            "turn": self._turn,
            "conversation": self._conversation,
            "depth": self._depth,
            "judged": partial(judged_values, self.ids, self.details),
            "unjudged": self._unjudged,
            "tag": partial(tag_values, self.ids, self.details),
            "coder": partial(coder_values, self.ids, self.details),
        }
        if one.name in derived:
            return derived[one.name]
        if one.name == "loss":
            return partial(self._losses, cut[0]) if cut else None
        if one.name == "correct":
            return partial(self._correct, cut[0], parse_threshold(cut[1])) if cut else None
        if KEYS.get(one.name, one.name) in self._keys and not (one.by_cut and cut is None):
            return partial(self._own, one, cut)
        return None

    @cached_property
    def _keys(self) -> frozenset[str]:
        """The keys of all systems."""
        records = self.file.records.values()
        return frozenset(
            key for record in records for own in record["systems"].values() for key in own
        )

    def _own(self, one: TurnField, cut: Cut | None) -> Values:
        """Return the values of a field that the systems of records have under its own name."""
        key = KEYS.get(one.name, one.name)
        found: dict[str, dict[str, Any]] = {}
        for turn, record in self.file.records.items():
            for system, own in record["systems"].items():
                value = cast("dict[str, Any]", own).get(key)
                if one.by_cut and value is not None:
                    value = value.get("".join(cut or ()))
                if key in own:
                    found.setdefault(system, {})
                if value is not None:
                    found[system][turn] = value
        if one.kind == "number":
            return {name: aligned_numbers(self.ids, values) for name, values in found.items()}
        return {name: self._words(values) for name, values in found.items()}

    def _words(self, values: Mapping[str, Any]) -> list[tuple[str, ...]]:
        """Return the words of every turn; a value may be one word or several."""
        words = {
            turn: tuple(value) if isinstance(value, list) else (str(value),)
            for turn, value in values.items()
        }
        return aligned_words(self.ids, words)

    def _scores(self, name: str) -> dict[str, np.ndarray]:
        found: dict[str, dict[str, float]] = {}
        for turn, record in self.file.records.items():
            for system, own in record["systems"].items():
                if name in own["scores"]:
                    found.setdefault(system, {})[turn] = own["scores"][name]
        return {system: aligned_numbers(self.ids, values) for system, values in found.items()}

    @cached_property
    def _slices(self) -> dict[str, bool]:
        """Property → whether systems have it."""
        found: dict[str, bool] = {}
        for record in self.file.records.values():
            found.update(dict.fromkeys(record["slices"], False))
            for own in record["systems"].values():
                found.update(dict.fromkeys(own.get("slices", ()), True))
        return found

    def _slice(self, name: str, per_system: bool) -> Values:
        if not per_system:
            records = self.file.records.items()
            return {
                NO_SYSTEM: self._words(
                    {turn: one["slices"][name] for turn, one in records if name in one["slices"]}
                )
            }
        found: dict[str, dict[str, Any]] = {}
        for turn, record in self.file.records.items():
            for system, own in record["systems"].items():
                if name in own.get("slices", {}):
                    found.setdefault(system, {})[turn] = own["slices"][name]
        return {system: self._words(values) for system, values in found.items()}

    # ------------------------------------------------------------ fields that records imply

    def _turn(self) -> Values:
        return {NO_SYSTEM: [(turn,) for turn in self.ids]}

    def _conversation(self) -> Values:
        return {NO_SYSTEM: [(one["conversation"],) for one in self.file.records.values()]}

    def _depth(self) -> Values:
        depths = [one["depth"] for one in self.file.records.values()]
        return {NO_SYSTEM: np.array([np.nan if one is None else one for one in depths], float)}

    def _unjudged(self) -> Values:
        found: dict[str, dict[str, float]] = {}
        for turn, record in self.file.records.items():
            for system, own in record["systems"].items():
                if "ranking" in own and record["judged"]:
                    top = own["ranking"][:READ]
                    holes = sum(grade is None for _, grade in top)
                    found.setdefault(system, {})[turn] = float(holes)
        return {system: aligned_numbers(self.ids, values) for system, values in found.items()}

    def _losses(self, measure: str) -> Values:
        groups = self.file.head["groups"].values()
        named = [(group["baseline"], group["sets"]) for group in groups]
        return loss_values(self._scores(measure), named)

    def _correct(self, measure: str, threshold: Threshold) -> Values:
        return correct_values(self._scores(measure), threshold)
