"""Which kind of variation costs how much? Drops by the category of the paraphrase that a set has for a turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from robustcs.inputs.paraphrases import Paraphrase
from robustcs.lazy import npt, pd
from robustcs.result import count, difference, number, score
from robustcs.similarity.near_duplicates import text_key
from robustcs.statistics.estimate import Tested
from robustcs.statistics.families import max_t_family
from robustcs.statistics.units import Units
from robustcs.studies.robustness.drops import drops_of

if TYPE_CHECKING:
    Floats = npt.NDArray[np.float64]

#: Set → turn → category.
Categories = Mapping[str, Mapping[str, str]]

#: Columns of the drops by category, before those of their tests.
VARIATIONS = (
    count("turns", "that have such a variation"), count("texts", "variations: a turn may have one in several sets"),
    score("value", "mean over turns"), score("baseline", "of the same turns"), difference("drop", "baseline − value"),
    number("drop_percent", "of the baseline; null where that is 0", "in %"),
)  # fmt: skip


def categories_of(
    paraphrases: Mapping[str, Sequence[Paraphrase]], texts: Mapping[str, str], raw: bool, unchanged: Mapping[str, str]
) -> tuple[dict[str, str], int]:
    """Turn → the category of the paraphrase that a set's text is, and how many texts are of several categories.

    ``texts`` are those of a set, raw or manual ones; ``unchanged`` the texts of the turns themselves: a variation that left the
    text as it is (such as the manual text where only the raw one changed) is none.
    """
    found = {}
    ambiguous = 0
    for turn, text in texts.items():
        if text_key(text) == text_key(unchanged.get(turn, "")):
            continue
        rows = [row for row in paraphrases.get(turn, ()) if text_key(row.raw if raw else row.manual) == text_key(text)]
        kinds = {row.category for row in rows if row.category}
        if len(kinds) == 1:
            found[turn] = kinds.pop()
        ambiguous += len(kinds) > 1
    return found, ambiguous


def variation_drops(
    turns: pd.Index,
    baseline: Floats,
    scores: Floats,
    categories: Sequence[Mapping[str, str]],
    units: Units,
    margin: float | None,
    seed: int,
) -> list[dict[str, object]]:
    """Return a row for each category, in order of appearance; the categories are one family.

    ``scores`` are turns × sets; ``categories`` has turn → category for each set, ``units`` those of the turns.
    """
    labels = np.array([[of_set.get(turn, "") for of_set in categories] for turn in turns], dtype=object)
    rows: list[dict[str, object]] = []
    tests: list[Tested] = []
    sums = []
    for category in dict.fromkeys(label for label in labels.T.ravel() if label):
        chosen = labels == category
        inside = chosen.any(axis=1)
        own = (scores * chosen).sum(axis=1)[inside] / chosen.sum(axis=1)[inside]
        ((drop, test, of_part),) = drops_of(own[None], baseline[inside], units.take(inside), margin, seed)
        rows.append({"category": category, "turns": int(inside.sum()), "texts": int(chosen.sum()), **drop})
        tests.append(test)
        sums.append(np.zeros(units.count))  # the same columns for all categories, 0 in units without such a turn
        sums[-1][np.unique(units.codes[inside])] = of_part
    adjusted = max_t_family(tests, sums, seed).p.tolist() if rows else []
    return [row | {"p_corrected": p} for row, p in zip(rows, adjusted, strict=True)]
