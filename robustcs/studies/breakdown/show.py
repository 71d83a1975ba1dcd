"""Tables of a breakdown: Tables 1, 3 and 4 of the error-analysis paper, with intervals and tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from robustcs.documents.bins import CAUSE_TITLES, bin_columns, bin_rules
from robustcs.documents.document import Block, TableBlock, begun
from robustcs.documents.headline import headline_cut, shown_cuts
from robustcs.documents.tables import Shown, result_table, wide_table
from robustcs.documents.words import (
    clustered,
    component,
    cut_label,
    limits_first,
    measure_label,
    noted,
    threshold_label,
)
from robustcs.evaluation.bins import bins_of
from robustcs.lazy import pd
from robustcs.result import count, number, text
from robustcs.studies.breakdown.analysis import ANY, Breakdown
from robustcs.studies.breakdown.rewriters import SIDE_BY_SIDE
from robustcs.studies.breakdown.show_rewriters import (
    figure,
    rewriter_names,
    show_costs,
    show_rewriters,
    show_slices,
)
from robustcs.wording import FORMULATION_NAMES, counted, many_missing


def show(result: Breakdown, names: Sequence[str] = ()) -> tuple[Block, ...]:
    """Return the tables of the rewriter; with several, their comparison, and the tables of each only if they are named.

    names
        Tables that are shown (default: all, with the figures); only these are computed.
    """
    cut = headline_cut(shown_cuts(result.table("bins")))
    several = len(rewriter_names(result)) > 1

    def wanted(*tables: str) -> bool:
        return not names or bool({*tables} & {*names})

    blocks: list[Block] = [] if names else [figure(result, cut)]
    blocks += show_rewriters(result) if several and wanted(*SIDE_BY_SIDE) else []
    tables = _bins(result) if wanted("bins") else []
    for name, view in _VIEWS.items():
        rows = result.tables[name] if wanted(name) else ()
        tables += [view(result, rows)] if len(rows) else []
    # Original and Human alone determine how many turns Original answers
    blocks += [replace(table, on_request=several and table.of != "answerable") for table in tables]
    blocks += show_costs(result, cut) if wanted("error_types") else []
    blocks += show_slices(result, cut) if wanted("slices", "found_slices") else []
    return begun(blocks, result.misfit, result.unordered)


def _of(rows: pd.DataFrame) -> list[str]:
    """Return the column with the rewriter's name if there are several rewriters."""
    return ["rewriter"] if rows["rewriter"].nunique() > 1 else []


#: Measure and threshold; the rows of :func:`_cut_by_cut` have this column.
_CORRECT = text("correct", header="Correct if")


