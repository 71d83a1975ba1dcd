from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

from robustcs.errors import UsageError
from robustcs.evaluation import hole_model
from robustcs.evaluation.hole_check import check_hole_model, draws_interval, hole_warnings
from robustcs.evaluation.hole_features import (
    BASIC,
    PairFeatures,
    found_alone,
    pair_features,
    run_groups,
)
from robustcs.evaluation.hole_model import HoleModel, fit_hole_model, hide
from robustcs.evaluation.hole_order import Contest, hole_effects, influences
from robustcs.evaluation.hole_recalibration import recalibration
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.ranking import Ranking, rank_run
from robustcs.evaluation.run_pool import NEVER, Grades, RunPool
from robustcs.inputs.qrels import Qrels, read_qrels
from robustcs.inputs.runs import read_run
from robustcs.policy import EvaluationPolicy
from tests.evaluation.test_augmentation import as_qrels
from tests.evaluation.test_run_pool import as_ranking, pool_of

POLICY = EvaluationPolicy(relevance_level=1)
MEASURES = [parse_measure(name) for name in ("ndcg_cut_3", "P_5", "map")]


def made_runs(
    seed: int = 3, turns: int = 30, runs: int = 3, depth: int = 15
) -> tuple[list[Ranking], dict[tuple[str, str], int]]:
    """Runs that rank 25 passages a turn by noisy relevance, and every passage's grade (0 to 2); turns differ in difficulty."""
    rng = np.random.default_rng(seed)
    rankings: list[dict[str, list[str]]] = [{} for _ in range(runs)]
    grades = {}
    for turn in range(turns):
        name = f"{turn // 5}_{turn % 5 + 1}"
        quality = rng.normal(size=25)
        level = rng.normal(-0.5, 1.2)
        for passage in range(25):
            # every third passage belongs to all turns of a conversation
            document = f"d{turn // 5 if passage % 3 == 0 else turn}-{passage}"
            relevant = rng.random() < expit(level + 1.5 * quality[passage])
            grades[name, document] = int(relevant) + int(relevant and rng.random() < 0.4)
        for number in range(runs):
            order = np.argsort(-quality + rng.normal(0, 0.5 + 0.3 * number, 25))[:depth]
            rankings[number][name] = [f"d{turn // 5 if p % 3 == 0 else turn}-{p}" for p in order]
    return [as_ranking(f"run{number}", ranking) for number, ranking in enumerate(rankings)], grades


def made_pool(
    runs: Sequence[Ranking], judged: dict[tuple[str, str], int], hidden: float = 0.3, seed: int = 0
) -> tuple[RunPool, Grades, Grades]:
    """A pool, all grades, and the grades with some hidden (the same ones in whatever order the runs come)."""
    keep = np.random.default_rng(seed).random(len(judged)) >= hidden
    qrels = as_qrels(judged)
    left = as_qrels(
        {key: grade for (key, grade), kept in zip(judged.items(), keep, strict=True) if kept}
    )
    pool = pool_of(runs, left, qrels.turns)
    return pool, pool.grades(qrels), pool.grades(left)


def fitted(pool: RunPool, grades: Grades, **options: object) -> HoleModel:
    model = fit_hole_model(pool, grades, **options)  # type: ignore[arg-type]
    assert model is not None
    return model


def drawn(model: HoleModel, grades: Grades, count: int, size: int) -> Grades:
    return np.concatenate(list(model.draws(grades, count, size)))


def named(pool: RunPool, grades: Grades) -> dict[tuple[str, str], int]:
    return {
        (pool.turns[pool.pair_turns[pair]], pool.documents[int(pool.pair_documents[pair])]): int(
            grades[pair]
        )
        for pair in range(len(pool))
    }


# ---------------------------------------------------------------- draws


