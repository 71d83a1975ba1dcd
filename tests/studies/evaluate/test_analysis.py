"""Means, pairs and letters against statsmodels, enumeration and scipy."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.documents.document import TableBlock
from robustcs.errors import UsageError
from robustcs.evaluation.measures import TurnScores
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.slicing.table import slicing
from robustcs.statistics.units import units_of
from robustcs.studies.evaluate.analysis import NEEDED, Evaluation, evaluate
from robustcs.studies.evaluate.findings import verdicts
from robustcs.studies.evaluate.show import overview, show
from tests.statistics.test_families import brute_force


def make(
    scores: dict[str, list[float]], turns: list[str], metric: str = "m", **settings: Any
) -> Evaluation:
    frames = {
        name: TurnScores(turns, {metric: np.array(values)}) for name, values in scores.items()
    }
    evaluated = Evaluated(EvaluationPolicy(), "runs", len(turns), 0)
    return evaluate(frames, {metric: False}, units_of(turns), evaluated, **settings)


def drawn(
    systems: int, conversations: int, length: int, seed: int = 1
) -> tuple[dict[str, list[float]], list[str]]:
    generator = np.random.default_rng(seed)
    turns = [
        f"{conversation}_{turn}" for conversation in range(conversations) for turn in range(length)
    ]
    topic = np.repeat(generator.normal(size=conversations), length)
    return {
        f"s{number}": (topic + 0.4 * number + generator.normal(size=len(turns))).tolist()
        for number in range(systems)
    }, turns


def test_means_are_those_of_the_turns_best_first() -> None:
    scores, turns = drawn(4, 8, 3)
    result = make(scores, turns)
    expected = sorted(
        ((float(np.mean(values)), name) for name, values in scores.items()), reverse=True
    )
    assert list(result.measures["system"]) == [name for _, name in expected]
    assert result.measures["value"].tolist() == pytest.approx([value for value, _ in expected])
    assert (result.evaluated.unit, result.evaluated.units, result.evaluated.turns) == (
        "conversation",
        8,
        24,
    )
    assert len(result.turns) == 4 * 24


def test_single_turns_give_student_s_interval() -> None:
    scores, _ = drawn(2, 30, 1)
    result = make(scores, [str(place) for place in range(30)])
    for row in result.measures.itertuples():
        values = scores[str(row.system)]
        low, high = scipy.stats.t.interval(0.95, 29, np.mean(values), scipy.stats.sem(values))
        assert (row.ci_low, row.ci_high) == pytest.approx((low, high))
    assert result.evaluated.unit == "turn"


def test_p_is_that_of_all_sign_patterns_and_adjusted_by_their_largest_statistic() -> None:
    scores, turns = drawn(4, 7, 3)
    result = make(scores, turns)
    sums = []
    for row in result.pairs.itertuples():
        difference = (
            (np.array(scores[str(row.first)]) - np.array(scores[str(row.second)]))
            .reshape(7, 3)
            .sum(axis=1)
        )
        sums.append(difference)
        totals = [abs(float(np.dot(signs, difference))) for signs in product((-1, 1), repeat=7)]
        assert row.p == pytest.approx(np.mean(np.array(totals) >= abs(difference.sum()) - 1e-9))
        assert row.difference == pytest.approx(difference.sum() / 21)
    assert result.pairs["p_corrected"].tolist() == pytest.approx(brute_force(np.array(sums), False))
    assert result.families["m"].describe("pair") == "max-T over 6 pairs"


def test_differences_of_thirds_keep_their_ties() -> None:
    """As of P@3 or reciprocal ranks: 1/3 + 1/3 is as far as 2/3, and a rounded 2/3 is not."""
    thirds = [2, 2, 2, -1, 0, -1, 1]
    row = make(
        {"a": [third / 3 for third in thirds], "b": [0.0] * 7}, [f"{turn}" for turn in range(7)]
    ).pairs.iloc[0]
    totals = np.array(list(product((-1, 1), repeat=7))) @ thirds
    # 0.21875 with rounded differences
    assert row.p == (np.abs(totals) >= sum(thirds)).mean() == 0.3125
    # scores that differ in their last bits do not differ
    row = make({"a": [0.1 + 0.2] * 8, "b": [0.3] * 8}, [f"{turn}" for turn in range(8)]).pairs.iloc[
        0
    ]
    assert row.p == 1 and np.isnan(row.effect) and "none of 8 turns differs" in row.note


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_no_interval_contradicts_its_p(seed: int) -> None:
    scores, turns = drawn(3, 9, 2, seed)
    for row in make(scores, turns).pairs.itertuples():
        assert (row.p <= 0.05) == (row.ci_low > 0 or row.ci_high < 0)


def test_a_design_has_the_units_that_it_needs_exactly_where_it_can_detect_the_difference() -> None:
    scores, turns = drawn(4, 12, 3)
    pairs = make(scores, turns).pairs
    enough = [row.units_needed <= 12 for row in pairs.itertuples()]
    assert enough == [row.detectable <= abs(row.difference) for row in pairs.itertuples()]
    assert any(enough) and not all(enough)
    scores["copy"] = scores["s0"]
    # equal systems are not compared
    same = make({name: scores[name] for name in ("s0", "copy")}, turns)
    assert not len(same.pairs) and list(same.measures["equal"]) == ["s0", "s0"]


def test_systems_share_a_letter_exactly_where_they_do_not_differ_significantly() -> None:
    scores, turns = drawn(5, 14, 3)
    result = make(scores, turns)
    letters = {row.system: set(str(row.letters).split()) for row in result.measures.itertuples()}
    apart = [bool(row.p_corrected <= 0.05) for row in result.pairs.itertuples()]
    assert any(apart) and not all(apart)
    for row, told in zip(result.pairs.itertuples(), apart, strict=True):
        assert bool(letters[row.first] & letters[row.second]) is not told


def test_a_baseline_is_compared_with_all_others() -> None:
    scores, turns = drawn(3, 6, 2)
    result = make(scores, turns, baseline="s1")
    assert list(zip(result.pairs["first"], result.pairs["second"], strict=True)) == [
        ("s0", "s1"),
        ("s2", "s1"),
    ]
    assert set(result.measures["letters"]) == {""}
    with pytest.raises(UsageError, match="no run is named 'x'"):
        make(scores, turns, baseline="x")


def test_equivalence_is_the_interval_inside_the_margin() -> None:
    scores, turns = drawn(3, 12, 2)
    scores["copy"] = [value + 0.01 * (-1) ** place for place, value in enumerate(scores["s0"])]
    for margin in (0.02, 0.3, 5.0):
        result = make(scores, turns, margin=margin)
        for row in result.pairs.itertuples():
            if {row.first, row.second} == {"s0", "copy"}:
                # the two turns of a conversation cancel out: nothing differs, and nothing is claimed
                assert pd.isna(row.equivalent) and row.note.startswith(
                    "none of 12 conversations differs"
                )
                continue
            sums = (
                np.subtract(scores[str(row.first)], scores[str(row.second)])
                .reshape(12, 2)
                .sum(axis=1)
            )
            squares = (sums - sums.mean()) ** 2
            inside = -margin < row.ci_low and row.ci_high < margin
            assert row.equivalent == (inside and squares.max() / squares.sum() <= 0.3)
    assert result.pairs["equivalent"].any()
    assert make(scores, turns).pairs["equivalent"].isna().all()
    for wrong in (0.0, -0.1, float("nan"), float("inf")):
        with pytest.raises(UsageError, match="margin"):
            make(scores, turns, margin=wrong)


def test_identical_and_sparse_pairs_are_said_not_claimed() -> None:
    scores, turns = drawn(2, 12, 1)
    scores = {
        "s0": scores["s0"],
        "same": scores["s0"],
        "few": [value + (place < 4) for place, value in enumerate(scores["s0"])],
    }
    found = make(scores, [f"{turn}_1" for turn in range(12)], "ndcg_cut_3", margin=2.0)
    rows = {(row.first, row.second): row for row in found.pairs.itertuples()}
    few = rows["s0", "few"]
    assert set(rows) == {("s0", "few"), ("same", "few")}
    assert dict(zip(found.measures["system"], found.measures["equal"], strict=True)) == {
        "few": "",
        "s0": "s0",
        "same": "s0",
    }
    assert pd.isna(few.equivalent) and np.isnan(few.ci_low) and few.p == 0.125
    assert few.note.startswith("no interval: only 4 of 12 turns differ")
    assert few.units_needed > 0 and pd.isna(few.units_needed_low) and pd.isna(few.units_needed_high)
    table = next(
        block for block in show(found) if isinstance(block, TableBlock) and block.of == "pairs"
    )
    text = " ".join(map(str, table.rows))
    assert f"'{few.units_needed}'" in text and table.note.endswith(
        "No interval: only 4 of 12 turns differ; p cannot be below 0.12 and so cannot reach 0.05."
    )
    assert "no turn accounts for more than 30% of the spread" in table.note


def test_the_tests_behind_sentences_are_those_of_the_table_of_pairs() -> None:
    scores, turns = drawn(4, 12, 2)
    found = make(scores, turns)
    table = [(row.metric, row.first, row.second, row.difference, row.ci_low, row.ci_high, row.p_corrected)
             for row in found.pairs.itertuples()]  # fmt: skip
    told = [(metric, *pair, test.value, test.low, test.high, test.p)
            for metric, own in found.compared.items() for pair, test in own.items()]  # fmt: skip
    assert table == told and any(row.p != row.p_corrected for row in found.pairs.itertuples())


@pytest.mark.parametrize(
    ("needed", "text"),
    [
        ((16, 8, 90), "16 (8–90)"),
        ((1600, 8, None), "1,600 (≥ 8)"),
        ((16, None, None), "16"),
        ((None, None, None), "–"),
    ],
)
def test_units_needed_are_shown_with_their_interval(
    needed: tuple[int | None, ...], text: str
) -> None:
    scores, turns = drawn(2, 12, 2)
    found = make(scores, turns, "ndcg_cut_3")
    columns = {
        name: pd.array([value], dtype="Int64") for name, value in zip(NEEDED, needed, strict=True)
    }
    found = found.changed(pairs=found.pairs.assign(**columns))
    table = next(
        block for block in show(found) if isinstance(block, TableBlock) and block.of == "pairs"
    )
    assert f"'{text}'" in str(table.rows)
    assert (
        "“needs” is the number of conversations that detect a true difference as large as the observed one"
        in table.note
    )
    assert "(95% CI; ≥: no upper limit)" in table.note


def test_few_conversations_make_the_turn_the_unit_and_say_so() -> None:
    scores, turns = drawn(2, 4, 5)
    result = make(scores, turns)
    assert (result.evaluated.unit, result.evaluated.units) == ("turn", 20)
    assert any("only 4 conversations" in note for note in result.evaluated.notes)


def test_no_interval_below_five_units() -> None:
    scores, _ = drawn(2, 4, 1)
    result = make(scores, ["a", "b", "c", "d"])
    assert result.measures[["ci_low", "ci_high"]].isna().all(axis=None)
    assert all("at least 5 required" in note for note in result.measures["note"])


def test_one_system_has_no_pairs() -> None:
    scores, turns = drawn(1, 6, 2)
    result = make(scores, turns)
    assert not len(result.pairs) and len(result.measures) == 1


def with_gaps(seed: int = 3) -> tuple[dict[str, list[float]], list[str]]:
    """Four systems over 7 conversations; ``s1`` lacks a turn of each, ``s2`` two whole conversations."""
    scores, turns = drawn(4, 7, 3, seed)
    scores["s1"] = [
        np.nan if turn.endswith("_0") else value
        for turn, value in zip(turns, scores["s1"], strict=True)
    ]
    scores["s2"] = [
        np.nan if turn[0] in "36" else value
        for turn, value in zip(turns, scores["s2"], strict=True)
    ]
    return scores, turns


def without_gaps(
    scores: dict[str, list[float]], turns: list[str], names: tuple[str, ...]
) -> Evaluation:
    """The named systems alone, over the turns that all of them have."""
    kept = [
        place
        for place in range(len(turns))
        if not np.isnan([scores[name][place] for name in names]).any()
    ]
    return make(
        {name: [scores[name][place] for place in kept] for name in names},
        [turns[place] for place in kept],
    )


def test_a_system_is_averaged_over_its_own_turns_and_compared_over_shared_ones() -> None:
    scores, turns = with_gaps()
    result = make(scores, turns)
    for row in result.measures.itertuples():
        (alone,) = without_gaps(scores, turns, (str(row.system),)).measures.itertuples()
        assert (row.value, row.ci_low, row.ci_high, row.turns) == pytest.approx(
            (alone.value, alone.ci_low, alone.ci_high, alone.turns)
        )
    sizes = dict(zip(result.measures["system"], result.measures["turns"], strict=True))
    assert sizes == {"s0": 21, "s1": 14, "s2": 15, "s3": 21}
    sums = []
    for row in result.pairs.itertuples():
        (alone,) = without_gaps(scores, turns, (str(row.first), str(row.second))).pairs.itertuples()
        for name in ("difference", "p", "p_floor", "effect", "detectable"):
            assert getattr(row, name) == pytest.approx(getattr(alone, name)), name
        assert (row.ci_low, row.ci_high) == pytest.approx(
            (alone.ci_low, alone.ci_high), nan_ok=True
        )
        gaps = np.array(scores[str(row.first)]) - np.array(scores[str(row.second)])
        shared = int((~np.isnan(gaps)).sum())
        sums.append(np.nan_to_num(gaps).reshape(7, 3).sum(axis=1))
        assert row.note.startswith(f"over the {shared} turns that both answer") == (shared < 21)
    assert result.pairs["p_corrected"].tolist() == pytest.approx(brute_force(np.array(sums), False))
    assert len(result.turns) == 21 + 14 + 15 + 21 and not result.turns["value"].isna().any()


def test_slices_of_a_system_are_those_of_its_own_turns() -> None:
    scores, turns = with_gaps()
    cut = [slicing("place", turns, {turn: turn[-1] for turn in turns})]
    found = make(scores, turns, slicings=cut).slices
    kept = [turn for turn, value in zip(turns, scores["s1"], strict=True) if not np.isnan(value)]
    alone = make(
        {"s1": [value for value in scores["s1"] if not np.isnan(value)]}, kept,
        slicings=[slicing("place", kept, {turn: turn[-1] for turn in kept})],
    ).slices  # fmt: skip
    own = found[(found["system"] == "s1") & (found["turns"] > 0)].reset_index(drop=True)
    pd.testing.assert_frame_equal(
        own[["slice", "turns", "value", "ci_low"]], alone[["slice", "turns", "value", "ci_low"]]
    )


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_totals_and_geometric_means_are_those_of_trec_eval(values: list[float]) -> None:
    turns = [f"{place}_1" for place in range(len(values))]
    for metric in ("num_rel_ret", "gm_map"):
        result = make({"s": values, "t": [*values[1:], 0.0]}, turns, metric)
        assert not len(result.pairs) and result.measures["ci_low"].isna().all()
        found = dict(zip(result.measures["system"], result.measures["value"], strict=True))
        assert found["s"] == pytest.approx(pytrec_eval.compute_aggregated_measure(metric, values))
        assert list(result.measures["value"]) == sorted(found.values(), reverse=True)
        assert verdicts(result) == () and overview(result) == ()
