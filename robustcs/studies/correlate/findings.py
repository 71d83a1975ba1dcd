"""What question similarity says of the answers, in plain sentences with their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustcs.documents.document import Verdict
from robustcs.documents.words import number, number_interval, with_interval
from robustcs.studies.correlate.analysis import Correlate
from robustcs.studies.correlate.show import answers_label, corner_counts, similarity_label


def verdicts(result: Correlate) -> tuple[Verdict, ...]:
    """How well question similarity tells answer similarity, for the rewriter where it does least."""
    x, y = (names[0] for names in result.chosen)
    rows = result.correlations
    rows = rows[(rows["x"] == x) & (rows["y"] == y) & (rows["subset"] == "all") & (rows["method"] == "pearson")]
    rows = rows[rows["value"].notna()]
    if not len(rows):
        return ()
    row = rows.loc[rows["value"].idxmin()]
    outliers = result.outliers[result.outliers["rewriter"] == row["rewriter"]]
    whose = f" of {row['rewriter']}" if result.pairs["rewriter"].nunique() > 1 else ""
    corners = corner_counts(result, row["rewriter"]).removeprefix("Turns that do not fit: ").rstrip(".")
    return (
        Verdict(
            number(row["value"], 2), number_interval(row["ci_low"], row["ci_high"], 2).strip("–"),
            f"is the correlation (Pearson's r) of {similarity_label(x)} between QR{whose} and Human with"
            f" {answers_label(y)}; of the turns that break it there are {corners}",
            _over(result, row), len(outliers) / row["turns"],
        ),
    )  # fmt: skip


def _over(result: Correlate, row: Mapping[Any, Any]) -> str:
    """``215 turns``, and whether they are more than the judged ones, of which other answers speak."""
    rows = result.correlations
    same = (rows["x"] == row["x"]) & (rows["y"] == row["y"]) & (rows["rewriter"] == row["rewriter"])
    judged = rows[same & (rows["subset"] == "judged")]["turns"]
    more = len(judged) and judged.iloc[0] < row["turns"]
    return f"{row['turns']} turns{', judged or not' if more else ''}"


def correlate_findings(result: Correlate) -> tuple[str, ...]:
    """The correlation of the first x and y over all turns, and how many turns break it; several rewriters in one sentence."""
    x, y = (names[0] for names in result.chosen)
    rows = result.correlations
    rows = rows[(rows["x"] == x) & (rows["y"] == y) & (rows["subset"] == "all") & (rows["method"] == "pearson")]
    what = f"Pearson's r between {similarity_label(x)} of QR and Human and {answers_label(y)}"
    if len(rows) == 1:
        row = next(rows.itertuples())
        said = f"Over {_over(result, row._asdict())}, {what} is {with_interval(row._asdict(), 'value', 2)}."
        said += f" {corner_counts(result, row.rewriter)}"
    else:
        by_rewriter = [
            f"{row.rewriter} {with_interval(row._asdict(), 'value', 2)}"
            for row in rows.sort_values("value", ascending=False, kind="stable").itertuples()
        ]
        said = f"{what[0].upper()}{what[1:]}, by rewriter: {', '.join(by_rewriter[:-1])} and {by_rewriter[-1]}."
    return (
        f"{said} This is a correlation of turns: it does not say that question similarity would order systems as judgments do.",
    )
