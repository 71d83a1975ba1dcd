"""From grades to judgments, pools and scores."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.errors import UsageError
from robustcs.evaluation.judgments import qrels_text
from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.ranking import Ranking, rank_run
from robustcs.inputs.mixed_initiative import (
    Bank,
    Mapped,
    SystemUtterance,
    map_to_bank,
    read_bank,
    read_mixed_initiative,
)
from robustcs.inputs.qrels import Qrels, read_qrels
from robustcs.inputs.ratings import GoldCheck, Grade, read_grades
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.studies.crowd.analysis import (
    Crowd,
    GradesPart,
    aggregate,
    as_qrels,
    build_pool,
    crowd,
    exclude_workers,
    final_grade,
    judgments_of,
    only_turns,
    qrels_by_criterion,
    turn_sets,
    with_combined,
)

POLICY = EvaluationPolicy(relevance_level=2)
MEASURES = [parse_measure(name) for name in ("P_1", "ndcg_cut_3")]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=12))
def test_the_final_grade_is_the_mode_else_the_mean_rounded_half_up(grades: list[int]) -> None:
    found, rule = final_grade(grades)
    most = [
        grade for grade, count in Counter(grades).items() if count == max(Counter(grades).values())
    ]
    if len(most) == 1:
        assert (found, rule) == (most[0], "mode")
    else:
        assert (found, rule) == (math.floor(float(np.mean(grades)) + 0.5), "mean")


@pytest.mark.parametrize(
    ("grades", "expected"),
    [
        ([0, 1], (1, "mean")),
        ([1, 2], (2, "mean")),
        ([0, 0, 1, 1, 3], (1, "mean")),
        ([3], (3, "mode")),
    ],
)
def test_halves_go_up(grades: list[int], expected: tuple[int, str]) -> None:
    assert final_grade(grades) == expected


GRADES = [
    Grade("132_1-1", "Q1", "a", "relevance", 2), Grade("132_2-3", "Q2", "a", "novelty", 1),
    Grade("133_1-1", "Q1", "a", "relevance", 3), Grade("132_1-1", "Q1", "b", "relevance", 1),
]  # fmt: skip


def test_a_worker_who_fails_a_check_loses_the_topic_and_only_that() -> None:
    kept, exclusions, unseen = exclude_workers(
        GRADES,
        [GoldCheck("132_1-1", "Q1", "relevance", 0), GoldCheck("9_1", "Q1", "relevance", 0)],
        1,
    )
    assert kept == GRADES[2:] and unseen == 1
    (one,) = exclusions
    assert one == (
        "132", "a", 1, 1, 2, "132_1-1 Q1 relevance: grade 2, gold check 0 (tolerance 1)",
    )  # fmt: skip
    assert exclude_workers(GRADES, [GoldCheck("132_1-1", "Q1", "relevance", 0)], 2)[0] == GRADES
    kept, exclusions, unseen = exclude_workers(GRADES, [], 0)
    assert (kept, list(exclusions), unseen) == (GRADES, [], 0)


def test_a_check_needs_a_criterion_where_there_are_several() -> None:
    with pytest.raises(
        UsageError,
        match="a gold check names no criterion, but the grades have several: relevance, novelty",
    ):
        exclude_workers(GRADES, [GoldCheck("132_1-1", "Q1", "", 0)], 1)
    same = [grade for grade in GRADES if grade.criterion == "relevance"]
    assert [
        one.worker for one in exclude_workers(same, [GoldCheck("132_1-1", "Q1", "", 0)], 1)[1]
    ] == ["a"]


def test_judgments_by_criterion_and_turn_set() -> None:
    final = aggregate(
        [
            Grade("1_10", "Q2", "a", "r", 1),
            Grade("1_9", "Q2", "a", "r", 0),
            Grade("1_9", "Q10", "b", "r", 2),
        ]
    )
    assert [one[1:5] for one in final] == [
        ("1_9", "Q2", 1, 0),
        ("1_9", "Q10", 1, 2),
        ("1_10", "Q2", 1, 1),
    ]
    qrels = qrels_by_criterion(final)["r"]
    sets = turn_sets(qrels, 2, {"1_10", "7_7"})
    assert {name: some.turns for name, some in sets.items()} == {
        "all": ("1_9", "1_10"), "filtered": ("1_9",), "subset": ("1_10",),
    }  # fmt: skip
    assert only_turns(qrels, {"7_7"}) is None


def pairs(qrels: Qrels) -> dict[tuple[str, str], int]:
    lines = [line.split() for line in qrels_text(qrels).splitlines()]
    return {(turn, item): int(grade) for turn, _, item, grade in lines}


def test_all_criteria_together_are_the_lowest_grade() -> None:
    relevance = as_qrels("relevance", [("1_1", "a", 3), ("1_1", "b", 2), ("1_2", "a", 0)])
    novelty = as_qrels("novelty", [("1_2", "a", 3), ("1_1", "a", 1), ("1_1", "c", 3)])
    found, notes = with_combined({"relevance": relevance, "novelty": novelty})
    assert list(found) == ["relevance", "novelty", "combined"]
    assert pairs(found["combined"]) == {("1_1", "a"): 1, ("1_2", "a"): 0}
    assert notes == ["combined: excludes 2 items without a grade for every criterion"]
    assert with_combined({"relevance": relevance}) == ({"relevance": relevance}, [])
    elsewhere = as_qrels("responses", [("1_1", "R1", 3)])
    assert list(with_combined({"relevance": relevance, "responses": elsewhere})[0]) == [
        "relevance",
        "responses",
    ]


def test_published_judgments_agree_with_the_qrels_pair_by_pair(shared_data: Path) -> None:
    folder = shared_data / "cast2022-regin"
    found = qrels_by_criterion(aggregate(read_grades(folder / "question_judgments.json.gz")[0]))
    for criterion, name in (
        ("relevance", "relevance_all"),
        ("novelty", "novelty"),
        ("diversity", "diversity"),
    ):
        assert pairs(found[criterion]) == pairs(read_qrels(folder / f"question_{name}.qrel"))
    every = read_qrels(folder / "question_relevance_all.qrel")
    subset = read_qrels(folder / "question_relevance_mi_subset.qrel")
    sets = turn_sets(every, 2, set(subset.turns))
    assert [len(sets[name].turns) for name in ("all", "filtered", "subset")] == [205, 194, 24]
    assert pairs(sets["filtered"]) == pairs(read_qrels(folder / "question_relevance_filtered.qrel"))
    assert pairs(sets["subset"]) == pairs(subset)


def published_runs(folder: Path) -> list[Mapped]:
    bank = Bank(read_bank(folder / "question_bank.json"))
    names = {"bm25": "bm25_baseline_mi_run.json.gz", "gpt": "GPT-3_raw_run.json"}
    return [
        map_to_bank(read_mixed_initiative(folder / file), bank, name)
        for name, file in names.items()
    ]


def test_published_runs_at_level_2_over_all_turns(shared_data: Path) -> None:
    folder = shared_data / "cast2022-regin"
    mapped = published_runs(folder)
    rankings = [rank_run(one.run, POLICY) for one in mapped]
    judgments = judgments_of(
        {"relevance": read_qrels(folder / "question_relevance_all.qrel")}, 2, None
    )
    result = crowd(judgments, rankings, MEASURES, Evaluated(POLICY, "runs", 205, 56), mapped=mapped)
    rows = result.measures[result.measures["turn_set"] == "all"]
    assert [(row.system, row.metric, round(row.value, 4), row.turns, row.answered) for row in rows.itertuples()] == [
        ("bm25", "P_1", 0.3268, 205, 205), ("bm25", "ndcg_cut_3", 0.2425, 205, 205),
        ("gpt", "P_1", 0.4098, 205, 149), ("gpt", "ndcg_cut_3", 0.2456, 205, 149),
    ]  # fmt: skip
    assert (rows["ci_low"] < rows["value"]).all() and (rows["value"] < rows["ci_high"]).all()
    # branches of a tree are one topic: 132_1-3 and 132_2-11 count together
    assert (result.evaluated.unit, result.evaluated.units) == ("topic", 18) and set(
        rows["units"]
    ) == {18}
    # what both runs put first was judged, a question that is not in the bank among it
    pool = build_pool(rankings, 1, {})
    official = {
        tuple(line.split()[::2][:2])
        for line in (folder / "question_pool_depth_1.pool").read_text().splitlines()
    }
    found = {row[:2] for row in pool}
    assert len(found) == len(pool) == 354 and found < official and ("142_5-7", "Q2173") in found
    assert [asked.turn for asked in mapped[0].unmapped].count("142_5-7") == 1


def ranking(name: str, *asked: tuple[str, str, float]) -> Ranking:
    return rank_run(map_to_bank([SystemUtterance(*one) for one in asked], None, name).run, POLICY)


A = ranking("a", ("1_10", "Q1", 1), ("1_2", "Q1", 1), ("1_2", "Q2", 2))
B = ranking("b", ("1_2", "Q2", 1), ("1_2", "Q3", 0.5))


def test_the_pool_is_the_top_of_every_run() -> None:
    assert build_pool([A, B], 1, {"Q2": "Why?"}) == [
        ("1_2", "Q2", 2, 1, "Why?"),
        ("1_10", "Q1", 1, 1, ""),
    ]
    assert Crowd.pool.frame(build_pool([A, B], 2, {}))[["turn", "item", "best_rank"]].values.tolist() == [
        ["1_2", "Q1", 2], ["1_2", "Q2", 1], ["1_2", "Q3", 2], ["1_10", "Q1", 1],
    ]  # fmt: skip
    with pytest.raises(UsageError, match="a pool needs runs"):
        build_pool([], 1, {})


@pytest.mark.parametrize(
    ("missing", "value", "turns"), [("zero", 0.5, 2), ("drop", 1, 1), ("own", 1, 1)]
)
def test_turns_that_a_run_lacks(missing: str, value: float, turns: int) -> None:
    policy = EvaluationPolicy(relevance_level=2, missing=missing)  # type: ignore[arg-type]
    judgments = judgments_of({"r": as_qrels("r", [("1_2", "Q2", 2), ("1_10", "Q1", 3)])}, 2, None)
    rows = crowd(judgments, [A, B], MEASURES[:1], Evaluated(policy, "runs", 2, 1)).measures
    own = rows[(rows["system"] == "b") & (rows["turn_set"] == "all")].iloc[0]
    assert (own["value"], own["turns"], own["answered"]) == (value, turns, 1)
    other = rows[(rows["system"] == "a") & (rows["turn_set"] == "all")].iloc[0]
    assert other["turns"] == (1 if missing == "drop" else 2)


def test_agreement_before_and_after() -> None:
    grades = [Grade("1_1", f"Q{item}", worker, "r", grade) for item in range(4)
              for worker, grade in (("a", item % 2), ("b", item % 2), ("c", 3))]  # fmt: skip
    kept, exclusions, _ = exclude_workers(grades, [GoldCheck("1_1", "Q0", "r", 0)], 1)
    part = GradesPart(grades, kept, exclusions, aggregate(kept), True)
    table = crowd({}, [], [], Evaluated(POLICY, "texts", 1, 0), part).agreement.set_index("stage")
    assert table["raters"].to_dict() == {"before": 3, "after": 2}
    assert (
        table.loc["before", "agreement"] == pytest.approx(1 / 3)
        and table.loc["after", "kappa"] == 1
    )
    unchecked = GradesPart(grades, grades, [], aggregate(grades), False)
    assert crowd({}, [], [], Evaluated(POLICY, "texts", 1, 0), unchecked).agreement[
        "stage"
    ].tolist() == ["before"]


def test_tables_have_the_columns_that_they_declare() -> None:
    judgments = judgments_of({"r": as_qrels("r", [("1_2", "Q2", 2), ("1_10", "Q1", 3)])}, 2, None)
    result = crowd(judgments, [A, B], MEASURES, Evaluated(POLICY, "runs", 2, 1))
    assert list(result.tables) == [
        "qrels", "measures", "agreement", "exclusions", "distribution", "grades", "unmapped", "pool",
    ]  # fmt: skip
    for name, frame in result.tables.items():
        with pytest.raises(TypeError, match=f"table {name} has columns"):
            result.changed(**{name: frame.assign(more=1)})
    with pytest.raises(TypeError, match="column answered is"):
        result.changed(measures=result.measures.assign(answered=0.5))


def test_turn_sets_of_fewer_than_five_conversations_have_no_interval() -> None:
    rows = [(f"{c}_{t}", "Q1", (c + t) % 4) for c in range(1, 7) for t in range(1, 4)]
    run = ranking("a", *((turn, item, 1) for turn, item, _ in rows))
    judgments = judgments_of(
        {"r": as_qrels("r", rows)}, 2, {f"{c}_{t}" for c in range(1, 4) for t in range(1, 4)}
    )
    result = crowd(judgments, [run], MEASURES, Evaluated(POLICY, "runs", 18, 0))
    found = result.measures.set_index(["turn_set", "metric"])
    assert found.loc[("all", "P_1"), "units"] == 6 and not math.isnan(
        found.loc[("all", "P_1"), "ci_low"]
    )
    assert math.isnan(found.loc[("subset", "P_1"), "ci_low"])
    assert (
        found.loc[("subset", "P_1"), "note"]
        == "no interval: only 3 conversations (at least 5 required)"
    )
    turned = judgments_of(
        {"r": as_qrels("r", rows[::-1])}, 2, {f"{c}_{t}" for c in range(1, 4) for t in range(1, 4)}
    )
    again = crowd(turned, [run], MEASURES, Evaluated(POLICY, "runs", 18, 0))
    assert again.measures.equals(result.measures)
    by_turn = crowd(
        judgments, [run], MEASURES, Evaluated(replace(POLICY, unit="turn"), "runs", 18, 0)
    ).measures
    assert by_turn.set_index(["turn_set", "metric"]).loc[("subset", "P_1"), "units"] == 9


def test_kappa_of_workers_has_an_interval_by_conversation() -> None:
    random = np.random.default_rng(0)
    grades = [
        Grade(f"{c}_1", f"Q{i}", f"w{w}", "r", int(np.clip(i % 4 + random.integers(-1, 2), 0, 3)))
        for c in range(1, 9) for i in range(5) for w in range(3)
    ]  # fmt: skip
    part = GradesPart(grades, grades, [], aggregate(grades), False)
    (row,) = crowd({}, [], [], Evaluated(POLICY, "texts", 8, 0), part).agreement.itertuples()
    assert (
        row.units == 8
        and row.ci_low < row.kappa < row.ci_high
        and row.note == "unstable: only 8 turns"
    )
    turned = GradesPart(grades[::-1], grades[::-1], [], aggregate(grades[::-1]), False)
    assert (
        crowd({}, [], [], Evaluated(POLICY, "texts", 8, 0), turned)
        .agreement.itertuples()
        .__next__()
        == row
    )
