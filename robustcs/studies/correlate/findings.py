"""Verdicts and findings on the correlation of question similarity and answer similarity."""

from __future__ import annotations

from robustcs.documents.document import TurnSet, Verdict
from robustcs.documents.words import number, number_interval, with_interval
from robustcs.records.filter import term
from robustcs.studies.correlate.analysis import CORNERS, Correlate
from robustcs.studies.correlate.show import (
    answers_label,
    corner_counts,
    corner_labels,
    corner_turns,
    first_rows,
    similarity_label,
)
from robustcs.wording import counted, system_name

#: Largest number of rewriters whose exceptions are listed.
_LISTED = 4


def verdicts(result: Correlate) -> tuple[Verdict, ...]:
    """Return the correlation of question and answer similarity for the rewriter with the lowest one, and the exceptions."""
    x, y = (names[0] for names in result.chosen)
    rows = first_rows(result)
    rows = rows[rows["value"].notna()]
    if not len(rows):
        return ()
    row = rows.loc[rows["value"].idxmin()]
    rewriter = str(row["rewriter"])
    exceptions = [turn for corner in CORNERS for turn in corner_turns(result, rewriter, corner)]
    value = number(row["value"], 2)
    of = f"{rewriter}, the lowest of {len(rows)} rewriters; " if len(rows) > 1 else ""
    left, equal = result.apart.get(rewriter, (0, 0))
    return (
        Verdict(
            value, number_interval(row["ci_low"], row["ci_high"], 2).strip("–"),
            f"Question and answer similarity correlate at {value}. {corner_counts(result, rewriter)}",
            f"{of}{counted(row['turns'], 'turn')}; Pearson's r of {similarity_label(x)} and {answers_label(y)}",
            len(exceptions) / row["turns"], subject="similarity", caveat=_caveat(rewriter, left, equal),
            barred=2 * left > equal, turns=term("turn", *exceptions) if exceptions else "", count=len(exceptions),
        ),
    )  # fmt: skip


def turns_to_read(result: Correlate) -> tuple[TurnSet, ...]:
    """Return the exceptions of every rewriter: similar questions with different answers, and the opposite."""
    sets = []
    labels = corner_labels(result.chosen[1][0])
    rewriters = list(dict.fromkeys(result.pairs["rewriter"]))
    for rewriter in rewriters[:_LISTED]:
        whose = f"{rewriter}: " if len(rewriters) > 1 else ""
        for corner, label in zip(CORNERS, labels, strict=True):
            found = corner_turns(result, rewriter, corner)
            sets.append(TurnSet(whose + label, term("turn", *found), len(found)))
    return tuple(sets)


def _caveat(rewriter: str, left: int, equal: int) -> str:
    """Return that ``left`` of ``equal`` turns with Human's text were excluded, with a warning if they are more than half."""
    if not left:
        return ""
    doubt = " The run probably answered other texts." if 2 * left > equal else ""
    turns = f"{left} of {counted(equal, 'turn')} of {system_name(rewriter)} with Human's text"
    return f"Excluded: {turns}, because of rankings that differ from Human's.{doubt}"


def correlate_findings(result: Correlate) -> tuple[str, ...]:
    """Return the correlation of the first x and y over all turns, and the exceptions; one sentence for all rewriters."""
    x, y = (names[0] for names in result.chosen)
    rows = first_rows(result)
    what = f"{similarity_label(x)} of QR and Human correlates with {answers_label(y)}"
    rows = rows.sort_values("value", ascending=False, kind="stable")
    by_rewriter = (
        f"{system_name(row['rewriter'])} {with_interval(row, 'value', 2)} over {counted(row['turns'], 'turn')}"
        for _, row in rows.iterrows()
    )
    said = f"{what} (Pearson's r): {', '.join(by_rewriter)}."
    if len(rows) == 1:
        said += f" {corner_counts(result, rows['rewriter'].iloc[0])}."
    return (
        f"{said} A correlation over turns does not show that the rewriter with the more similar questions is better.",
    )
