"""Conditions of ``--fail-if``."""

from __future__ import annotations

import pytest

from robustcs.errors import UsageError
from robustcs.studies.compare.gate import Condition, no_worse, parse_condition


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("drop>0.02", Condition("drop>0.02", "drop", 0.02)),
        (" drop > .02 ", Condition("drop > .02", "drop", 0.02)),
        ("p<0.05", Condition("p<0.05", "p", 0.05)),
        ("nDCG@3 drop>0", Condition("nDCG@3 drop>0", "drop", 0.0, "ndcg_cut_3")),
        (
            "ndcg_cut_3:qr drop>0.02",
            Condition("ndcg_cut_3:qr drop>0.02", "drop", 0.02, "ndcg_cut_3", "qr"),
        ),
        (":t5 qr>0.1", Condition(":t5 qr>0.1", "qr", 0.1, None, "t5")),
        ("P_1 qa>0.1", Condition("P_1 qa>0.1", "qa", 0.1, "P_1")),
    ],
)
def test_conditions(text: str, condition: Condition) -> None:
    assert parse_condition(text) == condition


@pytest.mark.parametrize(
    "text",
    [
        "",
        "drop",
        "drop<0.02",
        "p>0.05",
        "p<2",
        "p<0",
        "drop>x",
        "fall>1",
        "ndcg_cut3 drop>0.1",
        "drop>-1",
        "drop>2",
        "qr>1",
    ],
)
def test_what_cannot_be_read(text: str) -> None:
    with pytest.raises(UsageError):
        parse_condition(text)


def test_what_fails_a_condition() -> None:
    drop, level = parse_condition("drop>0.02"), parse_condition("p<0.01")
    assert (drop.limit, level.limit) == (0.02, 0.0)
    assert drop.rejects(0.05) and not drop.rejects(0.0501) and not drop.rejects(float("nan"))
    assert level.rejects(0.0099) and not level.rejects(0.01)


def test_no_worse() -> None:
    assert no_worse(0.01) == Condition("no worse than 0.01", "no worse", 0.01)
    for margin in (-0.01, float("nan"), float("inf")):
        with pytest.raises(UsageError):
            no_worse(margin)


def test_what_a_condition_addresses() -> None:
    one = parse_condition("P_1:qr drop>0.1")
    assert [one.addresses(*pair) for pair in (("qr", "P_1"), ("qr", "map"), ("t5", "P_1"))] == [
        True,
        False,
        False,
    ]
    assert parse_condition("drop>0.1").addresses("t5", "map")
