"""Bounds of differences against brute force over all ways of grading both runs at once; on real runs."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.evaluation import bounds, extremes
from robustcs.evaluation.bounds import (
    NOT_RETRIEVED,
    Bounds,
    PairMeasure,
    RunPairs,
    Scope,
    measure_bounds,
    run_pairs,
)
from robustcs.evaluation.holes import judged_run, passage_numbers
from robustcs.evaluation.matrix import UNJUDGED, GradeMatrix
from robustcs.evaluation.measure import Measure, parse_measure
from robustcs.evaluation.measures import NATIVE, top_of
from robustcs.evaluation.ranking import rank_run
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.runs import read_run
from robustcs.policy import EvaluationPolicy
from tests.evaluation.test_bounds import MEASURES, made

EXACT = [measure for measure in MEASURES if measure.family != "map"]
OUTER = [measure for measure in MEASURES if measure.family == "map"]

#: A turn: the ids of two rankings and the grades of judged passages; an id without a grade is unjudged.
Turn = tuple[list[int], list[int], dict[int, int]]


@st.composite
def turns(draw: st.DrawFn, most_unjudged: int = 4) -> Turn:
    judged = draw(
        st.dictionaries(st.integers(0, 8), st.sampled_from([-1, 0, 0, 1, 2, 3, 5]), min_size=1)
    )
    unjudged = [*range(20, 20 + draw(st.integers(0, most_unjudged)))]
    pool = st.permutations([*judged, *unjudged])
    first, second = (draw(pool)[: draw(st.integers(0, 7))] for _ in range(2))
    return first, second, judged


def pair_of(cases: list[Turn], pool: np.ndarray | None = None) -> RunPairs:
    pools = [list(judged.values()) for _, _, judged in cases]
    rows = [
        [[judged.get(d, UNJUDGED) for d in case[run]] for *case, judged in cases] for run in (0, 1)
    ]
    numbers = [
        np.array(
            [
                100 * row + d
                for row, (*case, judged) in enumerate(cases)
                for d in case[run]
                if d not in judged
            ],
            dtype=int,
        )
        for run in (0, 1)
    ]
    (pair,) = run_pairs([made(rows[0], pools), made(rows[1], pools)], numbers, pool)
    return pair


def bounds_of(
    pair: RunPairs,
    measure: Measure,
    policy: EvaluationPolicy,
    max_grade: int,
    scope: Scope = "cutoff",
) -> Bounds:
    return PairMeasure(pair.runs, measure, policy, max_grade, scope).bounds(pair)


def bounds_of_runs(
    runs: list[GradeMatrix],
    numbers: list[np.ndarray],
    measure: Measure,
    *asked: Any,
    pool: np.ndarray,
) -> Bounds:
    (pair,) = run_pairs(runs, numbers, pool)
    return bounds_of(pair, measure, *asked)


def score(
    rankings: list[list[int]], grades: list[dict[int, int]], measure: Measure, level: int
) -> np.ndarray:
    rows = [
        [known.get(d, UNJUDGED) for d in ranking]
        for ranking, known in zip(rankings, grades, strict=True)
    ]
    matrix = made(rows, [list(known.values()) for known in grades])
    return NATIVE[measure.family](top_of(matrix, measure, EvaluationPolicy(relevance_level=level)))


def brute_force(
    turn: Turn, measure: Measure, level: int, max_grade: int, scope: Scope
) -> np.ndarray:
    """The scores of both runs, shape [2, ways], as the judgments stand and by every way to grade the passages of the scope."""
    first, second, judged = turn
    end = measure.cutoff if scope == "cutoff" else None
    asked = sorted({*first[:end], *second[:end]} - judged.keys())
    ways = product(range(max_grade + 1), repeat=len(asked))
    grades = [judged, *(judged | dict(zip(asked, way, strict=True)) for way in ways)]
    return np.array(
        [score([ranking] * len(grades), grades, measure, level) for ranking in (first, second)]
    )


questions = {
    "level": st.sampled_from([1, 2]), "max_grade": st.integers(0, 4), "scope": st.sampled_from(["cutoff", "run"]),
}  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(cases=st.lists(turns(), min_size=1, max_size=2), **questions)
def test_every_interval_equals_brute_force(
    cases: list[Turn], level: int, max_grade: int, scope: Scope
) -> None:
    pair, policy = pair_of(cases), EvaluationPolicy(relevance_level=level)
    for measure in EXACT:
        found = bounds_of(pair, measure, policy, max_grade, scope)
        for turn, case in enumerate(cases):
            first, second = brute_force(case, measure, level, max_grade, scope)
            expected = (first - second).min(), (first - second).max()
            assert (found.low[turn], found.high[turn]) == pytest.approx(expected, abs=1e-12), (
                measure.name,
                turn,
            )
            assert found.score[turn] == pytest.approx(first[0] - second[0], abs=1e-12)


def test_nine_ninths_are_not_more_than_1() -> None:
    """As floats they are: the sum is 1 + 2e-16."""
    nine: Turn = ([*range(20, 29)], [0], {0: 0})
    for case, ends in ((nine, (0, 1)), ((nine[1], nine[0], nine[2]), (-1, 0))):
        found = bounds_of(pair_of([case]), parse_measure("P_9"), EvaluationPolicy(), 1)
        assert (found.low[0], found.high[0]) == ends


@settings(max_examples=12, deadline=None)
@given(
    cases=st.lists(turns(3), min_size=1, max_size=2), others=st.lists(st.integers(0, 2), min_size=2, max_size=2),
    level=questions["level"], max_grade=questions["max_grade"],
)  # fmt: skip
def test_passages_of_a_third_run_are_graded_in_the_scope_pool(
    cases: list[Turn], others: list[int], level: int, max_grade: int
) -> None:
    """A third run retrieves passages 30, 31, … that neither of the two has."""
    policy = EvaluationPolicy(relevance_level=level)
    thirds = [list(range(30, 30 + number)) for number in others[: len(cases)]]
    pool = [
        len({*first, *second} - judged.keys()) + len(third)
        for (first, second, judged), third in zip(cases, thirds, strict=True)
    ]
    pair = pair_of(cases, np.array(pool))
    for measure in MEASURES:
        found = bounds_of(pair, measure, policy, max_grade, "pool")
        for turn, (case, third) in enumerate(zip(cases, thirds, strict=True)):
            first, second, judged = case
            asked = sorted({*first, *second, *third} - judged.keys())
            grades = [
                judged,
                *(
                    judged | dict(zip(asked, way, strict=True))
                    for way in product(range(max_grade + 1), repeat=len(asked))
                ),
            ]
            one, other = (
                score([ranking] * len(grades), grades, measure, level)
                for ranking in (first, second)
            )
            expected = (one - other).min(), (one - other).max()
            if measure in EXACT:
                assert (found.low[turn], found.high[turn]) == pytest.approx(expected, abs=1e-12), (
                    measure.name,
                    turn,
                )
            else:
                assert found.low[turn] <= expected[0] + 1e-12, measure.name
                assert expected[1] <= found.high[turn] + 1e-12, measure.name


@settings(max_examples=20, deadline=None)
@given(case=turns(), **questions)
def test_average_precision_stays_inside_an_outer_interval(
    case: Turn, level: int, max_grade: int, scope: Scope
) -> None:
    pair, policy = pair_of([case]), EvaluationPolicy(relevance_level=level)
    for measure in OUTER:
        found = bounds_of(pair, measure, policy, max_grade, scope)
        first, second = brute_force(case, measure, level, max_grade, scope)
        assert found.low[0] <= (first - second).min() + 1e-12, measure.name
        assert (first - second).max() <= found.high[0] + 1e-12, measure.name
        assert found.low[0] == pytest.approx(first.min() - second.max(), abs=1e-12)
        assert found.high[0] == pytest.approx(first.max() - second.min(), abs=1e-12)


@settings(max_examples=12, deadline=None)
@given(cases=st.lists(turns(9), min_size=1, max_size=3), **questions)
def test_the_other_way_round_the_signs_change_and_a_run_does_not_differ_from_itself(
    cases: list[Turn], level: int, max_grade: int, scope: Scope
) -> None:
    pair, policy = pair_of(cases), EvaluationPolicy(relevance_level=level)
    turned = pair_of([(second, first, judged) for first, second, judged in cases])
    same = pair_of([(first, first, judged) for first, _, judged in cases])
    for measure in MEASURES:
        found, other = (
            bounds_of(runs, measure, policy, max_grade, scope) for runs in (pair, turned)
        )
        np.testing.assert_allclose([found.low, found.high], [-other.high, -other.low], atol=1e-12)
        assert ((found.low <= found.score) & (found.score <= found.high)).all()
    for measure in EXACT:
        found = bounds_of(same, measure, policy, max_grade, scope)
        assert not found.low.any() and not found.high.any()


@settings(max_examples=12, deadline=None)
@given(cases=st.lists(turns(9), min_size=1, max_size=3), **questions)
def test_the_interval_lies_inside_what_the_two_runs_on_their_own_leave(
    cases: list[Turn], level: int, max_grade: int, scope: Scope
) -> None:
    """On their own, but with the same passages graded: those of the other run can be in the ideal ranking too."""
    pair, policy = pair_of(cases), EvaluationPolicy(relevance_level=level)
    for measure in EXACT:
        end = measure.cutoff if scope == "cutoff" and measure.cutoff else NOT_RETRIEVED
        graded = np.bincount(
            pair.rows[np.minimum(pair.first_ranks, pair.second_ranks) < end], minlength=len(cases)
        )
        first, second = (
            measure_bounds(run, measure, policy, max_grade, "pool", graded) for run in pair.runs
        )
        found = bounds_of(pair, measure, policy, max_grade, scope)
        assert (found.low >= first.low - second.high - 1e-12).all(), measure.name
        assert (found.high <= first.high - second.low + 1e-12).all(), measure.name


def test_a_passage_of_one_run_alone_lowers_the_other_by_the_ideal_ranking() -> None:
    """The first run is judged completely, and still its nDCG falls with a grade for the second run's passage."""
    pair = pair_of([([1], [20, 1], {1: 1})])
    ndcg = parse_measure("ndcg_cut_3")
    found = bounds_of(pair, ndcg, EvaluationPolicy(), 4)
    alone = [measure_bounds(run, ndcg, EvaluationPolicy(), 4) for run in pair.runs]
    assert alone[0].low[0] == alone[0].high[0] == 1
    best = 1 / (4 + 1 / np.log2(3)) - 1
    assert found.low[0] == pytest.approx(best)
    assert found.low[0] < alone[0].low[0] - alone[1].high[0]


