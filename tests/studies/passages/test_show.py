"""Passages for annotation as people see them."""

from __future__ import annotations

from robustcs.documents.document import TableBlock
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.studies.crowd.analysis import as_qrels
from robustcs.studies.passages.analysis import choose_passages
from robustcs.studies.passages.show import show


def test_passages_and_turns_with_too_few() -> None:
    judged = [("1_1", "a", 3), ("1_1", "b", 1), ("1_2", "c", 3), ("1_2", "gone", 2)]
    evaluated = Evaluated(EvaluationPolicy(), "texts", 2, 0)
    result = choose_passages(
        as_qrels("q", judged), {"a": "x" * 91, "b": "y" * 90, "c": "z"}, evaluated, per_turn=2
    )
    passages, turns = show(result)
    assert isinstance(passages, TableBlock) and isinstance(turns, TableBlock)
    assert (passages.of, turns.of) == ("passages", "turns")
    assert passages.rows == (
        ("1_1", "a", "3", "x" * 89 + "…"),
        ("1_1", "b", "1", "y" * 90),
        ("1_2", "c", "3", "z"),
    )
    assert turns.rows == (("1_2", "1", "2", "1"),)
    assert turns.note == "Relevant: passages at or above the relevance level."


def test_where_every_turn_has_enough_no_turn_is_listed() -> None:
    evaluated = Evaluated(EvaluationPolicy(), "texts", 1, 0)
    result = choose_passages(as_qrels("q", [("1_1", "a", 3)]), {"a": "text"}, evaluated, per_turn=1)
    assert [block.of for block in show(result) if isinstance(block, TableBlock)] == ["passages"]