def _cut_by_cut(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in order of measure and threshold, with the column :data:`_CORRECT`."""
    cuts = zip(rows["metric"], rows["threshold"], strict=True)
    labels = [
        f"{measure_label(cut[0])}, {ANY}" if cut[1] == ANY else cut_label(cut) for cut in cuts
    ]
    return rows.assign(correct=labels, cut=pd.factorize(pd.Series(labels))[0]).sort_values(
        "cut", kind="stable"
    )


def _label(row: Any) -> str:
    return row.correct if row.rewriter == "qr" else f"{row.correct}, {row.rewriter}"


def _told(rows: pd.DataFrame) -> str:
    return noted((_label(row), row.note) for row in rows.itertuples())


def _bins(result: Breakdown) -> list[TableBlock]:
    """Return a table per rewriter."""
    every = result.rows("bins")
    known = all(row.unchanged is not None for row in every)
    names, rewriters = bins_of(every), rewriter_names(result)
    note = "Horizontal lines separate QA errors, rewriter errors, and turns on which QR and Human are correct."
    if known:
        note += " In brackets: turns whose Human text equals the Original."
    tables = []
    for rewriter in rewriters:
        whose, slug = (
            (f"{rewriter}: turns", f"bins-{rewriter}") if len(rewriters) > 1 else ("Turns", "bins")
        )
        (first, mark), *others = bin_columns(names)
        columns: list[Shown] = [(first, lambda row, mark=mark: mark(row) or row), *others]  # type: ignore[misc]
        for metric, threshold in shown_cuts(result.table("bins")):
            rows = result.rows("bins", rewriter=rewriter, metric=metric, threshold=threshold)
            numbers = [(row.count, row.unchanged or 0) for row in rows]
            totals = map(sum, zip(*numbers, strict=True))
            cells = [
                f"{turns} ({unchanged})" if known else f"{turns}"
                for turns, unchanged in (*numbers, totals)
            ]
            head = count(threshold_label(threshold), group=measure_label(metric))
            columns.append((head, dict(zip((*names, "Total"), cells, strict=True)).__getitem__))
        tables.append(result_table(
            result, "bins", f"{whose} per bin: is the answer to each formulation correct?", columns, note,
            rows=(*names, "Total"), rules=(*bin_rules(names), len(names)), slug=slug,
        ))  # fmt: skip
    return tables


def _attribution(result: Breakdown, attribution: pd.DataFrame) -> TableBlock:
    rows = _cut_by_cut(attribution)
    # three of them side by side fit 80 columns
    share = result.spec("attribution").field("share").called("share")
    caption = f"{limits_first(result.evaluated)}What causes the errors?"
    note = (
        f"Shares of all {counted(result.evaluated.turns, 'turn')}. {_wilson(result)}{_told(rows)}"
    )
    return wide_table(
        result, "attribution", caption, [_CORRECT, *_of(rows)], "cause", ["count", share], note,
        rows=rows, heads=CAUSE_TITLES, by="cut",
    )  # fmt: skip


def _wilson(result: Breakdown) -> str:
    units = clustered(result.evaluated.unit)
    return f"In brackets: 95% CI (Wilson intervals{units}, not adjusted for multiple comparisons)."


def _blame(result: Breakdown, blame: pd.DataFrame) -> TableBlock:
    errors = result.attribution
    chance = errors[errors["cause"] == "qr"][["rewriter", "metric", "threshold", "by_chance"]]
    columns: list[Shown] = [
        _CORRECT,
        *_of(blame),
        "qa",
        "qr",
        number("by_chance", header="by chance", group="errors").rounded(1),
    ]
    rows, first = _cut_by_cut(blame.merge(chance)), limits_first(result.evaluated)
    note = (
        "By chance: rewriter errors expected if QR and Human were swapped at random in every turn."
    )
    if many_missing(result.evaluated.unscored_by):
        note += " Not tested: the missing scores could change which errors are more frequent."
        return result_table(
            result, "blame", f"{first}Errors on these turns", columns, note, rows=rows, by="cut"
        )
    compared = ("difference", "p", "p_corrected")
    columns += [
        replace(result.spec("blame").field(name), group="QA − rewriter") for name in compared
    ]
    note += f" pp: percentage points of all turns. {_mcnemar(result, rows, 'all rewriters, measures and thresholds')}"
    return result_table(
        result, "blame", f"{first}Does the {component(result.evaluated.basis)} or the rewriter fail more often?", columns, note,
        rows=rows, by="cut",
    )  # fmt: skip


def _mcnemar(result: Breakdown, rows: pd.DataFrame, family: str) -> str:
    """Return the test of a comparison, its family, and the notes of its rows."""
    numbers = dict(zip(rows["metric"], rows["comparisons"], strict=True))
    over = ", ".join(
        f"{counted(number, 'comparison')} for {measure_label(name)}"
        for name, number in numbers.items()
    )
    if len(set(numbers.values())) == 1:
        over = counted(next(iter(numbers.values())), "comparison")
    said = [
        (_label(row) + (f" ({_pair(row)})" if hasattr(row, "first") else ""), row.note)
        for row in rows.itertuples()
    ]
    return (
        f"95% CI and p: McNemar's test (mid-p{clustered(result.evaluated.unit)}), not adjusted for multiple comparisons; p"
        f" adj.: max-T over {over} ({family}).{noted(said)}"
    )


def _pair(row: Any) -> str:
    return f"{FORMULATION_NAMES[row.first]}:{FORMULATION_NAMES[row.second]}"


def _answerable(result: Breakdown, answerable: pd.DataFrame) -> TableBlock:
    rows = _cut_by_cut(answerable[answerable["rewriter"] == answerable["rewriter"].iloc[0]])
    rows["both"] = [f"{row.answered} of {row.answerable}" for row in rows.itertuples()]
    heads = {"all": "all turns", "rewritten": "turns that needed rewriting"}
    note = f"Shares of the turns that Human answers. {_wilson(result)}"
    note += noted((row.correct, row.note) for row in rows.itertuples())
    return wide_table(
        result, "answerable", "How many turns does Original answer without rewriting?", [_CORRECT], "turns",
        [text("both", header="answered"), "share"], note,
        rows=rows, heads={name: head for name, head in heads.items() if name in set(rows["turns"])},
    )  # fmt: skip


def _tests(result: Breakdown, tests: pd.DataFrame) -> TableBlock:
    rows = _cut_by_cut(tests)
    columns: list[Shown] = [
        _CORRECT, *_of(rows), (text("First:second"), _pair),
        (count("turns"), lambda row: f"{row.only_first}:{row.only_second}"),
    ]  # fmt: skip
    note = "Turns: answered only by the first, only by the second."
    if many_missing(result.evaluated.unscored_by):
        note += " Not tested: the missing scores could change which formulation answers more turns."
        first = limits_first(result.evaluated)
        return result_table(
            result,
            "tests",
            f"{first}Turns that only one formulation answers",
            columns,
            note,
            rows=rows,
            by="cut",
        )
    columns += ["difference", "p", "p_corrected"]
    note += " pp: first − second, in percentage points of all turns. "
    note += _mcnemar(result, rows, "all thresholds, pairs and rewriters of a measure")
    return result_table(
        result,
        "tests",
        "Does one formulation answer more turns than another?",
        columns,
        note,
        rows=rows,
        by="cut",
    )


def _headroom(result: Breakdown, headroom: pd.DataFrame) -> TableBlock:
    rows = _cut_by_cut(headroom)
    return result_table(
        result, "headroom", "What would a perfect rewriter gain?",
        [_CORRECT, *_of(rows), "qr", "human", "difference", "gain", "by_chance"],
        f"Gain: the increase of QR's mean if every rewriter error got Human's score ({ANY}: every turn on which Human's score"
        " is higher). It counts only turns on which Human is ahead, so part of it is noise. Chance: the gain that remains if QR"
        f" and Human are swapped at random in every turn. 95% CI: t interval{clustered(result.evaluated.unit)}.{_told(rows)}",
        rows=rows,
    )  # fmt: skip


#: Table → the function that shows its rows.
_VIEWS: Mapping[str, Callable[[Breakdown, pd.DataFrame], TableBlock]] = {
    "attribution": _attribution, "blame": _blame, "answerable": _answerable, "tests": _tests, "headroom": _headroom,
}  # fmt: skip
