"""Findings on the agreement of annotators and raters, as sentences."""

from __future__ import annotations

import math
from typing import Any

from robustcs.documents.words import percent, percent_range, plain, with_interval
from robustcs.studies.agreement.analysis import SnippetAgreement
from robustcs.studies.agreement.ratings import RatingAgreement
from robustcs.wording import counted, first_of

#: Maximum number of criteria in a sentence; the table contains all.
_NAMED = 4


def snippet_findings(result: SnippetAgreement) -> tuple[str, ...]:
    """Return the overlap of the annotators, and how close their majority is to the references."""
    sentences = []
    if len(result.jaccard):
        row = next(result.jaccard.itertuples())
        items = "sentences" if result.read == "selection" else "characters"
        sentences.append(
            f"All {row.k} annotators selected {percent(row.value)} of the {items} that any of them selected (mean over"
            f" {counted(row.texts, 'text')}{_interval(row)})."
        )
    for _, majority in result.reference[result.reference["aggregate"] == "majority"].iterrows():
        sentences.append(
            f"The snippets that a majority of the annotators selected reach an F1 of {with_interval(majority, 'f1')} against"
            f" the references (mean over {counted(majority['texts'], 'text')})."
        )
    return tuple(sentences)


def _interval(row: Any) -> str:
    return "" if math.isnan(row.ci_low) else f", 95% CI {percent_range(row.ci_low, row.ci_high)}"


def rating_findings(result: RatingAgreement) -> tuple[str, ...]:
    """Return the agreement of the raters by criterion."""
    ordinal = result.alpha[result.alpha["level"] == "ordinal"].set_index("criterion")["value"]
    parts = []
    for _, row in result.kappa.iterrows():
        more = (
            f", Krippendorff's ordinal alpha {plain(ordinal[row['criterion']], 2)}"
            if row["criterion"] in ordinal
            else ""
        )
        parts.append(
            f"{row['criterion']} {with_interval(row, 'value', 2)}{more}, {counted(row['items'], 'item')}"
        )
    return (f"Fleiss' κ of the raters by criterion: {first_of(parts, _NAMED)}.",) if parts else ()
