from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from robustcs.errors import UsageError
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measures import parse_measure
from robustcs.evaluation.run_pool import RunPool
from robustcs.policy import EvaluationPolicy
from robustcs.studies.augment.whatif import PRIOR, WhatIf, given_rates, observed_rates, parse_rates, what_if
from tests.evaluation.test_augmentation import Pairs, as_qrels
from tests.evaluation.test_run_pool import as_ranking, pool_of

POLICY = EvaluationPolicy(relevance_level=2)
MEASURES = [parse_measure(name) for name in ("P_3", "ndcg_cut_3", "map")]


@pytest.fixture(scope="module")
def sample() -> tuple[RunPool, np.ndarray]:
    """20 turns, three runs of 8 passages out of 15 (the third repeats the first), half of the passages judged."""
    rng = np.random.default_rng(5)
    turns = [f"{topic}_{depth}" for topic in range(1, 5) for depth in range(1, 6)]
    documents = [f"d{number}" for number in range(15)]
    runs = [{turn: rng.permutation(documents)[:8].tolist() for turn in turns} for _ in range(2)]
    judged: Pairs = {
        (turn, document): int(rng.choice(5, p=[0.5, 0.2, 0.1, 0.1, 0.1]))
        for turn in turns for document in documents if rng.random() < 0.5
    }  # fmt: skip
    qrels = as_qrels(judged)
    pool = pool_of([as_ranking(str(number), run) for number, run in enumerate([*runs, runs[0]])], qrels)
    return pool, pool.grades(qrels)


def every(pool: RunPool) -> np.ndarray:
    return np.ones(len(pool.turns), dtype=bool)


def test_expected_precision_is_analytic(sample: tuple[RunPool, np.ndarray]) -> None:
    pool, grades = sample
    rates = observed_rates(pool, grades, 8)
    drawn = what_if(pool, grades, rates, 20_000, MEASURES[:1], POLICY, every(pool), seed=1)
    relevant = rates.shares[:, rates.levels >= 2].sum(axis=1)
    best = pool.best_ranks().min(axis=0)
    chance = np.where(grades[:-1] == UNJUDGED, relevant[rates.band(np.minimum(best, 8))], grades[:-1] >= 2)
    for row, places in zip(drawn.scores.itertuples(), pool.places, strict=True):
        expected = chance[places[:, :3]].sum() / 3 / len(pool.turns)
        assert row.mean == pytest.approx(expected, abs=0.002)
        assert row.score < expected
        assert row.low < expected < row.high


def test_a_passage_has_one_grade_in_all_runs(sample: tuple[RunPool, np.ndarray]) -> None:
    pool, grades = sample
    drawn = what_if(pool, grades, observed_rates(pool, grades, 5), 50, MEASURES, POLICY, every(pool), seed=0)
    same = drawn.pairs[(drawn.pairs["first"] == "0") & (drawn.pairs["second"] == "2")]
    assert (same[["difference", "mean", "low", "high"]] == 0).all(axis=None)
    assert same["flips"].isna().all()
    others = drawn.pairs[drawn.pairs["second"] == "1"]
    assert (others["low"] < others["high"]).all()


def test_draws_do_not_depend_on_how_many_are_scored_at_a_time(
    sample: tuple[RunPool, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    pool, grades = sample

    def draw() -> WhatIf:
        return what_if(pool, grades, observed_rates(pool, grades, 5), 30, MEASURES, POLICY, every(pool), seed=3)

    together = draw()
    monkeypatch.setattr(RunPool, "batch", lambda self, measures: 7)
    apart = draw()
    assert together.scores.equals(apart.scores) and together.pairs.equals(apart.pairs)


@pytest.mark.parametrize(("grade", "compare"), [(0, lambda now, then: (then <= now + 1e-12).all()),
                                                (4, lambda now, then: (then[:3] >= now[:3]).all())])  # fmt: skip
def test_certain_grades(
    sample: tuple[RunPool, np.ndarray], grade: int, compare: Callable[[np.ndarray, np.ndarray], bool]
) -> None:
    pool, grades = sample
    drawn = what_if(pool, grades, given_rates({grade: 1.0}, 8), 3, MEASURES, POLICY, every(pool), seed=0)
    filled = grades.copy()
    filled[filled == UNJUDGED] = grade
    best = np.append(pool.best_ranks().min(axis=0), 0)
    filled[best > 8] = grades[best > 8]
    expected = pool.score(filled[None], MEASURES, POLICY)[0].mean(axis=-1)
    for name in ("mean", "low", "high"):
        np.testing.assert_allclose(drawn.scores[name].to_numpy().reshape(3, 3), expected.T, atol=1e-12)
    assert compare(drawn.scores["score"].to_numpy(), drawn.scores["mean"].to_numpy())
    assert drawn.holes == (grades[:-1] == UNJUDGED).sum()


def test_observed_rates_by_hand() -> None:
    qrels = as_qrels({("1_1", "a"): 4, ("1_1", "b"): 0, ("1_1", "x"): 2, ("1_2", "a"): 0})
    runs = [
        as_ranking("one", {"1_1": ["a", "u", "b"], "1_2": ["u", "a"]}),
        as_ranking("two", {"1_1": ["b", "a"], "1_2": ["v", "u", "w", "z", "a"]}),
    ]
    rates = observed_rates(pool_of(runs, qrels), pool_of(runs, qrels).grades(qrels), 4)
    assert rates.lasts == (1, 2, 3, 4)
    assert rates.levels.tolist() == [0, 4]  # x is retrieved by no run
    assert rates.judged is not None and rates.judged.tolist() == [2, 1, 0, 0]
    first = (1 + PRIOR * 2 / 3) / (2 + PRIOR)
    second = (1 + PRIOR * first) / (1 + PRIOR)
    np.testing.assert_allclose(rates.shares[:, 0], [first, second, second, second])
    np.testing.assert_allclose(rates.shares.sum(axis=1), 1)


def test_rates_need_judged_passages() -> None:
    qrels = as_qrels({("1_1", "a"): 4})
    pool = pool_of([as_ranking("one", {"1_1": ["b", "a"]})], qrels)
    with pytest.raises(UsageError, match=r"no passage of the runs' top 1 is judged; give the rates with --rates"):
        observed_rates(pool, pool.grades(qrels), 1)


def test_parse_rates() -> None:
    assert parse_rates("1=.1, 0=0.8,4=1e-1") == pytest.approx({0: 0.8, 1: 0.1, 4: 0.1})
    assert parse_rates("-2=1") == {-2: 1}


@pytest.mark.parametrize(("text", "message"), [
    ("0=.8,1=.1", "--rates 0=.8,1=.1 adds up to 0.9; the probabilities add up to 1"),
    ("0=.5,0=.5", "--rates has '0=.5'; write each grade once, such as 0=.8,1=.1,2=.1"),
    ("a=1", "--rates has 'a=1'; write each grade once, such as 0=.8,1=.1,2=.1"),
    ("0=-1,1=2", "--rates has '0=-1'; write each grade once, such as 0=.8,1=.1,2=.1"),
    ("0=nan", "--rates has '0=nan'; write each grade once, such as 0=.8,1=.1,2=.1"),
    ("", "--rates has ''; write each grade once, such as 0=.8,1=.1,2=.1"),
])  # fmt: skip
def test_rates_that_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_rates(text)
    assert str(error.value) == message


@pytest.mark.parametrize("grade", ["9" * 5000, "1001", "-1001"])
def test_rates_of_grades_that_no_qrels_have(grade: str) -> None:
    with pytest.raises(UsageError, match="--rates has"):
        parse_rates(f"0=.5,{grade}=.5")
