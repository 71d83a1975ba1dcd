"""A breakdown as blocks: its tables, one after the other for every rewriter, each named after the table that it shows."""

from __future__ import annotations

import pandas as pd

from robustcs.documents.document import Heading, TableBlock
from robustcs.documents.forms import shown_blocks
from robustcs.evaluation.thresholds import Threshold
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.studies.breakdown.analysis import Breakdown, breakdown
from robustcs.studies.breakdown.show import show
from tests.formulations import formulations_of

SHOWN = ["bins", "attribution", "blame", "answerable", "tests", "headroom"]


def result(*rewriters: str, texts: bool = False) -> Breakdown:
    """Two turns: Human alone answers the first, QR and Human the second."""
    frames = [
        pd.DataFrame({"P_1": values}, index=["1_1", "1_2"])
        for values in ([0.0, 0.0], [0.0, 1.0], [1.0, 1.0])
    ]
    scores = formulations_of(frames[0], dict.fromkeys(rewriters, frames[1]), frames[2])
    known = (
        {"original": {"1_1": "a", "1_2": "b"}, "human": {"1_1": "a", "1_2": "c"}} if texts else None
    )
    return breakdown(
        scores, Evaluated(EvaluationPolicy(), "scores", 2, 0), [Threshold("=", 1.0)], known
    )


def tables(result: Breakdown) -> list[TableBlock]:
    return [
        block for block in shown_blocks(result, show(result), ()) if isinstance(block, TableBlock)
    ]


def test_every_table_is_told_by_the_one_it_shows() -> None:
    assert [(table.of, table.slug) for table in tables(result("qr"))] == [
        (name, name) for name in SHOWN
    ]
    several = result("t5", "bart")
    assert not any(isinstance(block, Heading) for block in show(several))


def test_bins_in_the_papers_order_with_their_total() -> None:
    bins = tables(result("qr"))[0]
    assert [column.title for column in bins.columns] == ["Original", "QR", "Human", "= 1"]
    assert bins.rows[0] == ("×", "×", "×", "0") and bins.rows[4] == ("×", "×", "✓", "1")
    assert bins.rows[-1] == ("Total", "", "", "2") and bins.rules == {4, 6, 8}
    with_texts = tables(result("qr", texts=True))[0]
    assert with_texts.rows[4][-1] == "1 (1)" and with_texts.rows[-1][-1] == "2 (1)"


def test_turns_that_needed_rewriting_are_shown_where_texts_tell_them() -> None:
    assert len(tables(result("qr"))[3].columns) == 3
    answerable = tables(result("qr", texts=True))[3]
    assert {column.group for column in answerable.columns} == {
        "",
        "all turns",
        "turns that needed rewriting",
    }
    assert answerable.rows[0][:2] == ("P@1 = 1", "0 of 2") and answerable.rows[0][3] == "0 of 1"
