"""Tables and the figure of new judgments (Table 14 of the ECAsT paper), what-if, leave-one-out and estimates with judges."""

from __future__ import annotations

import math
from collections.abc import Sequence

from robustcs.documents.document import Block, Drawing, Figure, Heading, Paragraph
from robustcs.documents.holes import sources_table, tipping_table
from robustcs.documents.tables import Shown, ready, result_table
from robustcs.documents.words import measure_label, noted, number, percent, score
from robustcs.lazy import pd
from robustcs.result import count, share, text
from robustcs.studies.augment.analysis import ALPHA, Augmentation, Change
from robustcs.studies.augment.judged import Estimated
from robustcs.studies.augment.whatif import WhatIf
from robustcs.wording import counted, system_name, verb

#: Rows shown of tables that grow with the number of turns or pairs. JSON and CSV have all.
_SHOWN = 10
_SHOWN_GRADES = 4
_METHODS = {"kendall": "Kendall's τ", "tau_ap": "τ AP", "tau_ap_symmetric": "τ AP, symmetric", "rbo": "RBO"}
_PLACE: Shown = (
    count("rank"),
    lambda row: f"{row.rank_after}" if row.rank_before == row.rank_after else f"{row.rank_before} → {row.rank_after}",
)


def show(result: Augmentation) -> tuple[Block, ...]:
    """Return the blocks of all requested parts: before and after, what-if, leave-one-out, and estimates with judges."""
    blocks: list[Block] = _change(result, result.change) if result.change else []
    blocks += _what_if(result, result.what_if) if result.what_if else []
    if result.leave_one_out is not None:
        blocks += [Heading("Can the judgments be reused for a new run?", 2), *_left_out(result, result.leave_one_out)]
    blocks += _left_out(result, result.leave_group_out) if result.leave_group_out is not None else []
    return (*blocks, *(_judged(result, result.estimated) if result.estimated else []))


def _by_metric(frame: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame]]:
    """Return every measure with its label and its rows."""
    return [(str(name), measure_label(str(name)), part) for name, part in frame.groupby("metric", sort=False)]


def _more(frame: pd.DataFrame, what: str) -> str:
    return f" Shown: the first {_SHOWN} of {len(frame)} {what}; JSON and CSV have all." if len(frame) > _SHOWN else ""


# ---------------------------------------------------------------- before and after


