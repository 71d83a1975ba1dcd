"""Crowd judgments for people: what became of the grades, whose were left out, and how the runs do."""

from __future__ import annotations

from robustcs.documents.document import Block, Table
from robustcs.documents.rating_figure import distribution_figure
from robustcs.documents.tables import Shown, notes_of, ready, result_table
from robustcs.documents.words import interval, measure_label, score
from robustcs.result import count, number, text
from robustcs.studies.crowd.analysis import Crowd
from robustcs.studies.crowd.grades import COMBINED
from robustcs.wording import counted

#: Rows of long tables for people; JSON and CSV have all.
SHOWN = 20


def show(result: Crowd) -> tuple[Block, ...]:
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
    level = result.evaluated.policy.relevance_level
    note = f"Filtered: turns with a grade of at least {level}."
    if COMBINED in set(result.qrels["criterion"]):
        note += " Combined: the lowest grade of an item by any criterion."
    if (result.grades["workers"] > 1).any():
        means = int((result.grades["rule"] == "mean").sum())
        note += (
            f" A grade is the mode of its workers' grades; {means:,} of {len(result.grades):,} had no clear mode and got the"
            " mean, rounded half up."
        )
    relevant = result.spec("qrels").field("relevant").called(f"pairs ≥ {level}")
    columns: list[Shown] = ["criterion", "turn_set", "turns", "pairs", relevant]
    return result_table(result, "qrels", "What are the judgments?", columns, note)


def _measures(result: Crowd) -> Table:
    spec = result.spec("measures")
    metrics = list(dict.fromkeys(result.measures["metric"]))
    one = result.measures["criterion"].nunique() == 1
    rows: list[tuple[str, ...]] = []
    rules: list[int] = []
    for (criterion, turn_set), part in result.measures.groupby(["criterion", "turn_set"], sort=False):
        rules.append(len(rows))
        for run, own in part.groupby("run", sort=False):
            by_metric = own.set_index("metric")
            cells = [
                cell
                for row in (by_metric.loc[metric] for metric in metrics)
                for cell in (score(row["value"]), interval(row["ci_low"], row["ci_high"]))
            ]
            answered = f"{own['answered'].iloc[0]} of {own['turns'].iloc[0]}"
            rows.append((*(() if one else (criterion,)), turn_set, run, answered, *cells))
    names = ("turn_set", "run", "answered") if one else ("criterion", "turn_set", "run", "answered")
    value = spec.field("value")
    heads = (
        head
        for metric in map(measure_label, metrics)
        for head in (value.called("score", metric), number("95 % interval", group=metric))
    )
    return result_table(
        result, "measures", "How do the runs do?", ready(*map(spec.field, names), *heads),
        f"Means over turns. 95 %: cluster-robust t over {result.evaluated.unit}s, for others of this kind; none below five."
        f"{notes_of(result.measures)}",
        rows=rows, rules=rules[1:],
    )  # fmt: skip


def _agreement(result: Crowd) -> Table:
    return result_table(
        result, "agreement", "How far do workers agree?",
        [
            "criterion", "stage", "items", "agreement", "kappa",
            (number("95 %"), lambda row: interval(row.ci_low, row.ci_high, 2)),
            "alpha_nominal", "alpha_ordinal", "alpha_interval",
        ],
        "Before and after leaving out workers. Agree: pairs of grades of an item that are the same. 95 %: of κ, nested"
        f" bootstrap-t over {counted(int(result.agreement['units'].max()), result.graded_unit)}.{notes_of(result.agreement)}",
    )  # fmt: skip


def _exclusions(result: Crowd) -> Table:
    chosen = result.exclusions.head(SHOWN)
    failed = result.spec("exclusions").field("failed")
    return result_table(
        result, "exclusions", "Whose grades are left out?",
        ["topic", "worker", (failed, lambda row: f"{row.failed} of {row.checks}"), "grades", "reason"],
        f"{len(chosen)} of {len(result.exclusions)}: all grades of that worker for that topic.", rows=chosen,
    )  # fmt: skip


def _distribution(result: Crowd) -> Table:
    wide = result.distribution.pivot(index="criterion", columns="grade", values="count").fillna(0).astype(int)
    columns: list[Shown] = [
        (text("Criterion"), str),
        *(
            (count(str(grade), group="final grade"), lambda criterion, grade=grade: f"{wide.loc[criterion, grade]:,}")
            for grade in wide
        ),
        (count("pairs"), lambda criterion: f"{wide.loc[criterion].sum():,}"),
    ]
    rows = list(dict.fromkeys(result.distribution["criterion"]))
    return result_table(result, "distribution", "Which grades did the items get?", columns, rows=rows)


def _mapping(result: Crowd) -> Table:
    return result_table(
        result, "mapping", "Are the questions of the runs in the bank?",
        ["run", "questions", "id", "exact", "normalised", "unmapped"],
        "Questions that are not found keep their places, and count as not relevant unless the judgments have them.",
    )  # fmt: skip


def _unmapped(result: Crowd) -> Table:
    chosen = result.unmapped.head(SHOWN)
    note = f"{len(chosen)} of {len(result.unmapped)}."
    return result_table(result, "unmapped", "Which are not?", ["run", "turn", "question"], note, rows=chosen)


def _pool(result: Crowd) -> Table:
    turns = result.pool["turn"].nunique()
    chosen = result.pool.head(SHOWN // 2)
    texts = ["text"] if result.pool["text"].any() else []
    return result_table(
        result, "pool", "What is there to judge?", ["turn", "item", "runs", *texts],
        f"{len(chosen)} of {len(result.pool):,} pairs for {turns} turns: the top of every run, together.", rows=chosen,
    )  # fmt: skip
