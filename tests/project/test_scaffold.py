"""A first robustcs.toml from the files of a folder."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from robustcs.cli.main import run
from robustcs.project.reading import read_project
from robustcs.project.scaffold import find_inputs, find_texts, role_of, write_config


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("bert_base_raw.trec.gz", "original"),
        ("runs/Original.tsv", "original"),
        ("original_query_metrics.txt", "original"),
        ("bert_base_oracle.trec.gz", "human"),
        ("Human.tsv", "human"),
        ("bm25_manual.run", "human"),
        ("Transformer_Plus_Plus_Q.tsv", "qr"),
        ("bm25-T5.run", "qr"),
        ("rewrites_cv.jsonl", "qr"),
        ("manual_1.trec", None),
        ("raw_12.trec", None),
        ("bm25.trec", None),
        ("drawings.trec", None),
    ],
)
def test_roles_are_told_by_whole_words_of_the_name(path: str, role: str | None) -> None:
    assert role_of(path) == role


def test_what_is_found_in_the_demo_collection(demo: Path) -> None:
    found = find_inputs(demo)
    assert len(found["run"]) == 12 and {path.partition("/")[0] for path in found["unrelated"]} == {"clariq"}
    assert [path for path in found["qrels"] if "/" not in path] == ["grades.txt", "new_judgments.txt", "qrels.txt"]
    assert [path for path in found["texts"] if "/" not in path] == ["topics.json"]
    assert found["answers"] == ["answers/gold.json", "answers/human.json", "answers/original.json", "answers/qr.json"]
    assert (found["paraphrases"], found["collection"]) == (["paraphrases.csv"], ["collection.jsonl"])
    other = tomllib.loads(write_config(found, "x"))
    assert other["clariq"] == {"topics": "clariq/topics.tsv"}
    assert other["agreement"] == {
        "snippets": ["annotations/workers.jsonl"], "reference": ["annotations/experts.jsonl"],
        "ratings": ["annotations/ratings.csv"],
    }  # fmt: skip
    assert other["crowd"] == {"grades": "crowd/grades.csv"}


def test_a_project_in_a_subfolder_is_left_out(tmp_path: Path) -> None:
    for name in ("qrels.txt", "sub/qrels.txt", "sub/deep/qrels.txt", "sub/robustcs.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text("1_1 0 d1 2\n1_2 0 d1 1\n")
    assert find_inputs(tmp_path) == {"qrels": ["qrels.txt"]}


def test_runs_of_another_collection_are_set_aside(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "qrels.txt").write_text("1_1 0 d1 2\n1_2 0 d1 1\n")
    (tmp_path / "bm25.trec").write_text("1_2 Q0 d1 1 9 t\n1_2 Q0 d2 2 8 t\n")
    (tmp_path / "other" / "bm25.trec").write_text("F7 Q0 d1 1 9 t\nF7 Q0 d2 2 8 t\n")
    found = find_inputs(tmp_path)
    assert found == {"qrels": ["qrels.txt"], "run": ["bm25.trec"], "unrelated": ["other/bm25.trec"]}
    text = write_config(found, "x")
    assert tomllib.loads(text)["runs"] == {"bm25": "bm25.trec"}
    assert "# left out, since the qrels judge none of its turns: other/bm25.trec\n" in text


def annotations(unit: str) -> str:
    texts = [{"turn": "1_1", "passage": "d1", "worker": worker, "text": "some words", "unit": unit, "snippets": [[0, 4]]}
             for worker in ("ada", "ben")]  # fmt: skip
    return "".join(json.dumps(text) + "\n" for text in texts)


def test_annotations_of_sentences_are_another_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text(annotations("sentence"))
    assert find_inputs(tmp_path) == {"snippets": ["a.jsonl"]}
    Path("b.jsonl").write_text(annotations("paragraph"))
    Path("b_experts.jsonl").write_text(annotations("paragraph"))
    Path("c_experts.csv").write_text(
        "Input.turn_id,Input.sentence_id,Input.sentence,WorkerId,Answer.taskAnswers\n"
        '1_1,s1,some words,w,"[{""t"": {""entities"": [{""startOffset"": 0, ""endOffset"": 4}]}}]"\n'
    )
    assert run(["init"]) == 0
    text = Path("robustcs.toml").read_text()
    assert tomllib.loads(text)["agreement"] == {"snippets": ["b.jsonl"], "reference": ["b_experts.jsonl"]}
    for path in ("a.jsonl", "c_experts.csv"):
        assert f"# left out, since it annotates sentences, another task: {path}\n" in text
    assert run(["agreement", "--format", "json"]) == 0, capfd.readouterr().err


def test_hidden_files_and_the_config_are_left_out(tmp_path: Path) -> None:
    for name in ("qrels.txt", ".hidden.txt", "robustcs.toml", ".git/qrels.txt", "sub/qrels.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1_1 0 d1 2\n1_2 0 d1 1\n")
    assert find_inputs(tmp_path) == {"qrels": ["qrels.txt", "sub/qrels.txt"]}


def test_every_config_is_read_back(tmp_path: Path) -> None:
    found = {
        "run": ['odd "name" raw.trec', "a/bm25.trec", "b/bm25.trec", "t5.trec", "human.trec"],
        "qrels": ["judged.txt"],
        "texts": ["Human.tsv", "topics.json"],
    }
    chosen = {"original": "topics.json:raw", "qr": "topics.json:automatic", "human": "Human.tsv"}
    (tmp_path / "robustcs.toml").write_text(write_config(found, 'My "project"', chosen))  # type: ignore[arg-type]
    project = read_project(tmp_path / "robustcs.toml")
    assert project.name == 'My "project"'
    assert project.systems == {
        "original": tmp_path / 'odd "name" raw.trec', "qr": tmp_path / "t5.trec", "human": tmp_path / "human.trec",
        "a/bm25.trec": tmp_path / "a/bm25.trec", "b/bm25.trec": tmp_path / "b/bm25.trec",
    }  # fmt: skip
    texts = {key: [(text.path.name, text.column) for text in part.rewrites] for key, part in project.formulations.items()}
    assert texts == {"original": [("topics.json", "raw")], "qr": [("topics.json", "automatic")], "human": [("Human.tsv", None)]}


def test_per_turn_scores_where_there_are_no_runs() -> None:
    config = tomllib.loads(write_config({"scores": ["original.eval", "qr.eval", "human.eval"]}, "x"))
    assert config["formulations"] == {role: {"scores": f"{role}.eval"} for role in ("original", "qr", "human")}
    assert "qrels" not in config


def test_a_role_without_a_file_is_said(tmp_path: Path) -> None:
    text = write_config({"run": ["raw.trec"], "qrels": ["qrels.txt"]}, "x")
    assert text.count("no file was recognised for this role") == 2
    tomllib.loads(text)


def test_texts_are_taken_only_where_they_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "topics.json").write_text('[{"number": 1, "turn": [{"number": 1, "raw_utterance": "Is it old?"}]}]')
    (tmp_path / "Human.tsv").write_text("id\tquery\toriginal\n1_1\tIs the bridge old?\tIs it old?\n")
    (tmp_path / "T5.tsv").write_text("id\tquery\n1_1\tIs the bridge old?\n")
    paths = ["Human.tsv", "T5.tsv", "topics.json"]
    assert find_texts(tmp_path, paths) == {"original": "topics.json:raw", "human": "Human.tsv", "qr": "T5.tsv"}
    assert find_texts(tmp_path, ["Human.tsv"]) == {"original": "Human.tsv:original", "human": "Human.tsv"}
    text = write_config({"texts": [*paths, "spare.tsv"]}, "x", find_texts(tmp_path, paths))
    assert "# spare.tsv\n" in text
    assert "# T5.tsv" not in text


def test_the_formulations_of_a_rewriters_file(tmp_path: Path) -> None:
    line = '{"topic_number": "1", "query_number": "2", "input": ["a", "b"], "target": "c", "output": "d"}'
    (tmp_path / "rewrites_cv.jsonl").write_text(line + "\n")
    expected = {
        role: f"rewrites_cv.jsonl:{column}" for role, column in (("original", "input"), ("qr", "output"), ("human", "target"))
    }
    assert find_texts(tmp_path, ["rewrites_cv.jsonl"]) == expected
