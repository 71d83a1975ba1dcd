"""Tables of a breakdown: Tables 1, 3 and 4 of the error-analysis paper, with intervals and tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from robustcs.documents.bins import CAUSE_TITLES, bin_columns, bin_rules, marks
from robustcs.documents.document import Block, Card, Cards, Heading, Table
from robustcs.documents.headline import Cut, at, headline_cut, shown_cuts
from robustcs.documents.tables import Shown, group_columns, result_table
from robustcs.documents.words import clustered, component, cut_label, measure_label, noted, score, threshold_label
from robustcs.errors import UsageError, refuse_unknown
from robustcs.evaluation.bins import CAUSES, bins_of
from robustcs.lazy import pd
from robustcs.result import Rows, count, number, text
from robustcs.studies.breakdown.analysis import Breakdown
from robustcs.studies.breakdown.rewriters import SIDE_BY_SIDE
from robustcs.studies.breakdown.show_rewriters import (
    CORRECT_IF,
    SLICED,
    best_rewriter,
    overview_table,
    rewriter_names,
    show_costs,
    show_rewriters,
    show_slices,
)
from robustcs.wording import FORMULATION_NAMES, counted


def show(result: Breakdown, details: Sequence[str] = (), names: Sequence[str] = ()) -> tuple[Block, ...]:
    """Return the tables of the rewriter; with several, their comparison and then the tables of those in ``details``.

    names
        Tables that are shown (default: all, with the figures); only these are computed.

    Raises :class:`UsageError` for an unknown rewriter.
    """
    rewriters = rewriter_names(result)
    refuse_unknown(details, rewriters, "rewriter")
    cut = headline_cut(shown_cuts(result.rows("bins")))

    def asked(*tables: str) -> bool:
        return not names or bool({*tables} & {*names})

    def split(chosen: Callable[[], Sequence[str]]) -> list[Block]:
        costs = show_costs(result, cut) if asked("error_types") else []
        return costs + (show_slices(result, cut, chosen()) if asked("slices", "found_slices") else [])

    def sliced() -> Sequence[str]:
        return rewriters if len(rewriters) <= SLICED else list(dict.fromkeys([best_rewriter(result, cut), *details]))

    last = [overview_table(result, cut)] if asked("overview") else []
    if len(rewriters) == 1:
        blocks = [*_tables(result, rewriters, names), *split(lambda: rewriters)]
    else:
        blocks = [*show_rewriters(result)] if asked(*(spec.name for spec in SIDE_BY_SIDE)) else []
        if asked("answerable") and len(result.answerable):
            blocks.append(_answerable(result, result.answerable[result.answerable["rewriter"] == rewriters[0]], ""))
        blocks += split(sliced)
        last += [] if details else _tables(result, rewriters, names)
    for name in details:
        blocks += [Heading(f"Rewriter {name}", 2), *_tables(result, [name], names, f"-{name}")]
    return (*blocks, *(replace(table, asked=True) for table in last))


def _tables(result: Breakdown, rewriters: Sequence[str], names: Sequence[str], slug: str = "") -> list[Table]:
    """Return the tables of one rewriter, those of ``names`` or all; with several, tables with a row for each."""
    several = len(rewriters) > 1
    blocks: dict[str, list[Table]] = {name: [] for name in (*rewriters, counted(len(rewriters), "rewriter"))}
    for name in rewriters if not names or "bins" in names else ():
        blocks[name].append(_bins(result, result.rows("bins", rewriter=name), f"-{name}" if several else slug))
    for table, view in _VIEWS.items():
        if (not names or table in names) and not (several and table == "answerable"):
            rows = result.tables[table]
            rows = rows[rows["rewriter"].isin(rewriters)] if len(rows) else rows
            blocks[counted(len(rewriters), "rewriter")] += [view(result, rows, slug)] if len(rows) else []
    if not several:
        return [table for some in blocks.values() for table in some]
    # no heading names the rewriters, so the captions do
    of = f"{', '.join(map(measure_label, dict(shown_cuts(result.rows('bins')))))}, {result.evaluated.turns} turns"
    return [replace(table, caption=f"{table.caption} {who}, {of}") for who, some in blocks.items() for table in some]


def _of(rows: pd.DataFrame) -> list[Shown]:
    """Return the column with the rewriter's name if there are several rewriters."""
    return ["rewriter"] if rows["rewriter"].nunique() > 1 else []


