from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robustcs.errors import UsageError
from robustcs.evaluation import hole_expectation
from robustcs.evaluation.hole_check import HoleCheck
from robustcs.evaluation.hole_model import fit_hole_model
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.run_pool import Grades, RunPool
from robustcs.inputs.qrels import read_qrels
from robustcs.policy import EvaluationPolicy
from robustcs.project.reading import find_project
from robustcs.project.workspace import Workspace
from robustcs.statistics import Codes, Floats
from robustcs.studies.augment.steps import Pooled, pool_runs
from robustcs.studies.augment.whatif import WhatIf, what_if
from tests.evaluation.test_augmentation import Pairs, as_qrels
from tests.evaluation.test_hole_model import made_pool, made_runs
from tests.evaluation.test_run_pool import as_ranking, pool_of

ROOT = Path(__file__).resolve().parents[3]
POLICY = EvaluationPolicy(relevance_level=2)
MEASURES = [parse_measure(name) for name in ("P_3", "ndcg_cut_3", "map")]

Sample = tuple[RunPool, Grades]


@pytest.fixture(scope="module")
def sample() -> Sample:
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
    pool = pool_of(
        [as_ranking(str(number), run) for number, run in enumerate([*runs, runs[0]])], qrels
    )
    return pool, pool.grades(qrels)


def every(pool: RunPool) -> np.ndarray:
    return np.ones(len(pool.turns), dtype=bool)


def draw(
    pool: RunPool, grades: Grades, depth: int, draws: int, seed: int = 0, **options: Any
) -> WhatIf:
    return what_if(
        pool,
        grades,
        depth,
        draws,
        options.pop("measures", MEASURES),
        POLICY,
        every(pool),
        seed,
        **options,
    )


def expected_precision(pool: RunPool, grades: Grades, holes: Codes, relevant: Floats) -> Floats:
    """Expected P@3 of every run, given the chance of every hole to be relevant."""
    chance = (grades >= 2).astype(np.float64)
    chance[holes] = relevant
    return np.array([chance[places[:, :3]].sum() / 3 / len(pool.turns) for places in pool.places])


def test_expected_precision_is_that_of_the_model(sample: Sample) -> None:
    pool, grades = sample
    drawn = draw(pool, grades, 8, 2000, seed=1, measures=MEASURES[:1])
    model = fit_hole_model(pool, grades, 8, seed=1)
    assert model is not None
    relevant = model.probabilities()[:, model.levels >= 2].sum(axis=1)
    expected = expected_precision(pool, grades, model.pairs, relevant)
    # probabilities are means of a few draws
    np.testing.assert_allclose(drawn.scores["mean"], expected, atol=0.02)
    assert (drawn.scores["score"] < expected).all()
    assert (drawn.scores["low"] < expected).all() and (drawn.scores["high"] > expected).all()


def test_a_passage_has_one_grade_in_all_runs(sample: Sample) -> None:
    drawn = draw(*sample, 5, 50)
    same = drawn.pairs[(drawn.pairs["first"] == "0") & (drawn.pairs["second"] == "2")]
    assert (same[["difference", "mean", "low", "high"]] == 0).all(axis=None)
    assert same["flips"].isna().all()
    others = drawn.pairs[drawn.pairs["second"] == "1"]
    assert (others["low"] < others["high"]).all()


