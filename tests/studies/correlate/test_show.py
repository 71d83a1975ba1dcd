"""Correlations as blocks: which table of the result each shows, and what its cells say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from robustcs.documents.document import Cards, Figure, TableBlock
from robustcs.documents.style import PAGE, in_style
from robustcs.studies.correlate.analysis import Correlate, correlate_similarity
from robustcs.studies.correlate.findings import correlate_findings, verdicts
from robustcs.studies.correlate.show import draw_scatter, show
from tests.studies.correlate.test_analysis import EVALUATED, conversations, pair


def tables(result: Correlate) -> list[TableBlock]:
    return [block for block in show(result) if isinstance(block, TableBlock)]


def test_every_table_is_told_by_the_one_it_shows() -> None:
    shown = tables(correlate_similarity([pair()], EVALUATED))
    of = [("correlations", "pearson-overlap_10"), ("partial", "methods-overlap_10")]
    assert [(table.of, table.slug) for table in shown] == of


def test_several_rewriters_are_one_table_one_figure_and_one_sentence() -> None:
    result = correlate_similarity(
        [conversations(6, 4), replace(conversations(6, 4), rewriter="other")], EVALUATED
    )
    figure, table = show(result)
    assert isinstance(figure, Figure) and isinstance(table, TableBlock)
    assert (figure.slug, table.of, table.slug) == ("scatter", "correlations", "rewriters")
    assert [row[:2] for row in table.rows] == [
        (answers, name)
        for answers in ("overlap of the top 10", "rank-biased overlap")
        for name in ("QR", "other")
    ]
    rows = result.correlations
    first = rows[
        (rows["rewriter"] == "other") & (rows["method"] == "pearson") & (rows["subset"] == "all")
    ].iloc[0]
    assert table.rows[1][2].startswith(f"{first['value']:.3f} (")
    with in_style(PAGE):
        drawn = draw_scatter(PAGE, result, ["qr", "other"])
    assert [axes.get_title(loc="left") for axes in drawn.axes] == [
        f"{name}: r = {first['value']:.3f}" for name in ("QR", "other")
    ]
    (said,) = correlate_findings(result)
    assert said.startswith(
        "ROUGE-1 F of QR and Human correlates with overlap of the top 10 (Pearson's r): QR "
    )
    assert (
        ", other " in said
        and said.count("A correlation over turns does not show that the rewriter with") == 1
    )


def test_details_are_those_of_one_rewriter() -> None:
    result = correlate_similarity([pair(), pair("other")], EVALUATED)
    shown = show(result, ["other"])[2:]
    slugs = [block.slug for block in shown if isinstance(block, TableBlock | Figure | Cards)]
    assert slugs == [f"{name}-other" for name in ("pearson-overlap_10", "methods-overlap_10", "scatter", "different-answers",
                                                  "same-answers")]  # fmt: skip


def test_too_few_turns_have_no_correlation() -> None:
    first, *_ = tables(correlate_similarity([pair()], EVALUATED))
    assert [column.title for column in first.columns[1:]] == [
        "all (5)",
        "judged (3)",
        "Human ✓ (2)",
    ]
    assert [row[0] for row in first.rows] == ["ROUGE-1 F", "USE"]
    assert first.rows[0][-1] == "–"


def test_the_note_says_where_units_are_too_few() -> None:
    one = conversations(6, 4)
    judged = np.repeat([True, True, True, False, False, False], 4)
    first, second, *_ = tables(
        correlate_similarity([replace(one, judged=judged, correct=judged)], EVALUATED)
    )
    assert not any("to" in row[2] for row in first.rows) and all(
        "to" in row[1] for row in first.rows
    )
    assert (
        "No interval: only 3 conversations (at least 5 required) (ROUGE-1 F, judged;" in first.note
    )
    assert [row[1] for row in second.rows[:4]] == ["Pearson", "Spearman", "Kendall", "partial"]
    assert "Holm over the 4 correlations of each method" in second.note


def exceptions(result: Correlate, **turns: int) -> Correlate:
    """The result with so many exceptions of each corner, of the first rewriter."""
    corners = [corner.replace("_", " ") for corner, many in turns.items() for _ in range(many)]
    rows = pd.DataFrame({"rewriter": result.pairs["rewriter"].iloc[0], "corner": corners})
    return result.changed(outliers=rows.reindex(columns=result.outliers.columns))


def test_the_verdict_gives_value_interval_exceptions_and_what_they_go_over() -> None:
    result = correlate_similarity([conversations(6, 4)], EVALUATED)
    row = result.correlations.query(
        "x == 'rouge1_f' and subset == 'all' and method == 'pearson'"
    ).iloc[0]
    (told,) = verdicts(exceptions(result, different_answers=2, same_answers=1))
    assert told.text == (
        f"Question and answer similarity correlate at {row['value']:.2f}. Exceptions: 2 turns with similar questions but"
        " different answers, 1 with different questions but the same answers"
    )
    assert (told.number, told.interval) == (
        f"{row['value']:.2f}",
        f"{row['ci_low']:.2f} to {row['ci_high']:.2f}".replace("-", "−"),
    )
    assert (
        told.weight == 3 / 24
        and told.basis.startswith("24 turns")
        and (told.caveat, told.barred) == ("", False)
    )
    assert len(told.text.split()) <= 25
    first, rest = told.text.split(". ")
    assert told.sentence == f"{first} (95% CI {told.interval}; {told.basis}). {rest}."


def test_the_verdict_is_about_the_rewriter_whose_similarities_correlate_least() -> None:
    turned = conversations(6, 4)
    turned = replace(turned, rewriter="other", answers=1 - turned.answers)
    result = correlate_similarity([conversations(6, 4), turned], EVALUATED)
    values = result.correlations.query(
        "x == 'rouge1_f' and y == 'overlap_10' and subset == 'all' and method == 'pearson'"
    )
    worst = values.set_index("rewriter")["value"]
    (told,) = verdicts(exceptions(result, different_answers=5))
    least = worst.idxmin()
    assert told.number == f"{worst.min():.2f}".replace("-", "−") and told.basis.startswith(
        f"{least}, the lowest of 2 rewriters; "
    )
    # the five exceptions are those of the first rewriter
    assert ("5 turns with similar" in told.text) == (least == "qr") and (
        "0 turns with similar" in told.text
    ) == (least != "qr")


@pytest.mark.parametrize(
    ("apart", "caveat", "barred"),
    [
        ((0, 9), "", False),
        (
            (7, 30),
            "Excluded: 7 of 30 turns of QR with Human's text, because of rankings that differ from Human's.",
            False,
        ),
        (
            (1, 30),
            "Excluded: 1 of 30 turns of QR with Human's text, because of rankings that differ from Human's.",
            False,
        ),
        (
            (16, 30),
            "Excluded: 16 of 30 turns of QR with Human's text, because of rankings that differ from Human's. The run probably"
            " answered other texts.",
            True,
        ),
    ],
)
def test_turns_left_out_stand_on_the_card_and_too_many_bar_it(
    apart: tuple[int, int], caveat: str, barred: bool
) -> None:
    (told,) = verdicts(correlate_similarity([replace(conversations(6, 4), apart=apart)], EVALUATED))
    assert (told.caveat, told.barred) == (caveat, barred)
    assert told.sentence.endswith(f"the same answers.{' ' * bool(caveat)}{caveat}")
