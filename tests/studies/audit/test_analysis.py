"""Agreement and bias against scikit-learn, krippendorff and figures by hand."""

from __future__ import annotations

import math

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from robustcs.statistics.units import units_of
from robustcs.studies.audit.analysis import (
    HUMAN,
    Audit,
    Common,
    agreement,
    bias_rows,
    conflict_rows,
    confusion_rows,
)


def common_of(
    human: list[int], model: list[int], units: list[int], level: int = 2, highest: int = 3
) -> Common:
    turns = [f"{unit}_1" for unit in dict.fromkeys(units)]
    places = {unit: place for place, unit in enumerate(dict.fromkeys(units))}
    codes = np.array([places[unit] for unit in units])
    return Common(
        np.array(human), np.array(model), units_of(turns).take(codes), {}, (0, highest), level
    )


def drawn(seed: int, pairs: int = 300, units: int = 12) -> Common:
    random = np.random.default_rng(seed)
    human = random.integers(0, 4, pairs)
    model = np.clip(human + random.integers(-1, 3, pairs), 0, 3)
    return common_of(human.tolist(), model.tolist(), random.integers(0, units, pairs).tolist())


def test_coefficients_are_those_of_scikit_learn_and_krippendorff() -> None:
    common = drawn(1)
    human, model = common.human, common.model
    found = agreement(common, seed=0)
    assert found["agree"].value == pytest.approx((human == model).mean())
    assert found["kappa"].value == pytest.approx(cohen_kappa_score(human, model))
    assert found["kappa_weighted"].value == pytest.approx(
        cohen_kappa_score(human, model, weights="quadratic")
    )
    assert found["kappa_level"].value == pytest.approx(cohen_kappa_score(human >= 2, model >= 2))
    alpha = krippendorff.alpha(
        reliability_data=np.stack([human, model]), level_of_measurement="ordinal"
    )
    assert found["alpha"].value == pytest.approx(alpha)
    for name, one in found.items():
        assert one.low < one.value < one.high and one.units == 12, name


def test_confusion_is_that_of_scikit_learn() -> None:
    common = drawn(2)
    counts = np.array([row[3] for row in confusion_rows("j", common)]).reshape(4, 4)
    assert (counts == confusion_matrix(common.human, common.model, labels=range(4))).all()


def test_bias_by_hand() -> None:
    common = common_of([0, 1, 2, 3, 0, 2], [2, 1, 2, 3, 1, 3], [1, 1, 2, 2, 3, 3])
    common.slices.update(
        {
            "some": np.array([True, True, False, False, False, False]),
            "none": np.zeros(6, dtype=bool),
        }
    )  # type: ignore[attr-defined]
    rows = {
        row["slice"]: row for row in Audit.bias.frame(bias_rows("j", common, 0)).to_dict("records")
    }
    assert list(rows) == ["all", "some"]
    whole = rows["all"]
    assert (whole["human_share"], whole["judge_share"], whole["ratio"]) == (3 / 6, 4 / 6, 4 / 3)
    assert (
        whole["mean_difference"] == pytest.approx(4 / 6)
        and whole["pairs"] == 6
        and whole["units"] == 3
    )
    # three topics carry no interval
    assert math.isnan(whole["ci_low"]) and "no interval" in whole["note"]
    assert math.isnan(rows["some"]["ratio"])  # people call nothing relevant there


def test_conflicts_are_the_pairs_furthest_apart() -> None:
    common = common_of([0, 1, 3, 2], [2, 1, 0, 3], [1, 1, 2, 2])
    ids = list(zip(["1_1", "1_1", "2_1", "2_1"], "abcd", strict=True))
    assert conflict_rows(("j", HUMAN), ids, common.model, common.human) == [
        ("j", HUMAN, "2_1", "c", 0, 3, -3), ("j", HUMAN, "1_1", "a", 2, 0, 2)
    ]  # fmt: skip


@settings(max_examples=12, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 9)), min_size=1, max_size=60
    )
)
def test_people_and_judge_exchanged(rows: list[tuple[int, int, int]]) -> None:
    human, model, units = (list(part) for part in zip(*rows, strict=True))
    one, other = (
        agreement(common_of(human, model, units), 0),
        agreement(common_of(model, human, units), 0),
    )
    for name in one:
        assert one[name].value == pytest.approx(other[name].value, nan_ok=True)
    first, second = (
        bias_rows("j", common_of(*pair, units), 0)[0] for pair in ((human, model), (model, human))
    )
    assert first[5].value == pytest.approx(-second[5].value)
    assert first[2:4] == pytest.approx(second[3:1:-1])


def test_intervals_leave_out_zero_where_the_judge_is_always_kinder() -> None:
    random = np.random.default_rng(3)
    human = random.integers(0, 3, 400)
    common = common_of(human.tolist(), (human + 1).tolist(), random.integers(0, 14, 400).tolist())
    row = Audit.bias.frame(bias_rows("j", common, 0)).iloc[0]
    assert row["mean_difference"] == 1 and row["ci_low"] > 0 and row["ratio_low"] > 1
