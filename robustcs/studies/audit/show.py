"""Show a judge's agreement, bias and reversals as tables and a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from robustcs.documents.document import Block, Figure, TableBlock
from robustcs.documents.headline import headline_measure
from robustcs.documents.panels import (
    add_panel,
    dots,
    fit_x,
    fitting_ticks,
    intervals,
    name_rows,
    new_figure,
    panel_title,
    panel_width,
    rectangles,
)
from robustcs.documents.style import FIRST, INK, SECOND, Width, fitted, room, scaled
from robustcs.documents.tables import Shown, result_table, wide_table
from robustcs.documents.text import shortened_names
from robustcs.documents.words import clustered, measure_label, noted, number, signed
from robustcs.lazy import pd
from robustcs.studies.audit.analysis import ALL, FOUND, Audit
from robustcs.studies.audit.systems import ALPHA
from robustcs.wording import counted, sentences

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MatplotlibFigure

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
    if isinstance(block, TableBlock):
        return replace(block, caption=result.said(block.caption), note=result.said(block.note))
    if isinstance(block, Figure):
        return replace(block, caption=result.said(block.caption), alt=result.said(block.alt))
    return block


def _agreement(result: Audit) -> TableBlock:
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


def _bias(result: Audit) -> TableBlock:
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


def _slices(result: Audit) -> TableBlock:
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


def _systems(result: Audit) -> TableBlock:
    note = (
        "Value: on these topics. 95% limit: one-sided lower limit for another sample of topics of the same size. There is no"
        " upper limit, because noise lowers the correlation of two rankings."
    )
    return wide_table(
        result, "systems", "Are the systems ranked in the same order?", ["judge", "metric"], "method", ["value", "ci_low"],
        note, heads=_METHODS,
    )  # fmt: skip


def _conclusions(result: Audit) -> TableBlock:
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
    return Figure(
        "audit", caption + others, words, lambda width: audit_figure(width, result, judges)
    )


# ---------------------------------------------------------------- the figure

# Lengths in inches: a row of the bias, a square, and around them.
_ROW, _SQUARE = 0.14, 1.3
_TOP, _HEAD, _AXIS, _LEFT, _RIGHT = 0.22, 0.2, 0.42, 0.4, 0.12
_BETWEEN = 0.1
_NAME = 26  # maximum length of a slice's name, in characters
_DARK = 0.6  # share above which letters are white


def audit_figure(width: Width, result: Audit, judges: Sequence[str]) -> MatplotlibFigure:
    """Draw one row of panels per judge: both grades, bias (same axis for all judges), and systems if there are runs.

    In a narrow column, bias is below.
    """
    frames = {name: frame for name, frame in result.tables.items() if "judge" in frame}
    parts = [
        {name: frame[frame["judge"] == judge] for name, frame in frames.items()} for judge in judges
    ]
    slices = [
        shortened_names(part["bias"]["slice"].str.removeprefix("found by ").tolist(), _NAME)
        for part in parts
    ]
    bias = [part["bias"][["mean_difference", "ci_low", "ci_high"]].to_numpy() for part in parts]
    limits = [0.0, *np.concatenate(bias).flat]
    top, head, axis, left = map(scaled, (_TOP, _HEAD, _AXIS, _LEFT))
    square = (width.inches - _RIGHT - 2 * left - _BETWEEN) / 2 if width.narrow else _SQUARE
    names = scaled(0.12) + max(map(room, slices))
    tall = [scaled(_ROW) * (len(rows) + 0.6) for rows in slices]
    heights = [
        top + head + axis + (square + high + axis if width.narrow else max(high, square))
        for high in tall
    ]
    figure = new_figure(width.inches, sum(heights))
    bottom = sum(heights)
    for judge, part, rows, high, height in zip(judges, parts, slices, tall, heights, strict=True):
        bottom -= height
        up = bottom + height - top - head
        title = fitted(judge, width.inches - 0.1, bold=True)
        figure.text(
            0.04 / width.inches,
            (up + head + top / 2) / sum(heights),
            title,
            weight="bold",
            va="center",
        )
        grades = add_panel(figure, left, up - square, square, square)
        _draw_confusion(grades, part["confusion"])
        grades.set_ylabel(result.said("human grade"))
        right = width.inches - _RIGHT - square
        if len(result.means):
            systems = add_panel(figure, right, up - square, square, square)
            _draw_systems(systems, part["means"], part["reversals"])
            systems.set_xlabel(result.said("under humans"))
        if width.narrow:
            start, end = names, width.inches - _RIGHT
            low, body = bottom + axis, high
        else:
            start = left + square + names + _BETWEEN
            end = right - left - _BETWEEN if len(result.means) else width.inches - _RIGHT
            body = max(high, square)
            low = up - body
        axes = add_panel(figure, start, low, end - start, body)
        fit_x(axes, limits, 0.06)
        _draw_bias(axes, part["bias"], rows)
        axes.set_xlabel(result.said("mean grade, judge − human"))
    return figure


def _draw_confusion(axes: Axes, confusion: pd.DataFrame) -> None:
    counts = confusion.pivot(index="human", columns="model", values="count")
    totals = counts.sum(axis=1)
    shares = counts.div(totals.where(totals > 0, 1), axis=0).to_numpy(float)
    size = len(shares)
    axes.set(xlim=(-0.5, size - 0.5), ylim=(size - 0.5, -0.5))
    axes.tick_params(length=0)
    rows, columns = (places.ravel() for places in np.indices(shares.shape))
    # as opacity, so that the figure follows the page's colours
    rectangles(
        axes, columns - 0.5, rows + 0.5, columns + 0.5, rows - 0.5, FIRST, alpha=shares.ravel()
    )
    for row, column in zip(rows, columns, strict=True):
        letters = "white" if shares[row, column] > _DARK else INK
        number_of_pairs = f"{counts.iat[row, column]}"
        axes.text(
            column, row, number_of_pairs, size="small", color=letters, ha="center", va="center"
        )
    axes.set_xticks(range(size), map(str, counts.columns))
    axes.set_yticks(range(size), map(str, counts.index))
    axes.set_xlabel("grade of the judge")


def _draw_bias(axes: Axes, bias: pd.DataFrame, names: Sequence[str]) -> None:
    rows = name_rows(axes, names)
    axes.grid(axis="y")
    axes.axvline(0, color=INK, linewidth=0.5, alpha=0.5)
    intervals(axes, bias["ci_low"], bias["ci_high"], rows, FIRST)
    dots(axes, bias["mean_difference"], rows, FIRST, 4.2)


def _draw_systems(axes: Axes, means: pd.DataFrame, reversals: pd.DataFrame) -> None:
    from matplotlib.collections import LineCollection

    metric = headline_measure(means["metric"])
    scores = means[means["metric"] == metric].set_index("system")[["human", "model"]]
    fit_x(axes, scores.to_numpy().flat, 0.06)
    limits = axes.get_xlim()
    ticks = fitting_ticks(*limits, panel_width(axes))
    axes.set_yticks([place for place, _ in ticks], [label for _, label in ticks])
    axes.set_ylim(limits)
    axes.plot(limits, limits, color=INK, linewidth=0.5, alpha=0.4)
    turned = reversals[
        (reversals["metric"] == metric) & reversals["change"].isin(["reversed", "swapped"])
    ]
    pairs = [scores.loc[[row.first, row.second]].to_numpy() for row in turned.itertuples()]
    axes.add_collection(LineCollection(pairs, colors=SECOND, linewidths=0.6, alpha=0.6))
    dots(axes, scores["human"], scores["model"], FIRST, 4.0)
    axes.set_ylabel("under the judge")
    panel_title(axes, measure_label(metric), _LEFT)
