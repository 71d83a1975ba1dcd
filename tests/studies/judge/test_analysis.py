from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.errors import InputError
from robustcs.evaluation.holes import JudgedRun, judged_run
from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.ranking import rank_run
from robustcs.evaluation.turns import Turns, answered_by_run, count_turns, expected_of
from robustcs.inputs.qrels import Qrels, read_qrels
from robustcs.inputs.runs import read_run
from robustcs.policy import EvaluationPolicy
from robustcs.studies.judge.analysis import Worklist, judging_worklist, reach, with_grades

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
    max_grade: int = 4,
    expected: dict[tuple[str, str], float] | None = None,
) -> Worklist:
    policy = policy or EvaluationPolicy()
    file = folder / "qrels"
    file.write_text("".join(f"{t} 0 {d} {g}\n" for t, pairs in qrels.items() for d, g in pairs.items()))
    judged = read_qrels(file)
    measures = [parse_measure(name) for name in metrics]
    systems = {}
    for name, turns in runs.items():
        lines = [f"{t} Q0 {d} 1 {-rank} x\n" for t, ranking in turns.items() for rank, d in enumerate(ranking)]
        (folder / name).write_text("".join(lines))
        ranking = rank_run(read_run(folder / name, name), policy)
        systems[name] = judged_run(ranking, judged, 0, reach(measures, top))
    turns = turns_of(systems, folder, judged, policy)
    return judging_worklist(systems, comparisons, measures, policy, top, max_grade, turns, expected=expected)


def turns_of(systems: Mapping[str, JudgedRun], folder: Path, qrels: Qrels, policy: EvaluationPolicy) -> Turns:
    answered = [answered_by_run(name, folder / name, system.matrix) for name, system in systems.items()]
    return count_turns(expected_of(qrels), answered, policy.missing, holes=True)


