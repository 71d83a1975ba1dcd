"""Agreement as Tables 2 to 4 of the snippets paper print it, and ratings as stage 3 of the ECAsT paper does."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from robustcs.documents.document import MAX_LAYERS, Block, Figure, LayeredText, Layers, Table
from robustcs.documents.rating_figure import distribution_figure
from robustcs.documents.tables import Shown, notes_of, ready, result_table
from robustcs.documents.words import interval, number, number_interval, percent, score
from robustcs.inputs.annotations import TextKey
from robustcs.result import Result, count, text
from robustcs.result import number as field
from robustcs.studies.agreement.analysis import LONGEST_SHARE, SnippetAgreement, Texts
from robustcs.studies.agreement.ratings import RatingAgreement
from robustcs.studies.agreement.sources import ALL, NO_MAJORITY
from robustcs.wording import counted

if TYPE_CHECKING:
    import matplotlib.figure
    import pandas as pd

#: Texts and workers of the tables for people; JSON and CSV have all.
SHOWN = 10
_AGGREGATES = {"mean": "mean over all pairs", "majority": "majority", "similarity": "most similar"}


def show(result: Result) -> tuple[Block, ...]:
    """All tables and figures of agreement on snippets, or on ratings."""
    if isinstance(result, SnippetAgreement):
        return _snippets(result)
    assert isinstance(result, RatingAgreement)
    return _ratings(result)


def _interval(header: str = "95 % interval") -> Shown:
    return field(header), lambda row: interval(row.ci_low, row.ci_high)


def _by_unit(result: Result, method: str, rows: pd.DataFrame) -> str:
    """How the intervals of ``rows`` were made, and what must be known beside them."""
    unit, most = result.evaluated.unit, int(rows["units"].max())
    return f"95 %: {method} over {counted(most, unit)}.{notes_of(rows)}"


# ---------------------------------------------------------------- snippets


def _snippets(result: SnippetAgreement) -> tuple[Block, ...]:
    """J and J_k, similarity to references, statistics, quality flags and the texts with the least agreement."""
    blocks: list[Block] = []
    if len(result.jaccard):
        blocks += [_jaccard(result), _figure(result)]
    if len(result.reference):
        blocks.append(_reference(result))
    return (*blocks, _statistics(result), _workers(result), _texts(result))


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
        "Characters chosen by at least k annotators out of those chosen by any; means over texts."
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
        f" highest. F1 is 0 without overlap. {_by_unit(result, 'cluster-robust t', result.reference)}",
    )  # fmt: skip


def _statistics(result: SnippetAgreement) -> Table:
    each, tokens = (result.spec("statistics").field(name) for name in ("snippets_per_annotation", "tokens_per_snippet"))
    columns: list[Shown] = [
        "group", "texts", "annotations", "empty", (each, lambda row: number(row.snippets_per_annotation, 2)),
        (tokens, lambda row: number(row.tokens_per_snippet, 1)), "share",
    ]  # fmt: skip
    return result_table(result, "statistics", "What did they choose?", columns, "Tokens are separated by white space.")


def _workers(result: SnippetAgreement) -> Table:
    chosen = result.workers.head(SHOWN)
    limits = " or ".join(f"{100 * share:.0f} % of a {unit}" for unit, share in LONGEST_SHARE.items())
    f1 = result.spec("workers").field("f1_others")
    return result_table(
        result, "workers", "Whose annotations need a second look?",
        ["worker", "annotations", (f1, lambda row: number(row.f1_others, 2)), "long", "outside", "empty", "flagged"],
        f"{len(chosen)} of {len(result.workers)} workers. Long: more than {limits}. Outside: nothing of it was chosen by at"
        " least two others. Flags ask for a look and reject nothing.",
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


def draw_overlap(result: SnippetAgreement) -> matplotlib.figure.Figure:
    """One row per J_k."""
    from robustcs.studies.agreement.figure import OverlapRow, overlap_figure

    rows = [
        OverlapRow(f"J{row.k}", result.texts[f"jaccard_{row.k}"].dropna().to_numpy(), row.value, row.ci_low, row.ci_high)
        for row in result.jaccard.itertuples()
    ]
    return overlap_figure(rows)


# ---------------------------------------------------------------- ratings


def _ratings(result: RatingAgreement) -> tuple[Block, ...]:
    """Kappa and alpha, what filtering and grouping do to them, majority labels, and how ratings are distributed."""
    blocks: list[Block] = [_kappa(result), _alpha(result), _stages(result), _labels(result)]
    if len(result.means):
        blocks.append(_means(result))
    if len(result.grouped):
        blocks.append(_grouped(result))
        if result.grouped["source"].nunique() > 1:
            blocks.append(_grouped_figure(result))
    return (*blocks, _distribution(result), distribution_figure(result.distribution))


def _kappa(result: RatingAgreement) -> Table:
    limit = f"≥ {100 * result.min_agreement:.0f} %"
    agree, kept_share = (result.spec("agreement").field(name) for name in ("agreement", "kept_share"))
    rows = result.kappa.assign(agreement=result.agreement["agreement"], kept_share=result.agreement["kept_share"])
    return result_table(
        result, "kappa", "How far do raters agree?",
        ["criterion", "items", "raters", agree, kept_share.called(f"items {limit}"), "value", _interval()],
        "Agree: of all pairs of an item's ratings, those that are the same; mean over items with at least two ratings."
        f" Items {limit}: items where so many agree. {_by_unit(result, 'nested bootstrap-t', result.kappa)}", rows=rows,
    )  # fmt: skip


def _alpha(result: RatingAgreement) -> Table:
    levels = list(dict.fromkeys(result.alpha["level"]))
    rows = []
    for criterion, part in result.alpha.groupby("criterion", sort=False):
        found = {row.level: (score(row.value), interval(row.ci_low, row.ci_high)) for row in part.itertuples()}
        rows.append((str(criterion), *(cell for level in levels for cell in found.get(level, ("–", "–")))))
    value = result.spec("alpha").field("value")
    heads = (head for level in levels for head in (value.called("alpha", level), field("95 %", group=level)))
    return result_table(
        result, "alpha", "And if near ratings agree in part?", ready(result.spec("alpha").field("criterion"), *heads),
        "Krippendorff's alpha: nominal counts any difference, ordinal and interval large ones more."
        f" {_by_unit(result, 'nested bootstrap-t', result.alpha)}",
        rows=rows,
    )  # fmt: skip


def _stages(result: RatingAgreement) -> Table:
    names = {"all": "all", "kept": f"≥ {100 * result.min_agreement:.0f} % agree"}
    items = result.spec("stages").field("items")
    return result_table(
        result, "stages", "What do filtering and grouping do?",
        ["criterion", (items, lambda row: names[row.items]), "ratings", "count", "kappa", "alpha"],
        "Keeping only items that raters agree on raises agreement by itself: report the first line of a criterion as well.",
        by="criterion",
    )  # fmt: skip


def _labels(result: RatingAgreement) -> Table:
    every, kept = (result.labels[result.labels["items"] == items] for items in ("all", "kept"))
    rows = every.assign(kept=kept["count"].to_numpy(), kept_share=kept["share"].to_numpy())
    return result_table(
        result, "labels", "What is the label of each item?",
        [
            "criterion", "label", *(["group"] if every["group"].any() else []),
            (count("all items"), lambda row: f"{row.count} ({percent(row.share)})"),
            (count("items kept"), lambda row: f"{row.kept} ({percent(row.kept_share)})"),
        ],
        f"The rating that a majority of the item's raters gave; otherwise {NO_MAJORITY}.", rows=rows, by="criterion",
    )  # fmt: skip


def _means(result: RatingAgreement) -> Table:
    kappa = result.source_kappa.rename(columns={"value": "kappa"})
    keys = ["criterion", "source"]
    rows = result.means.merge(kappa[[*keys, "kappa"]], on=keys)
    return result_table(
        result, "means", "How good is it?",
        [
            "criterion", *(["source"] if rows["source"].nunique() > 1 else []), "items",
            (field("mean"), lambda row: number(row.value, 2)),
            (field("95 %"), lambda row: number_interval(row.ci_low, row.ci_high, 2)),
            (field("of labels"), lambda row: number(row.label_mean, 2)),
            (field("κ"), lambda row: number(row.kappa, 2)),
        ],
        f"Means over items; intervals over {counted(int(rows['units'].max()), rows['unit'].iloc[0])}, from five on. Of labels:"
        " mean of the ratings that a majority gave. κ: Fleiss, of the ratings as given; source_kappa has its interval.",
        rows=rows, by="criterion",
    )  # fmt: skip


def _grouped(result: RatingAgreement) -> Table:
    groups = list(dict.fromkeys(result.grouped["group"]))
    rows = [
        (
            str(criterion),
            str(source),
            str(part["items"].iloc[0]),
            *(percent(one) for one in part.set_index("group")["share"][groups]),
        )
        for (criterion, source), part in result.grouped.groupby(["criterion", "source"], sort=False)
    ]
    spec = result.spec("grouped")
    heads = ready(*(spec.field(name) for name in ("criterion", "source", "items")), *(field(group) for group in groups))
    note = "Items by the group of the rating that a majority of their raters gave; JSON has intervals."
    return result_table(result, "grouped", "How many are good?", heads, note, rows=rows)


def _grouped_figure(result: RatingAgreement) -> Figure:
    words = [
        f"{row.criterion} ({row.source}): {row.group} {percent(row.share)}" for row in _labelled(result).itertuples()
    ]  # fmt: skip
    return Figure(
        "sources",
        "Items by the group of their label, for each criterion and source, of those that have a label.",
        f"{'; '.join(words)}.",
        lambda: draw_sources(result),
    )


def draw_sources(result: RatingAgreement) -> matplotlib.figure.Figure:
    """Figure 7B: stacked bars of the groups by criterion and source."""
    from robustcs.documents.rating_figure import RatingRow, rating_figure

    parts = _labelled(result).groupby(["criterion", "source"], sort=False)
    return rating_figure(
        [RatingRow(f"{criterion}, {source}", tuple(part["group"]), tuple(part["share"])) for (criterion, source), part in parts]
    )


def _labelled(result: RatingAgreement) -> pd.DataFrame:
    """The rows of table ``grouped`` of single sources, as shares of the items that have a label."""
    rows = result.grouped[(result.grouped["source"] != ALL) & (result.grouped["group"] != NO_MAJORITY)]
    whole = rows.groupby(["criterion", "source"], sort=False)["count"].transform("sum")
    return rows.assign(share=rows["count"] / whole)[whole > 0]


def _distribution(result: RatingAgreement) -> Table:
    columns = ["criterion", "rating", "count", "share"]
    return result_table(result, "distribution", "Which ratings were given?", columns, "Single ratings.", by="criterion")
