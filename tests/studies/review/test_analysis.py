"""What the categories of a sample say about all turns: counts, crossings, differences and agreement, computed anew."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from robustcs.inputs.reviews import Review, Sample
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.statistics.finite import finite_difference, finite_share
from robustcs.studies.review.analysis import NONE, Reviews, Value, review, slices_of
from robustcs.studies.review.findings import findings, verdicts
from tests.sentences import made as by_hand

SAMPLE = Sample("random", 7, 40, 12)
TURNS = [f"{number // 3}_{number % 3 + 1}" for number in range(12)]


def coded(
    categories: Sequence[str],
    systems: tuple[str, ...] = ("t5",),
    coder: str = "ada",
    sample: Sample = SAMPLE,
) -> list[Review]:
    """One review per turn; each category is a word of letters: ``ab`` means a and b."""
    return [
        Review(turn, systems, tuple(own), coder, sample)
        for turn, own in zip(TURNS, categories, strict=False)
    ]


def made(reviews: Sequence[Review], values: Sequence[Value] = ()) -> Reviews:
    return review(reviews, values, Evaluated(EvaluationPolicy(), "texts", len(TURNS), 0))


A = ["a", "a", "ab", "", "b", "a", "", "", "a", "", "", "a"]


def test_counts_with_intervals_for_all_turns() -> None:
    rows = made(coded(A)).categories.set_index("category")
    assert list(rows.index) == ["a", "b", NONE] and list(rows["count"]) == [6, 2, 5]
    found = finite_share(6, 12, 40)
    assert rows.loc["a", ["share", "ci_low", "ci_high"]].tolist() == [0.5, found.low, found.high]
    assert (
        rows["reviewed"].tolist() == [12] * 3
        and rows["random"].all()
        and (rows["note"] == "").all()
    )


@pytest.mark.parametrize("sample", [Sample(), Sample("chosen", None, 40, 12), Sample("random", 7, 0, 12),
                                    Sample("random", 7, 10, 12), Sample("all", None, 40, 40)])  # fmt: skip
def test_no_estimate_without_a_random_sample(sample: Sample) -> None:
    result = made(coded(A, sample=sample))
    assert (
        result.categories[["ci_low", "ci_high"]].isna().all(axis=None)
        and not result.categories["random"].any()
    )
    assert result.categories["note"].str.contains("not a random sample").all()
    assert verdicts(result) == () and findings(result)[0].endswith("The sample is not random, so this is not an estimate for"
                                                                   " all turns.")  # fmt: skip


def test_all_turns_of_a_bin_are_known() -> None:
    rows = made(coded(A, sample=Sample("all", None, 12, 12))).categories
    assert (rows["ci_low"] == rows["share"]).all() and (rows["ci_high"] == rows["share"]).all()


def test_systems_reviewed_together_are_one_and_apart_are_two() -> None:
    together = made(coded(A, ("t5", "human")))
    assert set(together.categories["systems"]) == {"t5, human"} and not len(together.differences)
    # what is said of both counts for each
    apart = made([*coded(A, ("t5", "human")), *coded(["c"] * 3, ("human",))])
    counts = apart.categories.set_index(["systems", "category"])["count"]
    assert (
        counts["t5", "a"] == counts["human", "a"] == 6
        and counts["human", "c"] == 3
        and ("t5", "c") not in counts
    )


def test_categories_that_separate_two_systems() -> None:
    other = ["", "", "b", "", "b", "", "", "", "", "", "", ""]
    rows = made([*coded(A), *coded(other, ("human",))]).differences.set_index("category")
    assert rows.loc["a", ["both", "only_first", "only_second"]].tolist() == [0, 6, 0]
    assert rows.loc["b", ["both", "only_first", "only_second"]].tolist() == [2, 0, 0]
    found = finite_difference(6, 0, 12, 40)
    assert rows.loc["a", ["difference", "ci_low", "ci_high"]].tolist() == [
        0.5,
        found.low,
        found.high,
    ]
    assert (
        rows["separates"].tolist()
        == [finite_difference(6, 0, 12, 40, comparisons=2).low > 0, False]
        == [True, False]
    )
    chosen = Sample("chosen", None, 40, 12)
    rows = made([*coded(A, sample=chosen), *coded(other, ("human",), sample=chosen)]).differences
    assert rows[["ci_low", "ci_high", "separates"]].isna().all(axis=None)


def test_crossings_are_random_samples_of_their_part() -> None:
    every = {
        f"{number // 3}_{number % 3 + 1}": "001" if number % 2 else "111" for number in range(40)
    }
    values = [
        Value("bin", "t5", every, ("human",)), Value("bin", "other", every, ("human",)),
        Value("component", "x/y", every, ["t5"]), Value("component", "other/y", every),
        Value("outcome", "t5", {"0_1": "wrong"}), Value("outcome", "x", every),
    ]  # fmt: skip
    rows = made(coded(A), values).crossings
    crossed = {names: {*zip(found["by"], found["of_system"], strict=True)} for names in [("human",), ("z",), ()]
               for found in [made(coded(A, names), values).crossings]}  # fmt: skip
    assert {*zip(rows["by"], rows["of_system"], strict=True)} == {
        ("bin", "t5"),
        ("component", "x/y"),
        ("outcome", "t5"),
    }
    assert (
        crossed["human",] == {("bin", "t5"), ("bin", "other")}
        and not crossed["z",]
        and len(crossed[()]) == 6
    )
    one = rows[(rows["value"] == "111") & (rows["category"] == "a")].iloc[0]
    own = [turn for turn in TURNS if every[turn] == "111"]
    hits = sum("a" in words for turn, words in zip(TURNS, A, strict=True) if turn in own)
    found = finite_share(hits, len(own), 20)
    assert one[["count", "reviewed", "share", "ci_low", "ci_high"]].tolist() == [
        hits,
        6,
        hits / 6,
        found.low,
        found.high,
    ]
    assert rows.loc[
        (rows["by"] == "outcome") & (rows["category"] == "a"), ["count", "reviewed"]
    ].to_numpy().tolist() == [[1, 1]]


def cohen(first: Sequence[bool], second: Sequence[bool]) -> float:
    """Cohen's kappa from its definition."""
    x, y = np.array(first), np.array(second)
    observed = (x == y).mean()
    expected = x.mean() * y.mean() + (1 - x.mean()) * (1 - y.mean())
    return float((observed - expected) / (1 - expected))


