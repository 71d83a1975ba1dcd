"""Labels of judges: every form gives the same labels; what is no label is counted, what is ambiguous refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from robustcs.errors import InputError, UsageError
from robustcs.inputs.labels import Labels, LabelTexts, read_labels

PAIRS = {("1_1", "a"): 0, ("1_1", "b"): 3, ("1_2", "a"): 1}


def as_dict(labels: Labels) -> dict[tuple[str, str], int]:
    qrels = labels.qrels
    documents = qrels.documents.texts()
    rows = zip(qrels.turn_codes, qrels.document_codes, qrels.grades, strict=True)
    return {(qrels.turns[turn], documents[document]): int(grade) for turn, document, grade in rows}


def write(folder: Path, text: str | list[dict[str, Any]]) -> Path:
    path = folder / "labels"
    path.write_text(
        text if isinstance(text, str) else "".join(json.dumps(row) + "\n" for row in text),
        encoding="utf-8",
    )
    return path


FORMS = {
    "qrels": "1_1 0 a 0\n1_1 0 b 3\n1_2 0 a 1\n",
    "qrels with a header": "query_id 0 doc_id relevance\n1_1 0 a 0\n1_1 0 b 3\n1_2 0 a 1\n",
    "sheet of judge": "\ufefftopic,turn,human,document,passage,influence,grade\r\n1,1_1,What?,a,Text,0.5,0\r\n"
    "1,1_1,What?,b,\"Text, long\",0.5,3\r\n1,1_2,What?,a,Text,0.1,1\r\n",
    "sheet with semicolons": "sep=;\nturn;document;grade\n1_1;a;0\n1_1;b;3,0\n'1_2;a;1.0\n",
    "frame of autoqrels": "\tquery_id\tdoc_id\trelevance\n0\t1_1\ta\t0.0\n1\t1_1\tb\t3.0\n2\t1_2\ta\t1.0\n",
    "JSONL with ids": '{"qid": "1_1", "docid": "a", "judgment": 0}\n{"qid": "1_1", "docid": "b", "judgment": 3}\n'
    '{"qid": "1_2", "docid": "a", "judgment": "1"}\n',
    "JSON list": '[{"turn": "1_1", "document": "a", "grade": 0}, {"turn": "1_1", "document": "b", "grade": 3},\n'
    ' {"turn": "1_2", "document": "a", "grade": 1}]\n',
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_labels(tmp_path: Path, form: str) -> None:
    assert as_dict(read_labels(write(tmp_path, FORMS[form]))) == PAIRS


def umbrela(query: str, passage: str, judgment: object, status: int | None = 1) -> dict[str, Any]:
    row = {
        "model": "m",
        "query": query,
        "passage": passage,
        "prompt": "…",
        "prediction": "…",
        "judgment": judgment,
    }
    return row if status is None else {**row, "result_status": status}


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    path = tmp_path / "collection.jsonl"
    rows = [
        ("a", "Bread needs yeast."),
        ("b", "Bees  dance. "),
        ("twin1", "The same."),
        ("twin2", "The same."),
    ]
    path.write_text(
        "".join(json.dumps({"id": name, "contents": text}) + "\n" for name, text in rows),
        encoding="utf-8",
    )
    return path


QUERIES = {"original": {"1_1": "What is bread?", "1_2": "And it?", "2_1": "And it?"}, "human": {"1_1": "What is bread?",
           "1_2": "What is yeast?", "2_1": "Do bees dance?"}}  # fmt: skip


def test_texts_are_joined_exactly_and_the_rest_is_counted(tmp_path: Path, collection: Path) -> None:
    rows = [
        umbrela("What is bread?", "Bread needs yeast.", 3), umbrela(" Do bees dance? ", "Bees  dance.", 2, None),
        umbrela("What is yeast?", "Bread needs yeast.", 0, 0), umbrela("What is yeast?", "Bees dance.", 1),
        umbrela("Nobody asked", "Bread needs yeast.", 1), umbrela("What is yeast?", "Bees  dance.", None),
    ]  # fmt: skip
    labels = read_labels(write(tmp_path, rows), lambda: LabelTexts(QUERIES, collection))
    assert as_dict(labels) == {("1_1", "a"): 3, ("2_1", "b"): 2}
    # a fallback is no grade; one blank more in the passage is another text
    assert (labels.fallback, labels.unknown, labels.unlabelled) == (1, 2, 1)
    assert labels.lines is not None and labels.lines.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (
            umbrela("And it?", "Bread needs yeast.", 1),
            "query 'And it?' is the text of both 1_2 and 2_1",
        ),
        (
            umbrela("What is bread?", "The same.", 1),
            "passage 'The same.' is the text of both twin1 and twin2",
        ),
        (umbrela("What is bread?", "Bread needs yeast.", 0.5), "grade '0.5' is not a grade"),
        ({**umbrela("x", "y", 1), "query": 3}, "query is not a text"),
    ],
)
def test_what_cannot_be_told_is_refused_with_its_line(
    tmp_path: Path, collection: Path, row: dict[str, Any], said: str
) -> None:
    path = write(tmp_path, [umbrela("What is bread?", "Bread needs yeast.", 1), row])
    with pytest.raises(InputError) as error:
        read_labels(path, lambda: LabelTexts(QUERIES, collection))
    assert str(error.value).startswith(f"{path}:2: {said}")


def test_labels_for_texts_need_the_texts(tmp_path: Path, collection: Path) -> None:
    path = write(tmp_path, [umbrela("What is bread?", "Bread needs yeast.", 1)])
    with pytest.raises(UsageError, match="--collection FILE"):
        read_labels(path, lambda: LabelTexts(QUERIES, None))
    with pytest.raises(UsageError, match="--rewrites ROLE=FILE"):
        read_labels(path, lambda: LabelTexts({}, collection))
    with pytest.raises(InputError, match="no label has the texts"):
        read_labels(path, lambda: LabelTexts({"human": {"1_1": "Something else?"}}, collection))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("turn,document,grade\n1_1,a,0\n1_1,a,1\n", ":3: turn 1_1 document a has grade 1 but grade 0 in line 2"),
        ("turn,document,grade\n1_1,a,high\n", ":2: grade 'high' is not a grade"),
        ("turn,document,grade\n1_1,a,0.73\n", ":2: grade '0.73' is not a grade"),
        ("turn,document,grade\n1_1\n", ":2: no document id"),
        ("turn,document,grade\n,a,1\n", ":2: no turn id"),
        ("turn,document,grade\n1_1,a,\n", ": no row has a grade"),
        ('{"turn": "1_1", "text": "x"}\n{"turn": "1_1", "text": "x"}\n', ":1: no labels; the fields are: turn, text"),
        ('{"turn": "1_1", "document": "a", "grade": true}\n{}\n', ":1: grade 'True' is not a grade"),
        ("[1, 2]\n", ": entry 1 of the list is not an object"),
    ],
)  # fmt: skip
def test_broken_files_are_refused(tmp_path: Path, text: str, said: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError) as error:
        read_labels(path)
    assert str(error.value).splitlines()[0].startswith(f"{path}{said}")


def test_fallbacks_in_a_table_are_no_labels(tmp_path: Path) -> None:
    text = "turn,document,judgment,result_status\n1_1,a,0,0\n1_1,b,0,1\n1_1,c,2,1.0\n"
    labels = read_labels(write(tmp_path, text))
    assert (as_dict(labels), labels.fallback) == ({("1_1", "b"): 0, ("1_1", "c"): 2}, 1)


def test_a_label_that_stands_twice_counts_once(tmp_path: Path) -> None:
    labels = read_labels(write(tmp_path, "turn,document,grade\n1_1,a,1\n1_1,a,1\n1_1,b,\n"))
    assert as_dict(labels) == {("1_1", "a"): 1} and labels.unlabelled == 1
    assert labels.qrels.notes == ("labels: 1 repeated label counted once",)


def test_the_line_of_a_label(tmp_path: Path) -> None:
    path = write(tmp_path, "# a comment\n1_1 0 a 0\n1_1 0 b 3\n")
    assert [read_labels(path).line(path, place) for place in (0, 1)] == [2, 3]
    table = write(tmp_path, "turn,document,grade\n\n1_1,a,1\n")
    assert read_labels(table).line(table, 0) == 3


def test_real_labels(shared_data: Path) -> None:
    judges = sorted((shared_data / "llmjudge" / "judges").iterdir())
    assert len(judges) == 23
    assert {len(read_labels(path)) for path in judges} == {4423}
