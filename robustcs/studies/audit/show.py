"""Show a judge's agreement, bias and reversals as tables and a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from robustcs.documents.document import Block, Figure, Table
from robustcs.documents.drawing import (
    COLUMN_WIDTH,
    INK,
    Drawing,
    Panel,
    letters,
    page_width,
    room,
    round_ticks,
)
from robustcs.documents.headline import headline_measure
from robustcs.documents.tables import Shown, result_table, wide_table
from robustcs.documents.text import shortened
from robustcs.documents.words import clustered, measure_label, noted, number, signed
from robustcs.lazy import pd
from robustcs.studies.audit.analysis import ALL, FOUND, Audit
from robustcs.studies.audit.systems import ALPHA
from robustcs.wording import counted, sentences

#: Maximum numbers of judges with details, and of rows for pairs; JSON and CSV contain all.
_JUDGES, _SHOWN = 3, 10
_METHODS = {"kendall": "Kendall's τ", "tau_ap": "τ AP", "rbo": "RBO"}


def show(result: Audit) -> tuple[Block, ...]:
    """Return tables of agreement, bias and rankings over all judges; details only for a few judges."""
    blocks: list[Block] = [_agreement(result)]
    judges = list(result.bias["judge"].unique())
    if judges:
        blocks += [_bias(result), _figure(result, judges[:_JUDGES])]
    if 0 < len(judges) <= _JUDGES:
        blocks.append(
            wide_table(
                result, "confusion", "Which grades does the judge give?", ["judge", "human"], "model", ["count"],
                "Number of pairs by human grade (rows) and grade of the judge (columns).",
                group="grade of the judge", by="judge"
            )
        )  # fmt: skip
        if (result.bias["slice"] != ALL).any():
            blocks.append(_slices(result))
    if len(result.systems):
        blocks += [_systems(result), _conclusions(result)]
    parts: tuple[tuple[str, str, list[Shown], str], ...] = (
        ("reversals", "Which comparisons of systems change?",
         ["judge", "metric", "first", "second", *(result.spec("reversals").field(f"{side}_difference").bare
                                                  for side in ("human", "judge")), "change"],
         "First minus second. Reversed: opposite order, significant under at least one; swapped: opposite order, significant"
         " under neither; lost: significant only under human judgments; gained: significant only under the judge."),
        ("conflicts", "On which passages do the judges differ most?",
         ["judge", "other", "turn", "document", "grade", "other_grade"],
         "Grades that differ by at least two, largest difference first."),
        ("off_scale", "Grades off the scale", ["judge", "grade", "count", "kept"], ""),
    )  # fmt: skip
    for name, caption, columns, note in parts:
        rows = result.tables[name]
        if name == "conflicts":
            rows = rows.sort_values("difference", key=abs, ascending=False, kind="stable")
        if len(rows):
            blocks.append(
                result_table(result, name, caption, columns, note, rows=rows, most=_SHOWN)
            )
    return tuple(_said(block, result) for block in blocks)


def _said(block: Block, result: Audit) -> Block:
    """Return the block with texts on the reference judge, if a model made the judgments."""
    if isinstance(block, Table):
        return replace(block, caption=result.said(block.caption), note=result.said(block.note))
    if isinstance(block, Figure):
        return replace(block, caption=result.said(block.caption), alt=result.said(block.alt))
    return block


def _agreement(result: Audit) -> Table:
    bare = [
        result.spec("agreement").field(name).bare
        for name in ("kappa_weighted", "kappa_level", "alpha")
    ]
    notes = [
        f"κ: Cohen's κ on all grades, 95% CI{clustered(result.evaluated.unit)}; weighted: quadratic weights; level: relevant"
        f" (≥ {result.evaluated.policy.relevance_level}) or not. α: Krippendorff's, ordinal."
    ]
    for row in result.agreement.itertuples():
        if row.human_only or row.judge_only:
            labels, judgments = (
                counted(row.judge_only, "label"),
                counted(row.human_only, "human judgment"),
            )
            notes.append(
                f"{row.judge}: {labels} without a human judgment, {judgments} without a label."
            )
    columns: list[Shown] = [
        "judge",
        "pairs",
        result.spec("agreement").field("agree").bare,
        "kappa",
        *bare,
    ]
    note = " ".join(notes) + noted((row.judge, row.note) for row in result.agreement.itertuples())
    return result_table(
        result, "agreement", "How well does the judge agree with human judges?", columns, note
    )


def _bias(result: Audit) -> Table:
    note = (
        f"Relevant: grade ≥ {result.evaluated.policy.relevance_level}. Ratio: judge / human. Judge − human: difference of the"
        " mean grades."
    )
    columns = ["judge", "human_share", "judge_share", "ratio", "mean_difference"]
    return result_table(
        result,
        "bias",
        "Does the judge over- or underrate relevance?",
        columns,
        note,
        rows=result.rows("bias", slice=ALL),
    )


def _slices(result: Audit) -> Table:
    """Return the bias of each judge by slice."""
    names = result.bias["slice"]
    rows = result.bias.assign(
        slice=names.str.removeprefix("found by "),
        part=result.bias["judge"] + names.str.split().str[0],
    )
    columns: list[Shown] = [
        "judge",
        "slice",
        "pairs",
        "human_share",
        "judge_share",
        "mean_difference",
    ]
    note = f"By the depth of the turn, and by the runs with the passage in their top {FOUND}."
    return result_table(
        result,
        "bias",
        "Where does the judge err?",
        columns,
        note,
        rows=rows,
        by="part",
        slug="bias-slices",
    )


def _systems(result: Audit) -> Table:
    note = (
        "Value: on these topics. 95% limit: one-sided lower limit for another sample of topics of the same size. There is no"
        " upper limit, because noise lowers the correlation of two rankings."
    )
    return wide_table(
        result, "systems", "Are the systems ranked in the same order?", ["judge", "metric"], "method", ["value", "ci_low"],
        note, heads=_METHODS,
    )  # fmt: skip


def _conclusions(result: Audit) -> Table:
    columns = [
        "judge",
        "metric",
        "pairs",
        "human_apart",
        "judge_apart",
        "reversed",
        "swapped",
        "lost",
        "gained",
    ]
    note = (
        f"Significant: adjusted p ≤ {ALPHA:g} (sign-flip test of whole {result.evaluated.unit}s, max-T over all pairs of"
        " systems of a measure, separately under human judgments and each judge). Opposite order: split by whether the"
        " difference is significant under at least one of the two or under neither."
    )
    note += sentences(result.conclusions["note"])
    return result_table(
        result, "conclusions", "Which conclusions hold under the judge?", columns, note
    )


def _figure(result: Audit, judges: list[str]) -> Figure:
    parts = [
        f"{row.judge}: {number(100 * row.judge_share, 0)}% relevant, human judges {number(100 * row.human_share, 0)}%;"
        f" difference of mean grades {signed(row.mean_difference, 2)}"
        for row in result.rows("bias", slice=ALL)[: len(judges)]
    ]
    more = result.bias["judge"].nunique() - len(judges)
    others = f" The tables contain {counted(more, 'more judge')}." if more else ""
    caption = (
        "Judge compared with human judges. Left: pairs by both grades, shaded by the share of the row. Middle: mean difference"
        f" of grades with 95% CI, over all pairs, by depth of the turn, and by the runs with the passage in their top {FOUND}."
    )
    if len(result.means):
        caption += " Right: mean scores of the systems; lines connect pairs in opposite order."
    words = f"Judges compared with human judges. {'; '.join(parts)}."
    return Figure("audit", caption + others, words, lambda: audit_figure(result, judges))


# ---------------------------------------------------------------- the figure

_COLOUR, _OTHER = "#0b3a66", "#cf5c0c"
# Lengths in inches: a row of the bias, a square, and around them.
_ROW, _SQUARE = 0.14, 1.3
_TOP, _HEAD, _AXIS, _LEFT, _RIGHT = 0.22, 0.2, 0.42, 0.4, 0.12
_NAME = 26  # maximum length of a slice's name, in characters


def audit_figure(result: Audit, judges: Sequence[str]) -> Drawing:
    """Draw one row per judge: both grades, bias (same axis for all judges), and systems if there are runs.

    In a narrow column, bias is below.
    """
    full, top, head, axis, left = page_width(), *map(letters, (_TOP, _HEAD, _AXIS, _LEFT))
    narrow = full <= COLUMN_WIDTH
    square = (full - _RIGHT - 2 * left - 0.1) / 2 if narrow else _SQUARE
    parts = [{name: frame[frame["judge"] == judge] for name, frame in result.tables.items() if "judge" in frame}
             for judge in judges]  # fmt: skip
    ends = [
        value
        for part in parts
        for name in ("mean_difference", "ci_low", "ci_high")
        for value in part["bias"][name]
    ]
    names = [
        [shortened(name, _NAME) for name in part["bias"]["slice"].str.removeprefix("found by ")]
        for part in parts
    ]
    beside = 0.12 + max(map(room, names))
    high = [letters(_ROW) * (len(rows) + 0.6) for rows in names]
    heights = [
        top + head + square + axis + tall + axis
        if narrow
        else top + head + max(tall, square) + axis
        for tall in high
    ]
    drawing = Drawing(full, sum(heights))
    bottom = drawing.height
    for judge, part, rows, tall, height in zip(judges, parts, names, high, heights, strict=True):
        bottom -= height
        up = bottom + height - top - head
        drawing.write(0.04, up + head + top / 2, shortened(judge, 40), 7.5, bold=True)
        panel = drawing.panel(left, up - square, square, square)
        _draw_confusion(panel, part["confusion"])
        panel.y_label = result.said(panel.y_label)
        right = full - _RIGHT - square
        if len(result.means):
            panel = drawing.panel(right, up - square, square, square)
            _draw_systems(panel, part["means"], part["reversals"])
            panel.x_label = result.said(panel.x_label)
        start = beside if narrow else left + square + beside + 0.1
        end = full - _RIGHT if narrow or not len(result.means) else right - left - 0.1
        bias = drawing.panel(start, bottom + axis if narrow else up - max(tall, square), end - start,
                             tall if narrow else max(tall, square))  # fmt: skip
        bias.fit([*ends, 0.0], 0.06)
        _draw_bias(bias, part["bias"], rows)
        bias.x_label = result.said(bias.x_label)
    return drawing


def _draw_confusion(panel: Panel, confusion: pd.DataFrame) -> None:
    counts = confusion.pivot(index="human", columns="model", values="count")
    shares = counts.div(counts.sum(axis=1).where(lambda total: total > 0, 1), axis=0).to_numpy()
    size = len(shares)
    panel.x, panel.y, panel.marked = (-0.5, size - 0.5), (size - 0.5, -0.5), ""
    for row, column in np.ndindex(shares.shape):
        share = float(
            shares[row, column]
        )  # as opacity, so that the figure follows the page's colours
        panel.box(column - 0.5, row + 0.5, column + 0.5, row - 0.5, _COLOUR, alpha=share)
        colour = "white" if share > 0.6 else INK
        panel.write(column, row, f"{counts.iat[row, column]}", 5.5, colour=colour)
    panel.x_ticks, panel.y_ticks = (
        list(enumerate(map(str, names))) for names in (counts.columns, counts.index)
    )
    panel.x_label, panel.y_label = "grade of the judge", "human grade"


def _draw_bias(panel: Panel, bias: pd.DataFrame, names: Sequence[str]) -> None:
    rows = panel.rows(names)
    panel.grid, panel.x_label = "y", "mean grade, judge − human"
    panel.vertical(0, width=0.5, alpha=0.5)
    panel.intervals(bias["ci_low"], bias["ci_high"], rows, _COLOUR, alpha=0.6)
    panel.dots(bias["mean_difference"], rows, _COLOUR, 4.2)


def _draw_systems(panel: Panel, means: pd.DataFrame, reversals: pd.DataFrame) -> None:
    metric = headline_measure(means["metric"])
    scores = means[means["metric"] == metric].set_index("system")[["human", "model"]]
    panel.fit(scores.to_numpy().flat, 0.06)
    panel.y, panel.x_ticks = panel.x, round_ticks(*panel.x, 4)
    panel.y_ticks = panel.x_ticks
    panel.line(panel.x, panel.y, INK, 0.5, alpha=0.4)
    turned = reversals[
        (reversals["metric"] == metric) & reversals["change"].isin(["reversed", "swapped"])
    ]
    for row in turned.itertuples():
        pair = scores.loc[[row.first, row.second]]
        panel.line(pair["human"], pair["model"], _OTHER, 0.6, alpha=0.6)
    panel.dots(scores["human"], scores["model"], _COLOUR, 4.0)
    panel.x_label, panel.y_label, panel.title = (
        "under humans",
        "under the judge",
        measure_label(metric),
    )
