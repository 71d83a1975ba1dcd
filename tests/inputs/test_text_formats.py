"""Made files of every kind of question texts: which field each role and each name takes, and what is said of broken ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from robustcs.errors import InputError
from robustcs.inputs.formats import Role
from robustcs.inputs.texts import read_samples, read_texts
from tests.skipped_rows import without_count


def written(folder: Path, content: str | list[Any] | dict[str, Any], lines: bool = False) -> Path:
    path = folder / "file"
    if not isinstance(content, str):
        content = (
            "".join(json.dumps(one) + "\n" for one in content)
            if lines
            else json.dumps(content, indent=1)
        )
    path.write_text(content)
    return path


QRECC = [{"Context": [], "Question": "one?", "Rewrite": "One?", "Answer": "a", "Conversation_no": 7, "Turn_no": 1,
          "Conversation_source": "trec"},
         {"Context": ["one?", "a"], "Question": "two?", "Rewrite": "Two?", "Answer": "", "Conversation_no": 7,
          "Turn_no": 2}]  # fmt: skip
CONVDR = [{"topic_number": 31, "query_number": 1, "input": ["x", "one?"], "target": "One?", "manual_response": "an answer"},
          {"topic_number": 31, "query_number": "2", "input": ["two?"], "target": "Two?"}]  # fmt: skip
CONVGQR = [{"sample_id": "7_1", "cur_utt_text": "one?", "oracle_utt_text": "One?", "ctx_utts_text": []},
           {"sample_id": "7_2", "cur_utt_text": "two?", "oracle_utt_text": "Two?"}]  # fmt: skip
DPR = [{"conv_id": 7, "turn_id": 1, "question": "one?", "answers": ["a"], "ctxs": []},
       {"conv_id": 7, "turn_id": 2, "question": "one? [SEP] a [SEP] two?", "answers": ["b"], "ctxs": []}]  # fmt: skip
PAIRS = [
    {"qid": "7_1", "question": "one?", "rewrite": "One?"},
    {"qid": "7_2", "question": "two?", "rewrite": "Two?"},
]
NAMED = [
    {"turn_id": "7_1", "raw": "one?", "manual": "One?"},
    {"turn_id": "7_2", "raw": "two?", "manual": "Two?"},
]


@pytest.mark.parametrize("lines", [False, True])
@pytest.mark.parametrize("records", [QRECC, CONVDR, CONVGQR, PAIRS, NAMED])
def test_a_list_and_lines_say_the_same(
    tmp_path: Path, records: list[dict[str, Any]], lines: bool
) -> None:
    path = written(tmp_path, records, lines)
    first = "31" if records is CONVDR else "7"
    raw, human = (
        {f"{first}_1": one, f"{first}_2": two} for one, two in (("one?", "two?"), ("One?", "Two?"))
    )
    assert read_texts(path, "original") == raw
    assert read_texts(path, "human") == human
    for name, expected in (("original", raw), ("raw", raw), ("human", human), ("manual", human)):
        assert read_texts(path, "qr", name) == expected


@pytest.mark.parametrize("lines", [False, True])
def test_topiocqa_in_the_form_of_dpr(tmp_path: Path, lines: bool) -> None:
    path = written(tmp_path, DPR, lines)
    assert read_texts(path, "original") == {"7_1": "one?", "7_2": "two?"}
    assert read_texts(path, "original", "conversation")["7_2"] == "one? [SEP] a [SEP] two?"
    with pytest.raises(InputError, match="no column 'manual_rewrite'"):
        read_texts(path, "human")


def test_topiocqa_has_no_rewrites(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        [{"Conversation_no": 1, "Turn_no": 2, "Question": "one?", "Answer": "a", "Topic": "x"}],
    )
    assert read_texts(path, "original") == {"1_2": "one?"}
    with pytest.raises(InputError) as caught:
        read_texts(path, "human")
    assert str(caught.value) == (
        f"{path}: no column 'Rewrite'; the columns are: Conversation_no, Turn_no, Question, Answer, Topic;"
        " choose one of them as FILE:COLUMN"
    )


@pytest.mark.parametrize("form", ["csv", "tsv", "parquet", "bom"])
@pytest.mark.parametrize(
    ("names", "role", "column"),
    [
        (("query_id", "query"), "human", None), (("QID", "Text"), "qr", None), (("turn_id", "manual_rewrite"), "human", None),
        (("qid", "rewritten_query"), "qr", None), (("q_id", "raw_utterance"), "original", None), (("id", "own"), "qr", "own"),
        (("qid", "utterance"), "human", "original"),
    ],
)  # fmt: skip
def test_tables(
    tmp_path: Path, form: str, names: tuple[str, str], role: Role, column: str | None
) -> None:
    if form == "tsv" and names[0].isupper():
        pytest.skip("the columns of TSV are read as they are written")
    rows = [("31_1", "one, two"), ("31_2", 'a "b"')]
    path = tmp_path / "file"
    if form == "parquet":
        pq.write_table(
            pa.table(
                {
                    name: list(cells)
                    for name, cells in zip(names, zip(*rows, strict=True), strict=True)
                }
            ),
            path,
        )
    elif form == "tsv":
        path.write_text("\n".join("\t".join(row) for row in (names, *rows)))
    else:
        quoted = ("31_1", '"one, two"'), ("31_2", '"a ""b"""')
        path.write_text(
            ("\ufeff" if form == "bom" else "")
            + "\r\n".join(",".join(row) for row in (names, *quoted))
        )
    assert read_texts(path, role, column) == dict(rows)


