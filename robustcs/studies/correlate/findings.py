"""How similar questions and answers go together, in plain sentences with their numbers."""

from __future__ import annotations

from robustcs.documents.document import Verdict
from robustcs.documents.words import number, number_interval, with_interval
from robustcs.lazy import pd
from robustcs.studies.correlate.analysis import Correlate
from robustcs.studies.correlate.show import answers_label, corner_counts, first_rows, similarity_label
from robustcs.wording import counted


def verdicts(result: Correlate) -> tuple[Verdict, ...]:
    """How strongly question and answer similarity correlate for the rewriter where they do least, and the exceptions."""
    x, y = (names[0] for names in result.chosen)
    rows = first_rows(result)
    rows = rows[rows["value"].notna()]
    if not len(rows):
        return ()
    row = rows.loc[rows["value"].idxmin()]
    rewriter = str(row["rewriter"])
    exceptions = int((result.outliers["rewriter"] == rewriter).sum())
    value = number(row["value"], 2)
    of = f"{rewriter}, the lowest of {len(rows)} rewriters; " if len(rows) > 1 else ""
    left, equal = result.apart.get(rewriter, (0, 0))
    return (
        Verdict(
            value, number_interval(row["ci_low"], row["ci_high"], 2).strip("–"),
            f"Question and answer similarity correlate at {value}. {corner_counts(result, rewriter)}",
            f"{of}{_over(result, row)}; Pearson's r of {similarity_label(x)} and {answers_label(y)}",
            exceptions / row["turns"], subject="similarity", caveat=_caveat(left, equal), barred=2 * left > equal,
        ),
    )  # fmt: skip


def _caveat(left: int, equal: int) -> str:
    """That ``left`` of ``equal`` turns with Human's text were left out, and what it means if they are more than half."""
    if not left:
        return ""
    doubt = " The run probably answered other texts." if 2 * left > equal else ""
    return f"{counted(left, 'turn')} left out: text equals Human's, ranking does not.{doubt}"


def _over(result: Correlate, row: pd.Series) -> str:
    """``215 turns``, and whether they are more than the judged ones, of which other answers speak."""
    rows = result.correlations
    same = (rows["x"] == row["x"]) & (rows["y"] == row["y"]) & (rows["rewriter"] == row["rewriter"])
    judged = rows[same & (rows["subset"] == "judged")]["turns"]
    more = len(judged) and judged.iloc[0] < row["turns"]
    return f"{row['turns']} turns{', judged or not' if more else ''}"


def correlate_findings(result: Correlate) -> tuple[str, ...]:
    """The correlation of the first x and y over all turns, and the exceptions; several rewriters in one sentence."""
    x, y = (names[0] for names in result.chosen)
    rows = first_rows(result)
    what = f"Pearson's r between {similarity_label(x)} of QR and Human and {answers_label(y)}"
    if len(rows) == 1:
        row = rows.iloc[0]
        said = (
            f"Over {_over(result, row)}, {what} is {with_interval(row, 'value', 2)}. {corner_counts(result, row['rewriter'])}."
        )
    else:
        by_rewriter = [
            f"{row['rewriter']} {with_interval(row, 'value', 2)} over {_over(result, row)}"
            for _, row in rows.sort_values("value", ascending=False, kind="stable").iterrows()
        ]
        said = f"{what}, by rewriter: {', '.join(by_rewriter[:-1])} and {by_rewriter[-1]}."
    return (f"{said} A correlation over turns does not show that the rewriter with the more similar questions is better.",)
