from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from robustcs.documents.document import Table
from robustcs.evaluation.hole_order import Needed, Order
from robustcs.evaluation.measure import parse_measure
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.studies.judge.analysis import State, Worklist
from robustcs.studies.judge.show import show


def result(holes: int, comparisons: list[tuple[str, str]], expected: float = 0.00123456) -> Worklist:
    rows = [("1", "1_1", f"d{i}", 1, 2, 0.01234567, "b", None if i else 3, expected) for i in range(holes)]
    columns = ["topic", "turn", "document", "systems", "best_rank", "influence", "found_by", "grade", "expected_influence"]
    worklist = pd.DataFrame(rows, columns=columns).astype({"grade": "Int64"})
    topics = pd.DataFrame(
        [("1", 1, holes, 1, 0.5, 0.25)], columns=["topic", "turns", "holes", "judged", "influence", "expected_influence"]
    )
    compared = pd.DataFrame([(a, b, "ndcg_cut_3") for a, b in comparisons], columns=["baseline", "system", "metric"])
    needed = Needed(3, 1, 7)
    orders = tuple(
        Order(0, 1, parse_measure("ndcg_cut_3"), 0.1, low, 0.3, 0.05, sure)
        for low, sure in ((-0.1, 0.8), (-0.1, 0.99), (0.02, 1))
    )
    state = State(("base", "set"), orders, (needed, Needed(0, 0, 0), Needed(0, 0, 0)), needed)
    return Worklist(
        Evaluated(EvaluationPolicy(), "runs", 9, 0), worklist, topics, compared, state.order_table(), state.table(holes)
    )  # fmt: skip


def tables(worklist: Worklist) -> tuple[Table, Table]:
    _, topics, holes = show(worklist)
    assert isinstance(topics, Table)
    assert isinstance(holes, Table)
    return topics, holes


def test_people_see_the_first_holes_and_how_many_there_are() -> None:
    topics, holes = tables(result(25, [("base", "set")]))
    assert topics.caption == "25 passages to judge, 1 judged so far, by topic"
    assert topics.rows == (("1", "1", "25", "1", "0.5000", "0.2500"),)
    assert holes.caption == "Passages to judge, in this order: the first 20 of 25"
    assert len(holes.rows) == 20
    assert holes.rows[0] == ("1_1", "d0", "1", "2", "0.0123", "0.0012", "3")
    assert holes.rows[1] == ("1_1", "d1", "1", "2", "0.0123", "0.0012", "–")
    assert "by expected influence" in holes.note and "hole model predicts" in topics.note


def test_orders_say_what_is_settled_and_what_it_takes() -> None:
    orders = show(result(25, [("base", "set")]))[0]
    assert isinstance(orders, Table)
    assert orders.caption == "Which system is better? 3 orders: 1 proven, 1 certain, 1 open"
    assert [row[-2:] for row in orders.rows] == [("open", "3"), ("certain", "0"), ("proven", "0")]
    assert "for all orders about 3 of 25 (80% range: 1 to 7)." in orders.note


def test_an_open_order_without_a_passage_to_judge_has_no_number() -> None:
    order = Order(0, 1, parse_measure("ndcg_cut_3"), 0.1, -0.1, 0.3, 0.05, 0.8)
    told = State(("base", "set"), (order,), None, None).told
    assert told == "1 order of systems: none settled; no passage is left that could settle the open order"
    assert "too few judgments" in State(("base", "set"), (replace(order, sure=float("nan")),), None, None).told


def test_without_a_model_the_order_is_that_of_the_influence() -> None:
    topics, holes = tables(result(2, [("base", "set")], expected=float("nan")))
    assert "Topics are ordered by influence" in holes.note and "expected" not in topics.note
    assert holes.rows[1] == ("1_1", "d1", "1", "2", "0.0123", "–")


def test_what_is_compared_stands_below() -> None:
    def note(comparisons: list[tuple[str, str]]) -> str:
        return tables(result(1, comparisons))[0].note

    assert "the differences in NDCG@3 between m and m1, m2; r and r1," in note([("m", "m1"), ("m", "m2"), ("r", "r1")])
    assert "the differences in NDCG@3 between all pairs of 3 systems," in note([("a", "b"), ("a", "c"), ("b", "c")])
    assert "can cause in NDCG@3 of alone," in note([("", "alone")])


def test_no_holes() -> None:
    topics, holes = tables(result(0, [("base", "set")]))
    assert topics.caption.startswith("0 passages to judge")
    assert holes.rows == ()


@pytest.mark.parametrize("name", ["worklist", "topics", "comparisons", "orders", "outlook"])
def test_every_column_is_declared(name: str) -> None:
    worklist = result(2, [("base", "set")])
    with pytest.raises(TypeError, match=f"table {name} has columns"):
        replace(worklist, **{name: worklist.tables[name].assign(odd=1)})
