"""Turn cards and the table of all turns of projects without Human: whatever systems exist have scores."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from robustcs.documents.html import MOST_SYSTEMS, turn_table
from robustcs.project.reading import read_project
from robustcs.project.workspace import Workspace
from robustcs.reporting.turns import turn_cards


def cards(config: Path) -> dict[str, Any]:
    return turn_cards(Workspace(read_project(config)))


def written(folder: Path, config: str, runs: dict[str, str], qrels: str) -> Path:
    (folder / "qrels.txt").write_text(qrels)
    for name, text in runs.items():
        (folder / f"{name}.trec").write_text(text)
    (folder / "robustcs.toml").write_text(config)
    return folder / "robustcs.toml"


def run(*lines: tuple[str, str]) -> str:
    return "".join(
        f"{turn} Q0 {document} 1 {9 - rank} x\n" for rank, (turn, document) in enumerate(lines)
    )


ROLES = '[formulations.original]\nrun = "a.trec"\n[formulations.qr]\nrun = "b.trec"\n'


def test_without_human_every_system_has_its_scores(tmp_path: Path) -> None:
    """Original finds the passage of the first turn at rank 1, QR that of both at rank 2, the further run nothing."""
    runs = {
        "a": run(("1_1", "good"), ("1_2", "bad")),
        "b": run(("1_1", "bad"), ("1_1", "good"), ("1_2", "bad"), ("1_2", "fine")),
        "c": run(("1_1", "bad"), ("1_2", "bad"), ("1_3", "bad")),
    }
    config = written(
        tmp_path, f'qrels = "qrels.txt"\nmetrics = ["P_1", "recip_rank"]\n{ROLES}[runs]\nbm25 = "c.trec"\n', runs,
        "1_1 0 good 1\n1_1 0 bad 0\n1_2 0 fine 1\n1_2 0 bad 0\n",
    )  # fmt: skip
    found = cards(config)
    assert (found["formulations"], found["systems"], found["cuts"]) == (
        ["Original", "QR"],
        ["Original", "QR", "bm25"],
        [],
    )
    assert (found["measures"], found["headline"]) == (["P@1", "MRR"], 1)
    by_turn = {turn["turn"]: turn["scores"] for turn in found["turns"]}
    assert by_turn["1_1"] == [[1.0, 0.0, 0.0], [1.0, 0.5, 0.0]]
    assert by_turn["1_2"] == [[0.0, 0.0, 0.0], [0.0, 0.5, 0.0]]
    assert by_turn.get("1_3", [[None] * 3] * 2) == [[None] * 3] * 2, (
        "without judgments there is no score"
    )
    table = turn_table(found)
    assert [(column.group, column.title) for column in table.columns[-3:]] == [
        ("MRR", "Original"),
        ("MRR", "QR"),
        ("MRR", "bm25"),
    ]
    rows = {row[0]: row[-3:] for row in table.rows}
    assert rows["1_1"] == ("1.00", "0.50", "0.00") and rows["1_2"] == ("0.00", "0.50", "0.00")
    assert "Bins" not in table.note


def test_the_table_of_turns_stays_narrow(tmp_path: Path) -> None:
    names = [f"s{number}" for number in range(MOST_SYSTEMS + 2)]
    listed = "".join(f'{name} = "{name}.trec"\n' for name in names)
    runs = {name: run(("1_1", "good")) for name in names}
    found = cards(
        written(tmp_path, f'qrels = "qrels.txt"\n[runs]\n{listed}', runs, "1_1 0 good 1\n")
    )
    assert found["systems"] == names and all(
        value == 1.0 for value in found["turns"][0]["scores"][0]
    )
    table = turn_table(found)
    assert len(table.columns) == 1 + MOST_SYSTEMS
    assert (
        f"The first {MOST_SYSTEMS} of {len(names)} systems; the card of a turn has all."
        in table.note
    )


def test_with_human_bins_and_formulations_are_shown_as_before(demo: Path) -> None:
    found = cards(demo / "robustcs.toml")
    assert (
        found["systems"] == found["formulations"] == ["Original", "QR", "Human"] and found["cuts"]
    )
    titles = [(column.group, column.title) for column in turn_table(found).columns]
    # two bins have no room for scores; one has
    assert [title for title in titles if title[0]] == [("NDCG@3 ≥ 0.5", "bin"), ("F1 ≥ 0.5", "bin")]
    alone = {
        **found,
        "cuts": [{**cut, "main": cut["main"] and "NDCG" in cut["name"]} for cut in found["cuts"]],
    }
    titles = [(column.group, column.title) for column in turn_table(alone).columns]
    assert ("NDCG@3 ≥ 0.5", "bin") in titles and ("NDCG@3 ≥ 0.5", "Human") in titles


@pytest.mark.parametrize("kind", ["bge"])
def test_mtrag_without_human(shared_data: Path, tmp_path: Path, kind: str) -> None:
    """Last turn, rewrite and whole conversation of MTRAG: each card has the nDCG@5 that its authors published."""
    published: dict[tuple[str, str], float] = {}
    roles = {"lastturn": "original", "rewrite": "qr", "questions": '"original:history"'}
    config = f'qrels = "{shared_data / "mtrag-answers" / "qrels_clapnq.tsv"}"\nmetrics = ["ndcg_cut_5"]\n'
    names = {"lastturn": "original", "rewrite": "qr", "questions": "history"}
    for part, role in roles.items():
        lines = []
        with gzip.open(shared_data / "mtrag-grid" / f"{kind}_{part}.jsonl.gz", "rt") as file:
            for task in map(json.loads, file):
                published[names[part], task["task_id"]] = task["retriever_scores"]["ndcg_cut_5"]
                found = task["contexts"]
                lines += [
                    f"{task['task_id']} Q0 {one['document_id']} 1 {one['score']} x\n"
                    for one in found
                ]
        (tmp_path / f"{part}.trec").write_text("".join(lines))
        config += f'[formulations.{role}]\nrun = "{part}.trec"\n'
        config += f'rewrites = "{shared_data / "formats" / "mtrag" / f"clapnq_{part}.jsonl"}"\n'
    (tmp_path / "robustcs.toml").write_text(config)
    found = cards(tmp_path / "robustcs.toml")
    places = [{"Original": "original", "QR": "qr"}.get(name, name) for name in found["systems"]]
    assert sorted(places) == ["history", "original", "qr"] and len(found["turns"]) >= 208
    scored = 0
    for turn in found["turns"]:
        judged = any(grade is not None for top in turn["top"] for _, grade in top)
        for name, value in zip(places, turn["scores"][0], strict=True):
            if (name, turn["turn"]) in published and value is not None:
                assert value == pytest.approx(published[name, turn["turn"]], abs=1e-4)
                scored += 1
            assert value is not None or not judged, "a turn with a graded passage is scored"
    assert scored == 3 * 208
    assert [column.title for column in turn_table(found).columns][-3:] == found["systems"]


def test_systems_to_review_have_something_to_read(tmp_path: Path) -> None:
    """Original has texts only, so it is reviewed only if nothing else is there; answers are shown with the gold ones."""
    (tmp_path / "turns.tsv").write_text("1_1\tWhat?\n1_2\tWhy?\n")
    (tmp_path / "a.json").write_text('{"1_1": "this", "1_2": "that"}')
    (tmp_path / "gold.json").write_text('{"1_1": ["this"], "1_2": ["the other"]}')
    texts = '[formulations.original]\nrewrites = "turns.tsv"\n'
    config = tmp_path / "robustcs.toml"
    config.write_text(f'gold = "gold.json"\n{texts}[answers.responses]\nmine = "a.json"\n')
    found = cards(config)
    assert [(one["name"], one["response"]) for one in found["readable"]] == [("mine", 0)]
    assert [(turn["responses"], turn["gold"]) for turn in found["turns"]] == [
        (["this"], ["this"]),
        (["that"], ["the other"]),
    ]
    config.write_text(texts)
    assert [one["name"] for one in cards(config)["readable"]] == ["original"]
