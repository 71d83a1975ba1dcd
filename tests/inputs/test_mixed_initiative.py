"""Mixed-initiative runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from robustcs.errors import InputError, UsageError
from robustcs.inputs.clariq import is_json
from robustcs.inputs.mixed_initiative import (
    Bank,
    SystemUtterance,
    map_to_bank,
    read_bank,
    read_mixed_initiative,
)

BANK = Bank({"Q0": "", "Q1": "Why not?", "Q2": "WHY NOT", "Q3": "Which one?", "Q4": "Which one?"})


def write(tmp_path: Path, value: object) -> Path:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(value))
    return path


def turns(*entries: tuple[str, list[object]]) -> dict[str, object]:
    return {
        "run_name": "r",
        "turns": [{"turn_id": turn, "questions": questions} for turn, questions in entries],
    }


def test_questions_in_file_order(tmp_path: Path) -> None:
    path = write(tmp_path, turns(("1_1", [{"question": " Why? ", "score": 2}]), ("1_2", [])))
    assert is_json(path)
    assert read_mixed_initiative(path) == [SystemUtterance("1_1", "Why?", 2.0)]


def test_responses_by_score_or_by_rank(tmp_path: Path) -> None:
    """As the main task of CAsT 2022 has them, and by id."""
    by_rank = [
        {"rank": 1, "text": "Bees do.", "provenance": [{"id": "p", "score": 3}]},
        {"rank": 2, "text": "Wasps."},
    ]
    value = {
        "turns": [
            {"turn_id": "1_1", "responses": by_rank},
            {"turn_id": "1_2", "responses": [{"text": "R1", "score": 2}]},
        ]
    }
    asked = read_mixed_initiative(write(tmp_path, value))
    assert asked == [
        SystemUtterance("1_1", "Bees do.", -1),
        SystemUtterance("1_1", "Wasps.", -2),
        SystemUtterance("1_2", "R1", 2),
    ]
    mapped = map_to_bank(asked, Bank({"R1": "No.", "R2": "bees do"}), "r")
    assert mapped.run.ids.texts() == ["R2", "Wasps.", "R1"]


def test_a_score_that_is_null_leaves_the_rank(tmp_path: Path) -> None:
    value = turns(("1_1", [{"question": "Why?", "score": None, "rank": 2}]))
    assert read_mixed_initiative(write(tmp_path, value)) == [SystemUtterance("1_1", "Why?", -2)]
    with pytest.raises(InputError, match="without text or score"):
        read_mixed_initiative(
            write(tmp_path, turns(("1_1", [{"question": "Why?", "score": None}])))
        )


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            {"turns": [{"turn_id": "1_1", "responses": [{"text": "a"}]}]},
            "turn 1_1: a response without text or score",
        ),
        (
            {"turns": [{"turn_id": "1_1", "responses": {}}]},
            "turn 1 of the list has no turn_id or no responses",
        ),
        ({"run_name": "r"}, "JSON, but not a mixed-initiative run; write"),
        (turns(("", [])), "turn 1 of the list has no turn_id or no questions; complete the turn"),
        (
            turns(("1_1", [{"question": "Why?"}])),
            "turn 1_1: a question without text or score; add both",
        ),
        (
            turns(("1_1", [{"question": "Why?", "score": float("nan")}])),
            "turn 1_1: a question without text or score",
        ),
        (
            turns(("1_1", []), ("1_1", [])),
            "turn 1_1 occurs twice; merge its questions into one list",
        ),
        (turns(("1_1", [])), "the file has no questions; check the path"),
    ],
)
def test_bad_runs(tmp_path: Path, value: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_mixed_initiative(write(tmp_path, value))


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Q2", "Q2"), ("WHY NOT", "Q2"), ("why not!", "Q1"), ("", "Q0"),
        ("Which one?", "Q3"), ("Who?", None), ("?", None),
    ],
)  # fmt: skip
def test_how_a_question_is_found(question: str, found: str | None) -> None:
    assert BANK.find(question) == found


def test_what_the_bank_lacks_keeps_its_place_and_is_listed() -> None:
    asked = [
        SystemUtterance("1_1", "Who  are you?", 3),
        SystemUtterance("1_1", "why not", 2),
        SystemUtterance("1_2", "Q3", 1),
        SystemUtterance("1_3", "Q77", 1),
    ]
    mapped = map_to_bank(asked, BANK, "mine")
    assert mapped.run.turns == ("1_1", "1_2", "1_3")
    assert mapped.run.ids.texts() == ['"Who_are_you?"', "Q1", "Q3", "Q77"]
    assert mapped.run.scores.tolist() == [3, 2, 1, 1]
    assert mapped.unmapped == (asked[0], asked[3])
    assert mapped.run.notes == (
        "mine: 2 of 4 questions are not in the bank; they keep their places in the run",
    )


def test_texts_need_a_bank() -> None:
    assert map_to_bank([SystemUtterance("1_1", "Q9", 1)], None, "r").run.ids.texts() == ["Q9"]
    with pytest.raises(
        UsageError,
        match="run r has texts, such as 'Why not\\?'; give the bank with their ids as --bank FILE",
    ):
        map_to_bank([SystemUtterance("1_1", "Why not?", 1)], None, "r")
    with pytest.raises(UsageError, match="no question of run r is in the bank"):
        map_to_bank([SystemUtterance("1_1", "Who?", 1)], BANK, "r")


def test_published_runs(shared_data: Path) -> None:
    folder = shared_data / "cast2022-regin"
    bank = Bank(read_bank(folder / "question_bank.json"))
    by_text = map_to_bank(read_mixed_initiative(folder / "GPT-3_raw_run.json"), bank, "gpt")
    assert len(by_text.run) == 149 and by_text.unmapped == ()
    by_id = map_to_bank(
        read_mixed_initiative(folder / "bm25_baseline_mi_run.json.gz"), bank, "bm25"
    )
    assert {asked.question for asked in by_id.unmapped} == {"Q2173"}
