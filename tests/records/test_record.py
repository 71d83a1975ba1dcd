"""``turns.jsonl``: what is written is what is read, to the depth that its size allows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_type_hints

import pytest

from robustcs.documents.page.pack import packed_turns
from robustcs.errors import InputError, OutputError
from robustcs.project.reading import read_project
from robustcs.project.turns import TurnInputs
from robustcs.project.workspace import Workspace
from robustcs.records.reading import read_turns
from robustcs.records.record import READ, TurnRecords
from robustcs.records.schema import SCHEMA, Head, SystemRecord, TurnRecord
from robustcs.studies.fields import turns_of
from tests.documents.figure_projects import write_project


@pytest.fixture(scope="module")
def turns(demo: Path) -> TurnRecords:
    return turns_of(TurnInputs(Workspace(read_project(demo / "robustcs.toml"))))


def test_what_is_written_is_read(turns: TurnRecords, tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl"
    depth = turns.write(path)
    file = read_turns(path)
    assert list(file.records) == list(turns.table.ids) and len(file.records) == 70
    for turn, record in file.records.items():
        assert record == turns.record(turn, None)
    assert depth == file.head["depth"] == turns.details.longest
    lines = path.read_text("utf-8").splitlines()
    assert any("Coruña" in line for line in lines)  # letters as themselves
    assert json.loads(lines[0]) == {**file.head, "schema": SCHEMA}
    assert len(lines) == 72 and list(json.loads(lines[71])) == ["passages"]


def test_the_first_line_says_what_it_rests_on(
    turns: TurnRecords, tmp_path: Path, demo: Path
) -> None:
    turns.write(tmp_path / "turns.jsonl")
    head = read_turns(tmp_path / "turns.jsonl").head
    assert head["headline"] == "ndcg_cut_3>=0.5"
    assert head["policy"]["relevance_level"] == 2
    roles = " ".join(one["role"] for one in head["inputs"])
    for role in (
        "qrels",
        "human",
        "qr texts",
        "collection",
        "gold answers",
        "qr answers",
        "review",
    ):
        assert role in roles
    assert all(len(one["sha256"]) == 64 for one in head["inputs"])
    assert head["judges"]["ndcg_cut_3"] == "" and head["judges"]["f1"] == "gold answers"


def test_texts_of_passages_that_are_read(turns: TurnRecords, tmp_path: Path) -> None:
    turns.write(tmp_path / "turns.jsonl")
    file = read_turns(tmp_path / "turns.jsonl")
    wanted = set()
    for record in file.records.values():
        for own in record["systems"].values():
            wanted.update(passage for passage, _ in own.get("ranking", [])[:READ])
            wanted.update(passage for passage, _ in own.get("given", []))
    assert set(file.passages) == wanted and all(file.passages.values())


def test_the_file_and_the_page_share_one_reading_of_passages(
    demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A collection may have millions of passages."""
    turns = turns_of(TurnInputs(Workspace(read_project(demo / "robustcs.toml"))))
    asked: list[int] = []
    read = turns.details.passage_texts
    monkeypatch.setattr(
        turns.details, "passage_texts", lambda wanted: asked.append(len(wanted)) or read(wanted)
    )
    packed = packed_turns(turns)
    before = len(asked)
    turns.contents(most=1)  # too small for any depth, so that all are tried
    assert any(packed["passage_texts"]) and len(asked) == before


def test_a_record_has_what_the_inputs_say(turns: TurnRecords) -> None:
    record = turns.record("1_5", 3)
    assert record["depth"] == 5 and len(record["history"]) == 4
    assert record["history"][0] == {"who": "user", "text": "What is a sourdough starter?"}
    assert list(record["texts"]) == ["original", "qr", "human"]
    assert record["gold"][0] == "between 65 and 80 percent"
    assert sum(record["judged"].values()) > 5
    own = record["systems"]["qr"]
    assert own["ranking"][1] == ("sourdough_09", 4) and len(own["ranking"]) == 3
    assert own["first_relevant"] == 2
    assert own["cause"]["ndcg_cut_3>=0.5"] == "rewriter"
    assert own["cause"]["f1>=0.5"] == "rewriter"
    assert own["place"]["ndcg_cut_3>=0.5"] == "top"
    assert own["outcome"] == "correct" and own["kind"] == "answerable"
    assert own["given"][1] == ("sourdough_09", 4) and own["answer"].startswith("To make a")
    assert "bread" in own["dropped"] and "feeds" in own["added"]
    assert "lost" not in own and "lost" in record["systems"]["original"]
    assert "cause" not in record["systems"]["human"]


def test_fields_on_request_are_in_complete_records(turns: TurnRecords) -> None:
    own = turns.record("1_5")["systems"]["qr"]
    listed = turns.record("1_5", complete=False)["systems"]["qr"]
    assert {"similarity", "overlap", "answer_similarity"} == own.keys() - listed.keys()


def test_further_thresholds(demo: Path) -> None:
    records = turns_of(TurnInputs(Workspace(read_project(demo / "robustcs.toml"))))
    known = list(records.cuts)
    records.add_cut(known[0])
    assert records.cuts == known
    assert ("ndcg_cut_3", ">=0.2") not in known
    records.add_cut(("ndcg_cut_3", ">=0.2"))
    own = records.record("1_5")["systems"]["qr"]
    assert len(records.cuts) == len(known) + 1
    assert own["cause"]["ndcg_cut_3>=0.2"] == "correct" != own["cause"]["ndcg_cut_3>=0.5"]