def test_draws_do_not_depend_on_how_many_are_scored_at_a_time(
    sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = draw(*sample, 5, 30, seed=3)
    monkeypatch.setattr(RunPool, "batch", lambda self, measures: 7)
    apart = draw(*sample, 5, 30, seed=3)
    assert together.scores.equals(apart.scores) and together.pairs.equals(apart.pairs)


def test_nothing_unjudged_is_nothing_to_draw() -> None:
    qrels = as_qrels({("1_1", "a"): 4, ("1_1", "b"): 0})
    pool = pool_of([as_ranking("one", {"1_1": ["b", "a", "c"]})], qrels)
    drawn = draw(pool, pool.grades(qrels), 2, 50)
    assert drawn.holes == 0 and len(drawn.pairs) == 0 and drawn.warnings == ()
    for column in ("mean", "low", "high"):
        np.testing.assert_allclose(drawn.scores[column], drawn.scores["score"])


def test_one_grade_teaches_nothing() -> None:
    qrels = as_qrels({("1_1", "a"): 4})
    pool = pool_of([as_ranking("one", {"1_1": ["b", "a"]})], qrels)
    with pytest.raises(UsageError, match="all have one grade; judge further passages"):
        draw(pool, pool.grades(qrels), 2, 50)


@pytest.fixture(scope="module")
def pooled() -> Pooled:
    return pool_runs(Workspace(find_project(str(ROOT / "fixtures" / "robustcs.toml"))))


def inside(pooled: Pooled, left: Grades, seed: int = 0) -> tuple[WhatIf, Floats, list[bool]]:
    """What-if from the judgments ``left``; which of the means and differences under all judgments its intervals hold."""
    pool, policy, measures = (
        pooled.pool,
        pooled.evaluated.policy,
        [*map(parse_measure, ("ndcg_cut_3", "P_3", "map"))],
    )
    drawn = what_if(pool, left, 5, 200, measures, policy, pooled.counted, seed)
    grades = pool.grades(pooled.merge.qrels)
    truth = (
        pool.score(grades[None], measures, policy)[0][..., pooled.counted].mean(axis=-1).T.ravel()
    )
    means = dict(
        zip(zip(drawn.scores["system"], drawn.scores["metric"], strict=True), truth, strict=True)
    )
    differences = [
        row.low - 1e-9
        <= means[row.first, row.metric] - means[row.second, row.metric]
        <= row.high + 1e-9
        for row in drawn.pairs.itertuples()
    ]
    scores = (drawn.scores["low"] - 1e-9 <= truth) & (truth <= drawn.scores["high"] + 1e-9)
    return drawn, scores.to_numpy(), differences


@pytest.mark.long
def test_intervals_hold_what_new_judgments_gave(pooled: Pooled, demo: Path) -> None:
    """From the demo's old judgments. Grades by rank alone, which were drawn before, held 25 of these 36 means."""
    _, scores, _ = inside(pooled, pooled.pool.grades(read_qrels(demo / "qrels.txt")))
    assert scores.mean() >= 0.9


@pytest.mark.long
def test_intervals_hold_the_truth_where_judgments_are_hidden_at_random(pooled: Pooled) -> None:
    grades = pooled.pool.grades(pooled.merge.qrels)
    judged = np.flatnonzero(pooled.pool.best_ranks().min(axis=0) <= 5)
    assert (grades[judged] > UNJUDGED).all()
    left = grades.copy()
    left[judged[np.random.default_rng(1).random(len(judged)) < 0.2]] = UNJUDGED
    drawn, scores, differences = inside(pooled, left)
    assert not drawn.warnings
    assert scores.mean() >= 0.85
    assert np.mean(differences) >= 0.85


def test_a_trial_that_fails_is_told(sample: Sample) -> None:
    """The sample's grades have nothing to do with anything that the model looks at."""
    assert any(
        told.startswith("Do not rely on the predicted grades. In a test")
        for told in draw(*sample, 5, 50).warnings
    )


def test_all_warnings_are_told(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = HoleCheck(0.0, 1.0, 0.5, 10, "Do not rely on the predicted grades: …")
    monkeypatch.setattr(hole_expectation, "check_hole_model", lambda *_: failed)
    monkeypatch.setattr(
        hole_expectation, "hole_warnings", lambda *asked: (asked[-1].warning, "Few judgments.")
    )
    drawn = draw(*sample, 5, 10)
    assert drawn.check is failed
    assert drawn.warnings == (
        failed.warning, "Few judgments.",
        "10 draws are too few for a range of 95%; the range shows their lowest and highest values"
    )  # fmt: skip
    assert len(draw(*sample, 5, 39).warnings) == 2


# ---------------------------------------------------------------- tipping points


def test_pairs_that_a_draw_reverses_have_tipping_points() -> None:
    pool, _, left = made_pool(*made_runs(), hidden=0.5)
    drawn = what_if(pool, left, 10, 300, MEASURES, POLICY, every(pool), 0)
    moved = drawn.pairs[drawn.pairs["flips"] > 0]
    pairs = set(zip(moved["metric"], moved["first"], moved["second"], strict=True))
    columns = (drawn.tipping[name] for name in ("metric", "first", "second"))
    assert pairs and set(zip(*columns, strict=True)) == pairs
    assert len(drawn.tipping) == len(pairs) * 2 * 2
    for row in drawn.tipping[drawn.tipping["conclusion"].str.endswith("expected")].itertuples():
        pair = drawn.pairs[
            (drawn.pairs["first"] == row.first) & (drawn.pairs["second"] == row.second)
        ]
        mean = pair[pair["metric"] == row.metric]["mean"].item()
        if abs(mean) > 0.005:  # the first 200 of the draws
            assert row.conclusion == (
                "first > second expected" if mean > 0 else "second > first expected"
            )
        assert not row.factor_below >= 1 and not row.factor_above <= 1
