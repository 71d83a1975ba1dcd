"""Agreement as the papers print it: snippets as Tables 1 to 4 of the snippets paper, ratings as stage 3 of the ECAsT paper."""

from __future__ import annotations

import math
from typing import Any

from robustcs.documents.document import MAX_LAYERS, Block, Figure, LayeredText, Layers, Table
from robustcs.documents.stacked import share_figure
from robustcs.documents.tables import Shown, notes_of, result_table, wide_table
from robustcs.documents.words import score
from robustcs.inputs.annotations import TextKey
from robustcs.lazy import Drawing, pd
from robustcs.result import Field, Result, text
from robustcs.studies.agreement.analysis import LEAST_OTHERS, LONGEST_SHARE, SnippetAgreement, Texts
from robustcs.studies.agreement.ratings import ALL, NO_MAJORITY, RatingAgreement
from robustcs.wording import counted

#: Texts and workers of the tables for people; JSON and CSV have all.
SHOWN = 10
_AGGREGATES = {"mean": "mean over all pairs", "majority": "majority", "similarity": "most similar"}
_NUMBERS = {1: "one other", 2: "two others"}


def show(result: Result) -> tuple[Block, ...]:
    """All tables and figures of agreement on snippets, or on ratings."""
    if isinstance(result, SnippetAgreement):
        return _snippets(result)
    assert isinstance(result, RatingAgreement)
    return _ratings(result)


def _by_unit(result: Result, method: str, rows: pd.DataFrame) -> str:
    """How the intervals of ``rows`` were made, and what must be known beside them."""
    return f"95 % CI: {method} over {counted(int(rows['units'].max()), result.evaluated.unit)}.{notes_of(rows)}"


# ---------------------------------------------------------------- snippets


def _snippets(result: SnippetAgreement) -> tuple[Block, ...]:
    """J and J_k, similarity to references, agreement beyond chance, what was chosen, what it took, what to look at again."""
    items = "sentences" if result.read == "selection" else "characters"
    blocks: list[Block] = []

    def add(name: str, caption: str, columns: list[Shown], note: str, rows: pd.DataFrame | None = None) -> None:
        rows = result.tables[name] if rows is None else rows
        if len(rows) or name in ("workers", "texts"):
            blocks.append(result_table(result, name, caption, columns, note, rows=rows))

    if len(result.jaccard):
        highest = int(result.jaccard["k"].max())
        add(
            "jaccard", "How much of what annotators chose did they choose together?",
            [(text("Measure"), lambda row: f"J{row.k}" + (" = J" if row.k == highest else "")),
             (text("chosen by"), lambda row: f"at least {row.k}"), "value", "texts"],
            f"{items.capitalize()} chosen by at least k annotators out of those chosen by any; means over texts."
            f" {_by_unit(result, 'cluster-robust t', result.jaccard)}",
        )  # fmt: skip
        blocks.append(_overlap(result))
    if len(result.reference):
        first = result.reference.iloc[0]
        rule = result.reference.set_index("aggregate").loc["majority", "rule"]
        bare = [result.spec("reference").field(name).bare for name in ("precision", "recall")]
        add(
            "reference", "How close are they to the references?", ["aggregate", *bare, "f1"],
            f"Means over {first['texts']} texts and all references. Majority: {rule}. Most similar: the annotator whose F1 to"
            f" the others is highest. F1 is 0 without overlap{_without(first)}."
            f" {_by_unit(result, 'cluster-robust t', result.reference)}",
            result.reference.assign(aggregate=result.reference["aggregate"].map(_AGGREGATES)),
        )  # fmt: skip
    add(
        "alignment", "Where do the sentences stand in the paragraphs of the references?", ["found", "texts", "annotations"],
        "References of paragraphs are cut to the sentences that annotators read. What is not found is left out of the"
        " comparison, or counts as passed over where sentences are chosen.",
    )  # fmt: skip
    if len(result.chance):
        add(
            "chance", f"Do they agree on single {items} more than by chance?",
            ["coefficient", "value", "texts", result.spec("chance").field("items").called(items)],
            f"Each of the {items} of a text is an item that every annotator chose or not. Low where annotators choose other"
            " words of the same place; J tells how much of what was chosen is shared."
            f" {_by_unit(result, 'nested bootstrap-t', result.chance)}",
        )  # fmt: skip
    field = result.spec("statistics").field
    add(
        "statistics", "What did they choose?",
        ["group", "annotations", "empty", "snippets_per_annotation", field("tokens_per_snippet").bare, "tokens_per_annotation",
         "share"],
        f"Given, each: annotations, empty ones as well{'; snippets are sentences here' if items == 'sentences' else ''}. Tokens"
        f" are separated by white space. 95 % CI: cluster-robust t over {result.evaluated.unit}s, from five on."
        f"{notes_of(result.statistics)}",
    )  # fmt: skip
    checked = result.work[result.work["checked"] > 0]
    none = " No annotation is rejected: many files are released without their rejected rows and cannot show acceptance."
    add(
        "work", "What did annotations take, and how many were accepted?",
        ["group", "of", "timed", "seconds", "seconds_mean", "checked", "accepted"],
        "Seconds as given in the files; Woodruff's interval of the median. Accepted: annotations with the status Approved, of"
        " those checked, with the status Approved or Rejected; others, such as Submitted, are not counted."
        + (none if len(checked) and (checked["accepted"] == 1).all() else ""),
    )  # fmt: skip
    if len(result.confidence):
        rows = result.confidence[result.confidence["method"] == "spearman"]
        add(
            "confidence", "Do annotators who are sure agree more?", ["x", "y", "items", "value", "p"],
            "Spearman, over texts or over annotations; annotators say of themselves how sure they are, 1 very low to 5 very"
            f" high. {_by_unit(result, 'jackknife', rows)} JSON has Pearson as well.", rows,
        )  # fmt: skip
    long = f"{100 * LONGEST_SHARE[result.read]:.0f} % of {'the sentences' if items == 'sentences' else f'a {result.read}'}"
    chosen = result.workers.head(SHOWN)
    add(
        "workers", "Whose annotations need a second look?",
        ["worker", "annotations", "f1_others", "long", "outside", "empty", "flagged"],
        f"{len(chosen)} of {len(result.workers)} workers. Long: more than {long}. Outside: nothing of it was chosen by at least"
        f" {_NUMBERS[LEAST_OTHERS[result.read]]}. Flags ask for a look and reject nothing.", chosen,
    )  # fmt: skip
    chosen, f1 = result.texts.head(SHOWN), ["f1_mean", "f1_majority"] if len(result.reference) else []
    add(
        "texts", "On which texts do they agree least?",
        ["turn", "passage", "annotators", "jaccard", "jaccard_2", *f1],
        f"{len(chosen)} of {len(result.texts)} texts; --html FILE shows all with the annotations drawn over them.", chosen,
    )  # fmt: skip
    return tuple(blocks)


