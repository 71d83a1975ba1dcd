"""How different the texts are, as sentences."""

from __future__ import annotations

from robustcs.documents.words import number
from robustcs.studies.diversity.analysis import Diversity
from robustcs.wording import first_of

#: Pairs of texts that are named; the tables have all.
_NAMED = 6


def diversity_findings(result: Diversity) -> tuple[str, ...]:
    """Return BLEU of every target against its source, and the texts that repeat their source."""
    parts = [f"{row.target} against {row.source} {number(row.value, 1)}" for row in result.bleu.itertuples()]
    copies = [
        f"{row.copies:,} of {row.texts:,} texts of {row.target} repeat {row.source}"
        for row in result.diversity.itertuples()
        if row.copies
    ]
    bleu = f"BLEU of the texts against their source (100: same wording) is: {first_of(parts, _NAMED)}."
    return (bleu, *([f"{first_of(copies, _NAMED)}."] if copies else []))
