"""Sentences about systems, on hand-made tables: a swapped sign, another measure or another denominator fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from robustcs.documents.document import Figure, Paragraph, TableBlock
from robustcs.evaluation.measures import TurnScores
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.statistics.families import Family
from robustcs.statistics.units import units_of
from robustcs.studies.evaluate.analysis import Evaluation, evaluate
from robustcs.studies.evaluate.findings import evaluate_findings, verdicts
from robustcs.studies.evaluate.show import show

#: (first, second) → difference, adjusted p.
Tests = Mapping[tuple[str, str], tuple[float, float]]
TESTS: Tests = {
    ("low", "top"): (-0.30, 0.010), ("low", "mid"): (-0.25, 0.050), ("low", "near"): (-0.20, 0.051),
    ("top", "mid"): (0.05, 0.030), ("top", "near"): (0.10, 0.200), ("mid", "near"): (0.05, 0.900),
}  # fmt: skip
MEANS = {"low": 0.2, "top": 0.5, "mid": 0.45, "near": 0.4}
TURNS = [f"{place}_1" for place in range(8)]
BOUNDED = {"ndcg_cut_3": True, "map": True}


def of(means: Mapping[str, float], baseline: str | None = None, **evaluated: Any) -> Evaluation:
    """Systems whose NDCG@3 is the same on every turn."""
    frames = {
        name: TurnScores(TURNS, {"ndcg_cut_3": np.full(8, mean), "map": np.full(8, 1 - mean)})
        for name, mean in means.items()
    }
    basis = Evaluated(EvaluationPolicy(), "scores", 8, 0, **evaluated)
    return evaluate(frames, BOUNDED, units_of(TURNS), basis, baseline)


def told(
    tests: Tests = TESTS,
    other: float = 0.001,
    baseline: str | None = None,
    ends: float = np.nan,
    **evaluated: Any,
) -> Evaluation:
    """Four systems by NDCG@3 with these tests; by MAP every pair has the adjusted p ``other`` and the difference is 0.009.

    ``ends``: distance of the limits of each interval from the difference.
    """
    result = of(MEANS, baseline, **evaluated)
    compared = {}
    for metric, own in result.compared.items():
        values = {pair: tests[pair] if metric == "ndcg_cut_3" else (0.009, other) for pair in own}
        compared[metric] = {
            pair: replace(own[pair], value=value, low=value - ends, high=value + 2 * ends, p=p)
            for pair, (value, p) in values.items()
        }
    families = {
        name: Family(np.array([test.p for test in own.values()]), 0.001, "")
        for name, own in compared.items()
    }
    return result.changed(compared=compared, families=families)


def with_tests(result: Evaluation, **changes: Any) -> Evaluation:
    """Change the tests of all pairs by NDCG@3."""
    own = {pair: replace(test, **changes) for pair, test in result.compared["ndcg_cut_3"].items()}
    return result.changed(compared={**result.compared, "ndcg_cut_3": own})


def only(result: Evaluation) -> str:
    [verdict] = verdicts(result)
    return verdict.sentence


def all_at(p: float) -> Tests:
    return {pair: (one, p) for pair, (one, _) in TESTS.items()}


def test_of_two_systems_the_claim_is_the_comparison() -> None:
    two = of({"A": 0.3, "B": 0.464})
    assert [*two.pairs["first"]] == ["A", "A"]  # the difference is A − B
    shown = with_tests(two, value=-0.164, low=-0.25, high=-0.07, p=0.003)
    assert (
        only(shown)
        == "B scores 0.164 NDCG@3 higher than A (95% CI 0.070 to 0.250; p = 0.003; 8 turns)."
    )
    open_ = with_tests(shown, p=0.0501, high=0.02)
    assert only(open_) == (
        "The data do not show whether B or A scores higher (difference 0.164 NDCG@3; 95% CI −0.020 to 0.250; p = 0.050;"
        " 8 turns)."
    )
    assert not evaluate_findings(shown)
    assert next(block.text for block in show(shown) if isinstance(block, Paragraph)) == only(shown)


def test_the_best_is_compared_with_the_best_that_it_does_not_tie_with() -> None:
    assert only(told(ends=0.01)) == (
        "top scores 0.050 NDCG@3 higher than mid, the best of 2 systems that score significantly lower (95% CI 0.040 to 0.070;"
        " adjusted p = 0.030, max-T over 6 pairs; 8 turns); top ties with 1 system (near)."
    )
    # (low, top) is low − top: its interval is turned
    tied = told({**TESTS, ("top", "mid"): (0.05, 0.06)}, ends=0.01)
    assert only(tied) == (
        "top scores 0.300 NDCG@3 higher than low, the only system that scores significantly lower (95% CI 0.280 to 0.310;"
        " adjusted p = 0.010, max-T over 6 pairs; 8 turns); top ties with 2 systems (mid, near)."
    )
    assert evaluate_findings(told()) == (
        "Of 6 pairs of systems, 3 differ significantly in NDCG@3 (adjusted p ≤ 0.05, max-T over 6 pairs); the smallest of these"
        " differences is 0.050.",
    )
    # what is certain in another measure changes nothing
    assert (only(told(other=1.0)), evaluate_findings(told(other=1.0))) == (
        only(told()),
        evaluate_findings(told()),
    )


def test_none_and_all() -> None:
    none = told(all_at(0.06))
    assert only(none) == (
        "The data do not show whether top or mid scores higher (difference 0.050 NDCG@3; adjusted p = 0.060, max-T over 6"
        " pairs; 8 turns); top ties with 3 systems (mid, near, low)."
    )
    assert evaluate_findings(none) == (
        "Of 6 pairs of systems, none differs significantly in NDCG@3 (adjusted p ≤ 0.05, max-T over 6 pairs).",
    )
    every = told(all_at(0.05))
    assert only(every).startswith(
        "top scores 0.050 NDCG@3 higher than mid, the best of 3 others, which all score significantly"
    )
    assert "ties" not in only(every) and evaluate_findings(every)[0].startswith(
        "Of 6 pairs of systems, 6 differ"
    )


def test_a_claim_names_ten_of_many_systems() -> None:
    many = of({"best": 0.9, **{f"s{place}": 0.8 - place / 100 for place in range(12)}})
    assert only(with_tests(many, p=0.9)).endswith(
        "; best ties with 12 systems (s0, s1, s2, s3, s4, s5, s6, s7, s8, s9 …)."
    )


def test_with_a_baseline_the_best_is_compared_with_it() -> None:
    tests = {(name, "low"): (MEANS[name] - 0.2, 0.001) for name in MEANS if name != "low"}
    assert only(told(tests, baseline="low")).startswith(
        "top scores 0.300 NDCG@3 higher than low, the baseline (adjusted p = 0.00"
    )
    tests = {(name, "top"): (MEANS[name] - 0.5, 0.001) for name in MEANS if name != "top"}
    assert only(told(tests, baseline="top")).startswith(
        "top scores 0.050 NDCG@3 higher than mid, the best of 3 others, which"
    )


def test_pairs_without_the_best_system_say_nothing_of_it() -> None:
    tests = {pair: (one, 0.9 if "top" in pair else 0.001) for pair, (one, _) in TESTS.items()}
    assert only(told(tests)).endswith("; top ties with 3 systems (mid, near, low).")


def test_runs_over_their_own_turns_have_no_common_number_of_turns() -> None:
    whole = told()
    own = replace(whole, evaluated=replace(whole.evaluated, own_turns={"top": 8, "low": 5}))
    assert only(own) == only(whole).replace("; 8 turns)", ")")
    line = own.evaluated.policy_line
    assert "each run over the turns that it answers (5 to 8), as trec_eval without -c · " in line
    assert "missing" not in line and own.evaluated.as_dict()["missing"] == "zero"


def test_totals_are_no_headline() -> None:
    """They stand first here, and nothing is said of them."""
    whole = told()
    totals = whole.measures.assign(
        metric="num_ret", value=99.0, note="a total over turns: no interval"
    )
    both = whole.changed(measures=pd.concat([totals, whole.measures], ignore_index=True))
    assert only(both) == only(whole)


def test_the_table_of_means_counts_the_same_pairs() -> None:
    notes = {
        block.slug: block.note
        for block in show(told())
        if isinstance(block, TableBlock) and block.of == "measures"
    }
    said = "Of 6 pairs of systems, {} differ significantly (adjusted p ≤ 0.05, max-T over 6 pairs)."
    assert (
        said.format(3) in notes["measures-ndcg_cut_3"] and said.format(6) in notes["measures-map"]
    )


def test_one_system_is_compared_with_nothing() -> None:
    scores = {"bm25": TurnScores(TURNS, {"ndcg_cut_3": np.arange(8) / 10})}
    alone = evaluate(
        scores, {"ndcg_cut_3": True}, units_of(TURNS), Evaluated(EvaluationPolicy(), "scores", 8, 0)
    )
    assert only(replace(alone)).startswith("bm25 has a mean NDCG@3 of 0.350 (95% CI 0.")
    assert only(alone).endswith("; 8 turns, 1 system).")
    assert "verlapping" not in "".join(
        block.caption for block in show(alone) if isinstance(block, Figure | TableBlock)
    )


def test_equal_systems_are_named_and_not_compared() -> None:
    same = of({"a": 0.5, "b": 0.5})
    assert only(same) == "a and b have equal scores on all 8 turns (mean NDCG@3 0.500)."
    ranked = same.changed(ranked_alike=frozenset("ab"))
    assert (
        only(ranked)
        == "a and b have equal scores on all 8 turns and equal rankings (mean NDCG@3 0.500)."
    )
    assert (
        not len(same.pairs)
        and set(same.measures["letters"]) == {""}
        and not evaluate_findings(same)
    )
    # equal by one measure
    other = same.measures.assign(equal=["a", "a", "", ""])
    assert (
        only(same.changed(measures=other))
        == "a and b have equal NDCG@3 on all 8 turns (mean NDCG@3 0.500)."
    )
    # they are one in a comparison
    three = of({"a": 0.5, "c": 0.2, "b": 0.5})
    apart = with_tests(three, p=0.01)
    assert only(apart).startswith(
        "a and b, which have equal scores, score 0.300 NDCG@3 higher than c (95% CI 0.300 to 0.300"
    )
    assert [*three.pairs["first"], *three.pairs["second"]] == [
        "a",
        "c",
        "a",
        "c",
        "c",
        "b",
        "c",
        "b",
    ]
    assert evaluate_findings(apart)[0] == "a and b have equal scores on all 8 turns."


def test_a_system_that_answers_less_than_half_is_named_so_and_has_no_letter() -> None:
    two = of({"full": 0.9, "x": 0.1}, few={"x": 1})
    assert only(with_tests(two, p=0.01)).startswith(
        "full scores 0.800 NDCG@3 higher than x, which answers 1 of 8 turns ("
    )
    assert only(with_tests(two, p=0.2)).startswith(
        "The data do not show whether full or x, which answers 1 of 8 turns, scores higher (difference 0.800 NDCG@3;"
    )
    assert set(two.measures["letters"]) == {""}
    assert not any(
        "differ significantly" in block.note for block in show(two) if isinstance(block, TableBlock)
    )
    alone = of({"x": 0.1}, few={"x": 1})
    assert only(alone).startswith("x, which answers 1 of 8 turns, has a mean NDCG@3 of 0.100")
    # among several, it is not ranked
    some = told(all_at(0.05), few={"low": 3})
    assert only(some).startswith(
        "top scores 0.050 NDCG@3 higher than mid, the best of 2 others, which both score significantly"
    )
    assert only(some).endswith("; not ranked: low, which answers 3 of 8 turns.")
    letters = dict(zip(some.measures["system"], some.measures["letters"], strict=True))
    assert letters["low"] == "" and all(letters[name] for name in ("top", "mid", "near"))
    assert evaluate_findings(some)[0].startswith("Of 3 pairs of systems, 3 differ")
    notes = some.measures.set_index("system")["note"]
    assert (
        notes["low"].iloc[0].endswith("only 3 of 8 turns answered")
        and "answered" not in notes["top"].iloc[0]
    )


@pytest.mark.parametrize(
    "scores", [[1, 1, 1, 1, 1, 1, 1, 0], [1] * 8, [0.9, 1, 1, 1, 1, 1, 1, 0.2]]
)
def test_intervals_of_scores_from_files_stay_in_their_range(scores: Sequence[float]) -> None:
    frames = {"a": TurnScores(TURNS, {"m": np.array(scores, float)})}
    result = evaluate(
        frames, {"m": False}, units_of(TURNS), Evaluated(EvaluationPolicy(), "scores", 8, 0)
    )
    [row] = result.rows("measures")
    assert 0 < row.ci_low < row.value <= row.ci_high <= 1
