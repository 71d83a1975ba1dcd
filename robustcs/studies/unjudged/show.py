"""Unjudged passages as Tables 12 and 13 of the ECAsT paper print them, with bounds of the scores beside them."""

from __future__ import annotations

import math

import numpy as np

from robustcs.documents.document import Block, Figure, Paragraph, Table
from robustcs.documents.holes import (
    EXPECTED_NOTE,
    drops_table,
    expected_columns,
    later_grades_table,
    rates_table,
    sources_table,
    tipping_table,
    unique_table,
)
from robustcs.documents.slices import SHARES, slices_table
from robustcs.documents.tables import Shown, result_table
from robustcs.documents.words import measure_label, percent, score
from robustcs.evaluation.bounds import ROUNDING, Scope
from robustcs.lazy import Drawing
from robustcs.result import count, share, text
from robustcs.studies.unjudged.analysis import Unjudged
from robustcs.wording import and_more, counted

#: Ranks of the table for people; CSV and JSON have all.
_RANKS = (1, 2, 3, 5, 10, 20, 50, 100)
#: Points of the figure: each is the share over the ranks since the one before it.
_POINTS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100)
#: Turns with short lists that are named per run.
_NAMED_TURNS = 10
#: What each scope grades, and what it leaves out.
_SCOPES: dict[Scope, tuple[str, str]] = {
    "cutoff": (
        "inside the measure's cut-off",
        " Those further down and those of other runs would enter the ideal ranking and the number of relevant passages:"
        " --scope pool grades them too.",
    ),
    "run": (
        "of the whole run",
        " Those of other runs would enter the ideal ranking and the number of relevant passages: --scope pool grades them too.",
    ),
    "pool": ("of all these runs", ""),
}
#: Pairs that are shown with what is expected of them.
_CLOSEST = 15
_MEASURE: Shown = (text("Measure"), lambda row: measure_label(row.metric))
#: The row of a table that counts turns.
_TURNS = "turns"
#: Runs up to which the slices of all are shown.
_SLICED = 3


def show(result: Unjudged) -> tuple[Block, ...]:
    """Shares, the figure, bounds and what they do not tell apart; then the shares in other cuts, and the qrels."""
    blocks: list[Block] = [_rates(result), _figure(result), _bounds(result)]
    if len(result.drops):
        blocks.append(drops_table(result, result.drops, result.tipping))
    if result.pairs["expected"].notna().any():
        blocks.append(_expected(result))
    if len(result.tipping):
        blocks.append(_tipping(result))
    if len(result.rates) > 1 and len(result.pairs):
        blocks.append(_pairs(result))
    blocks += [_incomplete(result), _ranks(result)]
    if len(result.turn_depths):
        blocks.append(_turn_depths(result))
    blocks += _slices(result)
    if len(result.short):
        blocks.append(_short_lists(result))
    if len(result.rates) > 1:
        blocks.append(_unique(result))
    if len(result.grades):
        blocks.append(_grades(result))
    if result.sources["source"].nunique() > 1:
        blocks.append(sources_table(result, result.settings.depth))
    return (*blocks, _qrels(result))


def _slices(result: Unjudged) -> list[Block]:
    """The slices of few runs, or of the run that has most unjudged."""
    runs = list(result.rates["run"])
    chosen = runs if len(runs) <= _SLICED else [str(result.rates.set_index("run")["share"].idxmax())]
    depth = result.settings.depth
    more = "" if len(chosen) == len(runs) else f"The run with most of {len(runs)}; CSV and JSON have all. "
    note = f"{more}Unjudged: of the passages retrieved in the top {depth} for the slice's turns."
    field = result.spec("slices").field("share").called("unjudged")
    parts = [(name, result.slices[result.slices["run"] == name]) for name in chosen]
    return [
        slices_table(result, part, f"{name}: unjudged share of the top {depth} by slices of the turns", field, SHARES, note,
                     f"slices-{name}", "share")
        for name, part in parts if len(part)
    ]  # fmt: skip


def _rates(result: Unjudged) -> Table:
    return rates_table(result, result.rates, result.settings.depth)


def _turns(result: Unjudged) -> str:
    return counted(result.evaluated.turns, "turn")


