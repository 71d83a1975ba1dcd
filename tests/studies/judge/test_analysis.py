from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.evaluation.hole_order import Contest, hole_effects, influences
from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.ranking import rank_run
from robustcs.evaluation.run_pool import PoolBuilder, collect_run
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.runs import read_run
from robustcs.policy import EvaluationPolicy
from robustcs.studies.judge.analysis import judging_worklist, pairs_of

Runs = Mapping[str, Mapping[str, Sequence[str]]]
Judgments = Mapping[str, Mapping[str, int]]


def plan(
    folder: Path,
    runs: Runs,
    qrels: Judgments,
    comparisons: Sequence[tuple[str, str]],
    metrics: Sequence[str],
    top: int = 3,
    policy: EvaluationPolicy | None = None,
    expected: dict[tuple[str, str], float] | None = None,
    judged: dict[tuple[str, str], int] | None = None,
    counted: Sequence[bool] = (),
) -> pd.DataFrame:
    for name, turns in runs.items():
        lines = [
            f"{t} Q0 {d} 1 {-rank} x\n"
            for t, ranking in turns.items()
            for rank, d in enumerate(ranking)
        ]
        (folder / name).write_text("".join(lines))
    file = folder / "qrels"
    file.write_text(
        "".join(f"{t} 0 {d} {g}\n" for t, pairs in qrels.items() for d, g in pairs.items())
    )
    files = {name: folder / name for name in runs}
    return worklist(
        file,
        files,
        comparisons,
        metrics,
        top,
        policy or EvaluationPolicy(),
        expected,
        judged,
        counted,
    )


def worklist(
    qrels: Path,
    files: Mapping[str, Path],
    comparisons: Sequence[tuple[str, str]],
    metrics: Sequence[str],
    top: int,
    policy: EvaluationPolicy,
    expected: dict[tuple[str, str], float] | None = None,
    judged: dict[tuple[str, str], int] | None = None,
    counted: Sequence[bool] = (),
) -> pd.DataFrame:
    known = read_qrels(qrels)
    builder, names = PoolBuilder(known.turns, known), list(files)
    for name, file in files.items():
        builder.add(collect_run(builder.turns, rank_run(read_run(file, name), policy)))
    pool = builder.build()
    compared = tuple((names.index(a), names.index(b)) for a, b in comparisons)
    measures, kept = (
        tuple(map(parse_measure, metrics)),
        np.array(counted or [True] * len(pool.turns)),
    )
    asked, grades = Contest(pool, compared, measures, policy, kept, top, 4), pool.grades(known)
    holes = asked.holes(grades)
    pairs = zip(
        pool.pair_turns[holes], pool.documents.take(pool.pair_documents[holes]).texts(), strict=True
    )
    places = {
        (pool.turns[turn], document): int(hole)
        for (turn, document), hole in zip(pairs, holes, strict=True)
    }
    influence = influences(
        hole_effects(asked, grades, holes, np.arange(5, dtype=np.int16)), compared
    ).max(axis=1)
    wanted = None if expected is None else np.array([expected[pair] for pair in places])
    return judging_worklist(asked, places, influence, wanted, judged or {})


def of_pairs(found: pd.DataFrame) -> dict[tuple[str, str], float]:
    return dict(zip(pairs_of(found), found["influence"], strict=True))


def brute_force(
    runs: Runs,
    qrels: Judgments,
    comparisons: Sequence[tuple[str, str]],
    metrics: Sequence[str],
    top: int,
    level: int,
) -> dict[tuple[str, str], float]:
    """The definition word by word: add one line to the qrels, let trec_eval score everything again."""

    def means(judged: Judgments) -> dict[tuple[str, str], float]:
        evaluator = pytrec_eval.RelevanceEvaluator(
            {turn: dict(pairs) for turn, pairs in judged.items()},
            set(metrics),
            relevance_level=level,
        )
        scores = {}
        for name, turns in runs.items():
            ranked = {
                t: {d: float(-rank) for rank, d in enumerate(r)} for t, r in turns.items() if r
            }
            found = evaluator.evaluate(ranked)
            for metric in metrics:
                scores[name, metric] = sum(found[t][metric] for t in judged if t in found) / len(
                    judged
                )
        return scores

    base = means(qrels)
    influence = {}
    for turn in qrels:
        holes = {
            d
            for ranking in runs.values()
            for d in ranking.get(turn, [])[:top]
            if d not in qrels[turn]
        }
        for document in holes:
            totals = []
            for grade in range(5):
                after = means({**qrels, turn: {**qrels[turn], document: grade}})
                change = {key: after[key] - base[key] for key in base}
                totals.append(
                    sum(abs(change[a, m] - change[b, m]) for a, b in comparisons for m in metrics)
                )
            influence[turn, document] = max(totals)
    return influence


DOCUMENTS = [f"d{i}" for i in range(7)]
TURNS = ["1_1", "1_2", "2_1"]


@st.composite
def collections(draw: st.DrawFn) -> tuple[Runs, Judgments]:
    ranking = st.lists(st.sampled_from(DOCUMENTS), unique=True, max_size=6)
    runs = {name: {turn: draw(ranking) for turn in TURNS} for name in ("a", "b", "c")}
    for name in runs:
        runs[name]["1_1"] = runs[name]["1_1"] or ["d0"]
    pairs = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-1, 4), min_size=1, max_size=4)
    return runs, {turn: draw(pairs) for turn in TURNS}


