"""New judgments as Table 14 of the ECAsT paper prints them, with tests, the order of systems, and what else was asked."""

from __future__ import annotations

import math
from typing import Any

from robustcs.documents.document import Block, Figure, Heading, Paragraph, Table
from robustcs.documents.holes import sources_table, tipping_table
from robustcs.documents.tables import Shown, result_table
from robustcs.documents.words import measure_label, number_interval, percent, score, signed_interval
from robustcs.documents.words import number as decimal
from robustcs.lazy import Drawing, pd
from robustcs.result import count, number, share, text
from robustcs.studies.augment.analysis import Augmentation, Change
from robustcs.studies.augment.judged_show import judged_blocks
from robustcs.studies.augment.power import ALPHA
from robustcs.studies.augment.whatif import WhatIf
from robustcs.wording import counted, verb

#: Rows shown of tables that grow with the number of turns or pairs; JSON and CSV have all of them.
_SHOWN = 10
_SHOWN_GRADES = 4
_METHODS = {"kendall": "Kendall's τ", "tau_ap": "τ AP", "tau_ap_symmetric": "τ AP, both ways", "rbo": "RBO"}


def show(result: Augmentation) -> tuple[Block, ...]:
    """Before and after, what-if and leave-one-run-out: the parts that there are."""
    blocks: list[Block] = []
    if result.change:
        blocks += _change(result, result.change)
    if result.what_if:
        blocks += _what_if(result, result.what_if)
    if result.leave_one_out is not None:
        blocks += _leave_one_out(result, result.leave_one_out)
    if result.leave_group_out is not None:
        blocks += _leave_group_out(result, result.leave_group_out)
    if result.estimated:
        blocks += judged_blocks(result, result.estimated)
    return tuple(blocks)


def _place(row: Any) -> str:
    return str(row.rank_after) if row.rank_before == row.rank_after else f"{row.rank_before} → {row.rank_after}"


