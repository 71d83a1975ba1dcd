"""The blocks of ``robustcs crowd``."""

from __future__ import annotations

from robustcs.documents.document import TableBlock
from robustcs.result import Evaluated
from robustcs.studies.crowd.analysis import as_qrels, crowd, judgments_of
from robustcs.studies.crowd.show import show
from tests.studies.crowd.test_analysis import MEASURES, POLICY, A, B

QRELS = as_qrels("r", [("1_2", "Q2", 2), ("1_10", "Q1", 3)])


def tables(*criteria: str) -> dict[str, TableBlock]:
    judgments = judgments_of(dict.fromkeys(criteria, QRELS), 3, None)
    blocks = show(crowd(judgments, [A, B], MEASURES, Evaluated(POLICY, "runs", 2, 1)))
    return {block.slug: block for block in blocks if isinstance(block, TableBlock)}


def test_a_single_criterion_has_no_column() -> None:
    one, two = tables("use"), tables("use", "tone")
    assert list(one) == ["qrels", "measures"] == [table.of for table in one.values()]
    assert [column.title for column in one["measures"].columns[:3]] == [
        "Turn set",
        "System",
        "answered",
    ]
    assert [column.title for column in two["measures"].columns[:4]] == [
        "Criterion",
        "Turn set",
        "System",
        "answered",
    ]
    assert [column.title for column in one["measures"].columns[4:]] == ["P@1", "NDCG@3"]
    assert one["measures"].rules == {2} and two["measures"].rules == {2, 4, 6}
    for table in (*one.values(), *two.values()):
        assert all(len(row) == len(table.columns) for row in table.rows)
