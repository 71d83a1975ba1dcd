"""Rows with named columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from robustcs.errors import InputError, ProblemList
from robustcs.inputs.records import columns_of, find_column, need_column, read_rows


def rows_of(path: Path) -> tuple[list[str], list[tuple[int, dict[str, object]]]]:
    problems = ProblemList(path)
    columns, rows = read_rows(path, problems)
    found = list(rows)
    problems.raise_if_any()
    return columns, found


def test_commas_tabs_and_objects_say_the_same(tmp_path: Path) -> None:
    texts = {
        "a.csv": '\ufeffitem,worker\r\nq1,"Smith, J."\r\n\r\n"q\n2",w2\r\n',
        "a.tsv": 'item\tworker\nq1\tSmith, J.\n"q\n2"\tw2\n',
        "a.jsonl": '{"item": "q1", "worker": "Smith, J."}\n\n{"item": "q\\n2", "worker": "w2"}\n',
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, "utf-8", newline="")
        columns, rows = rows_of(tmp_path / name)
        assert columns == columns_of(tmp_path / name) == ["item", "worker"]
        assert [row for _, row in rows] == [{"item": "q1", "worker": "Smith, J."}, {"item": "q\n2", "worker": "w2"}]
        assert rows[0][0] == (1 if name.endswith("jsonl") else 2)


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
        ("a,a\n1,2\n", "two columns have the same name; give every column its own name in the first line"),
        ("[1]\n", "not a JSON object; write one JSON object per line"),
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
