"""Reasons of the gate: one line for each kind."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from robustcs.studies.compare.fit import LOST
from robustcs.studies.compare.reasons import lines_of, named, subjects
from robustcs.studies.compare.show import show, told
from tests.studies.compare.test_analysis import TURNS, compared, state
from tests.studies.compare.test_fit import SCORES, dropping, run


def row(
    system: str,
    metric: str = "P_1",
    reason: str = "why",
    condition: str = "drop>0",
    outcome: str = "failed",
) -> Any:
    return SimpleNamespace(
        system=system, metric=metric, reason=reason, condition=condition, outcome=outcome, rule=""
    )


def test_equal_reasons_are_one_line() -> None:
    rows = [
        row("a"),
        row("b", condition="p<0.05"),
        row("c", reason="other"),
        row("d", outcome="cannot tell"),
    ]
    found = [(line.outcome, line.condition, line.who(), line.reason) for line in lines_of(rows)]
    assert found == [
        ("failed", "drop>0, p<0.05", "a, b (P@1)", "why"),
        ("failed", "drop>0", "c, P@1", "other"),
        ("cannot tell", "drop>0", "d, P@1", "why"),
    ]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([row("a")], "a, P@1"),
        ([row("a"), row("a")], "a, P@1"),
        ([row("a"), row("a", "ndcg_cut_3")], "a (P@1, NDCG@3)"),
        ([row("a", ""), row("b", "")], "a, b"),
        ([row("", "")], "all runs"),
        ([row(name) for name in "abcde"], "a, b, c, d, e (P@1)"),
        ([row(name) for name in "abcdefg"], "a, b, c, d, e and 2 more (P@1)"),
    ],
)
def test_subjects(rows: list[Any], said: str) -> None:
    assert subjects(rows) == said


def test_named() -> None:
    assert named([*"abcde"]) == "a, b, c, d, e" and named([*"abcdef"]) == "a, b, c, d, e and 1 more"


def test_reasons_of_one_rule_are_one_line_with_ranges() -> None:
    """Every row keeps its own numbers."""
    old = state({name: run(SCORES, judged) for name, judged in (("a", 210), ("b", 200))})
    zero = dict.fromkeys(TURNS, 0.0)
    lost = compared(
        old,
        state({name: run(zero, judged, 210) for name, judged in (("a", 0), ("b", 4))}),
        "drop>0.02",
        "p<0.05",
    )
    assert told(lost) == [
        f"cannot tell: drop>0.02, p<0.05: a, b (NDCG@3): {LOST}: the judged share of the top 3 falls from 95–100%"
        " to 0–2%; judge 210 passages (robustcs judge) or map the ids"
    ]
    assert (
        lost.gate["reason"][1]
        == f"{LOST}: the judged share of the top 3 falls from 95% to 2%; judge 210 passages (robustcs judge) or map the ids"
    )
    doubtful = compared(
        state({"a": run(SCORES), "b": run(SCORES)}),
        state({"a": dropping(0.0), "b": dropping(-0.02)}),
        "drop>0.02",
    )
    merged = (
        "a, b (NDCG@3): the mean drops by 0.203–0.214 (adjusted p at most 0.0010), but not significantly on the 40 turns"
        " whose top 3 passages are judged in both states: by −0.020 to 0.000 (adjusted p at least 0.998); the judged"
        " share of the top 3 falls from 100.0%"
        " to 57.1%, and all 90 unjudged passages that entered it are new"
    )
    assert told(doubtful) == [f"cannot tell: drop>0.02: {merged}"]
    assert getattr(show(doubtful)[0], "note", "") == f"{merged}."
    assert (
        "by 0.203 (adjusted p = 0.0010), but not significantly on the 40 turns"
        in doubtful.gate["reason"][1]
    )


def test_what_else_is_wrong_stays_in_the_line() -> None:
    """Rows that differ in it have lines of their own."""
    old = state({name: run(SCORES) for name in "abc"})
    fewer = dropping(0.0)
    scores = {
        metric: {turn: value for turn, value in one.items() if turn != "1_1"}
        for metric, one in fewer.scores.items()
    }
    fewer = replace(fewer, scores=scores)
    new = replace(
        state({"a": dropping(0.0), "b": fewer, "c": fewer}), judgments=dict.fromkeys(TURNS, "j")
    )
    lines = told(compared(old, new, "drop>0.02"))
    assert [line.split(": ")[2] for line in lines] == ["a, NDCG@3", "b, c (NDCG@3)"]
    assert lines[0].endswith("are new") and lines[1].endswith("are new; 1 turn is gone (1_1)")
