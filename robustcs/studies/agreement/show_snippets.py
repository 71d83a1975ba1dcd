"""Agreement as Tables 1 to 4 of the snippets paper print it."""

from __future__ import annotations

import math

from robustcs.documents.document import MAX_LAYERS, Block, Figure, LayeredText, Layers, Table
from robustcs.documents.tables import Shown, notes_of, result_table
from robustcs.documents.words import interval, number, number_interval, percent, score
from robustcs.inputs.annotations import TextKey
from robustcs.lazy import Drawing, pd
from robustcs.result import Result, text
from robustcs.result import number as field
from robustcs.studies.agreement.analysis import LEAST_OTHERS, LONGEST_SHARE, SnippetAgreement, Texts
from robustcs.wording import counted

#: Texts and workers of the tables for people; JSON and CSV have all.
SHOWN = 10
_AGGREGATES = {"mean": "mean over all pairs", "majority": "majority", "similarity": "most similar"}
_NUMBERS = {1: "one other", 2: "two others"}


def _interval(header: str = "95 % interval") -> Shown:
    return field(header), lambda row: interval(row.ci_low, row.ci_high)


def _by_unit(result: Result, method: str, rows: pd.DataFrame) -> str:
    """How the intervals of ``rows`` were made, and what must be known beside them."""
    unit, most = result.evaluated.unit, int(rows["units"].max())
    return f"95 %: {method} over {counted(most, unit)}.{notes_of(rows)}"


def show_snippets(result: SnippetAgreement) -> tuple[Block, ...]:
    """J and J_k, similarity to references, agreement beyond chance, what was chosen, what it took, what to look at again."""
    blocks: list[Block] = []
    if len(result.jaccard):
        blocks += [_jaccard(result), _figure(result)]
    if len(result.reference):
        blocks.append(_reference(result))
    if len(result.alignment):
        blocks.append(_alignment(result))
    if len(result.chance):
        blocks.append(_chance(result))
    blocks.append(_statistics(result))
    if len(result.work):
        blocks.append(_work(result))
    if len(result.confidence):
        blocks.append(_confidence(result))
    return (*blocks, _workers(result), _texts(result))


def _items(result: SnippetAgreement) -> str:
    """What is chosen."""
    return "sentences" if result.read == "selection" else "characters"


def present_layers(result: SnippetAgreement, texts: Texts, references: Texts, most: int | None = None) -> Layers:
    """Every text with one layer per annotator, references last, in the order of the result: the least agreement first.

    ``most`` texts at most.

    A text with more annotators than layers can be told apart is shown in several parts.
    """
    shown = []
    for row in result.texts.head(most or len(result.texts)).itertuples():
        key: TextKey = (row.turn, row.passage)
        own = texts[key]
        layers = [(f"{place}: {annotation.worker}", annotation.spans) for place, annotation in enumerate(own.annotations, 1)]
        if key in references:
            layers += [(f"reference {place}: {annotation.worker}", annotation.spans)
                       for place, annotation in enumerate(references[key].annotations, 1)]  # fmt: skip
        fields = [("Question", own.query)] if own.query else []
        fields.append(("Agreement", f"J {score(row.jaccard)} · J2 {score(row.jaccard_2)}"))
        if not math.isnan(row.f1_mean):
            fields.append(("Against references", f"F1 mean {score(row.f1_mean)} · majority {score(row.f1_majority)}"))
        for start in range(0, len(layers), MAX_LAYERS):
            part = f" · layers {start + 1} and on" if start else ""
            title = f"{row.turn} · {row.passage}{part}"
            shown.append(LayeredText(title, tuple(fields), own.text, tuple(layers[start : start + MAX_LAYERS])))
    which = "" if most is None or most >= len(result.texts) else f" The {most} texts with the least agreement"
    return Layers("layers", f"What did each annotator choose?{which}", tuple(shown))


