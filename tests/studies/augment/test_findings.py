"""Sentences on new judgments, from hand-made tables."""

from __future__ import annotations

from tests.sentences import cards, made, said

#: Run b changes most, upwards; c least, downwards; b and c change places. P@1 changes otherwise.
MEASURES = [
    {"system": "x", "metric": "P_1", "difference": 0.9, "ci_low": 0.8, "ci_high": 0.95, "rank_before": 1, "rank_after": 3},
    {"system": "a", "metric": "ndcg_cut_3", "difference": 0.01, "rank_before": 1, "rank_after": 1, "p": 0.03,
     "p_corrected": 0.06},
    {"system": "b", "metric": "ndcg_cut_3", "difference": 0.042, "ci_low": 0.011, "ci_high": 0.083, "rank_before": 3,
     "rank_after": 2, "p": 0.02, "p_corrected": 0.07, "before": 0.2, "after": 0.242},
    {"system": "c", "metric": "ndcg_cut_3", "difference": -0.021, "ci_low": -0.05, "ci_high": 0.01, "rank_before": 2,
     "rank_after": 3, "p": 0.2, "p_corrected": 0.4},
]  # fmt: skip
FILES = [
    {"file": "one", "judgments": 2000, "added": 1100},
    {"file": "two", "judgments": 300, "added": 150, "repeated": 150},
]
RANKING = [
    {"metric": "P_1", "method": "kendall", "value": 0.1, "ci_low": 0.0},
    {"metric": "ndcg_cut_3", "method": "rbo", "value": 0.2, "ci_low": 0.1},
    {"metric": "ndcg_cut_3", "method": "kendall", "value": 0.33, "ci_low": -0.25},
]


def test_the_largest_change_and_the_runs_that_move() -> None:
    card, span, tau = said(
        "augment", {"measures": MEASURES, "files": FILES, "ranking": RANKING}, turns=65
    )
    assert card == (
        "The new judgments change NDCG@3 of b by +0.042, the largest change (95% CI +0.011 to +0.083; 1,250 new judgments, 65"
        " turns; adjusted p = 0.070); 2 of 3 runs change rank."
    )
    assert (
        span
        == "With 1,250 new judgments, NDCG@3 changes by −0.021 (c) to +0.042 (b); 2 of 3 runs change rank."
    )
    assert (
        tau
        == "Kendall's τ between the rankings of the runs before and after is 0.33 (one-sided 95% lower limit −0.25)."
    )


def test_a_loss_can_be_the_largest_change() -> None:
    lost = [{**MEASURES[3], "difference": -0.06}, MEASURES[2]]
    card, span, tau = said(
        "augment",
        {"measures": lost, "files": FILES, "ranking": [{**RANKING[2], "ci_low": float("nan")}]},
    )
    assert (
        "NDCG@3 of c by −0.060, the largest change (" in card
        and "−0.050 to +0.010" in card
        and "adjusted p = 0.400" in card
    )
    assert [one.weight for one in cards(made("augment", {"measures": lost, "files": FILES}))] == [
        0.06
    ]
    assert "changes by −0.060 (c) to +0.042 (b)" in span and tau.endswith("after is 0.33.")


def test_one_run_has_no_span_and_keeps_its_rank() -> None:
    one = [{**MEASURES[1], "p_corrected": float("nan")}]
    card, span = said("augment", {"measures": one, "files": [{"added": 1}], "ranking": ()})
    assert "none of 1 run changes rank" in card and "adjusted" not in card and "largest" not in card
    assert span == "With 1 new judgment, NDCG@3 changes by +0.010 (a); none of 1 run changes rank."
    assert said("augment", {}) == []
