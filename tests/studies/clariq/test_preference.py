"""Pairwise preferences."""

from __future__ import annotations

import math

import pytest

from robustcs.inputs.clariq import Preference
from robustcs.statistics.preference import preferred_share
from robustcs.studies.clariq.analysis import preference_table


def judged(criterion: str, *winners: str) -> list[Preference]:
    return [
        Preference(criterion, *(("a", "b") if i % 2 else ("b", "a")), winner, "")
        for i, winner in enumerate(winners)
    ]


def test_wins_tests_and_intervals_equal_scipy() -> None:
    from scipy.stats import binomtest

    judgments = [
        *judged("clear", *"bbbbbbbba", "tie"),
        *judged("fun", *"ab"),
        *judged("dull", "tie"),
    ]
    table, notes = preference_table(judgments)
    assert list(table.columns[:5]) == ["criterion", "first", "second", "wins", "losses"]
    clear, fun, dull = table.to_dict("records")
    assert (clear["first"], clear["wins"], clear["losses"], clear["ties"], clear["judgments"]) == (
        "b",
        8,
        1,
        1,
        10,
    )
    test = binomtest(8, 9)
    assert clear["share"] == pytest.approx(8 / 9) and clear["p"] == pytest.approx(test.pvalue)
    interval = test.proportion_ci()
    assert (clear["ci_low"], clear["ci_high"]) == pytest.approx((interval.low, interval.high))
    assert clear["p_corrected"] == pytest.approx(3 * test.pvalue) and fun["p"] == 1
    assert (clear["units"], clear["method"]) == (9, "exact binomial test")
    # two judgments say too little for an interval, and a tie nothing
    assert math.isnan(fun["ci_low"]) and fun["note"].startswith(
        "no interval: only 2 judgments (at least 5 required)"
    )
    assert (
        dull["p"] == 1
        and dull["share"] != dull["share"]
        and dull["note"] == "no judgment is decided"
    )
    assert not notes


def test_what_a_family_cannot_reach_is_told() -> None:
    table, notes = preference_table([*judged("clear", *"bbbbbb"), *judged("fun", *"bbbbbb")])
    assert table["p"].tolist() == [2 / 64, 2 / 64] and table["p_corrected"].tolist() == [
        4 / 64,
        4 / 64,
    ]
    assert notes == (
        "preference, b and a: adjusted for 2 comparisons, no p can reach 0.05: the smallest possible is 0.062; "
        "1 more unit would suffice",
    )


def test_judgments_of_one_pair_are_one_unit() -> None:
    winners = ["aaa", "aab", "b", "aa", "aaab", "b", "a"]
    rows = [
        Preference("clear", "a", "b", winner, f"d{pair}")
        for pair, own in enumerate(winners)
        for winner in own
    ]
    table, _ = preference_table(rows)
    (row,) = table.to_dict("records")
    found = preferred_share([3, 2, 0, 2, 3, 0, 1], [3, 3, 1, 2, 4, 1, 1])
    assert (row["units"], row["judgments"], row["share"]) == (7, 15, 11 / 15)
    assert (row["p"], row["ci_low"], row["ci_high"]) == (found.p, found.low, found.high)
    assert "effective sample size" in row["method"] and row["note"] == "unstable: only 7 pairs"
    # the order of lines changes nothing
    again, _ = preference_table(sorted(rows, key=lambda one: (one.winner, one.pair)))
    assert again.equals(table)


def test_every_pair_of_systems_has_rows_of_its_own() -> None:
    table, _ = preference_table(
        [Preference("clear", "a", "b", "a", ""), Preference("clear", "c", "a", "a", "")]
    )
    assert table[["first", "second", "wins"]].to_numpy().tolist() == [["a", "b", 1], ["c", "a", 0]]


def test_none() -> None:
    assert len(preference_table([])[0]) == 0
