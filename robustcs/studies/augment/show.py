"""New judgments as Table 14 of the ECAsT paper prints them, with tests, the order of systems, and what else was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robustcs.documents.document import Block, Column, Figure, Heading, Paragraph, Table
from robustcs.documents.words import (
    measure_label,
    number_interval,
    p_value,
    percent,
    score,
    signed,
    signed_interval,
)
from robustcs.studies.augment.analysis import Augmentation, Change
from robustcs.studies.augment.whatif import PRIOR, WhatIf

if TYPE_CHECKING:
    import matplotlib.figure
    import pandas as pd

#: Rows shown of tables that grow with the number of turns or pairs; JSON and CSV have all of them.
_SHOWN = 10
_SHOWN_GRADES = 4
_METHODS = {"kendall": "Kendall's τ", "tau_ap": "τ AP", "tau_ap_symmetric": "τ AP, both ways", "rbo": "RBO"}


def present_augmentation(result: Augmentation) -> tuple[Block, ...]:
    """Before and after, what-if and leave-one-run-out: the parts that there are."""
    blocks: list[Block] = []
    if result.change:
        blocks += _change(result.change)
    if result.what_if:
        blocks += _what_if(result.what_if)
    if result.leave_one_out is not None:
        blocks += _leave_one_out(result.leave_one_out, result.depth)
    return tuple(blocks)


def _place(before: int, after: int) -> str:
    return str(after) if before == after else f"{before} → {after}"


def _metrics(frame: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    return [(str(metric), part) for metric, part in frame.groupby("metric", sort=False)]


# ---------------------------------------------------------------- before and after


def _change(change: Change) -> list[Block]:
    blocks: list[Block] = [Heading("Before and after new judgments", 2), _files(change.files)]
    if len(change.conflicts):
        blocks.append(_conflicts(change.conflicts))
    blocks += [_scores(metric, part) for metric, part in _metrics(change.measures)]
    if len(change.measures):
        blocks.append(Figure("augment", "Mean scores before (open) and after (filled) the new judgments.",
                             _alt(change.measures), lambda: draw_change(change)))  # fmt: skip
    if len(change.ranking):
        blocks.append(_ranking(change.ranking))
    moved = dict(_metrics(change.turns))
    blocks += [_turns(metric, moved[metric]) for metric, _ in _metrics(change.measures) if metric in moved]
    return blocks


def _files(files: pd.DataFrame) -> Table:
    titles = ("judgments", "added", "new turns", "repeated", "conflicts")
    rows = tuple(
        (row.file, *(str(getattr(row, name)) for name in ("judgments", "added", "added_turns", "repeated", "conflicts")))
        for row in files.itertuples()
    )
    return Table(
        "files", "What joined the qrels", (Column("file", "left"), *map(Column, titles)), rows,
        "Repeated: judged before with the same grade. Conflicts: with another grade.",
    )  # fmt: skip


def _conflicts(conflicts: pd.DataFrame) -> Table:
    titles = (Column("turn", "left"), Column("document", "left"), Column("old"), Column("new"), Column("kept"))
    rows = tuple((row.turn, row.document, str(row.old), str(row.new), str(row.kept))
                 for row in conflicts.head(_SHOWN).itertuples())  # fmt: skip
    return Table("conflicts", "Judged twice with different grades", titles, rows, _more(conflicts, "conflicts"))


def _scores(metric: str, part: pd.DataFrame) -> Table:
    columns = (
        Column("run", "left"), Column("before"), Column("after"), Column("change"), Column("95 %"), Column("p"),
        Column("place"),
    )  # fmt: skip
    rows = tuple(
        (
            row.run, score(row.before), score(row.after), signed(row.difference), signed_interval(row.ci_low, row.ci_high),
            p_value(row.p_corrected), _place(row.rank_before, row.rank_after),
        )
        for row in part.itertuples()
    )  # fmt: skip
    return Table(
        f"measures-{metric}", f"{measure_label(metric)} before and after", columns, rows,
        "95 %: bootstrap over turns. p: paired randomisation test, Holm over the runs. Place: among these runs.",
    )  # fmt: skip


def _ranking(ranking: pd.DataFrame) -> Table:
    rows = tuple(
        (measure_label(row.metric), _METHODS[row.method], f"{row.value:.3f}".replace("nan", "–").replace("-", "−"),
         number_interval(row.ci_low, row.ci_high))
        for row in ranking.itertuples()
    )  # fmt: skip
    per_metric = len(_METHODS)
    return Table(
        "ranking", "Does the order of the systems move?",
        (Column("measure", "left"), Column("agreement", "left"), Column("value"), Column("95 %")), rows,
        "1: the same order before and after. τ AP takes the order after as the true one and weighs the top more."
        " 95 %: bootstrap over turns.",
        frozenset(range(per_metric, len(rows), per_metric)),
    )  # fmt: skip


def _turns(metric: str, part: pd.DataFrame) -> Table:
    columns = (
        Column("turn", "left"), Column("runs"), Column("most in", "left"), Column("before"), Column("after"),
        Column("new grades", "left"),
    )  # fmt: skip
    runs = part["turn"].value_counts()
    most = part.drop_duplicates("turn")
    rows = tuple(
        (row.turn, str(runs[row.turn]), row.run, score(row.before), score(row.after), _few(row.new_grades))
        for row in most.head(_SHOWN).itertuples()
    )
    note = "Runs: how many change there. New grades as rank:grade; – where only the ideal ranking changed."
    return Table(
        f"turns-{metric}", f"{measure_label(metric)}: turns that change most", columns, rows,
        note + _more(most, "turns", " "),
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


def draw_change(change: Change) -> matplotlib.figure.Figure:
    """The figure of before and after, one panel per measure."""
    from robustcs.studies.augment.figure import ChangePanel, augment_figure

    panels = []
    for metric, part in _metrics(change.measures):
        part = part.sort_values("before", ascending=False, kind="stable")
        panels.append(
            ChangePanel(measure_label(metric), tuple(part["run"]), tuple(part["before"]), tuple(part["after"]))
        )
    return augment_figure(panels)


# ---------------------------------------------------------------- what if, and leave one out


def _what_if(drawn: WhatIf) -> list[Block]:
    text = (
        f"{drawn.holes} unjudged passages stand in the top {drawn.depth} of some run. Each got a grade {drawn.draws} times, the"
        " same in all runs. Passages further down stay unjudged and count as not relevant."
    )
    columns = (Column("run", "left"), Column("now"), Column("mean"), Column("95 % of draws"))
    blocks: list[Block] = [Heading("What if the unjudged passages were judged?", 2), Paragraph(text), _rates(drawn)]
    pair_columns = (
        Column("first", "left"), Column("second", "left"), Column("now"), Column("mean"), Column("95 % of draws"),
        Column("flips"),
    )  # fmt: skip
    pairs = dict(_metrics(drawn.pairs))
    for metric, part in _metrics(drawn.scores):
        rows = tuple(
            (row.run, score(row.score), score(row.mean), number_interval(row.low, row.high)) for row in part.itertuples()
        )
        blocks.append(Table(f"what_if-{metric}", f"{measure_label(metric)} over {drawn.draws} draws", columns, rows))
        if metric in pairs and not (pairs[metric]["flips"] > 0).any():
            blocks.append(Paragraph(f"{measure_label(metric)}: no two runs change places in any draw."))
        elif metric in pairs:
            every = pairs[metric].sort_values("flips", ascending=False, kind="stable")
            closest = every[every["flips"] > 0]
            flips = tuple(
                (row.first, row.second, signed(row.difference), signed(row.mean), signed_interval(row.low, row.high),
                 percent(row.flips))
                for row in closest.head(_SHOWN).itertuples()
            )  # fmt: skip
            blocks.append(
                Table(
                    f"flips-{metric}", f"{measure_label(metric)}: could two runs change places?", pair_columns, flips,
                    f"Difference first − second; flips: the share of draws with the other order. {len(closest)} of"
                    f" {len(every)} pairs flip in any draw." + _more(closest, "pairs", " "),
                )
            )  # fmt: skip
    return blocks


def _rates(drawn: WhatIf) -> Table:
    wide = drawn.rates.pivot(index="ranks", columns="grade", values="share").loc[list(dict.fromkeys(drawn.rates["ranks"]))]
    judged = drawn.rates.groupby("ranks", sort=False)["judged"].first()
    observed = not judged.isna().any()
    columns = (
        Column("ranks", "left"), *(Column(str(grade), group="grade") for grade in wide.columns),
        *([Column("judged")] if observed else []),
    )  # fmt: skip
    rows = tuple(
        (str(ranks).replace("-", "–"), *map(percent, wide.loc[ranks]), *([f"{judged[ranks]:.0f}"] if observed else []))
        for ranks in wide.index
    )
    note = (
        "As judged passages of these runs have them, each counted at its best rank; a band's rates are mixed with those of the"
        f" band above as if {PRIOR} more had been judged there. Unjudged passages are likely to be worse: see --rates."
        if observed
        else "As given by --rates."
    )
    return Table("rates", "How probable each grade is", columns, rows, note)


def _leave_one_out(left: pd.DataFrame, depth: int) -> list[Block]:
    columns = (
        Column("run", "left"), Column("unique"), Column("relevant"), Column("with"), Column("without"), Column("change"),
        Column("place"),
    )  # fmt: skip
    blocks: list[Block] = [Heading("Can the judgments be reused for a new run?", 2)]
    for metric, part in _metrics(left):
        rows = tuple(
            (
                row.run, str(row.unique), str(row.unique_relevant), score(row.before), score(row.after), signed(row.difference),
                _place(row.rank_before, row.rank_after),
            )
            for row in part.itertuples()
        )  # fmt: skip
        blocks.append(
            Table(
                f"leave_one_out-{metric}", f"{measure_label(metric)}, leaving one run out", columns, rows,
                f"Unique: judged passages that stand in the top {depth} of this run alone, among the runs given here; they are"
                " withdrawn for its score without them.",
            )
        )  # fmt: skip
    return blocks
