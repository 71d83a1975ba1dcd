"""Test sets as blocks."""

from __future__ import annotations

import pytest

from robustcs.documents.document import Cards, Paragraph, TableBlock
from robustcs.inputs.paraphrases import Paraphrase
from robustcs.studies.testsets.analysis import draw_testsets
from robustcs.studies.testsets.show import show

ROWS = {
    "1_1": (
        Paraphrase("1_1", "What is a goat?", "What is it?", 2),
        Paraphrase("1_1", "What is the goat?", "What is it?", 3),
    ),
    "1_2": (
        Paraphrase("1_2", "Do goats climb?", "Do they climb?", 4),
        Paraphrase("1_2", "Can a goat leap", "Leaping?", 5),
    ),
}


def test_overlaps_are_shown() -> None:
    blocks = {
        block.slug: block
        for block in show(draw_testsets(ROWS, 2, 0))
        if not isinstance(block, Paragraph)
    }
    overlaps, cards = blocks["overlaps"], blocks["sets"]
    assert isinstance(overlaps, TableBlock) and isinstance(cards, Cards)
    assert overlaps.rows == (("1_1", "raw", "1", "2"),)
    assert [card.title for card in cards.cards] == ["Set 1", "Set 2"]
    assert cards.cards[0].fields[0][0] == "1_1"


def test_nothing_in_common() -> None:
    blocks = show(draw_testsets({"1_2": ROWS["1_2"]}, 2, 0))
    assert Paragraph("No text is in two of the 2 sets.") in blocks
    assert not any(isinstance(block, TableBlock) and block.slug == "overlaps" for block in blocks)


@pytest.mark.parametrize("name", ["statistics", "similar", "overlaps", "sets", "dropped"])
def test_a_column_that_no_table_declares(name: str) -> None:
    result = draw_testsets(ROWS, 2, 0)
    assert list(result.tables) == ["statistics", "similar", "overlaps", "sets", "dropped"]
    with pytest.raises(TypeError, match=f"table {name} has columns"):
        result.changed(**{name: result.tables[name].assign(more=1)})
