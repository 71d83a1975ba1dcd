"""The hole model gives the numbers that it had when the simulations of bench/holes.py found it calibrated.

The other tests of the model show that its numbers make sense; these change with every step of the computation.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robustcs.evaluation.groups import Group, RunSources
from robustcs.evaluation.hole_check import (
    HoleCheck,
    _trial_warning,
    check_hole_model,
    hole_warnings,
)
from robustcs.evaluation.hole_expectation import expected_drops, fill_holes
from robustcs.evaluation.hole_features import PairFeatures
from robustcs.evaluation.hole_model import HoleModel
from robustcs.evaluation.hole_order import (
    Contest,
    JudgmentsNeeded,
    drawn_grades,
    hole_effects,
    influences,
    judgments_needed,
    orders,
)
from robustcs.evaluation.run_pool import Grades, RunPool
from robustcs.statistics import Floats
from robustcs.statistics.units import units_of
from tests.evaluation.test_augmentation import as_qrels
from tests.evaluation.test_hole_model import MEASURES, POLICY, fitted, made_pool, made_runs
from tests.evaluation.test_run_pool import as_ranking, pool_of

Made = tuple[RunPool, Grades, HoleModel]


@pytest.fixture(scope="module")
def made() -> Made:
    """Three runs of 12 turns to rank 25, two of them of one group; 40% of the passages are unjudged."""
    pool, _, left = made_pool(*made_runs(seed=8, turns=12, depth=25), hidden=0.4)
    return pool, left, fitted(pool, left, groups=(0, 0, 1), seed=4)


def sums(*arrays: Floats) -> list[float]:
    """A sum of every array, weighted by places, so that values which change places change it."""
    return [float(np.ravel(array) @ np.cos(np.arange(np.size(array)))) for array in arrays]


def near(expected: list[float]) -> object:
    return pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_features_and_stages(made: Made) -> None:
    model = made[2]
    holes, judged = (
        sums(one.fixed, one.varying, one.height, one.log_best)
        for one in (model.holes, model.judged)
    )
    assert holes == near(
        [-4.385957153557385, -9.367953782005216, -5.514440813788323, 9.732533524627874]
    )
    assert judged == near(
        [5.507073022643246, -13.340169439183846, -3.6400908787488566, 3.194052370939584]
    )
    first, second = (
        sums(
            one.beta,
            one.precision,
            one.turn,
            one.turn_covariance,
            one.pull,
            one.shrinkage,
            one.spread,
        )
        for one in model.stages
    )
    assert first == near([
        -3.7989212097126104, 11.16099675162866, -1.3184392209432287, 0.5657487676684417, 0.7652971719544346,
        1.0159212497640575, 0.5984617894849428,
    ])  # fmt: skip
    assert second == near([
        -3.1235276490569417, 0.5003070578055204, 0.032027890122387395, 0.9496029723950437, 0.05826303631020943,
        9.226843323410117, 0.8607026935215916,
    ])  # fmt: skip


def test_recalibration_and_probabilities(made: Made) -> None:
    model = made[2]
    assert model.recalibration.mean.tolist() == near(
        [-0.11076338996687195, 0.9737541810902357, -0.014982612450789598]
    )
    assert [*sums(model.recalibration.root), model.limit] == near(
        [-0.02973936573903809, 3.1354942159291497]
    )
    kept = model.kept(range(20))
    found = sums(model.probabilities(), kept.grades(1.0), kept.grades(3.0))
    assert found == near([1.259006211747708, -6.228051273687443, -22.785456037193445])


def test_the_models_test(made: Made) -> None:
    pool, left, model = made
    check = check_hole_model(model, pool, left, MEASURES, POLICY, hidings=3, draws=40)
    assert [check.level, check.slope, check.coverage] == near(
        [-0.11076338996687195, 0.9737541810902357, 0.9622641509433962]
    )
    assert check.warning is None


def test_orders(made: Made) -> None:
    pool, left, model = made
    counted, pairs = np.arange(12) != 3, ((0, 1), (0, 2))
    asked = Contest(pool, pairs, tuple(MEASURES), POLICY, counted, 25, 2)
    effects = hole_effects(asked, left, model.pairs, model.levels)
    of_scores, influence = (
        (influences(effects, of) * model.probabilities()).sum(axis=1) for of in ((), pairs)
    )
    found = sums(effects, of_scores, influence)
    assert found == near([0.22672316880118146, -0.23401764954034388, -0.12115860510982959])
    drawn = drawn_grades(model, left)
    known = orders(asked, left, drawn)
    assert [number for one in known for number in (one.difference, one.low, one.high, one.expected, one.sure)] == near([
        0.038794088, -0.221867235, 0.264196888, 0.04078669726999999, 0.785,
        0.005971757, -0.272727273, 0.187789938, -0.017763726934999998, 0.645,
        0.0, -0.127272727, 0.109090909, 0.00027272727499999934, 0.405,
        0.054545455, -0.072727273, 0.181818182, 0.06218181825, 0.925,
        0.03968993, -0.363512585, 0.382109954, 0.02976754907, 0.815,
        0.107626564, -0.282325933, 0.419827016, 0.11310701484, 1.0,
    ])  # fmt: skip
    queue = np.argsort(-influence, kind="stable")
    # passages judged meanwhile have no effect any more
    later = left.copy()
    later[model.pairs[:5]] = 1
    none = effects.copy()
    none[:5] = 0
    few = [
        judgments_needed(asked, known, model, some, later, drawn, queue[queue >= 5])
        for some in (effects, none)
    ]
    assert few[0] == few[1] and few[0][1] == JudgmentsNeeded(28, 21, 55)
    each = [
        JudgmentsNeeded(7, 4, 31),
        JudgmentsNeeded(17, 6, 31),
        JudgmentsNeeded(26, 12, 33),
        JudgmentsNeeded(1, 1, 1),
        JudgmentsNeeded(12, 6, 43),
        JudgmentsNeeded(0, 0, 0),
    ]
    assert judgments_needed(asked, known, model, effects, left, drawn, queue) == (
        each,
        JudgmentsNeeded(31, 21, 50),
    )


def test_expected_differences(made: Made) -> None:
    pool, left, _ = made
    units = units_of(pool.turns, "turn")
    sources = RunSources((0, 0, 1))
    every = np.ones(12, dtype=bool)
    filled = fill_holes(
        pool, left, MEASURES, POLICY, every, units, 4, sources, check=False, depth=10, draws=30
    )
    pairs, drops = expected_drops(
        pool.names, MEASURES, {"g": Group("run0", ("run1", "run2"))}, filled
    )
    found = [number for values in pairs.values() for number in sums(np.nan_to_num(values))]
    assert found == near([-0.07987156161374796, 0.12956132016376778, 0.023954426392561286])
    assert sums(filled.sums) == near([-5.739896397519053])
    assert drops.iloc[:, 4:10].to_numpy().ravel().tolist() == near([
        0.02284589266869541, -0.004226356033333332, -0.175679154, 0.19582695625000002, -0.081036354, 0.075281048,
        0.016666666666666677, 0.0088888889, -0.10000000000000002, 0.12857142857142856, -0.025, 0.041666667,
        0.07052083739809988, 0.06430177163333334, -0.037503946, 0.1947155845, 0.021599296, 0.110769076,
    ])  # fmt: skip


def test_warnings_say_what_the_judgments_do_not_show(made: Made) -> None:
    pool, left, model = made
    total = len(model.holes)
    assert hole_warnings(model, pool, left, MEASURES) == (
        f"{total} of {total + len(model.judged)} passages are unjudged. With so many, the intervals of MAP may be too narrow.",
    )
    assert hole_warnings(model, pool, left, MEASURES[:2]) == ()
    for warning in ("failed", None):  # the result of the test comes first
        check = HoleCheck(0.0, 1.0, 0.5, 10, warning)
        assert hole_warnings(model, pool, left, MEASURES[:2], check=check) == tuple(
            filter(None, [warning])
        )
    for number, few in ((99, True), (100, False)):
        less = replace(model, judged=model.judged.take(np.arange(len(model.judged)) < number))
        found = " ".join(hole_warnings(less, pool, left, MEASURES[:2]))
        assert ("The hole model learned from only" in found) == few
    # few unjudged passages are no reason to warn of MAP
    some, _, known = made_pool(*made_runs(seed=8, turns=12, depth=25), hidden=0.1)
    assert hole_warnings(fitted(some, known), some, known, MEASURES) == ()


def warned(
    made: Made, unjudged: tuple[int, int], judged: tuple[int, int], deep: int = 0, measure: int = 0
) -> str:
    """The warnings for passages (unjudged, judged) of one turn: those that runs x and y retrieved, and those of y alone."""
    kinds = [
        ("both", unjudged[0], False),
        ("own", unjudged[1], False),
        ("both", judged[0], True),
        ("own", judged[1], True),
    ]
    made_up = [
        (f"{whose}{known:d}-{i}", whose, known)
        for whose, count, known in kinds
        for i in range(count)
    ]
    runs = {
        "x": [name for name, whose, _ in made_up if whose == "both"],
        "y": [name for name, *_ in made_up],
    }
    pool = pool_of(
        [as_ranking(run, {"1_1": names}) for run, names in runs.items()],
        as_qrels({("1_1", "far"): 0}),
    )
    number = {name: place for place, name in enumerate(pool.documents.texts())}

    def features(known: bool, deep: int = 0) -> PairFeatures:
        pairs = np.array([number[name] for name, _, it in made_up if it == known])
        size = len(pairs)
        best = np.where(np.arange(size) < deep, 60, 50)
        return PairFeatures(
            pairs,
            np.zeros(size, int),
            np.zeros((size, 1)),
            np.zeros(1, int),
            np.zeros((size, 1)),
            best,
        )

    model = replace(
        made[2],
        holes=features(False, deep),
        judged=features(True),
        groups=(0, 1),
        limit=float(np.log(55)),
    )
    found = hole_warnings(
        model, pool, pool.grades(as_qrels({("1_1", "far"): 0})), [MEASURES[measure]]
    )
    return " ".join(one for one in found if "learned from only" not in one)


def test_a_twentieth_of_the_unjudged_passages_alone_and_a_tenth_of_them_judged(made: Made) -> None:
    assert warned(made, (38, 2), (5, 0)).startswith(
        "Of the 2 passages at these ranks that only y retrieved, 0 are judged."
    )
    assert warned(made, (39, 1), (5, 0)) == ""
    assert warned(made, (10, 10), (5, 1)).startswith(
        "Of the 11 passages at these ranks that only y retrieved, 1 is judged."
    )
    assert warned(made, (10, 9), (5, 1)) == ""


def test_a_tenth_of_deep_passages_and_three_tenths_of_unjudged_ones(made: Made) -> None:
    assert warned(made, (20, 0), (5, 0), deep=2).startswith(
        "2 of 20 unjudged passages are deeper than nearly all judged ones"
    )
    assert warned(made, (20, 0), (5, 0), deep=1) == ""
    assert warned(made, (6, 0), (14, 0), measure=2).startswith("6 of 20 passages are unjudged.")
    assert warned(made, (6, 0), (14, 0)) == warned(made, (6, 0), (15, 0), measure=2) == ""


@pytest.mark.parametrize(
    ("level", "slope", "coverage", "reasons"),
    [
        (0.5, 1.0, 0.95, "the predicted grades were too low (level +0.50 instead of 0)"),
        (-0.5, 1.0, 0.95, "the predicted grades were too high (level -0.50 instead of 0)"),
        (0.0, 1.3, 0.95, "the predictions were too cautious (slope 1.30 instead of 1)"),
        (0.0, 0.7, 0.84, "the 95% intervals covered only 84% of the scores and differences and the predictions were too"
         " confident (slope 0.70 instead of 1)"),
        (0.4, 1.25, 0.85, ""),
    ],
)  # fmt: skip
def test_a_model_that_fails_its_test(
    level: float, slope: float, coverage: float, reasons: str
) -> None:
    said = _trial_warning(level, slope, coverage, 10)
    assert (said is None) == (not reasons) and (said or reasons).endswith(
        f"(10 repetitions), {reasons}." if reasons else ""
    )
