"""Sentences about drops, on hand-made tables: a swapped sign, a raw p, another group or another denominator fails."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from robustcs.evaluation.groups import Group
from robustcs.studies.robustness.analysis import Robustness
from robustcs.studies.robustness.findings import robustness_findings, verdicts
from tests.studies.robustness.test_analysis import made

NO_DROPS = pd.DataFrame(columns=["group", "metric", "expected"])
ROWS = {
    "careful": {"mean_drop": 0.12, "mean_drop_percent": 24.4, "p": 0.001, "p_corrected": 0.004, "ci_low": 0.05, "ci_high": 0.2,
                "detectable": 0.09, "sets": 3, "equivalent": False},
    "raw": {"mean_drop": -0.03, "mean_drop_percent": -8.6, "p": 0.04, "p_corrected": 0.08, "ci_low": -0.059, "ci_high": -0.001,
            "detectable": 0.07, "sets": 2, "equivalent": True},
}  # fmt: skip


def told(**changed: dict[str, Any]) -> Robustness:
    """Two groups of 10 conversations with these rows; those of another measure are larger and certain."""
    scores = dict(zip(("base", "a", "b"), np.random.default_rng(0).random((3, 30)), strict=True))
    result = made(
        scores, {"careful": Group("base", ("a",)), "raw": Group("base", ("b",))}, margin=0.06
    )
    groups = result.groups.copy()
    for place, row in groups.iterrows():
        for column, value in (ROWS[row["group"]] | changed.get(row["group"], {})).items():
            groups.loc[place, column] = value
    other = groups.assign(metric="map", mean_drop=0.9, p=1e-4, p_corrected=1e-4)
    return result.changed(groups=pd.concat([groups, other], ignore_index=True))


def test_findings_have_the_adjusted_p_of_their_own_group() -> None:
    careful, raw = robustness_findings(told(), NO_DROPS)
    assert careful == (
        "On the 3 test sets of careful, NDCG@3 drops by 0.120 on average, 24% of the baseline (95% CI of the drop 0.050 to"
        " 0.200, adjusted p = 0.004, max-T over 2 groups). Unjudged passages count as not relevant."
    )
    assert raw == (
        "On the 2 test sets of raw, NDCG@3 rises by 0.030 on average, 9% of the baseline (95% CI of the drop −0.059 to −0.001,"
        " adjusted p = 0.080, max-T over 2 groups). Unjudged passages count as not relevant. A drop larger than 0.06 is ruled"
        " out. The rise is not significant; with 10 conversations, the test has 80% power for a drop of 0.070."
    )


@pytest.mark.parametrize(("adjusted", "doubt"), [(0.05, False), (0.051, True)])
def test_the_level_is_that_of_the_adjusted_p(adjusted: float, doubt: bool) -> None:
    result = told(careful={"p": 0.01, "p_corrected": adjusted})
    assert ("The drop is not significant" in robustness_findings(result, NO_DROPS)[0]) == doubt
    (verdict,) = verdicts(result, NO_DROPS)
    assert ("; not significant)" in verdict.text) == doubt


def test_a_set_that_answers_less_than_half_is_named_in_the_first_clause() -> None:
    result = told()
    some = result.changed(evaluated=replace(result.evaluated, few={"a": 2}))
    careful, raw = robustness_findings(some, NO_DROPS)
    assert careful.startswith(
        "On the 3 test sets of careful (a answers 2 of 30 turns), NDCG@3 drops by 0.120"
    )
    assert "answers" not in raw
    (verdict,) = verdicts(some, NO_DROPS)
    assert verdict.text.startswith(
        "NDCG@3 drops by 0.120 with the paraphrases of careful (a answers 2 of 30 turns; 24%"
    )


def test_no_drop_is_no_gain() -> None:
    (verdict,) = verdicts(told(careful={"mean_drop": 0.0, "mean_drop_percent": 0.0}), NO_DROPS)
    assert verdict.text.startswith("NDCG@3 drops by 0.000 with the paraphrases of careful")


def test_without_an_interval_or_a_baseline_nothing_is_made_up() -> None:
    nothing = {
        "ci_low": math.nan,
        "ci_high": math.nan,
        "mean_drop_percent": math.nan,
        "detectable": math.nan,
        "p_corrected": 0.3,
    }
    careful, _ = robustness_findings(told(careful=nothing), NO_DROPS)
    assert careful == (
        "On the 3 test sets of careful, NDCG@3 drops by 0.120 on average (adjusted p = 0.300, max-T over 2 groups). Unjudged"
        " passages count as not relevant. The drop is not significant."
    )


def test_the_verdict_is_about_the_group_that_loses_most() -> None:
    (verdict,) = verdicts(told(), NO_DROPS)
    assert (verdict.number, verdict.interval) == ("0.120", "0.050 to 0.200")
    assert (
        verdict.text
        == "NDCG@3 drops by 0.120 with the paraphrases of careful (24% of the baseline)"
    )
    assert verdict.basis == (
        "adjusted p = 0.004, max-T over 2 groups; mean of 3 test sets, 30 turns, unjudged passages count as not relevant"
    )
    (verdict,) = verdicts(
        told(careful={"mean_drop": -0.2, "ci_low": -0.3, "ci_high": -0.1}), NO_DROPS
    )
    assert (verdict.number, verdict.interval) == ("0.030", "0.001 to 0.059")
    assert (
        verdict.text
        == "NDCG@3 rises by 0.030 with the paraphrases of raw (9% of the baseline; not significant)"
    )


def test_the_number_of_the_verdict_is_the_measured_drop_also_if_another_is_expected() -> None:
    metric = told().groups["metric"].iloc[0]
    expected = pd.DataFrame([{"group": "careful", "metric": metric, "expected": 0.07}])
    (verdict,) = verdicts(told(), expected)
    assert (verdict.number, verdict.interval) == ("0.120", "0.050 to 0.200")
    assert verdict.caveat == "If a model grades the unjudged passages, the expected drop is 0.070."


def test_the_expected_drop_follows_the_measured_drop_of_the_same_measure() -> None:
    row = {"group": "careful", "metric": "ndcg_cut_3", "expected": 0.07, "expected_low": 0.01, "expected_high": 0.15,
           "hole_share": 0.42, "hole_share_low": 0.3, "hole_share_high": 0.6}  # fmt: skip
    drops = pd.DataFrame([{**row, "metric": "map", "expected": 0.8}, row])
    careful, raw = robustness_findings(told(), drops)
    assert careful.endswith(
        " With the unjudged passages in the top 10 graded by the hole model, the expected drop is 0.070 (95% CI 0.010 to"
        " 0.150). Unjudged passages account for 42% of the measured drop (95% CI 30% to 60%)."
    )
    assert "expected" not in raw


def test_one_group_is_no_family() -> None:
    result = told()
    alone = result.changed(groups=result.groups[result.groups["group"] == "careful"])
    (careful,) = robustness_findings(alone, NO_DROPS)
    assert "0.050 to 0.200, p = 0.004)" in careful