def _metrics(frame: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    return [(str(metric), part) for metric, part in frame.groupby("metric", sort=False)]


# ---------------------------------------------------------------- before and after


def _change(result: Augmentation, change: Change) -> list[Block]:
    blocks: list[Block] = [Heading("Before and after new judgments", 2), _files(result)]
    if len(change.conflicts):
        blocks.append(_conflicts(result, change.conflicts))
    blocks += [_scores(result, metric, part) for metric, part in _metrics(change.measures)]
    if len(change.measures):
        blocks.append(Figure("augment", "Mean scores before (open) and after (filled) the new judgments.",
                             _alt(change.measures), lambda: draw_change(change)))  # fmt: skip
    if len(change.ranking):
        blocks += [_ranking(result), _power(result)]
    moved = dict(_metrics(change.turns))
    blocks += [_turns(result, metric, moved[metric]) for metric, _ in _metrics(change.measures) if metric in moved]
    return [*blocks, *sources_table(result, result.depth)]


def _files(result: Augmentation) -> Table:
    return result_table(
        result, "files", "What joined the qrels", ["file", "judgments", "added", "added_turns", "repeated", "conflicts"],
        "Repeated: judged before with the same grade. Conflicts: with another grade.",
    )  # fmt: skip


def _conflicts(result: Augmentation, conflicts: pd.DataFrame) -> Table:
    return result_table(
        result, "conflicts", "Judged twice with different grades", ["turn", "document", "old", "new", "kept"],
        _more(conflicts, "conflicts"), rows=conflicts.head(_SHOWN),
    )  # fmt: skip


def _scores(result: Augmentation, metric: str, part: pd.DataFrame) -> Table:
    columns: list[Shown] = [
        "run", "before", "after", "difference", (number("95 %"), lambda row: signed_interval(row.ci_low, row.ci_high)),
        "p_corrected", (count("place"), _place),
    ]  # fmt: skip
    return result_table(
        result, "measures", f"{measure_label(metric)} before and after", columns,
        f"p adj.: signs of whole {result.evaluated.unit}s flipped, max-T over {counted(len(part), 'run')}; 95 %: the inversion"
        f" of the test of one run, for other {result.evaluated.unit}s judged in this way. Place: among these runs."
        + "".join(f" {row.run}: {row.note}." for row in part.itertuples() if row.note),
        rows=part, slug=f"measures-{metric}",
    )  # fmt: skip


def _ranking(result: Augmentation) -> Table:
    columns: list[Shown] = [
        (text("measure"), lambda row: measure_label(row.metric)), (text("agreement"), lambda row: _METHODS[row.method]),
        "value", (number("at least"), lambda row: decimal(row.ci_low, 3)),
    ]  # fmt: skip
    return result_table(
        result, "ranking", "Does the order of the systems move?", columns,
        f"1: the same order before and after, on these {result.evaluated.turns} turns. τ AP takes the order after as the true"
        f" one and weighs the top more. At least: the one-sided 95 % limit for as many other {result.evaluated.unit}s; a limit"
        " above cannot be given.",
        by="metric",
    )  # fmt: skip


def _power(result: Augmentation) -> Table:
    columns: list[Shown] = [
        (text("measure"), lambda row: measure_label(row.metric)), "pairs",
        (share("before", group="each on its own"), lambda row: percent(row.share_before)),
        (share("after", group="each on its own"), lambda row: percent(row.share_after)),
        (share("before", group="adjusted"), lambda row: percent(row.adjusted_share_before)),
        (share("after", group="adjusted"), lambda row: percent(row.adjusted_share_after)), "reversed",
    ]  # fmt: skip
    floor = result.tables["power"]["adjusted_floor"].max()
    blind = f" With so few units no p can be below {floor:.2g}." if floor > ALPHA else ""
    return result_table(
        result, "power", "Which share of the pairs of runs differ significantly?", columns,
        f"p ≤ {ALPHA:g} by the sign-flip test of whole units; adjusted: by max-T over all pairs of a measure. Reversed:"
        " significant (adjusted) before and after, in opposite order. Pairs that do not differ significantly are not equal."
        + blind,
    )  # fmt: skip


def _turns(result: Augmentation, metric: str, part: pd.DataFrame) -> Table:
    runs = part["turn"].value_counts()
    most = part.drop_duplicates("turn")
    columns: list[Shown] = [
        "turn", (count("runs"), lambda row: str(runs[row.turn])), (text("most in"), lambda row: row.run), "before", "after",
        (text("new grades"), lambda row: _few(row.new_grades)),
    ]  # fmt: skip
    note = "Runs: how many change there. New grades as rank:grade; – where only the ideal ranking changed."
    return result_table(
        result, "turns", f"{measure_label(metric)}: turns that change most", columns, note + _more(most, "turns", " "),
        rows=most.head(_SHOWN), slug=f"turns-{metric}",
    )  # fmt: skip


def _few(grades: str) -> str:
    """The first of the new grades."""
    parts = grades.split()
    return " ".join(parts[:_SHOWN_GRADES]) + (" …" if len(parts) > _SHOWN_GRADES else "") or "–"


def _more(frame: pd.DataFrame, what: str, before: str = "") -> str:
    hidden = len(frame) - _SHOWN
    return f"{before}The first {_SHOWN} of {len(frame)} {what}; JSON and CSV have all." if hidden > 0 else ""


def _alt(measures: pd.DataFrame) -> str:
    parts = [
        f"{measure_label(metric)}: "
        + ", ".join(f"{row.run} {score(row.before)} to {score(row.after)}" for row in part.itertuples())
        for metric, part in _metrics(measures)
    ]
    return "Mean scores before and after the new judgments. " + "; ".join(parts) + "."


def draw_change(change: Change) -> Drawing:
    """The figure of before and after, one panel per measure."""
    from robustcs.studies.augment.figure import ChangePanel, augment_figure

    panels = []
    for metric, part in _metrics(change.measures):
        part = part.sort_values("before", ascending=False, kind="stable")
        panels.append(ChangePanel(measure_label(metric), tuple(part["run"]), tuple(part["before"]), tuple(part["after"])))
    return augment_figure(panels)


# ---------------------------------------------------------------- what if, and leave one out


def _what_if(result: Augmentation, drawn: WhatIf) -> list[Block]:
    holes = f"{counted(drawn.holes, 'unjudged passage')} {verb(drawn.holes, 'stands', 'stand')}"
    gist = (
        f"{holes} in the top {drawn.depth} of {'some' if drawn.holes else 'any'} run."
        + (f" Each got a grade {drawn.draws} times, the same in all runs." if drawn.holes else " No grade is drawn.")
        + " Passages further down stay unjudged and count as not relevant."
    )
    columns: list[Shown] = ["run", "score", "mean", (number("95 % of draws"), lambda row: number_interval(row.low, row.high))]
    blocks: list[Block] = [
        Heading("What if the unjudged passages were judged?", 2), Paragraph(gist), *_rates(result, drawn)
    ]  # fmt: skip
    pairs = dict(_metrics(drawn.pairs))
    for metric, part in _metrics(drawn.scores):
        label = measure_label(metric)
        blocks.append(
            result_table(result, "what_if", f"{label} over {drawn.draws} draws", columns, rows=part, slug=f"what_if-{metric}")
        )
        if metric in pairs:
            blocks.append(_flips(result, metric, pairs[metric]))
    return [*blocks, *tipping_table(result, drawn.tipping)]


def _flips(result: Augmentation, metric: str, pairs: pd.DataFrame) -> Block:
    closest = pairs[pairs["flips"] > 0].sort_values("flips", ascending=False, kind="stable")
    if not len(closest):
        return Paragraph(f"{measure_label(metric)}: no two runs change places in any draw.")
    columns: list[Shown] = [
        "first", "second", "difference", "mean", (number("95 % of draws"), lambda row: signed_interval(row.low, row.high)),
        "flips",
    ]  # fmt: skip
    note = (
        f"Difference first − second; flips: the share of draws with the other order. {len(closest)} of {len(pairs)} pairs flip"
        " in any draw."
    )
    return result_table(
        result, "flips", f"{measure_label(metric)}: could two runs change places?", columns,
        note + _more(closest, "pairs", " "), rows=closest.head(_SHOWN), slug=f"flips-{metric}",
    )  # fmt: skip


def _rates(result: Augmentation, drawn: WhatIf) -> list[Block]:
    rates = drawn.rates
    if not len(rates):
        return []
    shares = rates.set_index(["ranks", "grade"])["share"]
    bands = rates.groupby("ranks", sort=False)[["judged", "holes"]].first()
    columns: list[Shown] = [
        (text("ranks"), lambda ranks: ranks.replace("-", "–")),
        *(
            (share(str(grade), group="grade"), lambda ranks, grade=grade: percent(shares[ranks, grade]))
            for grade in sorted(set(rates["grade"]))
        ),
        (count("unjudged"), lambda ranks: str(bands["holes"][ranks])),
    ]
    note = "As given by --rates."
    if bands["judged"].notna().all():
        columns.append((count("judged"), lambda ranks: str(bands["judged"][ranks])))
        note = _model_note(result, drawn)
    return [result_table(result, "rates", "How probable each grade is", columns, note, rows=list(bands.index))]


def _model_note(result: Augmentation, drawn: WhatIf) -> str:
    """What the hole model looked at, and how it did on judgments that were hidden from it."""
    runs = drawn.scores["run"].nunique()
    found = "which run alone found it" if drawn.groups == runs else f"which of {drawn.groups} groups of similar runs found it"
    ranks = "and at its rank" if runs == 1 else f"at its ranks in all {runs} runs, and at {found}"
    note = (
        "Means over the unjudged passages of these ranks. The model behind them looked at how many of the turn's judged"
        f" passages are relevant, at the grades of the passage in other turns, {ranks}; it read no text."
    )
    if drawn.check and math.isnan(drawn.check.coverage):
        note += " Your own judgments cannot test it: hiding those at the ranks of the unjudged passages changes no score."
    elif drawn.check:
        note += (
            f" Tested on your own judgments, {drawn.check.hidings} times a tenth of them hidden: 95 % intervals held"
            f" {percent(drawn.check.coverage)} of the true means and differences."
        )
    return note


def _leave_one_out(result: Augmentation, left: pd.DataFrame) -> list[Block]:
    columns: list[Shown] = ["run", "unique", "unique_relevant", "before", "after", "difference", (count("place"), _place)]
    note = (
        f"Unique: judged passages that stand in the top {result.depth} of this run alone, among the runs given here; they are"
        " withdrawn for its score without them."
    )
    return [
        Heading("Can the judgments be reused for a new run?", 2),
        *(
            result_table(result, "leave_one_out", f"{measure_label(metric)}, leaving one run out", columns, note,
                         rows=part, slug=f"leave_one_out-{metric}")
            for metric, part in _metrics(left)
        ),
    ]  # fmt: skip


def _leave_group_out(result: Augmentation, left: pd.DataFrame) -> list[Block]:
    columns: list[Shown] = [
        "group",
        "run",
        "unique",
        "unique_relevant",
        "before",
        "after",
        "difference",
        (count("place"), _place),
    ]
    if left["guessed"].any():
        if (left["runs"] == 1).all():
            return [
                Paragraph("No groups of runs: none are named in [run_groups], and no two runs share enough that others lack.")
            ]
        how = "guessed: runs that share much of what no other run contributed; name them in [run_groups]"
    else:
        how = "those of [run_groups] or the sets of [groups]; every other run is its own"
    note = (
        f"Unique: judged passages in the top {result.depth} of this group's runs alone; they are withdrawn. Groups are {how}."
    )
    return [
        result_table(result, "leave_group_out", f"{measure_label(metric)}, leaving one group of runs out", columns, note,
                     rows=part, slug=f"leave_group_out-{metric}")
        for metric, part in _metrics(left)
    ]  # fmt: skip
