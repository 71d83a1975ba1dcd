"""What bounds ask of a measure, on judgments made by hand: distances of grades, counts of judged passages, weights of ranks."""

from __future__ import annotations

import numpy as np
import pytest

from robustcs.evaluation.extremes import BoundedMeasure
from robustcs.evaluation.matrix import ABSENT
from robustcs.evaluation.measure import parse_measure

JUDGED = np.array([[4, 2, 0, -1], [2, 1, ABSENT, ABSENT]], dtype=np.int16)


def asked(name: str, max_grade: int = 3, persistence: float = 0.8) -> BoundedMeasure:
    return BoundedMeasure(parse_measure(name), 2, persistence, max_grade, JUDGED)


def test_grades_that_occur_or_could_and_their_distances() -> None:
    assert asked("ndcg").heights == {1: 1, 2: 1, 3: 1, 4: 1}
    assert asked("ndcg", 6).heights == {1: 1, 2: 1, 4: 2, 6: 2}
    assert asked("ndcg", 0).heights == {1: 1, 2: 1, 4: 2}


def test_judged_passages_from_a_grade_on() -> None:
    counts = asked("ndcg").counts
    assert {grade: count.tolist() for grade, count in counts.items()} == {
        1: [2, 2],
        2: [2, 1],
        3: [1, 0],
        4: [1, 0],
    }


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        ("P_4", [0.25, 0.25, 0.25]), ("success_4", [1, 1, 1]), ("recall_4", [1, 1, 1]), ("recip_rank", [1, 1 / 2, 1 / 3]),
        ("ndcg", [1, 1 / np.log2(3), 1 / 2]), ("rbp", [0.2, 0.16, 0.128]),
    ],
)  # fmt: skip
def test_weights_of_ranks(name: str, weights: list[float]) -> None:
    assert asked(name).weights(3).tolist() == pytest.approx(weights)
