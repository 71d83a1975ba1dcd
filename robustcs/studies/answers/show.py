"""Coverage of answers: measures by system, why items are missed, which systems differ, and the answers that miss most."""

from __future__ import annotations

import math

from robustcs.documents.document import Block, Figure, Table
from robustcs.documents.tables import Shown, ready, result_table
from robustcs.documents.words import interval, number, percent, signed_interval, tested_p
from robustcs.lazy import Drawing, pd
from robustcs.result import count, text
from robustcs.result import number as field
from robustcs.studies.answers.analysis import CAUSES, COVERED, LENGTH, MEASURES, Coverage, Gold
from robustcs.wording import counted

#: Missed items and pairs of the tables for people; JSON and CSV have all.
SHOWN = 10
_QUESTIONS: dict[Gold, str] = {
    "snippets": "How much of the snippets do answers hold?", "nuggets": "How many of the nuggets do answers hold?",
}  # fmt: skip
_HEADS = {
    "snippet_recall": "recall", "snippet_precision": "precision", "snippet_f1": "F1", "snippets_covered": "covered",
    "nuggets_vital": "vital", "nuggets_vital_strict": "strict", "nuggets_all": "all", "nuggets_all_strict": "strict, all",
    LENGTH: "words",
}  # fmt: skip
_SAYS: dict[Gold, str] = {
    "snippets": "Recall: the share of a snippet's content words that the answer has, mean over snippets; precision: the share"
    " of the answer's content words that the snippets have; covered: snippets with at least {covered} of their words.",
    "nuggets": "Vital: support of the vital nuggets, where a partly held one counts in part; strict: those held in full; all:"
    " okay nuggets too.",
}

_WITHOUT_VITAL = "All: support of the nuggets, where a partly held one counts in part; strict, all: those held in full."


def show(result: Coverage) -> tuple[Block, ...]:
    """Per gold the means and the pairs; then what became of the items, in numbers and as a figure, and what was missed."""
    blocks: list[Block] = [_figure(result)]
    for gold in result.golds:
        blocks.append(_means(result, gold))
        if len(_pairs_of(result, gold)):
            blocks.append(_pairs(result, gold))
    return (*blocks, _causes(result), *([_missed(result)] if len(_missed_rows(result)) else []))


def main_importance(result: Coverage) -> tuple[Gold, str]:
    """The items that matter most: vital nuggets, else all nuggets, else snippets."""
    gold = result.golds[-1]
    vital = ((result.causes["gold"] == gold) & (result.causes["importance"] == "vital")).any()
    return gold, "vital" if vital else "all"


def headline(result: Coverage, gold: Gold) -> str:
    """What systems are compared by: the first measure of ``gold``; all nuggets where no vital one exists."""
    return "nuggets_all" if gold == "nuggets" and not _has_vital(result) else MEASURES[gold][0]


def _has_vital(result: Coverage) -> bool:
    return bool((result.items["importance"] == "vital").any())


def main_causes(result: Coverage) -> pd.DataFrame:
    """The rows of table ``causes`` of the items that matter most."""
    gold, importance = main_importance(result)
    return result.causes[(result.causes["gold"] == gold) & (result.causes["importance"] == importance)]


def said(result: Coverage) -> str:
    """``vital nuggets``."""
    gold, importance = main_importance(result)
    return f"vital {gold}" if importance == "vital" else gold


def _means(result: Coverage, gold: Gold) -> Table:
    metrics = [*MEASURES[gold][MEASURES[gold].index(headline(result, gold)) :], LENGTH]
    by_system = {metric: result.measures[result.measures["metric"] == metric].set_index("system") for metric in metrics}
    first = by_system[metrics[0]]
    rows = []
    for system, row in first.iterrows():
        cells = [str(system), number(row["value"], 3), interval(row["ci_low"], row["ci_high"])]
        cells += [number(by_system[metric].loc[system, "value"], 3 if metric != LENGTH else 0) for metric in metrics[1:]]
        rows.append(tuple(cells))
    heads = ready(text("System"), field(_HEADS[metrics[0]]), field("95 %"), *(field(_HEADS[metric]) for metric in metrics[1:]))
    notes = sorted({note for note in first["note"] if note})
    unit = result.evaluated.unit
    says = _WITHOUT_VITAL if headline(result, gold) == "nuggets_all" else _SAYS[gold]
    note = says.format(covered=f"{100 * result.covered:.0f} %")
    note += f" Means over {counted(int(first['turns'].iloc[0]), 'turn')}; intervals for other {unit}s of this kind."
    note += "".join(f" {one[0].upper()}{one[1:]}." for one in notes)
    return result_table(result, "measures", _QUESTIONS[gold], heads, note, rows=rows, slug=f"measures-{gold}")


