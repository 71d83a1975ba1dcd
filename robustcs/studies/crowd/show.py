"""Crowd judgments for people: what became of the grades, whose were left out, and how the runs do."""

from __future__ import annotations

from robustcs.documents.document import Block, Column, Table
from robustcs.documents.words import measure_label, percent, score
from robustcs.studies.agreement.show import distribution_figure, interval
from robustcs.studies.crowd.analysis import Crowd

#: Rows of long tables for people; JSON and CSV have all.
SHOWN = 20


def present_crowd(result: Crowd) -> tuple[Block, ...]:
    """The blocks of the parts that the result has."""
    parts = (
        (result.qrels, _qrels), (result.measures, _measures), (result.agreement, _agreement),
        (result.exclusions, _exclusions), (result.distribution, _distribution), (result.mapping, _mapping),
        (result.unmapped, _unmapped), (result.pool, _pool),
    )  # fmt: skip
    blocks: list[Block] = [present(result) for table, present in parts if len(table)]
    if len(result.distribution):
        frame = result.distribution.assign(rating=result.distribution["grade"].astype(str))
        blocks.append(distribution_figure(frame, "Final grades"))
    return tuple(blocks)


def _qrels(result: Crowd) -> Table:
    rows = tuple(
        (row.criterion, row.turn_set, str(row.turns), f"{row.pairs:,}", f"{row.relevant:,}")
        for row in result.qrels.itertuples()
    )
    level = result.evaluated.policy.relevance_level
    columns = (
        Column("Criterion", "left"), Column("Turns", "left"), Column("turns"), Column("pairs"), Column(f"pairs ≥ {level}"),
    )  # fmt: skip
    note = f"Filtered: turns with a grade of at least {level}."
    if (result.grades["workers"] > 1).any():
        means = int((result.grades["rule"] == "mean").sum())
        note += (
            f" A grade is the mode of its workers' grades; {means:,} of {len(result.grades):,} had no clear mode and got the"
            " mean, rounded half up."
        )
    return Table("qrels", "What are the judgments?", columns, rows, note)


def _measures(result: Crowd) -> Table:
    metrics = list(dict.fromkeys(result.measures["metric"]))
    one = result.measures["criterion"].nunique() == 1
    rows: list[tuple[str, ...]] = []
    rules: set[int] = set()
    for (criterion, turn_set), part in result.measures.groupby(["criterion", "turn_set"], sort=False):
        rules.add(len(rows))
        for run, own in part.groupby("run", sort=False):
            by_metric = own.set_index("metric")
            cells = [
                cell
                for row in (by_metric.loc[metric] for metric in metrics)
                for cell in (score(row["value"]), interval(row["ci_low"], row["ci_high"]))
            ]
            answered = f"{own['answered'].iloc[0]} of {own['turns'].iloc[0]}"
            rows.append((*(() if one else (criterion,)), turn_set, run, answered, *cells))
    columns = [] if one else [Column("Criterion", "left")]
    columns += [Column("Turns", "left"), Column("Run", "left"), Column("answered")]
    columns += [Column(title, group=measure_label(metric)) for metric in metrics for title in ("score", "95 % interval")]
    return Table(
        "measures", "How do the runs do?", tuple(columns), tuple(rows), "Means over turns, bootstrap over turns.",
        frozenset(rules - {0}),
    )  # fmt: skip


def _agreement(result: Crowd) -> Table:
    rows = tuple(
        (row.criterion, row.stage, str(row.items), str(row.raters), percent(row.agreement), score(row.kappa),
         score(row.alpha_nominal), score(row.alpha_ordinal), score(row.alpha_interval))
        for row in result.agreement.itertuples()
    )  # fmt: skip
    columns = (
        Column("Criterion", "left"), Column("Stage", "left"), Column("items"), Column("raters"), Column("agree"),
        Column("κ"), *(Column(level, group="Krippendorff's alpha") for level in ("nominal", "ordinal", "interval")),
    )  # fmt: skip
    return Table(
        "agreement", "How far do workers agree?", columns, rows,
        "Before and after leaving out workers. Agree: pairs of grades of an item that are the same.",
    )  # fmt: skip


def _exclusions(result: Crowd) -> Table:
    chosen = result.exclusions.head(SHOWN)
    rows = tuple(
        (row.topic, row.worker, f"{row.failed} of {row.checks}", str(row.grades), row.reason) for row in chosen.itertuples()
    )
    columns = (
        Column("Topic", "left"), Column("Worker", "left"), Column("failed"), Column("grades"), Column("Reason", "left"),
    )  # fmt: skip
    return Table(
        "exclusions", "Whose grades are left out?", columns, rows,
        f"{len(rows)} of {len(result.exclusions)}: all grades of that worker for that topic.",
    )  # fmt: skip


def _distribution(result: Crowd) -> Table:
    wide = result.distribution.pivot(index="criterion", columns="grade", values="count").fillna(0).astype(int)
    rows = tuple(
        (criterion, *(f"{wide.loc[criterion, grade]:,}" for grade in wide), f"{wide.loc[criterion].sum():,}")
        for criterion in dict.fromkeys(result.distribution["criterion"])
    )
    columns = (Column("Criterion", "left"), *(Column(str(grade), group="final grade") for grade in wide), Column("pairs"))
    return Table("distribution", "Which grades did the items get?", columns, rows)


def _mapping(result: Crowd) -> Table:
    rows = tuple(
        (row.run, f"{row.questions:,}", *(str(getattr(row, how)) for how in ("id", "exact", "normalised", "unmapped")))
        for row in result.mapping.itertuples()
    )
    columns = (
        Column("Run", "left"), Column("questions"),
        *(Column(how, group="found in the bank by") for how in ("id", "exact text", "normalised")), Column("not found"),
    )  # fmt: skip
    return Table(
        "mapping", "Are the questions of the runs in the bank?", columns, rows,
        "Questions that are not found keep their places, and count as not relevant unless the judgments have them.",
    )  # fmt: skip


def _unmapped(result: Crowd) -> Table:
    chosen = result.unmapped.head(SHOWN)
    rows = tuple((row.run, row.turn, row.question) for row in chosen.itertuples())
    columns = (Column("Run", "left"), Column("Turn", "left"), Column("Question", "left"))
    return Table("unmapped", "Which are not?", columns, rows, f"{len(rows)} of {len(result.unmapped)}.")


def _pool(result: Crowd) -> Table:
    turns = result.pool["turn"].nunique()
    chosen = result.pool.head(SHOWN // 2)
    texts = bool(result.pool["text"].any())
    rows = tuple((row.turn, row.item, str(row.runs), *([row.text] if texts else [])) for row in chosen.itertuples())
    columns = [Column("Turn", "left"), Column("Item", "left"), Column("runs")]
    columns += [Column("Text", "left")] if texts else []
    return Table(
        "pool", "What is there to judge?", tuple(columns), rows,
        f"{len(rows)} of {len(result.pool):,} pairs for {turns} turns: the top of every run, together.",
    )  # fmt: skip
