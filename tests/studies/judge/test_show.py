from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from robustcs.documents.document import TableBlock
from robustcs.evaluation.hole_order import JudgmentsNeeded, Order
from robustcs.evaluation.measure import parse_measure
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.studies.judge.analysis import JudgingState, Worklist
from robustcs.studies.judge.show import show


def result(holes: int, expected: float = 0.00123456) -> Worklist:
    rows = [
        ("1", "1_1", f"d{i}", 1, 2, 0.01234567, "b", None if i else 3, expected)
        for i in range(holes)
    ]
    columns = [
        "topic",
        "turn",
        "document",
        "systems",
        "best_rank",
        "influence",
        "found_by",
        "grade",
        "expected_influence",
    ]
    worklist = pd.DataFrame(rows, columns=columns).astype({"grade": "Int64"})
    needed = JudgmentsNeeded(3, 1, 7)
    orders = tuple(
        Order(0, 1, parse_measure("ndcg_cut_3"), 0.1, low, 0.3, 0.05, sure)
        for low, sure in ((-0.1, 0.8), (-0.1, 0.99), (0.02, 1))
    )
    state = JudgingState(
        ("base", "set"),
        orders,
        (needed, JudgmentsNeeded(0, 0, 0), JudgmentsNeeded(0, 0, 0)),
        needed,
    )
    return Worklist(
        Evaluated(EvaluationPolicy(), "runs", 9, 0),
        content=Worklist.built(worklist=worklist, **state.tables(holes)),
    )


def table(worklist: Worklist) -> TableBlock:
    holes = show(worklist)[-1]
    assert isinstance(holes, TableBlock)
    return holes


def test_people_see_the_first_holes_and_how_many_there_are() -> None:
    holes = table(result(25))
    assert holes.caption == "25 passages to judge, 1 judged so far"
    assert len(holes.rows) == 20
    assert holes.rows[0] == ("1_1", "d0", "1", "2", "0.0123", "0.0012", "3")
    assert holes.rows[1] == ("1_1", "d1", "1", "2", "0.0123", "0.0012", "–")
    assert "by expected influence" in holes.note and "hole model predicts" in holes.note


def test_orders_say_what_is_settled_and_what_it_takes() -> None:
    orders = show(result(25))[0]
    assert isinstance(orders, TableBlock)
    assert orders.caption == "Which system is better? 3 orders: 1 proven, 1 certain, 1 open"
    assert [row[-2:] for row in orders.rows] == [("open", "3"), ("certain", "0"), ("proven", "0")]
    assert "for all orders about 3 of 25 (80% range: 1 to 7)." in orders.note


def test_an_open_order_without_a_passage_to_judge_has_no_number() -> None:
    order = Order(0, 1, parse_measure("ndcg_cut_3"), 0.1, -0.1, 0.3, 0.05, 0.8)
    told = JudgingState(("base", "set"), (order,), None, None).told
    assert (
        told
        == "1 order of systems: none settled; no passage is left that could settle the open order"
    )
    assert (
        "too few judgments"
        in JudgingState(("base", "set"), (replace(order, sure=float("nan")),), None, None).told
    )


def test_without_a_model_the_order_is_that_of_the_influence() -> None:
    holes = table(result(2, expected=float("nan")))
    assert "Topics are ordered by influence" in holes.note and "xpected" not in holes.note
    assert holes.rows[1] == ("1_1", "d1", "1", "2", "0.0123", "–")


def test_no_holes() -> None:
    holes = table(result(0))
    assert holes.caption.startswith("0 passages to judge")
    assert holes.rows == ()


@pytest.mark.parametrize("name", ["worklist", "orders", "outlook"])
def test_every_column_is_declared(name: str) -> None:
    worklist = result(2)
    with pytest.raises(TypeError, match=f"table {name} has columns"):
        worklist.changed(**{name: worklist.tables[name].assign(odd=1)})
