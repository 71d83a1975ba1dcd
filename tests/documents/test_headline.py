"""The measure and threshold that findings are about."""

from __future__ import annotations

import pytest

from robustcs.documents.headline import headline_cut, headline_measure


@pytest.mark.parametrize(
    ("names", "headline"),
    [
        (["P_1", "ndcg_cut_3"], "ndcg_cut_3"),
        (["P_1", "ndcg_cut_3", "map"], "ndcg_cut_3"),
        (["map", "ndcg_cut_3", "P_1"], "map"),
        (["success_1", "P_1"], "success_1"),
        (["P_3", "map"], "P_3"),
        (["em", "f1"], "f1"),
    ],
)
def test_the_first_measure_that_is_more_than_right_or_wrong(
    names: list[str], headline: str
) -> None:
    assert headline_measure(names) == headline


def test_the_threshold_nearest_to_a_half() -> None:
    cuts = [("P_1", "=1"), ("map", ">0"), ("map", ">=0.5"), ("map", "=1"), ("ndcg", ">=0.5")]
    assert headline_cut(cuts) == ("map", ">=0.5")
    assert headline_cut([("map", "=1"), ("map", ">0")]) == ("map", ">0")
    assert headline_cut([("P_1", "=1")]) == ("P_1", "=1")
