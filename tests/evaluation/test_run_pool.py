from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.evaluation import run_pool
from robustcs.evaluation.matrix import ABSENT, UNJUDGED, grade_matrix
from robustcs.evaluation.measure import Measure, parse_measure
from robustcs.evaluation.measures import score_columns
from robustcs.evaluation.ranking import Ranking, rank_run
from robustcs.evaluation.run_pool import NEVER, PoolBuilder, RunPool, collect_run
from robustcs.inputs.ids import Ids
from robustcs.inputs.qrels import Qrels, read_qrels
from robustcs.inputs.runs import read_run
from robustcs.policy import EvaluationPolicy
from tests.evaluation.test_augmentation import as_qrels

POLICY = EvaluationPolicy(relevance_level=2)
NAMES = (
    "P_1",
    "ndcg_cut_3",
    "ndcg",
    "map",
    "recall_5",
    "recip_rank",
    "bpref",
    "judged_3",
    "rbp",
    "Rprec",
)
MEASURES = [parse_measure(name) for name in NAMES]

rankings = st.dictionaries(
    st.sampled_from(["1_1", "1_2", "2_1", "3_1"]),
    st.lists(st.sampled_from("abcdefgh"), unique=True),
    min_size=1,
)
judgments = st.dictionaries(
    st.tuples(st.sampled_from(["1_1", "1_2", "2_1"]), st.sampled_from("abcdefghij")),
    st.integers(-1, 4),
    min_size=1,
)


def as_ranking(name: str, turns: dict[str, list[str]]) -> Ranking:
    starts = np.concatenate([[0], np.cumsum([len(ranked) for ranked in turns.values()])]).astype(
        np.int64
    )
    documents = [document for ranked in turns.values() for document in ranked]
    codes = np.arange(len(documents), dtype=np.int32)
    untied = np.zeros(len(documents), dtype=bool)
    return Ranking(name, tuple(turns), starts, Ids.of(documents), codes, untied, 0, ())


def pool_of(runs: Iterable[Ranking], qrels: Qrels, turns: Sequence[str] = ()) -> RunPool:
    builder = PoolBuilder(turns or qrels.turns, qrels)
    for run in runs:
        builder.add(collect_run(builder.turns, run))
    return builder.build()


def named(pool: RunPool) -> list[tuple[str, str]]:
    documents = pool.documents.texts()
    return [
        (pool.turns[turn], documents[code])
        for turn, code in zip(pool.pair_turns, pool.pair_documents, strict=True)
    ]


def check_scores(runs: Sequence[Ranking], qrels: Qrels) -> None:
    pool = pool_of(runs, qrels)
    scores = pool.score(pool.grades(qrels)[None], MEASURES, POLICY)[0]
    for number, run in enumerate(runs):
        expected = score_columns(grade_matrix(run, qrels), MEASURES, POLICY)
        assert (
            pool.matrix(number, pool.grades(qrels)).missing == grade_matrix(run, qrels).missing
        ).all()
        for column, measure in enumerate(MEASURES):
            np.testing.assert_allclose(
                scores[number, column], expected[measure.name], atol=1e-12, err_msg=measure.name
            )


@settings(deadline=None, max_examples=20)
@given(st.lists(rankings, min_size=1, max_size=3), judgments)
def test_scores_are_those_of_the_grade_matrix(
    runs: list[dict[str, list[str]]], judged: dict[tuple[str, str], int]
) -> None:
    # trec_eval itself is asked for a measure that the matrix does not serve
    check_scores(
        [as_ranking(str(number), run) for number, run in enumerate(runs)], as_qrels(judged)
    )


def test_scores_of_real_runs(shared_data: Path) -> None:
    folder = shared_data / "cast2020"
    runs = [rank_run(read_run(path), POLICY) for path in sorted((folder / "runs").glob("*.gz"))]
    check_scores(runs, read_qrels(folder / "qrels.txt.gz"))


