"""How different the texts are, in plain sentences with their numbers."""

from __future__ import annotations

from robustcs.studies.diversity.analysis import Diversity


def diversity_findings(result: Diversity) -> tuple[str, ...]:
    """BLEU of every pair of texts, and copies."""
    parts = [f"{row.target} against {row.source} {row.value:.1f}" for row in result.bleu.itertuples()]
    copies = int(result.diversity["copies"].sum())
    said = f" {copies} texts repeat their source." if copies else ""
    return (f"How much of its source's wording a text repeats, by BLEU (100: all of it): {'; '.join(parts)}.{said}",)
