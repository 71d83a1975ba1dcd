"""Tables and figure of evaluate: means with letters, pairs if they are few, and all intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from robustcs.documents.document import Block, Figure, Paragraph, TableBlock
from robustcs.documents.forest import told_left_out
from robustcs.documents.headline import headline_measure
from robustcs.documents.slices import found_table, slices_table
from robustcs.documents.tables import Shown, result_table
from robustcs.documents.words import clustered, measure_label, noted, number, number_interval
from robustcs.evaluation.measure import TOTAL, is_averaged
from robustcs.lazy import pd
from robustcs.result import score
from robustcs.statistics.columns import EVEN
from robustcs.studies.evaluate.analysis import ALPHA, Evaluation, means_of
from robustcs.studies.evaluate.findings import verdicts
from robustcs.studies.evaluate.missing import missing_first, order_is_open
from robustcs.wording import counted, system_name, verb

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

    from robustcs.documents.style import Width

#: Up to this number of pairs, all are shown; for more, the letters show which differ.
SHOWN = 15
#: Number of systems on the first screen of a report.
BEST = 10
#: Up to this number of systems, the slices of all are shown.
SLICED = 3


def show(result: Evaluation, names: Sequence[str] = ()) -> tuple[Block, ...]:
    """Return the claim, the figure and, per measure, the table of means and the table of pairs (if few, or with a baseline).

    names
        Tables that are shown (default: all, with the figure); only these are computed.
    """
    tables: list[Block] = []
    if means_of(result) and not names:
        tables += [*(Paragraph(one.sentence) for one in verdicts(result)), _figure(result)]
    for metric, family in result.families.items():
        tables += [_means(result, metric)] if not names or "measures" in names else []
        few = len(family.p) > 0 and (result.baseline is not None or len(family.p) <= SHOWN)
        if few and (not names or "pairs" in names):
            tables.append(_pairs(result, metric, _part(result.pairs, metric)))
    if len(result.table("fit")) and (not names or "fit" in names):
        tables.append(
            result_table(
                result, "fit", "Do the judgments fit the collection?", result.spec("fit").fields
            )
        )
    sliced = means_of(result) and (not names or {"slices", "found_slices"} & set(names))
    return (*tables, *(_slices(result) if sliced else ()))


def _slices(result: Evaluation) -> list[Block]:
    """Return the tables of slices (with many systems, of the best and of the baseline), and of the slices found."""
    metric = headline_measure(means_of(result))
    label = measure_label(metric)
    names = [row.system for row in result.rows("measures", metric=metric)]
    blocks: list[Block] = []
    rows = _part(result.slices, metric)
    chosen = (
        names
        if len(names) <= SLICED
        else list(dict.fromkeys([names[0], result.baseline or names[0]]))
    )
    for name in chosen if len(rows) else ():
        why = (
            f"the system with the highest mean {label} of"
            if name == names[0]
            else "the baseline, one of"
        )
        more = (
            ""
            if len(chosen) == len(names)
            else f"Shown: {why} {len(names)}; CSV and JSON contain all."
        )
        caption, field = (
            f"{system_name(name)}: {label} by slice",
            result.spec("slices").field("value"),
        )
        own = rows[rows["system"] == name]
        blocks.append(slices_table(result, own, caption, field, more, f"slices-{name}"))
    if metric in result.tried:
        finds, caption = _part(result.found_slices, metric), f"On which turns is {label} low?"
        blocks.append(found_table(result, finds, caption, "system", "", result.tried[metric]))
    return blocks


def overview(result: Evaluation) -> tuple[TableBlock | Figure, ...]:
    """Return a table and a figure of the best systems by the headline measure; :func:`show` contains all systems."""
    if not means_of(result):
        return ()
    metric = headline_measure(means_of(result))
    runs = [row.system for row in result.rows("measures", metric=metric)]
    cut = f" Shown: the {BEST} best of {counted(len(runs), 'system')}." if len(runs) > BEST else ""
    table = _means(result, metric)
    table = replace(
        table, slug="overview", rows=table.rows[:BEST], rules=frozenset(), hint="",
        caption=f"{table.caption}.{cut}" if cut else table.caption,
    )  # fmt: skip
    figure = _figure(result)
    caption = f"Mean {measure_label(metric)} (95% CI{clustered(result.evaluated.unit)}).{cut}{_overlap(len(runs))}"
    best = replace(
        figure,
        slug="best",
        caption=caption,
        draw=lambda width: draw(width, result, (metric,), runs[:BEST]),
    )
    return table, best


def _part(frame: pd.DataFrame, metric: str) -> pd.DataFrame:
    return frame[frame["metric"] == metric]


def _apart(result: Evaluation, metric: str) -> str:
    """Return ``Of 66 pairs of systems, 19 differ significantly (adjusted p ≤ 0.05, max-T over 66 pairs).``

    Pairs with a system that answers less than half of the turns are not counted; empty if there are no others.
    """
    family, few = result.families[metric], result.evaluated.few
    pairs = [
        test for pair, test in result.compared.get(metric, {}).items() if not few.keys() & {*pair}
    ]
    told = sum(test.p <= ALPHA for test in pairs)
    return (
        f" Of {counted(len(pairs), 'pair')} of systems, {told or 'none'} {verb(told or 1, 'differs', 'differ')} significantly"
        f" (adjusted p ≤ {ALPHA:g}, {family.describe('pair')})."
    ) if len(pairs) else ""  # fmt: skip


def _means(result: Evaluation, metric: str) -> TableBlock:
    rows = result.rows("measures", metric=metric)
    label, own = (
        f"{measure_label(metric)} of every system",
        ["turns"] if result.evaluated.own_turns else [],
    )
    slug = f"measures-{metric}"
    if not is_averaged(metric):
        total = metric.startswith(TOTAL)
        note = f"{rows[0].note.capitalize()}, and pairs of systems are not tested."
        mean = score("value", header="geometric mean")
        value: Shown = (mean.called("total"), lambda row: f"{row.value:,.0f}") if total else mean
        return result_table(
            result, "measures", label, ["system", value, *own], note, rows=rows, slug=slug
        )
    columns: list[Shown] = ["system", "value", *own]
    note = f"95% CI: t intervals{clustered(result.evaluated.unit)}, not adjusted for multiple comparisons."
    if any(row.missing for row in rows):
        columns += ["missing", "lowest", "highest"]
        label = f"{missing_first(result, metric)}{label}"
        over = (
            ""
            if own
            else f"Means over the {counted(rows[0].turns, 'turn')} with scores from all systems. "
        )
        note = f"{over}Lowest, highest: means over all turns, with missing scores at either end of the range. {note}"
    note += (
        " Each mean covers the turns that the run answers; pairs compare the turns that both answer."
        if own
        else ""
    )
    family, hint = result.families[metric], ""
    if len(family.p):
        note += _apart(result, metric)
        if result.baseline is None and any(row.letters for row in rows):
            columns.append("letters")
            note += " Systems that share a letter do not differ significantly; this does not show that they are equal."
            hint = "--table pairs lists every pair." if len(family.p) > SHOWN else ""
    note += f" {family.note[0].upper()}{family.note[1:]}." if family.note else ""
    note += noted((system_name(row.system), row.note) for row in rows)
    return result_table(result, "measures", label, columns, note, rows=rows, slug=slug, hint=hint)


def _pairs(result: Evaluation, metric: str, rows: pd.DataFrame) -> TableBlock:
    field = result.spec("pairs").field
    of = "" if result.baseline is None else f" from {system_name(result.baseline)}"
    columns: list[Shown] = [
        *(["first", "second"] if result.baseline is None else ["first"]), "difference", "p_corrected", "effect",
        field("detectable").called("finds", "80% power"), (field("units_needed").called("needs", "80% power"), _needed),
    ]  # fmt: skip
    note = (
        f"Difference: first − {system_name(result.baseline or 'second')}. 95% CI: not adjusted for multiple comparisons; p"
        f" adj.: {result.families[metric].describe('pair')}. Effect: mean difference divided by its standard deviation over"
        f" {result.evaluated.unit}s. 80% power: “finds” is the smallest true difference that these data detect; “needs” is the"
        f" number of {result.evaluated.unit}s that detect a true difference as large as the observed one (95% CI; ≥: no upper"
        " limit)."
    )
    if result.margin is not None:
        columns.append("equivalent")
        note += (
            f" Within margin: the whole interval lies inside ±{result.margin:g}, and no {result.evaluated.unit} accounts for"
            f" more than {100 * EVEN:.0f}% of the spread; “no” does not show that the difference is larger."
        )
    note += noted(
        (f"{system_name(row.first)} and {system_name(row.second)}", row.note)
        for row in rows.itertuples()
    )
    caption = f"{measure_label(metric)}: which systems differ{of}?"
    return result_table(result, "pairs", caption, columns, note, rows=rows, slug=f"pairs-{metric}")


def _needed(row: Any) -> str:
    """Return ``16 (8–90)``; ``16 (≥ 8)`` without an upper limit; – if no number of units is known."""
    if pd.isna(row.units_needed):
        return "–"
    if pd.isna(row.units_needed_low):
        return f"{row.units_needed:,}"
    high = "" if pd.isna(row.units_needed_high) else f"{row.units_needed_high:,}"
    return f"{row.units_needed:,} " + (
        f"({row.units_needed_low:,}–{high})" if high else f"(≥ {row.units_needed_low:,})"
    )


def _figure(result: Evaluation) -> Figure:
    metrics = means_of(result)
    tested = (
        "; the pairs are tested separately"
        if any(len(one.p) for one in result.families.values())
        else ""
    )
    words, systems = [], len({row.system for row in result.rows("measures")})
    for metric in () if result.unordered else metrics:
        best, *_ = result.rows("measures", metric=metric)
        between = number_interval(best.ci_low, best.ci_high)
        highest = "has the mean" if order_is_open(result, metric) else "is highest with"
        words.append(
            f"{measure_label(metric)}: {system_name(best.system)} {highest} {number(best.value, 3)} ({between})"
        )
    left_out = told_left_out(_ranked(result, metrics[0]), len(metrics), measure_label(metrics[0]))
    return Figure(
        "evaluate",
        f"Means of {counted(systems, 'system')} over {_over(result)} (95% CI{clustered(result.evaluated.unit)})."
        f"{_overlap(systems, tested)}{left_out}",
        " ".join(["Means with intervals.", *([f"{'; '.join(words)}."] if words else [])]),
        lambda width: draw(width, result),
    )


def _overlap(systems: int, tested: str = "") -> str:
    return (
        f" Overlapping intervals do not show that two systems are equal{tested}."
        if systems > 1
        else ""
    )


def _over(result: Evaluation) -> str:
    """Return the turns that a mean covers: ``70 turns``."""
    if result.evaluated.own_turns:
        return "the turns that each answers"
    return (
        "the turns with a score of every system"
        if result.evaluated.unscored
        else counted(result.evaluated.turns, "turn")
    )


def draw(
    width: Width, result: Evaluation, metrics: Sequence[str] = (), runs: Sequence[str] = ()
) -> MatplotlibFigure:
    """Draw a forest plot: one panel per measure (default: all), one row per system in the order of the first measure.

    The baseline is marked. Of very many systems, the best and the worst are shown.
    """
    from robustcs.documents.forest import MeanPanel, best_and_worst, forest

    metrics = metrics or means_of(result)
    names = best_and_worst(runs or _ranked(result, metrics[0]), len(metrics))
    panels = []
    for metric in metrics:
        rows = {
            row.system: (row.ci_low, row.value, row.ci_high)
            for row in result.rows("measures", metric=metric)
        }
        unknown = (math.nan, math.nan, math.nan)
        low, value, high = np.array([rows.get(name, unknown) for name in names], dtype=float).T
        panels.append(MeanPanel(measure_label(metric), low, value, high))
    return forest(width, names, panels, marked=[result.baseline or ""])


def _ranked(result: Evaluation, metric: str) -> list[str]:
    """Return the systems from the best to the worst by a measure."""
    return [row.system for row in result.rows("measures", metric=metric)]
