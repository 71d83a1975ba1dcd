"""Tables about unjudged passages, on a case small enough to count by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from robustcs.evaluation.holes import (
    JudgedRun,
    grades_by_pair,
    judged_run,
    only_turns,
    passage_numbers,
)
from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.ranking import rank_run
from robustcs.inputs.qrels import Qrels, read_qrels
from robustcs.inputs.runs import read_run
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.studies.unjudged.analysis import Gaps, Settings, Unjudged, unjudged

EXPECTED = [
    "expected", "expected_low", "expected_high", "holes_low", "holes_high", "hole_share", "hole_share_low", "hole_share_high",
    "expected_p",
]  # fmt: skip
QRELS = "1_1 0 a 2\n1_1 0 b 0\n1_2 0 a 1\n1_2 0 c 0\n2_1 0 a 1\n"
FIRST = "1_1 Q0 a 1 9 t\n1_1 Q0 x 2 8 t\n1_1 Q0 y 3 7 t\n1_2 Q0 x 1 9 t\n1_2 Q0 c 2 8 t\n9_9 Q0 a 1 1 t\n"
SECOND = "1_1 Q0 x 1 9 t\n1_1 Q0 b 2 8 t\n1_2 Q0 a 1 9 t\n2_1 Q0 a 1 9 t\n2_1 Q0 z 2 8 t\n"
NEW = "1_1 0 x 3\n1_2 0 x 0\n1_1 0 a 4\n"


def make(
    folder: Path, names: tuple[str, ...] = ("P_1", "ndcg_cut_3"), depth: int = 2, later: bool = True
) -> Unjudged:
    runs, qrels = judged(folder, depth)
    policy = EvaluationPolicy()
    (folder / "new").write_text(NEW)
    new = grades_by_pair(read_qrels(folder / "new")) if later else None
    settings = Settings(depth, "cutoff", 2, {"both": ("first", "second")})
    measures = [parse_measure(name) for name in names]
    return unjudged(
        Gaps(runs, qrels, measures, policy, settings, new), Evaluated(policy, "runs", 3, 1)
    )


def judged(
    folder: Path, depth: int, first: str = FIRST, second: str = SECOND, ranks: int | None = None
) -> tuple[list[JudgedRun], Qrels]:
    (folder / "qrels").write_text(QRELS)
    qrels = read_qrels(folder / "qrels")
    runs = []
    for name, text in (("first", first), ("second", second)):
        (folder / name).write_text(text)
        runs.append(
            judged_run(rank_run(read_run(folder / name), EvaluationPolicy()), qrels, depth, ranks)
        )
    return runs, qrels


def rows(frame: pd.DataFrame, *columns: str) -> list[tuple]:
    return [tuple(row) for row in frame[list(columns)].itertuples(index=False)]


def test_unjudged_means_not_judged_for_that_turn(tmp_path: Path) -> None:
    runs, _ = judged(tmp_path, 3)
    # x stands in two turns, y below x; the turn 9_9 that nobody judged is not looked at
    assert runs[0].holes == (("1_1", "x"), ("1_1", "y"), ("1_2", "x"))
    assert runs[1].holes == (("1_1", "x"), ("2_1", "z"))
    kept = only_turns(runs[0], runs[0].matrix.retrieved > 2)
    assert kept.holes == (("1_1", "x"), ("1_1", "y"))
    assert kept.matrix.turns == ("1_1",)
    assert kept.matrix.grades.shape[0] == kept.matrix.judged.shape[0] == 1


def test_rates_count_what_was_retrieved(tmp_path: Path) -> None:
    result = make(tmp_path)
    columns = (
        "system",
        "depth",
        "retrieved",
        "judged",
        "unjudged",
        "share",
        "judged_share",
        "short",
        "missing",
        "judged_later",
    )
    assert rows(result.rates, *columns) == [
        ("first", 2, 4, 2, 2, 0.5, 0.5, 0, 1, 2),
        ("second", 2, 5, 3, 2, 0.4, 0.6, 1, 0, 1),
    ]
    assert make(tmp_path, later=False).rates["judged_later"].isna().all()


def test_rates_by_rank(tmp_path: Path) -> None:
    result = make(tmp_path)
    assert rows(result.ranks, "system", "rank", "retrieved", "unjudged") == [
        ("first", 1, 2, 1), ("first", 2, 2, 1), ("first", 3, 1, 1), ("second", 1, 3, 1), ("second", 2, 2, 1),
    ]  # fmt: skip


def test_a_passage_found_twice_counts_once_for_its_turn(tmp_path: Path) -> None:
    result = make(tmp_path)
    assert rows(result.unique, "group", "runs", "unjudged", "unique", "share") == [
        ("both", 2, 3, 2, 2 / 3)
    ]


def test_later_grades_are_those_of_unjudged_passages(tmp_path: Path) -> None:
    grades = make(tmp_path).grades
    # the second opinion on a of 1_1 is none of them; grade 4 is on the scale all the same
    assert rows(grades[grades["system"] == "first"], "grade", "count", "share") == [
        (0, 1, 0.5), (1, 0, 0), (2, 0, 0), (3, 1, 0.5), (4, 0, 0),
    ]  # fmt: skip
    assert not len(make(tmp_path, later=False).grades)


def test_bounds_are_means_of_the_turns(tmp_path: Path) -> None:
    result = make(tmp_path, ("P_1", "Rprec"))
    assert rows(result.bounds, "system", "metric", "low", "score", "high", "condensed", "unjudged", "exact")[0] == (
        "first", "P_1", 1 / 3, 1 / 3, 2 / 3, 1 / 3, 1, True,
    )  # fmt: skip
    foreign = result.bounds[result.bounds["metric"] == "Rprec"]
    assert foreign[["low", "high", "unjudged"]].isna().all(axis=None)
    assert not foreign["exact"].any()
    assert foreign["score"].notna().all()
    assert set(result.pairs["metric"]) == {"P_1"}


def test_the_residual_of_rbp_includes_ranks_after_the_lists(tmp_path: Path) -> None:
    bounds = make(tmp_path, ("rbp", "P_1")).bounds.set_index(["metric", "system"])
    # the second run: its grades are at ranks 2 of 1_1, 1 of 1_2 and 1 of 2_1
    assert bounds["residual"]["rbp", "second"] == pytest.approx(1 - 0.2 * (0.8 + 1 + 1) / 3)
    assert np.isnan(bounds["residual"]["P_1", "second"])


def test_a_shared_passage_has_one_grade_in_both_runs(tmp_path: Path) -> None:
    """Success in the top 2: x of turn 1_1 is in both runs, x of 1_2 and z of 2_1 in one."""
    result = make(tmp_path, ("success_2", "P_1", "map"))
    assert rows(result.pairs, "metric", "first", "second", "exact") == [
        ("success_2", "first", "second", True), ("P_1", "first", "second", True), ("map", "first", "second", False),
    ]  # fmt: skip
    pairs = result.pairs.set_index("metric")
    # 1_1: the first has a, the second nothing but x; 1_2: x against a; 2_1: the first is missing
    assert pairs.loc["success_2", ["low", "difference", "high"]].tolist() == pytest.approx(
        [-2 / 3, -1 / 3, 0]
    )
    assert not pairs.loc["success_2", "separable"]


def test_what_both_runs_have_at_the_same_rank_does_not_keep_them_together(tmp_path: Path) -> None:
    """x adds the same to both, so a against b decides; on their own the second could have it alone."""
    runs, qrels = judged(
        tmp_path, 2, "1_1 Q0 a 1 9 t\n1_1 Q0 x 2 8 t\n", "1_1 Q0 b 1 9 t\n1_1 Q0 x 2 8 t\n"
    )
    measures = [parse_measure(name) for name in ("P_2", "ndcg_cut_2")]
    evaluated = Evaluated(EvaluationPolicy(), "runs", 3, 0)
    found = unjudged(
        Gaps(runs, qrels, measures, evaluated.policy, Settings(2, "cutoff", 2, {})), evaluated
    )
    low, high = (found.bounds.set_index(["metric", "system"])[end] for end in ("low", "high"))
    assert low["P_2", "first"] == high["P_2", "second"]
    assert rows(found.pairs, "metric", "separable") == [("P_2", True), ("ndcg_cut_2", True)]
    precision = found.pairs.iloc[0]
    assert (precision["low"], precision["high"]) == (
        precision["difference"],
        precision["difference"],
    )


def test_passages_are_numbered_by_turn(tmp_path: Path) -> None:
    runs, _ = judged(tmp_path, 1)
    first, second = passage_numbers(runs)
    # x and y of 1_1, x of 1_2 against x of 1_1, z of 2_1
    assert first[0] == second[0]
    assert len({*first.tolist(), *second.tolist()}) == 4
    assert max(first[:2]) < first[2] < second[1]
    assert [len(numbers) for numbers in passage_numbers(judged(tmp_path, 1, ranks=1)[0])] == [1, 1]
    # a run without any unjudged passage does not shift the others
    kept = only_turns(runs[1], np.array([False, True, False]))
    assert [
        len(numbers)
        for numbers in passage_numbers([kept, only_turns(runs[0], np.array([True, False, False]))])
    ] == [0, 2]
    assert [len(numbers) for numbers in passage_numbers([kept, kept])] == [0, 0]


def test_qrels_by_grade(tmp_path: Path) -> None:
    assert rows(make(tmp_path).qrels, "grade", "count", "share") == [
        (0, 2, 0.4),
        (1, 2, 0.4),
        (2, 1, 0.2),
    ]


def test_tables_hold_no_settings(tmp_path: Path) -> None:
    tables = make(tmp_path).tables
    assert list(tables)[0] == "rates"
    assert "settings" not in tables
    assert {"rates", "bounds", "unique", "grades", "qrels"} <= tables.keys()


def test_a_depth_below_the_cut_off_of_measures_is_counted_whole(tmp_path: Path) -> None:
    # ids are kept down to the depth of the shares, and to the cut-off of the measures, whichever is deeper
    for depth, ranks, holes, known in ((3, 1, 3, 3), (1, 3, 1, 3), (1, None, 1, 3)):
        runs, _ = judged(tmp_path, depth, ranks=ranks)
        assert (len(runs[0].holes), runs[0].ranks, len(runs[0].unjudged)) == (holes, known, 3)


def test_new_judgments_below_the_cut_off_are_counted(tmp_path: Path) -> None:
    runs, qrels = judged(tmp_path, 3, ranks=1)
    (tmp_path / "new").write_text("1_1 0 y 2\n")
    settings = Settings(3, "cutoff", 2, {"both": ("first", "second")})
    later = grades_by_pair(read_qrels(tmp_path / "new"))
    evaluated = Evaluated(EvaluationPolicy(), "runs", 3, 1)
    result = unjudged(
        Gaps(runs, qrels, [parse_measure("P_1")], evaluated.policy, settings, later), evaluated
    )
    assert rows(result.rates, "system", "unjudged", "judged_later") == [
        ("first", 3, 1),
        ("second", 2, 0),
    ]
    assert rows(result.grades, "system", "grade", "count") == [
        ("first", 0, 0), ("first", 1, 0), ("first", 2, 1), ("second", 0, 0), ("second", 1, 0), ("second", 2, 0),
    ]  # fmt: skip


def test_measures_without_bounds_have_no_pairs(tmp_path: Path) -> None:
    runs, qrels = judged(tmp_path, 1, ranks=0)
    settings = Settings(1, "cutoff", 2, {"both": ("first", "second")})
    evaluated = Evaluated(EvaluationPolicy(), "runs", 3, 1)
    measures = [parse_measure("infAP"), parse_measure("Rprec")]
    result = unjudged(Gaps(runs, qrels, measures, evaluated.policy, settings), evaluated)
    assert list(result.pairs) == [
        "metric",
        "first",
        "second",
        "difference",
        "low",
        "high",
        "separable",
        "exact",
        *EXPECTED,
    ]
    assert not len(result.pairs)
    assert rows(result.bounds, "metric", "system", "exact") == [
        ("infAP", "first", False), ("Rprec", "first", False), ("infAP", "second", False), ("Rprec", "second", False),
    ]  # fmt: skip
