"""Turns packed for the page: columns, texts once, and what is left out of a page that is too large."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest

from robustcs.documents.page.pack import packed_turns
from robustcs.records.record import TurnRecords
from robustcs.records.recorded import RecordedTurns
from robustcs.records.schema import Graded, TurnRecord
from robustcs.records.table import NO_SYSTEM, Contribution, FieldColumns, TurnField, TurnTable

#: Systems whose names a script would sort, or take for something else.
SYSTEMS = ["10", "9", "__proto__"]


def record(turn: str, rankings: dict[str, list[Graded]], **other: Any) -> TurnRecord:
    systems = {name: {"scores": {}, "ranking": top} for name, top in rankings.items()}
    known: Any = {
        "turn": turn,
        "conversation": "1",
        "depth": 1,
        "history": [],
        "texts": {},
        "gold": [],
        "judged": {},
        "systems": systems,
        "slices": {},
        "labels": {},
    }
    known.update(other)
    return known  # type: ignore[no-any-return]


def turns_of(records: list[TurnRecord], texts: dict[str, str], at: bool = False) -> TurnRecords:
    """Turns with a number, words, and a field that depends on the threshold."""
    ids = [one["turn"] for one in records]
    places = np.arange(len(ids), dtype=float)

    def table(threshold: str = ">=0.5") -> TurnTable:
        fields = [
            (TurnField("first", "number", "x", per_system=True), {"9": np.where(places, places, np.nan)}),
            (TurnField("tag", "words", "x", several=True), {NO_SYSTEM: [("a", "b"), ("a", "b"), ()]}),
            (TurnField("cause", "words", "x", by_cut=True), {"9": [(threshold,)] * len(ids)}),
        ]  # fmt: skip
        columns = FieldColumns(Contribution(one, lambda own=own: own) for one, own in fields)  # type: ignore[misc, arg-type]
        other = (lambda _, threshold: table(threshold)) if at else None
        return TurnTable(ids, columns, lambda: [""] * len(ids), other, "ndcg_cut_3")

    cuts = [("ndcg_cut_3", ">=0.5"), ("ndcg_cut_3", ">0")] if at else []
    return TurnRecords(
        dict, table(), cuts, RecordedTurns({one["turn"]: one for one in records}, texts, ["9"])
    )


TOPS: list[Graded] = [("p1", 2), ("p2", None)]
THREE = [
    record("1_1", {"10": TOPS, "9": [("p2", None)]}, texts={"9": "What?"}, judged={"2": 1, "0": 3}),
    record(
        "a b<c>",
        {"10": TOPS},
        history=[{"who": "user", "text": "What?"}],
        labels={"ann": {"tags": ["x"], "note": "n"}},
    ),
    record("2", {"__proto__": TOPS}, gold=["g"]),
]


def test_every_passage_and_message_once() -> None:
    packed = packed_turns(turns_of(THREE, {"p2": "the second"}))
    assert packed["ids"] == ["1_1", "a b<c>", "2"]
    assert packed["anchors"] == ["turn-1_1", "turn-a.20.b.3c.c.3e.", "turn-2"]
    assert [name for name, _ in packed["systems"]] == SYSTEMS
    assert (packed["passages"], packed["passage_texts"]) == (["p1", "p2"], [None, "the second"])
    assert dict(packed["rankings"]) == {
        "10": [[0, 2, 1, None], [0, 2, 1, None], None],
        "9": [[1, None], None, None],
        "__proto__": [None, None, [0, 2, 1, None]],
    }
    assert (packed["messages"], packed["history"]) == ([("user", "What?")], [[], [0], []])
    assert packed["texts"] == [("9", ["What?", None, None])]
    assert packed["judged"] == [[(2, 1), (0, 3)], [], []]
    assert packed["gold"] == [[], [], ["g"]]
    assert packed["labels"] == [(1, "ann", ["x"], "n")]
    assert packed["left_out"] == [] and packed["answers"] == packed["unsupported"] == []
    json.dumps(packed, allow_nan=False)


def test_columns_at_every_threshold() -> None:
    fields = {one["name"]: one for one in packed_turns(turns_of(THREE, {}, at=True))["fields"]}
    assert fields["first"]["columns"] == [[("9", [None, 1, 2])]]
    assert fields["tag"]["columns"] == [[("", {"words": [("a", "b"), ()], "of": [0, 0, 1]})]]
    assert [column[0][1]["words"] for column in fields["cause"]["columns"]] == [
        [(">=0.5",)],
        [(">0",)],
    ]
    alone = packed_turns(turns_of(THREE, {}))
    assert len({one["name"]: one for one in alone["fields"]}["cause"]["columns"]) == 1


def test_cuts_have_names_and_values() -> None:
    packed = packed_turns(turns_of(THREE, {}, at=True))
    assert packed["cuts"] == [
        {"names": ["ndcg_cut_3", "NDCG@3"], "operator": ">=", "value": 0.5, "label": "NDCG@3 ≥ 0.5"},
        {"names": ["ndcg_cut_3", "NDCG@3"], "operator": ">", "value": 0.0, "label": "NDCG@3 > 0"},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("most", "depth", "texts", "told"),
    [(10**6, 30, True, 0), (25_000, 30, False, 1), (6_000, 10, False, 2)],
)
def test_what_goes_first_if_a_page_is_too_large(
    most: int, depth: int, texts: bool, told: int
) -> None:
    draw = random.Random(4)
    names = [f"{draw.getrandbits(60):x}" for _ in range(1_000)]
    known = {name: f"{draw.getrandbits(4_000):x}" for name in names[:200]}
    tops = [[(name, 1) for name in draw.sample(names, 30)] for _ in range(20)]
    some = [record(f"{place}", {"9": top}) for place, top in enumerate(tops)]
    turns = TurnRecords(
        dict,
        TurnTable(list(map(str, range(20))), FieldColumns([]), lambda: [""] * 20),
        [],
        RecordedTurns({one["turn"]: one for one in some}, known),
    )
    packed = packed_turns(turns, most=most)
    assert packed["depth"] == depth
    assert {len(top) for top in packed["rankings"][0][1]} == {2 * depth}
    assert bool(packed["passage_texts"]) == texts
    assert len(packed["left_out"]) == told and len(packed["ids"]) == 20
