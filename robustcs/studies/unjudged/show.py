"""Tables and the figure of unjudged passages (Tables 12 and 13 of the ECAsT paper), with bounds of the scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from robustcs.documents import holes
from robustcs.documents.document import Block, Figure, Paragraph
from robustcs.documents.slices import slices_table
from robustcs.documents.tables import result_table, wide_table
from robustcs.documents.words import measure_label, percent, score
from robustcs.evaluation.bounds import ROUNDING
from robustcs.lazy import pd
from robustcs.result import number
from robustcs.studies.unjudged.analysis import Unjudged
from robustcs.wording import counted, system_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

    from robustcs.documents.style import Width

#: Ranks shown in the table by rank. CSV and JSON have all.
_RANKS = (1, 2, 3, 5, 10, 20, 50, 100)
#: Ranks of the points in the figure. Each shows the share of the ranks since the previous point.
_POINTS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100)
#: Most pairs shown, and most runs with all slices shown.
_CLOSEST, _SLICED = 15, 3
#: Scope → its passages for one run, its passages for two runs, and the excluded passages.
_LEFT_OUT = " also affect the ideal ranking and the number of relevant passages; --scope pool includes them."
_SCOPES = {
    "cutoff": (
        "within the cutoff of the measure", "within the cutoff of either run",
        f" Deeper passages and those of other runs{_LEFT_OUT}"
    ),
    "run": ("of the whole run", "of either run", f" Passages of other runs{_LEFT_OUT}"),
    "pool": ("of all these runs", "of all these runs", ""),
}  # fmt: skip


def show(result: Unjudged) -> tuple[Block, ...]:
    """Return all blocks: shares, the figure, bounds, pairs, further shares, and the qrels."""
    return tuple(block for _, view in VIEWS for block in view(result))


def _bounds(result: Unjudged) -> Iterable[Block]:
    frame = result.bounds
    where, _, left_out = _SCOPES[result.settings.scope]
    note = (
        f"Lowest and highest: bounds over all grades 0 to {result.settings.max_grade} of the unjudged passages {where}; not"
        f" confidence intervals. Unjudged: their number. Turns: how many have any, of {result.evaluated.turns}."
        f"{left_out} Condensed: score after unjudged passages are removed."
    )
    if frame["low"].isna().any():
        note += (
            " –: bpref, the judged share and measures that only trec_eval computes have no bounds."
        )
    columns = ["metric", "system", "low", "score", "high", "condensed", "unjudged", "turns"]
    if frame["residual"].notna().any():
        columns.insert(6, "residual")
        note += (
            " Residual: how much RBP could rise, also through ranks after the end of short lists."
        )
    yield result_table(
        result, "bounds", "How much could judging change the scores?", columns, note, by="metric"
    )


def _expected(result: Unjudged) -> Iterable[Block]:
    """Return the pairs whose order is least certain."""
    pairs = result.pairs
    if not pairs["expected"].notna().any():
        return
    distance = pairs["expected"].abs() / (pairs["holes_high"] - pairs["holes_low"] + ROUNDING)
    rows = pairs.loc[distance.sort_values(kind="stable").index]
    note = f"{holes.expected_note(result)} Pairs with the least certain order come first."
    if not result.settings.tipped:
        note += " --table tipping shows for all pairs how wrong the hole model may be."
    columns = ["metric", "first", "second", "difference", *holes.expected_columns(result.tipping)]
    caption = "How much do two runs probably differ?"
    yield result_table(
        result, "pairs", caption, columns, note, rows=rows, most=_CLOSEST, slug="expected"
    )


def _tipping(result: Unjudged) -> Iterable[Block]:
    """Return the conclusions that the smallest model errors would change."""
    rows = result.tipping
    if len(rows):
        nearest = np.fmin(np.log(rows["factor_above"]), -np.log(rows["factor_below"]))
        rows = rows.loc[nearest.sort_values(kind="stable").index].head(_CLOSEST)
        yield from holes.tipping_table(result, rows.sort_values("metric", kind="stable"))


def _pairs(result: Unjudged) -> Iterable[Block]:
    """Return the pairs whose order some grades of the unjudged passages would tie or reverse."""
    pairs, whose = result.pairs, _SCOPES[result.settings.scope][1]
    open_ = pairs[~pairs["separable"].astype(bool)]
    if not len(open_):
        proven = f"All {len(pairs)} pairs of runs keep their order under any grades of the unjudged passages {whose}."
        yield from [Paragraph(proven)] if len(pairs) else []
        return
    note = (
        f"Low and high: bounds of the difference over all grades of the unjudged passages {whose}, however unlikely. A passage"
        f" that both runs retrieve has the same grade in both. Some grades would tie or reverse {len(open_)} of"
        f" {counted(len(pairs), 'pair')}."
    )
    if not open_["exact"].all():
        note += " The bounds of MAP are not exact: in fact, fewer orders may change."
    yield result_table(
        result, "pairs", "Which pairs of runs can unjudged passages reorder?",
        ["metric", "first", "second", "difference", "low", "high"], note, rows=open_, by="metric", most=_CLOSEST,
    )  # fmt: skip


def _ranks(result: Unjudged) -> Iterable[Block]:
    frame = result.ranks
    yield wide_table(
        result, "ranks", "Unjudged share by rank, in percent", ["system"], "rank", [number("share").rounded(0)],
        f"Share of the passages at this rank, over {counted(result.evaluated.turns, 'turn')}.",
        rows=frame.assign(share=100 * frame["share"]), group="rank",
        heads={rank: str(rank) for rank in _RANKS if rank <= frame["rank"].max()},
    )  # fmt: skip


def _slices(result: Unjudged) -> Iterable[Block]:
    """Return the slices of all runs if they are few, else of the run with the largest unjudged share."""
    if not len(result.slices):
        return
    rates, depth = result.rates.set_index("system")["share"], result.settings.depth
    chosen = list(rates.index) if len(rates) <= _SLICED else [str(rates.idxmax())]
    note = "" if len(chosen) == len(rates) else (
        f"Shown: the run with the largest unjudged share of {len(rates)}; CSV and JSON have all. "
    )  # fmt: skip
    note += (
        f"Unjudged: share of the passages retrieved in the top {depth} for the turns of the slice."
    )
    field = result.spec("slices").field("share").called("unjudged")
    for name in chosen:
        yield slices_table(
            result, result.slices[result.slices["system"] == name],
            f"{system_name(name)}: unjudged share of the top {depth} by slice", field, note, f"slices-{name}", "share",
        )  # fmt: skip


def _qrels(result: Unjudged) -> Iterable[Block]:
    note = "A passage counts once for every turn for which it is judged."
    yield result_table(
        result, "qrels", "Judged passages by grade", ["grade", "count", "share"], note
    )


def _figure(result: Unjudged) -> Iterable[Block]:
    words = [
        f"{system_name(line.system)}: {percent(line.share)} of the top {line.depth} unjudged"
        for line in result.rates.itertuples()
    ]
    ranges = [
        f"{measure_label(line.metric)} of {system_name(line.system)}: {score(line.score)}, bounds {score(line.low)} to"
        f" {score(line.high)}"
        for line in result.bounds.itertuples()
        if not math.isnan(line.low)
    ]
    bounds = (
        "each score (dot) and its lowest and highest possible value, over all grades of the unjudged passages"
        f" {_SCOPES[result.settings.scope][0]}. These are bounds, not confidence intervals."
    )
    caption = (
        "Top: judged share by rank. Each point covers the ranks since the previous point; the vertical line marks the depth"
        f" of the shares. Bottom: {bounds}"
    )
    if many_runs(result):
        from robustcs.documents.forest import told_left_out

        order, by = _ordered(result)
        panels = 1 + len(_bounded(result))
        caption = (
            f"First: judged share of the top {result.settings.depth}. Others: {bounds}"
            f"{told_left_out(order, panels, by)}"
        )
    yield Figure(
        "unjudged",
        caption,
        "; ".join(words) + ". " + "; ".join(ranges) + ".",
        lambda width: draw_unjudged(width, result),
    )


def many_runs(result: Unjudged) -> bool:
    """Return whether there are too many runs for a line each."""
    from robustcs.studies.unjudged.figure import MOST_LINES

    return len(result.rates) > MOST_LINES


def _bounded(result: Unjudged) -> dict[str, pd.DataFrame]:
    """Return label → rows of the table ``bounds`` for each measure that has bounds."""
    rows = result.bounds[result.bounds["low"].notna()]
    return {measure_label(metric): part for metric, part in rows.groupby("metric", sort=False)}


def _ordered(result: Unjudged) -> tuple[list[str], str]:
    """Return the runs from the best to the worst, and the label of the measure by which they are sorted."""
    metric = result.bounds["metric"].iloc[0]
    rows = result.bounds[result.bounds["metric"] == metric]
    names = rows.sort_values("score", ascending=False, kind="stable")["system"]
    return list(names), measure_label(metric)


def draw_unjudged(width: Width, result: Unjudged) -> MatplotlibFigure:
    """Draw one line per run and one panel per measure with bounds; without lines if there are many runs."""
    from robustcs.studies.unjudged.figure import unjudged_figure

    if many_runs(result):
        return _draw_many(width, result)
    # single deep ranks vary too much: group them
    ranks = result.ranks.assign(point=np.searchsorted(_POINTS, result.ranks["rank"]))
    grouped = ranks.groupby(["system", "point"])
    points = grouped[["judged", "retrieved"]].sum()
    points = points.assign(rank=grouped["rank"].max(), share=points["judged"] / points["retrieved"])
    lines = {run: points.loc[run] for run in result.rates["system"]}
    return unjudged_figure(width, lines, _bounded(result), result.settings.depth)


def _draw_many(width: Width, result: Unjudged) -> MatplotlibFigure:
    """Draw the judged share at the depth of the shares and the bounds, with a row per run, from the best to the worst."""
    from robustcs.documents.forest import MeanPanel, best_and_worst, forest

    bounded, (order, _) = _bounded(result), _ordered(result)
    names = best_and_worst(order, 1 + len(bounded))
    unjudged = result.rates.set_index("system")["share"].reindex(names).to_numpy()
    unknown = np.full(len(names), math.nan)
    title = f"Judged in the top {result.settings.depth}"
    panels = [MeanPanel(title, unknown, 1 - unjudged, unknown)]
    for label, rows in bounded.items():
        low, score, high = (
            rows.set_index("system").reindex(names)[["low", "score", "high"]].T.values
        )
        panels.append(MeanPanel(label, low, score, high))
    figure = forest(width, names, panels, "score")
    figure.axes[0].set_xlabel("share of passages")
    return figure


#: Table → the function that returns its blocks, in display order. The figure has no table.
VIEWS: Sequence[tuple[str, Callable[[Unjudged], Iterable[Block]]]] = (
    ("rates", lambda result: holes.rates_table(result, result.settings.depth)),
    ("", _figure),
    ("bounds", _bounds),
    ("drops", holes.drops_table),
    ("pairs", _expected),
    ("tipping", _tipping),
    ("pairs", _pairs),
    ("ranks", _ranks),
    ("slices", _slices),
    ("unique", lambda result: holes.unique_table(result, result.settings.depth)),
    ("grades", lambda result: holes.later_grades_table(result, result.settings.depth)),
    ("sources", lambda result: holes.sources_table(result, result.settings.depth)),
    ("qrels", _qrels),
)