def test_ranks_below_100_go_first(tmp_path: Path) -> None:
    passages = [f"passage_{rank:03}" for rank in range(1, 121)]
    lines = [f"1_1 Q0 {one} {rank} {-rank} t\n" for rank, one in enumerate(passages, 1)]
    (tmp_path / "a.trec").write_text("".join(lines))
    (tmp_path / "qrels.txt").write_text("1_1 0 passage_110 1\n")
    (tmp_path / "robustcs.toml").write_text('qrels = "qrels.txt"\n[runs]\na = "a.trec"\n')
    records = turns_of(TurnInputs(Workspace(read_project(tmp_path / "robustcs.toml"))))
    path = tmp_path / "turns.jsonl"
    assert (
        records.write(path) == 120 and records.record("1_1")["systems"]["a"]["ranking"][100:] == []
    )
    assert records.write(path, most=path.stat().st_size) == 100
    own = read_turns(path).records["1_1"]["systems"]["a"]
    assert [one for one, _ in own["ranking"]] == passages[:100]
    assert own["first_relevant"] == 110
    assert records.write(path, most=path.stat().st_size) == 10


def test_only_documented_keys(turns: TurnRecords) -> None:
    known, of_systems = get_type_hints(TurnRecord), get_type_hints(SystemRecord)
    for turn in turns.table.ids:
        record = turns.record(turn)
        assert record.keys() <= known.keys()
        for own in record["systems"].values():
            assert own.keys() <= of_systems.keys()


def test_a_file_that_is_too_large_keeps_fewer_ranks(turns: TurnRecords, tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl"
    whole = turns.write(path)
    size = path.stat().st_size
    assert whole == turns.details.longest > READ
    # just below the size that the whole file has, ranks are cut to 10, whatever that needs
    assert turns.write(path, most=size) == READ == read_turns(path).head["depth"]
    assert path.stat().st_size < size
    assert turns.write(path, most=10) == READ
    assert turns.write(path, most=size + 1) == whole
    longest = [
        len(own["ranking"])
        for record in read_turns(path).records.values()
        for own in record["systems"].values()
        if "ranking" in own
    ]
    assert max(longest) == whole
    assert [one.name for one in tmp_path.iterdir()] == ["turns.jsonl"]


def test_it_cannot_be_written(turns: TurnRecords, tmp_path: Path) -> None:
    with pytest.raises(OutputError):
        turns.write(tmp_path / "nowhere" / "turns.jsonl")


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda lines: [], "the first line is not that of turns.jsonl"),
        (lambda lines: lines[1:], "the first line is not that of turns.jsonl"),
        (lambda lines: [lines[0].replace("turns 1", "turns 2")], "the first line is not"),
        (lambda lines: [lines[0], lines[1].replace('"history"', '"story"')], ":2: its values"),
        (lambda lines: [lines[0], '{"passages": {"a": 3}}'], ":2: its values are not those"),
        (
            lambda lines: [lines[0], lines[1].replace(': [["', ': [["", "', 1)],
            ":2: a ranking is not",
        ),
        (lambda lines: [lines[0], lines[1].replace(", 0]", ", 0.5]")], ":2: a ranking is not"),
        (lambda lines: [lines[0], "{"], ":2: "),
        (lambda lines: lines[:11], "10 of 70 turns are in the file"),
        (lambda lines: [lines[0].replace('"depth": ', '"depth": "x", "d": ')], ":1: its values"),
    ],
)
def test_other_files_are_refused(turns: TurnRecords, tmp_path: Path, change, found: str) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "turns.jsonl"
    turns.write(path)
    path.write_text("\n".join(change(path.read_text("utf-8").splitlines())) + "\n", "utf-8")
    with pytest.raises(InputError) as error:
        read_turns(path)
    assert found in str(error.value)


def test_required_keys_are_those_of_the_schema() -> None:
    assert Head.__required_keys__ == set(get_type_hints(Head))
    assert SystemRecord.__required_keys__ == {"scores"}
    assert "change" in TurnRecord.__optional_keys__


def test_wordings_of_a_grid_have_their_texts(tmp_path: Path) -> None:
    """Those of a set with their name; of a formulation with their name, its own."""
    runs = [f"{wording}/{ranker}" for wording in ("short", "other") for ranker in ("x", "y")]
    path = write_project(tmp_path, runs=runs, texts=False)
    (tmp_path / "short.tsv").write_text("id\tquery\n1_1\tWhat now?\n", "utf-8")
    cells = [f'"{name}" = "run{number}.run"' for number, name in enumerate(runs)]
    lines = ['qrels = "qrels.txt"', "[texts]", 'short = "short.tsv"', "[components]", *cells]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    turns = turns_of(TurnInputs(Workspace(read_project(path))))
    assert turns.record("1_1")["texts"] == {"short": "What now?"}
    assert turns.record("1_2")["texts"] == {}
    assert turns.table.where('"what now"') == ["1_1"]


def test_sets_that_ask_few_turns_hide_no_scores(tmp_path: Path) -> None:
    """A turn that no set of paraphrases asks still counts for Original, QR and Human."""
    path = write_project(tmp_path, answered=0.3)
    table = turns_of(TurnInputs(Workspace(read_project(path)))).table
    counts = {
        name: len(table.where(f"ndcg_cut_3@{name}:*")) for name in ("original", "human", "one")
    }
    assert counts == {"original": 12, "human": 12, "one": 4}
