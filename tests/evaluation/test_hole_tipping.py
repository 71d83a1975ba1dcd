"""How far the hole model may be off: factors on the odds, against grades drawn anew under them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from robustcs.evaluation import run_pool
from robustcs.evaluation.groups import Group
from robustcs.evaluation.hole_expectation import Contrast, FilledHoles, contrasts, fill_holes
from robustcs.evaluation.hole_model import fit_hole_model
from robustcs.evaluation.hole_tipping import (
    LARGEST,
    STEPS,
    TIPPING,
    factor_at,
    kind_of,
    nearest,
    tipping,
)
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.run_pool import Grades, RunPool
from robustcs.statistics.completed import completed_family
from robustcs.statistics.families import max_t
from robustcs.statistics.units import units_of
from tests.evaluation.test_hole_model import MEASURES, POLICY, made_pool, made_runs


@cache
def sample() -> tuple[RunPool, Grades, FilledHoles]:
    pool, _, left = made_pool(*made_runs(turns=40))
    counted = np.arange(len(pool.turns)) % 7 > 0
    units = units_of([turn for turn, count in zip(pool.turns, counted, strict=True) if count])
    return pool, left, fill_holes(pool, left, MEASURES[:2], POLICY, counted, units, 0, check=False)


def test_grades_only_rise_with_the_factor_and_are_those_of_the_draws_at_one() -> None:
    pool, left, _ = sample()
    model = fit_hole_model(pool, left, 10)
    assert model is not None
    kept = model.kept(range(20))
    np.testing.assert_array_equal(
        kept.grades(1.0), np.concatenate(list(model.draws(left, 20, 7)))[:, model.pairs]
    )
    before = kept.grades(1 / LARGEST)
    for factor in (0.1, 0.5, 1.0, 3.0, LARGEST):
        after = kept.grades(factor)
        assert (after >= before).all() and (after > before).any()
        before = after


def test_odds_of_every_stage_are_multiplied() -> None:
    """Two stages of chance .5 and .2 under factor 3: odds 1 → 3 and .25 → .75."""
    from robustcs.evaluation.hole_model import KeptDraws

    against = 1 / np.array([1.0, 0.25])[:, None, None]
    rolled = np.linspace(0.0005, 0.9995, 1000)[None]
    kept = KeptDraws(np.array([0, 1, 4], dtype=np.int16), np.repeat(against, 1000, axis=2), rolled)
    drawn = kept.grades(3.0)
    assert (drawn > 0).mean() == pytest.approx(0.75) and (drawn == 4).mean() == pytest.approx(
        0.75 * 3 / 7, abs=0.001
    )


def of_all(asked: Sequence[Contrast]) -> dict[str, Sequence[Contrast]]:
    return {measure.name: asked for measure in MEASURES}


@cache
def means_by_hand(contrast: Contrast, scope: str, factor: float) -> np.ndarray:
    """float64[D, M]: mean differences with sets of grades made anew."""
    pool, left, filled = sample()
    assert filled.scoring is not None
    model, counted = filled.scoring.model, filled.scoring.counted
    kept = model.kept(range(len(filled.sums)))
    drawn = kept.grades(factor)
    if scope == "unique":
        found = (pool.best_ranks() <= 10)[:, model.pairs]
        once = found[list(contrast.first)].any(axis=0) ^ found[list(contrast.second)].any(axis=0)
        drawn = np.where(once, drawn, kept.grades(1.0))
    sets = np.tile(left, (len(drawn), 1))
    sets[:, model.pairs] = drawn
    scores = pool.score(sets, MEASURES[:2], POLICY)[..., counted]
    differences = scores[:, list(contrast.first)].mean(axis=1) - scores[
        :, list(contrast.second)
    ].mean(axis=1)
    return np.round(differences.mean(axis=-1), 9)


def by_hand(contrast: Contrast, kind: str, column: int, scope: str, factor: float) -> str:
    """The conclusion under a factor."""
    means = means_by_hand(contrast, scope, factor)[:, column]
    if kind == "order":
        return ("second > first", "first = second", "first > second")[
            int(np.sign(round(means.mean(), 9))) + 1
        ] + " expected"
    agree = max((np.sign(means) == sign).mean() for sign in (-1, 0, 1))
    return "order certain" if agree >= 0.95 else "order open"


def test_a_conclusion_changes_at_its_factor_and_not_a_step_before() -> None:
    pool, _, filled = sample()
    family = contrasts(pool.names, {"sets": Group("run0", ("run1", "run2"))}, True)
    assert [one.names for one in family] == [
        ("run0", "run1"),
        ("run0", "run2"),
        ("run1", "run2"),
        ("run0", "sets"),
    ]
    found = tipping(filled, of_all(family), family)
    assert len(found) == 4 * 2 * 3 * 2 and list(found["metric"].unique()) == [
        measure.name for measure in MEASURES[:2]
    ]
    changes = 0
    for row in found.itertuples():
        kind = kind_of(row.conclusion)
        if kind == "differ":
            continue
        contrast = next(one for one in family if one.names == (row.first, row.second))
        column = [measure.name for measure in MEASURES].index(row.metric)
        assert by_hand(contrast, kind, column, row.scope, 1.0) == row.conclusion
        for factor, side in ((row.factor_below, 1), (row.factor_above, -1)):
            if np.isnan(factor):
                assert by_hand(contrast, kind, column, row.scope, LARGEST**-side) == row.conclusion
                continue
            changes += 1
            step = LARGEST ** (side / STEPS)
            assert by_hand(contrast, kind, column, row.scope, factor) != row.conclusion
            assert by_hand(contrast, kind, column, row.scope, factor * step) == row.conclusion
    assert changes >= 3


def test_significance_under_a_factor_is_that_of_the_family() -> None:
    pool, left, filled = sample()
    family = contrasts(pool.names, {}, True)
    found = tipping(filled, of_all(family), family, ("differ",))
    weights = np.array([one.weights(3) for one in family])
    assert filled.scoring is not None
    for number, measure in enumerate(MEASURES[:2]):
        rows = found[(found["metric"] == measure.name) & (found["scope"] == "all")]
        p = completed_family(filled.drawn(weights, number), 0)
        np.testing.assert_allclose(filled.differences(weights, number)[:, -1], p)
        assert [row.conclusion.startswith("differ") for row in rows.itertuples()] == (
            p <= 0.05
        ).tolist()
        for row in rows[rows["factor_above"].notna()].itertuples():
            kept = filled.scoring.model.kept(range(len(filled.sums))).grades(row.factor_above)
            sets = np.tile(left, (len(kept), 1))
            sets[:, filled.scoring.model.pairs] = kept
            scores = pool.score(sets, MEASURES[:2], POLICY)[..., filled.scoring.counted][
                :, :, number
            ]
            drawn = np.einsum("cr,drk->dck", weights, filled.units.sums(scores))
            place = [one.names for one in family].index((row.first, row.second))
            assert (completed_family(drawn, 0)[place] <= 0.05) != row.conclusion.startswith(
                "differ"
            )


def test_the_nearest_change_is_found_by_halves() -> None:
    """Four conclusions that change at a step downward, at a step upward, at both ends, and never; no step is tried twice."""
    turns = [
        lambda step: step <= -5,
        lambda step: step >= 33,
        lambda step: abs(step) == STEPS,
        lambda step: False,
    ]
    tried: list[int] = []

    def conclusions(step: int, some: np.ndarray) -> np.ndarray:
        tried.append(step)
        return np.array([1 - turns[number](step) for number in some])

    found = nearest(conclusions, np.ones(4, dtype=np.int64))
    expected = [
        [factor_at(-5), np.nan],
        [np.nan, factor_at(33)],
        [1 / LARGEST, LARGEST],
        [np.nan, np.nan],
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert len(tried) == len(set(tried)) == 24 and 0 not in tried


def test_the_columns_state_the_steps_of_the_factors() -> None:
    said = [TIPPING.field(f"factor_{side}").says for side in ("below", "above")]
    for step in (1, STEPS):
        assert f"in steps of {factor_at(step) / factor_at(step - 1) - 1:.0%};" in said[0]
    assert f"1/{factor_at(STEPS):.0f} " in said[0] and f"up to {factor_at(STEPS):.0f} " in said[1]


def test_levels_are_reached_with_the_chances_of_their_stages() -> None:
    pool, left, _ = sample()
    model = fit_hole_model(pool, left, 10)
    assert model is not None and len(model.stages) > 1
    kept = model.kept(range(30))
    for factor in (1 / LARGEST, 0.7, 1.0, 4.0, LARGEST):
        reached = kept.rolled < np.cumprod(expit(np.log(factor) - np.log(kept.against)), axis=0)
        np.testing.assert_array_equal(model.levels[reached.sum(axis=0)], kept.grades(factor))


def test_factors_are_applied_to_the_draws_that_were_scored() -> None:
    """Twelve draws, fewer than usual: with all of them, the order becomes certain at another factor."""
    pool, left, filled = sample()
    assert filled.scoring is not None
    model, counted = filled.scoring.model, filled.scoring.counted
    family = contrasts(("run0", "run1", "run2"), {}, True)

    def tips(draws: int) -> float:
        found = tipping(
            replace(filled, sums=filled.sums[:draws]), {"ndcg_cut_3": family[2:]}, family, ("sure",)
        ).iloc[0]
        assert (found["first"], found["second"], found["scope"], found["conclusion"]) == (
            "run1",
            "run2",
            "all",
            "order open",
        )
        return float(found["factor_below"])

    def certain(factor: float) -> bool:
        sets = np.tile(left, (12, 1))
        sets[:, model.pairs] = model.kept(range(12)).grades(factor)
        scores = pool.score(sets, MEASURES[:1], POLICY)[:, :, 0, counted].mean(axis=-1)
        return bool((scores[:, 1] > scores[:, 2]).mean() >= 0.95)

    assert certain(tips(12)) and not certain(tips(12) * LARGEST ** (1 / STEPS))
    assert tips(12) != tips(len(filled.sums))


def test_draws_of_large_pools_are_scored_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The factors stay the same."""
    pool, _, filled = sample()
    family = contrasts(pool.names, {}, True)
    whole = tipping(filled, of_all(family), family)
    monkeypatch.setattr(run_pool, "_GRADES", 80 * len(pool))
    pd.testing.assert_frame_equal(tipping(filled, of_all(family), family), whole)


