"""When is the order of two runs settled: against every way of grading, and against judging it out."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from robustcs.evaluation.hole_order import (
    DRAWS,
    Contest,
    drawn_grades,
    hole_effects,
    judgments_needed,
    orders,
    with_known,
)
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.run_pool import Grades, RunPool
from robustcs.policy import EvaluationPolicy
from robustcs.statistics import Codes
from tests.evaluation.test_augmentation import as_qrels
from tests.evaluation.test_hole_model import POLICY, fitted, made_pool, made_runs
from tests.evaluation.test_run_pool import as_ranking, pool_of

MEASURES = tuple(parse_measure(name) for name in ("ndcg_cut_3", "P_2", "map"))


def contest(
    pool: RunPool, top: int, counted: np.ndarray | None = None, max_grade: int = 2
) -> Contest:
    compared = tuple((0, other) for other in range(1, len(pool.names)))
    counted = np.ones(len(pool.turns), dtype=bool) if counted is None else counted
    return Contest(pool, compared, MEASURES, POLICY, counted, top, max_grade)


@pytest.mark.parametrize("seed", range(4))
def test_proven_bounds_hold_every_way_of_grading_the_top(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rankings = [
        as_ranking(
            f"r{run}",
            {f"1_{turn}": [f"d{p}" for p in rng.permutation(7)[:5]] for turn in (1, 2, 3)},
        )
        for run in range(3)
    ]
    judged = {
        (f"1_{turn}", f"d{p}"): int(rng.integers(3))
        for turn in (1, 2, 3)
        for p in range(7)
        if rng.random() < 0.7
    }
    qrels = as_qrels({**judged, ("1_1", "d0"): 1, ("1_2", "d0"): 0, ("1_3", "d0"): 2})
    pool = pool_of(rankings, qrels)
    grades = pool.grades(qrels)
    asked = contest(pool, 2, np.array([True, True, False]))
    holes = asked.holes(grades)
    ways = np.tile(grades, (3 ** len(holes), 1))
    ways[:, holes] = list(product(range(3), repeat=len(holes)))
    assert 0 < len(holes) < 9
    scored = [
        pool.score(way[None], MEASURES, POLICY)[0][..., asked.counted].mean(axis=-1) for way in ways
    ]
    for order in orders(asked, grades, None):
        number = MEASURES.index(order.measure)
        differences = np.array(
            [scores[order.first, number] - scores[order.second, number] for scores in scored]
        )
        differences = np.append(differences, order.difference)
        assert order.low <= differences.min() + 1e-9 and differences.max() - 1e-9 <= order.high
        if order.measure.family != "map":  # whose bounds are outer ones
            assert (order.low, order.high) == pytest.approx(
                (differences.min(), differences.max()), abs=1e-9
            )
            one_way = (
                (differences > 1e-9).all() or (differences < -1e-9).all() or not differences.any()
            )
            assert (order.state == "proven") == one_way
        assert np.isnan(order.sure)


def test_certain_is_what_the_draws_agree_on() -> None:
    pool, _, left = made_pool(*made_runs())
    model = fitted(pool, left, depth=5)
    asked = contest(pool, 5)
    drawn = drawn_grades(model, left)
    assert drawn.shape == (DRAWS, len(left))
    means = np.concatenate([pool.score(one[None], MEASURES, POLICY).mean(axis=-1) for one in drawn])
    for order in orders(asked, left, drawn):
        number = MEASURES.index(order.measure)
        differences = means[:, order.first, number] - means[:, order.second, number]
        assert order.expected == pytest.approx(differences.mean(), abs=1e-9)
        assert order.sure == max((differences > 1e-12).mean(), (differences < -1e-12).mean())
        assert order.state == ("certain" if order.sure >= 0.95 else "open")


def test_what_is_judged_meanwhile_stands_in_every_draw() -> None:
    pool, whole, left = made_pool(*made_runs())
    model = fitted(pool, left, depth=5)
    asked = contest(pool, 5)
    known = left.copy()
    known[model.pairs[::2]] = whole[model.pairs[::2]]
    drawn = drawn_grades(model, left)
    assert (with_known(drawn, known)[:, model.pairs[::2]] == whole[model.pairs[::2]]).all()
    # all judged: nothing is left to doubt
    known[model.pairs] = whole[model.pairs]
    for order in orders(asked, known, with_known(drawn, known)):
        assert (
            order.low == order.high == order.difference == pytest.approx(order.expected)
            and order.state == "proven"
        )


def takes(asked: Contest, grades: Grades, drawn: Grades, truth: Grades, queue: Codes) -> int:
    """Judgments until the first order is certain, judged out three by three and scored anew each time."""
    known = grades.copy()
    for done in range(0, len(queue) + 3, 3):
        known[queue[:done]] = truth[queue[:done]]
        if orders(asked, known, with_known(drawn, known))[0].state != "open":
            return done
    raise AssertionError("with all judged the order is proven")


@pytest.mark.long
def test_it_takes_about_as_many_judgments_as_it_says() -> None:
    found = []
    for seed in range(6):
        runs, judged = made_runs(seed=seed, runs=2, turns=20)
        pool, _, left = made_pool(runs, judged, hidden=0.6, seed=seed)
        asked = Contest(
            pool, ((0, 1),), MEASURES[:1], POLICY, np.ones(len(pool.turns), dtype=bool), 3, 2
        )
        model = fitted(pool, left, depth=3)
        drawn = drawn_grades(model, left)
        [order] = now = orders(asked, left, drawn)
        effects = hole_effects(asked, left, model.pairs, model.levels)
        queue = np.argsort(-np.abs(effects[:, -1, 0, 0] - effects[:, -1, 1, 0]), kind="stable")
        [needed], total = judgments_needed(asked, now, model, effects, left, drawn, queue)
        assert needed == total and 0 <= needed.low <= needed.median <= needed.high <= len(queue)
        if order.state == "open":
            further = drawn_grades(replace(model, seed=77), left)[:3]
            found += [
                (needed, takes(asked, left, drawn, truth, model.pairs[queue])) for truth in further
            ]
        else:
            assert needed.high == 0
    # 80 % of the draws, and a step of three
    inside = [needed.low <= real <= needed.high + 3 for needed, real in found]

    assert len(found) >= 9 and sum(inside) / len(inside) > 0.6


def test_a_grade_that_the_model_has_not_learned() -> None:
    pool, _, left = made_pool(*made_runs())
    model = fitted(pool, left, depth=5)
    asked = contest(pool, 5, max_grade=7)
    effects = hole_effects(asked, left, model.pairs, model.levels)
    known = left.copy()
    known[model.pairs[:3]] = 7
    drawn = with_known(drawn_grades(model, left), known)
    found = orders(asked, known, drawn)
    queue = np.arange(3, len(model.pairs))
    needed, _ = judgments_needed(asked, found, model, effects, known, drawn, queue)
    assert len(needed) == len(found) and all(one.high <= len(queue) for one in needed)


def test_an_open_order_takes_one_judgment_at_least() -> None:
    pool, _, left = made_pool(*made_runs())
    model = fitted(pool, left, depth=5)
    asked = contest(pool, 5)
    effects = hole_effects(asked, left, model.pairs, model.levels)
    drawn = drawn_grades(model, left)
    # 94 % of the draws agree, while the effects added up leave no doubt
    found = [replace(orders(asked, left, drawn)[0], difference=9.0, low=-1.0, high=1.0, sure=0.94)]
    [needed], total = judgments_needed(
        asked, found, model, effects, left, drawn, np.arange(len(model.pairs))
    )
    assert (
        found[0].state == "open"
        and needed == total
        and 1 == needed.low == needed.median == needed.high
    )


@pytest.mark.parametrize("gain", [-0.5, 0.5])
def test_draws_without_a_difference_are_on_no_side(gain: float) -> None:
    """The last passage to judge decides for one run or changes nothing: before, no draw is on the other side."""
    pool, _, left = made_pool(*made_runs())
    model = fitted(pool, left, depth=5)
    asked = contest(pool, 5)
    queue = np.arange(len(model.pairs))
    effects = np.zeros((len(queue), len(model.levels), len(pool.names), len(MEASURES)))
    effects[-1, 1:, 0] = gain
    drawn = np.tile(left, (DRAWS, 1))
    drawn[:, model.pairs] = 0
    drawn[::2, model.pairs[-1]] = 1
    found = [replace(orders(asked, left, drawn)[0], difference=0.0, low=-0.5, high=0.5, sure=0.5)]
    [needed], total = judgments_needed(asked, found, model, effects, left, drawn, queue)
    assert needed == total and needed.low == needed.median == needed.high == len(queue)


def test_a_measure_without_bounds_is_never_proven_but_can_be_certain() -> None:
    pool, _, left = made_pool(*made_runs())
    measure = parse_measure("bpref")
    asked = Contest(
        pool, ((0, 2),), (measure,), EvaluationPolicy(), np.ones(len(pool.turns), dtype=bool), 5, 2
    )
    [alone] = orders(asked, left, None)
    assert np.isnan(alone.low) and alone.state == "open"
    [order] = orders(asked, left, drawn_grades(fitted(pool, left, depth=5), left))
    assert order.sure > 0.5 and (left[asked.holes(left)] == UNJUDGED).all()