def test_draws_are_common_and_only_for_holes() -> None:
    pool, whole, left = made_pool(*made_runs())
    model = fitted(pool, left)
    sets = drawn(model, left, 20, 8)
    assert sets.shape == (20, len(pool) + 1)
    retrieved = pool.best_ranks().min(axis=0) < NEVER
    holes = np.flatnonzero((left[:-1] == UNJUDGED) & retrieved)
    assert sorted(model.pairs) == holes.tolist()
    others = np.setdiff1d(np.arange(len(left)), holes)
    assert (sets[:, others] == left[others]).all()
    assert set(np.unique(sets[:, holes])) <= {0, 1, 2}
    assert (whole[holes] >= 0).all()


def test_batches_and_seed() -> None:
    pool, _, left = made_pool(*made_runs())
    model = fitted(pool, left, seed=5)
    one = drawn(model, left, 24, 24)
    np.testing.assert_array_equal(one, drawn(model, left, 24, 7))
    np.testing.assert_array_equal(one[:10], drawn(model, left, 10, 1))
    np.testing.assert_array_equal(one, drawn(fitted(pool, left, seed=5), left, 24, 24))
    assert (one != drawn(fitted(pool, left, seed=6), left, 24, 24)).any()


@pytest.mark.parametrize("together", [0, 5])
def test_draws_of_very_many_passages_are_computed_in_parts(
    together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The numbers stay the same, even if the passages of one draw exceed the limit."""
    pool, _, left = made_pool(*made_runs(turns=6))
    model = fitted(pool, left)
    sets, chances = drawn(model, left, 12, 12), model.probabilities()
    monkeypatch.setattr(hole_model, "_CELLS", max(1, together * len(model.pairs)))
    np.testing.assert_array_equal(drawn(model, left, 12, 12), sets)
    np.testing.assert_allclose(model.probabilities(), chances, atol=2e-9)


def test_order_of_runs_and_of_judgments_changes_nothing() -> None:
    runs, judged = made_runs()
    pool, _, left = made_pool(runs, judged)
    qrels = as_qrels(dict(reversed(list(named_judgments(pool, left).items()))))
    turned = pool_of(reversed(runs), qrels, pool.turns)
    other = turned.grades(qrels)
    for groups in (None, (0, 0, 1)):
        back = None if groups is None else groups[::-1]
        one = drawn(fitted(pool, left, groups=groups), left, 5, 5)
        two = drawn(fitted(turned, other, groups=back), other, 5, 5)
        for first, second in zip(one, two, strict=True):
            mine, theirs = named(pool, first), named(turned, second)
            assert mine == theirs


def named_judgments(pool: RunPool, grades: Grades) -> dict[tuple[str, str], int]:
    return {key: grade for key, grade in named(pool, grades).items() if grade > UNJUDGED}


def test_probabilities_are_the_shares_of_draws() -> None:
    pool, _, left = made_pool(*made_runs())
    model = fitted(pool, left)
    chances = model.probabilities()
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert (chances >= 0).all()
    sets = drawn(model, left, 600, 200)[:, model.pairs]
    shares = (sets[:, :, None] == model.levels).mean(axis=0)
    np.testing.assert_allclose(shares.mean(axis=0), chances.mean(axis=0), atol=0.02)
    assert np.abs(shares - chances).max() < 0.2


def test_no_holes_no_draws() -> None:
    pool, whole, left = made_pool(*made_runs())
    assert fit_hole_model(pool, whole) is None
    assert fit_hole_model(pool, left, depth=0) is None


def test_depth() -> None:
    pool, _, left = made_pool(*made_runs())
    model = fitted(pool, left, depth=3)
    best = pool.best_ranks().min(axis=0)
    assert (best[model.pairs] <= 3).all() and len(model.pairs) == (
        (best <= 3) & (left[:-1] == UNJUDGED)
    ).sum()


def test_it_predicts_what_runs_retrieve_and_learns_from_three_times_the_depth() -> None:
    runs, judged = made_runs(depth=25)
    left = {pair: grade for place, (pair, grade) in enumerate(judged.items()) if place % 3}
    never = {(turn, f"never-{place}"): place for turn in runs[0].turns for place in range(2)}
    pool = pool_of(runs, as_qrels(left | never))
    grades = pool.grades(as_qrels(left))
    best = pool.best_ranks().min(axis=0)
    for depth, learned in ((None, 25), (7, 21), (6, 20)):
        model = fitted(pool, grades, depth=depth)
        assert (
            sorted(model.pairs)
            == np.flatnonzero((grades[:-1] == UNJUDGED) & (best <= (depth or 25))).tolist()
        )
        assert (
            sorted(model.judged.pairs)
            == np.flatnonzero((grades[:-1] > UNJUDGED) & (best <= learned)).tolist()
        )


@pytest.mark.parametrize(
    ("judged", "unjudged"), [((1, 2, 4, 60, 149), (1, 4)), ((1, 2, 4, 15), (1, 15, 120))]
)
def test_hidden_passages_have_ranks_like_the_unjudged_ones(
    judged: Sequence[int], unjudged: Sequence[int]
) -> None:
    """Either may reach deeper ranks than the other."""

    def at(ranks: Sequence[int]) -> PairFeatures:
        size = 100 * len(ranks)
        ones = np.ones((size, 1))
        return PairFeatures(
            np.arange(size),
            np.zeros(size, int),
            ones,
            np.array([BASIC]),
            ones,
            np.repeat(ranks, 100),
        )

    features = at(judged)
    hidden = features.best[hide(features, at(unjudged), 0.25, np.random.default_rng(0))]
    assert len(hidden) == len(features) // 4
    shared = sorted({*judged} & {*unjudged})
    ranks, counts = np.unique(hidden, return_counts=True)
    assert ranks.tolist() == shared
    assert counts == pytest.approx(np.full(len(shared), len(hidden) / len(shared)), rel=0.2)


# ---------------------------------------------------------------- features


def test_grade_in_another_turn() -> None:
    runs = [as_ranking("a", {"1_1": ["x", "y"], "1_2": ["x", "z"], "1_3": ["x"]})]
    pool, _, grades = made_pool(
        runs, {("1_1", "x"): 2, ("1_2", "x"): 0, ("1_2", "z"): 1, ("1_3", "w"): 0}, hidden=0
    )
    features = pair_features(pool, np.arange(len(pool)), grades, (0,))
    seen = {
        (pool.turns[turn], pool.documents[int(pool.pair_documents[pair])]): tuple(
            features.fixed[row, 2:4]
        )
        for row, (turn, pair) in enumerate(zip(features.turns, features.pairs, strict=True))
    }
    assert seen == {
        ("1_1", "x"): (1, 0), ("1_1", "y"): (0, 0), ("1_2", "x"): (1, 1), ("1_2", "z"): (0, 0), ("1_3", "x"): (1, 0.5),
        ("1_3", "w"): (0, 0),
    }  # fmt: skip


def test_many_runs_share_slopes_by_overlap() -> None:
    runs, judged = made_runs(runs=3, turns=6)
    copies = [
        Ranking(f"{run.name}-{copy}", run.turns, run.starts, run.ids, run.document_codes, run.tied, 0, ())
        for run in runs for copy in range(4)
    ]  # fmt: skip
    pool, _, left = made_pool(copies, judged)
    groups = run_groups(pool)
    assert (
        all(len(set(groups[start : start + 4])) == 1 for start in (0, 4, 8))
        and len(set(groups)) == 3
    )
    assert fitted(pool, left).holes.varying.shape[1] == 4
    numbers, alone = found_alone(pool, groups, NEVER - 1)
    assert len(numbers) == 3 and (alone.sum(axis=0) <= 1).all()


# ---------------------------------------------------------------- degenerate inputs


@pytest.mark.parametrize("runs", [1, 2])
@pytest.mark.parametrize("turns", [1, 2])
def test_small_pools(runs: int, turns: int) -> None:
    pool, _, left = made_pool(*made_runs(turns=turns, runs=runs))
    model = fitted(pool, left)
    assert np.isfinite(model.probabilities()).all()
    check = check_hole_model(model, pool, left, MEASURES, POLICY, hidings=2, draws=10)
    assert check.hidings == 2 and (np.isnan(check.coverage) or 0 <= check.coverage <= 1)
    assert "learned from only" in hole_warnings(model, pool, left, MEASURES)[0]


def test_one_grade_only() -> None:
    runs, judged = made_runs()
    pool, _, left = made_pool(runs, dict.fromkeys(judged, 1))
    with pytest.raises(UsageError, match="fewer than two grades|one grade"):
        fit_hole_model(pool, left)


def test_relevant_passages_only() -> None:
    runs, judged = made_runs()
    pool, _, left = made_pool(runs, {key: max(grade, 1) for key, grade in judged.items()})
    with pytest.raises(UsageError, match="no judged passage of the runs has grade 0"):
        fit_hole_model(pool, left)


def test_nothing_judged_at_all() -> None:
    runs, judged = made_runs()
    pool, _, left = made_pool(
        runs, {key: grade for key, grade in judged.items() if key[1] == "d0-24"}
    )
    with pytest.raises(UsageError, match="two grades|is judged"):
        fit_hole_model(pool, np.where(left > UNJUDGED, UNJUDGED, left))


def test_everything_unjudged_in_a_run() -> None:
    runs, judged = made_runs()
    alone = as_ranking(
        "alone", {turn: [f"{turn}-new{rank}" for rank in range(10)] for turn in runs[0].turns}
    )
    pool, _, left = made_pool([*runs, alone], judged, hidden=0)
    model = fitted(pool, left)
    assert len(model.pairs) == 10 * len(pool.turns)
    warning = f"Of the {10 * len(pool.turns)} passages at these ranks that only alone retrieved, 0 are judged."
    assert any(said.startswith(warning) for said in hole_warnings(model, pool, left, MEASURES))
    scores = np.concatenate(
        [pool.score(sets, MEASURES, POLICY).mean(axis=-1) for sets in model.draws(left, 100, 50)]
    )
    low, high = draws_interval(scores[:, 3, 1])
    # nothing is known of them but that others do better or worse: the interval must say so
    assert high - low > 0.1


def test_passages_at_the_deepest_judged_rank_are_not_deeper() -> None:
    """Each rank from 1 to 5 has a fifth of the judged and of the unjudged passages."""
    pool, _, left = made_pool(*made_runs(runs=1, depth=5))
    model = fitted(pool, left)
    assert (model.holes.best == 5).mean() > 0.1 and (model.judged.best == 5).mean() > 0.1
    assert not any("deeper" in warning for warning in hole_warnings(model, pool, left, MEASURES))


def test_huge_separation_stays_finite() -> None:
    runs, judged = made_runs(turns=8)
    # grades that a rank tells exactly
    exact = {}
    for turn, start, end in zip(
        runs[0].turns, runs[0].starts[:-1], runs[0].starts[1:], strict=True
    ):
        for rank, row in enumerate(range(start, end)):
            exact[turn, runs[0].ids[int(runs[0].document_codes[row])]] = int(rank < 5)
    pool, _, left = made_pool(runs, exact)
    model = fitted(pool, left)
    assert np.isfinite(model.probabilities()).all()


# ---------------------------------------------------------------- influence, check, real data


def test_expected_influence_is_what_one_grade_does() -> None:
    pool, _, left = made_pool(*made_runs(turns=6))
    model = fitted(pool, left, depth=5)
    counted = np.array([True] * 5 + [False])
    chances = model.probabilities()
    asked = Contest(pool, ((0, 1), (1, 2)), tuple(MEASURES), POLICY, counted, 5, 2)
    found = (
        influences(hole_effects(asked, left, model.pairs, model.levels), asked.compared) * chances
    ).sum(axis=1)
    base = pool.score(left[None], MEASURES, POLICY)[0][..., counted].mean(axis=-1)
    for row in (0, len(found) // 2, len(found) - 1):
        expected = 0.0
        for column, level in enumerate(model.levels):
            grades = left.copy()
            grades[model.pairs[row]] = level
            change = (
                pool.score(grades[None], MEASURES, POLICY)[0][..., counted].mean(axis=-1) - base
            )
            expected += (
                chances[row, column]
                * (np.abs(change[0] - change[1]) + np.abs(change[1] - change[2])).sum()
            )
        assert found[row] == pytest.approx(expected, abs=1e-12)


def test_check_warns_of_a_model_that_is_wrong() -> None:
    pool, _, left = made_pool(*made_runs(turns=100))
    model = fitted(pool, left)
    good = check_hole_model(model, pool, left, MEASURES, POLICY, hidings=4, draws=60)
    assert good.warning is None and good.coverage > 0.85
    shifted = recalibration(
        np.zeros(4000),
        np.random.default_rng(0).random(4000) < 0.9,
        np.zeros(4000),
        np.arange(4000) % 50,
    )
    wrong = HoleModel(**{**vars(model), "recalibration": shifted})
    bad = check_hole_model(wrong, pool, left, MEASURES, POLICY, hidings=4, draws=60)
    assert bad.coverage < good.coverage
    assert bad.warning is not None and "too low (level" in bad.warning


def test_interval_of_draws() -> None:
    low, high = draws_interval(np.arange(1.0, 40.0))
    # the smallest and largest of 39 hold the fortieth in 38 of 40 cases
    assert (low, high) == pytest.approx((1, 39))


@pytest.mark.long
def test_made_grades_are_covered() -> None:
    inside = []
    for seed in range(12):
        pool, whole, left = made_pool(*made_runs(seed=seed), seed=seed)
        true = pool.score(whole[None], MEASURES, POLICY)[0].mean(axis=-1)
        model = fitted(pool, left)
        scores = np.concatenate(
            [
                pool.score(sets, MEASURES, POLICY).mean(axis=-1)
                for sets in model.draws(left, 100, 50)
            ]
        )
        low, high = draws_interval(scores)
        inside.append((low <= true) & (true <= high))
    assert 0.85 <= np.mean(inside) <= 1


@pytest.fixture(scope="module")
def cast(shared_data: Path) -> tuple[RunPool, Qrels]:
    policy = EvaluationPolicy(relevance_level=2)
    folder = shared_data / "cast2020"
    qrels = read_qrels(folder / "qrels.txt.gz")
    runs = (rank_run(read_run(path), policy) for path in sorted((folder / "runs").glob("*.gz")))
    return pool_of(runs, qrels), qrels


@pytest.mark.long
def test_hidden_judgments_of_cast_are_covered(cast: tuple[RunPool, Qrels]) -> None:
    policy = EvaluationPolicy(relevance_level=2)
    pool, qrels = cast
    whole = pool.grades(qrels)
    judged = np.flatnonzero((whole[:-1] > UNJUDGED) & (pool.best_ranks().min(axis=0) <= 10))
    true = pool.score(whole[None], MEASURES[:2], policy)[0].mean(axis=-1)
    inside, widths = [], []
    for seed in range(3):
        left = whole.copy()
        left[np.random.default_rng(seed).choice(judged, len(judged) // 4, replace=False)] = UNJUDGED
        model = fitted(pool, left, depth=10, seed=seed)
        # what nobody judged stays so: the truth is known for the hidden ones alone
        known = whole[model.pairs] == UNJUDGED
        scores = []
        for sets in model.draws(left, 60, 20):
            sets[:, model.pairs[known]] = UNJUDGED
            scores.append(pool.score(sets, MEASURES[:2], policy).mean(axis=-1))
        low, high = draws_interval(np.concatenate(scores))
        inside.append((low <= true) & (true <= high))
        widths.append(high - low)
    assert np.mean(inside) >= 0.6
    assert 0.005 < np.mean(widths) < 0.06