def _bounds(result: Unjudged) -> Table:
    frame = result.bounds
    where, left_out = _SCOPES[result.settings.scope]
    note = (
        f"Bounds, not intervals: lowest and highest over all grades 0 to {result.settings.max_grade} of the unjudged passages"
        f" {where} (their number, and the turns of {result.evaluated.turns} that have any).{left_out} Condensed: unjudged"
        " passages taken out."
    )
    if frame["low"].isna().any():
        note += " –: a measure that trec_eval alone computes."
    if outer := [measure_label(name) for name in dict.fromkeys(frame[~frame["exact"] & frame["low"].notna()]["metric"])]:
        note += f" {', '.join(outer)}: the bounds may be too wide."
    columns: list[Shown] = [
        (result.spec("bounds").field("metric"), lambda row: measure_label(row.metric)), "run", "low", "score", "high",
        "condensed", "unjudged", "turns",
    ]  # fmt: skip
    rows = frame.sort_values("metric", key=lambda names: names.map({name: i for i, name in enumerate(dict.fromkeys(names))}),
                             kind="stable")  # fmt: skip
    return result_table(result, "bounds", "How far could judging move the scores?", columns, note, rows=rows, by="metric")


def _expected(result: Unjudged) -> Table:
    """The pairs whose order is least certain."""
    pairs = result.pairs
    distance = pairs["expected"].abs() / (pairs["holes_high"] - pairs["holes_low"] + ROUNDING)
    rows = pairs.loc[distance.sort_values(kind="stable").index].head(_CLOSEST)
    columns: list[Shown] = [_MEASURE, "first", "second", "difference", *expected_columns(result.tipping)]
    note = EXPECTED_NOTE
    if len(pairs) > len(rows):
        note += (
            f" The {len(rows)} of {len(pairs)} pairs whose order unjudged passages leave least certain; CSV and JSON have all."
        )
    if not result.settings.tipped:
        note += " --table tipping says for all pairs how far the model may be off."
    return result_table(result, "pairs", "What do two runs probably differ by?", columns, note, rows=rows, slug="expected")


def _tipping(result: Unjudged) -> Table:
    """The conclusions that the smallest errors of the model would change."""
    rows = result.tipping
    nearest = np.fmin(np.log(rows["factor_above"]), -np.log(rows["factor_below"]))
    return tipping_table(
        result, rows.loc[nearest.sort_values(kind="stable").index].head(_CLOSEST).sort_values("metric", kind="stable")
    )


def _pairs(result: Unjudged) -> Block:
    pairs = result.pairs
    open_ = pairs[~pairs["separable"].astype(bool)]
    if not len(open_):
        return Paragraph(
            f"All {len(pairs)} pairs of runs keep their order, whatever grades the unjudged passages {_of_pair(result)} get."
        )
    rows = []
    for metric in dict.fromkeys(open_["metric"]):
        part = open_[open_["metric"] == metric]
        for run in result.rates["run"]:
            others = {*part[part["second"] == run]["first"], *part[part["first"] == run]["second"]}
            if others:
                rows.append((metric, run, ", ".join(name for name in result.rates["run"] if name in others)))
    note = (
        f"{len(open_)} of {len(pairs)} pairs: some grades of the unjudged passages {_of_pair(result)} level or reverse the"
        " order, however improbable they are. A passage that two runs share has one grade in both."
    )
    outer = dict.fromkeys(measure_label(metric) for metric in open_[~open_["exact"].astype(bool)]["metric"])
    if outer:
        note += f" By {', '.join(outer)} fewer may be open: the bounds of the difference are not exact."
    columns = [
        (text("Measure"), lambda row: measure_label(row[0])), (text("Run"), lambda row: row[1]),
        (text("order not proven against"), lambda row: row[2]),
    ]  # fmt: skip
    rules = [place for place in range(1, len(rows)) if rows[place][0] != rows[place - 1][0]]
    return result_table(
        result, "pairs", "Which orders of two runs do the judgments not prove?", columns, note, rows=rows, rules=rules
    )


def _of_pair(result: Unjudged) -> str:
    """Whose unjudged passages are graded, where two runs are compared."""
    return {"cutoff": "inside the cut-off of either", "run": "of either", "pool": "of all these runs"}[result.settings.scope]


def _incomplete(result: Unjudged) -> Table:
    return result_table(
        result, "incomplete", "What do measures for incomplete judgments say?",
        ["run", "bpref", "rbp", "rbp_residual", "rbp_tail"],
        f"Means over {_turns(result)}. bpref passes over unjudged passages; residual: weight of the unjudged ranks, by which"
        " RBP could rise.",
    )  # fmt: skip


def _ranks(result: Unjudged) -> Table:
    shown = [rank for rank in _RANKS if rank in set(result.ranks["rank"])]
    wide = result.ranks.pivot(index="run", columns="rank", values="share")
    columns = [(share(str(rank), group="rank"), lambda run, rank=rank: _whole(wide.loc[run, rank])) for rank in shown]
    return result_table(
        result, "ranks", "Unjudged share by rank, in per cent", [(text("Run"), str), *columns],
        f"Of the passages at that rank in {_turns(result)}.", rows=list(result.rates["run"]),
    )  # fmt: skip


