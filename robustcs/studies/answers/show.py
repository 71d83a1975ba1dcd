"""Coverage of answers: measures by system, why items are missed, which systems differ, and the answers that miss most."""

from __future__ import annotations

from collections.abc import Mapping

from robustcs.documents.document import Block, Table
from robustcs.documents.stacked import share_figure
from robustcs.documents.tables import Shown, result_table, wide_table
from robustcs.lazy import pd
from robustcs.result import number
from robustcs.studies.answers.analysis import CAUSES, COVERED, LENGTH, MEASURES, Coverage, Gold
from robustcs.wording import counted, sentences

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
#: The first measure of a table → what its measures are.
_SAYS: Mapping[str, str] = {
    "snippet_recall": "Recall: the share of a snippet's content words that the answer has, mean over snippets; precision: the"
    " share of the answer's content words that the snippets have; covered: snippets with at least {covered} of their words.",
    "nuggets_vital": "Vital: support of the vital nuggets, where a partly held one counts in part; strict: those held in full;"
    " all: okay nuggets too.",
    "nuggets_all": "All: support of the nuggets, where a partly held one counts in part; strict, all: those held in full.",
}
#: Cause → its colour, told apart with any colour vision and in grey: what is there is dark, what is missing ever lighter.
_COLOURS = dict(zip(CAUSES, ("#0b3a66", "#cf5c0c", "#e9a23b", "#f6dfae", "#f0c273", "#ffffff"), strict=True))


def show(result: Coverage) -> tuple[Block, ...]:
    """Per gold the means and the pairs; then what became of the items, in numbers and as a figure, and what was missed."""
    causes = main_causes(result)
    shown = set(causes.loc[causes["count"] > 0, "cause"])
    named = {cause: cause if cause == COVERED else f"missed: {cause}" for cause in CAUSES}
    blocks: list[Block] = [
        share_figure(
            "missed",
            f"What became of the {causes['items'].iloc[0]} {said(result)}: covered by the answer, or missed because of the"
            " generator, the rewriter or retrieval.",
            causes.assign(cause=causes["cause"].map(named)), "system", "cause",
            {named[cause]: colour for cause, colour in _COLOURS.items() if cause in shown},
        )
    ]  # fmt: skip
    for gold in result.golds:
        blocks.append(_means(result, gold))
        if (result.pairs["metric"] == headline(result, gold)).any():
            blocks.append(_pairs(result, gold))
    blocks.append(
        wide_table(
            result, "causes", f"Why are {said(result)} missed?", ["system", "items"], "cause", ["share"],
            "Generator: a passage that the answer was made of holds it. Rewriter: none of these, but one of those that the"
            " human question finds. Retrieval: neither. In brackets: 95 % CI, by units. JSON has all other items.", rows=causes,
            heads={cause: cause for cause in CAUSES if (causes["cause"] == cause).any()}, group="covered, or missed because of",
        )
    )  # fmt: skip
    every = _missed_rows(result)
    if len(every):
        some = every.groupby("cause", sort=False).head(max(1, SHOWN // every["cause"].nunique()))
        blocks.append(
            result_table(
                result, "items", f"Which {said(result)} are missed?", ["system", "turn", "text", "cause"],
                f"{len(some)} of {len(every)}, some of each cause; JSON and CSV have every item of every system.", rows=some,
            )
        )  # fmt: skip
    return tuple(blocks)


def main_importance(result: Coverage) -> tuple[Gold, str]:
    """The items that matter most: vital nuggets, else all nuggets, else snippets."""
    gold = result.golds[-1]
    vital = ((result.causes["gold"] == gold) & (result.causes["importance"] == "vital")).any()
    return gold, "vital" if vital else "all"


def headline(result: Coverage, gold: Gold) -> str:
    """What systems are compared by: the first measure of ``gold``; all nuggets where no vital one exists."""
    without = gold == "nuggets" and not (result.items["importance"] == "vital").any()
    return "nuggets_all" if without else MEASURES[gold][0]


def main_causes(result: Coverage) -> pd.DataFrame:
    """The rows of table ``causes`` of the items that matter most."""
    gold, importance = main_importance(result)
    return result.causes[(result.causes["gold"] == gold) & (result.causes["importance"] == importance)]


def said(result: Coverage) -> str:
    """``vital nuggets``."""
    gold, importance = main_importance(result)
    return f"vital {gold}" if importance == "vital" else gold


def _means(result: Coverage, gold: Gold) -> Table:
    first = headline(result, gold)
    metrics = [*MEASURES[gold][MEASURES[gold].index(first) :], LENGTH]
    rows = result.measures[result.measures["metric"].isin(metrics)]
    own = rows[rows["metric"] == first].set_index("system")
    value = result.spec("measures").field("value")
    others = rows.pivot(index="system", columns="metric", values="value")[metrics[1:]]
    columns: list[Shown] = ["system", value.called(f"{_HEADS[first]} (95% CI)")]
    columns += [number(name, header=_HEADS[name]).rounded(0 if name == LENGTH else 3) for name in metrics[1:]]
    note = _SAYS[first].format(covered=f"{100 * result.covered:.0f} %")
    note += (
        f" Means over {counted(int(own['turns'].iloc[0]), 'turn')}; intervals for other {result.evaluated.unit}s of this kind."
    )
    note += sentences(sorted(own["note"]))
    rows = own.join(others).reset_index()
    return result_table(result, "measures", _QUESTIONS[gold], columns, note, rows=rows, slug=f"measures-{gold}")


def _pairs(result: Coverage, gold: Gold) -> Table:
    metric = headline(result, gold)
    rows, family = result.pairs[result.pairs["metric"] == metric], result.families[metric]
    columns = ["first", "second", "difference", "p", "p_corrected"]
    shown = rows.head(SHOWN)
    note = f"First minus second; p adj.: {family.describe('pair')}, {len(shown)} of them here.{sentences([family.note])}"
    what = {"snippet_recall": "recall of snippets", "nuggets_vital": "vital nuggets", "nuggets_all": "nuggets"}[metric]
    return result_table(result, "pairs", f"Which systems differ in {what}?", columns, note, rows=shown, slug=f"pairs-{gold}")


def _missed_rows(result: Coverage) -> pd.DataFrame:
    gold, importance = main_importance(result)
    items = result.items[(result.items["gold"] == gold) & (result.items["cause"] != COVERED)]
    if importance == "vital":
        items = items[items["importance"] == "vital"]
    return items.assign(order=items["cause"].map(CAUSES.index)).sort_values(["order", "coverage"], kind="stable")