def test_without_holes_there_is_nothing_to_tip() -> None:
    pool, whole, _ = made_pool(*made_runs(), hidden=0)
    units, family = units_of(pool.turns), contrasts(pool.names, {}, True)
    filled = fill_holes(
        pool, whole, MEASURES, POLICY, np.ones(len(pool.turns), dtype=bool), units, 0
    )
    assert not len(tipping(filled, of_all(family), family)) and not len(
        tipping(None, of_all(family), family)
    )


def test_passages_that_both_found_have_no_unique_factor() -> None:
    """Two runs that are the same: no factor on what one alone found changes anything."""
    runs, judged = made_runs(runs=1)
    pool, _, left = made_pool([runs[0], runs[0]], judged)
    units, family = units_of(pool.turns), contrasts(("a", "b"), {}, True)
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
    found = tipping(filled, of_all(family), family)
    assert found["factor_below"].isna().all() and found["factor_above"].isna().all()
    assert found["conclusion"].tolist()[:2] == ["first = second expected"] * 2


# ---------------------------------------------------------------- p adjusted over the family


def drawn_sums(
    seed: int, draws: int, pairs: int, units: int, noise: float, shift: float = 0.0
) -> np.ndarray:
    """Systems' sums and draws that move each system as a whole; the first pair is shifted by ``shift``."""
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(pairs, units))
    base[0] += shift
    return base + rng.normal(0, noise, (draws, pairs, 1))


