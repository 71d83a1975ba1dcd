"""Reviews of turns, as the page of a report exports them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from robustcs.errors import InputError
from robustcs.inputs.reviews import Review, Sample, read_reviews
from robustcs.inputs.sniff import kind_of

LINE = {"turn": "31_4", "systems": ["t5"], "categories": ["lost entity"], "note": "n", "coder": "ada",
        "sample": {"kind": "random", "seed": 7, "of": 92, "size": 30}}  # fmt: skip


def written(path: Path, *lines: Any) -> Path:
    path = path / "review.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_all_fields_and_only_the_needed_ones(tmp_path: Path) -> None:
    path = written(tmp_path, LINE, {"turn": 5, "categories": []}, LINE)
    assert kind_of(path) == "reviews"
    assert read_reviews(path) == (
        Review("31_4", ("t5",), ("lost entity",), "ada", Sample("random", 7, 92, 30), "n"),
        Review("5", (), (), "", Sample()),
    )


def test_one_system_may_be_a_text_and_further_fields_are_ignored(tmp_path: Path) -> None:
    (read,) = read_reviews(
        written(
            tmp_path, {**LINE, "systems": "t5", "time": "2026-01-01", "categories": [" a ", "a"]}
        )
    )
    assert (read.systems, read.categories) == (("t5",), ("a",))


@pytest.mark.parametrize(("change", "told"), [
    ({"turn": ""}, "no turn id; add a turn id such as 31_4"),
    ({"categories": "lost"}, "turn 31_4: categories are not a list of names"),
    ({"categories": [3]}, "turn 31_4: categories are not a list of names"),
    ({"categories": [" "]}, "turn 31_4: categories are not a list of names"),
    ({"systems": [1]}, "turn 31_4: systems are not a list of names"),
    ({"coder": 3}, "turn 31_4: coder is not a text"),
    ({"sample": "random"}, "turn 31_4: sample is not {kind, seed, of, size}"),
    ({"sample": {"kind": "random", "of": "92"}}, "turn 31_4: sample is not {kind, seed, of, size}"),
])  # fmt: skip
def test_a_bad_line_is_named(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    path = written(tmp_path, {**LINE, **change})
    with pytest.raises(InputError) as error:
        read_reviews(path)
    assert f"{path}:1: {told}" in str(error.value)


def test_one_bad_line_does_not_cost_the_file(tmp_path: Path) -> None:
    good = [{**LINE, "turn": f"1_{number}"} for number in range(40)]
    assert len(read_reviews(written(tmp_path, *good, {"turn": "2_1", "categories": 3}))) == 40


def test_a_turn_coded_twice_and_an_empty_file(tmp_path: Path) -> None:
    with pytest.raises(
        InputError,
        match="review.jsonl:2: turn 31_4 has other categories in line 1; keep one of the two",
    ):
        read_reviews(written(tmp_path, LINE, {**LINE, "categories": []}))
    # a larger sample with the same seed is the same sample; another seed is another
    assert (
        len(
            read_reviews(
                written(tmp_path, LINE, {**LINE, "sample": {**LINE["sample"], "size": 50}})
            )
        )
        == 1
    )
    assert (
        len(
            read_reviews(written(tmp_path, LINE, {**LINE, "sample": {**LINE["sample"], "seed": 8}}))
        )
        == 2
    )
    with pytest.raises(InputError, match="the file has no reviews"):
        read_reviews(written(tmp_path))