def _cut_by_cut(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in order of measure and threshold, which the column ``cut`` numbers."""
    return rows.assign(cut=pd.factorize(rows["metric"] + rows["threshold"])[0]).sort_values("cut", kind="stable")


def _by_cut(rows: pd.DataFrame) -> dict[tuple[str, Cut], Any]:
    return {(row.rewriter, (row.metric, row.threshold)): row for row in _cut_by_cut(rows).itertuples()}


def _label(row: Any) -> str:
    several = [] if row.rewriter == "qr" else [row.rewriter]
    return ", ".join([cut_label((row.metric, row.threshold)), *several])


def _told(rows: pd.DataFrame) -> str:
    return noted(dict.fromkeys((_label(row), row.note) for row in rows.itertuples()))


def _bins(result: Breakdown, bins: Rows, slug: str) -> Table:
    known = all(row.unchanged is not None for row in bins)
    names = bins_of(bins)
    (first, mark), *others = bin_columns(names)
    columns: list[Shown] = [(first, lambda row: mark(row) or row), *others]
    for metric, threshold in shown_cuts(bins):
        numbers = [(row.count, row.unchanged or 0) for row in bins if (row.metric, row.threshold) == (metric, threshold)]
        totals = map(sum, zip(*numbers, strict=True))
        cells = [f"{turns} ({unchanged})" if known else f"{turns}" for turns, unchanged in (*numbers, totals)]
        head = count(threshold_label(threshold), group=measure_label(metric))
        columns.append((head, dict(zip((*names, "Total"), cells, strict=True)).__getitem__))
    note = "Horizontal lines separate QA errors, rewriter errors, and turns on which QR and Human are correct."
    if known:
        note += " In brackets: turns whose Human text equals the Original."
    return result_table(
        result, "bins", "Turns per bin: is the answer to each formulation correct?", columns, note,
        rows=(*names, "Total"), rules=(*bin_rules(names), len(names)), slug=f"bins{slug}",
    )  # fmt: skip


def _attribution(result: Breakdown, attribution: pd.DataFrame, slug: str) -> Table:
    lines = {cause: _by_cut(attribution[attribution["cause"] == cause]) for cause in CAUSES}
    keys = list(lines["qa"])
    several = len({name for name, _ in keys}) > 1
    columns: list[Shown] = [(text("Correct if"), lambda key: cut_label(key[1]))]
    columns += [(text("Rewriter"), lambda key: key[0])] if several else []
    for cause in CAUSES:
        share = result.spec("attribution").field("share").called("share")  # three of them side by side fit 80 columns
        columns += group_columns(result, "attribution", CAUSE_TITLES[cause], lines[cause], "count", share)
    changes = (place for place in range(1, len(keys)) if several and keys[place][1] != keys[place - 1][1])
    return result_table(
        result, "attribution", "What causes the errors?", columns,
        f"Shares of all {result.evaluated.turns} turns. {_wilson(result)}{_told(attribution)}",
        rows=keys, rules=changes, slug=f"attribution{slug}",
    )  # fmt: skip


def _wilson(result: Breakdown) -> str:
    units = clustered(result.evaluated.unit)
    return f"In brackets: 95% CI (Wilson intervals{units}, not adjusted for multiple comparisons)."


def _blame(result: Breakdown, blame: pd.DataFrame, slug: str) -> Table:
    errors = result.attribution
    chance = errors[errors["cause"] == "qr"][["rewriter", "metric", "threshold", "by_chance"]]
    columns: list[Shown] = [
        CORRECT_IF, *_of(blame), "qa", "qr", number("by_chance", header="by chance", group="errors").rounded(1),
        *(replace(result.spec("blame").field(name), group="QA − rewriter") for name in ("difference", "p", "p_corrected")),
    ]  # fmt: skip
    note = (
        "By chance: rewriter errors expected if QR and Human were swapped at random in every turn. pp: percentage points of"
        f" all turns. {_mcnemar(result, blame, 'all rewriters, measures and thresholds')}"
    )
    return result_table(
        result, "blame", f"Does the {component(result.evaluated.basis)} or the rewriter fail more often?", columns, note,
        rows=_cut_by_cut(blame.merge(chance)), by="cut" if _of(blame) else None, slug=f"blame{slug}",
    )  # fmt: skip


def _mcnemar(result: Breakdown, rows: pd.DataFrame, family: str) -> str:
    """Return the test of a comparison, its family, and the notes of its rows."""
    numbers = dict(zip(rows["metric"], rows["comparisons"], strict=True))
    over = ", ".join(f"{counted(number, 'comparison')} for {measure_label(name)}" for name, number in numbers.items())
    if len(set(numbers.values())) == 1:
        over = counted(next(iter(numbers.values())), "comparison")
    said = [(_label(row) + (f" ({_pair(row)})" if hasattr(row, "first") else ""), row.note) for row in rows.itertuples()]
    return (
        f"95% CI and p: McNemar's test (mid-p{clustered(result.evaluated.unit)}), not adjusted for multiple comparisons; p"
        f" adj.: max-T over {over} ({family}).{noted(said)}"
    )


def _pair(row: Any) -> str:
    return f"{FORMULATION_NAMES[row.first]}:{FORMULATION_NAMES[row.second]}"


def _answerable(result: Breakdown, answerable: pd.DataFrame, slug: str) -> Table:
    columns: list[Shown] = [(text("Correct if"), lambda key: cut_label(key[1]))]
    answered = (count("answered"), lambda row: f"{row.answered} of {row.answerable}")
    groups = {"all": "all turns", "rewritten": "turns that needed rewriting"}
    for turns, rows in answerable.groupby("turns", sort=False):
        columns += group_columns(result, "answerable", groups[str(turns)], _by_cut(rows), answered, "share")
    return result_table(
        result, "answerable", "How many turns does Original answer without rewriting?", columns,
        f"Shares of the turns that Human answers. {_wilson(result)}{_told(answerable)}",
        rows=list(_by_cut(answerable)), slug=f"answerable{slug}",
    )  # fmt: skip


def _tests(result: Breakdown, tests: pd.DataFrame, slug: str) -> Table:
    columns: list[Shown] = [
        CORRECT_IF, *_of(tests), (text("First:second"), _pair),
        (count("turns"), lambda row: f"{row.only_first}:{row.only_second}"), "difference", "p", "p_corrected",
    ]  # fmt: skip
    note = "Turns: answered only by the first, only by the second. pp: first − second, in percentage points of all turns. "
    note += _mcnemar(result, tests, "all thresholds, pairs and rewriters of a measure")
    return result_table(
        result, "tests", "Does one formulation answer more turns than another?", columns, note,
        rows=_cut_by_cut(tests), by="cut", slug=f"tests{slug}",
    )  # fmt: skip


def _headroom(result: Breakdown, headroom: pd.DataFrame, slug: str) -> Table:
    return result_table(
        result, "headroom", "What would a perfect rewriter gain?",
        [CORRECT_IF, *_of(headroom), "qr", "human", "difference", "gain", "by_chance"],
        "Gain: the increase of QR's mean if every rewriter error got Human's score. It counts only turns on which Human is"
        " ahead, so part of it is noise. Chance: the gain that remains if QR and Human are swapped at random in every turn."
        f" 95% CI: t interval{clustered(result.evaluated.unit)}.{_told(headroom)}",
        rows=_cut_by_cut(headroom), slug=f"headroom{slug}",
    )  # fmt: skip


def _choice(result: Breakdown, choice: pd.DataFrame, slug: str) -> Table:
    return result_table(
        result, "choice", "What is the gain without a threshold?",
        ["metric", *_of(choice), "difference", "gain", "by_chance"],
        "Gain: the increase of QR's mean if every turn got the higher score of QR and Human. Chance: the gain that remains if"
        " QR and Human are swapped at random in every turn. The gain is chance plus half of Human − QR."
        + noted((measure_label(row.metric), row.note) for row in choice.itertuples()),
        rows=choice, slug=f"choice{slug}",
    )  # fmt: skip


#: Table → the function that shows it for some rewriters.
_VIEWS: Mapping[str, Callable[[Breakdown, pd.DataFrame, str], Table]] = {
    "attribution": _attribution, "blame": _blame, "answerable": _answerable, "tests": _tests, "headroom": _headroom,
    "choice": _choice,
}  # fmt: skip


def show_turns(result: Breakdown, bin_: str, cut: Cut | None = None, most: int | None = None) -> Cards:
    """Return the turns of one bin with their scores and texts, for the first rewriter.

    cut
        Measure and threshold (default: the first of the result).
    most
        The number of turns shown: those on which QR and Human differ most (default: all).

    Raises :class:`UsageError` for an unknown bin.
    """
    names = bins_of(result.rows("bins"))
    if bin_ not in names:
        raise UsageError("bad-bin", f"there is no bin {bin_!r}", f"write Original, QR, Human as 0 or 1: {', '.join(names)}")
    turns = result.turns
    first = turns.iloc[0]
    cut = cut or (first["metric"], first["threshold"])
    chosen = at(turns[turns["rewriter"] == first["rewriter"]], cut)
    chosen = chosen[chosen["bin"] == bin_]
    number = len(chosen)
    if most is not None and number > most:
        far = (chosen["human"] - chosen["qr"]).abs().sort_values(ascending=False, kind="stable")
        chosen = chosen.loc[far.index[:most]]
    cards = []
    for _, row in chosen.iterrows():
        known = [role for place, role in enumerate(FORMULATION_NAMES) if bin_[place] != "-"]
        scores = " · ".join(f"{FORMULATION_NAMES[role]} {score(row[role])}" for role in known)
        texts = tuple(
            (FORMULATION_NAMES[role], row[f"{role}_text"] if isinstance(row[f"{role}_text"], str) else "(no text given)")
            for role in FORMULATION_NAMES
        )
        cards.append(Card(f"{row['turn']} · {scores}", texts))
    said = [f"{name} {marks(mark)}" for name, mark in zip(FORMULATION_NAMES.values(), bin_, strict=True) if mark != "-"]
    caption = f"{number} of {result.evaluated.turns} turns in bin {bin_} ({', '.join(said)}), correct if {cut_label(cut)}"
    if len(cards) < number:
        caption += f"; shown: the {len(cards)} with the largest difference between QR and Human"
    return Cards(f"turns-{bin_}", caption, tuple(cards), asked=True)