def test_without_draws_that_differ_it_is_max_t() -> None:
    sums = drawn_sums(1, 1, 5, 12, 0.0, 1.5)
    np.testing.assert_allclose(completed_family(np.repeat(sums, 4, axis=0), 3), max_t(sums[0], 3))
    assert np.isnan(completed_family(sums[:, :, :4], 3)).all()


def test_draws_that_agree_come_near_max_t_and_draws_that_disagree_reject_nothing() -> None:
    sums = drawn_sums(2, 200, 6, 12, 1e-6, 1.6)
    np.testing.assert_allclose(
        completed_family(sums, 0), np.minimum(1, max_t(sums[0], 0)), atol=0.02
    )
    flipped = sums.copy()
    flipped[::2, 0] *= -1
    assert max_t(sums[0], 0)[0] < 0.05 and completed_family(flipped, 0)[0] == 1


def test_an_adjusted_p_is_never_below_that_of_a_pair_alone() -> None:
    sums = drawn_sums(4, 100, 8, 12, 0.3, 1.2)
    together = completed_family(sums, 0)
    alone = np.array([completed_family(sums[:, [pair]], 0)[0] for pair in range(8)])
    assert (together >= alone - 0.01).all() and together[1:].mean() > alone[1:].mean()


def test_a_hole_model_needs_a_passage_that_is_not_relevant() -> None:
    from robustcs.errors import UsageError

    runs, judged = made_runs()
    pool, _, left = made_pool(runs, {key: grade for key, grade in judged.items() if grade})
    assert set(left[left > UNJUDGED][:-1]) == {1, 2}
    with pytest.raises(UsageError, match="contain relevant passages only"):
        fit_hole_model(pool, left)