def test_a_table_of_qrecc_is_qrecc(tmp_path: Path) -> None:
    path = written(tmp_path, 'Conversation_no,Turn_no,Question,Rewrite\n7,1,one?,"One, two?"\n')
    assert read_texts(path, "original") == {"7_1": "one?"}
    assert read_texts(path, "human") == {"7_1": "One, two?"}


def test_one_conversation_is_a_file_too(tmp_path: Path) -> None:
    topic = {
        "number": "9-1",
        "ptkb": {},
        "turns": [{"turn_id": 1, "utterance": "one?", "resolved_utterance": None}],
    }
    path = written(tmp_path, topic)
    assert read_texts(path, "original") == {"9-1_1": "one?"}
    with pytest.raises(InputError, match="the file has no turns"):
        read_texts(path, "human")


def test_speakers_are_no_part_of_a_question(tmp_path: Path) -> None:
    said = "|user|: one?\n|agent|: It is\nold.\n|user|: two\nlines?"
    path = written(tmp_path, [{"_id": "a<::>2", "text": said}], lines=True)
    assert read_texts(path, "original") == {"a<::>2": "two\nlines?"}
    assert read_texts(path, "original", "conversation") == {"a<::>2": "one? two\nlines?"}
    # nothing says whose words they are
    with pytest.raises(
        InputError,
        match=":1: no column 'human'; the columns are: _id, text, conversation; choose one of them",
    ):
        read_texts(path, "original", "human")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([{"Conversation_no": 1, "Turn_no": 1, "Question": "a"}, {"Conversation_no": 1, "Question": "b"}],
         "§: entry 2 of the list: no Conversation_no or no Turn_no; complete the entry"),
        ([{"conv_id": 1, "turns": [{"question": "a"}]}], "§: topic 1: turn 1 of the list has no turn_id; complete the turn"),
        ([{"number": 1, "ptkb": {}, "turns": [{"turn_id": 1, "utterance": " "}]}],
         "§: turn 1_1: empty text; write the text or remove the turn"),
        ([{"Conversation_no": 1, "Turn_no": 1, "Question": "a"}, {"Conversation_no": 1, "Turn_no": 1, "Question": "b"}],
         "§: turn 1_1 has 'b' here but 'a' earlier; keep one of the two"),
    ],
)  # fmt: skip
def test_what_is_broken_is_named(tmp_path: Path, content: list[Any], message: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(InputError) as caught:
        read_texts(path, "original")
    assert without_count(caught.value) == message.replace("§", str(path))


def test_samples_must_be_texts(tmp_path: Path) -> None:
    path = written(tmp_path, [{"sample_id": "1_1", "predicted_rewrite": ["a", 5]}], lines=True)
    with pytest.raises(InputError, match=":1: turn 1_1: 5 is not a text"):
        read_samples(path, "qr")
    path = written(tmp_path, [{"sample_id": "1_1", "predicted_rewrite": []}], lines=True)
    with pytest.raises(InputError, match=r":1: turn 1_1: \[\] is not a text"):
        read_samples(path, "qr")


def test_questions_beside_answers_and_nuggets(tmp_path: Path) -> None:
    said = [{"text": "x", "citations": [0]}]
    lines = [{"run_id": "r", "topic_id": "2024-1", "topic": "one?", "references": ["a"], "answer": said},
             {"run_id": "r", "topic_id": "2024-2", "topic": "two?", "references": ["a"], "answer": said}]  # fmt: skip
    assert read_texts(written(tmp_path, lines, lines=True), "original") == {
        "2024-1": "one?",
        "2024-2": "two?",
    }
    later = [
        {
            "metadata": {"run_id": "r", "narrative_id": 7, "narrative": "one?"},
            "references": [],
            "answer": said,
        }
    ]
    assert read_texts(written(tmp_path, later, lines=True), "human") == {"7": "one?"}
    nuggets = [
        {"qid": "2024-1", "query": "one?", "nuggets": [{"text": "x", "importance": "vital"}]}
    ]
    assert read_texts(written(tmp_path, nuggets, lines=True), "original") == {"2024-1": "one?"}
    without = [{"run_id": "r", "topic_id": "2024-1", "references": ["a"], "answer": said}]
    with pytest.raises(
        InputError,
        match="TREC RAG answers; use them with --run, .* --human, or as answers with --response,",
    ):
        read_texts(written(tmp_path, without, lines=True), "original")
