"""New judgments as Table 14 of the ECAsT paper prints them, with tests, the order of systems, and what else was asked."""

from __future__ import annotations

import math
from collections.abc import Sequence

from robustcs.documents.document import Block, Figure, Heading, Paragraph
from robustcs.documents.holes import sources_table, tipping_table
from robustcs.documents.tables import Shown, ready, result_table
from robustcs.documents.words import measure_label, number, percent, score
from robustcs.lazy import Drawing, pd
from robustcs.result import count, share, text
from robustcs.studies.augment.analysis import ALPHA, Augmentation, Change
from robustcs.studies.augment.judged import Estimated
from robustcs.studies.augment.whatif import WhatIf
from robustcs.wording import counted, verb

#: Rows shown of tables that grow with the number of turns or pairs; JSON and CSV have all of them.
_SHOWN = 10
_SHOWN_GRADES = 4
_METHODS = {"kendall": "Kendall's τ", "tau_ap": "τ AP", "tau_ap_symmetric": "τ AP, both ways", "rbo": "RBO"}
_PLACE: Shown = (
    count("place"),
    lambda row: f"{row.rank_after}" if row.rank_before == row.rank_after else f"{row.rank_before} → {row.rank_after}",
)


def show(result: Augmentation) -> tuple[Block, ...]:
    """Before and after, what-if, leave-one-run-out and estimates with judges: the parts that there are."""
    blocks: list[Block] = _change(result, result.change) if result.change else []
    blocks += _what_if(result, result.what_if) if result.what_if else []
    if result.leave_one_out is not None:
        blocks += [Heading("Can the judgments be reused for a new run?", 2), *_left_out(result, result.leave_one_out)]
    blocks += _left_out(result, result.leave_group_out) if result.leave_group_out is not None else []
    return (*blocks, *(_judged(result, result.estimated) if result.estimated else []))


def _by_metric(frame: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame]]:
    """Every measure with its label and its rows."""
    return [(str(name), measure_label(str(name)), part) for name, part in frame.groupby("metric", sort=False)]


def _more(frame: pd.DataFrame, what: str) -> str:
    return f" The first {_SHOWN} of {len(frame)} {what}; JSON and CSV have all." if len(frame) > _SHOWN else ""


# ---------------------------------------------------------------- before and after


def _change(result: Augmentation, change: Change) -> list[Block]:
    unit = result.evaluated.unit
    blocks: list[Block] = [
        Heading("Before and after new judgments", 2),
        result_table(
            result, "files", "What joined the qrels", ["file", "judgments", "added", "added_turns", "repeated", "conflicts"],
            "Repeated: judged before with the same grade. Conflicts: with another grade.",
        ),
    ]  # fmt: skip
    if len(change.conflicts):
        blocks.append(result_table(
            result, "conflicts", "Judged twice with different grades", ["turn", "document", "old", "new", "kept"],
            _more(change.conflicts, "conflicts").strip(), rows=change.conflicts.head(_SHOWN),
        ))  # fmt: skip
    blocks += [
        result_table(
            result, "measures", f"{label} before and after", ["run", "before", "after", "difference", "p_corrected", _PLACE],
            f"p adj.: signs of whole {unit}s flipped, max-T over {counted(len(part), 'run')}; 95% CI: the inversion of the test"
            f" of one run, for other {unit}s judged in this way. Place: among these runs."
            + "".join(f" {row.run}: {row.note}." for row in part.itertuples() if row.note),
            rows=part, slug=f"measures-{metric}",
        )
        for metric, label, part in _by_metric(change.measures)
    ]  # fmt: skip
    if len(change.measures):
        told = "; ".join(
            f"{label}: " + ", ".join(f"{row.run} {score(row.before)} to {score(row.after)}" for row in part.itertuples())
            for _, label, part in _by_metric(change.measures)
        )
        blocks.append(Figure(
            "augment", "Mean scores before (open) and after (filled) the new judgments.",
            f"Mean scores before and after the new judgments. {told}.", lambda: draw_change(change),
        ))  # fmt: skip
    blocks += [*(_ranking(result, change) if len(change.ranking) else []), *_turns(result, change.turns)]
    return [*blocks, *sources_table(result, result.depth)]


def _ranking(result: Augmentation, change: Change) -> list[Block]:
    floor = change.power["adjusted_floor"].max()
    blind = f" With so few units no p can be below {floor:.2g}." if floor > ALPHA else ""
    method: Shown = (text("agreement"), lambda row: _METHODS[row.method])
    return [
        result_table(
            result, "ranking", "Does the order of the systems move?", ["metric", method, "value", "ci_low"],
            f"1: the same order before and after, on these {result.evaluated.turns} turns. τ AP takes the order after as the"
            " true one and weighs the top more. At least: the one-sided 95 % limit for as many other"
            f" {result.evaluated.unit}s; a limit above cannot be given.",
            by="metric",
        ),
        result_table(
            result, "power", "Which share of the pairs of runs differ significantly?",
            ["metric", "pairs", "share_before", "share_after", "adjusted_share_before", "adjusted_share_after", "reversed"],
            f"p ≤ {ALPHA:g} by the sign-flip test of whole units; adjusted: by max-T over all pairs of a measure. Reversed:"
            " significant (adjusted) before and after, in opposite order. Pairs that do not differ significantly are not"
            f" equal.{blind}",
        ),
    ]  # fmt: skip


