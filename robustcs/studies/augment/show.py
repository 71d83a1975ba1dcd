"""Tables and the figure of new judgments (Table 14 of the ECAsT paper), what-if, leave-one-out and estimates with judges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from robustcs.documents.document import Block, Figure, Heading, Paragraph
from robustcs.documents.forest import best_and_worst, told_left_out
from robustcs.documents.holes import sources_table, tipping_table
from robustcs.documents.panels import (
    BETWEEN,
    EDGE,
    NOTE,
    ROW,
    add_legend,
    dots,
    fit_x,
    fitting,
    intervals,
    name_rows,
    names_and_room,
    panel_grid,
    panel_title,
    tell_left_out,
)
from robustcs.documents.style import COLUMN, FIRST, Width, scaled
from robustcs.documents.tables import Shown, result_table
from robustcs.documents.words import measure_label, noted, number, percent, score
from robustcs.lazy import pd
from robustcs.result import count, text
from robustcs.studies.augment.analysis import ALPHA, Augmentation
from robustcs.studies.augment.whatif import WhatIf
from robustcs.wording import counted, system_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

#: Rows shown of tables that grow with the number of turns or pairs. JSON and CSV have all.
_SHOWN = 10
_METHODS = {"kendall": "Kendall's τ", "tau_ap": "τ AP", "rbo": "RBO"}
_BEFORE = "#7db0da"
_LONGEST_NAME = 28
_LEGEND = 0.16  # inches
_LEAST_PANEL = 0.9  # inches of the smallest panel beside its names
_PLACE: Shown = (
    count("rank"),
    lambda row: (
        f"{row.rank_after}"
        if row.rank_before == row.rank_after
        else f"{row.rank_before} → {row.rank_after}"
    ),
)


def show(result: Augmentation) -> tuple[Block, ...]:
    """Return the blocks of all requested parts: before and after, what-if, leave-one-out, and estimates with judges."""
    blocks: list[Block] = _change(result) if "measures" in result.content else []
    blocks += _what_if(result, result.drawn) if result.drawn else []
    if "leave_one_out" in result.content:
        blocks += [
            Heading("Can the judgments be reused for a new run?", 2),
            *_left_out(result, "leave_one_out"),
        ]
    blocks += _left_out(result, "leave_group_out") if "leave_group_out" in result.content else []
    return (*blocks, *(_judged(result) if "estimates" in result.content else []))


def _by_metric(frame: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame]]:
    """Return every measure with its label and its rows."""
    return [
        (str(name), measure_label(str(name)), part)
        for name, part in frame.groupby("metric", sort=False)
    ]


# ---------------------------------------------------------------- before and after


def _change(result: Augmentation) -> list[Block]:
    unit, measures, conflicts = (
        result.evaluated.unit,
        result.tables["measures"],
        result.tables["conflicts"],
    )
    blocks: list[Block] = [
        Heading("Before and after new judgments", 2),
        result_table(
            result, "files", "New judgments added to the qrels",
            ["file", "judgments", "added", "added_turns", "repeated", "conflicts"],
            "Repeated: judged before with the same grade. Conflicts: judged before with a different grade."
        ),
    ]  # fmt: skip
    if len(conflicts):
        blocks.append(result_table(
            result, "conflicts", "Passages judged twice with different grades", ["turn", "document", "old", "new", "kept"],
            most=_SHOWN,
        ))  # fmt: skip
    blocks += [
        result_table(
            result, "measures", f"{label} before and after", ["system", "before", "after", "difference", "p_corrected", _PLACE],
            f"p adj.: sign-flip test by {unit}, max-T over {counted(len(part), 'run')}. 95% CI: inverts the test of a single"
            f" run; it holds for other {unit}s judged in the same way. Rank: among these runs."
            + noted((system_name(row.system), row.note) for row in part.itertuples()),
            rows=part, slug=f"measures-{metric}"
        )
        for metric, label, part in _by_metric(measures)
    ]  # fmt: skip
    if len(measures):
        told = "; ".join(
            f"{label}: "
            + ", ".join(
                f"{system_name(row.system)} {score(row.before)} to {score(row.after)}"
                for row in part.itertuples()
            )
            for _, label, part in _by_metric(measures)
        )
        parts = [part for _, _, part in _by_metric(measures)]
        ordered = parts[0].sort_values("before", ascending=False, kind="stable")
        left_out = told_left_out(list(ordered["system"]), len(parts), "score before")
        blocks.append(Figure(
            "augment", f"Mean scores before (open) and after (filled) the new judgments.{left_out}",
            f"Mean scores before and after the new judgments. {told}.", lambda width: draw_change(width, measures),
        ))  # fmt: skip
    blocks += [*(_ranking(result) if len(result.tables["ranking"]) else []), *_turns(result)]
    return [*blocks, *sources_table(result, result.depth)]


def _ranking(result: Augmentation) -> list[Block]:
    floor = result.tables["power"]["adjusted_floor"].max()
    blind = f" With so few units, no p can be below {floor:.2g}." if floor > ALPHA else ""
    method: Shown = (text("agreement"), lambda row: _METHODS[row.method])
    return [
        result_table(
            result, "ranking", "Does the ranking of the systems change?", ["metric", method, "value", "ci_low"],
            "1: same ranking before and after, on these turns. τ AP uses the new ranking as the"
            " reference and gives its top more weight. 95% lower limit: one-sided, for the same number of other"
            f" {result.evaluated.unit}s; there is no valid upper limit.",
            by="metric"
        ),
        result_table(
            result, "power", "How many pairs of runs differ significantly?",
            ["metric", "pairs", "adjusted_share_before", "adjusted_share_after"],
            f"Share of pairs with p ≤ {ALPHA:g} in a sign-flip test by {result.evaluated.unit}, adjusted by max-T over all"
            f" pairs of a measure. Pairs without a significant difference are not necessarily equal.{blind}"
        ),
    ]  # fmt: skip


def _turns(result: Augmentation) -> list[Block]:
    note = "Largest in: the run whose score changes most. New grades: rank:grade; empty if only the ideal ranking changed."
    columns: list[Shown] = [
        "turn",
        text("system", header="largest in"),
        "before",
        "after",
        "new_grades",
    ]
    most = result.tables["turns"].drop_duplicates(["metric", "turn"])
    return [
        result_table(result, "turns", f"{label}: turns with the largest changes", columns, note, rows=part, most=_SHOWN,
                     slug=f"turns-{metric}")
        for metric, label, part in _by_metric(most)
    ]  # fmt: skip


def draw_change(width: Width, measures: pd.DataFrame) -> MatplotlibFigure:
    """Draw open dots before and filled dots after, joined by a line: a panel per measure, three to a row.

    Every panel sorts the runs by their score before. A run whose filled dot is to the right of the one above it has overtaken
    that run.
    """
    from matplotlib.lines import Line2D

    panels = [
        (label, part.sort_values("before", ascending=False, kind="stable"))
        for _, label, part in _by_metric(measures)
    ]
    shown = best_and_worst(list(panels[0][1]["system"]), len(panels))
    longest = _LONGEST_NAME // 2 if len(panels) > 1 else _LONGEST_NAME
    _, left = names_and_room(list(measures["system"]), longest)
    body = scaled(ROW) * (len(shown) + 0.6)
    full = COLUMN.inches if len(panels) == 1 else width.inches
    most = min(3, max(1, int(full / (left + _LEAST_PANEL))))
    above = scaled(_LEGEND)
    drawn = panels[: fitting(len(panels), most, body, above + EDGE)]
    gone = len(panels) - len(drawn)
    figure, grid = panel_grid(
        len(drawn),
        width,
        left,
        body,
        above=above,
        below=EDGE + (scaled(NOTE) if gone else 0.0),
        between=left + BETWEEN / 2,
        full=full,
        most=most,
        narrow=most,
    )
    for (title, rows), (axes, _) in zip(drawn, grid, strict=True):
        rows = _best_and_worst_rows(rows, len(panels))
        places = name_rows(axes, names_and_room(list(rows["system"]), longest)[0])
        before, after = rows["before"].to_numpy(), rows["after"].to_numpy()
        panel_title(axes, title, left - EDGE)
        axes.set_xlabel("mean score")
        axes.grid(axis="y")
        fit_x(axes, [*before, *after], 0.06)
        intervals(axes, before, after, places, FIRST, 1.0, alpha=1.0)
        dots(axes, before, places, "white", 3.6, edgecolors=_BEFORE, linewidths=1.0)
        dots(axes, after, places, FIRST)
    look: dict[str, Any] = {"marker": "o", "linestyle": "none", "markeredgewidth": 1.0}
    keys = [
        ("before", Line2D([], [], color="white", markeredgecolor=_BEFORE, markersize=3.6, **look)),
        ("after", Line2D([], [], color=FIRST, markersize=4.2, **look)),
    ]
    height = figure.get_size_inches()[1]
    add_legend(figure, keys, full - 0.05, height - 0.05, align="right")
    tell_left_out(figure, gone)
    return figure


def _best_and_worst_rows(rows: pd.DataFrame, panels: int) -> pd.DataFrame:
    """Return the rows that a page has room for, with an empty one in place of those left out."""
    shown = best_and_worst(list(rows["system"]), panels)
    return rows.set_index("system", drop=False).reindex(shown).assign(system=shown)


# ---------------------------------------------------------------- what if, and leave one out


def _what_if(result: Augmentation, drawn: WhatIf) -> list[Block]:
    gist = (
        f"Unjudged passages in the top {drawn.depth} of at least one run: {drawn.holes:,}. Deeper passages remain unjudged and"
        " count as not relevant."
    )
    if drawn.check:
        tested = f"the 95% intervals covered {percent(drawn.check.coverage)} of the true means and differences"
        tested = (
            "no score changed, so it cannot be tested"
            if math.isnan(drawn.check.coverage)
            else tested
        )
        gist += f" Test of the hole model, with a tenth of your judgments hidden {drawn.check.hidings} times: {tested}."
    moved = drawn.pairs[drawn.pairs["flips"] > 0]
    note = (
        f"Over {drawn.draws} draws of grades; a passage has the same grade in all runs. {len(moved)} of"
        f" {counted(len(drawn.pairs), 'pair')} of runs change places in at least one draw."
    )
    blocks: list[Block] = [
        Heading("What if the unjudged passages were judged?", 2), Paragraph(gist),
        result_table(result, "what_if", "Scores with drawn grades", ["metric", "system", "score", "mean"], note, by="metric"),
    ]  # fmt: skip
    if len(moved):
        closest = moved.sort_values("flips", ascending=False, kind="stable")
        blocks.append(result_table(
            result, "flips", "Could two runs swap ranks?", ["metric", "first", "second", "difference", "mean", "flips"],
            "Difference: first − second. Flips: share of draws with the opposite order.", rows=closest, most=_SHOWN,
        ))  # fmt: skip
    return [*blocks, *tipping_table(result, drawn.tipping)]


def _left_out(result: Augmentation, name: str) -> list[Block]:
    """Return the tables of single runs or of groups of runs."""
    left, grouped = result.tables[name], name == "leave_group_out"
    what, whose = ("group of runs", "this group's runs") if grouped else ("run", "this run")
    note = (
        f"Unique: judged passages in the top {result.depth} of {whose} and of no other run given here. Without: the score after"
        " these judgments are removed."
    )
    if grouped and left["guessed"].any():
        note += " Groups are guessed: runs that share many passages contributed by no other run; [run_groups] names them."
    elif grouped:
        note += (
            " Groups: those of [run_groups] or the sets of [groups]; every other run is a group."
        )
    columns = [
        *(["group"] if grouped else []),
        "system",
        "unique",
        "unique_relevant",
        "before",
        "after",
        "difference",
        _PLACE,
    ]
    return [
        result_table(
            result,
            name,
            f"{label}, leaving one {what} out",
            columns,
            note,
            rows=part,
            slug=f"{name}-{metric}",
        )
        for metric, label, part in _by_metric(left)
    ]


# ---------------------------------------------------------------- with judges


def _judged(result: Augmentation) -> Sequence[Block]:
    """Return the estimates and pairs of every judge, then the sample, and the plan if requested."""
    tables, unit = result.tables, result.judged_unit
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
                blocks.append(result_table(
                    result, "estimate_pairs", f"{label} with {judge}: which systems differ?",
                    ["first", "second", "corrected", "human_only", "p", "p_corrected"], note,
                    rows=own.sort_values("p", kind="stable"), most=_SHOWN, slug=f"estimate_pairs-{judge}-{metric}",
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
                " that have them; sufficient in 80% of similar studies. Before a pilot, the value of the judge is unknown (–),"
                " and the numbers without it assume that human scores vary like the judge's."
            )
            blocks.append(result_table(
                result, "plan", f"How many {unit}s for {measure_label(metric)} within ±{first['within']:g} ({judge})?",
                ["system", "with_judge", "people_alone"], note, rows=part, slug=f"plan-{judge}-{metric}",
            ))  # fmt: skip
    return blocks