def _without(first: Any) -> str:
    """How many texts have no reference snippet, so that nothing can overlap; ``first``: the first row of the references."""
    empty, texts = int(first["empty"]), int(first["texts"])
    if not empty:
        return ""
    best = f"; over the others the first F1 would be {score(first['f1'] * texts / (texts - empty))}" if texts > empty else ""
    return f", and so in the {empty} of {texts} texts in which no reference chose anything{best}"


def present_layers(result: SnippetAgreement, texts: Texts, references: Texts, most: int | None = None) -> Layers:
    """Every text with one layer per annotator, references last, in the order of the result: the least agreement first.

    ``most`` texts at most.

    A text with more annotators than layers can be told apart is shown in several parts.
    """
    shown = []
    for row in result.texts.head(most or len(result.texts)).itertuples():
        key: TextKey = (row.turn, row.passage)
        own = texts[key]
        sides = [("", own.annotations), ("reference ", references[key].annotations if key in references else ())]
        layers = [(f"{who}{place}: {one.worker}", one.spans) for who, some in sides for place, one in enumerate(some, 1)]
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


def _overlap(result: SnippetAgreement) -> Figure:
    words = [
        f"J{row.k} {score(row.value)}" + ("" if math.isnan(row.ci_low) else f", from {row.ci_low:.3f} to {row.ci_high:.3f}")
        for row in result.jaccard.itertuples()
    ]
    caption = (
        "Overlap of annotators: mean over texts (dot) with its 95 % interval (dark line), quartiles of the texts (box) and"
        " their 5th to 95th per cent (thin line)."
    )
    return Figure("overlap", caption, f"{'; '.join(words)}.", lambda: draw_overlap(result))


def draw_overlap(result: SnippetAgreement) -> Drawing:
    """One row per J_k."""
    from matplotlib.figure import Figure as MatplotlibFigure

    from robustcs.documents.figures import COLUMN_WIDTH, INK, style

    blue, pale = "#2f74b0", "#cadff0"
    rows = result.jaccard.iloc[::-1]
    with style():
        figure = MatplotlibFigure(figsize=(COLUMN_WIDTH, 0.55 + 0.3 * len(rows)), layout="constrained")
        axes = figure.subplots()
        places = range(len(rows))
        axes.boxplot(
            [result.texts[f"jaccard_{k}"].dropna().to_numpy() for k in rows["k"]], positions=places, orientation="horizontal",
            whis=(5, 95), showfliers=False, showcaps=False, widths=0.5, patch_artist=True, medianprops={"linewidth": 0},
            boxprops={"facecolor": pale, "edgecolor": blue, "linewidth": 0.6}, whiskerprops={"color": blue, "linewidth": 0.8},
        )  # fmt: skip
        axes.hlines(places, rows["ci_low"], rows["ci_high"], color=INK, linewidth=1.4, zorder=3)
        axes.plot(rows["value"], places, "o", color=INK, markersize=3.6, zorder=3)
        axes.set_yticks(places, [f"J{k}" for k in rows["k"]])
        axes.tick_params(axis="y", length=0)
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.6, len(rows) - 0.4))
        axes.set_xlabel("share of the characters that any annotator chose", labelpad=2)
        axes.grid(axis="x", color=INK, alpha=0.15, linewidth=0.4)
        axes.set_axisbelow(True)
    return figure