def _jaccard(result: SnippetAgreement) -> Table:
    highest = int(result.jaccard["k"].max())
    columns: list[Shown] = [
        (text("Measure"), lambda row: f"J{row.k}" + (" = J" if row.k == highest else "")),
        (text("chosen by"), lambda row: f"at least {row.k}"), "value", _interval(), "texts",
    ]  # fmt: skip
    return result_table(
        result, "jaccard", "How much of what annotators chose did they choose together?", columns,
        f"{_items(result).capitalize()} chosen by at least k annotators out of those chosen by any; means over texts."
        f" {_by_unit(result, 'cluster-robust t', result.jaccard)}",
    )  # fmt: skip


def _reference(result: SnippetAgreement) -> Table:
    spec = result.spec("reference")
    rule = result.reference.set_index("aggregate").loc["majority", "rule"]
    texts = result.reference["texts"].iloc[0]
    return result_table(
        result, "reference", "How close are they to the references?",
        [
            (spec.field("aggregate"), lambda row: _AGGREGATES[row.aggregate]), "precision", "recall", "f1",
            _interval("95 % interval of F1"),
        ],
        f"Means over {texts} texts and all references. Majority: {rule}. Most similar: the annotator whose F1 to the others is"
        f" highest. F1 is 0 without overlap{_without(result)}. {_by_unit(result, 'cluster-robust t', result.reference)}",
    )  # fmt: skip


def _without(result: SnippetAgreement) -> str:
    """How many texts have no reference snippet, so that nothing can overlap."""
    empty, texts = int(result.reference["empty"].iloc[0]), int(result.reference["texts"].iloc[0])
    if not empty:
        return ""
    best = float(result.reference["f1"].iloc[0]) * texts / (texts - empty) if texts > empty else math.nan
    more = f"; over the others the first F1 would be {score(best)}" if texts > empty else ""
    return f", and so in the {empty} of {texts} texts in which no reference chose anything{more}"


def _alignment(result: SnippetAgreement) -> Table:
    return result_table(
        result, "alignment", "Where do the sentences stand in the paragraphs of the references?",
        ["found", "texts", "annotations"],
        "References of paragraphs are cut to the sentences that annotators read. What is not found is left out of the"
        " comparison, or counts as passed over where sentences are chosen.",
    )  # fmt: skip


def _chance(result: SnippetAgreement) -> Table:
    return result_table(
        result, "chance", f"Do they agree on single {_items(result)} more than by chance?",
        [
            "coefficient", "value", (field("95 %"), lambda row: number_interval(row.ci_low, row.ci_high)), "texts",
            result.spec("chance").field("items").called(_items(result)),
        ],
        f"Each of the {_items(result)} of a text is an item that every annotator chose or not. Low where annotators choose"
        " other words of the same place; J tells how much of what was chosen is shared."
        f" {_by_unit(result, 'nested bootstrap-t', result.chance)}",
    )  # fmt: skip


def _statistics(result: SnippetAgreement) -> Table:
    what = "sentences" if result.read == "selection" else "snippets"

    def mean(name: str, digits: int) -> tuple[Shown, Shown]:
        low, high = f"{name}_low", f"{name}_high"
        head = result.spec("statistics").field(name)
        group = {"snippets_per_annotation": f"{what} each", "tokens_per_annotation": "tokens each"}[name]
        return (
            (head.called("mean", group), lambda row: number(getattr(row, name), digits)),
            (field("95 %", group=group), lambda row: interval(getattr(row, low), getattr(row, high), digits)),
        )

    tokens = result.spec("statistics").field("tokens_per_snippet").called(f"tokens a {what[:-1]}")
    columns: list[Shown] = [
        "group", result.spec("statistics").field("annotations").called("given"), "empty", *mean("snippets_per_annotation", 2),
        (tokens, lambda row: number(row.tokens_per_snippet, 1)), *mean("tokens_per_annotation", 1),
        result.spec("statistics").field("share").called("of text"),
    ]  # fmt: skip
    return result_table(
        result, "statistics", "What did they choose?", columns,
        "Given, each: annotations, empty ones as well. Tokens are separated by white space. 95 %: cluster-robust t over"
        f" {result.evaluated.unit}s, from five on.{notes_of(result.statistics)}",
    )  # fmt: skip


