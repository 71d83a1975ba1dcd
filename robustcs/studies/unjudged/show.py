"""Unjudged passages as Tables 12 and 13 of the ECAsT paper print them, with bounds of the scores beside them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from robustcs.documents.document import Block, Column, Figure, Paragraph, Table
from robustcs.documents.words import measure_label, percent, score
from robustcs.studies.unjudged.analysis import Unjudged

if TYPE_CHECKING:
    import matplotlib.figure

#: Ranks of the table for people; CSV and JSON have all.
_RANKS = (1, 2, 3, 5, 10, 20, 50, 100)
#: Points of the figure: each is the share over the ranks since the one before it.
_POINTS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100)
#: Turns with short lists that are named per run.
_NAMED_TURNS = 10


def present_unjudged(result: Unjudged) -> tuple[Block, ...]:
    """Shares, the figure, bounds and what they do not tell apart; then the shares in other cuts, and the qrels."""
    blocks: list[Block] = [_rates(result), _figure(result), _bounds(result)]
    if len(result.rates) > 1 and len(result.pairs):
        blocks.append(_pairs(result))
    blocks += [_incomplete(result), _ranks(result)]
    if len(result.turn_depths):
        blocks.append(_turn_depths(result))
    if len(result.short):
        blocks.append(_short_lists(result))
    if len(result.rates) > 1:
        blocks.append(_unique(result))
    if len(result.grades):
        blocks.append(_grades(result))
    return (*blocks, _qrels(result))


def _rates(result: Unjudged) -> Table:
    depth = result.settings.depth
    later = result.rates["judged_later"].notna().any()
    columns = [
        Column("Run", "left"), Column("passages"), Column("judged"), Column("unjudged"), Column("share"),
        Column("short lists", group="turns"), Column("without any", group="turns"),
    ]  # fmt: skip
    if later:
        columns.append(Column("judged since"))
    rows = []
    for line in result.rates.itertuples():
        row = [line.run, f"{line.retrieved:,}", f"{line.judged:,}", f"{line.unjudged:,}", percent(line.share)]
        row += [str(line.short), str(line.missing)]
        rows.append((*row, str(line.judged_later)) if later else tuple(row))
    note = f"Passages retrieved in the top {depth} of {_turns(result)}; share: unjudged of retrieved."
    if depth > 1:
        note += f" Short lists: turns with fewer than {depth} passages."
    return Table("rates", f"How much of the top {depth} did nobody judge?", tuple(columns), tuple(rows), note)


def _turns(result: Unjudged) -> str:
    count = result.evaluated.turns
    return f"{count} turn{'s' * (count != 1)}"


def _bounds(result: Unjudged) -> Table:
    columns = (
        Column("Measure", "left"), Column("Run", "left"), Column("lowest"), Column("score"), Column("highest"),
        Column("condensed"), Column("unjudged"), Column("turns"),
    )  # fmt: skip
    frame = result.bounds
    rows: list[tuple[str, ...]] = []
    rules: set[int] = set()
    for metric in dict.fromkeys(frame["metric"]):
        rules.add(len(rows))
        for line in frame[frame["metric"] == metric].itertuples():
            counts = (f"{line.unjudged:,}", str(line.turns)) if line.exact else ("–", "–")
            rows.append(
                (measure_label(metric), line.run, *map(score, (line.low, line.score, line.high, line.condensed)), *counts)
            )
    where = "inside the measure's cut-off" if result.settings.scope == "cutoff" else "of the whole run"
    note = (
        f"Lowest and highest over all grades 0 to {result.settings.max_grade} of the unjudged passages {where} (their number,"
        f" and the turns of {result.evaluated.turns} that have any); exact. Condensed: unjudged passages taken out."
    )
    if not frame["exact"].all():
        note += " –: a measure that trec_eval alone computes."
    return Table("bounds", "How far could judging move the scores?", columns, tuple(rows), note, frozenset(rules - {0}))


def _pairs(result: Unjudged) -> Block:
    pairs = result.pairs
    open_ = pairs[~pairs["separable"].astype(bool)]
    if not len(open_):
        return Paragraph(
            f"The judgments tell all {len(pairs)} pairs of runs apart, whatever grades the unjudged passages would get."
        )
    rows: list[tuple[str, ...]] = []
    rules: set[int] = set()
    for metric in dict.fromkeys(open_["metric"]):
        part = open_[open_["metric"] == metric]
        rules.add(len(rows))
        for run in result.rates["run"]:
            others = [*part[part["second"] == run]["first"], *part[part["first"] == run]["second"]]
            others = [name for name in result.rates["run"] if name in others]
            if others:
                rows.append((measure_label(metric), run, ", ".join(others)))
    note = (
        f"{len(open_)} of {len(pairs)} pairs: some grades of their unjudged passages level or reverse the order. A passage that"
        " two runs share has one grade in both."
    )
    outer = dict.fromkeys(measure_label(metric) for metric in open_[~open_["exact"].astype(bool)]["metric"])
    if outer:
        note += f" By {', '.join(outer)} fewer may be open: the bounds of the difference are not exact."
    return Table(
        "pairs", "Which runs do these judgments not tell apart?",
        (Column("Measure", "left"), Column("Run", "left"), Column("not separable from", "left")), tuple(rows), note,
        frozenset(rules - {0}),
    )  # fmt: skip


def _incomplete(result: Unjudged) -> Table:
    columns = (
        Column("Run", "left"), Column("bpref"), Column("score", group="RBP (p = 0.8)"),
        Column("residual", group="RBP (p = 0.8)"), Column("below the list", group="RBP (p = 0.8)"),
    )  # fmt: skip
    rows = tuple(
        (line.run, score(line.bpref), score(line.rbp), score(line.rbp_residual), score(line.rbp_tail))
        for line in result.incomplete.itertuples()
    )
    return Table(
        "incomplete", "What do measures for incomplete judgments say?", columns, rows,
        f"Means over {_turns(result)}. bpref passes over unjudged passages; residual: weight of the unjudged ranks, by which"
        " RBP could rise.",
    )  # fmt: skip


def _ranks(result: Unjudged) -> Table:
    shown = [rank for rank in _RANKS if rank in set(result.ranks["rank"])]
    wide = result.ranks.pivot(index="run", columns="rank", values="share")
    rows = tuple((run, *(_whole(wide.loc[run, rank]) for rank in shown)) for run in result.rates["run"])
    return Table(
        "ranks", "Unjudged share by rank, in per cent",
        (Column("Run", "left"), *(Column(str(rank), group="rank") for rank in shown)), rows,
        f"Of the passages at that rank in {_turns(result)}.",
    )  # fmt: skip


def _turn_depths(result: Unjudged) -> Table:
    frame = result.turn_depths
    places = sorted(set(frame["turn_depth"]))
    wide = frame.pivot(index="run", columns="turn_depth", values="share")
    turns = frame.drop_duplicates("turn_depth").set_index("turn_depth")["turns"]
    rows = [(run, *(_whole(wide.loc[run, place]) for place in places)) for run in result.rates["run"]]
    rows.append(("turns", *(str(turns[place]) for place in places)))
    return Table(
        "turn_depths", f"Unjudged share of the top {result.settings.depth} by place in the conversation, in per cent",
        (Column("Run", "left"), *(Column(str(place), group="turn of the conversation") for place in places)), tuple(rows),
        "Of the passages retrieved for these turns.", frozenset({len(rows) - 1}),
    )  # fmt: skip


def _whole(share: float) -> str:
    return "–" if math.isnan(share) else f"{100 * share:.0f}"


def _short_lists(result: Unjudged) -> Table:
    rows = []
    for run, part in result.short.groupby("run", sort=False):
        named = [f"{turn} ({count})" for turn, count in zip(part["turn"], part["retrieved"], strict=True)]
        rest = f" and {len(named) - _NAMED_TURNS} more" if len(named) > _NAMED_TURNS else ""
        rows.append((str(run), ", ".join(named[:_NAMED_TURNS]) + rest))
    return Table(
        "short", f"Turns with fewer than {result.settings.depth} passages", (Column("Run", "left"), Column("turns", "left")),
        tuple(rows), "In brackets: passages retrieved.",
    )  # fmt: skip


def _unique(result: Unjudged) -> Table:
    columns = (
        Column("Group", "left"), Column("Run", "left"), Column("unjudged"), Column("found by one run only"), Column("share"),
    )  # fmt: skip
    rows: list[tuple[str, ...]] = []
    rules: set[int] = set()
    for line in result.unique.itertuples():
        rules.add(len(rows))
        for own in result.unique_runs[result.unique_runs["group"] == line.group].itertuples():
            rows.append((line.group, own.run, str(own.unjudged), str(own.unique), percent(own.share)))
        rows.append((line.group, "together", str(line.unjudged), str(line.unique), percent(line.share)))
    return Table(
        "unique", "How many of the unjudged passages does one run alone find?", columns, tuple(rows),
        f"Top {result.settings.depth}; a passage counts once for a turn. Runs of a group are compared with one another.",
        frozenset(rules - {0}),
    )  # fmt: skip


def _grades(result: Unjudged) -> Table:
    counts = result.grades.pivot(index="run", columns="grade", values="count")
    grades = list(counts.columns)
    columns = [Column("Run", "left")]
    columns += [Column(str(grade), group="grade") for grade in grades]
    columns.append(Column("judged since"))
    rows = []
    for line in result.rates.itertuples():
        own = counts.loc[line.run]
        total = int(own.sum())
        cells = [f"{own[grade]} ({100 * own[grade] / total:.0f} %)" if total else "–" for grade in grades]
        rows.append((line.run, *cells, f"{total} of {line.unjudged}"))
    return Table(
        "grades", "Which grades did the unjudged passages get?", tuple(columns), tuple(rows),
        f"Unjudged passages of the top {result.settings.depth}; shares of those judged since.",
    )  # fmt: skip


def _qrels(result: Unjudged) -> Table:
    rows = [(str(line.grade), f"{line.count:,}", percent(line.share)) for line in result.qrels.itertuples()]
    total = int(result.qrels["count"].sum())
    return Table(
        "qrels", "What the judgments hold", (Column("Grade", "left"), Column("passages"), Column("share")),
        (*rows, ("total", f"{total:,}", "")), "A passage counts once for every turn it is judged for.",
        frozenset({len(rows)}),
    )  # fmt: skip


def _figure(result: Unjudged) -> Figure:
    words = [
        f"{line.run} {percent(line.share)} unjudged in the top {line.depth}" for line in result.rates.itertuples()
    ]
    ranges = [
        f"{measure_label(line.metric)} of {line.run} {score(line.score)}, from {score(line.low)} to {score(line.high)}"
        for line in result.bounds.itertuples()
        if line.exact
    ]
    return Figure(
        "unjudged",
        "Judged share by rank (past rank 5 over the ranks since the point before; the upright line marks the depth of the"
        " shares), and every score (dot) with the lowest and highest value that grades of unjudged passages could give.",
        "; ".join(words) + ". " + "; ".join(ranges) + ".",
        lambda: draw_unjudged(result),
    )


def draw_unjudged(result: Unjudged) -> matplotlib.figure.Figure:
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
    exact = result.bounds[result.bounds["exact"]]
    panels = [
        IntervalPanel(measure_label(metric), *(part[name].to_numpy() for name in ("low", "score", "high")))
        for metric, part in exact.groupby("metric", sort=False)
    ]
    return unjudged_figure(lines, panels, result.settings.depth)
