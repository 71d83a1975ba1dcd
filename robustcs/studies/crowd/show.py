"""Crowd judgments for people: what became of the grades, whose were left out, and how the runs do."""

from __future__ import annotations

from robustcs.documents.document import Block
from robustcs.documents.stacked import share_figure
from robustcs.documents.tables import Shown, notes_of, result_table, wide_table
from robustcs.documents.words import measure_label
from robustcs.studies.crowd.analysis import Crowd
from robustcs.studies.crowd.grades import COMBINED
from robustcs.wording import counted

#: Rows of long tables for people; JSON and CSV have all.
SHOWN = 20


def show(result: Crowd) -> tuple[Block, ...]:
    """The blocks of the parts that the result has."""
    blocks: list[Block] = []

    def add(name: str, caption: str, columns: list[Shown], note: str = "", most: int = 0) -> None:
        rows = result.tables[name]
        if len(rows):
            cut = f"{min(most, len(rows))} of {len(rows):,}" if most else ""
            blocks.append(result_table(result, name, caption, columns, cut + note, rows=rows.head(most or len(rows))))

    relevant = result.spec("qrels").field("relevant").called(f"pairs ≥ {result.evaluated.policy.relevance_level}")
    add("qrels", "What are the judgments?", ["criterion", "turn_set", "turns", "pairs", relevant], _of_judgments(result))
    if len(rows := result.measures):
        criterion = ["criterion"] if rows["criterion"].nunique() > 1 else []
        blocks.append(
            wide_table(
                result, "measures", "How do the runs do?", [*criterion, "turn_set", "run", "answered", "turns"], "metric",
                ["value"], f"Means over turns. 95 % CI: cluster-robust t over {result.evaluated.unit}s, for others of this"
                f" kind; none below five.{notes_of(rows)}", rows=rows.assign(of=rows["criterion"] + rows["turn_set"]), by="of",
                heads={metric: measure_label(metric) for metric in rows["metric"]},
            )
        )  # fmt: skip
    if len(result.agreement):
        add(
            "agreement", "How far do workers agree?",
            ["criterion", "stage", "items", "agreement", "kappa", "alpha_nominal", "alpha_ordinal", "alpha_interval"],
            "Before and after leaving out workers. Agree: pairs of grades of an item that are the same. 95 % CI of κ: nested"
            f" bootstrap-t over {counted(int(result.agreement['units'].max()), result.graded_unit)}."
            f"{notes_of(result.agreement)}",
        )  # fmt: skip
    columns: list[Shown] = ["topic", "worker", "checks", "failed", "grades", "reason"]
    add("exclusions", "Whose grades are left out?", columns, ": all grades of that worker for that topic.", SHOWN)
    if len(rows := result.distribution):
        heads = {grade: str(grade) for grade in sorted(set(rows["grade"]))}
        caption = "Which grades did the items get?"
        blocks.append(
            wide_table(result, "distribution", caption, ["criterion"], "grade", ["count"], heads=heads, group="final grade")
        )
    add(
        "mapping", "Are the questions of the runs in the bank?", ["run", "questions", "id", "exact", "normalised", "unmapped"],
        "Questions that are not found keep their places, and count as not relevant unless the judgments have them.",
    )  # fmt: skip
    add("unmapped", "Which are not?", ["run", "turn", "question"], ".", SHOWN)
    texts: list[Shown] = ["text"] if result.pool["text"].any() else []
    turns = f" pairs for {result.pool['turn'].nunique()} turns: the top of every run, together."
    add("pool", "What is there to judge?", ["turn", "item", "runs", *texts], turns, SHOWN // 2)
    if len(rows):
        caption = "Final grades for each criterion, lowest on the left."
        blocks.append(share_figure("ratings", caption, rows, "criterion", "grade"))
    return tuple(blocks)


def _of_judgments(result: Crowd) -> str:
    """How the judgments came about."""
    note = f"Filtered: turns with a grade of at least {result.evaluated.policy.relevance_level}."
    if COMBINED in set(result.qrels["criterion"]):
        note += " Combined: the lowest grade of an item by any criterion."
    if (result.grades["workers"] > 1).any():
        means = int((result.grades["rule"] == "mean").sum())
        note += (
            f" A grade is the mode of its workers' grades; {means:,} of {len(result.grades):,} had no clear mode and got the"
            " mean, rounded half up."
        )
    return note
