"""Conversations in commands: the small inputs of ``cases/ids``, the policy key, fields, reports and ``init``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import robustcs
from robustcs.cli.main import run
from robustcs.errors import InputError, UsageError
from robustcs.inputs.conversations import read_conversations
from robustcs.project.reading import read_project
from tests.case_files import case


@pytest.fixture
def ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return case("ids", tmp_path)


def policy(scores: Path | str, metric: str, **keywords: Any) -> dict[str, Any]:
    result = robustcs.evaluate(scores={"one": str(scores)}, metrics=metric, **keywords)
    return {**result.evaluated.as_dict(), "notes": result.evaluated.notes}


def test_categories_are_120_single_turns(ids: Path) -> None:
    found = policy(ids / "categories.tsv", "correct")
    assert (found["unit"], found["units"], found["turns"]) == ("turn", 120, 120)
    assert "conversations" not in found
    (note,) = (note for note in found["notes"] if "--conversation pattern" in note)
    assert note.startswith("turn ids begin with one of 6 names, such as billing in billing-01")
    assert not policy(ids / "categories.tsv", "correct", unit="turn")["notes"]


def test_the_user_says_otherwise(ids: Path) -> None:
    found = policy(ids / "categories.tsv", "correct", conversation="pattern")
    assert (found["unit"], found["units"], found["notes"]) == ("conversation", 6, ())
    assert found["conversations"] in found["line"]
    none = policy(ids / "rows.jsonl", "score", conversation="none")
    assert (none["unit"], none["units"], none["conversations"]) == (
        "turn",
        48,
        "conversations set to none",
    )


def test_rows_are_12_conversations_from_their_fields(ids: Path) -> None:
    found = policy(ids / "rows.jsonl", "score")
    assert (found["unit"], found["units"], found["turns"]) == ("conversation", 12, 48)
    assert set(read_conversations(ids / "rows.jsonl").values()) == {
        (f"{c:032x}", t) for c in range(1, 13) for t in range(1, 5)
    }
    # the same without ids that say it
    rows = [json.loads(line) for line in (ids / "rows.jsonl").read_text().splitlines()]
    other = ids / "other.jsonl"
    other.write_text(
        "".join(
            json.dumps({**row, "task_id": f"case{place}x"}) + "\n" for place, row in enumerate(rows)
        )
    )
    found = policy(other, "score")
    assert (found["unit"], found["units"]) == ("conversation", 12)
    assert found["conversations"] == "conversations from the fields of other.jsonl"
    result = robustcs.evaluate(scores={"one": str(other)}, metrics="score", slices="depth")
    assert set(result.slices["slice"]) == {"1", "2", "3", "4"}


def test_a_file_names_conversations(ids: Path) -> None:
    table = ids / "groups.tsv"
    lines = (ids / "categories.tsv").read_text().splitlines()[1:]
    table.write_text(
        "turn\tconversation\n"
        + "".join(f"{line.split()[0]}\tc{place // 10}\n" for place, line in enumerate(lines))
    )
    found = policy(ids / "categories.tsv", "correct", conversation=str(table))
    assert (found["unit"], found["units"]) == ("conversation", 12)
    assert found["conversations"] == "conversations from the fields of groups.tsv"
    (ids / "robustcs.toml").write_text(
        'policy.conversation = "groups.tsv"\n[formulations]\nhuman.scores = "categories.tsv"\n'
    )
    project = read_project(ids / "robustcs.toml")
    assert project.policy.conversation == table
    result = robustcs.evaluate(project, metrics="correct")
    assert result.evaluated.units == 12 and ("conversations", 120) in {
        (one["role"], one["rows"]) for one in result.inputs
    }
    with pytest.raises(InputError, match="no such file"):
        policy(ids / "categories.tsv", "correct", conversation="nofile")
    with pytest.raises(InputError, match="no column of conversations"):
        policy(ids / "categories.tsv", "correct", conversation=str(ids / "categories.tsv"))
    with pytest.raises(UsageError, match="conversation is 3"):
        policy(ids / "categories.tsv", "correct", conversation=3)


def test_fields_of_texts_that_a_command_does_not_read_count_if_they_are_named(ids: Path) -> None:
    rows = [line.split()[0] for line in (ids / "categories.tsv").read_text().splitlines()[1:]]
    texts = "".join(f"{turn}\tc{place // 10}\t{turn}?\n" for place, turn in enumerate(rows))
    (ids / "t.tsv").write_text(f"id\tconversation_id\tquery\n{texts}")
    (ids / "robustcs.toml").write_text(
        'formulations.human = {scores = "categories.tsv", rewrites = "t.tsv"}\n'
    )
    project = read_project(ids / "robustcs.toml")
    assert robustcs.evaluate(project, metrics="correct").evaluated.units == 120
    assert (
        robustcs.evaluate(
            project, metrics="correct", conversation=str(ids / "t.tsv")
        ).evaluated.units
        == 12
    )
    (ids / "t.tsv").unlink()
    assert robustcs.evaluate(project, metrics="correct").evaluated.units == 120


def test_turns_without_a_row_are_noted(ids: Path) -> None:
    """60 of 120 turns: each is its own conversation. With one row less, the file is an error."""
    lines = (ids / "categories.tsv").read_text().splitlines()[1:]
    rows = [f"{line.split()[0]}\tc{place // 10}\n" for place, line in enumerate(lines)]
    table = ids / "groups.tsv"
    for count in (120, 60, 59):
        table.write_text("turn\tconversation\n" + "".join(rows[:count]))
        if count > 59:
            found = policy(ids / "categories.tsv", "correct", conversation=str(table))
            note = "60 of 120 turns have no row in groups.tsv; each is its own conversation"
            assert (found["units"], note in found["notes"]) == (
                (12, False) if count == 120 else (66, True)
            )
    with pytest.raises(
        UsageError,
        match=r"61 of 120 turns have no row in groups\.tsv, such as \S+; add a row for each turn",
    ):
        policy(ids / "categories.tsv", "correct", conversation=str(table))


def test_rows_that_repeat_the_ids_are_noted(ids: Path) -> None:
    turns = [json.loads(line)["task_id"] for line in (ids / "rows.jsonl").read_text().splitlines()]
    scores = {turn: {"correct": 1.0} for turn in turns}
    (ids / "some.tsv").write_text(
        "turn\tconversation\n" + "".join(f"{turn}\t{turn.split(':')[0]}\n" for turn in turns[:40])
    )
    result = robustcs.evaluate(
        scores={"one": scores}, metrics="correct", conversation=str(ids / "some.tsv")
    )
    note = "8 of 48 turns have no row in some.tsv; their conversations are those of their ids"
    assert result.evaluated.units == 12 and note in result.evaluated.notes


def test_fields_of_few_turns_are_no_source(ids: Path) -> None:
    """Fields that robustcs finds itself are not an error, but the ids of the other turns count for all."""
    turns = [json.loads(line)["task_id"] for line in (ids / "rows.jsonl").read_text().splitlines()]
    for count in (20, 30):
        rows = [
            {"id": turn, "correct": 1} | ({"conversation": "x"} if place < count else {})
            for place, turn in enumerate(turns)
        ]
        file = ids / "scores.jsonl"
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        result = robustcs.evaluate(scores={"one": file}, metrics="correct")
        few = (
            "28 of 48 turns have no row in scores.jsonl, so conversations come from turn ids alone"
        )
        some = "18 of 48 turns have no row in scores.jsonl; each is its own conversation"
        assert (few in result.evaluated.notes, some in result.evaluated.notes) == (
            count == 20,
            count == 30,
        )
        assert result.evaluated.units == (12 if count == 20 else 19)


def test_a_turn_in_two_conversations_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("turn\tconversation\na\tx\na\ty\n")
    with pytest.raises(InputError, match="turn a is in conversations x and y"):
        read_conversations(tmp_path / "t.tsv")
    (tmp_path / "e.tsv").write_text("turn\tconversation\na\tx\nb\t\nc\t\n")
    assert read_conversations(tmp_path / "e.tsv") == {"a": ("x", None)}
    (tmp_path / "e.tsv").write_text("turn\tconversation\nb\t\nc\t\n")
    assert read_conversations(tmp_path / "e.tsv", partly=True) == {}
    with pytest.raises(InputError, match="the file has no conversations"):
        read_conversations(tmp_path / "e.tsv")
    # a column of places is no column of ids
    (tmp_path / "p.tsv").write_text(
        "conversation_id\tturn_id\tid\n31\t1\t31_1\n31\t2\t31_2\n32\t1\t32_1\n"
    )
    assert read_conversations(tmp_path / "p.tsv") == {
        "31_1": ("31", 1),
        "31_2": ("31", 2),
        "32_1": ("32", 1),
    }
    (tmp_path / "s.tsv").write_text("session_id\tturn\tscore\ns1\t1\t0\ns1\t2\t1\ns2\t1\t1\n")
    assert read_conversations(tmp_path / "s.tsv") == {
        "s1_1": ("s1", 1),
        "s1_2": ("s1", 2),
        "s2_1": ("s2", 1),
    }


def test_compare_uses_one_decision(ids: Path) -> None:
    """Conversations begin at turn 40 in the new state alone; those of both states together look like conversations."""
    for name, places in (("old", range(1, 61)), ("new", range(40, 61))):
        (ids / name).mkdir()
        rows = [
            f"recip_rank\t{topic}_{place}\t{(topic + place) % 3 / 2}\n"
            for topic in range(8)
            for place in places
        ]
        (ids / name / "s.eval").write_text("".join(rows))
        (ids / name / "robustcs.toml").write_text(
            'metrics = ["recip_rank"]\nformulations.human.scores = "s.eval"\n'
        )
    alone = policy(ids / "new/s.eval", "recip_rank")
    assert (alone["unit"], alone["units"]) == ("turn", 168)
    result = robustcs.compare(str(ids / "old"), str(ids / "new"))
    assert (result.evaluated.unit, result.evaluated.units, result.evaluated.turns) == (
        "conversation",
        8,
        168,
    )
    none = robustcs.compare(str(ids / "old"), str(ids / "new"), conversation="none")
    assert (none.evaluated.unit, none.evaluated.units) == ("turn", 168)


def test_init_prints_its_choice(ids: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (ids / "categories.tsv").unlink()
    assert run(["init", str(ids)]) == 0
    first = "0" * 31 + "a"
    assert (
        f"conversations from turn ids: {first}::2 is turn 2 of conversation {first}\n"
        in capsys.readouterr().out
    )


def test_a_note_says_what_the_headline_would_be_with_the_groups(ids: Path) -> None:
    """Two systems differ on single turns; by groups of which each has the same difference, they do not."""
    lines = [line.split()[0] for line in (ids / "categories.tsv").read_text().splitlines()[1:]]
    one = {
        turn: {"correct": 1.0 if turn.startswith(("billing", "returns", "login")) else 0.0}
        for turn in lines
    }
    zero = {turn: {"correct": 0.0} for turn in lines}
    result = robustcs.evaluate(scores={"one": one, "zero": zero}, metrics="correct")
    assert float(result.pairs["p_corrected"].iloc[0]) < 0.05
    note = result.evaluated.notes[-1]
    assert (
        note
        == "with these groups as units: the data do not show whether one or zero scores higher (difference 0.500 correct)"
    )
    same = robustcs.evaluate(scores={"one": zero, "zero": zero}, metrics="correct")
    assert same.evaluated.notes[-1] == "with these groups as units, the headline is the same"
