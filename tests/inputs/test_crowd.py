"""Grades, gold checks, banks, turn lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from robustcs.errors import InputError
from robustcs.inputs.mixed_initiative import plain_text, read_bank
from robustcs.inputs.ratings import (
    FINAL,
    GoldCheck,
    Grade,
    read_gold_checks,
    read_grades,
    read_turn_list,
)


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "f"
    path.write_text(text)
    return path


def test_grades(tmp_path: Path) -> None:
    grades, _ = read_grades(
        write(
            tmp_path,
            "turn,item,worker,criterion,grade\n1_1,Q1,w,relevance,3\n1_1,Q1,w,novelty,-1\n",
        )
    )
    assert grades == [
        Grade("1_1", "Q1", "w", "relevance", 3),
        Grade("1_1", "Q1", "w", "novelty", -1),
    ]


def test_published_judgments(tmp_path: Path) -> None:
    text = '{"1_1": {"Questions": [{"Question ID": "Q1", "Question Text": "Why?", "Relevance": 2, "Novelty": 0}]}, "1_2": {}}'
    assert read_grades(write(tmp_path, text))[0] == [
        Grade("1_1", "Q1", FINAL, "relevance", 2), Grade("1_1", "Q1", FINAL, "novelty", 0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("turn,item,worker,grade\n1_1,Q,w,2.5\n", "f:2: grade '2.5' is not a small whole number; write grades such as 0 to 3"),
        ("turn,item,worker,grade\n1_1,Q,w,2e3\n", "f:2: grade '2e3' is not a small whole number; write grades such as 0 to 3"),
        ("turn,item,worker,grade\n1_1,Q,w,2001\n",
         "f:2: grade '2001' is not a small whole number; write grades such as 0 to 3"),
        ('{"a": 1}', "f: JSON, but no judgments; write CSV or JSONL with turn, item, worker, criterion and grade"),
        ('{"1_1": {"Questions": [{"Relevance": 1}]}}',
         'f: turn 1_1: an entry without an id; add "Question ID" to every entry'),
    ],
)  # fmt: skip
def test_bad_grades(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_grades(write(tmp_path, text))
    assert str(caught.value) == f"{tmp_path}/{message}"


def test_gold_checks(tmp_path: Path) -> None:
    assert read_gold_checks(write(tmp_path, "turn,item,grade\n1_1,Q1,0\n1_1,Q1,0\n")) == [
        GoldCheck("1_1", "Q1", "", 0)
    ]
    with pytest.raises(
        InputError,
        match=r"f:3: 1_1 Q1 should be 2 here but 0 in an earlier line; keep one of the two",
    ):
        read_gold_checks(write(tmp_path, "turn,item,criterion,grade\n1_1,Q1,c,0\n1_1,Q1,c,2\n"))
    with pytest.raises(InputError, match=r"f:2: no item"):
        read_gold_checks(write(tmp_path, "turn,item,grade\n1_1,,0\n"))


def test_banks(tmp_path: Path) -> None:
    assert read_bank(write(tmp_path, '{"Q0": "", "Q1": "Why?"}')) == {"Q0": "", "Q1": "Why?"}
    with pytest.raises(InputError, match="Q0: not a text; write every text in quotes"):
        read_bank(write(tmp_path, '{"Q0": 1}'))
    with pytest.raises(InputError, match="not a bank of texts"):
        read_bank(write(tmp_path, "[]"))


def test_turn_lists(tmp_path: Path) -> None:
    assert read_turn_list(write(tmp_path, "# turns\n1_1\n\n1_2 0 Q1 3\n")) == {"1_1", "1_2"}
    with pytest.raises(InputError, match="the file has no turns; write one turn id per line"):
        read_turn_list(write(tmp_path, "\n"))


def test_wordings_that_are_the_same() -> None:
    assert (
        plain_text("  Are you OK -- or_not? ")
        == "are you ok or not"
        == plain_text("are you ok, or not")
    )
    assert plain_text("ÉTÉ?") == plain_text("été") == "été"


def test_question_bank(shared_data: Path) -> None:
    assert len(read_bank(shared_data / "cast2022-regin" / "question_bank.json")) == 5597
    grades, notes = read_grades(shared_data / "cast2022-regin" / "question_judgments.json.gz")
    assert len(grades) == 3 * 2024 and notes == ()