def test_many_turns_are_worked_on_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    cases: list[Turn] = [
        ([20, 1], [1, 20], {1: 1}),
        ([1], [20], {1: 1}),
        ([], [2, 21], {1: 1, 2: 0}),
    ] * 120
    whole = pair_of(cases)
    monkeypatch.setattr(extremes, "CELLS", 300)
    alone = pair_of(cases[:3])
    for measure in MEASURES:
        found, expected = (
            bounds_of(pair, measure, EvaluationPolicy(), 2) for pair in (whole, alone)
        )
        for name in ("low", "score", "high"):
            np.testing.assert_allclose(
                getattr(found, name), np.tile(getattr(expected, name), 120), atol=1e-12
            )


@pytest.mark.parametrize("scope", ["cutoff", "run", "pool"])
@pytest.mark.parametrize("rows", [1, 7, 10_000])
def test_all_pairs_at_once_are_what_each_is_alone(
    scope: Scope, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(5)
    judged = [
        {d: int(random.integers(0, 4)) for d in random.permutation(12)[: random.integers(1, 9)]}
        for _ in range(3)
    ]
    rankings = [
        [random.permutation(12)[: random.integers(0, 10)].tolist() for _ in judged]
        for _ in range(5)
    ]
    pools = [list(known.values()) for known in judged]
    runs = [
        made([[g.get(d, UNJUDGED) for d in r] for r, g in zip(run, judged, strict=True)], pools)
        for run in rankings
    ]
    numbers = [
        np.array(
            [100 * row + d for row, r in enumerate(run) for d in r if d not in judged[row]], int
        )
        for run in rankings
    ]
    pool = np.array(
        [len({d for run in rankings for d in run[row]} - judged[row].keys()) for row in range(3)]
    )
    monkeypatch.setattr(bounds, "_ROWS", rows)
    policy = EvaluationPolicy(relevance_level=2)
    for measure in MEASURES:
        together, means = PairMeasure(runs, measure, policy, 3, scope), []
        for pairs in run_pairs(runs, numbers, pool):
            means.append(together.means(pairs))
            by_turn = together.bounds(pairs)
            for place, (i, j) in enumerate(zip(pairs.first, pairs.second, strict=True)):
                alone = bounds_of_runs(
                    [runs[i], runs[j]],
                    [numbers[i], numbers[j]],
                    measure,
                    policy,
                    3,
                    scope,
                    pool=pool,
                )
                for name in ("low", "score", "high"):
                    own = getattr(by_turn, name)[3 * place :][:3]
                    np.testing.assert_allclose(
                        own, getattr(alone, name), atol=1e-12, err_msg=measure.name
                    )
        low, difference, high = np.concatenate(means, axis=1)
        for place, (i, j) in enumerate(combinations(range(5), 2)):
            alone = bounds_of_runs(
                [runs[i], runs[j]], [numbers[i], numbers[j]], measure, policy, 3, scope, pool=pool
            )
            assert low[place] == pytest.approx(alone.low.mean(), abs=1e-12), measure.name
            assert difference[place] == pytest.approx(alone.score.mean(), abs=1e-12)
            assert high[place] == pytest.approx(alone.high.mean(), abs=1e-12)


def test_each_run_is_scored_once_however_many_pairs_it_is_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Counted work: with a score for each pair, many runs would take the square of the time."""
    scored = []
    monkeypatch.setitem(
        NATIVE, "ndcg", lambda *asked, original=NATIVE["ndcg"]: scored.append(1) or original(*asked)
    )
    runs = [made([[0, UNJUDGED]], [[0, 1]]) for _ in range(12)]
    asked = PairMeasure(runs, parse_measure("ndcg_cut_3"), EvaluationPolicy(), 2)
    found = [
        asked.means(pairs)
        for pairs in run_pairs(runs, [np.array([number % 3]) for number in range(12)])
    ]
    assert sum(means.shape[1] for means in found) == 66
    assert len(scored) == 12


def test_a_measure_of_trec_eval_alone_has_no_bounds() -> None:
    with pytest.raises(ValueError, match="no bounds for Rprec"):
        bounds_of(pair_of([([1], [1], {1: 1})]), parse_measure("Rprec"), EvaluationPolicy(), 4)


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), scope=st.sampled_from(["cutoff", "run"]))
def test_no_way_of_grading_long_lists_leaves_the_interval(seed: int, scope: Scope) -> None:
    """Far past what brute force reaches: random grades, and thresholds on the distance of the two ranks, which come near."""
    random = np.random.default_rng(seed)
    judged = {d: int(random.integers(0, 5)) for d in range(25)}
    first, second = (random.permutation(70)[: random.integers(20, 60)].tolist() for _ in range(2))
    pair, policy = pair_of([(first, second, judged)]), EvaluationPolicy(relevance_level=2)
    for name in ("ndcg_cut_20", "ndcg", "map", "map_cut_20", "recall_20", "recip_rank", "rbp"):
        measure = parse_measure(name)
        end = measure.cutoff if scope == "cutoff" else None
        asked = sorted({*first[:end], *second[:end]} - judged.keys())
        distance = [(first + [d]).index(d) - (second + [d]).index(d) for d in asked]
        grades = [judged]
        for trial in range(8):
            given_ = random.integers(0, 5, len(asked))
            if trial:
                cut = random.integers(-40, 40)
                chosen = np.array(distance) < cut if trial % 2 else np.array(distance) >= cut
                given_ = np.where(chosen, random.integers(1, 5), 0)
            grades.append(judged | dict(zip(asked, given_.tolist(), strict=True)))
        one, other = (
            score([ranking] * len(grades), grades, measure, 2) for ranking in (first, second)
        )
        found = bounds_of(pair, measure, policy, 4, scope)
        assert (found.low[0] - 1e-12 <= one - other).all() and (
            one - other <= found.high[0] + 1e-12
        ).all()


def cast2019(
    shared_data: Path, first: str, second: str
) -> tuple[RunPairs, tuple[GradeMatrix, GradeMatrix]]:
    qrels = read_qrels(shared_data / "cast2019/qrels.txt.gz")
    files = [shared_data / f"cast2019/runs/bert_base_{name}.trec.gz" for name in (first, second)]
    one, other = (
        judged_run(rank_run(read_run(file), EvaluationPolicy()), qrels, 3) for file in files
    )
    (pair,) = run_pairs([one.matrix, other.matrix], passage_numbers([one, other]))
    return pair, (one.matrix, other.matrix)


def test_on_cast_2019_the_manual_rewrites_are_better_whatever_the_judges_would_say(
    shared_data: Path,
) -> None:
    """Their own intervals overlap: 3 passages of each run and turn, many of them shared."""
    pair, runs = cast2019(shared_data, "oracle", "cv")
    ndcg = parse_measure("ndcg_cut_3")
    found = bounds_of(pair, ndcg, EvaluationPolicy(), 4)
    means = found.low.mean(), found.score.mean(), found.high.mean()
    assert tuple(round(float(mean), 4) for mean in means) == (0.0128, 0.0778, 0.1024)
    own, other = (measure_bounds(run, ndcg, EvaluationPolicy(), 4) for run in runs)
    assert own.low.mean() - other.high.mean() < 0 < found.low.mean()


@pytest.mark.parametrize("scope", ["cutoff", "run"])
def test_real_runs_at_depth(shared_data: Path, scope: Scope) -> None:
    pair, _ = cast2019(shared_data, "raw", "oracle")
    for name in ("P_1", "recall_100", "recip_rank", "map", "ndcg_cut_3", "ndcg", "rbp"):
        found = bounds_of(pair, parse_measure(name), EvaluationPolicy(relevance_level=2), 4, scope)
        assert ((found.low <= found.score) & (found.score <= found.high)).all()
        assert (found.low >= -1).all() and (found.high <= 1).all()
        assert found.low.mean() < found.score.mean() < found.high.mean()
