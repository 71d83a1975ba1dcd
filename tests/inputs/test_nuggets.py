"""Nuggets, and which of them answers hold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from robustcs.errors import InputError
from robustcs.inputs.nuggets import Assigned, Nugget, read_assignments, read_nuggets
from robustcs.inputs.sniff import identify


def written(folder: Path, rows: Sequence[Any]) -> Path:
    path = folder / "n.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def nugget(text: str = "a", **more: Any) -> dict[str, Any]:
    return {"text": text, "importance": "vital", **more}


def test_nuggets_in_lists_and_one_a_line(tmp_path: Path) -> None:
    both = [nugget(), {"text": "b", "importance": "okay", "passages": ["d1", 7]}]
    listed = written(tmp_path, [{"qid": "2024-1", "query": "x", "nuggets": both}])
    expected = (Nugget("a", "vital"), Nugget("b", "okay", ("d1", "7")))
    assert read_nuggets(listed) == {"2024-1": expected}
    found = identify(listed)
    assert (
        found is not None
        and found.kind == "nuggets"
        and found.advice == "use them with robustcs answers --nuggets"
    )
    single = [
        {"topic_id": 7, **nugget()},
        {"topic_id": 7, "text": "b"},
        {"topic_id": 7, **nugget()},
    ]
    assert read_nuggets(written(tmp_path, single)) == {"7": (Nugget("a", "vital"), Nugget("b", ""))}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"text": "a"}, "n.jsonl:1: no topic id; add topic_id or narrative_id or turn_id or qid to every line"),
        ({"qid": "1", "nuggets": [{"importance": "vital"}]}, "n.jsonl:1: turn 1: null is not a text; write a text in quotes"),
        ({"qid": "1", "nuggets": [nugget(importance="maybe")]}, "n.jsonl:1: topic 1: unknown importance 'maybe'; write"
            " vital or okay"),
        ({"qid": "1", "nuggets": [nugget(passages="d1")]},
         'n.jsonl:1: topic 1: the passages of a nugget are not a list of ids; write ["ID", …]'),
        ({"qid": "1", "nuggets": [nugget(), nugget(importance="okay")]},
         "n.jsonl:1: topic 1: nugget 'a' occurs twice with different values; keep one of the two"),
        ({"qid": "1", "nuggets": []}, "n.jsonl: the file has no nuggets; check the path"),
    ],
)  # fmt: skip
def test_wrong_nuggets_are_told(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        read_nuggets(written(tmp_path, [row]))
    assert str(error.value).endswith(message)


def assigned(run: str = "r1", label: str = "support", **more: Any) -> dict[str, Any]:
    return {"qid": "1", "run_id": run, "nuggets": [nugget(assignment=label)], **more}


def test_assignments_of_one_run_or_of_the_named_one(tmp_path: Path) -> None:
    labels = ("support", "partial_support", "not_support")
    rows = [
        {**assigned(label=label, answer_text="said"), "qid": str(place)}
        for place, label in enumerate(labels)
    ]
    path = written(tmp_path, rows)
    found = read_assignments(path, "any name")
    assert found["0"] == Assigned((Nugget("a", "vital", (), 1.0),), "said")
    assert [found[topic].nuggets[0].support for topic in found] == [1, 0.5, 0]
    kind = identify(path)
    assert kind is not None and kind.kind == "assignments"
    both = written(tmp_path, [assigned("r1"), assigned("r2", "not_support")])
    assert read_assignments(both, "r2")["1"] == Assigned((Nugget("a", "vital", (), 0.0),), None)
    with pytest.raises(
        InputError,
        match="the file contains assignments of r1, r2, but not of 'r3'; use one of these names for the answers",
    ):
        read_assignments(both, "r3")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([assigned(label="yes")],
         "n.jsonl:1: topic 1: unknown assignment 'yes'; write support, partial_support, not_support"),
        ([{"qid": "1", "nuggets": [nugget()]}],
         "n.jsonl:1: topic 1: no nuggets with an assignment; give a file of assignments"),
        ([assigned(), assigned()], "n.jsonl:2: topic 1 occurs twice; keep one of the two"),
        ([{"nuggets": [nugget(assignment="support")]}],
         "n.jsonl:1: no topic id; add topic_id or narrative_id or turn_id or qid to every line"),
    ],
)  # fmt: skip
def test_wrong_assignments_are_told(
    tmp_path: Path, rows: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(InputError) as error:
        read_assignments(written(tmp_path, rows))
    assert str(error.value).endswith(message)