def _turn_depths(result: Unjudged) -> Table:
    frame = result.turn_depths
    wide = frame.pivot(index="run", columns="turn_depth", values="share")
    turns = frame.drop_duplicates("turn_depth").set_index("turn_depth")["turns"]
    runs = list(result.rates["run"])

    def cell(run: str, place: int) -> str:
        return str(turns[place]) if run == _TURNS else _whole(wide.loc[run, place])

    columns = [
        (share(str(place), group="turn of the conversation"), lambda run, place=place: cell(run, place))
        for place in sorted(set(frame["turn_depth"]))
    ]
    return result_table(
        result, "turn_depths",
        f"Unjudged share of the top {result.settings.depth} by place in the conversation, in per cent",
        [(text("Run"), str), *columns], "Of the passages retrieved for these turns.", rows=[*runs, _TURNS], rules=[len(runs)],
    )  # fmt: skip


def _whole(share: float) -> str:
    return "–" if math.isnan(share) else f"{100 * share:.0f}"


def _short_lists(result: Unjudged) -> Table:
    rows = []
    for run, part in result.short.groupby("run", sort=False):
        named = [f"{turn} ({count})" for turn, count in zip(part["turn"], part["retrieved"], strict=True)]
        rows.append((str(run), ", ".join(named[:_NAMED_TURNS]) + and_more(len(named), min(len(named), _NAMED_TURNS))))
    return result_table(
        result, "short", f"Turns with fewer than {result.settings.depth} passages",
        [(text("Run"), lambda row: row[0]), (text("turns"), lambda row: row[1])], "In brackets: passages retrieved.", rows=rows,
    )  # fmt: skip


def _unique(result: Unjudged) -> Table:
    return unique_table(result, result.unique, result.unique_runs, result.settings.depth)


def _grades(result: Unjudged) -> Table:
    return later_grades_table(result, result.rates, result.grades, result.settings.depth)


def _qrels(result: Unjudged) -> Table:
    total = int(result.qrels["count"].sum())
    rows = [*result.qrels.itertuples(index=False), None]
    return result_table(
        result, "qrels", "What the judgments hold",
        [
            (text("Grade"), lambda row: "total" if row is None else str(row.grade)),
            (count("passages"), lambda row: f"{total if row is None else row.count:,}"),
            (share("share"), lambda row: "" if row is None else percent(row.share)),
        ],
        "A passage counts once for every turn it is judged for.", rows=rows, rules=[len(result.qrels)],
    )  # fmt: skip


def _figure(result: Unjudged) -> Figure:
    words = [f"{line.run} {percent(line.share)} unjudged in the top {line.depth}" for line in result.rates.itertuples()]
    ranges = [
        f"{measure_label(line.metric)} of {line.run} {score(line.score)}, from {score(line.low)} to {score(line.high)}"
        for line in result.bounds.itertuples()
        if not math.isnan(line.low)
    ]
    return Figure(
        "unjudged",
        "Judged share by rank (past rank 5 over the ranks since the point before; the upright line marks the depth of the"
        " shares), and every score (dot) with the lowest and highest value that grades of the unjudged passages"
        f" {_SCOPES[result.settings.scope][0]} could give: bounds, not intervals.",
        "; ".join(words) + ". " + "; ".join(ranges) + ".",
        lambda: draw_unjudged(result),
    )


def draw_unjudged(result: Unjudged) -> Drawing:
    """The figure: one line per run, one panel per measure that has bounds."""
    from robustcs.studies.unjudged.figure import IntervalPanel, RankLine, unjudged_figure

    lines = []
    for run in result.rates["run"]:
        part = result.ranks[result.ranks["run"] == run]
        # deep ranks in groups: single ones jump about
        group = np.searchsorted(_POINTS, part["rank"])
        sums = part.groupby(group)[["judged", "retrieved"]].sum()
        last = part.groupby(group)["rank"].max()
        lines.append(RankLine(run, last.to_numpy(), (sums["judged"] / sums["retrieved"]).to_numpy()))
    bounded = result.bounds[result.bounds["low"].notna()]
    panels = [
        IntervalPanel(measure_label(metric), *(part[name].to_numpy() for name in ("low", "score", "high")))
        for metric, part in bounded.groupby("metric", sort=False)
    ]
    return unjudged_figure(lines, panels, result.settings.depth)
