"""Agreement as blocks: what every table of it shows."""

from __future__ import annotations

import pytest

from robustcs.documents.document import TableBlock
from robustcs.result import Result
from robustcs.studies.agreement.analysis import snippet_agreement
from robustcs.studies.agreement.ratings import rating_agreement
from robustcs.studies.agreement.show import show
from tests.studies.agreement.test_analysis import EVALUATED, texts
from tests.studies.agreement.test_ratings import PAPER, ratings

SNIPPETS = snippet_agreement(texts(((0, 10),), ((5, 10),), ()), texts(((0, 5),)), EVALUATED)
RATINGS = rating_agreement([*PAPER, *ratings("aab", "bba", criterion="kind")], EVALUATED)


def tables(result: Result) -> dict[str, TableBlock]:
    return {block.slug: block for block in show(result) if isinstance(block, TableBlock)}


@pytest.mark.parametrize(
    ("result", "names"),
    [
        (SNIPPETS, ["jaccard", "reference", "chance", "statistics", "workers", "texts"]),
        (RATINGS, ["kappa", "alpha", "stages", "means", "grouped", "distribution"]),
    ],
)
def test_every_block_names_its_table(result: Result, names: list[str]) -> None:
    found = tables(result)
    assert list(found) == [table.of for table in found.values()] == names
    for table in found.values():
        assert all(len(row) == len(table.columns) for row in table.rows)


def test_words_have_no_ordinal_alpha_and_criteria_are_ruled_apart() -> None:
    found = tables(RATINGS)
    assert [column.title for column in found["alpha"].columns[1:]] == [
        "nominal",
        "ordinal",
        "interval",
    ]
    assert found["alpha"].rows[1][2:] == ("–", "–")
    assert found["stages"].rules == {4} and found["distribution"].rules == {5}
    assert [column.title for column in found["kappa"].columns][3:5] == ["agree", "items ≥ 40%"]