@pytest.mark.parametrize(
    ("metrics", "level", "top"),
    [
        (["ndcg_cut_3"], 1, 3),
        (["P_1", "recip_rank"], 2, 2),
        (["map", "bpref"], 2, 3),
        (["recall_5"], 1, 6),
        (["Rprec"], 1, 3),
    ],
)
def test_influence_is_what_trec_eval_says_after_adding_the_grade(
    metrics: list[str], level: int, top: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    comparisons = [("a", "b"), ("a", "c")]
    folder = tmp_path_factory.mktemp("runs")

    @settings(max_examples=15, deadline=None)
    @given(collections())
    def check(collection: tuple[Runs, Judgments]) -> None:
        runs, qrels = collection
        result = plan(
            folder, runs, qrels, comparisons, metrics, top, EvaluationPolicy(relevance_level=level)
        )
        expected = brute_force(runs, qrels, comparisons, metrics, top, level)
        assert of_pairs(result) == pytest.approx(expected, abs=1e-9)

    check()


RUNS = {
    "base": {"1_1": ["x", "y", "j"], "2_1": ["j", "p", "q"]},
    "set": {"1_1": ["x", "j", "z"], "2_1": ["j", "p"]},
}
QRELS = {"1_1": {"j": 1}, "2_1": {"j": 4}}


def test_rank_is_not_influence(tmp_path: Path) -> None:
    result = plan(tmp_path, RUNS, QRELS, [("base", "set")], ["P_3"])
    influence = of_pairs(result)
    # both have x at rank 1: no grade of it changes their difference in P@3; y and z are found by one
    assert influence["1_1", "x"] == 0
    assert influence["1_1", "y"] == influence["1_1", "z"] == pytest.approx(1 / 3 / 2)
    rows = result.set_index("document")
    assert rows.loc["x", ["systems", "best_rank", "found_by"]].tolist() == [2, 1, "base, set"]
    assert rows.loc["z", ["systems", "best_rank", "found_by"]].tolist() == [1, 3, "set"]


def test_one_topic_at_a_time_by_influence_then_by_turn(tmp_path: Path) -> None:
    runs = {
        "a": {"2_1": ["m"], "10_2": ["p", "q"], "10_1": ["r"], "9_1": ["j"]},
        "b": {"2_1": ["n"], "10_2": ["j"], "10_1": ["j"], "9_1": ["j"]},
    }
    qrels = {turn: {"j": 4} for turn in ("2_1", "10_1", "10_2", "9_1")}
    result = plan(tmp_path, runs, qrels, [("a", "b")], ["ndcg_cut_3"])
    assert [turn for turn, _ in pairs_of(result)] == ["10_1", "10_2", "10_2", "2_1", "2_1"]
    for _, part in result.groupby("turn"):
        assert part["influence"].is_monotonic_decreasing
    totals = result.groupby("topic", sort=False)["influence"].sum()
    assert list(totals.index) == ["10", "2"] and totals.is_monotonic_decreasing


def test_the_expected_influence_orders_the_work_where_there_is_one(tmp_path: Path) -> None:
    """The passages of the turn that holds more influence are improbable to be relevant: the other topic comes first."""
    runs = {"a": {"2_1": ["m", "o"], "10_1": ["r"]}, "b": {"2_1": ["n"], "10_1": ["j"]}}
    qrels = {turn: {"j": 4} for turn in ("2_1", "10_1")}
    expected = {("2_1", "m"): 0.01, ("2_1", "o"): 0.05, ("2_1", "n"): 0.02, ("10_1", "r"): 0.001}
    result = plan(tmp_path, runs, qrels, [("a", "b")], ["ndcg_cut_3"], expected=expected)
    assert pairs_of(result) == [("2_1", "o"), ("2_1", "n"), ("2_1", "m"), ("10_1", "r")]
    by_influence = plan(tmp_path, runs, qrels, [("a", "b")], ["ndcg_cut_3"])
    assert (
        of_pairs(by_influence) == of_pairs(result)
        and by_influence["expected_influence"].isna().all()
    )


def test_a_single_system_is_about_its_own_score(tmp_path: Path) -> None:
    result = plan(tmp_path, {"a": RUNS["base"]}, QRELS, [], ["P_1"])
    assert of_pairs(result)["1_1", "x"] == pytest.approx(0.5)


def test_turns_that_do_not_count_have_no_holes(tmp_path: Path) -> None:
    kept = plan(tmp_path, RUNS, QRELS, [("base", "set")], ["P_3"], counted=[True, False])
    assert {turn for turn, _ in pairs_of(kept)} == {"1_1"}


def test_nothing_is_unjudged(tmp_path: Path) -> None:
    assert not len(
        plan(
            tmp_path,
            {"a": {"1_1": ["j"]}, "b": {"1_1": ["j"]}},
            {"1_1": {"j": 1}},
            [("a", "b")],
            ["P_1"],
        )
    )


def test_grades_given_so_far(tmp_path: Path) -> None:
    result = plan(
        tmp_path, RUNS, QRELS, [("base", "set")], ["P_3"], judged={("1_1", "x"): 0, ("9_9", "x"): 4}
    )
    assert result["grade"].dropna().tolist() == [0]


def test_the_holes_of_cast_2020(shared_data: Path) -> None:
    """238, 36 and 17 unjudged passages in the top 3 of the three runs, many of them shared."""
    folder, policy = shared_data / "cast2020", EvaluationPolicy(relevance_level=2)
    files = {name: folder / "runs" / f"bert_{name}.trec.gz" for name in ("raw", "auto", "manual")}
    result = worklist(
        folder / "qrels.txt.gz",
        files,
        [("manual", "raw"), ("manual", "auto")],
        ["ndcg_cut_3"],
        3,
        policy,
    )
    assert len(result) == len(set(pairs_of(result))) == 273
    found = result["found_by"].str.split(", ").explode().value_counts()
    assert found.to_dict() == {"raw": 238, "auto": 36, "manual": 17}
    # one passage can move two differences by no more than one turn's range each
    assert 0 < result["influence"].max() <= 2 / 208
