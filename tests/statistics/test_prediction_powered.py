"""Corrected estimates against the formulas written out one by one, and their behaviour where it is known."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from robustcs.statistics.means import cluster_t_test
from robustcs.statistics.prediction_powered import (
    Corrected,
    Judged,
    corrected,
    judged_sums,
    selection_test,
    units_to_judge,
)
from robustcs.statistics.units import units_of


def drawn(
    seed: int, systems: int = 3, units: int = 12, judged: int = 6, noise: float = 0.1
) -> tuple[np.ndarray, ...]:
    """People's and the model's scores of turns, and the units."""
    random = np.random.default_rng(seed)
    lengths = random.integers(2, 9, units)
    turns = [f"{unit}_{depth}" for unit in range(units) for depth in range(lengths[unit])]
    of = units_of(turns)
    people = random.random((systems, len(turns))) * 0.5 + 0.3 * random.random(units)[of.codes]
    model = np.clip(0.1 + 0.8 * people + noise * random.normal(size=people.shape), 0, 1)
    mask = np.zeros(units, dtype=bool)
    mask[random.choice(units, judged, replace=False)] = True
    return people, model, of, mask


def by_hand(
    people: np.ndarray, model: np.ndarray, of, mask: np.ndarray, kept: list[int], units: int
):  # type: ignore[no-untyped-def]
    """θ and λ from the judged units ``kept``, in loops."""
    rows = [
        [turn for turn in range(len(of.codes)) if of.codes[turn] == unit] for unit in range(units)
    ]
    star = [model[s].mean() for s in range(len(people))]
    top = bottom = turn_top = turn_bottom = 0.0
    ratios = []
    length = sum(len(rows[unit]) for unit in kept)
    for s in range(len(people)):
        y = [people[s, rows[unit]].sum() for unit in kept]
        f = [model[s, rows[unit]].sum() for unit in kept]
        m = [len(rows[unit]) for unit in kept]
        ry, rf = sum(y) / length, sum(f) / length
        ratios.append((ry, rf))
        mean = length / len(kept)
        u = [(a - ry * b) / mean for a, b in zip(y, m, strict=True)]
        v = [(a - rf * b) / mean for a, b in zip(f, m, strict=True)]
        top += sum(a * b for a, b in zip(u, v, strict=True)) * mean**2
        bottom += sum(a * a for a in v) * mean**2
        turns = [turn for unit in kept for turn in rows[unit]]
        turn_top += sum(people[s, t] * model[s, t] for t in turns) - sum(y) * sum(f) / length
        turn_bottom += sum(model[s, t] ** 2 for t in turns) - sum(f) ** 2 / length
    share = len(kept) / (len(kept) + 10)
    weight = min(
        1.0, max(0.0, share * top / bottom + (1 - share) * max(0.0, turn_top / turn_bottom))
    )
    return [ry + weight * (star[s] - rf) for s, (ry, rf) in enumerate(ratios)], weight


@pytest.mark.parametrize("judged", [5, 8, 11])
def test_formulas_written_out(judged: int) -> None:
    people, model, of, mask = drawn(3, judged=judged, noise=0.4)
    found = corrected(judged_sums(people, model, of, mask))
    kept = np.flatnonzero(mask).tolist()
    value, weight = by_hand(people, model, of, mask, kept, 12)
    assert found.value == pytest.approx(value) and found.weight == pytest.approx(weight)
    assert 0 < weight < 1
    without = [
        by_hand(people, model, of, mask, [unit for unit in kept if unit != gone], 12)[0]
        for gone in kept
    ]
    variance = (judged - 1) / judged * ((np.array(without) - value) ** 2).sum(axis=0)
    sizes = of.sizes[mask]
    sums = of.sums(people)[:, mask]
    u = (sums - sums.sum(axis=1, keepdims=True) / sizes.sum() * sizes) / sizes.mean()
    alone = (u**2).sum(axis=1) / (judged * (judged - 1))
    assert found.people_variance == pytest.approx(alone)
    # from ten units on the model can only help
    assert found.variance == pytest.approx(
        np.minimum(variance, alone) if judged >= 10 else variance
    )
    worth = 1 / (1 / 12 + (1 / judged - 1 / 12) * found.variance / alone)
    assert found.worth == pytest.approx(worth)
    half = stats.t.ppf(0.975, judged - 1) * np.sqrt((1 - judged / 12) * found.variance)
    assert found.half_width() == pytest.approx(half)
    assert (found.half_width(others=True) > found.half_width()).all()
    assert found.model == pytest.approx(model.mean(axis=1))


def test_a_perfect_model_gives_what_people_would() -> None:
    people, _, of, mask = drawn(5)
    found = corrected(judged_sums(people, people, of, mask))
    assert found.weight == pytest.approx(1)
    assert found.value == pytest.approx(people.mean(axis=1))
    assert found.worth == pytest.approx(12)


def test_a_model_that_says_the_same_of_everything_is_worth_nothing() -> None:
    people, _, of, mask = drawn(6)
    found = corrected(judged_sums(people, np.full_like(people, 0.4), of, mask))
    assert found.weight == 0 and found.value == pytest.approx(found.people)
    assert found.worth == pytest.approx(6, rel=0.35)  # a jackknife beside a sum of squares


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.floats(-0.5, 0.5), st.floats(0.1, 1.0))
def test_a_shift_of_the_model_changes_nothing(seed: int, shift: float, scale: float) -> None:
    people, model, of, mask = drawn(seed)
    one = corrected(judged_sums(people, model, of, mask))
    other = corrected(judged_sums(people, model + shift, of, mask))
    assert other.value == pytest.approx(one.value) and other.variance == pytest.approx(one.variance)
    assert (one.worth >= 0).all() and (one.worth <= 12 * 1.000001).all()


def test_intervals_and_p_never_contradict() -> None:
    people, model, of, mask = drawn(7, systems=20, noise=0.5)
    planted = np.linspace(0, 0.4, 19)[:, None]
    found = corrected(
        judged_sums(people[1:] - people[:-1] + planted, model[1:] - model[:-1], of, mask)
    )
    half, p = found.half_width(), found.p_values()
    assert ((p <= 0.05) == (np.abs(found.value) >= half)).all()
    assert (p <= 0.05).any() and (p > 0.05).any()


def test_p_of_people_alone_is_the_t_test() -> None:
    # single turns, a model that says nothing, endlessly many units: Student's t
    random = np.random.default_rng(8)
    values = random.normal(0.3, 1, 15)
    sums = Judged(values[None], 0 * values[None], np.zeros((1, 10**7)), np.zeros((1, 10**7)), np.ones(10**7),
                  np.arange(10**7) < 15)  # fmt: skip
    assert corrected(sums).p_values()[0] == pytest.approx(
        float(cluster_t_test(values[None], np.ones(15))[0]), rel=1e-4
    )


def test_planning_written_out() -> None:
    variance, pilot, units, wanted = 0.0006, 10, 60, 0.03
    found = units_to_judge(variance, pilot, units, wanted)
    spread = pilot * variance * (pilot - 1) / stats.chi2.ppf(0.2, pilot - 1)

    def half(count: int) -> float:
        return float(stats.t.ppf(0.975, count - 1)) * math.sqrt((1 / count - 1 / units) * spread)

    assert half(found) <= wanted < half(found - 1)
    assert units_to_judge(variance, pilot, units, 1e-9) == units
    assert units_to_judge(0.0, pilot, units, wanted) == 2


def test_selection_is_tested_over_all_permutations() -> None:
    sums, sizes = np.array([3.0, 2.5, 1.0, 0.5, 0.2, 0.4]), np.array([4.0, 3.0, 2.0, 2.0, 1.0, 2.0])
    judged = np.array([True, True, False, False, False, False])

    def apart(places: tuple[int, ...]) -> float:
        inside = np.isin(np.arange(6), places)
        return abs(
            sums[inside].sum() / sizes[inside].sum() - sums[~inside].sum() / sizes[~inside].sum()
        )

    every = [apart(places) for places in combinations(range(6), 2)]
    expected = np.mean([value >= apart((0, 1)) - 1e-12 for value in every])
    assert selection_test(sums, sizes, judged, seed=0) == pytest.approx(expected)


def test_selection_by_random_permutations_is_that_of_scipy() -> None:
    random = np.random.default_rng(9)
    values = random.random(40)
    judged = np.arange(40) < 12
    values[judged] += 0.2
    found = selection_test(values, np.ones(40), judged, seed=1)
    reference = stats.permutation_test(
        (values[judged], values[~judged]), lambda x, y, axis: np.abs(x.mean(axis) - y.mean(axis)), vectorized=True,
        n_resamples=9_999, alternative="greater", random_state=np.random.default_rng(2),
    )  # fmt: skip
    assert found == pytest.approx(reference.pvalue, abs=0.01)
    assert found == selection_test(values, np.ones(40), judged, seed=1)


def test_random_permutations_choose_as_many_units_as_were_judged() -> None:
    """Two of 200 units: 9,999 random pairs against all 19,900."""
    values, judged = np.random.default_rng(11).random(200), np.arange(200) < 2
    values[judged] = 0.65, 0.85
    pairs = values[np.array([*combinations(range(200), 2)])].sum(axis=1)
    apart = abs(pairs / 2 - (values.sum() - pairs) / 198)
    expected = np.mean(apart >= apart[0] - 1e-12)
    assert 0.15 < expected < 0.35
    assert selection_test(values, np.ones(200), judged, seed=0) == pytest.approx(
        expected, abs=0.015
    )


def test_no_people_varies_no_worth() -> None:
    people, model, of, mask = drawn(10)
    found: Corrected = corrected(judged_sums(np.full_like(people, 0.5), model, of, mask))
    assert np.isnan(found.worth).all() and found.half_width(alone=True) == pytest.approx(
        0, abs=1e-9
    )


def test_no_worth_if_people_give_every_unit_the_same_mean_and_the_model_does_not() -> None:
    """Within units, people's scores follow the model's, so that the model counts; people alone have no error."""
    of, mask = (
        units_of([f"{unit}_{depth}" for unit in range(12) for depth in (1, 2)]),
        np.arange(12) < 6,
    )
    people = np.resize([0.25, 0.75], 24)[None]
    model = people + np.repeat(np.arange(12) % 3 / 10, 2)
    found = corrected(judged_sums(people, model, of, mask))
    assert found.weight > 0 and found.variance[0] > 0 and found.half_width(alone=True)[0] == 0
    assert np.isnan(found.worth).all()


def test_values_without_any_error_are_0_or_not() -> None:
    people = np.array([np.zeros(24), np.full(24, 0.5)])
    of = units_of([f"{turn // 2}_{turn % 2 + 1}" for turn in range(24)])
    mask = np.arange(12) < 6
    assert corrected(judged_sums(people, people, of, mask)).p_values().tolist() == [1.0, 0.0]


def test_columns_are_the_estimates_and_their_limits_inside_the_scale() -> None:
    people, model, of, mask = drawn(3, noise=0.4)
    found = corrected(judged_sums(people, model, of, mask))
    limits = {
        "human_ci": (found.people, found.half_width(alone=True)), "ci": (found.value, found.half_width()),
        "others": (found.value, found.half_width(others=True)),
    }  # fmt: skip
    plain, cut = found.columns(None), found.columns(0.5)
    for name, (middle, half) in limits.items():
        assert plain[f"{name}_low"] == pytest.approx(middle - half) and plain[
            f"{name}_high"
        ] == pytest.approx(middle + half)
        assert (
            cut[f"{name}_low"] == pytest.approx(middle - half)
            and (cut[f"{name}_high"] <= 0.5).all()
        )
    assert (plain["ci_high"] > 0.5).any() and (
        found.columns(None)["corrected"] == found.value
    ).all()
    assert (plain["judged_units"], plain["units"], plain["weight"]) == (6, 12, found.weight)
    lower = corrected(judged_sums(people - 0.5, model - 0.5, of, mask)).columns(1.0)
    assert min(lower[f"{name}_low"].min() for name in limits) == 0
    differences = found.differences()
    assert differences["ci_low"] == pytest.approx(plain["ci_low"]) and differences[
        "ci_high"
    ] == pytest.approx(plain["ci_high"])


def test_p_of_random_permutations_has_four_digits() -> None:
    values = np.random.default_rng(3).random(30)
    p = selection_test(values, np.ones(30), np.arange(30) < 9, seed=0)
    assert 0 < p <= 1 and p * 10_000 == pytest.approx(round(p * 10_000), abs=1e-9)
    # a selection that no permutation reaches
    assert selection_test(np.arange(60.0), np.ones(60), np.arange(60) < 30, seed=0) == 1 / 10_000
