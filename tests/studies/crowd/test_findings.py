"""Sentences on crowd workers, from hand-made tables."""

from __future__ import annotations

from tests.sentences import said

EXCLUSIONS = [
    {"topic": "1", "worker": "w", "checks": 4, "failed": 2, "grades": 30},
    {"topic": "2", "worker": "w", "checks": 5, "failed": 1, "grades": 1000},
    {"topic": "2", "worker": "v", "checks": 6, "failed": 1, "grades": 4},
]


def test_excluded_workers() -> None:
    assert said("crowd", {"exclusions": EXCLUSIONS}) == [
        "2 workers contradicted gold checks; their 1,034 grades for the topics of these checks are excluded."
    ]
    assert said("crowd", {"exclusions": [{**EXCLUSIONS[0], "grades": 1}]}) == [
        "1 worker contradicted gold checks; their 1 grade for the topics of these checks is excluded."
    ]
    assert said("crowd", {}) == []


def test_scores_over_all_judged_turns() -> None:
    rows = [
        {"system": run, "criterion": criterion, "turn_set": turn_set, "metric": metric, "value": value + shift, "ci_low": 0.1,
         "ci_high": 0.3, "turns": turns, "answered": turns - lacking}
        for criterion, shift in (("use", 0.0), ("style", 0.1))
        for turn_set, turns in (("all", 20), ("filtered", 12))
        for metric in ("P_1", "ndcg_cut_3")
        for run, value, lacking in (("a", 0.2, 0), ("b", 0.15, 3))
    ]  # fmt: skip
    assert said("crowd", {"measures": rows}) == [
        "Judged by use, the mean NDCG@3 over 20 turns is 0.200 (95% CI 0.100 to 0.300) for a; 0.150 (95% CI 0.100 to 0.300) for"
        " b, which misses 3 turns.",
        "Judged by style, the mean NDCG@3 over 20 turns is 0.300 (95% CI 0.100 to 0.300) for a; 0.250 (95% CI 0.100 to 0.300)"
        " for b, which misses 3 turns.",
    ]
    assert said("crowd", {"measures": [{**rows[0], "turns": 0}]}) == []
    # as --missing own gives
    with_own_turns = [
        {**rows[0], "turns": 8, "answered": 8},
        {**rows[0], "system": "b"},
    ]
    assert said("crowd", {"measures": with_own_turns}) == [
        "Judged by use, the mean P@1 over 8 turns is 0.200 (95% CI 0.100 to 0.300) for a.",
        "Judged by use, the mean P@1 over 20 turns is 0.200 (95% CI 0.100 to 0.300) for b.",
    ]
    one = {**rows[0], "turns": 1, "answered": 1}
    assert said("crowd", {"measures": [one]}) == [
        "Judged by use, the mean P@1 over 1 turn is 0.200 (95% CI 0.100 to 0.300) for a."
    ]
    assert said("crowd", {"measures": [{**rows[0], "answered": 13}]}) == [
        "Judged by use, the mean P@1 over 20 turns is 0.200 (95% CI 0.100 to 0.300) for a, which misses 7 turns."
    ]
