"""Snippet annotations in the forms of MTurk, Prolific and JSONL."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from robustcs.errors import InputError, UsageError
from robustcs.inputs.annotations import is_annotations, join_annotations, read_annotations
from robustcs.inputs.tables import columns_of

TEXT = "Mix flour and water. Wait a day."


def answer(*pairs: tuple[int, int], name: str = "relevant-text-spans") -> list[Any]:
    entities = [
        {"endOffset": end, "label": "relevant-text-span", "startOffset": start}
        for start, end in pairs
    ]
    return [{name: {"entities": entities}}]


def write_csv(path: Path, rows: Sequence[Mapping[str, str]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def mturk(worker: str, task: str, **more: str) -> dict[str, str]:
    row = {"HITId": "H", "WorkerId": worker, "Input.turn_id": "1_2", "Input.passage_id": "p1", "Input.passage": TEXT,
           "Input.query": "How?", "Answer.taskAnswers": task}  # fmt: skip
    return {**row, **more}


def test_the_forms_say_the_same(tmp_path: Path) -> None:
    pairs = [(4, 9), (14, 19)]
    paragraph = write_csv(
        tmp_path / "mturk.csv", [mturk("w1", json.dumps(answer(*reversed(pairs))))]
    )
    # Prolific: a list of one id, and a Python literal
    prolific = write_csv(
        tmp_path / "prolific.csv",
        [mturk("w1", repr(answer(*pairs)), **{"Input.passage_id": "['p1']"})],
    )
    plain = tmp_path / "plain.jsonl"
    plain.write_text(json.dumps({"turn": "1_2", "passage": "p1", "worker": "w1", "query": "How?", "text": TEXT,
                                 "snippets": pairs}) + "\n")  # fmt: skip
    for path in (paragraph, prolific, plain):
        assert is_annotations(columns_of(path))
        texts, notes = read_annotations(path)
        (text,) = texts.values()
        assert (text.turn, text.passage, text.unit, text.query, text.text) == (
            "1_2",
            "p1",
            "paragraph",
            "How?",
            TEXT,
        )
        assert [(one.worker, one.spans) for one in text.annotations] == [("w1", tuple(pairs))]
        assert notes == ()


def test_sentences_have_an_id_and_a_text_of_their_own(tmp_path: Path) -> None:
    more = {"Input.sentence_id": "1_2--p1--1", "Input.sentence": "Wait a day."}
    path = write_csv(tmp_path / "s.csv", [mturk("w1", json.dumps(answer((0, 4))), **more)])
    (text,) = read_annotations(path)[0].values()
    assert (text.passage, text.unit, text.text) == ("1_2--p1--1", "sentence", "Wait a day.")


def test_a_confidence_beside_the_entities_is_passed_over_and_nothing_chosen_is_an_annotation(
    tmp_path: Path,
) -> None:
    task = [{"answer_confidence": {"high": True}, **answer()[0]}]
    (text,) = read_annotations(write_csv(tmp_path / "a.csv", [mturk("w1", json.dumps(task))]))[
        0
    ].values()
    assert text.annotations[0].spans == ()


def test_shared_worker_ids_are_noted_and_every_row_counts(tmp_path: Path) -> None:
    task = json.dumps(answer((0, 3)))
    path = write_csv(
        tmp_path / "experts.csv", [mturk("w1", task), mturk("w1", task), mturk("w2", task)]
    )
    texts, notes = read_annotations(path)
    assert len(texts["1_2", "p1"].annotations) == 3
    assert notes == (
        "experts.csv: worker ids look shared: w1 (1 text) annotate the same text more than once; each row counts as"
        " one annotator",
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (mturk("w", "__import__('os').getcwd()"),
         'the answer "__import__(\'os\').getcwd()" is neither JSON nor a Python literal; write JSON, as MTurk does'),
        (mturk("w", "[" * 5000), f"the answer '{'[' * 40}' is neither JSON nor a Python literal; write JSON, as MTurk does"),
        (mturk("w", "[{}]"), 'the answer has no list of entities; write [{"task": {"entities": []}}]'),
        (mturk("w", json.dumps([{"t": {"entities": [{"startOffset": 1}]}}])),
         "a snippet without start and end; write both as whole numbers"),
        (mturk("w", json.dumps(answer((0, 33)))),
         "turn 1_2 passage p1: snippet [0, 33) is not inside the text of 32 characters;"
         " count offsets in characters from 0, with start below end"),
        (mturk("w", json.dumps(answer((5, 5)))),
         "turn 1_2 passage p1: snippet [5, 5) is not inside the text of 32 characters;"
         " count offsets in characters from 0, with start below end"),
        (mturk("", "[]"), "no worker id; complete the row or delete it"),
        (mturk("w", "[]", **{"Input.passage_id": "['a', 'b']"}), "no passage id; complete the row or delete it"),
        (mturk("w", "[]", **{"Input.passage": " "}),
         "turn 1_2 passage p1: no text; add the text that the offsets refer to"),
    ],
)  # fmt: skip
def test_bad_rows(tmp_path: Path, row: dict[str, str], message: str) -> None:
    path = write_csv(tmp_path / "a.csv", [row])
    with pytest.raises(InputError) as caught:
        read_annotations(path)
    assert str(caught.value) == f"{path}:2: {message}"


def test_two_texts_under_one_id_are_refused(tmp_path: Path) -> None:
    task = json.dumps(answer((0, 3)))
    path = write_csv(
        tmp_path / "a.csv",
        [mturk("w1", task), mturk("w2", task, **{"Input.passage": "Other text"})],
    )
    with pytest.raises(
        InputError, match=r"a.csv:3: turn 1_2 passage p1 has a different text in an earlier line"
    ):
        read_annotations(path)
    first, second = (write_csv(tmp_path / name, [mturk("w", task, **{"Input.passage": text})])
                     for name, text in (("b.csv", TEXT), ("c.csv", "Other text")))  # fmt: skip
    with pytest.raises(
        InputError, match="c.csv: turn 1_2 passage p1 has a different text in an earlier file"
    ):
        join_annotations([(path, read_annotations(path)[0]) for path in (first, second)])


def test_what_is_no_annotation_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("item,grade\nq1,2\n")
    with pytest.raises(
        InputError,
        match=r"a.csv:1: not a file of snippet annotations; write the CSV of MTurk or Prolific",
    ):
        read_annotations(path)
    path.write_text("WorkerId,Answer.taskAnswers\nw,[]\n")
    with pytest.raises(
        InputError,
        match=r"no column 'Input.turn_id'; the columns are: WorkerId, Answer.taskAnswers",
    ):
        read_annotations(path)


@pytest.mark.parametrize(
    ("name", "texts", "annotators"),
    [("topic_1-paragraph-master", 60, 5), ("topic_2-paragraph-master", 50, 5), ("topic_1-paragraph-expert", 60, 3),
     ("topic_2-paragraph-expert", 50, 3)],
)  # fmt: skip
def test_released_files(shared_data: Path, name: str, texts: int, annotators: int) -> None:
    read, notes = read_annotations(shared_data / "snippets" / f"{name}.csv.gz")
    assert Counter(len(text.annotations) for text in read.values()) == {annotators: texts}
    assert bool(notes) == (name != "topic_1-paragraph-master")
    if annotators == 3:
        assert f"worker_477 ({texts} texts)" in notes[0]


def test_sentences_and_paragraphs_are_not_pooled(tmp_path: Path) -> None:
    read = []
    for unit in ("paragraph", "sentence"):
        path = tmp_path / unit
        path.write_text(json.dumps({"turn": "1_1", "passage": unit, "worker": "w", "text": "Bees fly.", "snippets": [[0, 4]],
                                    "unit": unit}) + "\n")  # fmt: skip
        read.append((path, read_annotations(path)[0]))
    with pytest.raises(UsageError) as error:
        join_annotations(read)
    assert str(error.value) == (
        f"annotations of paragraphs ({tmp_path}/paragraph) and sentences ({tmp_path}/sentence) are different tasks and"
        " cannot be"
        " pooled; analyze the files of each task separately"
    )
    both = tmp_path / "both"
    both.write_text("".join(path.read_text() for path, _ in read))
    with pytest.raises(UsageError, match="are different tasks"):
        join_annotations([(both, read_annotations(both)[0])])
    assert len(join_annotations(read[:1])) == 1


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"Input.passage_id": r"['\ud800']"}, "no passage id; complete the row or delete it"),
        ({"Input.passage_id": "[" * 2000}, "no passage id; complete the row or delete it"),
        ({"Input.passage_id": f"[{'-' * 2_000_000}1]"}, "no passage id; complete the row or delete it"),
        ({"Answer.taskAnswers": "[" * 100_000}, "is neither JSON nor a Python literal; write JSON, as MTurk does"),
        ({"Answer.taskAnswers": f"[{{'t': {{'entities': [{{'startOffset': 0, 'endOffset': 0x{'f' * 6000}}}]}}}}]"},
         "a snippet without start and end; write both as whole numbers"),
    ],
)  # fmt: skip
def test_literals_without_end(tmp_path: Path, changed: dict[str, str], message: str) -> None:
    path = write_csv(tmp_path / "file", [mturk("w1", json.dumps(answer((4, 9))), **changed)])
    with pytest.raises(InputError) as caught:
        read_annotations(path)
    assert str(caught.value).startswith(f"{path}:2: ") and message in str(caught.value)


def test_a_text_longer_than_the_csv_module_allows(tmp_path: Path) -> None:
    text = "word " * 100_000
    path = write_csv(
        tmp_path / "file", [mturk("w1", json.dumps(answer((0, 4))), **{"Input.passage": text})]
    )
    assert next(iter(read_annotations(path)[0].values())).text == text


# ---------------------------------------------------------------- what else a row says


def test_confidence_time_and_acceptance(tmp_path: Path) -> None:
    levels = dict.fromkeys(("very_low", "low", "medium", "high", "very_high"), False)
    rows = []
    # the marks Approve and Reject decide nothing: only the status says what happened
    for marked, seconds, status, approve, reject in (
        (["high"], "63", "Approved", "", "too long"), (["low", "high"], "", "Rejected", "x", ""),
        ([], "12.5", "Submitted", "", "too long"), (["very_low"], "0", "", "x", "why"),
    ):  # fmt: skip
        task = [
            {"answer_confidence": {**levels, **dict.fromkeys(marked, True)}, **answer((0, 3))[0]}
        ]
        marks = {"AssignmentStatus": status, "Approve": approve, "Reject": reject}
        rows.append(mturk("w", repr(task), WorkTimeInSeconds=seconds, **marks))
    (text,) = read_annotations(write_csv(tmp_path / "a.csv", rows))[0].values()
    assert [(one.confidence, one.seconds, one.accepted) for one in text.annotations] == [
        (4, 63, True), (None, None, False), (None, 12.5, None), (1, 0, None),
    ]  # fmt: skip
    plain = tmp_path / "plain.jsonl"
    row = {"turn": "1", "passage": "p", "worker": "w", "text": TEXT, "snippets": []}
    more = [
        {},
        {"confidence": 5, "seconds": 3, "accepted": False},
        {"confidence": "medium", "accepted": None},
    ]
    plain.write_text("".join(json.dumps({**row, **one}) + "\n" for one in more))
    (text,) = read_annotations(plain)[0].values()
    assert [(one.confidence, one.seconds, one.accepted) for one in text.annotations] == [
        (None, None, None), (5, 3, False), (3, None, None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"confidence": 6}, "a.jsonl:1: invalid confidence '6'; write 1 to 5, or remove it"),
        ({"confidence": True}, "a.jsonl:1: invalid confidence 'True'; write 1 to 5, or remove it"),
        ({"confidence": 2.5}, "a.jsonl:1: invalid confidence '2.5'; write 1 to 5, or remove it"),
        ({"seconds": -1}, "a.jsonl:1: invalid time '-1'; write seconds, 0 or more, or remove it"),
        (
            {"seconds": "soon"},
            "a.jsonl:1: invalid time 'soon'; write seconds, 0 or more, or remove it",
        ),
        ({"seconds": [1]}, "a.jsonl:1: invalid time '[1]'; write seconds, 0 or more, or remove it"),
        ({"accepted": "yes"}, "a.jsonl:1: accepted is 'yes'; write true or false, or remove it"),
    ],
)
def test_wrong_additions_are_told(tmp_path: Path, more: dict[str, Any], message: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        json.dumps(
            {"turn": "1", "passage": "p", "worker": "w", "text": TEXT, "snippets": [], **more}
        )
        + "\n"
    )
    with pytest.raises(InputError) as error:
        read_annotations(path)
    assert str(error.value).endswith(message)


# ---------------------------------------------------------------- the choice of sentences

SENTENCES = ["Mix flour and water.", "Wait a day."]


def test_choices_of_sentences_in_both_forms(tmp_path: Path) -> None:
    listed = repr([[text, f"1_2--p1--{place}"] for place, text in enumerate(SENTENCES)])
    row = {"WorkerId": "w1", "Input.turn_id": "1_2", "Input.passage_id": "p1", "Input.query": "How?", "Input.sentences": listed,
           "WorkTimeInSeconds": "75", "AssignmentStatus": "Approved",
           "Answer.1_2--p1--0.on": "False", "Answer.1_2--p1--1.on": "True",
           "Answer.1_3--p2--0.on": ""}  # fmt: skip
    released = write_csv(tmp_path / "s.csv", [row])
    plain = tmp_path / "s.jsonl"
    plain.write_text(json.dumps({"turn": "1_2", "passage": "p1", "worker": "w1", "query": "How?", "sentences": SENTENCES,
                                 "chosen": [1], "seconds": 75, "accepted": True}) + "\n")  # fmt: skip
    found = []
    for path in (released, plain):
        assert is_annotations(columns_of(path))
        (text,) = read_annotations(path)[0].values()
        assert (text.unit, text.text, text.parts) == ("selection", TEXT, ((0, 20), (21, 32)))
        assert text.annotations[0].spans == ((21, 32),)
        found.append(text)
    assert found[0] == found[1]
    paragraphs = write_csv(tmp_path / "p.csv", [mturk("w", json.dumps(answer()))])
    files = [(path, read_annotations(path)[0]) for path in (plain, paragraphs)]
    with pytest.raises(
        UsageError,
        match="^annotations of choices of sentences .* and paragraphs .* are different tasks",
    ):
        join_annotations(files)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"chosen": [2]}, "s.jsonl:1: chosen is not a list of numbers from 0 to 1; write"),
        ({"chosen": ["0"]}, "s.jsonl:1: chosen is not a list of numbers from 0 to 1; write"),
        ({"sentences": []}, "s.jsonl:1: no list of sentences; write their texts as a list"),
        ({"sentences": ["a", " "]}, "s.jsonl:1: no list of sentences; write their texts as a list"),
    ],
)
def test_wrong_choices_are_told(tmp_path: Path, more: dict[str, Any], message: str) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(
        json.dumps(
            {
                "turn": "1",
                "passage": "p",
                "worker": "w",
                "sentences": SENTENCES,
                "chosen": [],
                **more,
            }
        )
        + "\n"
    )
    with pytest.raises(InputError) as error:
        read_annotations(path)
    assert message in str(error.value)


def test_a_released_sentence_is_on_or_off(tmp_path: Path) -> None:
    row = {
        "WorkerId": "w",
        "Input.turn_id": "1",
        "Input.passage_id": "p",
        "Input.sentences": "[['a', 's0']]",
        "Answer.s0.on": "",
    }
    with pytest.raises(InputError, match="sentence 0 is neither on nor off; write True or False"):
        read_annotations(write_csv(tmp_path / "s.csv", [row]))
