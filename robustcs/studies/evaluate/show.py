"""Means with their letters, pairs where they are few, and one figure of all intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from robustcs.documents.document import Block, Figure, Table
from robustcs.documents.headline import headline_measure
from robustcs.documents.slices import found_table, slices_table
from robustcs.documents.tables import Shown, result_table
from robustcs.documents.words import measure_label, noted, number, number_interval
from robustcs.evaluation.measure import TOTAL, is_averaged
from robustcs.lazy import Drawing, pd
from robustcs.result import score
from robustcs.statistics.effect import EVEN
from robustcs.studies.evaluate.analysis import ALPHA, Evaluation
from robustcs.wording import counted, verb

#: Pairs of a measure up to which all are shown; the letters tell the same of more.
SHOWN = 15
#: Systems of the first screen of a report.
BEST = 10
#: Systems up to which the slices of all are shown.
SLICED = 3


def show(result: Evaluation) -> tuple[Block, ...]:
    """Per measure the means, then its pairs where they are few or a baseline is named; the figure first."""
    tables: list[Block] = [_figure(result)] if means_of(result) else []
    for metric in dict.fromkeys(result.measures["metric"]):
        tables.append(_means(result, metric))
        pairs = _part(result.pairs, metric)
        if len(pairs) and (result.baseline is not None or len(pairs) <= SHOWN):
            tables.append(_pairs(result, metric, pairs))
    return (*tables, *(_slices(result) if means_of(result) else ()))


def means_of(result: Evaluation) -> list[str]:
    """The measures that are means over turns, which alone have intervals and pairs."""
    return [metric for metric in dict.fromkeys(result.measures["metric"]) if is_averaged(metric)]


def _slices(result: Evaluation) -> list[Block]:
    """The slices of every system, or of many those of the best and of the baseline; and what was found."""
    metric = headline_measure(means_of(result))
    label = measure_label(metric)
    names = list(_part(result.measures, metric)["run"])
    blocks: list[Block] = []
    rows = _part(result.slices, metric)
    chosen = names if len(names) <= SLICED else list(dict.fromkeys([names[0], result.baseline or names[0]]))
    for name in chosen if len(rows) else ():
        why = f"The system with the highest mean {label} of" if name == names[0] else "The baseline, one of"
        more = "" if len(chosen) == len(names) else f"{why} {len(names)}; CSV and JSON have all."
        caption, field = f"{name}: {label} by slices of the turns", result.spec("slices").field("value")
        own = rows[rows["run"] == name]
        blocks.append(slices_table(result, own, caption, field, more, f"slices-{name}"))
    if metric in result.tried:
        finds, caption = _part(result.found_slices, metric), f"On which turns is {label} low?"
        blocks.append(found_table(result, finds, caption, "run", "", result.tried[metric], "found-slices"))
    return blocks


def overview(result: Evaluation) -> tuple[Table | Figure, ...]:
    """The headline measure alone: the best systems as a table and as a figure; all of them stand in :func:`show`."""
    if not means_of(result):
        return ()
    metric = headline_measure(means_of(result))
    runs = list(_part(result.measures, metric)["run"])
    cut = f" The {BEST} best of {counted(len(runs), 'system')}." if len(runs) > BEST else ""
    table = _means(result, metric)
    table = replace(
        table, slug="overview", rows=table.rows[:BEST], rules=frozenset(), hint="",
        caption=f"{table.caption}.{cut}" if cut else table.caption,
    )  # fmt: skip
    figure = _figure(result)
    caption = (
        f"Mean {measure_label(metric)} with the 95 % interval for other {result.evaluated.unit}s of this kind.{cut} Intervals"
        " that overlap do not say that two systems are equal."
    )
    best = replace(figure, slug="best", caption=caption, draw=lambda: draw(result, (metric,), runs[:BEST]))
    return table, best


def _part(frame: pd.DataFrame, metric: str) -> pd.DataFrame:
    return frame[frame["metric"] == metric]


def _apart(result: Evaluation, metric: str) -> str:
    """Return ``19 of 66 pairs of systems differ significantly (adjusted p ≤ 0.05, max-T over 66 pairs)``."""
    pairs, family = _part(result.pairs, metric), result.families[metric]
    told = int((pairs["p_corrected"] <= ALPHA).sum())
    return (
        f"{told} of {counted(len(pairs), 'pair')} of systems {verb(told, 'differs', 'differ')} significantly (adjusted p ≤"
        f" {ALPHA:g}, {family.describe('pair')})"
    )


def _means(result: Evaluation, metric: str) -> Table:
    rows = _part(result.measures, metric)
    label, own = f"{measure_label(metric)} of every system", ["turns"] if result.evaluated.own_turns else []
    slug = f"measures-{metric}"
    if not is_averaged(metric):
        total = metric.startswith(TOTAL)
        note = f"{rows['note'].iloc[0].capitalize()}, and pairs of systems are not tested."
        mean = score("value", header="geometric mean")
        value: Shown = (mean.called("total"), lambda row: f"{row.value:,.0f}") if total else mean
        return result_table(result, "measures", label, ["run", value, *own], note, rows=rows, slug=slug)
    columns: list[Shown] = ["run", "value", *own]
    note = f"Intervals are for other {result.evaluated.unit}s of this kind, one system at a time."
    note += " Each mean goes over the run's own turns; pairs compare the turns that both answer." if own else ""
    family, hint = result.families[metric], ""
    if len(family.p):
        note += f" {_apart(result, metric)}."
        if result.baseline is None:
            columns.append("letters")
            note += " Systems that share a letter do not differ significantly, which does not make them equal."
            hint = "--table pairs has every pair." if len(family.p) > SHOWN else ""
    note += f" {family.note[0].upper()}{family.note[1:]}." if family.note else ""
    note += noted((row.run, row.note) for row in rows.itertuples())
    return result_table(result, "measures", label, columns, note, rows=rows, slug=slug, hint=hint)


def _pairs(result: Evaluation, metric: str, rows: pd.DataFrame) -> Table:
    field = result.spec("pairs").field
    of = "" if result.baseline is None else f" from {result.baseline}"
    columns: list[Shown] = [
        *(["first", "second"] if result.baseline is None else ["first"]), "difference", "p_corrected", "effect",
        field("detectable").called("finds", "80 % power"), (field("units_needed").called("needs", "80 % power"), _needed),
    ]  # fmt: skip
    note = (
        f"First minus {result.baseline or 'second'}. The interval is of one comparison;"
        f" p adj.: {result.families[metric].describe('pair')}. Effect: the mean difference in standard deviations of"
        f" {result.evaluated.unit}s. In 80 % of trials such a design finds a true difference"
        f" as large as under “finds”; one as large as here needs so many {result.evaluated.unit}s"
        " (95 % interval; ≥: it has no upper limit)."
    )
    if result.margin is not None:
        columns.append("equivalent")
        note += (
            f" Within margin: the whole interval lies inside ±{result.margin:g}, and no {result.evaluated.unit} carries more"
            f" than {100 * EVEN:.0f} % of the spread; “no” does not say that the difference is larger."
        )
    note += noted((f"{row.first} and {row.second}", row.note) for row in rows.itertuples())
    caption = f"{measure_label(metric)}: which systems differ{of}?"
    return result_table(result, "pairs", caption, columns, note, rows=rows, slug=f"pairs-{metric}")


def _needed(row: Any) -> str:
    """``16 (8–90)``; ``16 (≥ 8)`` without an upper limit; – where nothing is needed or known."""
    if pd.isna(row.units_needed):
        return "–"
    if pd.isna(row.units_needed_low):
        return f"{row.units_needed:,}"
    high = "" if pd.isna(row.units_needed_high) else f"{row.units_needed_high:,}"
    return f"{row.units_needed:,} " + (f"({row.units_needed_low:,}–{high})" if high else f"(≥ {row.units_needed_low:,})")


def _figure(result: Evaluation) -> Figure:
    metrics = means_of(result)
    tested = ": the pairs are tested" if len(result.pairs) else ""
    words = []
    for metric in metrics:
        rows = _part(result.measures, metric)
        best = next(rows.itertuples())
        between = number_interval(best.ci_low, best.ci_high)
        words.append(f"{measure_label(metric)}: {best.run} is highest with {number(best.value, 3)} ({between})")
    return Figure(
        "evaluate",
        f"Means of {counted(result.measures['run'].nunique(), 'system')} over {_over(result)} with"
        f" 95 % intervals for other {result.evaluated.unit}s of this kind. Intervals that overlap do not say that two systems"
        f" are equal{tested}.",
        "Means with intervals. " + "; ".join(words) + ".",
        lambda: draw(result),
    )


def _over(result: Evaluation) -> str:
    """What a mean goes over: ``70 turns``."""
    return "the turns that each answers" if result.evaluated.own_turns else counted(result.evaluated.turns, "turn")


def draw(result: Evaluation, metrics: Sequence[str] = (), runs: Sequence[str] = ()) -> Drawing:
    """The forest plot: one panel per measure, one line per system in the order of the first measure; by default all."""
    from robustcs.documents.forest import MeanPanel, forest

    metrics = metrics or means_of(result)
    runs = runs or list(_part(result.measures, metrics[0])["run"])
    panels = []
    for metric in metrics:
        rows = _part(result.measures, metric).set_index("run").loc[list(runs)]
        low, value, high = (rows[name].to_numpy() for name in ("ci_low", "value", "ci_high"))
        panels.append(MeanPanel(measure_label(metric), low, value, high))
    return forest(runs, panels)
