"""The words of findings: documented, and filters of values that the fields have."""

from __future__ import annotations

import pytest

from robustcs.documents.words import component
from robustcs.evaluation import grid, outcomes
from robustcs.records.filter import Search, normalised, parse_filter
from robustcs.records.headwords import FILTERS, meant
from robustcs.similarity.differences import ERROR_TYPES
from tests.conftest import ROOT

#: Field → the values that its study gives it.
VALUES = {
    "cause": {"correct", "rewriter", component("runs"), component("answers")},
    "correct": {"yes", "no"},
    "type": set(ERROR_TYPES),
    "outcome": set(outcomes.OUTCOMES),
    "lost": set(outcomes.CAUSES) - {"none"},
    "blame": set(grid.CAUSES),
}


@pytest.mark.parametrize("written", FILTERS.values())
def test_a_filter_asks_for_values_that_there_are(written: str) -> None:
    (term,) = parse_filter(written).terms
    assert not isinstance(term, Search)
    if term.operator == ":":
        known = set(map(normalised, VALUES[term.field]))
        assert set(map(normalised, term.values)) <= known


def test_every_word_is_documented() -> None:
    page = (ROOT / "docs" / "turns.md").read_text("utf-8")
    table = page.partition("## Words of findings")[2].partition("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    assert rows == [f"| {words} | `{written}` |" for words, written in FILTERS.items()]


def test_words_without_other_terms_are_meant() -> None:
    for asked in ('"made up"', "made_up", "Made up"):
        found = meant(parse_filter(asked))
        assert found == "to list the turns that reports call 'made up', write outcome:\"made up\""
    assert meant(parse_filter("RANKER error")).endswith(", write cause:ranker")
    for other in ("shark", "", "ranker error cause:ranker", "ranker -error", "error"):
        assert meant(parse_filter(other)) == ""