def _work(result: SnippetAgreement) -> Table:
    def accepted(row: object) -> str:
        part = percent(row.accepted)  # type: ignore[attr-defined]
        return f"{part} of {row.checked}" if row.checked else "–"  # type: ignore[attr-defined]

    spec = result.spec("work")
    columns: list[Shown] = [
        "group", "of", "timed", (spec.field("seconds"), lambda row: number(row.seconds, 0)),
        (field("95 %"), lambda row: interval(row.seconds_low, row.seconds_high, 0)),
        (spec.field("seconds_mean"), lambda row: number(row.seconds_mean, 0)), (spec.field("accepted"), accepted),
    ]  # fmt: skip
    checked = result.work[result.work["checked"] > 0]
    note = (
        "Seconds as given in the files. 95 %: Woodruff's interval of the median. Accepted: annotations with the status"
        " Approved, of those with the status Approved or Rejected; others, such as Submitted, are not counted."
    )
    if len(checked) and (checked["accepted"] == 1).all():
        note += " No annotation is rejected: many files are released without their rejected rows and cannot show acceptance."
    return result_table(result, "work", "What did annotations take, and how many were accepted?", columns, note)


def _confidence(result: SnippetAgreement) -> Table:
    rows = result.confidence[result.confidence["method"] == "spearman"]
    return result_table(
        result, "confidence", "Do annotators who are sure agree more?",
        ["x", "y", "items", "value", (field("95 %"), lambda row: number_interval(row.ci_low, row.ci_high)), "p"],
        "Spearman, over texts or over annotations; annotators say of themselves how sure they are, 1 very low to 5 very high."
        f" {_by_unit(result, 'jackknife', rows)} JSON has Pearson as well.",
        rows=rows,
    )  # fmt: skip


def _workers(result: SnippetAgreement) -> Table:
    chosen = result.workers.head(SHOWN)
    limit = f"{100 * LONGEST_SHARE[result.read]:.0f} % of"
    long = f"{limit} the sentences" if result.read == "selection" else f"{limit} a {result.read}"
    f1 = result.spec("workers").field("f1_others")
    return result_table(
        result, "workers", "Whose annotations need a second look?",
        ["worker", "annotations", (f1, lambda row: number(row.f1_others, 2)), "long", "outside", "empty", "flagged"],
        f"{len(chosen)} of {len(result.workers)} workers. Long: more than {long}. Outside: nothing of it was chosen by at"
        f" least {_NUMBERS[LEAST_OTHERS[result.read]]}. Flags ask for a look and reject nothing.",
        rows=chosen,
    )  # fmt: skip


def _texts(result: SnippetAgreement) -> Table:
    chosen = result.texts.head(SHOWN)
    referenced = ["f1_mean", "f1_majority"] if len(result.reference) else []
    return result_table(
        result, "texts", "On which texts do they agree least?",
        ["turn", "passage", "annotators", "jaccard", "jaccard_2", *referenced],
        f"{len(chosen)} of {len(result.texts)} texts; --html FILE shows all with the annotations drawn over them.", rows=chosen,
    )  # fmt: skip


def _figure(result: SnippetAgreement) -> Figure:
    words = [
        f"J{row.k} {score(row.value)}" + ("" if math.isnan(row.ci_low) else f", from {row.ci_low:.3f} to {row.ci_high:.3f}")
        for row in result.jaccard.itertuples()
    ]
    return Figure(
        "overlap",
        "Overlap of annotators: mean over texts (dot) with its 95 % interval (dark line), quartiles of the texts (box) and"
        " their 5th to 95th per cent (thin line).",
        "; ".join(words) + ".",
        lambda: draw_overlap(result),
    )


def draw_overlap(result: SnippetAgreement) -> Drawing:
    """One row per J_k."""
    from robustcs.studies.agreement.figure import OverlapRow, overlap_figure

    rows = [
        OverlapRow(f"J{row.k}", result.texts[f"jaccard_{row.k}"].dropna().to_numpy(), row.value, row.ci_low, row.ci_high)
        for row in result.jaccard.itertuples()
    ]
    return overlap_figure(rows)
