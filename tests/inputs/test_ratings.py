"""Individual ratings."""

from __future__ import annotations

from pathlib import Path

import pytest

from robustcs.errors import InputError
from robustcs.inputs.ratings import ONE_CRITERION, is_ratings, read_ratings


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "r.csv"
    path.write_text(text)
    return path


def test_columns_have_several_names(tmp_path: Path) -> None:
    ratings, notes = read_ratings(
        write(tmp_path, "Rating,annotator,paraphrase\n3.0,w1,a\ngood,w2,a\n")
    )
    assert [rating[:5] for rating in ratings] == [
        ("", "a", "w1", ONE_CRITERION, "3"),
        ("", "a", "w2", ONE_CRITERION, "good"),
    ]
    assert notes == ()
    assert is_ratings(["item", "rater", "score"]) and not is_ratings(["item", "score"])


def test_json_numbers_and_missing_ratings(tmp_path: Path) -> None:
    lines = ('{"turn": "1_1", "item": "q", "worker": 7, "criterion": "c", "grade": 2}\n'
             '{"turn": "1_1", "item": "q", "worker": 8, "criterion": "c", "grade": null}\n'
             '{"turn": "1_1", "item": "q", "worker": 7, "criterion": "c", "grade": 2.0}\n')  # fmt: skip
    ratings, notes = read_ratings(write(tmp_path, lines), turns=True)
    assert [rating[:5] for rating in ratings] == [("1_1", "q", "7", "c", "2")]
    assert notes == ("1 repeated rating counted once", "1 row without a rating skipped")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,worker,grade\n,w,1\n", "r.csv:2: no item; complete the row or delete it"),
        ("item,worker,grade\nq,w,1\nq,w,2\n", "r.csv:3: q, rating: w gives '2' here but '1' in line 2; keep one of the two"),
        ("item,worker,grade\nq,w,\n", "r.csv: the file has no ratings; check the path"),
        ("item,grade\nq,1\n",
         "r.csv:1: no column 'worker'; the columns are: item, grade;"
         " rename one of them to worker or rater or annotator or worker_id"),
    ],
)  # fmt: skip
def test_bad_rows(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_ratings(write(tmp_path, text))
    assert str(caught.value) == f"{tmp_path}/{message}"


def test_turns_can_be_needed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no column 'turn'"):
        read_ratings(write(tmp_path, "item,worker,grade\nq,w,1\n"), turns=True)
