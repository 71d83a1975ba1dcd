"""The published figures, by the exact command lines that a researcher would type, on the public data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from robustcs.cli.main import run
from tests.published import REAL_RUNS, TABLE_1

QRQA = [
    "breakdown",
    "--scores", "original=original_query_metrics.txt",
    "--scores", "qr=Transformer_Plus_Plus_Q_query_metrics.txt",
    "--scores", "human=human_query_metrics.txt",
    "--rewrites", "original=Human.tsv:original", "--rewrites", "human=Human.tsv",
    "--metric", "P_1", "--metric", "ndcg_cut_3",
]  # fmt: skip


def answer(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert run([*arguments, "--format", "json"]) == 0
    return json.loads(capfd.readouterr().out)


def rows(result: dict[str, Any], table: str, cut: tuple[str, str]) -> list[dict[str, Any]]:
    return [row for row in result["tables"][table] if (row["metric"], row["threshold"]) == cut]


def test_table_1(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(shared_data / "cast2019" / "qrqa")
    result = answer(QRQA, capfd)
    for cut, counts in TABLE_1.items():
        bins = rows(result, "bins", cut)
        assert [row["count"] for row in bins] == counts
        assert sum(row["unchanged"] for row in bins) == 53
    assert result["policy"]["turns"] == 173


def test_shares_that_the_original_answers_alone(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(shared_data / "cast2019" / "qrqa")
    result = answer(QRQA, capfd)
    # 0.345 where the paper, rounding from slightly different brackets, prints 0.34
    expected = {"P_1": [(0.45, 0.20)], "ndcg_cut_3": [(0.55, 0.345), (0.38, 0.13), (0.21, 0.0)]}
    cuts = {"P_1": ["=1"], "ndcg_cut_3": [">0", ">=0.5", "=1"]}
    for metric, shares in expected.items():
        for threshold, (all_turns, rewritten) in zip(cuts[metric], shares, strict=True):
            found = {
                row["turns"]: row["share"]
                for row in rows(result, "answerable", (metric, threshold))
            }
            assert found["all"] == pytest.approx(all_turns, abs=0.006)
            assert found["rewritten"] == pytest.approx(rewritten, abs=0.006)


def test_the_table_as_printed(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(shared_data / "cast2019" / "qrqa")
    assert run([*QRQA, "--table", "bins"]) == 0
    lines = [line.split() for line in capfd.readouterr().out.splitlines()]
    printed = [line for line in lines if line[:1] and line[0] in ("×", "✓")]
    counts = [[int(cell) for cell in line[3:] if not cell.startswith("(")] for line in printed]
    assert counts == [list(row) for row in zip(*TABLE_1.values(), strict=True)]


def test_runs_and_qrels(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(shared_data / "cast2019")
    command = [
        "breakdown", "--qrels", "qrels.txt.gz", "--original", "runs/bert_base_raw.trec.gz", "--qr",
        "runs/bert_base_cv.trec.gz", "--human", "runs/bert_base_oracle.trec.gz", "--relevance-level", "2",
    ]  # fmt: skip
    result = answer(command, capfd)
    for cut, counts in REAL_RUNS.items():
        assert [row["count"] for row in rows(result, "bins", cut)] == counts
    assert result["notes"] == ["306 turns of the runs have no judgments and are excluded"]
    assert all(row["unchanged"] is None for row in result["tables"]["bins"])
    level_1 = answer(command[:-2], capfd)
    assert rows(level_1, "bins", ("ndcg_cut_3", ">0")) == rows(result, "bins", ("ndcg_cut_3", ">0"))
    assert rows(level_1, "bins", ("P_1", "=1")) != rows(result, "bins", ("P_1", "=1"))


def test_texts_of_the_rewriters_jsonl(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(shared_data / "cast2019")
    texts = [f"--rewrites={role}=runs/rewrites_cv.jsonl" for role in ("original", "qr", "human")]
    result = answer(
        ["breakdown", "--qrels", "qrels.txt.gz", "--original", "runs/bert_base_raw.trec.gz", "--qr",
         "runs/bert_base_cv.trec.gz", "--human", "runs/bert_base_oracle.trec.gz", *texts], capfd
    )  # fmt: skip
    turns = {row["turn"]: row for row in result["tables"]["turns"]}
    assert turns["31_2"]["original_text"] == "Is it treatable?"
    assert turns["31_2"]["human_text"] == "Is throat cancer treatable?"
    # the rewriter leaves out the first turn of every conversation
    assert {turn for turn, row in turns.items() if row["qr_text"] is None} == {
        t for t in turns if t.endswith("_1")
    }


def test_the_sweep_has_the_published_counts(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(shared_data / "cast2019" / "qrqa")
    result = answer(["sweep", *QRQA[1:7], "--metric", "ndcg_cut_3"], capfd)
    for point, threshold in ((0.0, ">0"), (0.5, ">=0.5"), (1.0, "=1")):
        counts = [row["count"] for row in result["tables"]["bins"] if row["threshold"] == point]
        assert counts == TABLE_1["ndcg_cut_3", threshold]


def test_a_judged_turn_that_the_runs_lack(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(shared_data / "cast2020")
    result = answer(
        ["check", "--qrels", "qrels.txt.gz", "--original", "runs/bert_raw.trec.gz", "--qr", "runs/bert_auto.trec.gz",
         "--human", "runs/bert_manual.trec.gz", "--rewrites", "human=rewrites/Human.tsv"], capfd
    )  # fmt: skip
    assert result["policy"]["missing_turns"] == 1
    assert (
        "Original (1 turn: 105_9), QR (1 turn: 105_9), Human (1 turn: 105_9): missing turns"
        in result["notes"]
    )
    runs = {row["system"]: row for row in result["tables"]["runs"]}
    assert {(row["turns"], row["missing"], row["extra"]) for row in runs.values()} == {(207, 1, 8)}
    unjudged = {name: (1 - row["judged_3"]) * 3 * row["turns"] for name, row in runs.items()}
    assert unjudged == {
        "original": pytest.approx(238),
        "qr": pytest.approx(36),
        "human": pytest.approx(17),
    }
