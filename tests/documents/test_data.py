"""JSON and CSV for programs: exact, strict and quick."""

from __future__ import annotations

import csv
import io
import json
import math
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from robustcs.documents.data import to_csv, to_json
from tests.tables import table_of

FRAME = pd.DataFrame(
    {
        "turn": ["31_1", "31_2", "31_3"],
        "score": [0.1 + 0.2, math.nan, math.inf],
        "count": np.array([1, 2, 3], dtype=np.int16),
        "found": np.array([True, False, True]),
        "grade": pd.array([1, None, 3], dtype="Int64"),
        "text": ["=1+1", None, 'a "b", c\r\nd'],
        "mixed": np.array([np.float32(0.5), np.int64(2), np.bool_(True)], dtype=object),
    },
    index=["x", "y", "z"],
)


def refuse(name: str) -> float:
    raise AssertionError(f"{name} is not JSON")


def read(text: str) -> Any:
    return json.loads(text, parse_constant=refuse)


def test_json_is_the_contract() -> None:
    policy = {"relevance_level": np.int64(2), "missing": "zero", "depth": None}
    inputs = [{"role": "qr", "path": "a\udcff.run", "sha256": "00", "rows": np.int64(5)}]
    text = to_json(
        "breakdown",
        "0.1",
        policy,
        inputs,
        {"bins": table_of(FRAME), "none": table_of(FRAME[:0])},
        ["✓ note"],
    )
    value = read(text)
    assert list(value) == ["command", "version", "policy", "inputs", "tables", "notes"]
    assert value["policy"] == {"relevance_level": 2, "missing": "zero", "depth": None}
    assert value["inputs"] == [{"role": "qr", "path": "a\ufffd.run", "sha256": "00", "rows": 5}]
    assert value["notes"] == ["✓ note"] and "✓" in text and text.endswith("}\n")
    assert value["tables"]["none"] == []
    first, second, third = value["tables"]["bins"]
    assert first == {
        "turn": "31_1",
        "score": 0.3,
        "count": 1,
        "found": True,
        "grade": 1,
        "text": "=1+1",
        "mixed": 0.5,
    }
    assert (
        second["score"] is None
        and second["grade"] is None
        and second["text"] is None
        and second["mixed"] == 2
    )
    assert third["score"] is None and third["mixed"] is True and third["text"] == 'a "b", c\r\nd'


def test_json_without_anything() -> None:
    assert read(to_json("x", "1", {}, [], {}, [])) == {
        "command": "x",
        "version": "1",
        "policy": {},
        "inputs": [],
        "tables": {},
        "notes": [],
    }


def test_csv() -> None:
    lines = to_csv(table_of(FRAME), raw=True).split("\n")
    assert lines[0] == "turn,score,count,found,grade,text,mixed"
    assert lines[1] == "31_1,0.3,1,True,1,=1+1,0.5"
    assert lines[2] == "31_2,,2,False,,,2"
    assert lines[3] + "\n" + lines[4] == '31_3,,3,True,3,"a ""b"", c\r\nd",True'
    assert lines[5:] == [""]
    assert to_csv(table_of(pd.DataFrame({"only": [None, "x"]}))) == 'only\n""\nx\n'
    assert to_csv(table_of(pd.DataFrame({"a": [], "b": []}))) == "a,b\n"


@given(st.lists(st.tuples(st.text(), st.floats(allow_nan=False, allow_infinity=False)), min_size=1))
def test_csv_and_json_read_back(rows: list[tuple[str, float]]) -> None:
    frame = pd.DataFrame(rows, columns=["text", "number"])
    parsed = list(csv.reader(io.StringIO(to_csv(table_of(frame), raw=True), newline="")))[1:]
    expected = [
        (text, float(np.format_float_scientific(number, 11, unique=False))) for text, number in rows
    ]
    assert [(text, float(number)) for text, number in parsed] == expected
    table = read(to_json("x", "1", {}, [], {"t": table_of(frame)}))["tables"]["t"]
    assert [(row["text"], row["number"]) for row in table] == expected


def test_column_names_are_texts() -> None:
    frame = pd.DataFrame({'50 % "x"': [1], "a,b": [2], 3: [4]})
    assert read(to_json("x", "1", {}, [], {"t": table_of(frame)}))["tables"]["t"] == [
        {'50 % "x"': 1, "a,b": 2, "3": 4}
    ]
    assert to_csv(table_of(frame)) == '"50 % ""x""","a,b",3\n1,2,4\n'


def test_ten_thousand_rows_are_written_whole() -> None:
    rng = np.random.default_rng(0)
    rows = 10_000
    frame = pd.DataFrame({"turn": [f"{n}_1" for n in range(rows)], "bin": ["×✓✓"] * rows})
    frame = frame.assign(**{name: rng.random(rows) for name in ("original", "qr", "human")})
    text = to_json("breakdown", "0.1", {}, [], {"turns": table_of(frame)})
    table = to_csv(table_of(frame))
    assert len(read(text)["tables"]["turns"]) == rows
    pd.testing.assert_frame_equal(pd.read_csv(io.StringIO(table)), frame, rtol=5e-12)


def test_imports_of_data_and_files_stay_light() -> None:
    code = (
        "import sys, robustcs.documents.data, robustcs.documents.files, robustcs.documents.document, robustcs.documents.text; "
        "print([m for m in ('rich', 'matplotlib', 'jinja2', 'typst', 'pandas', 'numpy') if m in sys.modules])"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert out.strip() == "[]"
