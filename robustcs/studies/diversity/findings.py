"""Findings about the diversity of texts, as sentences."""

from __future__ import annotations

from typing import Any

from robustcs.documents.words import number, p_equals, signed, signed_interval, with_interval
from robustcs.studies.diversity.analysis import HEADLINE, Diversity, label
from robustcs.wording import counted, first_of, system_name

#: Pairs of texts named in a sentence; the tables contain all.
_NAMED = 6


def diversity_findings(result: Diversity) -> tuple[str, ...]:
    """Return BLEU and ROUGE of every target against its source, the pairs of targets that differ, and repeated texts."""
    parts = [
        f"{number(row.value, 1)} for {system_name(row.target)} against {system_name(row.source)}"
        for row in result.bleu.itertuples()
    ]
    copies = [
        f"{row.copies:,} of {counted(row.texts, 'text')} of {system_name(row.target)} repeat {system_name(row.source)}"
        for row in result.diversity.itertuples()
        if row.copies
    ]
    bleu = f"Corpus BLEU (100: same wording) is {first_of(parts, _NAMED)}."
    return (bleu, *_similarity(result), *([f"{first_of(copies, _NAMED)}."] if copies else []))


def _similarity(result: Diversity) -> list[str]:
    """Return for each source the means of its targets, then the differences between them."""
    means, pairs = (
        frame[frame["measure"] == HEADLINE]
        for frame in (result.similarity, result.similarity_pairs)
    )
    said = []
    for source, rows in means.groupby("source", sort=False):
        of = f"{label(HEADLINE)} with {system_name(str(source))}"
        parts = [
            f"{with_interval(row, 'value')} for {system_name(row['target'])} ({counted(row['texts'], 'text')} of"
            f" {counted(row['turns'], 'turn')})"
            for row in rows.to_dict("records")
        ]
        said.append(f"Mean {of} is {first_of(parts, _NAMED)}.")
        compared = [_difference(row) for row in pairs[pairs["source"] == source].itertuples()]
        if compared:
            said.append(f"Differences in {of}: {first_of(compared, _NAMED)}.")
    return said


def _difference(row: Any) -> str:
    """Return two targets with the first mean minus the second, its interval and adjusted p-value."""
    limits = signed_interval(row.ci_low, row.ci_high)
    interval = "" if limits == "–" else f"95% CI {limits}, "
    pair = f"{system_name(row.first)} minus {system_name(row.second)}"
    return f"{pair} {signed(row.difference, 3)} ({interval}adjusted p {p_equals(row.p_corrected)})"