# ---------------------------------------------------------------- ratings


def _ratings(result: RatingAgreement) -> tuple[Block, ...]:
    """Kappa and alpha, what filtering and grouping do to them, majority labels, and how ratings are distributed."""
    limit = f"≥ {100 * result.min_agreement:.0f} %"
    agreement, stages = result.spec("agreement"), result.stages
    kept: list[str | Field] = [agreement.field("agreement"), agreement.field("kept_share").called(f"items {limit}")]
    group = ["group"] if result.labels["group"].any() else []
    names = {"all": "all", "kept": f"{limit} agree"}
    blocks: list[Block] = [
        result_table(
            result, "kappa", "How far do raters agree?", ["criterion", "items", "raters", *kept, "value"],
            "Agree: of all pairs of an item's ratings, those that are the same; mean over items with at least two ratings."
            f" Items {limit}: items where so many agree. {_by_unit(result, 'nested bootstrap-t', result.kappa)}",
            rows=result.kappa.assign(agreement=result.agreement["agreement"], kept_share=result.agreement["kept_share"]),
        ),
        wide_table(
            result, "alpha", "And if near ratings agree in part?", ["criterion"], "level", ["value"],
            "Krippendorff's alpha: nominal counts any difference, ordinal and interval large ones more."
            f" {_by_unit(result, 'nested bootstrap-t', result.alpha)}", group="alpha (95% CI)",
        ),
        result_table(
            result, "stages", "What do filtering and grouping do?",
            ["criterion", "items", "ratings", "count", "kappa", "alpha"],
            "Keeping only items that raters agree on raises agreement by itself: report the first line of a criterion as well.",
            rows=stages.assign(items=stages["items"].map(names)), by="criterion",
        ),
        wide_table(
            result, "labels", "What is the label of each item?", ["criterion", "label", *group], "items", ["count", "share"],
            f"The rating that a majority of the item's raters gave; otherwise {NO_MAJORITY}.",
            heads={"all": "all items", "kept": "items kept"}, by="criterion",
        ),
    ]  # fmt: skip
    if len(result.means):
        blocks.append(_means(result))
    if len(result.grouped):
        share = result.spec("grouped").field("share").bare
        blocks.append(wide_table(
            result, "grouped", "How many are good?", ["criterion", "source", "items"], "group", [share],
            "Items by the group of the rating that a majority of their raters gave; JSON has intervals.",
        ))  # fmt: skip
        if result.grouped["source"].nunique() > 1:
            blocks.append(_sources(result))
    blocks.append(result_table(
        result, "distribution", "Which ratings were given?", ["criterion", "rating", "count", "share"], "Single ratings.",
        by="criterion",
    ))  # fmt: skip
    given = "Ratings given for each criterion, lowest on the left."
    return (*blocks, share_figure("ratings", given, result.distribution, "criterion", "rating"))


def _means(result: RatingAgreement) -> Table:
    keys = ["criterion", "source"]
    kappa = result.source_kappa.rename(columns={"value": "kappa"})[[*keys, "kappa"]]
    rows = result.means.merge(kappa, on=keys)
    source = ["source"] if rows["source"].nunique() > 1 else []
    fleiss = result.spec("stages").field("kappa").rounded(2)
    return result_table(
        result, "means", "How good is it?", ["criterion", *source, "items", "value", "label_mean", fleiss],
        f"Means over items; intervals over {counted(int(rows['units'].max()), rows['unit'].iloc[0])}, from five on. Of labels:"
        " mean of the ratings that a majority gave. κ: Fleiss, of the ratings as given; source_kappa has its interval.",
        rows=rows, by="criterion",
    )  # fmt: skip


def _sources(result: RatingAgreement) -> Figure:
    """Figure 7B: the groups by criterion and source, of single sources, as shares of the items that have a label."""
    rows = result.grouped[(result.grouped["source"] != ALL) & (result.grouped["group"] != NO_MAJORITY)]
    names = rows["criterion"] + ", " + rows["source"]
    whole = rows["count"].groupby(names).transform("sum")
    shares = rows.assign(name=names, share=rows["count"] / whole)[whole > 0]
    caption = "Items by the group of their label, for each criterion and source, of those that have a label."
    return share_figure("sources", caption, shares, "name", "group")
