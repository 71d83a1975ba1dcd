"""The blocks of ``robustcs clariq``."""

from __future__ import annotations

from robustcs.documents.document import TableBlock
from robustcs.evaluation.clarification import DocumentRelevance
from robustcs.inputs.clariq import Preference, Topics
from robustcs.policy import EvaluationPolicy
from robustcs.studies.clariq.analysis import clariq
from robustcs.studies.clariq.show import show
from tests.studies.clariq.test_analysis import System, outputs

TOPICS = Topics({"1": "one", "2": "two"}, {"1": 1, "2": 4}, {"1": frozenset({"a"}), "2": frozenset({"c"})},
                {"F1": "1", "F2": "2"}, {}, {}, 2)  # fmt: skip
SYSTEMS = (
    System("best", documents=DocumentRelevance({"P1": {"F1": 1.0, "F2": 1.0}})),
    System(
        "mine",
        {"1": ["a"]},
        DocumentRelevance({"P1": {"F1": 1.0, "F2": 0.0}}, {"F1": "a"}, {"F2": "no output"}),
        {"1": 1},
    ),
)


def test_every_table_has_cells_for_its_columns() -> None:
    result = clariq(
        outputs(*SYSTEMS),
        TOPICS,
        {},
        (Preference("clear", "mine", "yours", "mine", ""),),
        EvaluationPolicy(),
        0,
    )
    blocks = show(result)
    tables = {block.slug: block for block in blocks if isinstance(block, TableBlock)}
    assert list(tables) == [
        "question_relevance", "document_relevance", "comparisons-documents", "clarification_need", "need_confusion",
        "preference",
    ]  # fmt: skip
    assert [table.of for table in tables.values()] == [
        "question_relevance", "document_relevance", "comparisons", "clarification_need", "need_confusion", "preference",
    ]  # fmt: skip
    for table in tables.values():
        assert all(len(row) == len(table.columns) for row in table.rows)
    assert tables["question_relevance"].rows[0] == ("mine", "0.5000", "0.5000", "0.5000", "0.5000")
    note = tables["question_relevance"].note
    assert "Missing output: mine for 1 topic." in note
    assert note.endswith("No interval: only 2 topics (at least 5 required).")
    assert [row[:2] for row in tables["document_relevance"].rows] == [
        ("Best question", "1.0000"),
        ("mine", "0.5000"),
    ]
    assert tables["comparisons-documents"].rows[0][:3] == ("P1", "mine − Best question", "−0.5000")
    assert tables["clarification_need"].rows[0][4] == "0.0000"
    assert tables["need_confusion"].rows[3] == ("mine", "4", "0", "0", "0", "0", "1")
    assert tables["preference"].rows[0][:5] == ("clear", "mine : yours", "1", "0", "0")


def test_nothing_is_shown_of_tasks_without_input() -> None:
    result = clariq(outputs(*SYSTEMS[:1]), None, {}, (), EvaluationPolicy(), 0)
    assert [block.slug for block in show(result)] == ["document_relevance", "documents"]  # type: ignore[union-attr]


def test_pairs_of_systems_stand_together() -> None:
    judged = [("clear", "a", "b"), ("clear", "a", "c"), ("warm", "a", "b")]
    preferences = tuple(
        Preference(criterion, first, second, first, "") for criterion, first, second in judged
    )
    [table] = show(clariq(outputs(), None, {}, preferences, EvaluationPolicy(), 0))
    assert isinstance(table, TableBlock)
    assert [row[:2] for row in table.rows] == [
        ("clear", "a : b"),
        ("warm", "a : b"),
        ("clear", "a : c"),
    ]
    assert table.rules == {2}
