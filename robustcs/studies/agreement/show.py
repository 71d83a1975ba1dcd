"""Agreement as Tables 2 to 4 of the snippets paper print it, and ratings as stage 3 of the ECAsT paper does."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from robustcs.documents.document import MAX_LAYERS, Block, Column, Figure, LayeredText, Layers, Table
from robustcs.documents.words import number, percent, score
from robustcs.inputs.annotations import TextKey
from robustcs.studies.agreement.analysis import LONGEST_SHARE, SnippetAgreement, Texts
from robustcs.studies.agreement.ratings import NO_MAJORITY, RatingAgreement

if TYPE_CHECKING:
    import matplotlib.figure
    import pandas as pd

#: Texts and workers of the tables for people; JSON and CSV have all.
SHOWN = 10
_AGGREGATES = {"mean": "mean over all pairs", "majority": "majority", "similarity": "most similar"}


def interval(low: float, high: float) -> str:
    """``0.146–0.216``."""
    return "–" if math.isnan(low) else f"{low:.3f}–{high:.3f}"


# ---------------------------------------------------------------- snippets


def present_agreement(result: SnippetAgreement) -> tuple[Block, ...]:
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
        text = texts[key]
        layers = [(f"{place}: {annotation.worker}", annotation.spans) for place, annotation in enumerate(text.annotations, 1)]
        if key in references:
            layers += [(f"reference {place}: {annotation.worker}", annotation.spans)
                       for place, annotation in enumerate(references[key].annotations, 1)]  # fmt: skip
        fields = [("Question", text.query)] if text.query else []
        fields.append(("Agreement", f"J {score(row.jaccard)} · J2 {score(row.jaccard_2)}"))
        if not math.isnan(row.f1_mean):
            fields.append(("Against references", f"F1 mean {score(row.f1_mean)} · majority {score(row.f1_majority)}"))
        for start in range(0, len(layers), MAX_LAYERS):
            part = f" · layers {start + 1} and on" if start else ""
            title = f"{row.turn} · {row.passage}{part}"
            shown.append(LayeredText(title, tuple(fields), text.text, tuple(layers[start : start + MAX_LAYERS])))
    which = "" if most is None or most >= len(result.texts) else f" The {most} texts with the least agreement"
    return Layers("layers", f"What did each annotator choose?{which}", tuple(shown))


def _jaccard(result: SnippetAgreement) -> Table:
    highest = int(result.jaccard["k"].max())
    rows = tuple(
        (f"J{row.k}" + (" = J" if row.k == highest else ""), f"at least {row.k}", score(row.value),
         interval(row.ci_low, row.ci_high), str(row.texts))
        for row in result.jaccard.itertuples()
    )  # fmt: skip
    columns = (
        Column("Measure", "left"), Column("chosen by", "left"), Column("value"), Column("95 % interval"), Column("texts"),
    )  # fmt: skip
    return Table(
        "jaccard", "How much of what annotators chose did they choose together?", columns, rows,
        "Characters chosen by at least k annotators out of those chosen by any; means over texts, bootstrap over texts.",
    )  # fmt: skip


def _reference(result: SnippetAgreement) -> Table:
    rows = tuple(
        (_AGGREGATES[row.aggregate], score(row.precision), score(row.recall), score(row.f1), interval(row.ci_low, row.ci_high))
        for row in result.reference.itertuples()
    )
    columns = (
        Column("Annotation", "left"), Column("precision"), Column("recall"), Column("F1"), Column("95 % interval of F1"),
    )  # fmt: skip
    rule = result.reference.set_index("aggregate").loc["majority", "rule"]
    texts = result.reference["texts"].iloc[0]
    return Table(
        "reference", "How close are they to the references?", columns, rows,
        f"Means over {texts} texts and all references. Majority: {rule}. Most similar: the annotator whose F1 to the others is"
        " highest. F1 is 0 without overlap.",
    )  # fmt: skip


def _statistics(result: SnippetAgreement) -> Table:
    rows = tuple(
        (row.group, str(row.texts), str(row.annotations), str(row.empty), number(row.snippets_per_annotation, 2),
         f"{row.tokens_per_snippet:.1f}", percent(row.share))
        for row in result.statistics.itertuples()
    )  # fmt: skip
    columns = (
        Column("Group", "left"), Column("texts"), Column("annotations"), Column("empty"), Column("snippets each"),
        Column("tokens a snippet"), Column("of the text"),
    )  # fmt: skip
    return Table("statistics", "What did they choose?", columns, rows, "Tokens are separated by white space.")


def _workers(result: SnippetAgreement) -> Table:
    chosen = result.workers.head(SHOWN)
    rows = tuple(
        (row.worker, str(row.annotations), number(row.f1_others, 2), str(row.long), str(row.outside), str(row.empty),
         str(row.flagged))
        for row in chosen.itertuples()
    )  # fmt: skip
    columns = (
        Column("Worker", "left"), Column("annotations"), Column("F1 to others"),
        *(Column(name, group="flagged as") for name in ("long", "outside", "empty")), Column("flagged"),
    )  # fmt: skip
    limits = " or ".join(f"{100 * share:.0f} % of a {unit}" for unit, share in LONGEST_SHARE.items())
    return Table(
        "workers", "Whose annotations need a second look?", columns, rows,
        f"{len(rows)} of {len(result.workers)} workers. Long: more than {limits}. Outside: nothing of it was chosen by at least"
        " two others. Flags ask for a look and reject nothing.",
    )  # fmt: skip


def _texts(result: SnippetAgreement) -> Table:
    referenced = len(result.reference) > 0
    chosen = result.texts.head(SHOWN)
    rows = tuple(
        (row.turn, row.passage, str(row.annotators), score(row.jaccard), score(row.jaccard_2),
         *([score(row.f1_mean), score(row.f1_majority)] if referenced else []))
        for row in chosen.itertuples()
    )  # fmt: skip
    columns = [Column("Turn", "left"), Column("Passage", "left"), Column("annotators"), Column("J"), Column("J2")]
    columns += [Column(title, group="F1 to references") for title in ("mean", "majority")] if referenced else []
    return Table(
        "texts", "On which texts do they agree least?", tuple(columns), rows,
        f"{len(rows)} of {len(result.texts)} texts; --html FILE shows all with the annotations drawn over them.",
    )  # fmt: skip


def _figure(result: SnippetAgreement) -> Figure:
    words = [f"J{row.k} {score(row.value)}, from {row.ci_low:.3f} to {row.ci_high:.3f}" for row in result.jaccard.itertuples()]
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


def present_ratings(result: RatingAgreement) -> tuple[Block, ...]:
    """Kappa and alpha, what filtering and grouping do to them, majority labels, and how ratings are distributed."""
    return (
        _kappa(result), _alpha(result), _stages(result), _labels(result),
        _distribution(result.distribution), distribution_figure(result.distribution),
    )  # fmt: skip


def _kappa(result: RatingAgreement) -> Table:
    rows = tuple(
        (row.criterion, str(row.items), str(row.raters), percent(raw.agreement), percent(raw.kept_share), score(row.value),
         interval(row.ci_low, row.ci_high))
        for row, raw in zip(result.kappa.itertuples(), result.agreement.itertuples(), strict=True)
    )  # fmt: skip
    columns = (
        Column("Criterion", "left"), Column("items"), Column("raters"), Column("agree"),
        Column(f"items ≥ {100 * result.min_agreement:.0f} %"), Column("Fleiss' κ"), Column("95 % interval"),
    )  # fmt: skip
    return Table(
        "kappa", "How far do raters agree?", columns, rows,
        "Agree: of all pairs of an item's ratings, those that are the same; mean over items with at least two ratings."
        f" Items ≥ {100 * result.min_agreement:.0f} %: items where so many agree. Bootstrap over items.",
    )  # fmt: skip


def _alpha(result: RatingAgreement) -> Table:
    levels = list(dict.fromkeys(result.alpha["level"]))
    rows = []
    for criterion, part in result.alpha.groupby("criterion", sort=False):
        by_level = part.set_index("level")
        cells = [by_level.loc[level] if level in by_level.index else None for level in levels]
        texts = [("–", "–") if row is None else (score(row["value"]), interval(row["ci_low"], row["ci_high"])) for row in cells]
        rows.append((str(criterion), *(text for pair in texts for text in pair)))
    columns = [Column("Criterion", "left")]
    columns += [Column(title, group=level) for level in levels for title in ("alpha", "95 %")]
    return Table(
        "alpha", "And if near ratings agree in part?", tuple(columns), tuple(rows),
        "Krippendorff's alpha: nominal counts any difference, ordinal and interval large ones more. Bootstrap over items.",
    )  # fmt: skip


def _stages(result: RatingAgreement) -> Table:
    kept = f"≥ {100 * result.min_agreement:.0f} % agree"
    names = {"all": "all", "kept": kept}
    rules: set[int] = set()
    rows: list[tuple[str, ...]] = []
    for criterion, part in result.stages.groupby("criterion", sort=False):
        rules.add(len(rows))
        for row in part.itertuples():
            rows.append((str(criterion), names[row.items], row.ratings, str(row.count), score(row.kappa), score(row.alpha)))
    columns = (
        Column("Criterion", "left"), Column("Items", "left"), Column("Ratings", "left"), Column("items"), Column("κ"),
        Column("alpha"),
    )  # fmt: skip
    return Table(
        "stages", "What do filtering and grouping do?", columns, tuple(rows),
        "Keeping only items that raters agree on raises agreement by itself: report the first line of a criterion as well.",
        frozenset(rules - {0}),
    )  # fmt: skip


def _labels(result: RatingAgreement) -> Table:
    every = result.labels[result.labels["items"] == "all"]
    kept = result.labels[result.labels["items"] == "kept"]
    rules: set[int] = set()
    rows: list[tuple[str, ...]] = []
    last = ""
    for row, other in zip(every.itertuples(), kept.itertuples(), strict=True):
        if row.criterion != last:
            rules.add(len(rows))
            last = row.criterion
        rows.append((row.criterion, row.label, row.group, f"{row.count} ({percent(row.share)})",
                     f"{other.count} ({percent(other.share)})"))  # fmt: skip
    columns = [Column("Criterion", "left"), Column("Label", "left"), Column("Group", "left"), Column("all items"),
               Column("items kept")]  # fmt: skip
    if not every["group"].any():
        columns.pop(2)
        rows = [(*row[:2], *row[3:]) for row in rows]
    return Table(
        "labels", "What is the label of each item?", tuple(columns), tuple(rows),
        f"The rating that a majority of the item's raters gave; otherwise {NO_MAJORITY}.", frozenset(rules - {0}),
    )  # fmt: skip


def _distribution(distribution: pd.DataFrame) -> Table:
    rows = tuple((row.criterion, row.rating, str(row.count), percent(row.share)) for row in distribution.itertuples())
    starts = [place for place in range(1, len(rows)) if rows[place][0] != rows[place - 1][0]]
    columns = (Column("Criterion", "left"), Column("Rating", "left"), Column("ratings"), Column("share"))
    return Table("distribution", "Which ratings were given?", columns, rows, "Single ratings.", frozenset(starts))


def distribution_figure(distribution: pd.DataFrame, what: str = "Ratings given") -> Figure:
    """The ratings of each criterion as stacked bars; ``what`` they are."""
    words: Mapping[str, str] = {
        str(name): ", ".join(f"{row.rating} {percent(row.share)}" for row in part.itertuples())
        for name, part in distribution.groupby("criterion", sort=False)
    }
    return Figure(
        "ratings", f"{what} for each criterion, lowest on the left.",
        "; ".join(f"{name}: {text}" for name, text in words.items()) + ".", lambda: draw_ratings(distribution),
    )  # fmt: skip


def draw_ratings(distribution: pd.DataFrame) -> matplotlib.figure.Figure:
    """The figure of :func:`distribution_figure`."""
    from robustcs.studies.agreement.figure import RatingRow, rating_figure

    return rating_figure(
        [
            RatingRow(str(name), tuple(part["rating"]), tuple(part["share"]))
            for name, part in distribution.groupby("criterion", sort=False)
        ]
    )
