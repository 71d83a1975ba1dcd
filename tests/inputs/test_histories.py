"""What was said before a turn, from files of texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import robustcs
from robustcs.inputs.texts import TextFile


def history(path: Path) -> dict[str, list[tuple[str, str]]]:
    return {
        turn: [(one.who, one.text or f"<{one.passage}>") for one in before]
        for turn, before in TextFile(path).history().items()
    }


def written(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), "utf-8")
    return path


def test_topics_with_responses(tmp_path: Path) -> None:
    turns = [
        {"turn_id": 1, "utterance": "Hello?", "resolved_utterance": "Hi?", "response": " Yes? "},
        {"turn_id": 2, "utterance": "A university.", "response": ""},
        {"turn_id": 3, "utterance": None, "response": "Which?"},
        {"turn_id": 4, "utterance": "Any."},
    ]
    path = written(tmp_path / "ikat.json", [{"number": "1-1", "ptkb": {}, "turns": turns}])
    assert history(path) == {
        "1-1_1": [],
        "1-1_2": [("user", "Hello?"), ("system", "Yes?")],
        "1-1_3": [("user", "Hello?"), ("system", "Yes?"), ("user", "A university.")],
        "1-1_4": [
            ("user", "Hello?"), ("system", "Yes?"), ("user", "A university."), ("system", "Which?")
        ],
    }  # fmt: skip


def test_turns_of_the_system_and_branches(tmp_path: Path) -> None:
    def user(number: str, text: str, **more: str) -> dict[str, str]:
        return {"number": number, "participant": "User", "utterance": text, **more}

    def system(number: str, text: str, **more: str) -> dict[str, str]:
        return {"number": number, "participant": "System", "response": text, **more}

    turns = [
        user("1-1", "What is it?"), system("1-2", "A book."), user("1-3", "When?", parent="1-2"),
        system("3-1", "Which year?", parent="1-3"), user("3-2", "2021.", parent="3-1"),
        user("4-1", "Alone."), system("4-2", "Good."), user("4-3", "Why?"),
    ]  # fmt: skip
    topics = [{"number": 132, "turn": turns}, {"number": 133, "turn": [user("1-1", "Other?")]}]
    told = history(written(tmp_path / "topics.json", topics))
    first = [("user", "What is it?"), ("system", "A book.")]
    assert told["132_1-1"] == told["132_4-1"] == told["133_1-1"] == []
    assert told["132_1-3"] == first
    assert told["132_3-2"] == [*first, ("user", "When?"), ("system", "Which year?")]
    assert told["132_4-3"] == [("user", "Alone."), ("system", "Good.")]
    assert "132_1-2" not in told


def test_passages_that_the_system_showed(tmp_path: Path) -> None:
    turns = [
        {"number": 1, "raw_utterance": "Doors?", "manual_canonical_result_id": "d1"},
        {"number": 2, "raw_utterance": "Now?", "manual_canonical_result_id": "d2"},
        {"number": 3, "raw_utterance": "Why?"},
    ]
    path = written(tmp_path / "topics.json", [{"number": 81, "turn": turns}])
    assert history(path)["81_3"] == [
        ("user", "Doors?"), ("system", "<d1>"), ("user", "Now?"), ("system", "<d2>")
    ]  # fmt: skip
    found = robustcs.turns(
        rewrites={"original": path}, collection={"d1": "A garage door.", "d9": "x"}
    )
    assert found.record("81_3")["history"] == [
        {"who": "user", "text": "Doors?"}, {"who": "system", "text": "A garage door."},
        {"who": "user", "text": "Now?"},
    ]  # fmt: skip
    without = robustcs.turns(rewrites={"original": path}).record("81_3")["history"]
    assert [one["text"] for one in without] == ["Doors?", "Now?"]


@pytest.mark.parametrize(
    ("record", "turn", "wanted"),
    [
        (
            {"History": ["Article", "Section", "q1", "a1"], "QuAC_dialog_id": "C_1",
             "Question": "q2", "Question_no": 2, "Rewrite": "q2"},
            "C_1_q#1", [("user", "q1"), ("system", "a1")],
        ),
        (
            {"Conversation_no": 3, "Turn_no": 2, "Question": "q2", "Rewrite": "q2",
             "Context": ["q1", "a1"]},
            "3_2", [("user", "q1"), ("system", "a1")],
        ),
        (
            {"topic_number": 3, "query_number": 2, "input": ["q1", "q2"], "target": "t",
             "output": "o"},
            "3_2", [("user", "q1")],
        ),
    ],
)  # fmt: skip
def test_earlier_messages_in_every_turn(
    record: dict[str, Any], turn: str, wanted: list[tuple[str, str]], tmp_path: Path
) -> None:
    assert history(written(tmp_path / "texts.json", [record])) == {turn: wanted}


def test_marks_of_speakers(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    lines = [
        {"_id": "c<::>2", "text": "|user|: one?\n|agent|: two.\n|user|: three?"},
        {"_id": "d<::>1", "text": "no marks"},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    assert history(path) == {"c<::>2": [("user", "one?"), ("agent", "two.")]}


def test_files_that_tell_nothing(tmp_path: Path) -> None:
    (tmp_path / "texts.tsv").write_text("1_1\tone\n1_2\ttwo\n")
    assert history(tmp_path / "texts.tsv") == {}
    record = robustcs.turns(rewrites={"human": tmp_path / "texts.tsv"}).record("1_2")
    assert record["history"] == [{"who": "user", "text": "one"}]


@pytest.mark.parametrize(
    ("file", "turn", "messages", "last"),
    [
        ("formats/ikat/2023_train_topics.json", "1-1_2", 2, "Do you want to continue your bach"),
        ("formats/ikat/2024_test_topics.json", "0_3", 4, ""),
        ("formats/ikat/2025_test_topics.json", "1-1_2", 2, "Hi, do you mean acid reflux"),
        ("cast2021/topics_manual.json.gz", "106_3", 4, "Even though this condition"),
        ("canard/dev.json.gz", "C_2d211835213b45588ad5ca868ce7fabd_0_q#5", 10, "Zappa was supp"),
        ("formats/mtrag/clapnq_questions.jsonl", "dd6b6ffd177f2b311abe676261279d2f<::>3", 2,
         "Do the Arizona Cardinals play outside"),
        ("cast2019/topics.json", "31_3", 2, "Is it treatable?"),
    ],
)  # fmt: skip
def test_public_files(shared_data: Path, file: str, turn: str, messages: int, last: str) -> None:
    result = robustcs.turns(rewrites={"original": shared_data / file})
    told = result.record(turn)["history"]
    assert len(told) == messages and told[-1]["text"].startswith(last)
    assert told[0]["who"] == "user"


def test_shown_passages_of_cast_2020(shared_data: Path) -> None:
    folder = shared_data / "cast2020"
    result = robustcs.turns(
        rewrites={"original": folder / "topics_manual.json"},
        collection=folder / "passages.jsonl.gz",
    )
    told = result.record("81_3")["history"]
    assert [one["who"] for one in told] == ["user", "system"] * 2
    assert "garage door" in told[1]["text"].lower() and len(told[1]["text"]) > 100