def _pairs_of(result: Coverage, gold: Gold) -> pd.DataFrame:
    return result.pairs[result.pairs["metric"] == headline(result, gold)]


def _pairs(result: Coverage, gold: Gold) -> Table:
    rows = _pairs_of(result, gold)
    family = result.families[headline(result, gold)]
    spec, floor = result.spec("pairs"), float(rows["p_floor"].min())
    columns: list[Shown] = [
        "first", "second", "difference", (field("95 %"), lambda row: signed_interval(row.ci_low, row.ci_high)),
        (spec.field("p"), lambda row: tested_p(row.p, floor, row.exact)),
        (spec.field("p_corrected"), lambda row: tested_p(row.p_corrected, family.floor, row.exact)),
    ]  # fmt: skip
    shown = rows.head(SHOWN)
    note = f"First minus second; p adj.: {family.describe('pair')}, {len(shown)} of them here."
    note += f" {family.note[0].upper()}{family.note[1:]}." if family.note else ""
    head = _HEADS[MEASURES[gold][0]]
    what = f"{head} of {gold}" if gold == "snippets" else "vital nuggets" if _has_vital(result) else "nuggets"
    caption = f"Which systems differ in {what}?"
    return result_table(result, "pairs", caption, columns, note, rows=shown, slug=f"pairs-{gold}")


def _causes(result: Coverage) -> Table:
    rows_of = main_causes(result)
    causes = [cause for cause in CAUSES if (rows_of["cause"] == cause).any()]
    rows = []
    for system, part in rows_of.groupby("system", sort=False):
        by_cause = part.set_index("cause")
        cells = [_share(by_cause.loc[cause]) if cause in by_cause.index else "–" for cause in causes]
        rows.append((str(system), str(int(part["items"].iloc[0])), *cells))
    heads = ready(
        text("System"), count("items"),
        *(field(cause, group="" if cause == COVERED else "missed because of") for cause in causes),
    )  # fmt: skip
    note = (
        "Generator: a passage that the answer was made of holds it. Rewriter: none of these, but one of those that the human"
        " question finds. Retrieval: neither. In brackets: 95 %, by units. JSON has all other items."
    )
    return result_table(result, "causes", f"Why are {said(result)} missed?", heads, note, rows=rows)


def _share(row: pd.Series) -> str:
    """``32 % (20–46)``, in per cent with the 95 % interval."""
    limits = "" if math.isnan(row["ci_low"]) else f" ({100 * row['ci_low']:.0f}–{100 * row['ci_high']:.0f})"
    return f"{100 * row['share']:.0f} %{limits}"


def _missed_rows(result: Coverage) -> pd.DataFrame:
    gold, importance = main_importance(result)
    items = result.items[(result.items["gold"] == gold) & (result.items["cause"] != COVERED)]
    if importance == "vital":
        items = items[items["importance"] == "vital"]
    order = {cause: place for place, cause in enumerate(CAUSES)}
    return items.assign(order=items["cause"].map(order)).sort_values(["order", "coverage"], kind="stable")


def _missed(result: Coverage) -> Table:
    every = _missed_rows(result)
    shown = every.groupby("cause", sort=False).head(max(1, SHOWN // every["cause"].nunique()))
    return result_table(
        result, "items", f"Which {said(result)} are missed?",
        ["system", "turn", (text("Missed"), lambda row: row.text), (text("because of"), lambda row: row.cause)],
        f"{len(shown)} of {len(every)}, some of each cause; JSON and CSV have every item of every system.", rows=shown,
    )  # fmt: skip


def _figure(result: Coverage) -> Figure:
    words = []
    for system, part in main_causes(result).groupby("system", sort=False):
        parts = [f"{row.cause} {percent(row.share)}" for row in part.itertuples() if row.count]
        words.append(f"{system}: {', '.join(parts)}")
    items = int(main_causes(result)["items"].iloc[0])
    return Figure(
        "missed",
        f"What became of the {items} {said(result)}: covered by the answer, or missed because of the generator, the rewriter or"
        " retrieval.",
        "; ".join(words) + ".",
        lambda: draw_causes(result),
    )


def draw_causes(result: Coverage) -> Drawing:
    """One stacked bar for each system."""
    from robustcs.studies.answers.figure import CauseRow, causes_figure

    rows = []
    for system, part in main_causes(result).groupby("system", sort=False):
        rows.append(CauseRow(str(system), {row.cause: row.share for row in part.itertuples() if not math.isnan(row.share)}))
    return causes_figure(rows)
