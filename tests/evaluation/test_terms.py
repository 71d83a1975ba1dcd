"""Words are defined once: the page of terms says what the code says."""

from __future__ import annotations

from robustcs.evaluation.thresholds import TERMS
from tests.conftest import ROOT


def test_the_glossary_has_the_definitions_of_the_code_word_for_word() -> None:
    lines = (ROOT / "docs" / "glossary.md").read_text("utf-8").splitlines()
    rows = dict(
        line.strip("| ").split(" | ", 1)
        for line in lines
        if line.startswith("| ") and not line.startswith("| word")
    )
    assert TERMS.items() <= rows.items()
