"""Grades of judges on the scale of people."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustcs.errors import InputError
from robustcs.evaluation.judges import on_scale, scale_of
from robustcs.inputs.labels import Labels, read_labels
from tests.evaluation.test_augmentation import as_qrels
from tests.inputs.test_labels import as_dict

labels = st.dictionaries(
    st.tuples(st.sampled_from(["1_1", "1_2", "2_1"]), st.sampled_from("abcdef")),
    st.integers(-2, 6),
    min_size=1,
)


def test_the_scale_is_that_of_people_and_has_a_zero() -> None:
    assert scale_of(as_qrels({("1_1", "a"): 1, ("1_1", "b"): 4})) == (0, 4)
    assert scale_of(as_qrels({("1_1", "a"): -1, ("1_1", "b"): 2})) == (-1, 2)


@given(labels)
def test_dropped_and_clipped(given_labels: dict[tuple[str, str], int]) -> None:
    one = Labels(as_qrels(given_labels))
    outside = {pair: grade for pair, grade in given_labels.items() if not 0 <= grade <= 3}
    clipped = on_scale(one, (0, 3), "clip", "x")
    assert as_dict(clipped.labels) == {
        pair: int(np.clip(grade, 0, 3)) for pair, grade in given_labels.items()
    }
    assert sum(clipped.off_scale.values()) == len(outside) and set(clipped.off_scale) == set(
        outside.values()
    )
    if len(outside) == len(given_labels):
        with pytest.raises(InputError, match="no grade is on the scale 0 to 3"):
            on_scale(one, (0, 3), "drop", "x")
        return
    dropped = on_scale(one, (0, 3), "drop", "x").labels
    assert as_dict(dropped) == {
        pair: grade for pair, grade in given_labels.items() if pair not in outside
    }
    # turns without a label are no turns
    assert set(dropped.qrels.turns) == {turn for turn, _ in as_dict(dropped)}


def test_refused_with_every_line(tmp_path: Path) -> None:
    for name, text in (
        ("a.txt", "1_1 0 a 5\n1_1 0 b 2\n1_2 0 a -1\n"),
        ("a.csv", "turn,document,grade\n1_1,a,5\n1_2,a,-1\n"),
    ):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError) as error:
            on_scale(read_labels(path), (0, 3), "refuse", path)
        first = 1 if name == "a.txt" else 2
        assert [problem.line for problem in error.value.problems] == [first, 3]
        assert "grade 5 is outside the scale 0 to 3" in str(
            error.value
        ) and "grade -1 is outside" in str(error.value)
    assert on_scale(read_labels(path), (-1, 5), "refuse", path).off_scale == {}


def test_a_scale_includes_0_and_no_grade_that_people_did_not_give() -> None:
    assert scale_of(as_qrels({("1_1", "a"): 0, ("1_1", "b"): 0})) == (0, 0)
    assert scale_of(as_qrels({("1_1", "a"): -1, ("1_1", "b"): -2})) == (-2, 0)
    assert scale_of(as_qrels({("1_1", "a"): 2, ("1_1", "b"): 3})) == (0, 3)