def _turns(result: Augmentation, turns: pd.DataFrame) -> list[Block]:
    blocks: list[Block] = []
    for metric, label, part in _by_metric(turns):
        runs, most = part["turn"].value_counts(), part.drop_duplicates("turn")
        shown = most.head(_SHOWN).assign(runs=most["turn"].map(runs), few=most["new_grades"].map(_few))
        columns: list[Shown] = [
            "turn",
            count("runs"),
            text("run", header="most in"),
            "before",
            "after",
            text("few", header="new grades"),
        ]
        note = "Runs: how many change there. New grades as rank:grade; – where only the ideal ranking changed."
        blocks.append(result_table(
            result, "turns", f"{label}: turns that change most", columns, note + _more(most, "turns"), rows=shown,
            slug=f"turns-{metric}",
        ))  # fmt: skip
    return blocks


def _few(grades: str) -> str:
    """The first of the new grades."""
    parts = grades.split()
    return " ".join(parts[:_SHOWN_GRADES]) + (" …" if len(parts) > _SHOWN_GRADES else "") or "–"


def draw_change(change: Change) -> Drawing:
    """The figure of before and after, one panel per measure."""
    from robustcs.studies.augment.figure import ChangePanel, augment_figure

    panels = []
    for _, label, part in _by_metric(change.measures):
        part = part.sort_values("before", ascending=False, kind="stable")
        panels.append(ChangePanel(label, tuple(part["run"]), tuple(part["before"]), tuple(part["after"])))
    return augment_figure(panels)


# ---------------------------------------------------------------- what if, and leave one out


def _what_if(result: Augmentation, drawn: WhatIf) -> list[Block]:
    gist = (
        f"{counted(drawn.holes, 'unjudged passage')} {verb(drawn.holes, 'stands', 'stand')} in the top {drawn.depth} of"
        f" {'some' if drawn.holes else 'any'} run."
        + (f" Each got a grade {drawn.draws} times, the same in all runs." if drawn.holes else " No grade is drawn.")
        + " Passages further down stay unjudged and count as not relevant."
    )
    blocks: list[Block] = [
        Heading("What if the unjudged passages were judged?", 2), Paragraph(gist), *_rates(result, drawn),
    ]  # fmt: skip
    pairs = {metric: part for metric, _, part in _by_metric(drawn.pairs)}
    for metric, label, part in _by_metric(drawn.scores):
        blocks.append(result_table(
            result, "what_if", f"{label} over {drawn.draws} draws", ["run", "score", "mean"], rows=part,
            slug=f"what_if-{metric}",
        ))  # fmt: skip
        blocks += [_flips(result, metric, label, pairs[metric])] if metric in pairs else []
    return [*blocks, *tipping_table(result, drawn.tipping)]


def _flips(result: Augmentation, metric: str, label: str, pairs: pd.DataFrame) -> Block:
    closest = pairs[pairs["flips"] > 0].sort_values("flips", ascending=False, kind="stable")
    if not len(closest):
        return Paragraph(f"{label}: no two runs change places in any draw.")
    return result_table(
        result, "flips", f"{label}: could two runs change places?", ["first", "second", "difference", "mean", "flips"],
        f"Difference first − second; flips: the share of draws with the other order. {len(closest)} of {len(pairs)} pairs flip"
        f" in any draw.{_more(closest, 'pairs')}",
        rows=closest.head(_SHOWN), slug=f"flips-{metric}",
    )  # fmt: skip


def _rates(result: Augmentation, drawn: WhatIf) -> list[Block]:
    rates = drawn.rates
    if not len(rates):
        return []
    wide = rates.pivot(index="ranks", columns="grade", values="share").loc[list(dict.fromkeys(rates["ranks"]))]
    bands = rates.drop_duplicates("ranks").set_index("ranks")
    known = bool(bands["judged"].notna().all())
    fields = [share(str(grade), group="grade") for grade in wide.columns]
    more = [bands["holes"].map(str), *([bands["judged"].map("{:.0f}".format)] if known else [])]
    rows = zip([name.replace("-", "–") for name in wide.index], *wide.map(percent).to_numpy().T, *more, strict=True)
    return [result_table(
        result, "rates", "How probable each grade is",
        ready(text("ranks"), *fields, count("unjudged"), *([count("judged")] if known else [])),
        _model_note(drawn) if known else "As given by --rates.", rows=list(rows),
    )]  # fmt: skip


