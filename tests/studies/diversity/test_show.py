"""The blocks of ``robustcs diversity``."""

from __future__ import annotations

from robustcs.documents.document import TableBlock
from robustcs.studies.diversity.analysis import diversity
from robustcs.studies.diversity.show import show
from tests.sentences import made
from tests.studies.diversity.test_analysis import EVALUATED, SOURCE, TARGET


def test_tables_and_what_they_show() -> None:
    tables = {
        block.slug: block
        for block in show(diversity([(SOURCE, TARGET)], EVALUATED))
        if isinstance(block, TableBlock)
    }
    assert list(tables) == ["bleu", "similarity", "diversity", "topics"]
    assert [column.title for column in tables["bleu"].columns] == [
        "Source",
        "Target",
        "sentences",
        "BLEU",
    ]
    (row,) = tables["diversity"].rows
    assert (*row[:2], *row[-3:]) == ("target", "6", "1", "1", "1")


def test_pairs_of_targets_with_their_adjusted_p() -> None:
    sides = {"source": "human", "measure": "rouge1_f"}
    rows = [("a", "b", 0.0234, 0.0012, 0.02, 0.06), ("a", "c", -0.3, 0.001, 0.001, 0.002)]
    pairs = [
        {**sides, "first": first, "second": second, "difference": difference, "ci_low": low, "ci_high": 0.5, "p": p,
         "p_corrected": corrected, "p_floor": 0.0001, "note": "unstable" if second == "c" else ""}
        for first, second, difference, low, p, corrected in rows
    ]  # fmt: skip
    means = [
        {
            **sides,
            "target": "a",
            "value": 0.81,
            "texts": 9,
            "turns": 3,
            "ci_low": 0.7,
            "ci_high": 0.9,
        }
    ]
    means += [
        {**means[0], "measure": "rouge2_f", "value": 0.5},
        {**means[0], "target": "b", "value": 0.25},
    ]
    others = [{**row, "measure": "rouge2_f", "p_corrected": 0.001} for row in pairs]
    tables = {"similarity": means, "similarity_pairs": [*pairs, *others]}
    blocks = {
        block.slug: block
        for block in show(made("diversity", tables))
        if isinstance(block, TableBlock)
    }
    assert blocks["similarity"].rows == (
        ("ROUGE-1 F", "a", "3", "9", "0.810 (0.700 to 0.900)"), ("ROUGE-1 F", "b", "3", "9", "0.250 (0.700 to 0.900)"),
        ("ROUGE-2 F", "a", "3", "9", "0.500 (0.700 to 0.900)"),
    )  # fmt: skip
    assert blocks["similarity_pairs"].rows == (
        ("a", "b", "+0.023 (+0.001 to +0.500)", "0.020", "0.060"),
        ("a", "c", "−0.300 (+0.001 to +0.500)", "0.001", "0.002"),
    )
    note = blocks["similarity_pairs"].note
    assert note.startswith(
        "1 of 2 pairs differs significantly (adjusted p ≤ 0.05)."
    ) and note.endswith(" Unstable (a and c).")
