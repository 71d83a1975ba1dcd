"""Variations for people: what each kind makes of the turns, and one conversation to read."""

from __future__ import annotations

from robustcs.documents.document import Block, Table
from robustcs.documents.tables import result_table
from robustcs.studies.paraphrase.analysis import Variations

#: Examples of every category that are shown.
_SHOWN = 2


def show(result: Variations) -> tuple[Block, ...]:
    """Counts by category, and examples of each."""
    return (_categories(result), _examples(result))


def _categories(result: Variations) -> Table:
    return result_table(
        result, "categories", "Variations of the turns by category",
        ["category", "says", "turns", "valid", "share"],
        "Turns: those that a category could change. Antecedent, pronoun and ellipsis need an earlier turn.",
    )  # fmt: skip


def _examples(result: Variations) -> Table:
    part = result.variations.groupby("category", sort=False)
    order = {category: place for place, category in enumerate(result.categories["category"])}
    shown = part.head(_SHOWN).sort_values("category", key=lambda column: column.map(order), kind="stable")
    note = f"{len(shown)} of {len(result.variations):,}. Antecedent and pronoun leave the manual text as it is."
    columns = ["category", "turn", "raw", "manual"]
    return result_table(result, "variations", "Examples", columns, note, rows=shown, by="category")
