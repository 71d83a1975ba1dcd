"""Gold and predicted answers: the plain form, QuAC's forms, and what bad input says."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from robustcs.errors import ExitCode, InputError
from robustcs.inputs.answers import read_gold_answers, read_predicted_answers
from tests.skipped_rows import without_count

FORMATS = "write JSON {turn: answer}, or JSONL with id and answer"


def written(folder: Path, content: str | bytes | dict[str, Any]) -> Path:
    path = folder / "file"
    if isinstance(content, dict):
        content = json.dumps(content)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_plain_gold_answers(tmp_path: Path) -> None:
    gold = {"C_1_q#0": ("in 1969",), "C_1_q#1": ("a band", "band"), "C_1_q#2": ("CANNOTANSWER",)}
    as_object = (
        '{"C_1_q#0": " in 1969 ", "C_1_q#1": ["a band", "band"], "C_1_q#2": ["CANNOTANSWER"]}'
    )
    as_lines = (
        '{"id": "C_1_q#0", "answer": "in 1969", "other": 1}\r\n\r\n'
        '{"id": "C_1_q#1", "answers": ["a band", "band"]}\r\n'
        '{"id": "C_1_q#2", "answers": ["CANNOTANSWER"]}\r\n'
    )
    assert read_gold_answers(written(tmp_path, as_object)) == gold
    assert read_gold_answers(written(tmp_path, as_lines)) == gold
    assert (
        read_gold_answers(written(tmp_path, gzip.compress(b"\xef\xbb\xbf" + as_lines.encode())))
        == gold
    )


def test_plain_predictions(tmp_path: Path) -> None:
    predicted = {"C_1_q#0": "in 1969", "C_1_q#1": ""}
    assert (
        read_predicted_answers(written(tmp_path, '{"C_1_q#0": ["in 1969"], "C_1_q#1": " "}'))
        == predicted
    )
    as_lines = '{"turn_id": "C_1_q#0", "answer": "in 1969"}\n{"qid": "C_1_q#1", "answers": [""]}\n'
    assert read_predicted_answers(written(tmp_path, as_lines)) == predicted
    one_line = '{"id": "C_1_q#0", "answer": "in 1969"}'
    assert read_predicted_answers(written(tmp_path, one_line)) == {"C_1_q#0": "in 1969"}


def quac_question(number: int, *answers: str) -> dict[str, Any]:
    spans = [{"text": text, "answer_start": 0} for text in answers]
    return {
        "id": f"C_1_q#{number}", "question": "?", "answers": spans, "orig_answer": {"text": "not read"},
        "yesno": "x", "followup": "n",
    }  # fmt: skip


def test_the_data_set_of_quac(tmp_path: Path) -> None:
    paragraph = {
        "id": "C_1", "context": "… CANNOTANSWER",
        "qas": [quac_question(0, "in 1969", "1969", "in 1969"), quac_question(1, "CANNOTANSWER", "CANNOTANSWER")],
    }  # fmt: skip
    article = {"paragraphs": [paragraph], "title": "t", "section_title": "s", "background": "b"}
    other = {
        "paragraphs": [
            {"id": "C_2", "context": "", "qas": [{**quac_question(0, "x"), "id": "C_2_q#0"}]}
        ]
    }
    path = written(tmp_path, {"data": [article, other]})
    assert read_gold_answers(path) == {
        "C_1_q#0": ("in 1969", "1969", "in 1969"),
        "C_1_q#1": ("CANNOTANSWER", "CANNOTANSWER"),
        "C_2_q#0": ("x",),
    }
    with pytest.raises(InputError) as caught:
        read_predicted_answers(path)
    assert (
        str(caught.value)
        == f"{path}: this is a data set with gold answers; give a file of predictions"
    )


def test_the_predictions_of_quac(tmp_path: Path) -> None:
    first = {
        "qid": ["C_1_q#0", "C_1_q#1"], "best_span_str": ["1969", "CANNOTANSWER"], "yesno": ["x", "x"],
        "followup": ["n", "n"],
    }  # fmt: skip
    second = {"qid": ["C_2_q#0"], "best_span_str": ["two "], "yesno": ["y"], "followup": ["n"]}
    predicted = {"C_1_q#0": "1969", "C_1_q#1": "CANNOTANSWER", "C_2_q#0": "two"}
    assert (
        read_predicted_answers(written(tmp_path, f"{json.dumps(first)}\n{json.dumps(second)}\n"))
        == predicted
    )
    assert read_predicted_answers(written(tmp_path, second)) == {"C_2_q#0": "two"}


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)
#: Ends like an id: a text alone may be a name of fields by which other files are known, such as "Answer.taskAnswers".
TURN = TEXT.map(lambda text: f"{text.strip()}_1")


@settings(deadline=None)
@given(st.dictionaries(TURN, st.lists(TEXT, min_size=1), min_size=1))
@example({"turn": ["a tube"]})
@example({"ANSWER.TASKANSWERS_1": ["a"]})
def test_both_plain_forms_give_back_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, gold: dict[str, list[str]]
) -> None:
    folder = tmp_path_factory.getbasetemp()
    expected = {turn: tuple(answer.strip() for answer in answers) for turn, answers in gold.items()}
    lines = "".join(
        json.dumps({"id": turn, "answers": answers}) + "\n" for turn, answers in gold.items()
    )
    assert read_gold_answers(written(folder, lines)) == expected
    # in one line, an object with a key such as "id" is a record
    assert read_gold_answers(written(folder, json.dumps(gold, indent=1))) == expected


Reader = Callable[[Path], object]
#: § stands for the path.
BAD: list[tuple[str, Reader, str | dict[str, Any], str]] = [
    ("empty", read_gold_answers, "", "§: the file is empty; check the path"),
    ("no turns", read_predicted_answers, "{}", "§: the file has no turns; check the path"),
    ("no turns in QuAC", read_gold_answers, {"data": []}, "§: the file has no turns; check the path"),
    ("a list", read_gold_answers, "[1]", f"§: JSON, but not an object {{turn: answer}}; {FORMATS}"),
    ("a table", read_gold_answers, "31_1\ta\n", f"§:1: not JSON; {FORMATS}"),
    ("a run", read_predicted_answers, "31_1 Q0 D 1 2.0 t\n",
     "§: this is a TREC run; use it with --run, --original, --qr or --human"),
    ("bad JSON", read_gold_answers, '{"31_1": "a",\n"31_2"}',
     "§:2: not JSON (Expecting ':' delimiter); check the file"),
    ("bad JSONL", read_predicted_answers, '{"id": 1, "answer": "a"}\n{"id": 2, "answer": a}\n',
     "§:2: not JSON (Expecting value); write one JSON object per line"),
    ("no gold", read_gold_answers, '{"id": 1, "answers": []}\n{"id": 2, "answer": ""}\n',
     "§:1: turn 1: no gold answer; write CANNOTANSWER if the passage contains no answer\n"
     "§:2: turn 2: empty text; write the text or remove the turn"),
    ("no answer field", read_gold_answers, '{"id": 1, "answer": "a"}\n{"id": 2, "text": "b"}\n',
     f"§:2: no field 'answer' or 'answers'; the fields are: id, text; {FORMATS}"),
    ("no id", read_gold_answers, '{"answer": "a"}\n{"id": " ", "answer": "b"}\n',
     "§:1: no turn id; add a turn id such as 31_4 to every entry\n"
     "§:2: no turn id; add a turn id such as 31_4 to every entry"),
    ("several predictions", read_predicted_answers, '{"31_1": ["a", "b"], "31_2": []}',
     "§: turn 31_1: 2 answers, but a prediction has one; keep one answer of the system\n"
     "§: turn 31_2: 0 answers, but a prediction has one; keep one answer of the system"),
    ("not a text", read_predicted_answers, {"31_1": None, "31_2": {"a": 1}},
     "§: turn 31_1: null is not a text; write a text in quotes\n"
     "§: turn 31_2: {\"a\": 1} is not a text; write a text in quotes"),
    ("contradiction in JSON", read_predicted_answers, '{"31_1": "a", "31_1": "b"}',
     "§: turn 31_1 has 'b' here but 'a' earlier; keep one of the two"),
    ("contradiction in JSONL", read_gold_answers,
     '{"id": 1, "answers": ["a", "b"]}\n{"id": 2, "answer": "c"}\n{"id": 1, "answers": ["a", "c"]}\n',
     "§:3: turn 1 has 'a | c' here but 'a | b' in line 1; keep one of the two"),
    ("QuAC predictions of two lengths", read_predicted_answers, '{"qid": ["a", "b"], "best_span_str": ["x"]}\n',
     "§:1: qid and best_span_str are not lists of the same length; write one answer for each question of the dialog"),
    ("QuAC data with a hole", read_gold_answers, {"data": [{"paragraphs": [{"qas": [{"id": "C_1_q#0"}]}]}]},
     f"§: article 1 of the list is not in QuAC format (KeyError: 'answers'); {FORMATS}"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("reader", "content", "message"), [bad[1:] for bad in BAD], ids=[bad[0] for bad in BAD]
)
def test_bad_input(tmp_path: Path, reader: Reader, content: Any, message: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(InputError) as caught:
        reader(path)
    assert without_count(caught.value) == message.replace("§", str(path))
    assert caught.value.exit_code == ExitCode.BAD_INPUT


def test_nothing_of_the_public_data_is_an_answer_file(shared_data: Path) -> None:
    with pytest.raises(
        InputError, match="this is a mixed-initiative run; use it with robustcs crowd --run"
    ):
        read_gold_answers(shared_data / "cast2022-regin/GPT-3_raw_run.json")
    with pytest.raises(InputError, match="these are CANARD questions; use them with --rewrites"):
        read_gold_answers(shared_data / "canard/dev.json.gz")


@pytest.mark.parametrize("turn", ["snippets", "SNIPPETS", "nuggets"])
def test_a_turn_may_have_the_name_of_a_field_of_another_kind(tmp_path: Path, turn: str) -> None:
    path = tmp_path / "gold.json"
    path.write_text(json.dumps({turn: ["a"]}))
    assert read_gold_answers(path) == {turn: ("a",)}
