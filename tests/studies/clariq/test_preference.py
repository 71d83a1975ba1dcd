"""Pairwise preferences."""

from __future__ import annotations

import pytest

from robustcs.inputs.preferences import Preference
from robustcs.studies.clariq.preference import preference_table, repeated_pairs


def judged(criterion: str, *winners: str) -> list[Preference]:
    return [Preference(criterion, *(("a", "b") if i % 2 else ("b", "a")), winner, "") for i, winner in enumerate(winners)]


def test_wins_and_tests_equal_scipy() -> None:
    from scipy.stats import binomtest

    table = preference_table([*judged("clear", *"bbbbbbbba", "tie"), *judged("fun", *"ab"), *judged("dull", "tie")])
    assert list(table.columns[:5]) == ["criterion", "first", "second", "wins", "losses"]
    clear, fun, dull = table.to_dict("records")
    assert (clear["first"], clear["wins"], clear["losses"], clear["ties"], clear["judgments"]) == ("b", 8, 1, 1, 10)
    test = binomtest(8, 9)
    assert clear["share"] == pytest.approx(8 / 9) and clear["p"] == pytest.approx(test.pvalue)
    interval = test.proportion_ci(method="wilson")
    assert (clear["ci_low"], clear["ci_high"]) == pytest.approx((interval.low, interval.high))
    assert clear["p_corrected"] == pytest.approx(3 * test.pvalue) and fun["p"] == 1
    assert dull["p"] == 1 and dull["share"] != dull["share"]


def test_every_pair_of_systems_has_rows_of_its_own() -> None:
    table = preference_table([Preference("clear", "a", "b", "a", ""), Preference("clear", "c", "a", "a", "")])
    assert table[["first", "second", "wins"]].to_numpy().tolist() == [["a", "b", 1], ["c", "a", 0]]


def test_repeated_pairs() -> None:
    rows = [Preference("clear", "a", "b", "a", pair) for pair in ("d1", "d1", "d2", "")]
    assert repeated_pairs(rows) == (3, 2)


def test_none() -> None:
    assert len(preference_table([])) == 0