def _change(result: Augmentation, change: Change) -> list[Block]:
    unit = result.evaluated.unit
    blocks: list[Block] = [
        Heading("Before and after new judgments", 2),
        result_table(
            result, "files", "New judgments added to the qrels",
            ["file", "judgments", "added", "added_turns", "repeated", "conflicts"],
            "Repeated: judged before with the same grade. Conflicts: judged before with a different grade."
        ),
    ]  # fmt: skip
    if len(change.conflicts):
        blocks.append(result_table(
            result, "conflicts", "Passages judged twice with different grades", ["turn", "document", "old", "new", "kept"],
            _more(change.conflicts, "conflicts").strip(), rows=change.conflicts.head(_SHOWN),
        ))  # fmt: skip
    blocks += [
        result_table(
            result, "measures", f"{label} before and after", ["system", "before", "after", "difference", "p_corrected", _PLACE],
            f"p adj.: sign-flip test by {unit}, max-T over {counted(len(part), 'run')}. 95% CI: inverts the test of a single"
            f" run; it holds for other {unit}s judged in the same way. Rank: among these runs."
            + noted((system_name(row.system), row.note) for row in part.itertuples()),
            rows=part, slug=f"measures-{metric}"
        )
        for metric, label, part in _by_metric(change.measures)
    ]  # fmt: skip
    if len(change.measures):
        told = "; ".join(
            f"{label}: "
            + ", ".join(f"{system_name(row.system)} {score(row.before)} to {score(row.after)}" for row in part.itertuples())
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
    blind = f" With so few units, no p can be below {floor:.2g}." if floor > ALPHA else ""
    method: Shown = (text("agreement"), lambda row: _METHODS[row.method])
    return [
        result_table(
            result, "ranking", "Does the ranking of the systems change?", ["metric", method, "value", "ci_low"],
            f"1: same ranking before and after, on these {result.evaluated.turns} turns. τ AP uses the new ranking as the"
            " reference and gives its top more weight. 95% lower limit: one-sided, for the same number of other"
            f" {result.evaluated.unit}s; there is no valid upper limit.",
            by="metric"
        ),
        result_table(
            result, "power", "How many pairs of runs differ significantly?",
            ["metric", "pairs", "share_before", "share_after", "adjusted_share_before", "adjusted_share_after", "reversed"],
            f"Share of pairs with p ≤ {ALPHA:g} in a sign-flip test by {result.evaluated.unit}; adjusted: max-T over all pairs"
            " of a measure. Reversed: significant (adjusted) before and after, in opposite order. Pairs without a significant"
            f" difference are not necessarily equal.{blind}"
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
            text("system", header="largest in"),
            "before",
            "after",
            text("few", header="new grades"),
        ]
        note = "Runs: number of runs whose score changes. New grades: rank:grade; – if only the ideal ranking changed."
        blocks.append(result_table(
            result, "turns", f"{label}: turns with the largest changes", columns, note + _more(most, "turns"), rows=shown,
            slug=f"turns-{metric}",
        ))  # fmt: skip
    return blocks


def _few(grades: str) -> str:
    """Return the first of the new grades."""
    parts = grades.split()
    return " ".join(parts[:_SHOWN_GRADES]) + (" …" if len(parts) > _SHOWN_GRADES else "") or "–"


def draw_change(change: Change) -> Drawing:
    """Draw scores before and after, one panel per measure."""
    from robustcs.studies.augment.figure import augment_figure

    return augment_figure([
        (label, part.sort_values("before", ascending=False, kind="stable")) for _, label, part in _by_metric(change.measures)
    ])  # fmt: skip


# ---------------------------------------------------------------- what if, and leave one out


def _what_if(result: Augmentation, drawn: WhatIf) -> list[Block]:
    gist = (
        f"{counted(drawn.holes, 'unjudged passage')} {verb(drawn.holes, 'is', 'are')} in the top {drawn.depth} of"
        f" {'at least one' if drawn.holes else 'any'} run."
        + (
            f" Their grades were drawn {drawn.draws} times; a passage has the same grade in all runs."
            if drawn.holes
            else " No grades are drawn."
        )
        + " Deeper passages remain unjudged and count as not relevant."
    )
    blocks: list[Block] = [
        Heading("What if the unjudged passages were judged?", 2), Paragraph(gist), *_rates(result, drawn),
    ]  # fmt: skip
    pairs = {metric: part for metric, _, part in _by_metric(drawn.pairs)}
    for metric, label, part in _by_metric(drawn.scores):
        blocks.append(result_table(
            result, "what_if", f"{label} over {drawn.draws} draws", ["system", "score", "mean"], rows=part,
            slug=f"what_if-{metric}",
        ))  # fmt: skip
        blocks += [_flips(result, metric, label, pairs[metric])] if metric in pairs else []
    return [*blocks, *tipping_table(result, drawn.tipping)]


def _flips(result: Augmentation, metric: str, label: str, pairs: pd.DataFrame) -> Block:
    closest = pairs[pairs["flips"] > 0].sort_values("flips", ascending=False, kind="stable")
    if not len(closest):
        return Paragraph(f"{label}: no draw reverses the order of two runs.")
    return result_table(
        result, "flips", f"{label}: could two runs swap ranks?", ["first", "second", "difference", "mean", "flips"],
        f"Difference: first − second. Flips: share of draws with the opposite order. {len(closest)} of {len(pairs)} pairs"
        f" flip in at least one draw.{_more(closest, 'pairs')}",
        rows=closest.head(_SHOWN), slug=f"flips-{metric}",
    )  # fmt: skip


def _rates(result: Augmentation, drawn: WhatIf) -> list[Block]:
    rates = drawn.rates
    if not len(rates):
        return []
    wide = rates.pivot(index="ranks", columns="grade", values="share").loc[list(dict.fromkeys(rates["ranks"]))]
    bands = rates.drop_duplicates("ranks").set_index("ranks")
    fields = [share(str(grade), group="grade") for grade in wide.columns]
    more = [bands["holes"].map(str), bands["judged"].map("{:.0f}".format)]
    rows = zip([name.replace("-", "–") for name in wide.index], *wide.map(percent).to_numpy().T, *more, strict=True)
    return [result_table(
        result, "rates", "Probability of each grade",
        ready(text("ranks"), *fields, count("unjudged"), count("judged")), _model_note(drawn), rows=list(rows),
    )]  # fmt: skip


def _model_note(drawn: WhatIf) -> str:
    """Return the inputs of the hole model and the result of its test on hidden judgments."""
    runs = drawn.scores["system"].nunique()
    groups = f"which of {drawn.groups} groups of similar runs retrieved it"
    found = "whether only one run retrieved it" if drawn.groups == runs else groups
    ranks = "and its rank" if runs == 1 else f"its ranks in all {runs} runs, and {found}"
    note = (
        "Means over the unjudged passages of these ranks. The hole model predicts the grade of a passage from the share of"
        f" relevant passages among the turn's judged ones, the grades of the passage in other turns, {ranks}. It reads no text."
    )
    if drawn.check and math.isnan(drawn.check.coverage):
        note += " Your judgments cannot test the model: hiding those at the ranks of the unjudged passages changes no score."
    elif drawn.check:
        note += (
            f" Test on your judgments, with a tenth of them hidden {drawn.check.hidings} times: the 95% intervals covered"
            f" {percent(drawn.check.coverage)} of the true means and differences."
        )
    return note


def _left_out(result: Augmentation, left: pd.DataFrame) -> list[Block]:
    """Return the tables of single runs, or of groups if there is a column ``group``."""
    grouped = "group" in left
    if grouped and left["guessed"].any() and (left["runs"] == 1).all():
        return [
            Paragraph(
                "No groups of runs: [run_groups] names none, and no two runs share enough passages that others do not retrieve."
            )
        ]
    what = "group of runs" if grouped else "run"
    note = (
        f"Unique: judged passages in the top {result.depth} of this run and of no other run given here. Without: the score"
        " after these judgments are removed."
    )
    if grouped:
        how = "Groups: those of [run_groups] or the sets of [groups]; every other run is a group"
        if left["guessed"].any():
            how = "Groups are guessed: runs that share many passages contributed by no other run; [run_groups] names them"
        note = (
            f"Unique: judged passages in the top {result.depth} of this group's runs and of no other run. Without: the score"
            f" after these judgments are removed. {how}."
        )
    name = "leave_group_out" if grouped else "leave_one_out"
    columns = [*(["group"] if grouped else []), "system", "unique", "unique_relevant", "before", "after", "difference", _PLACE]
    return [
        result_table(result, name, f"{label}, leaving one {what} out", columns, note, rows=part, slug=f"{name}-{metric}")
        for metric, label, part in _by_metric(left)
    ]


# ---------------------------------------------------------------- with judges


def _judged(result: Augmentation, found: Estimated) -> Sequence[Block]:
    """Return the estimates and pairs of every judge, then the sample, and the plan if requested."""
    tables, unit = found.tables, found.unit
    blocks: list[Block] = [Heading(f"What are the scores with human judgments of all {unit}s?", 2)]
    pairs = dict(list(tables["estimate_pairs"].groupby(["judge", "metric"], sort=False)))
    for judge, rows in tables["estimates"].groupby("judge", sort=False):
        row = rows.iloc[0]
        blocks.append(Paragraph(
            f"{judge} judged {counted(int(row['units']), unit)}; {row['judged_units']} of them also have human judgments."
            f" Corrected: estimate for human judgments of all {row['units']}, if the human-judged {unit}s were drawn at random."
        ))  # fmt: skip
        for metric, label, part in _by_metric(rows):
            first = part.iloc[0]
            note = (
                f"Judge only: not an estimate for human judgments. Worth: number of human-judged {unit}s that would be as"
                f" precise without the judge (there are {first['judged_units']}). Weight of the judge:"
                f" {number(first['weight'], 2)}. JSON and CSV have the wider intervals for similar {unit}s."
            )
            note += f" {first['note'][0].upper()}{first['note'][1:]}." if first["note"] else ""
            blocks.append(result_table(
                result, "estimates", f"{label} with {judge}", ["system", "corrected", "human_only", "judge_only", "worth"],
                note,
                rows=part, slug=f"estimates-{judge}-{metric}",
            ))  # fmt: skip
            if (judge, metric) in pairs:
                own = pairs[judge, metric]
                note = f"First − second. p and interval: a single comparison. p adj.: Holm over {counted(len(own), 'pair')}."
                note += f" Shown: the {_SHOWN} smallest p; JSON and CSV have all." if len(own) > _SHOWN else ""
                blocks.append(result_table(
                    result, "estimate_pairs", f"{label} with {judge}: which systems differ?",
                    ["first", "second", "corrected", "human_only", "p", "p_corrected"], note,
                    rows=own.sort_values("p", kind="stable").head(_SHOWN), slug=f"estimate_pairs-{judge}-{metric}",
                ))  # fmt: skip
    if len(tables["sample"]):
        blocks.append(result_table(
            result, "sample", f"Are the human-judged {unit}s a random sample?",
            ["judge", "metric", "judged_mean", "other_mean", "p"],
            f"Mean scores by the judge of the human-judged {unit}s and of the others; p: permutation test. A large p proves"
            " nothing: a selection by human scores is hardly visible here.",
        ))  # fmt: skip
    if "plan" in tables:
        for (judge, metric), part in tables["plan"].groupby(["judge", "metric"], sort=False):
            first = part.iloc[0]
            note = (
                f"Number of {unit}s, of {first['units']}, that need human judgments, including the {first['judged_units']}"
                " that have them; sufficient in 80% of similar studies."
            )
            if part["with_judge"].isna().any():
                note += (
                    " Before a pilot, the value of the judge is unknown: the numbers hold without the judge and assume that"
                    " human scores vary like the judge's."
                )
            blocks.append(result_table(
                result, "plan", f"How many {unit}s for {measure_label(metric)} within ±{first['within']:g} ({judge})?",
                ["system", "with_judge", "people_alone"], note, rows=part, slug=f"plan-{judge}-{metric}",
            ))  # fmt: skip
    return blocks
