"""What differences probably are, against the draws themselves and against the test without holes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robustcs.documents.tables import cell
from robustcs.evaluation.groups import Group
from robustcs.evaluation.hole_check import check_hole_model, draws_interval
from robustcs.evaluation.hole_expectation import (
    DRAWS,
    DROPS,
    EXPECTED,
    FILLED_DEPTH,
    expected_drops,
    fill_holes,
)
from robustcs.evaluation.hole_model import fit_hole_model
from robustcs.statistics.sign_flip import paired_tests
from robustcs.statistics.units import units_of
from tests.evaluation.test_hole_model import MEASURES, POLICY, made_pool, made_runs

NAMES = [field.name for field in EXPECTED]


def test_it_sums_up_the_draws_of_the_model() -> None:
    pool, _, left = made_pool(*made_runs())
    counted = np.ones(len(pool.turns), dtype=bool)
    units = units_of(pool.turns)
    filled = fill_holes(pool, left, MEASURES, POLICY, counted, units, 7)
    model = fit_hole_model(pool, left, FILLED_DEPTH, seed=7)
    assert model is not None and filled.holes == len(model.pairs)
    means = np.concatenate(
        [pool.score(sets, MEASURES, POLICY).mean(axis=-1) for sets in model.draws(left, DRAWS, 50)]
    )
    now = pool.score(left[None], MEASURES, POLICY)[0].mean(axis=-1)
    for number in range(len(MEASURES)):
        found = dict(
            zip(NAMES, filled.differences([[1, -1, 0], [0.5, 0.5, -1]], number).T, strict=True)
        )
        drawn = means[:, 0, number] - means[:, 1, number]
        assert found["expected"][0] == pytest.approx(drawn.mean(), abs=1e-9)
        assert (found["holes_low"][0], found["holes_high"][0]) == pytest.approx(
            draws_interval(drawn), abs=1e-9
        )
        measured = now[0, number] - now[1, number]
        shares = 1 - drawn / measured
        low, high = draws_interval(shares)
        inside = 0 <= low <= high <= 1
        assert found["hole_share"][0] == pytest.approx(
            shares.mean() if inside else np.nan, abs=1e-6, nan_ok=True
        )
        assert (found["expected_low"] < found["holes_low"]).all() and (
            found["holes_high"] < found["expected_high"]
        ).all()


def test_without_holes_it_is_the_test() -> None:
    pool, whole, _ = made_pool(*made_runs(), hidden=0)
    units = units_of(pool.turns)
    filled = fill_holes(
        pool, whole, MEASURES, POLICY, np.ones(len(pool.turns), dtype=bool), units, 1
    )
    assert filled.holes == 0 and filled.check is None and filled.warnings == ()
    found = dict(zip(NAMES, filled.differences([[1, -1, 0]], 0)[0], strict=True))
    (test,) = paired_tests(filled.now[0, 0] - filled.now[1, 0], units.sizes, 1)
    assert (found["expected"], found["holes_low"], found["holes_high"]) == pytest.approx(
        (test.value,) * 3
    )
    assert (found["expected_low"], found["expected_high"]) == pytest.approx(
        (test.low, test.high), abs=1e-9
    )
    assert found["hole_share"] == 0


def test_only_the_turns_that_count() -> None:
    pool, _, left = made_pool(*made_runs())
    counted = np.arange(len(pool.turns)) % 3 > 0
    units = units_of([turn for turn, count in zip(pool.turns, counted, strict=True) if count])
    filled = fill_holes(pool, left, MEASURES, POLICY, counted, units, 0, check=False)
    assert filled.check is None
    expected = pool.score(left[None], MEASURES, POLICY)[0][..., counted].sum(axis=-1)
    np.testing.assert_allclose(filled.now.sum(axis=-1), expected)
    assert filled.sums.shape == (DRAWS, 3, len(MEASURES), units.count)


def test_the_model_is_tested_on_the_turns_that_count() -> None:
    """The turns with the higher scores: the mean of all turns lies far below that of the draws."""
    pool, _, left = made_pool(*made_runs(turns=40))
    scores = pool.score(left[None], MEASURES, POLICY)[0].mean(axis=(0, 1))
    model = fit_hole_model(pool, left)
    assert model is not None
    check = check_hole_model(
        model, pool, left, MEASURES, POLICY, scores > np.median(scores), hidings=3, draws=60
    )
    assert check.coverage > 0.85


def test_drops_of_groups() -> None:
    pool, _, left = made_pool(*made_runs())
    units = units_of(pool.turns)
    filled = fill_holes(
        pool, left, MEASURES, POLICY, np.ones(len(pool.turns), dtype=bool), units, 0, check=False
    )
    groups = {"sets": Group("run0", ("run1", "run2"))}
    pairs, table = expected_drops(list(pool.names), MEASURES, groups, filled)
    assert table["group"].tolist() == ["sets"] * 3 and table["sets"].tolist() == [2] * 3
    # pairs and drops are one family
    direct = filled.differences([[1, -1, 0], [1, 0, -1], [0, 1, -1], [1, -0.5, -0.5]], 2)
    np.testing.assert_allclose(table[NAMES].iloc[2].to_numpy(dtype=float), direct[3])
    np.testing.assert_allclose(pairs[MEASURES[2].name], direct[:3])
    alone = filled.differences([[1, -0.5, -0.5]], 2)[0]
    np.testing.assert_allclose(direct[3, :-1], alone[:-1])
    assert direct[3, -1] >= alone[-1]
    assert not len(expected_drops(list(pool.names), MEASURES, groups, None)[1])


def test_a_drop_is_displayed_as_precisely_as_the_expected_one() -> None:
    row = ("sets", "P_5", "run0", 2, 0.123456, 0.123456, 0.01, 0.2, 0.1, 0.15, 0.5, 0.4, 0.6, 0.03)
    line = next(DROPS.frame([row]).itertuples())
    assert cell(DROPS.field("drop"), line) == "0.1235"
    assert cell(DROPS.field("expected"), line).startswith("+0.1235 (")


def test_a_share_that_is_not_between_0_and_1_is_none() -> None:
    """Draws under which a small difference changes its sign: it is too small to be divided."""
    pool, _, left = made_pool(*made_runs())
    units = units_of(pool.turns)
    filled = fill_holes(
        pool, left, MEASURES, POLICY, np.ones(len(pool.turns), dtype=bool), units, 0, check=False
    )
    now = filled.sums.mean(axis=0)
    now[0], now[1], now[2] = now[1] + 0.001, now[1], now[1] - filled.sums[:, 1].std() * 9
    found = replace(filled, now=now).differences([[1, -1, 0], [1, 0, -1]], 0)
    shares = found[:, 5:8]
    assert np.isnan(shares[0]).all()
    assert np.isnan(shares[1]).all() or ((shares[1] >= 0) & (shares[1] <= 1)).all()


@pytest.mark.parametrize(
    ("first", "shown"), [(0.2, True), (-0.1, False), (0.6, True), (1.2, False)]
)
def test_a_share_is_shown_if_all_draws_but_a_twentieth_agree_that_it_is_a_share(
    first: float, shown: bool
) -> None:
    """Of a measured difference of 1, the draws leave 1 − share; the shares go from ``first`` to 0.8."""
    pool, _, left = made_pool(*made_runs())
    units = units_of(pool.turns)
    filled = fill_holes(
        pool,
        left,
        MEASURES[:1],
        POLICY,
        np.ones(len(pool.turns), dtype=bool),
        units,
        0,
        check=False,
    )
    sums, now = np.zeros((100, 3, 1, units.count)), np.zeros((3, 1, units.count))
    now[0] = units.sizes
    sums[:, 0, 0] = (1 - np.linspace(first, 0.8, 100))[:, None] * units.sizes
    [found] = replace(filled, sums=sums, now=now).differences([[1, -1, 0]], 0)
    share, low, high = found[5:8]
    assert np.isnan(found[5:8]).all() != shown
    if shown:
        assert share == pytest.approx((first + 0.8) / 2)
        assert (low, high) == pytest.approx((min(first, 0.8), max(first, 0.8)), abs=0.03)
