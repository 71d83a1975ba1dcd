"""The turns of a comparison: those of the new state with their changes, and changed ones in both."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Any

from robustcs.documents.headline import headline_measure
from robustcs.records.reading import TurnsFile
from robustcs.records.record import READ, TurnRecords
from robustcs.records.schema import Head, TurnRecord
from robustcs.records.table import Contribution, FieldColumns, TurnTable, Values, aligned_numbers
from robustcs.studies.compare.analysis import Comparison
from robustcs.studies.compare.fields import CHANGE
from robustcs.studies.compare.states import ProjectState
from robustcs.studies.fields import turns_of_file

#: Measure → system → turn → new minus old score, of the turns that both states score.
Changes = Mapping[str, Mapping[str, Mapping[str, float]]]
#: Parts of the old state of a system that a reader sees beside the new one.
_SHOWN_OF_OLD = ("scores", "ranking", "answer", "given", "unsupported")


def changes_between(old: ProjectState, new: ProjectState) -> Changes:
    """Return the changes of all scores that both states have."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for name in new.systems:
        if name not in old.systems:
            continue
        before = old.systems[name].scores
        for measure, scores in new.systems[name].scores.items():
            earlier = before.get(measure, {})
            common = {turn: scores[turn] - earlier[turn] for turn in scores if turn in earlier}
            if common:
                found.setdefault(measure, {})[name] = common
    return found


def with_change(table: TurnTable, changes: Changes, measure: str = "") -> TurnTable:
    """Return the table of turns with the field ``change``.

    ``measure``: that of ``at:``; without it, the headline measure counts, or if that is not
    compared, the headline measure of those that are.
    """
    headline = table.headline
    if headline not in changes and changes:
        headline = headline_measure(changes)
    of_measure = changes.get(measure or headline, {})
    columns = table.columns
    contributed = [Contribution(one, partial(_values, columns, one.name)) for one in columns.fields]
    contributed.append(Contribution(CHANGE, partial(_aligned, table.ids, of_measure)))
    at = table.at

    def with_change_at(asked: str, threshold: str) -> TurnTable:
        assert at is not None
        other = at(asked, threshold)
        return with_change(other, changes, other.column(asked).field.name)

    return TurnTable(
        table.ids,
        FieldColumns(contributed),
        table.searched,
        None if at is None else with_change_at,
        headline,
    )


def _values(columns: FieldColumns, name: str) -> Values:
    return columns[name].values


def _aligned(ids: Iterable[str], changes: Mapping[str, Mapping[str, float]]) -> Values:
    return {system: aligned_numbers(list(ids), values) for system, values in changes.items()}


def record_of(turns: TurnRecords, changes: Changes, turn: str) -> TurnRecord:
    """Return the record of a turn in the new state, with the changes of its scores."""
    record = turns.record(turn)
    changed: dict[str, dict[str, float]] = {}
    for measure, by_system in changes.items():
        for system, values in by_system.items():
            if turn in values:
                changed.setdefault(system, {})[measure] = values[turn]
    if changed:
        record["change"] = changed
    return record


# ---------------------------------------------------------------- both states


def changed_turns(result: Comparison) -> TurnRecords:
    """Return the turns whose score changed, in both states, and in the order of ``change``.

    A run is the system of the new state, and ``RUN, old`` that of the old one. The latter has only
    what a reader sees next to the new one, so that causes and outcomes in filters are those of the
    new state, like everything that is not a system's.

    Raises :class:`ValueError` if the states were not read from records.
    """
    if result.records is None:
        raise ValueError("the states were not read from records")
    old, new = result.records
    runs, ids = (list(dict.fromkeys(result.turns[name])) for name in ("system", "turn"))
    changes = changes_between(result.old, result.new)
    ids = with_change(new.table, changes).ordered(ids, CHANGE.name)
    records = {turn: _joined(old, new, changes, turn, runs) for turn in ids}
    wanted: dict[str, None] = {}
    for record in records.values():
        for own in record["systems"].values():
            shown = (*own.get("ranking", ())[:READ], *own.get("given", ()))
            wanted.update(dict.fromkeys(passage for passage, _ in shown))
    texts = {**old.details.passage_texts(wanted), **new.details.passage_texts(wanted)}
    # the names of formulations and groups are not those of these systems
    head: Head = {**new.head(), "formulations": {}, "groups": {}}
    found = turns_of_file(TurnsFile(head, records, texts))
    table = with_change(found.table, changes)
    return TurnRecords(found.head, table, found.cuts, found.details)


def _joined(
    old: TurnRecords, new: TurnRecords, changes: Changes, turn: str, runs: Collection[str]
) -> TurnRecord:
    """Return the record of a turn with runs in both states."""
    before, after = old.record(turn), record_of(new, changes, turn)
    systems: dict[str, Any] = {}
    for run in runs:
        earlier: Mapping[str, Any] = before["systems"].get(run, {})
        shown = {key: earlier[key] for key in _SHOWN_OF_OLD if key in earlier}
        systems[f"{run}, old"] = {"scores": {}, **shown}
        systems[run] = after["systems"].get(run, {"scores": {}})
    texts: dict[str, str] = {}
    for name, text in after["texts"].items():
        earlier_text = before["texts"].get(name)
        if name in runs and earlier_text is not None and earlier_text != text:
            texts[f"{name}, old"] = earlier_text
        texts[name] = text
    return {**after, "systems": systems, "texts": texts}
