"""Show crowd judgments: the grades, the excluded workers, and the scores of the runs."""

from __future__ import annotations

from robustcs.documents.document import Block
from robustcs.documents.stacked import share_figure
from robustcs.documents.tables import Shown, notes_of, result_table, wide_table
from robustcs.documents.words import measure_label
from robustcs.studies.crowd.analysis import COMBINED, Crowd
from robustcs.wording import counted

#: Maximum number of rows of long tables; JSON and CSV contain all.
SHOWN = 20


def show(result: Crowd) -> tuple[Block, ...]:
    """Return the blocks of the tables that have rows."""
    blocks: list[Block] = []

    def add(
        name: str, caption: str, columns: list[Shown], note: str, most: int | None = None
    ) -> None:
        if len(result.tables[name]):
            blocks.append(result_table(result, name, caption, columns, note, most=most))

    relevant = (
        result.spec("qrels")
        .field("relevant")
        .called(f"pairs ≥ {result.evaluated.policy.relevance_level}")
    )
    means = int((result.grades["rule"] == "mean").sum())
    add(
        "qrels", "How many judgments are there?", ["criterion", "turn_set", "turns", "pairs", relevant],
        f"Filtered: turns with a grade of at least {result.evaluated.policy.relevance_level}. {COMBINED.capitalize()}: the"
        " lowest grade of an item over all criteria. Final grade: the mode of the workers' grades, or their mean, rounded half"
        f" up, if there is no clear mode ({means:,} of {counted(len(result.grades), 'item')}).",
    )  # fmt: skip
    if len(rows := result.measures):
        unit = result.evaluated.unit
        criterion = ["criterion"] if rows["criterion"].nunique() > 1 else []
        blocks.append(
            wide_table(
                result, "measures", "How do the runs score?", [*criterion, "turn_set", "system", "answered", "turns"], "metric",
                ["value"], f"Means over turns. 95% CI: cluster-robust t over {unit}s, from five {unit}s on.{notes_of(rows)}",
                rows=rows.assign(of=rows["criterion"] + rows["turn_set"]), by="of",
                heads={metric: measure_label(metric) for metric in rows["metric"]}
            )
        )  # fmt: skip
    if len(result.agreement):
        add(
            "agreement", "How well do workers agree?",
            ["criterion", "stage", "items", "agreement", "kappa", "alpha_nominal", "alpha_ordinal", "alpha_interval"],
            "Before and after excluding workers. Agree: share of equal pairs among the grades of an item; mean over items"
            f" with at least two grades. 95% CI of κ: nested bootstrap-t.{notes_of(result.agreement)}",
        )  # fmt: skip
    columns: list[Shown] = ["topic", "worker", "checks", "failed", "grades", "reason"]
    add(
        "exclusions",
        "Which workers are excluded?",
        columns,
        "A worker loses all grades for the topic.",
        SHOWN,
    )
    add(
        "unmapped", "Which questions are not in the bank?", ["system", "turn", "question"],
        "They keep their ranks, and count as not relevant unless the judgments contain them.", SHOWN,
    )  # fmt: skip
    texts: list[Shown] = ["text"] if result.pool["text"].any() else []
    turns = f"From the top of all runs, for {counted(result.pool['turn'].nunique(), 'turn')}."
    add("pool", "Which items are in the pool?", ["turn", "item", "runs", *texts], turns, SHOWN // 2)
    if len(rows := result.distribution):
        caption = "Share of each final grade by criterion, lowest grade on the left."
        blocks.append(share_figure("ratings", caption, rows, "criterion", "grade"))
    return tuple(blocks)
