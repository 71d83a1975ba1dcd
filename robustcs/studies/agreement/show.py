"""Ratings as stage 3 of the ECAsT paper prints them; snippets: :mod:`robustcs.studies.agreement.show_snippets`."""

from __future__ import annotations

from robustcs.documents.document import Block, Figure, Table
from robustcs.documents.rating_figure import distribution_figure
from robustcs.documents.tables import Shown, notes_of, ready, result_table
from robustcs.documents.words import interval, number, number_interval, percent, score
from robustcs.lazy import Drawing, pd
from robustcs.result import Result, count
from robustcs.result import number as field
from robustcs.studies.agreement.analysis import SnippetAgreement
from robustcs.studies.agreement.ratings import RatingAgreement
from robustcs.studies.agreement.show_snippets import show_snippets
from robustcs.studies.agreement.sources import ALL, NO_MAJORITY
from robustcs.wording import counted


def show(result: Result) -> tuple[Block, ...]:
    """All tables and figures of agreement on snippets, or on ratings."""
    if isinstance(result, SnippetAgreement):
        return show_snippets(result)
    assert isinstance(result, RatingAgreement)
    return _ratings(result)


def _interval(header: str = "95 % interval") -> Shown:
    return field(header), lambda row: interval(row.ci_low, row.ci_high)


def _by_unit(result: Result, method: str, rows: pd.DataFrame) -> str:
    """How the intervals of ``rows`` were made, and what must be known beside them."""
    unit, most = result.evaluated.unit, int(rows["units"].max())
    return f"95 %: {method} over {counted(most, unit)}.{notes_of(rows)}"


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


def draw_sources(result: RatingAgreement) -> Drawing:
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
