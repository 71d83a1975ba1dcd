"""The first turns as a table: texts, causes, outcomes and scores, and no more columns than fit."""

from __future__ import annotations

from typing import Any

import pytest

from robustcs.documents.page.first import FIRST_TURNS, MOST_SYSTEMS, first_turns

NUMBER = FIRST_TURNS + 20


def packed(**other: Any) -> dict[str, Any]:
    ids = [f"1_{place}" for place in range(NUMBER)]
    known = {"ids": ids, "texts": [], "cuts": [], "fields": [], "headline": "", "left_out": []}
    return {**known, **other}


def field(name: str, columns: list[tuple[str, Any]], aliases: tuple[str, ...] = ()) -> Any:
    return {"name": name, "per_system": True, "aliases": list(aliases), "columns": [columns]}


def words(word: str) -> dict[str, Any]:
    return {"words": [[word], []], "of": [0, 1] * (NUMBER // 2)}


def test_texts_causes_and_scores() -> None:
    found = first_turns(
        packed(
            texts=[
                ("original", ["q"] * NUMBER),
                ("qr", [None] * NUMBER),
                ("human", ["h"] * NUMBER),
            ],
            cuts=[{"label": "NDCG@3 ≥ 0.5"}],
            headline="ndcg_cut_3",
            fields=[
                field("cause", [("qr", words("ranker"))]),
                field("outcome", [("qr", words("made_up"))]),
                field("ndcg_cut_3", [("qr", [0.125, None] * (NUMBER // 2))], ("NDCG@3",)),
            ],
        )
    )
    assert found.caption == f"The first {FIRST_TURNS} of {NUMBER} turns"
    assert [(one.group, one.title) for one in found.columns] == [
        ("", "turn"),
        ("", "Original"),
        ("", "QR"),
        ("", "Human"),
        ("cause, NDCG@3 ≥ 0.5", "QR"),
        ("outcome", "QR"),
        ("NDCG@3", "QR"),
    ]
    assert len(found.rows) == FIRST_TURNS
    assert found.rows[0] == ("1_0", "q", "", "h", "ranker", "made_up", "0.12")
    assert found.rows[1] == ("1_1", "q", "", "h", "", "", "")


@pytest.mark.parametrize("number", [1, MOST_SYSTEMS + 2])
def test_the_table_stays_narrow(number: int) -> None:
    texts = [(f"t{one}", ["x"] * NUMBER) for one in range(number)]
    scores = [(f"t{one}", [1.0] * NUMBER) for one in range(number)]
    turns = packed(
        texts=[("original", ["x"] * NUMBER), *texts, ("human", ["x"] * NUMBER)],
        headline="f1",
        fields=[field("f1", scores)],
    )
    found = first_turns(turns)
    shown = [one.title for one in found.columns if not one.group]
    assert shown == ["turn", "Original", *(["t0"] if number == 1 else []), "Human"]
    assert len(found.columns) - len(shown) == min(number, MOST_SYSTEMS)
