"""Show agreement as in the papers: Tables 1 to 4 of the snippets paper, and stage 3 of the ECAsT paper for ratings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from robustcs.documents.document import MAX_LAYERS, Block, Card, Cards, Figure, TableBlock
from robustcs.documents.stacked import share_figure
from robustcs.documents.tables import Shown, notes_of, result_table, wide_table
from robustcs.documents.words import noted, score
from robustcs.inputs.annotations import TextKey
from robustcs.lazy import pd
from robustcs.result import Result, text
from robustcs.studies.agreement.analysis import LEAST_OTHERS, LONGEST_SHARE, SnippetAgreement
from robustcs.studies.agreement.ratings import ALL, NO_MAJORITY, RatingAgreement
from robustcs.wording import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

    from robustcs.documents.style import Width

#: Maximum number of texts and workers in a table; JSON and CSV contain all.
SHOWN = 10
_AGGREGATES = {"mean": "mean over all pairs", "majority": "majority", "similarity": "most similar"}


def show(result: Result) -> tuple[Block, ...]:
    """Return all tables and figures of the agreement on snippets or ratings."""
    if isinstance(result, SnippetAgreement):
        return _snippets(result)
    assert isinstance(result, RatingAgreement)
    return _ratings(result)


def _by_unit(result: Result, method: str, rows: pd.DataFrame) -> str:
    """Return the method of the intervals of ``rows``, and their caveats."""
    return f"95% CI: {method} over {counted(int(rows['units'].max()), result.evaluated.unit)}.{notes_of(rows)}"


# ---------------------------------------------------------------- snippets


def _snippets(result: SnippetAgreement) -> tuple[Block, ...]:
    """Return J_k, similarity to references, agreement beyond chance, sizes, times, and annotations to check."""
    items = "sentences" if result.read == "selection" else "characters"
    blocks: list[Block] = []

    def add(
        name: str,
        caption: str,
        columns: list[Shown],
        note: str,
        rows: pd.DataFrame | None = None,
        most: int | None = None,
    ) -> None:
        rows = result.tables[name] if rows is None else rows
        if len(rows):
            blocks.append(result_table(result, name, caption, columns, note, rows=rows, most=most))

    if len(result.jaccard):
        highest = int(result.jaccard["k"].max())
        add(
            "jaccard", "How much do the selections of the annotators overlap?",
            [(text("Measure"), lambda row: f"J{row.k}" + (" = J" if row.k == highest else "")),
             (text("selected by"), lambda row: f"at least {row.k}"), "value", "texts"],
            f"{items.capitalize()} selected by at least k annotators, divided by those selected by any; means over texts."
            f" {_by_unit(result, 'cluster-robust t', result.jaccard)}",
        )  # fmt: skip
        blocks.append(_overlap(result))
    if len(result.reference):
        first = result.reference.iloc[0]
        rule = result.reference.set_index("aggregate").loc["majority", "rule"]
        bare = [result.spec("reference").field(name).bare for name in ("precision", "recall")]
        empty = (
            f", also in {counted(int(first['empty']), 'text')} without a reference snippet"
            if first["empty"]
            else ""
        )
        add(
            "reference", "How close are the annotators to the references?", ["aggregate", *bare, "f1"],
            f"Means over {counted(first['texts'], 'text')} and all references. Majority: {rule}. Most similar: the annotator"
            f" with the highest mean F1 to the others. F1 is 0 without overlap{empty}."
            f" {_by_unit(result, 'cluster-robust t', result.reference)}",
            result.reference.assign(aggregate=result.reference["aggregate"].map(_AGGREGATES)),
        )  # fmt: skip
    if len(result.chance):
        add(
            "chance", f"Do annotators agree on single {items} beyond chance?",
            ["coefficient", "value", "texts", result.spec("chance").field("items").called(items)],
            f"Each {items[:-1]} of a text is an item that an annotator selects or not. Agreement is low if annotators select"
            " different words in the same place; J measures how much of the selection they share."
            f" {_by_unit(result, 'nested bootstrap-t', result.chance)}",
        )  # fmt: skip
    field = result.spec("statistics").field
    add(
        "statistics", "How much did annotators select?",
        ["group", "annotations", "empty", "snippets_per_annotation", field("tokens_per_snippet").bare, "tokens_per_annotation",
         "share"],
        f"Means per annotation include empty annotations.{' Snippets are sentences here.' if items == 'sentences' else ''}"
        f" Tokens are separated by white space. Of the text: share of its {items}. 95% CI: cluster-robust t over"
        f" {result.evaluated.unit}s, from five on."
        f"{noted((f'snippets of {row.group}', row.note) for row in result.statistics.itertuples())}",
    )  # fmt: skip
    add(
        "work", "How long did annotations take, and how many were accepted?",
        ["group", "of", "timed", "seconds", "seconds_mean", "checked", "accepted"],
        "Seconds as given in the files, with Woodruff's interval of the median. Checked: annotations with status Approved or"
        " Rejected; other statuses, such as Submitted, do not count. Accepted: share of Approved. Files that were released"
        " without rejected rows cannot show acceptance.",
    )  # fmt: skip
    if len(result.confidence):
        add(
            "confidence", "Do confident annotators agree more?", ["texts", "value", "p"],
            "Spearman correlation of the mean confidence of a text's annotators, from 1 (very low) to 5 (very high), with its"
            f" J. {_by_unit(result, 'jackknife', result.confidence)}",
        )  # fmt: skip
    long = f"{100 * LONGEST_SHARE[result.read]:.0f}% of {'the sentences' if items == 'sentences' else f'a {result.read}'}"
    add(
        "workers", "Whose annotations should be checked?",
        ["worker", "annotations", "f1_others", "long", "outside", "empty", "flagged"],
        f"Long: more than {long}. Outside: no part was selected by"
        f" at least {counted(LEAST_OTHERS[result.read], 'other annotator')}. Flags exclude nothing.", most=SHOWN,
    )  # fmt: skip
    f1 = ["f1_mean", "f1_majority"] if len(result.reference) else []
    add(
        "texts", "On which texts do annotators agree least?",
        ["turn", "passage", "annotators", "jaccard", "jaccard_2", *f1],
        "--html FILE shows all texts with their annotations.", most=SHOWN,
    )  # fmt: skip
    return tuple(blocks)


def present_layers(result: SnippetAgreement, most: int | None = None) -> Cards:
    """Return the texts with one layer per annotator and reference, lowest agreement first.

    ``most``: maximum number of texts. A text with more than ``MAX_LAYERS`` layers is shown in several parts.
    """
    shown = []
    for row in result.texts.head(most or len(result.texts)).itertuples():
        key: TextKey = (row.turn, row.passage)
        own, reference = result.compared[key], result.references.get(key)
        sides = [("", own.annotations), ("reference ", reference.annotations if reference else ())]
        layers = [
            (f"{who}{place}: {one.worker}", one.spans)
            for who, some in sides
            for place, one in enumerate(some, 1)
        ]
        fields = [("Question", own.query)] if own.query else []
        fields.append(("Agreement", f"J {score(row.jaccard)} · J2 {score(row.jaccard_2)}"))
        if not math.isnan(row.f1_mean):
            fields.append(
                (
                    "Against references",
                    f"F1 mean {score(row.f1_mean)} · majority {score(row.f1_majority)}",
                )
            )
        for start in range(0, len(layers), MAX_LAYERS):
            part = f" · from layer {start + 1}" if start else ""
            title = f"{row.turn} · {row.passage}{part}"
            shown.append(
                Card(title, tuple(fields), own.text, tuple(layers[start : start + MAX_LAYERS]))
            )
    which = (
        ""
        if most is None or most >= len(result.texts)
        else f" The {most} texts with the lowest agreement"
    )
    return Cards("layers", f"What did each annotator select?{which}", tuple(shown))


def _overlap(result: SnippetAgreement) -> Figure:
    rows = result.jaccard
    words = "; ".join(f"J{row.k} {score(row.value)}" for row in rows.itertuples())
    caption = "Share of the selected text that at least k annotators selected: mean over texts with 95% CI."

    def draw(width: Width) -> MatplotlibFigure:
        from robustcs.documents.forest import MeanPanel, forest

        low, value, high = (rows[name].to_numpy() for name in ("ci_low", "value", "ci_high"))
        panel = MeanPanel("J with k annotators", low, value, high)
        return forest(width, [f"J{k}" for k in rows["k"]], [panel])

    return Figure("overlap", caption, f"{words}.", draw)


# ---------------------------------------------------------------- ratings


def _ratings(result: RatingAgreement) -> tuple[Block, ...]:
    """Return kappa and alpha before and after filtering and grouping, means, labels, and the distribution of ratings."""
    limit = f"≥ {100 * result.min_agreement:.0f}%"
    stages, kept = result.stages, result.spec("kappa").field("kept_share").called(f"items {limit}")
    names = {"all": "all", "kept": f"{limit} agree"}
    blocks: list[Block] = [
        result_table(
            result, "kappa", "How well do raters agree?", ["criterion", "items", "raters", "agreement", kept, "value"],
            "Agree: share of equal pairs among the ratings of an item; mean over items with at least two ratings."
            f" Items {limit}: share of items with this agreement. {_by_unit(result, 'nested bootstrap-t', result.kappa)}"
        ),
        wide_table(
            result, "alpha", "How well do they agree if near ratings count as partial agreement?", ["criterion"], "level",
            ["value"],
            "Krippendorff's alpha: nominal counts any difference; ordinal and interval weight large differences more."
            f" {_by_unit(result, 'nested bootstrap-t', result.alpha)}", group="alpha (95% CI)"
        ),
        result_table(
            result, "stages", "How do filtering and grouping change agreement?",
            ["criterion", "items", "ratings", "count", "kappa", "alpha"],
            "Keeping only items on which raters agree raises agreement by construction. Report the first line of each"
            " criterion, too.",
            rows=stages.assign(items=stages["items"].map(names)), by="criterion"
        ),
    ]  # fmt: skip
    blocks.append(_means(result))
    share = result.spec("grouped").field("share").bare
    blocks.append(wide_table(
        result, "grouped", "Which labels do the items have?", ["criterion", "source", "items"], "group", [share],
        f"Label: the rating that a majority of the item's raters gave, or {NO_MAJORITY}; in groups, if there are any. JSON"
        " contains intervals.",
    ))  # fmt: skip
    if result.grouped["source"].nunique() > 1:
        blocks.append(_sources(result))
    blocks.append(result_table(
        result, "distribution", "Which ratings were given?", ["criterion", "rating", "count", "share"], "Single ratings.",
        by="criterion",
    ))  # fmt: skip
    given = "Ratings by criterion, lowest rating on the left."
    return (*blocks, share_figure("ratings", given, result.distribution, "criterion", "rating"))


def _means(result: RatingAgreement) -> TableBlock:
    rows = result.means
    source = ["source"] if rows["source"].nunique() > 1 else []
    kappa = result.spec("means").field("kappa").bare
    return result_table(
        result, "means", "What are the mean ratings?", ["criterion", *source, "items", "value", kappa],
        f"Means over items. 95% CI: over {counted(int(rows['units'].max()), rows['unit'].iloc[0])}, from five on. κ: of the"
        " ratings as given; JSON and CSV have its interval.",
        by="criterion",
    )  # fmt: skip


def _sources(result: RatingAgreement) -> Figure:
    """Return Figure 7B of the paper: groups by criterion and source, as shares of the items with a label."""
    rows = result.grouped[
        (result.grouped["source"] != ALL) & (result.grouped["group"] != NO_MAJORITY)
    ]
    names = rows["criterion"] + ", " + rows["source"]
    whole = rows["count"].groupby(names).transform("sum")
    shares = rows.assign(name=names, share=rows["count"] / whole)[whole > 0]
    caption = "Items with a label, by criterion, source and group."
    return share_figure("sources", caption, shares, "name", "group")
