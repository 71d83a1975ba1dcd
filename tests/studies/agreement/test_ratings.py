"""Agreement of ratings."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from robustcs.errors import UsageError
from robustcs.evaluation.rating_scales import scales_of
from robustcs.inputs.ratings import Rating
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.statistics.agreement import agreement_estimate, fleiss_kappa, fleiss_of, fleiss_sums
from robustcs.studies.agreement.ratings import NO_MAJORITY, rating_agreement

EVALUATED = Evaluated(EvaluationPolicy(), "texts", 1, 0)


def ratings(*items: str, criterion: str = "meaning") -> list[Rating]:
    """One string of single-character ratings per item; a blank is a missing rating."""
    return [
        Rating("1_1", f"q{place}", f"w{rater}", criterion, value, 0)
        for place, values in enumerate(items)
        for rater, value in enumerate(values)
        if value.strip()
    ]


PAPER = ratings("55544", "54445", "11234", "33321", "22 21", "12121")


def test_values_ascend_as_numbers_where_they_are_numbers() -> None:
    first, second = scales_of([*ratings("9", "5"), *ratings("b", "a", criterion="kind")])
    second_ten = scales_of([Rating("", "q", "w", "c", "10", 0), Rating("", "q", "v", "c", "9", 0)])[
        0
    ]
    assert (first.values, first.numbers, second.values, second.numbers) == (
        ("5", "9"),
        (5.0, 9.0),
        ("a", "b"),
        (),
    )
    assert second_ten.values == ("9", "10")


def test_stages_keep_and_group_as_the_paper_does() -> None:
    result = rating_agreement(PAPER, EVALUATED)
    stages = result.stages.set_index(["items", "ratings"])
    # agreeing pairs: .4 .4 .1 .3 .5 .4 of ten (six where a rating is missing)
    assert stages["count"].to_dict() == {
        ("all", "given"): 6, ("all", "grouped"): 6, ("kept", "given"): 4, ("kept", "grouped"): 4,
    }  # fmt: skip
    assert stages.loc[("kept", "grouped"), "kappa"] == 1 > stages.loc[("kept", "given"), "kappa"]
    assert (
        result.kappa["value"].item()
        == stages.loc[("all", "given"), "kappa"]
        == fleiss_kappa(scales_of(PAPER)[0].counts)
    )
    agreement = result.kappa.iloc[0]
    assert (agreement["items"], agreement["ratings"], agreement["kept"]) == (6, 29, 4)
    assert agreement["agreement"] == pytest.approx((0.4 + 0.4 + 0.1 + 0.3 + 0.5 + 0.4) / 6)


def test_labels_are_those_of_a_majority() -> None:
    labels = rating_agreement(PAPER, EVALUATED).grouped.set_index("group")
    assert labels["count"].to_dict() == {"poor": 2, "undecided": 1, "good": 2, NO_MAJORITY: 1}
    tied = rating_agreement(ratings("1122"), EVALUATED, majority=2).grouped.set_index("group")
    assert tied.loc[NO_MAJORITY, "count"] == 1
    words = rating_agreement(ratings("aab", "bbb", "cab"), EVALUATED).grouped.set_index("group")
    assert words["count"].to_dict() == {"a": 1, "b": 1, "c": 0, NO_MAJORITY: 1}


def test_other_scales_are_grouped_only_when_asked() -> None:
    other = ratings("0013", "3330")
    assert set(rating_agreement(other, EVALUATED).stages["ratings"]) == {"given"}
    grouped = rating_agreement(other, EVALUATED, groups={"low": ("0", "1"), "high": ("3",)})
    assert set(grouped.grouped["group"]) == {"low", "high", NO_MAJORITY}
    with pytest.raises(
        UsageError,
        match=r"rating '3' of meaning is in no group; add it to a group; the groups contain 0, 1",
    ):
        rating_agreement(other, EVALUATED, groups={"low": ("0", "1")})
    with pytest.raises(UsageError, match="a rating is in two groups"):
        rating_agreement(other, EVALUATED, groups={"low": ("0", "1"), "high": ("1", "3")})


def test_words_have_only_the_nominal_level_and_single_ratings_no_agreement() -> None:
    result = rating_agreement(
        [*ratings("aab", "bb"), *ratings("1", "2", criterion="alone")], EVALUATED
    )
    assert result.alpha[["criterion", "level"]].values.tolist() == [
        ["meaning", "nominal"], ["alone", "nominal"], ["alone", "ordinal"], ["alone", "interval"],
    ]  # fmt: skip
    alone = result.kappa.set_index("criterion").loc["alone"]
    assert alone["items"] == 0 and math.isnan(alone["value"])
    assert result.distribution[["rating", "count"]].values.tolist() == [
        ["a", 2],
        ["b", 3],
        ["1", 1],
        ["2", 1],
    ]


def test_shares_are_of_all_ratings_and_of_the_items() -> None:
    result = rating_agreement(ratings("555", "551", "123", "11", "4"), EVALUATED, min_agreement=0.5)
    assert result.distribution[["rating", "count", "share"]].values.tolist() == [
        ["1", 4, 4 / 12], ["2", 1, 1 / 12], ["3", 1, 1 / 12], ["4", 1, 1 / 12], ["5", 5, 5 / 12],
    ]  # fmt: skip
    labels = result.grouped.set_index("group")
    assert labels.loc["good", ["count", "share"]].tolist() == [3, 3 / 5] and labels[
        "share"
    ].sum() == pytest.approx(1)
    agreement = result.kappa.iloc[0]
    # one rater of an item cannot agree: its share is of the four items with more
    assert (agreement["items"], agreement["kept"], agreement["kept_share"]) == (4, 2, 2 / 4)


def test_tables_have_the_columns_that_they_declare() -> None:
    result = rating_agreement(PAPER, EVALUATED)
    first = ["kappa", "alpha", "stages", "distribution"]
    assert list(result.tables) == [*first, "means", "grouped"]
    for name, frame in result.tables.items():
        with pytest.raises(TypeError, match=f"table {name} has columns"):
            result.changed(**{name: frame.assign(more=1)})


def by_turn(seed: int, conversations: int, turns: int, items: int, raters: int = 3) -> list[Rating]:
    """Ratings of items, those of one turn alike."""
    random = np.random.default_rng(seed)
    return [
        Rating(
            f"{c}_{t}",
            f"{c}_{t}#{i}",
            f"w{w}",
            "meaning",
            str(int(np.clip(hard + random.integers(-1, 2), 1, 5))),
            0,
        )
        for c in range(1, conversations + 1)
        for t, hard in enumerate(random.integers(1, 6, turns), 1)
        for i in range(items)
        for w in range(raters)
    ]


def test_conversations_are_units_and_the_order_of_lines_changes_nothing() -> None:
    some = by_turn(0, 7, 2, 3)
    one = rating_agreement(some, EVALUATED)
    assert (one.evaluated.unit, one.evaluated.units) == ("conversation", 7)
    shuffled = [some[place] for place in np.random.default_rng(1).permutation(len(some))]
    other = rating_agreement(shuffled, EVALUATED)
    for name, frame in one.tables.items():
        pd.testing.assert_frame_equal(frame, other.tables[name], check_exact=True)
    # sums over conversations, and the nested bootstrap-t of these
    [scale] = scales_of(some)
    codes = np.array([int(turn.partition("_")[0]) - 1 for turn in scale.turns])
    sums = np.stack([fleiss_sums(scale.counts)[codes == code].sum(axis=0) for code in range(7)])
    found = agreement_estimate(sums, fleiss_of, 0, "conversation")
    assert one.kappa.loc[0, ["value", "ci_low", "ci_high"]].tolist() == pytest.approx(
        [found.value, found.low, found.high]
    )
    assert one.kappa.loc[0, "note"] == "unstable: only 7 conversations"


def test_ratings_of_few_conversations_take_turns_and_of_few_turns_items() -> None:
    assert rating_agreement(by_turn(0, 3, 3, 2), EVALUATED).kappa.loc[0, "units"] == 9
    items = rating_agreement(by_turn(0, 1, 3, 4), EVALUATED)
    assert items.evaluated.unit == "item" and items.kappa.loc[0, "units"] == 12
    few = rating_agreement(by_turn(0, 1, 1, 4), EVALUATED)
    assert few.kappa["ci_low"].isna().all() and few.alpha["ci_low"].isna().all()
    assert few.kappa.loc[0, "note"] == "no interval: only 4 items (at least 5 required)"


def test_units_are_those_of_the_items_with_two_ratings_or_more() -> None:
    two = by_turn(0, 8, 2, 2, raters=2)
    found = rating_agreement(two, EVALUATED)
    assert found.kappa.loc[0, ["items", "units"]].tolist() == [32, 8]
    # items that one person rated, in further conversations, change neither kappa nor the units
    more = rating_agreement([*two, *by_turn(1, 12, 1, 1, raters=1)[8:]], EVALUATED)
    assert more.kappa.loc[0, "ratings"] == found.kappa.loc[0, "ratings"] + 4
    columns = ["items", "units", "value", "ci_low", "ci_high"]
    assert more.kappa.loc[0, columns].tolist() == found.kappa.loc[0, columns].tolist()
