"""Rows with named columns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from robustcs.errors import InputError, ProblemList
from robustcs.inputs.paraphrases import read_paraphrases
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.ratings import read_ratings
from robustcs.inputs.runs import read_run
from robustcs.inputs.scores import read_scores
from robustcs.inputs.sniff import identify
from robustcs.inputs.tables import columns_of, find_column, need_column, read_rows
from robustcs.inputs.texts import read_texts


def rows_of(path: Path) -> tuple[list[str], list[tuple[int, dict[str, object]]]]:
    problems = ProblemList(path)
    columns, rows = read_rows(path, problems)
    found = list(rows)
    problems.raise_if_any()
    return columns, found


def test_commas_tabs_and_objects_say_the_same(tmp_path: Path) -> None:
    texts = {
        "a.csv": '\ufeffitem,worker\r\nq1,"Smith, J."\r\n\r\n"q\n2",w2\r\n',
        "b.csv": '"item";worker\r\nq1;Smith, J.\r\n;\r\n"q\n2";w2\r\n',
        "a.tsv": 'item\tworker\nq1\tSmith, J.\n"q\tw2\n',
        "a.jsonl": '{"item": "q1", "worker": "Smith, J."}\n\n{"item": "q\\n2", "worker": "w2"}\n',
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, "utf-8", newline="")
        columns, rows = rows_of(tmp_path / name)
        last = '"q' if name.endswith("tsv") else "q\n2"  # TSV has no quoting
        assert columns == columns_of(tmp_path / name) == ["item", "worker"]
        assert [row for _, row in rows] == [
            {"item": "q1", "worker": "Smith, J."},
            {"item": last, "worker": "w2"},
        ]
        assert rows[0][0] == (1 if name.endswith("jsonl") else 2)


#: Reader, and a table with commas and the same table with semicolons and decimal commas.
READ: dict[str, tuple[Callable[[Path], Any], str, str]] = {
    "run": (
        lambda path: [
            column.tolist() for column in (read_run(path).scores, read_run(path, ranks=True).ranks)
        ],
        "query_id,doc_id,score,rank\n1_1,a,2.5,1\n1_1,b,-1.25e-3,2\n",
        'query_id;doc_id;score;rank\n1_1;a;2,5;1\n"1_1";b;-1,25e-3;2\n;;;\n',
    ),
    "qrels": (
        lambda path: (read_qrels(path).ids.texts(), read_qrels(path).grades.tolist()),
        'query_id,doc_id,relevance,comment\n1_1,a,1.0,\n1_1,b,0,"no, 1.5"\n',
        "query_id;doc_id;relevance;comment\n1_1;a;1,0;\n1_1;b;0;no, 1.5\n;;;\n",
    ),
    "scores": (
        lambda path: read_scores(path).to_dict(),
        "query_id,satisfaction,f1\n1_1,0.5,1.0\n1_2,1.0,0.25\n",
        "query_id;satisfaction;f1\n1_1;0,5;1,0\n1_2;1;0,25\n;;\n",
    ),
    "texts": (
        lambda path: read_texts(path, "original"),
        'query_id,query\n1_1,"What is 1,5; why?"\n',
        'query_id;query\n1_1;"What is 1,5; why?"\n',
    ),
    "ratings": (
        lambda path: [rating[1:5] for rating in read_ratings(path)[0]],
        "item,worker,grade\nq1,w1,4.5\nq1,w2,3\n",
        "item;worker;grade\nq1;w1;4,5\nq1;w2;3\n",
    ),
    "paraphrases": (
        lambda path: dict(read_paraphrases(path)),
        'TURN_ID,MANUAL PARAPHRASE,RAW PARAPHRASE\n1_1,"Why, then?",Why?\n',
        "TURN_ID;MANUAL PARAPHRASE;RAW PARAPHRASE\n1_1;Why, then?;Why?\n",
    ),
}


@pytest.mark.parametrize("kind", READ)
def test_spreadsheets_with_semicolons_and_decimal_commas(tmp_path: Path, kind: str) -> None:
    """What a spreadsheet exports where the comma is the decimal point is read like its English twin."""
    read, english, german = READ[kind]
    (tmp_path / "a.csv").write_text(english)
    (tmp_path / "b.csv").write_text(german, "utf-8-sig", newline="\r\n")
    assert read(tmp_path / "b.csv") == read(tmp_path / "a.csv")
    assert identify(tmp_path / "b.csv") == identify(tmp_path / "a.csv") is not None


def test_bad_rows_are_told_together(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('a,b\n1\n1,2,3\n1,2\n"open,2\n')
    with pytest.raises(InputError) as caught:
        rows_of(path)
    assert str(caught.value).replace(str(path), "a.csv") == (
        "a.csv:2: 1 column, but the header has 2; complete the row or delete it\n"
        "a.csv:3: 3 columns, but the header has 2; put texts with commas in quotes\n"
        "a.csv:5: not CSV (unexpected end of data); double the quotes inside a quoted text, and close the text"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty; check the path"),
        (
            "a,a\n1,2\n",
            "two columns have the same name; give every column its own name in the first line",
        ),
        ("[1]\n", "a: JSON, but not an object per line; write one JSON object per line$"),
        (
            '[\n {\n  "a": 1\n },\n {"b": 2}\n]\n',
            "a: JSON, but not an object per line; write one JSON object per line$",
        ),
        ('{"a": 1}\n[1]\n', "a:2: not a JSON object; write one JSON object per line$"),
    ],
)
def test_what_is_no_table(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        rows_of(path)


def test_columns_are_found_by_any_of_their_names(tmp_path: Path) -> None:
    columns = ["Turn_ID", "worker", "Worker"]
    assert find_column(columns, ("turn", "turn_id")) == "Turn_ID"
    assert find_column(columns, ("WORKER",)) == "worker"
    assert find_column(columns, ("item",)) is None
    with pytest.raises(InputError) as caught:
        need_column("f.csv", columns, ("item", "document"))
    assert str(caught.value) == (
        "f.csv:1: no column 'item'; the columns are: Turn_ID, worker, Worker; rename one of them to item or document"
    )
