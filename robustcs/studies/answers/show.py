"""Tables and figure of the coverage of answers: measures, pairs of systems, causes and missed items."""

from __future__ import annotations

from collections.abc import Mapping

from robustcs.documents.document import Block, Table
from robustcs.documents.stacked import share_figure
from robustcs.documents.tables import Shown, result_table, wide_table
from robustcs.lazy import pd
from robustcs.result import number
from robustcs.studies.answers.analysis import CAUSES, COVERED, LENGTH, MEASURES, Coverage, Gold
from robustcs.wording import counted, sentences

#: Missed items and pairs in the printed tables; JSON and CSV contain all.
SHOWN = 10
_QUESTIONS: dict[Gold, str] = {
    "snippets": "How much of the gold snippets do answers contain?", "nuggets": "How many of the nuggets do answers contain?",
}  # fmt: skip
_HEADS = {
    "snippet_recall": "recall", "snippet_precision": "precision", "snippet_f1": "F1", "snippets_covered": "covered",
    "nuggets_vital": "vital", "nuggets_vital_strict": "strict", "nuggets_all": "all", "nuggets_all_strict": "strict, all",
    LENGTH: "words",
}  # fmt: skip
#: First measure of a table → definitions of its measures.
_SAYS: Mapping[str, str] = {
    "snippet_recall": "Recall: share of a snippet's content words in the answer, mean over snippets. Precision: share of the"
    " answer's content words in the snippets. Covered: share of snippets with at least {covered} of their words in the answer.",
    "nuggets_vital": "Vital: mean support of vital nuggets, including partial support. Strict: share with full support."
    " All: vital and okay nuggets.",
    "nuggets_all": "All: mean support of nuggets, including partial support. Strict, all: share with full support.",
}
#: Cause → colour. Covered is darkest, so the colours stay distinct in grey and with any colour vision.
_COLOURS = dict(zip(CAUSES, ("#0b3a66", "#cf5c0c", "#e9a23b", "#f6dfae", "#f0c273", "#ffffff"), strict=True))


def show(result: Coverage) -> tuple[Block, ...]:
    """Return the figure and table of causes, means and pairs for each kind of gold, and missed items."""
    causes = main_causes(result)
    shown = set(causes.loc[causes["count"] > 0, "cause"])
    named = {cause: cause if cause == COVERED else f"missed: {cause}" for cause in CAUSES}
    blocks: list[Block] = [
        share_figure(
            "missed",
            f"Coverage of the {causes['items'].iloc[0]} {said(result)}: covered by the answer, or missed because of the"
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
            "Generator: a passage of the answer contains the item. Rewriter: only a passage of the human rewrite contains it."
            " Retrieval: no passage of either contains it."
            f" In brackets: 95% CI (Wilson intervals, clustered by {result.evaluated.unit})."
            " --table causes covers all items.", rows=causes,
            heads={cause: cause for cause in CAUSES if (causes["cause"] == cause).any()}, group="covered, or missed because of",
        )
    )  # fmt: skip
    every = _missed_rows(result)
    if len(every):
        some = every.groupby("cause", sort=False).head(max(1, SHOWN // every["cause"].nunique()))
        blocks.append(
            result_table(
                result, "items", f"Which {said(result)} are missed?", ["system", "turn", "text", "cause"],
                f"Shown: {len(some)} of {len(every):,} missed items, with some of each cause. JSON and CSV contain all items.",
                rows=some,
            )
        )  # fmt: skip
    return tuple(blocks)


def main_importance(result: Coverage) -> tuple[Gold, str]:
    """Return the most important kind of items: vital nuggets, else all nuggets, else snippets."""
    gold = result.golds[-1]
    vital = ((result.causes["gold"] == gold) & (result.causes["importance"] == "vital")).any()
    return gold, "vital" if vital else "all"


def headline(result: Coverage, gold: Gold) -> str:
    """Return the measure that compares systems: the first of ``gold``, or all nuggets if none is vital."""
    without = gold == "nuggets" and not (result.items["importance"] == "vital").any()
    return "nuggets_all" if without else MEASURES[gold][0]


def main_causes(result: Coverage) -> pd.DataFrame:
    """Return the rows of table ``causes`` for the most important kind of items."""
    gold, importance = main_importance(result)
    return result.causes[(result.causes["gold"] == gold) & (result.causes["importance"] == importance)]


def said(result: Coverage) -> str:
    """Return the name of these items, such as ``vital nuggets``."""
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
    note = _SAYS[first].format(covered=f"{100 * result.covered:.0f}%")
    note += f" Means over {counted(int(own['turns'].iloc[0]), 'turn')}. 95% CI clustered by {result.evaluated.unit}."
    note += sentences(sorted(own["note"]))
    rows = own.join(others).reset_index()
    return result_table(result, "measures", _QUESTIONS[gold], columns, note, rows=rows, slug=f"measures-{gold}")


def _pairs(result: Coverage, gold: Gold) -> Table:
    metric = headline(result, gold)
    rows, family = result.pairs[result.pairs["metric"] == metric], result.families[metric]
    columns = ["first", "second", "difference", "p", "p_corrected"]
    shown = rows.head(SHOWN)
    listed = f"; {len(shown)} are shown" if len(shown) < len(rows) else ""
    note = f"Difference: first minus second. p adj.: {family.describe('pair')}{listed}.{sentences([family.note])}"
    what = {
        "snippet_recall": "recall of snippets",
        "nuggets_vital": "support of vital nuggets",
        "nuggets_all": "support of nuggets",
    }[metric]
    return result_table(result, "pairs", f"Which systems differ in {what}?", columns, note, rows=shown, slug=f"pairs-{gold}")


def _missed_rows(result: Coverage) -> pd.DataFrame:
    gold, importance = main_importance(result)
    items = result.items[(result.items["gold"] == gold) & (result.items["cause"] != COVERED)]
    if importance == "vital":
        items = items[items["importance"] == "vital"]
    return items.assign(order=items["cause"].map(CAUSES.index)).sort_values(["order", "coverage"], kind="stable")
