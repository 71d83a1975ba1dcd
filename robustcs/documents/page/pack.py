"""Pack the turns of a project for the page: columns, texts, rankings, and every passage once.

:func:`packed_turns` returns one JSON object. Lists *per turn* are in the order of ``ids``, and what
is unknown is null. Names are never keys of objects, which scripts would put in another order.

ids, anchors
    The turns, and the address of each in the page.
systems, formulations
    (name, label) of all systems, and the names of the formulations: Original, rewriters, Human.
headline
    The headline measure; empty without scores.
cuts
    The measures and thresholds of ``at:``, the headline first: ``names`` of the measure,
    ``operator``, ``value`` and ``label``.
fields
    The fields of filters, as :class:`~robustcs.records.table.TurnField` has them, with ``columns``:
    for each cut (a single one if the field does not depend on it) a list of (system, values).
    Numbers are per turn; words are ``{"words": [each different list of words, …], "of": [place in
    this list, per turn]}``.
messages, history
    (speaker, text) of each message once, and per turn the places of those before it.
texts, answers
    (formulation or system, texts per turn).
gold, judged
    Per turn the gold answers, and (grade, number of passages), the highest grade first.
labels
    (place of a turn, reader, tags, note) of the readers in the project's reviews.
rankings, given
    (system, per turn the passages: place in ``passages``, grade or null, and so on in turn).
unsupported
    (system, sentences per turn).
passages, passage_texts
    The ids of all passages, and their texts in the same order.
depth, relevant, seed
    The largest number of passages kept of a ranking, the relevance level and the random seed.
left_out
    Sentences that say what the page has no room for.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from robustcs.documents.text import turn_anchor
from robustcs.documents.words import cut_label, measure_label
from robustcs.evaluation.thresholds import parse_threshold
from robustcs.records.record import DEEPEST, READ, TurnRecords
from robustcs.records.schema import Graded
from robustcs.records.table import FieldColumn, TurnField
from robustcs.wording import system_name

#: Largest size of the packed turns in bytes; ten megabytes leave the rest to tables and figures.
MOST_BYTES = 9_000_000
#: Bytes in the page for each compressed byte, since base64 has no others.
_BASE64 = 4 / 3
_NO_TEXTS = (
    "The texts of passages are left out, because the page would be larger than 10 MB. Words of"
    " filters are not searched in them."
)
_NO_DEPTH = f"Rankings are cut to the top {READ}, because the page would be larger than 10 MB."


def packed_turns(
    turns: TurnRecords, relevant: int = 1, seed: int = 0, most: int = MOST_BYTES
) -> dict[str, Any]:
    """Return the object described above.

    If it would be larger than ``most`` bytes, first the texts of passages are left out, then
    ranks below 10; turns and scores never.

    relevant
        The relevance level.
    """
    details = turns.details
    packed: dict[str, Any] = {
        "ids": list(turns.table.ids),
        "anchors": list(map(turn_anchor, turns.table.ids)),
        "systems": [(name, system_name(name)) for name in details.systems],
        "formulations": list(details.formulations),
        "headline": turns.table.headline,
        "cuts": [_cut(*cut) for cut in turns.cuts],
        "fields": [_field(turns, one) for one in turns.table.columns.fields],
        **_texts(turns),
        "relevant": relevant,
        "seed": seed,
    }
    deep = _rankings(turns, min(DEEPEST, max(details.longest, READ)))
    texts = {"passage_texts": _passage_texts(turns, deep["passages"])}
    size, deep_size = _size(packed), _size(deep)
    if size + deep_size + _size(texts) <= most:
        return {**packed, **deep, **texts, "left_out": []}
    told = [_NO_TEXTS] if any(texts["passage_texts"]) else []
    if size + deep_size > most and deep["depth"] > READ:
        deep = _rankings(turns, READ)
        told.append(_NO_DEPTH)
    return {**packed, **deep, "passage_texts": [], "left_out": told}


def _size(value: Any) -> float:
    """Return about how many bytes a JSON value takes in the page."""
    encoded = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    return len(zlib.compress(encoded, 1)) * _BASE64


class _Pool:
    """Values, each once, with their places."""

    def __init__(self) -> None:
        self.places: dict[Any, int] = {}

    def place(self, value: Hashable) -> int:
        """Return the place of a value, which is added if it is new."""
        return self.places.setdefault(value, len(self.places))


# ---------------------------------------------------------------- fields


def _cut(measure: str, threshold: str) -> dict[str, Any]:
    parsed = parse_threshold(threshold)
    return {
        "names": list(dict.fromkeys((measure, measure_label(measure)))),
        "operator": parsed.operator,
        "value": parsed.value,
        "label": cut_label((measure, threshold)),
    }


def _field(turns: TurnRecords, one: TurnField) -> dict[str, Any]:
    """Return a field with its values at every cut that it depends on."""
    tables = [turns.at(cut) for cut in turns.cuts] if one.by_cut else [turns.table]
    return {
        "name": one.name,
        "aliases": list(one.aliases),
        "kind": one.kind,
        "says": one.says,
        "per_system": one.per_system,
        "by_cut": one.by_cut,
        "several": one.several,
        "place": one.place,
        "columns": [_column(table.columns[one.name]) for table in tables or [turns.table]],
    }


def _column(column: FieldColumn) -> list[tuple[str, Any]]:
    if column.field.kind == "number":
        return [(system, _numbers(values)) for system, values in column.numbers.items()]
    return [(system, _words(values)) for system, values in column.values.items()]


def _numbers(values: np.ndarray) -> list[float | int | None]:
    """Return numbers as JSON has them, whole ones without decimals."""
    found: list[float | int | None] = []
    for value in values.tolist():
        if value != value:
            found.append(None)
        else:
            found.append(int(value) if value.is_integer() else value)
    return found


def _words(values: Sequence[Sequence[str]] | np.ndarray) -> dict[str, Any]:
    pool = _Pool()
    places = [pool.place(tuple(words)) for words in values]
    return {"words": list(pool.places), "of": places}


# ---------------------------------------------------------------- texts


def _texts(turns: TurnRecords) -> dict[str, Any]:
    """Return texts, answers and labels of every turn, and the messages before it."""
    details, ids = turns.details, turns.table.ids
    messages = _Pool()
    history = [[messages.place(tuple(one)) for one in details.history(turn)] for turn in ids]
    texts = [details.texts_by_formulation(turn) for turn in ids]
    names = list(dict.fromkeys(name for own in texts for name in own))
    labels = []
    for place, turn in enumerate(ids):
        for coder, (tags, note) in details.labels(turn).items():
            labels.append((place, coder, list(tags), note))
    return {
        "messages": list(messages.places),
        "history": history,
        "texts": [(name, [own.get(name) for own in texts]) for name in names],
        "answers": _by_system(turns, details.answer),
        "gold": [list(details.gold_answers(turn)) for turn in ids],
        "judged": [list(details.judged(turn).items()) for turn in ids],
        "labels": labels,
        "unsupported": _by_system(turns, details.unsupported),
    }


def _by_system(turns: TurnRecords, value: Callable[[str, str], Any]) -> list[tuple[str, list[Any]]]:
    """Return (system, values per turn), without systems that have none."""
    found = []
    for system in turns.details.systems:
        values = [value(system, turn) for turn in turns.table.ids]
        if any(one is not None for one in values):
            found.append((system, values))
    return found


# ---------------------------------------------------------------- passages


def _rankings(turns: TurnRecords, depth: int) -> dict[str, Any]:
    """Return rankings cut to ``depth``, passages of answers, and the ids of all of them."""
    passages = _Pool()

    def top(system: str, turn: str) -> list[int | None] | None:
        ranking = turns.details.ranking(system, turn)
        return None if ranking is None else _flat(ranking[:depth], passages)

    def given(system: str, turn: str) -> list[int | None] | None:
        used = turns.details.given(system, turn)
        return None if used is None else _flat(used, passages)

    rankings, used = _by_system(turns, top), _by_system(turns, given)
    return {
        "rankings": rankings,
        "given": used,
        "passages": list(passages.places),
        "depth": depth,
    }


def _flat(ranking: Sequence[Graded], passages: _Pool) -> list[int | None]:
    found: list[int | None] = []
    for passage, grade in ranking:
        found += [passages.place(passage), grade]
    return found


def _passage_texts(turns: TurnRecords, passages: Sequence[str]) -> list[str | None]:
    """Return the texts of the passages that are read; of others, and of unknown ones, null."""
    return list(map(turns.passages.get, passages)) if turns.passages else []