@settings(deadline=None, max_examples=15)
@given(st.lists(rankings, min_size=1, max_size=3), judgments, st.integers(0, 2**32))
def test_many_sets_of_grades_at_once(
    runs: list[dict[str, list[str]]], judged: dict[tuple[str, str], int], seed: int
) -> None:
    pool = pool_of(
        [as_ranking(str(number), run) for number, run in enumerate(runs)], as_qrels(judged)
    )
    sets = np.random.default_rng(seed).choice(
        np.array([UNJUDGED, -1, 0, 1, 4], np.int16), (5, len(pool) + 1)
    )
    sets[:, -1] = ABSENT
    native = MEASURES[:-1]
    together = pool.score(sets, native, POLICY)
    for number, grades in enumerate(sets):
        np.testing.assert_allclose(
            together[number], pool.score(grades[None], native, POLICY)[0], atol=1e-12
        )


@settings(deadline=None, max_examples=15)
@given(
    st.lists(rankings, min_size=1, max_size=3),
    judgments,
    st.integers(0, 2**32),
    st.sampled_from([MEASURES, MEASURES[:2], MEASURES[3:4]]),
)
def test_a_part_has_the_same_scores(
    runs: list[dict[str, list[str]]],
    judged: dict[tuple[str, str], int],
    seed: int,
    measures: Sequence[Measure],
) -> None:
    qrels, rng = as_qrels(judged), np.random.default_rng(seed)
    pool = pool_of([as_ranking(str(number), run) for number, run in enumerate(runs)], qrels)
    grades = pool.grades(qrels)
    changed = rng.permutation(len(pool))[: len(pool) // 2]
    part, known = pool.scored(grades, measures, changed)
    assert named(part)[: len(changed)] == [named(pool)[pair] for pair in changed]
    assert (
        dict(zip(named(part), known[:-1], strict=True)).items()
        <= dict(zip(named(pool), grades[:-1], strict=True)).items()
    )
    drawn = rng.integers(0, 5, (1 if measures is MEASURES else 3, len(changed)))
    sets, parts = (np.tile(one, (len(drawn), 1)) for one in (grades, known))
    sets[:, changed], parts[:, : len(changed)] = drawn, drawn
    each = [pool.score(one[None], measures, POLICY) for one in sets]
    np.testing.assert_array_equal(part.score(parts, measures, POLICY), np.concatenate(each))
    # some of the turns, without the last of several
    chosen = np.arange(len(pool.turns)) % 2 == 0
    chosen[-1] = len(chosen) == 1
    changed = changed[chosen[pool.pair_turns[changed]]]
    part, known = pool.scored(grades, measures, changed, chosen)
    assert part.turns == tuple(turn for turn, one in zip(pool.turns, chosen, strict=True) if one)
    np.testing.assert_array_equal(
        part.score(known[None], measures, POLICY),
        pool.score(grades[None], measures, POLICY)[..., chosen],
    )


@pytest.mark.parametrize(
    ("name", "score"),
    [
        ("ndcg_cut_3", 1 / (1 + np.log2(3))),
        ("ndcg", 1 / (1 + np.log2(3))),
        ("recall_3", 1 / 2),
        ("bpref", 1 / 4),
    ],
)
def test_a_part_keeps_the_judged_passages_that_no_run_retrieves(name: str, score: float) -> None:
    """Of the passages a and b with grade 1 and c and d with grade 0, the run retrieves c, then a; only x may get a grade."""
    qrels, measures = (
        as_qrels({("1_1", document): int(document in "ab") for document in "abcd"}),
        [parse_measure(name)],
    )
    pool = pool_of([as_ranking("r", {"1_1": ["c", "a", "x"]})], qrels)
    changed = np.array([named(pool).index(("1_1", "x"))])
    part, known = pool.scored(pool.grades(qrels), measures, changed)
    assert part.score(known[None], measures, EvaluationPolicy())[0, 0, 0] == pytest.approx(score)


@pytest.mark.parametrize("waiting", [0, 2, 1 << 20])
def test_pairs_are_numbered_alike_however_many_documents_wait(
    waiting: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_pool, "_WAITING", waiting)
    qrels = as_qrels({("1_1", "a"): 1, ("1_2", "b"): 0})
    runs = [
        as_ranking("x", {"1_1": ["c", "a"]}),
        as_ranking("y", {"1_2": ["d", "c"], "1_1": ["d"], "7_1": ["a"]}),
    ]
    pool = pool_of(runs, qrels)
    assert pool.extra_turns == 1
    assert named(pool) == [
        ("1_1", "a"),
        ("1_2", "b"),
        ("1_1", "c"),
        ("1_2", "d"),
        ("1_2", "c"),
        ("1_1", "d"),
    ]
    assert pool.grades(qrels).tolist() == [1, 0, UNJUDGED, UNJUDGED, UNJUDGED, UNJUDGED, ABSENT]
    assert pool.best_ranks().tolist() == [
        [2, NEVER, 1, NEVER, NEVER, NEVER],
        [NEVER, NEVER, NEVER, 1, 2, 1],
    ]
    assert pool.missing.tolist() == [[False, True], [False, False]]


def test_measures_with_a_cutoff_look_no_further() -> None:
    qrels = as_qrels({("1_1", "a"): 1})
    pool = pool_of([as_ranking("x", {"1_1": [f"d{i}" for i in range(900)]})], qrels)
    assert pool.batch([parse_measure("P_1")]) > 10 * pool.batch([parse_measure("map")])
    assert pool.batch([parse_measure("Rprec")]) == 1
    assert pool.score(pool.grades(qrels)[None], [parse_measure("map")], POLICY) == pytest.approx(0)


@pytest.mark.parametrize(
    "name",
    ["recall_1", "recall_3", "map_cut_2", "map", "ndcg_cut_2", "ndcg", "bpref", "P_2", "Rprec"],
)
def test_a_measure_alone_sees_all_relevant_passages(name: str) -> None:
    """Four relevant passages, two of which the run does not retrieve, and three others."""
    qrels = as_qrels(
        {
            ("1_1", document): grade
            for document, grade in zip("abcdefg", (2, 3, 2, 4, 0, 0, 1), strict=True)
        }
    )
    run, measure = as_ranking("r", {"1_1": list("aefgxb")}), parse_measure(name)
    pool = pool_of([run], qrels)
    expected = score_columns(grade_matrix(run, qrels), [measure], POLICY)[name]
    assert expected > 0 and pool.score(pool.grades(qrels)[None], [measure], POLICY)[
        0, 0, 0
    ] == pytest.approx(expected)


def test_turns_with_a_judgment_and_a_pool_without_runs() -> None:
    judged = {("1_1", "a"): 1, ("1_2", "b"): -1, ("1_3", "c"): 0}
    qrels = as_qrels(judged)
    pool = pool_of([], qrels)
    assert len(pool) == 3 and pool.extra_turns == 0 and pool.missing.shape == (0, 3)
    grades = pool.grades(qrels)
    for left in range(4):
        known = np.where(np.arange(4) < left, grades, UNJUDGED)
        assert pool.judged(known).tolist() == [turn < left for turn in range(3)]


def test_sets_of_grades_scored_together_are_limited_by_ranks_and_by_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two turns of five ranks, and twelve pairs."""
    qrels = as_qrels({("1_1", "x"): 1, ("1_2", "x"): 1})
    pool = pool_of([as_ranking("r", {turn: list("abcde") for turn in ("1_1", "1_2")})], qrels)
    monkeypatch.setattr(run_pool, "_CELLS", 100)
    for grades, sets, of_two_ranks in ((1200, 10, 25), (48, 4, 4), (11, 1, 1)):
        monkeypatch.setattr(run_pool, "_GRADES", grades)
        assert pool.batch([parse_measure("map")]) == sets
        assert pool.batch([parse_measure("P_1"), parse_measure("ndcg_cut_2")]) == of_two_ranks
