"""Findings about the diversity of texts, as sentences."""

from __future__ import annotations

from typing import Any

from robustcs.documents.words import number, number_interval, tested_p, with_interval
from robustcs.statistics.estimate import LEVELS
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
        f"{row.copies:,} of {row.texts:,} texts of {system_name(row.target)} repeat {system_name(row.source)}"
        for row in result.diversity.itertuples()
        if row.copies
    ]
    bleu = f"Corpus BLEU (100: same wording) is {first_of(parts, _NAMED)}."
    return (bleu, *_similarity(result), *([f"{first_of(copies, _NAMED)}."] if copies else []))


def _similarity(result: Diversity) -> list[str]:
    """Return for each source the means of its targets, then the pairs that differ significantly and those that do not."""
    means, pairs = (frame[frame["measure"] == HEADLINE] for frame in (result.similarity, result.similarity_pairs))
    said = []
    for source, rows in means.groupby("source", sort=False):
        of = f"{label(HEADLINE)} with {system_name(str(source))}"
        parts = [
            f"{with_interval(row, 'value')} for {system_name(row['target'])} ({row['texts']:,} texts of"
            f" {counted(row['turns'], 'turn')})"
            for row in rows.to_dict("records")
        ]
        said.append(f"Mean {of} is {first_of(parts, _NAMED)}.")
        compared = list(pairs[pairs["source"] == source].itertuples())
        apart = [f"{_farther(row)} ({_tested(row)})" for row in compared if row.p_corrected <= LEVELS[0]]
        alike = [
            f"{system_name(row.first)} and {system_name(row.second)} ({_tested(row)})"
            for row in compared
            if not row.p_corrected <= LEVELS[0]
        ]
        if apart:
            said.append(f"Significant differences in {of}: {first_of(apart, _NAMED)}.")
        if alike:
            said.append(f"No significant difference in {of}: {first_of(alike, _NAMED)}.")
    return said


def _farther(row: Any) -> str:
    more, less = (row.first, row.second) if row.difference > 0 else (row.second, row.first)
    return f"{system_name(more)} is more similar than {system_name(less)}"


def _tested(row: Any) -> str:
    """Return the higher mean minus the lower, with its interval and adjusted p-value."""
    low, high = (row.ci_low, row.ci_high) if row.difference > 0 else (-row.ci_high, -row.ci_low)
    limits = number_interval(low, high)
    interval = "" if limits == "–" else f"95% CI {limits}, "
    p = tested_p(row.p_corrected, row.p_floor, row.exact)
    return f"difference {number(abs(row.difference), 3)}, {interval}adjusted p {p if p.startswith('<') else f'= {p}'}"