def _model_note(drawn: WhatIf) -> str:
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


def _left_out(result: Augmentation, left: pd.DataFrame) -> list[Block]:
    """Of single runs, or of groups where they are told by a column."""
    grouped = "group" in left
    if grouped and left["guessed"].any() and (left["runs"] == 1).all():
        return [Paragraph("No groups of runs: none are named in [run_groups], and no two runs share enough that others lack.")]
    what = "group of runs" if grouped else "run"
    note = (
        f"Unique: judged passages that stand in the top {result.depth} of this run alone, among the runs given here; they are"
        " withdrawn for its score without them."
    )
    if grouped:
        how = "those of [run_groups] or the sets of [groups]; every other run is its own"
        if left["guessed"].any():
            how = "guessed: runs that share much of what no other run contributed; name them in [run_groups]"
        note = (
            f"Unique: judged passages in the top {result.depth} of this group's runs alone; they are withdrawn. Groups are"
            f" {how}."
        )
    name = "leave_group_out" if grouped else "leave_one_out"
    columns = [*(["group"] if grouped else []), "run", "unique", "unique_relevant", "before", "after", "difference", _PLACE]
    return [
        result_table(result, name, f"{label}, leaving one {what} out", columns, note, rows=part, slug=f"{name}-{metric}")
        for metric, label, part in _by_metric(left)
    ]


# ---------------------------------------------------------------- with judges


def _judged(result: Augmentation, found: Estimated) -> Sequence[Block]:
    """For every judge the estimates and their pairs, then the sample, and the plan where one is asked for."""
    tables, unit = found.tables, found.unit
    blocks: list[Block] = [Heading("What would people say of all of it?", 2)]
    pairs = dict(list(tables["estimate_pairs"].groupby(["judge", "metric"], sort=False)))
    for judge, rows in tables["estimates"].groupby("judge", sort=False):
        row = rows.iloc[0]
        blocks.append(Paragraph(
            f"People judged {row['judged_units']} of {counted(int(row['units']), unit)}, {judge} all of them. Corrected is"
            f" what people would say of all {row['units']}, had they judged them, if those that they judged were drawn at"
            " random."
        ))  # fmt: skip
        for metric, label, part in _by_metric(rows):
            first = part.iloc[0]
            note = (
                f"Judge alone: not an estimate. Worth: how many judged {unit}s would tell people alone as much; they judged"
                f" {first['judged_units']}. Weight of the judge: {number(first['weight'], 2)}. JSON and CSV have the wider"
                f" intervals for other {unit}s like these."
            )
            note += f" {first['note'][0].upper()}{first['note'][1:]}." if first["note"] else ""
            blocks.append(result_table(
                result, "estimates", f"{label} with {judge}", ["run", "corrected", "human_only", "judge_only", "worth"], note,
                rows=part, slug=f"estimates-{judge}-{metric}",
            ))  # fmt: skip
            if (judge, metric) in pairs:
                own = pairs[judge, metric]
                note = (
                    f"First minus second. Interval and p are of one comparison; p adj.: Holm over {counted(len(own), 'pair')}."
                )
                note += f" The {_SHOWN} of the smallest p; JSON and CSV have all." if len(own) > _SHOWN else ""
                blocks.append(result_table(
                    result, "estimate_pairs", f"{label} with {judge}: which systems differ?",
                    ["first", "second", "corrected", "human_only", "p", "p_corrected"], note,
                    rows=own.sort_values("p", kind="stable").head(_SHOWN), slug=f"estimate_pairs-{judge}-{metric}",
                ))  # fmt: skip
    if len(tables["sample"]):
        blocks.append(result_table(
            result, "sample", f"Were the judged {unit}s a random sample?",
            ["judge", "metric", "judged_mean", "other_mean", "p"],
            f"Mean scores under the judge of the {unit}s that people judged and of the others; p by permutation. A large p"
            " proves nothing: what was chosen by people's scores hardly shows here.",
        ))  # fmt: skip
    if "plan" in tables:
        for (judge, metric), part in tables["plan"].groupby(["judge", "metric"], sort=False):
            first = part.iloc[0]
            note = (
                f"{unit.capitalize()}s that people must judge, of {first['units']}, those {first['judged_units']} that they"
                " judged included; that many suffice in 80 % of studies like this."
            )
            if part["with_judge"].isna().any():
                note += (
                    " Before a pilot nobody knows what the judge is worth: these are numbers without it, as if people's scores"
                    " varied like the judge's."
                )
            blocks.append(result_table(
                result, "plan", f"How many for {measure_label(metric)} within ±{first['within']:g} ({judge})?",
                ["run", "with_judge", "people_alone"], note, rows=part, slug=f"plan-{judge}-{metric}",
            ))  # fmt: skip
    return blocks
