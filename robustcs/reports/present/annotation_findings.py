"""What was found about annotators and crowd workers, in plain sentences with their numbers."""

from __future__ import annotations

from robustcs.analyses.agreement import SnippetAgreement
from robustcs.analyses.crowd import Crowd
from robustcs.analyses.ratings import RatingAgreement
from robustcs.reports.present.words import measure_label, percent, with_interval

#: Runs that are told of; the tables have all.
_NAMED = 4


def snippet_findings(result: SnippetAgreement) -> tuple[str, ...]:
    """How much annotators chose together, and how close their majority is to the references."""
    sentences = []
    if len(result.jaccard):
        row = next(result.jaccard.itertuples())
        sentences.append(
            f"Of the characters that any annotator chose, {percent(row.value)} were chosen by all {row.k} (mean over"
            f" {row.texts} texts, 95 % interval {100 * row.ci_low:.0f}–{100 * row.ci_high:.0f})."
        )
    for _, majority in result.reference[result.reference["aggregate"] == "majority"].iterrows():
        sentences.append(f"Against the references, what a majority chose has an F1 of {with_interval(majority, 'f1')}.")
    return tuple(sentences)


def rating_findings(result: RatingAgreement) -> tuple[str, ...]:
    """Agreement of raters, criterion by criterion."""
    ordinal = result.alpha[result.alpha["level"] == "ordinal"].set_index("criterion")["value"]
    parts = []
    for _, row in result.kappa.iterrows():
        more = f", ordinal alpha {ordinal[row['criterion']]:.2f}" if row["criterion"] in ordinal else ""
        parts.append(f"{row['criterion']} {with_interval(row, 'value', 2)}{more}, {row['items']} items")
    return (f"Raters agree by Fleiss' κ: {'; '.join(parts)}.",) if parts else ()


def crowd_findings(result: Crowd) -> tuple[str, ...]:
    """What leaving out workers does, and how the runs score on the judgments."""
    sentences = []
    stages = result.agreement.set_index(["criterion", "stage"])["alpha_ordinal"]
    workers = len(set(result.exclusions["worker"]))
    if workers:
        changes = "; ".join(
            f"{criterion} {stages[criterion, 'before']:.2f} to {stages[criterion, 'after']:.2f}"
            for criterion in dict.fromkeys(result.agreement["criterion"])
        )
        grades = result.exclusions["grades"].sum()
        sentences.append(
            f"{workers} worker{'s' * (workers != 1)} contradicted gold checks; without their {grades:,} grades, ordinal alpha"
            f" goes from {changes}."
        )
    rows = result.measures[result.measures["turn_set"] == "all"]
    if len(rows):
        rows = rows[rows["metric"] == rows["metric"].iloc[-1]]
        for criterion, part in rows.groupby("criterion", sort=False):
            runs = "; ".join(f"{row['run']} {with_interval(row, 'value')}" for _, row in part.head(_NAMED).iterrows())
            label = measure_label(part["metric"].iloc[0])
            sentences.append(f"By {criterion}, {label} over {part['turns'].iloc[0]} turns is: {runs}.")
    return tuple(sentences)