def test_agreement_of_two_coders_on_the_turns_of_both() -> None:
    other = ["a", "", "ab", "", "b", "a", "a", "", "a", ""]  # two turns fewer
    rows = made(
        [*coded(A), *coded(other, coder="ben", sample=Sample("random", 8, 40, 12))]
    ).coders.set_index("category")
    for name in "ab":
        of = [[name in words for words in some[:10]] for some in (A, other)]
        assert rows.loc[name, "kappa"] == pytest.approx(cohen(*of))
        both = sum(x and y for x, y in zip(*of, strict=True))
        assert rows.loc[name, ["both", "only_first", "only_second"]].tolist() == [
            both,
            sum(of[0]) - both,
            sum(of[1]) - both,
        ]
    assert rows["turns"].tolist() == [10, 10]
    assert rows.loc["a", "ci_low"] < rows.loc["a", "kappa"] <= rows.loc["a", "ci_high"] <= 1


def test_the_order_of_lines_changes_nothing() -> None:
    reviews = [*coded(A), *coded(A[::-1], coder="ben")]
    one, other = made(reviews), made(sorted(reviews, key=lambda one: (one.coder, one.turn[::-1])))
    for name in ("categories", "coders"):
        pd.testing.assert_frame_equal(one.tables[name], other.tables[name])


def test_slices_say_yes_no_or_nothing() -> None:
    text = slices_of([*coded(A[:4]), *coded(["a", "", "a", ""], coder="ben")])
    assert text == "turn\ta\tb\n0_1\tyes\tno\n0_2\t\tno\n0_3\tyes\t\n1_1\tno\tno\n"


def test_sentences_have_the_numbers_of_the_tables() -> None:
    result = made([*coded(A), *coded(["b"] * 12, ("human",))])
    first = verdicts(result)[0]
    low, high = finite_share(6, 12, 40).low, finite_share(6, 12, 40).high
    assert first.sentence == (
        "The most frequent category of t5 by coder ada is 'a', on 50% of all 40 turns"
        f" (95% CI {100 * low:.0f}% to {100 * high:.0f}%; 6 of 12 randomly sampled turns)."
    )
    where = made(coded(A, sample=Sample("random", 7, 40, 12, "where t5 fails")))
    assert "50% of the 40 turns where t5 fails" in verdicts(where)[0].sentence
    agreed = made([*coded(A), *coded(A[::-1], coder="ben")])
    row = agreed.coders.set_index("category").loc["a"]
    whole = f"κ with ben: {row['kappa']:.2f} (95% CI {row['ci_low']:.2f} to {row['ci_high']:.2f})".replace(
        "-", "−"
    )
    assert verdicts(agreed)[0].basis == f"6 of 12 randomly sampled turns; {whole}"
    assert (
        verdicts(agreed)[1].basis
        == f"6 of 12 randomly sampled turns; {whole.replace('ben', 'ada')}"
    ), "of ben's category"
    told = [sentence for sentence in findings(result) if "separates" in sentence]
    b = result.differences.set_index("category").loc["b"]
    assert (
        f"'b' separates t5 from Human: −{-100 * b['difference']:.0f} percentage points" in told[0]
    )
    assert f"{b['only_first']} turns only t5, {b['only_second']} only Human" in told[0]
    assert not math.isnan(b["ci_low"]) and len(told) == 2


def test_a_tag_of_one_coder_and_system_selects_its_turns() -> None:
    (first,) = verdicts(made(coded(["a"] * 3 + [""] * 9)))
    assert (first.turns, first.count) == ("tag:a", 3)
    agreed = made([*coded(["a"] * 3 + [""] * 9), *coded(["a"] * 2 + [""] * 10, coder="ben")])
    assert [(one.turns, one.count) for one in verdicts(agreed)] == [("", 0), ("", 0)]


def test_the_interval_of_a_difference_has_its_own_limits_in_points() -> None:
    row = {
        "category": "a",
        "first": "t5",
        "second": "human",
        "only_first": 1,
        "only_second": 9,
        "separates": True,
    }
    row |= {"difference": -0.75, "ci_low": -0.87, "ci_high": -0.61}
    assert findings(by_hand("review", {"differences": [row]})) == (  # type: ignore[arg-type]
        "'a' separates t5 from Human: −75 percentage points (95% CI −87 to −61; 1 turn only t5, 9 only Human).",
    )