def brute_force(
    runs: Runs, qrels: Judgments, comparisons: Sequence[tuple[str, str]], metrics: Sequence[str], top: int, level: int
) -> dict[tuple[str, str], float]:
    """The definition word by word: add one line to the qrels, let trec_eval score everything again."""

    def means(judged: Judgments) -> dict[tuple[str, str], float]:
        evaluator = pytrec_eval.RelevanceEvaluator(
            {turn: dict(pairs) for turn, pairs in judged.items()}, set(metrics), relevance_level=level
        )
        scores = {}
        for name, turns in runs.items():
            ranked = {t: {d: float(-rank) for rank, d in enumerate(r)} for t, r in turns.items() if r}
            found = evaluator.evaluate(ranked)
            for metric in metrics:
                scores[name, metric] = sum(found[t][metric] for t in judged if t in found) / len(judged)
        return scores

    base = means(qrels)
    influence = {}
    for turn in qrels:
        holes = {d for ranking in runs.values() for d in ranking.get(turn, [])[:top] if d not in qrels[turn]}
        for document in holes:
            totals = []
            for grade in range(5):
                after = means({**qrels, turn: {**qrels[turn], document: grade}})
                change = {key: after[key] - base[key] for key in base}
                totals.append(sum(abs(change[a, m] - change[b, m]) for a, b in comparisons for m in metrics))
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
    [(["ndcg_cut_3"], 1, 3), (["P_1", "recip_rank"], 2, 2), (["map", "bpref"], 2, 3), (["recall_5"], 1, 6), (["Rprec"], 1, 3)],
)
def test_influence_is_what_trec_eval_says_after_adding_the_grade(
    metrics: list[str], level: int, top: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    comparisons = [("a", "b"), ("a", "c")]
    folder = tmp_path_factory.mktemp("runs")

    @settings(max_examples=25, deadline=None)
    @given(collections())
    def check(collection: tuple[Runs, Judgments]) -> None:
        runs, qrels = collection
        result = plan(folder, runs, qrels, comparisons, metrics, top, EvaluationPolicy(relevance_level=level))
        expected = brute_force(runs, qrels, comparisons, metrics, top, level)
        found = dict(zip(result.pairs, result.worklist["influence"], strict=True))
        assert found == pytest.approx(expected, abs=1e-9)

    check()


RUNS = {"base": {"1_1": ["x", "y", "j"], "2_1": ["j", "p", "q"]}, "set": {"1_1": ["x", "j", "z"], "2_1": ["j", "p"]}}
QRELS = {"1_1": {"j": 1}, "2_1": {"j": 4}}


def test_rank_is_not_influence(tmp_path: Path) -> None:
    result = plan(tmp_path, RUNS, QRELS, [("base", "set")], ["P_3"])
    influence = dict(zip(result.pairs, result.worklist["influence"], strict=True))
    # both have x at rank 1: no grade of it changes their difference in P@3; y and z are found by one
    assert influence["1_1", "x"] == 0
    assert influence["1_1", "y"] == influence["1_1", "z"] == pytest.approx(1 / 3 / 2)
    rows = result.worklist.set_index("document")
    assert rows.loc["x", ["systems", "best_rank", "found_by"]].tolist() == [2, 1, "base, set"]
    assert rows.loc["z", ["systems", "best_rank", "found_by"]].tolist() == [1, 3, "set"]


def test_one_topic_at_a_time_by_influence_then_by_turn(tmp_path: Path) -> None:
    runs = {
        "a": {"2_1": ["m"], "10_2": ["p", "q"], "10_1": ["r"], "9_1": ["j"]},
        "b": {"2_1": ["n"], "10_2": ["j"], "10_1": ["j"], "9_1": ["j"]},
    }
    qrels = {turn: {"j": 4} for turn in ("2_1", "10_1", "10_2", "9_1")}
    result = plan(tmp_path, runs, qrels, [("a", "b")], ["ndcg_cut_3"])
    assert result.topics["topic"].tolist() == ["10", "2"]
    assert [turn for turn, _ in result.pairs] == ["10_1", "10_2", "10_2", "2_1", "2_1"]
    for _, part in result.worklist.groupby("turn"):
        assert part["influence"].is_monotonic_decreasing
    assert result.topics["influence"].tolist() == pytest.approx(
        [result.worklist[result.worklist["topic"] == topic]["influence"].sum() for topic in ("10", "2")]
    )


def test_the_expected_influence_orders_the_work_where_there_is_one(tmp_path: Path) -> None:
    """The passages of the turn that holds more influence are improbable to be relevant: the other topic comes first."""
    runs = {"a": {"2_1": ["m", "o"], "10_1": ["r"]}, "b": {"2_1": ["n"], "10_1": ["j"]}}
    qrels = {turn: {"j": 4} for turn in ("2_1", "10_1")}
    expected = {("2_1", "m"): 0.01, ("2_1", "o"): 0.05, ("2_1", "n"): 0.02, ("10_1", "r"): 0.001}
    result = plan(tmp_path, runs, qrels, [("a", "b")], ["ndcg_cut_3"], expected=expected)
    assert result.topics["topic"].tolist() == ["2", "10"]
    assert result.topics["expected_influence"].tolist() == pytest.approx([0.08, 0.001])
    assert result.pairs == [("2_1", "o"), ("2_1", "n"), ("2_1", "m"), ("10_1", "r")]
    by_influence = plan(tmp_path, runs, qrels, [("a", "b")], ["ndcg_cut_3"])
    assert dict(zip(by_influence.pairs, by_influence.worklist["influence"], strict=True)) == dict(
        zip(result.pairs, result.worklist["influence"], strict=True)
    )
    assert by_influence.worklist["expected_influence"].isna().all() and by_influence.topics["expected_influence"].isna().all()


def test_a_single_system_is_about_its_own_score(tmp_path: Path) -> None:
    result = plan(tmp_path, {"a": RUNS["base"]}, QRELS, [], ["P_1"])
    assert dict(zip(result.pairs, result.worklist["influence"], strict=True))["1_1", "x"] == pytest.approx(0.5)
    assert result.comparisons.to_dict("records") == [{"baseline": "", "system": "a", "metric": "P_1"}]


def test_dropped_turns_have_no_holes(tmp_path: Path) -> None:
    runs = {"base": RUNS["base"], "set": {"1_1": ["x", "j", "z"]}}
    policy = EvaluationPolicy(missing="drop")
    dropped = plan(tmp_path, runs, QRELS, [("base", "set")], ["P_3"], policy=policy)
    assert {turn for turn, _ in dropped.pairs} == {"1_1"}
    assert (dropped.evaluated.turns, dropped.evaluated.missing) == (1, 1)
    kept = plan(tmp_path, runs, QRELS, [("base", "set")], ["P_3"])
    assert {turn for turn, _ in kept.pairs} == {"1_1", "2_1"}


def test_nothing_is_unjudged(tmp_path: Path) -> None:
    result = plan(tmp_path, {"a": {"1_1": ["j"]}, "b": {"1_1": ["j"]}}, {"1_1": {"j": 1}}, [("a", "b")], ["P_1"])
    assert result.pairs == []
    assert len(result.topics) == 0


def test_grades_given_so_far(tmp_path: Path) -> None:
    result = with_grades(plan(tmp_path, RUNS, QRELS, [("base", "set")], ["P_3"]), {("1_1", "x"): 0, ("9_9", "x"): 4})
    assert result.worklist["grade"].dropna().tolist() == [0]
    assert result.topics.set_index("topic")["judged"].to_dict() == {"1": 1, "2": 0}


def test_runs_of_another_collection(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a: none of its turns is in the qrels: its turn ids look like '7'"):
        plan(tmp_path, {"a": {"7": ["x"]}}, QRELS, [], ["P_1"])


def test_the_holes_of_cast_2020(shared_data: Path) -> None:
    """238, 36 and 17 unjudged passages in the top 3 of the three runs, many of them shared."""
    folder = shared_data / "cast2020"
    qrels, policy = read_qrels(folder / "qrels.txt.gz"), EvaluationPolicy(relevance_level=2)
    measures = [parse_measure("nDCG@3")]
    systems = {
        name: judged_run(rank_run(read_run(folder / "runs" / f"bert_{name}.trec.gz", name), policy), qrels, 0, 3)
        for name in ("raw", "auto", "manual")
    }
    turns = turns_of(systems, folder, qrels, policy)
    result = judging_worklist(systems, [("manual", "raw"), ("manual", "auto")], measures, policy, 3, 4, turns)
    assert len(result.pairs) == len(set(result.pairs)) == 273
    found = result.worklist["found_by"].str.split(", ").explode().value_counts()
    assert found.to_dict() == {"raw": 238, "auto": 36, "manual": 17}
    # one passage can move two differences by no more than one turn's range each
    assert 0 < result.worklist["influence"].max() <= 2 / 208
    assert np.isclose(result.topics["influence"].sum(), result.worklist["influence"].sum())
