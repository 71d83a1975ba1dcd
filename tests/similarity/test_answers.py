"""Names of the measures of answers."""

from __future__ import annotations

import pytest

from robustcs.errors import UsageError
from robustcs.similarity.rankings import parse_answer_measure


def test_names() -> None:
    one = parse_answer_measure("overlap_1000")
    assert (one.name, one.kind, one.depth) == ("overlap_1000", "overlap", 1000)
    assert parse_answer_measure("jaccard_10").kind == "jaccard"
    assert parse_answer_measure("rbo").persistence == 0.9
    assert parse_answer_measure("rbo_0.95").persistence == 0.95
    assert parse_answer_measure("answer_jaccard").kind == "answer_jaccard"
    assert parse_answer_measure("nDCG@3").name == "ndcg_cut_3"
    correct = parse_answer_measure("nDCG@3 >= 0.5")
    assert (correct.name, correct.kind) == ("ndcg_cut_3>=0.5", "correct")
    assert parse_answer_measure("P_1=1").name == "P_1=1"


@pytest.mark.parametrize("name", ["foo", "overlap", "overlap_0", "rbo_1", "rbo_0", ""])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="write overlap_K, jaccard_K, rbo"):
        parse_answer_measure(name)
