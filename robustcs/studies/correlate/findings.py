"""What question similarity says of the answers, in plain sentences with their numbers."""

from __future__ import annotations

from robustcs.studies.correlate.analysis import Correlate
from robustcs.studies.correlate.show import answers_label, corner_counts, similarity_label


def correlate_findings(result: Correlate) -> tuple[str, ...]:
    """The correlation of the first x and y over all turns, and how many turns break it, per rewriter."""
    x, y = (names[0] for names in result.chosen)
    rows = result.correlations
    rows = rows[(rows["x"] == x) & (rows["y"] == y) & (rows["subset"] == "all") & (rows["method"] == "pearson")]
    sentences = []
    for row in rows.itertuples():
        whose = "" if len(rows) == 1 else f" For the rewriter {row.rewriter}:"
        sentences.append(
            f"{whose} Over {row.turns} turns, Pearson's r between {similarity_label(x)} of QR and Human and {answers_label(y)}"
            f" is {row.value:.2f} (95 % interval {row.ci_low:.2f} to {row.ci_high:.2f}). {corner_counts(result, row.rewriter)}".strip()
        )
    return tuple(sentences)
