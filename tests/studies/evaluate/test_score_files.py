"""Measures of files of scores: which are used, which are skipped, and which are told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from robustcs.cli.main import run
from tests.case_files import case


def evaluated(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert run(["evaluate", "--config", "/dev/null", *arguments, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)  # type: ignore[no-any-return]


def means(found: dict[str, Any]) -> dict[str, float]:
    return {row["metric"]: row["value"] for row in found["tables"]["measures"]}


def test_output_with_all_measures_of_trec_eval(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = case("all-trec", tmp_path) / "a.eval"
    found = evaluated(capsys, "--scores", f"a={path}")
    assert means(found) == pytest.approx({"ndcg_cut_10": 0.31, "recip_rank": 0.5, "map": 0.25})
    assert list(means(found)) == ["ndcg_cut_10", "recip_rank", "map"]
    (note,) = [note for note in found["notes"] if "relstring" in note]
    assert note == f"relstring, runid of {path} skipped, because their values are text"
    assert "measures not used: num_ret; choose with --metric" in found["notes"]
    assert means(
        evaluated(capsys, "--scores", f"a={path}", "--metric", "ndcg_cut_10")
    ) == pytest.approx({"ndcg_cut_10": 0.31})


def test_a_broken_value_of_another_measure_does_not_matter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = case("all-trec", tmp_path) / "a.eval"
    path.write_text(
        path.read_text().replace("map                   \t101\t0.2500", "map\t101\tquarter")
    )
    assert means(
        evaluated(capsys, "--scores", f"a={path}", "--metric", "ndcg_cut_10")
    ) == pytest.approx({"ndcg_cut_10": 0.31})
    assert (
        run(["evaluate", "--config", "/dev/null", "--scores", f"a={path}", "--metric", "map"]) == 3
    )
    assert "a.eval:2: map of turn 101: 'quarter' is not a number" in capsys.readouterr().err


def test_a_measure_that_the_file_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = case("all-trec", tmp_path) / "a.eval"
    assert (
        run(["evaluate", "--config", "/dev/null", "--scores", f"a={path}", "--metric", "P_5"]) == 2
    )
    assert (
        f"{path} has no P_5; it has num_ret, map, ndcg_cut_10, recip_rank"
        in capsys.readouterr().err
    )


def test_of_very_many_measures_a_few_are_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [
        "map",
        "P_1",
        "P_5",
        *(f"ndcg_cut_{k}" for k in (3, 5, 10)),
        *(f"recall_{k}" for k in (5, 10, 100)),
        "num_ret",
    ]
    (tmp_path / "a.eval").write_text(
        "".join(f"{name}\t{turn}\t0.5\n" for turn in ("1_1", "1_2") for name in names)
    )
    found = evaluated(capsys, "--scores", f"a={tmp_path / 'a.eval'}")
    assert list(means(found)) == ["ndcg_cut_3", "ndcg_cut_10", "map"]
    left = "P_1, P_5, ndcg_cut_5, recall_5, recall_10, recall_100, num_ret"
    assert (
        f"measures not used: map, {left}; choose with --metric".replace("map, ", "")
        in found["notes"]
    )


def test_columns_without_scores_are_no_measures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = (
        "turn\tyear\tlevel\tfaithfulness\tcorrect\n1_1\t1999\t0\t0.5\t1\n1_2\t2001\t1\t0.25\t0\n"
    )
    (tmp_path / "a.tsv").write_text(table)
    assert means(evaluated(capsys, "--scores", f"a={tmp_path / 'a.tsv'}")) == {
        "faithfulness": 0.375,
        "correct": 0.5,
    }
