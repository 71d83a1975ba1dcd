"""Bounds against brute force over all ways of grading; on real runs; condensed lists and residuals."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.evaluation.bounds import Scope, condensed, measure_bounds, rbp_residual
from robustcs.evaluation.matrix import ABSENT, UNJUDGED, GradeMatrix, grade_matrix
from robustcs.evaluation.measure import Measure, parse_measure
from robustcs.evaluation.measures import NATIVE, score_columns, top_of
from robustcs.evaluation.ranking import rank_run
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.runs import read_run
from robustcs.policy import EvaluationPolicy

NAMES = (
    "P_1", "P_3", "recall_2", "recall_4", "success_2", "recip_rank", "recip_rank_cut_3", "map", "map_cut_3", "ndcg",
    "ndcg_cut_1", "ndcg_cut_3", "ndcg_cut_5", "rbp", "rbp_cut_2", "P(rel=3)@2", "AP(rel=3)",
)  # fmt: skip
MEASURES = [parse_measure(name) for name in NAMES]


def made(rows: list[list[int]], judged: list[list[int]]) -> GradeMatrix:
    """A matrix from grades by rank (all judged ones also stand in ``judged``) and all judged grades of every turn."""
    depth, width = max(map(len, rows)), max(map(len, judged))
    grades = np.array(
        [row + [ABSENT] * (depth - len(row)) for row in rows], dtype=np.int16
    ).reshape(len(rows), depth)
    pool = [sorted(row, reverse=True) + [ABSENT] * (width - len(row)) for row in judged]
    lengths = np.array([len(row) for row in rows])
    turns = tuple(f"1_{i}" for i in range(1, len(rows) + 1))
    return GradeMatrix(
        "made", turns, grades, np.array(pool, dtype=np.int16), lengths, lengths == 0, 0, ()
    )


def values_of(matrix: GradeMatrix, measure: Measure, level: int) -> np.ndarray:
    return np.asarray(
        NATIVE[measure.family](top_of(matrix, measure, EvaluationPolicy(relevance_level=level)))
    )


def value(row: list[int], judged: list[int], measure: Measure, level: int) -> float:
    return float(values_of(made([row], [judged]), measure, level)[0])


def every_way(
    row: list[int], judged: list[int], max_grade: int, end: int | None = None, others: int = 0
) -> GradeMatrix:
    """The list as it is, and every way to grade its unjudged passages before ``end``, and ``others`` that are not in it."""
    places = [i for i, grade in enumerate(row[:end]) if grade == UNJUDGED]
    rows, pools = [row], [judged]
    for grades in product(range(max_grade + 1), repeat=len(places) + others):
        graded = list(row)
        for place, grade in zip(places, grades, strict=False):
            graded[place] = grade
        rows.append(graded)
        pools.append(judged + list(grades))
    return made(rows, pools)


@st.composite
def turns(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    judged = st.sampled_from([-1, 0, 0, 1, 2, 3, 5])
    row = draw(st.lists(st.one_of(judged, st.just(UNJUDGED)), max_size=7))
    kept, left = [], 4
    for grade in row:
        left -= grade == UNJUDGED
        kept.append(0 if grade == UNJUDGED and left < 0 else grade)
    pool = draw(st.lists(judged, min_size=1, max_size=6))
    return kept, [grade for grade in kept if grade != UNJUDGED] + pool


@settings(max_examples=25, deadline=None)
@given(
    cases=st.lists(turns(), min_size=1, max_size=3),
    level=st.sampled_from([1, 2]),
    max_grade=st.integers(0, 4),
    scope=st.sampled_from(["cutoff", "run"]),
)
def test_every_interval_equals_brute_force(
    cases: list[tuple[list[int], list[int]]], level: int, max_grade: int, scope: Scope
) -> None:
    matrix = made([row for row, _ in cases], [judged for _, judged in cases])
    policy = EvaluationPolicy(relevance_level=level)
    ways: dict[tuple[int, int], GradeMatrix] = {}
    for measure in MEASURES:
        found = measure_bounds(matrix, measure, policy, max_grade, scope)
        for turn, (row, judged) in enumerate(cases):
            end = len(row) if scope == "run" else min(len(row), measure.cutoff or len(row))
            if (turn, end) not in ways:
                ways[turn, end] = every_way(row, judged, max_grade, end)
            values = values_of(ways[turn, end], measure, level)
            expected = (values.min(), values.max())
            assert (found.low[turn], found.high[turn]) == pytest.approx(expected, abs=1e-12), (
                measure.name,
                turn,
            )
            assert found.score[turn] == pytest.approx(value(row, judged, measure, level), abs=1e-12)


@settings(max_examples=10, deadline=None)
@given(
    cases=st.lists(turns(), min_size=1, max_size=3),
    others=st.lists(st.integers(0, 3), min_size=3, max_size=3),
    level=st.sampled_from([1, 2]),
    max_grade=st.integers(0, 4),
)
def test_passages_of_other_runs_enter_the_ideal_ranking(
    cases: list[tuple[list[int], list[int]]], others: list[int], level: int, max_grade: int
) -> None:
    """The scope pool: every passage that another run retrieves gets a grade that only the judged ones of the turn show."""
    # brute force stays feasible: the run's own unjudged passages and those of other runs are six at most
    numbers = [
        min(number, 6 - row.count(UNJUDGED))
        for (row, _), number in zip(cases, others, strict=False)
    ]
    matrix = made([row for row, _ in cases], [judged for _, judged in cases])
    policy = EvaluationPolicy(relevance_level=level)
    pool = (matrix.grades == UNJUDGED).sum(axis=1) + numbers
    ways = [
        every_way(row, judged, max_grade, None, number)
        for (row, judged), number in zip(cases, numbers, strict=True)
    ]
    for measure in MEASURES:
        found = measure_bounds(matrix, measure, policy, max_grade, "pool", pool)
        for turn, graded in enumerate(ways):
            values = values_of(graded, measure, level)
            ends = found.low[turn], found.high[turn]
            assert ends == pytest.approx((values.min(), values.max()), abs=1e-12), (
                measure.name,
                turn,
            )


def test_the_scope_pool_needs_to_know_the_pool() -> None:
    with pytest.raises(ValueError, match="requires the number of passages in it"):
        measure_bounds(made([[1]], [[1]]), parse_measure("P_1"), EvaluationPolicy(), 4, "pool")


@settings(max_examples=12, deadline=None)
@given(
    row=st.lists(st.sampled_from([UNJUDGED, UNJUDGED, 0, 1, 2, 3, 4]), min_size=8, max_size=60),
    pool=st.lists(st.sampled_from([0, 1, 2, 3, 4]), min_size=1, max_size=40),
    seed=st.integers(0, 2**32 - 1),
)
def test_no_way_of_grading_a_long_list_leaves_the_interval(
    row: list[int], pool: list[int], seed: int
) -> None:
    """Far past what brute force reaches: random grades, and grades by a random threshold on the rank, which come near the
    ends."""
    judged = [grade for grade in row if grade != UNJUDGED] + pool
    places = [i for i, grade in enumerate(row) if grade == UNJUDGED]
    random = np.random.default_rng(seed)
    for name in ("ndcg_cut_20", "ndcg", "map", "map_cut_20", "recall_20"):
        measure = parse_measure(name)
        matrix, policy = made([row], [judged]), EvaluationPolicy(relevance_level=2)
        found = measure_bounds(matrix, measure, policy, 4, "run")
        inside = [place for place in places if measure.cutoff is None or place < measure.cutoff]
        for graded in (places, inside):
            scope = measure_bounds(
                matrix, measure, policy, 4, "run" if graded is places else "cutoff"
            )
            for trial in range(6):
                grades = random.integers(0, 5, len(graded))
                if trial:
                    cut = random.integers(0, len(graded) + 1)
                    high = (
                        np.arange(len(graded)) < cut if trial % 2 else np.arange(len(graded)) >= cut
                    )
                    grades = np.where(high, random.integers(1, 5), 0)
                tried = list(row)
                for place, grade in zip(graded, grades, strict=True):
                    tried[place] = int(grade)
                at = value(tried, judged + grades.tolist(), measure, 2)
                assert scope.low[0] - 1e-12 <= at <= scope.high[0] + 1e-12
        assert found.low[0] <= scope.low[0] + 1e-12
        assert found.high[0] >= scope.high[0] - 1e-12


def multisets(count: int, max_grade: int) -> list[tuple[int, ...]]:
    """All multisets of grades, as descending tuples."""
    if max_grade == 0:
        return [(0,) * count]
    return [
        (max_grade,) * times + rest
        for times in range(count + 1)
        for rest in multisets(count - times, max_grade - 1)
    ]


@pytest.mark.parametrize("seed", range(3))
def test_ndcg_at_20_equals_enumeration_of_all_multisets(seed: int) -> None:
    """The rearrangement inequality alone, without the argument for the fast algorithm: 3,876 multisets of 15 grades."""
    random = np.random.default_rng(seed)
    row = np.where(random.random(20) < 0.75, UNJUDGED, random.integers(0, 5, 20))
    row[np.flatnonzero(row == UNJUDGED)[15:]] = 0
    places = np.flatnonzero(row == UNJUDGED)
    judged = [int(grade) for grade in row if grade != UNJUDGED] + random.integers(0, 5, 12).tolist()
    values = []
    for grades in multisets(len(places), 4):
        for order in (grades, grades[::-1]):
            tried = row.copy()
            tried[places] = order
            values.append(
                value(tried.tolist(), judged + list(grades), parse_measure("ndcg_cut_20"), 1)
            )
    found = measure_bounds(
        made([row.tolist()], [judged]), parse_measure("ndcg_cut_20"), EvaluationPolicy(), 4
    )
    assert (found.low[0], found.high[0]) == pytest.approx((min(values), max(values)), abs=1e-12)


def test_raising_a_low_ranked_passage_lowers_ndcg() -> None:
    """The ideal ranking grows with it: neither end is "all 0" or "all 4"."""
    row, judged = [1, UNJUDGED, 1, UNJUDGED, UNJUDGED], [1, 1]
    ndcg = parse_measure("ndcg_cut_5")
    found = measure_bounds(made([row], [judged]), ndcg, EvaluationPolicy(), 4)
    assert found.low[0] < value(row, judged, ndcg, 1)
    assert found.high[0] > value([1, 4, 1, 4, 4], [4, 4, 4, 1, 1], ndcg, 1)
    assert (
        found.high[0] == pytest.approx(value([1, 1, 1, 1, 1], [1] * 5, ndcg, 1)) == pytest.approx(1)
    )


@pytest.mark.parametrize("scope", ["cutoff", "run"])
@pytest.mark.parametrize(
    ("qrels", "runs", "count"),
    [
        ("cast2019/qrels.txt.gz", "cast2019/*/*.gz", 9),
        ("cast2020/qrels.txt.gz", "cast2020/runs/*.trec.gz", 3),
        ("cast2021/qrels-docs.txt.gz", "cast2021/runs/*.run.gz", 3),
    ],
)
def test_every_real_run_lies_inside_and_is_a_point_where_nothing_is_unjudged(
    shared_data: Path, qrels: str, runs: str, count: int, scope: Scope
) -> None:
    judgments, policy = read_qrels(shared_data / qrels), EvaluationPolicy(relevance_level=2)
    names = ("P_1", "recall_100", "recip_rank", "map", "ndcg_cut_3", "ndcg_cut_20", "ndcg", "rbp")
    measures = [parse_measure(name) for name in names]
    files = sorted(shared_data.glob(runs))
    assert len(files) == count
    for file in files[::3]:
        matrix = grade_matrix(rank_run(read_run(file), policy), judgments)
        scores = score_columns(matrix, measures, policy)
        for measure in measures:
            found = measure_bounds(matrix, measure, policy, 4, scope)
            assert found.score.tolist() == scores[measure.name].tolist()
            assert ((found.low <= found.score) & (found.score <= found.high)).all()
            assert ((found.low >= 0) & (found.high <= 1)).all()
            closed = found.unjudged == 0
            assert (found.low[closed] == found.high[closed]).all()
            assert (found.high.mean() > found.score.mean()) == (not closed.all())
        filled = replace(
            matrix, grades=np.where(matrix.grades == UNJUDGED, 0, matrix.grades).astype(np.int16)
        )
        for measure in measures:
            found = measure_bounds(filled, measure, policy, 4, scope)
            assert (found.low == found.high).all()


def test_a_missing_turn_and_an_empty_ideal_are_points_at_0() -> None:
    matrix = made([[], [0, UNJUDGED]], [[3], [0]])
    for measure in MEASURES:
        found = measure_bounds(matrix, measure, EvaluationPolicy(), 0, "run")
        assert found.low[0] == found.high[0] == 0
        assert found.low[1] == found.high[1] == 0


@pytest.mark.parametrize("name", ["Rprec", "bpref", "judged_3"])
def test_bpref_judged_and_measures_of_trec_eval_alone_have_no_bounds(name: str) -> None:
    with pytest.raises(ValueError, match=f"no bounds for {name}"):
        measure_bounds(made([[1]], [[1]]), parse_measure(name), EvaluationPolicy(), 4)


def test_condensed_lists_close_the_gaps() -> None:
    matrix = condensed(made([[UNJUDGED, 2, UNJUDGED, 1], [3]], [[2, 1], [3]]))
    assert matrix.grades.tolist() == [[2, 1, ABSENT, ABSENT], [3, ABSENT, ABSENT, ABSENT]]


def test_the_upper_bound_of_rbp_is_the_score_plus_the_weight_of_unjudged_passages() -> None:
    matrix = made([[UNJUDGED, 1, UNJUDGED], [1], []], [[1], [1], [1]])
    found = measure_bounds(matrix, parse_measure("rbp_0.5"), EvaluationPolicy(), 1)
    np.testing.assert_allclose(found.high - found.score, [0.5 + 0.125, 0, 0])
    for name, ends in (
        ("rbp_0.5", [0.125, 0.5, 1]),
        ("RBP(p=0.5)@2", [-0.125, 0.25, 0.75]),
    ):
        # the ranks after the lists
        residual = rbp_residual(matrix, parse_measure(name), EvaluationPolicy())
        np.testing.assert_allclose(residual, found.high - found.score + ends)
