"""ω² of the crossed analysis of variance: equal to statsmodels, and intervals over conversations."""

from __future__ import annotations

import math
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.statistics.agreement import agreement_estimate
from robustcs.statistics.crossed import (
    EFFECTS,
    _effect,
    crossed_sums,
    omega_squared,
    omega_squared_estimates,
)
from robustcs.statistics.units import units_of
from tests.conftest import ROOT, load

BENCH = load(ROOT / "bench" / "coverage_components.py")


def by_statsmodels(scores: np.ndarray) -> list[float]:
    """ω² of every effect from the sums of squares of a linear model, fitted by statsmodels."""
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    rows = [
        (f"t{t}", f"w{w}", f"r{r}", scores[t, w, r])
        for t, w, r in product(*map(range, scores.shape))
    ]
    frame = pd.DataFrame(rows, columns=["turn", "wording", "ranker", "score"])
    model = "score ~ turn + wording + ranker + wording:ranker + turn:wording + turn:ranker"
    found = anova_lm(ols(model, data=frame).fit(), typ=1)
    error = found.loc["Residual", "mean_sq"]
    total = len(frame)
    names = ["turn", "wording", "ranker", "wording:ranker", "turn:wording", "turn:ranker"]
    return [
        (square - df * error) / (square + (total - df) * error)
        for df, square in found.loc[names, ["df", "sum_sq"]].itertuples(index=False)
    ]


@pytest.mark.parametrize("shape", [(7, 3, 2), (5, 2, 2), (6, 2, 4)])
def test_equal_to_statsmodels(shape: tuple[int, int, int]) -> None:
    generator = np.random.default_rng(sum(shape))
    scores = (
        generator.random(shape)
        + generator.random((shape[0], 1, 1))
        + np.arange(shape[1])[None, :, None] / 3
    )
    units = units_of([f"{turn}_1" for turn in range(shape[0])])
    found = [one.value for one in omega_squared_estimates(scores, units, 0, 20)]
    assert found == pytest.approx(by_statsmodels(scores), abs=1e-9)


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(2, 4), st.integers(2, 4))
@settings(max_examples=30)
def test_a_shift_a_scale_and_the_order_of_turns_change_nothing(
    seed: int, turns: int, wordings: int, rankers: int
) -> None:
    generator = np.random.default_rng(seed)
    scores = generator.random((turns, wordings, rankers))
    levels = scores.shape[1:]

    def of(table: np.ndarray) -> np.ndarray:
        return omega_squared(crossed_sums(table).sum(axis=0), levels)

    assert of(3 * scores[::-1] - 1) == pytest.approx(of(scores), abs=1e-9)
    assert of(scores + 1e5) == pytest.approx(of(scores), abs=1e-6), "large scores lose no digits"
    turned = omega_squared(crossed_sums(scores.swapaxes(1, 2)).sum(axis=0), levels[::-1])
    assert turned[[0, 2, 1, 3, 5, 4]] == pytest.approx(of(scores), abs=1e-9)


def test_limits_of_the_effects() -> None:
    turns = [f"{conversation}_{turn}" for conversation in range(8) for turn in range(4)]
    units = units_of(turns)
    generator = np.random.default_rng(1)
    noise = generator.normal(size=(32, 3, 2))
    found = dict(
        zip(
            EFFECTS,
            omega_squared_estimates(noise + np.array([0, 0, 9])[None, :, None], units, 0),
            strict=True,
        )
    )
    assert found["wording"].value > 0.9 and abs(found["ranker"].value) < 0.1
    assert all(one.low <= one.value <= one.high <= 1 for one in found.values())
    assert all(one.low >= 0 or one.low == one.value for one in found.values())
    # an interval ends where one of the two kinds of bootstrap ends: the percentiles reach beyond the estimate on both sides
    turn = omega_squared_estimates(noise + generator.normal(size=(32, 1, 1)), units, 0)[0]
    assert 0 < turn.low < turn.value < turn.high < 1
    sums = units.sums(crossed_sums(noise).T).T
    for place, one in enumerate(omega_squared_estimates(noise, units, 0)):
        nested = agreement_estimate(sums, _effect(place, (3, 2)), 0, units.kind)
        assert one.low <= max(0.0, nested.low, one.value) and one.high >= nested.high
    nothing = omega_squared_estimates(np.zeros((32, 3, 2)), units, 0)
    assert all(math.isnan(one.value) and "no effect varies" in one.note for one in nothing)
    few = omega_squared_estimates(noise[:3], units_of(["1_1", "2_1", "3_1"]), 0)
    assert all(math.isnan(one.low) and "at least 5" in one.note for one in few)


def test_an_interval_joins_the_percentiles_of_resamples_and_the_nested_bootstrap() -> None:
    """Every resample is put together from whole conversations."""
    generator = np.random.default_rng(4)
    scores = generator.random((18, 1, 1)) / 2 + generator.random((18, 3, 2))
    units, drawn = units_of([f"{turn // 3}_{turn % 3 + 1}" for turn in range(18)]), []
    for weights in np.random.default_rng(9).multinomial(6, np.full(6, 1 / 6), size=60):
        rows = np.concatenate(
            [np.flatnonzero(units.codes == unit) for unit in np.repeat(np.arange(6), weights)]
        )
        drawn.append(omega_squared(crossed_sums(scores[rows]).sum(axis=0), (3, 2)))
    sums, beyond = units.sums(crossed_sums(scores).T).T, set()
    for place, one in enumerate(omega_squared_estimates(scores, units, 9, 60)):
        nested = agreement_estimate(sums, _effect(place, (3, 2)), 9, units.kind, 60)
        low, high = np.percentile(np.array(drawn)[:, place], [2.5, 97.5])
        assert one.high == pytest.approx(max(nested.high, high))
        assert one.low == pytest.approx(min(one.value, max(0.0, min(nested.low, low))))
        beyond.add(high > nested.high)
    assert beyond == {True, False}


@cache
def populations(data: Path) -> dict[str, tuple[np.ndarray, list[str]]]:
    return BENCH.populations(data)  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("CAsT 2019", (0.364, 0.262, 0.418, 0.374)), ("MTRAG clapnq", (0.168, 0.229, 0.378, 0.378))],
)
def test_published_effect_sizes(shared_data: Path, name: str, expected: tuple[float, ...]) -> None:
    scores, turns = populations(shared_data)[name]
    found = dict(zip(EFFECTS, omega_squared_estimates(scores, units_of(turns), 0, 20), strict=True))
    shown = [
        round(found[one].value, 3) for one in ("wording", "ranker", "turn*wording", "turn*ranker")
    ]
    assert shown == pytest.approx(expected)


@pytest.mark.long
@pytest.mark.parametrize("name", ["CAsT 2019", "MTRAG clapnq"])
def test_intervals_cover_other_conversations(shared_data: Path, name: str) -> None:
    scores, turns = populations(shared_data)[name]
    covered = BENCH.effect_coverage(scores, turns, units=20, trials=200, seed=3)
    assert all(share >= 0.90 for share in covered.values()), covered
