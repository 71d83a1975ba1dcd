"""A breakdown as Tables 1, 3 and 4 of the error-analysis paper print it, with intervals and tests beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from robustcs.documents.bins import bin_columns, bin_rules
from robustcs.documents.document import Block, Card, Cards, Heading, Table
from robustcs.documents.headline import Cut, at, headline_cut, shown_cuts
from robustcs.documents.tables import Shown, group_columns, result_table
from robustcs.documents.words import (
    CAUSE_TITLES,
    FORMULATION_NAMES,
    cut_label,
    interval,
    marks,
    measure_label,
    noted,
    points,
    points_interval,
    score,
    share_interval,
    signed,
    signed_interval,
    tested_p,
    threshold_label,
)
from robustcs.documents.words import number as number_text
from robustcs.errors import UsageError
from robustcs.evaluation.bins import CAUSES, bins_of
from robustcs.lazy import pd
from robustcs.result import count, number, text
from robustcs.statistics.estimate import LEAST_UNITS
from robustcs.studies.breakdown.analysis import Breakdown
from robustcs.studies.breakdown.overview import overview_table
from robustcs.studies.breakdown.show_rewriters import best_rewriter, rewriter_names, show_rewriters
from robustcs.studies.breakdown.show_slices import SLICED, show_costs, show_slices
from robustcs.wording import counted


def show(result: Breakdown, details: Sequence[str] = ()) -> tuple[Block, ...]:
    """The tables of a rewriter; of several their comparison, and then those of the rewriters in ``details``.

    Raises :class:`UsageError` for a rewriter that there is not.
    """
    names = rewriter_names(result)
    for name in details:
        if name not in names:
            raise UsageError("no-such-rewriter", f"no rewriter is named {name!r}", f"there are {', '.join(names)}")
    cut = headline_cut(shown_cuts(result.turns))
    asked = [overview_table(result, cut)]
    if len(names) == 1:
        blocks = [*_tables(result, names), *show_costs(result, cut), *show_slices(result, cut, names)]
    else:
        blocks = [*show_rewriters(result)]
        if len(result.answerable):
            first = result.answerable[result.answerable["rewriter"] == names[0]]
            blocks.append(_answerable(result, first, shown_cuts(result.turns), ""))
        blocks += show_costs(result, cut)
        best = best_rewriter(result, cut)
        blocks += show_slices(result, cut, names if len(names) <= SLICED else list(dict.fromkeys([best, *details])))
        asked += [] if details else _tables(result, names)
    for name in details:
        blocks += [Heading(f"Rewriter {name}", 2), *_tables(result, [name], f"-{name}")]
    return (*blocks, *(replace(table, asked=True) for table in asked))


def _tables(result: Breakdown, names: Sequence[str], slug: str = "") -> list[Table]:
    """The tables of one rewriter; of several, common ones."""
    tables = {
        name: frame[frame["rewriter"].isin(names)] for name, frame in result.tables.items() if "rewriter" in frame.columns
    }
    several = len(names) > 1
    cuts = shown_cuts(tables["turns"])
    own = {name: tables["bins"][tables["bins"]["rewriter"] == name] for name in names}
    blocks = [_bins(result, bins, cuts, f"-{name}" if several else slug) for name, bins in own.items()]
    blocks += [
        _attribution(result, tables["attribution"], slug),
        _blame(result, tables["blame"], tables["attribution"], slug),
    ]
    if len(tables["answerable"]) and not several:
        blocks.append(_answerable(result, tables["answerable"], cuts, slug))
    blocks += [_tests(result, tables["tests"], slug), _headroom(result, tables["headroom"], slug)]
    blocks.append(_choice(result, tables["choice"], slug))
    if not several:
        return blocks
    # such a table stands alone, without a heading that names what it is of
    of = f"{', '.join(map(measure_label, dict(cuts)))}, {result.evaluated.turns} turns"
    whose = [*names, *[counted(len(names), "rewriter")] * (len(blocks) - len(names))]
    return [replace(table, caption=f"{table.caption} {who}, {of}") for table, who in zip(blocks, whose, strict=True)]


def _of(rows: pd.DataFrame) -> list[Shown]:
    """The column that names the rewriter, where there are several."""
    return [(text("Rewriter"), lambda row: row.rewriter)] if rows["rewriter"].nunique() > 1 else []


def _cut_by_cut(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with their cut as a number, all rewriters of a cut beneath each other."""
    return rows.assign(cut=pd.factorize(rows["metric"] + rows["threshold"])[0]).sort_values("cut", kind="stable")


_CORRECT_IF: Shown = (text("Correct if"), cut_label)
_INTERVAL: Shown = (number("95 %"), lambda row: share_interval(row.ci_low, row.ci_high, row.units))
_POINTS: Shown = (number("points"), lambda row: points(row.difference))
_POINTS_INTERVAL: Shown = (number("95 %"), lambda row: points_interval(row.ci_low, row.ci_high))
_P: Shown = (number("p"), lambda row: tested_p(row.p, row.p_floor, row.exact))
_GAIN_INTERVAL: Shown = (number("95 %"), lambda row: interval(row.ci_low, row.ci_high))
_ADJUSTED: Shown = (number("p adj."), lambda row: tested_p(row.p_corrected, row.p_floor, row.exact))


def _by_cut(frame: pd.DataFrame) -> dict[Cut, Any]:
    return {(row.metric, row.threshold): row for row in frame.itertuples()}


def _bins(result: Breakdown, bins: pd.DataFrame, cuts: list[Cut], slug: str) -> Table:
    known = not bins["unchanged"].isna().any()
    names = bins_of(bins)
    (first, mark), *others = bin_columns(names)
    columns: list[Shown] = [(first, lambda row: mark(row) or row), *others]
    for metric, threshold in cuts:
        part = at(bins, (metric, threshold))[["count", "unchanged"]]
        numbers = [*part.itertuples(index=False, name=None), tuple(part.sum())]
        cells = [f"{turns} ({unchanged})" if known else f"{turns}" for turns, unchanged in numbers]
        head = count(threshold_label(threshold), group=measure_label(metric))
        columns.append((head, dict(zip((*names, "Total"), cells, strict=True)).__getitem__))
    note = "Between the rules: the bins that add up to QA errors, to rewriter errors, and to QR and Human correct."
    if known:
        note += " In brackets: turns whose Human text equals the Original."
    return result_table(
        result, "bins", "Turns per bin: is the answer to each formulation correct?", columns, note,
        rows=(*names, "Total"), rules=(*bin_rules(names), len(names)), slug=f"bins{slug}",
    )  # fmt: skip


def _attribution(result: Breakdown, attribution: pd.DataFrame, slug: str) -> Table:
    lines: dict[str, dict[tuple[str, str, str], Any]] = {}
    for row in _cut_by_cut(attribution).itertuples():
        lines.setdefault(row.cause, {})[row.rewriter, row.metric, row.threshold] = row
    keys = list(lines["qa"])
    several = len({key[0] for key in keys}) > 1
    columns: list[Shown] = [(text("Correct if"), lambda key: cut_label(key[1:]))]
    columns += [(text("Rewriter"), lambda key: key[0])] if several else []
    for cause in CAUSES:
        columns += group_columns(
            result, "attribution", CAUSE_TITLES[cause], lines[cause], (count("turns"), lambda row: str(row.count)), "share",
            _INTERVAL,
        )  # fmt: skip
    changes = (place for place in range(1, len(keys)) if several and keys[place][1:] != keys[place - 1][1:])
    return result_table(
        result, "attribution", "Who is to blame?", columns,
        f"Shares of all {result.evaluated.turns} turns. {_wilson(result)}{_too_few(result, attribution)}",
        rows=keys, rules=changes, slug=f"attribution{slug}",
    )  # fmt: skip


def _wilson(result: Breakdown) -> str:
    return f"95 %: in per cent, Wilson's interval for other {result.evaluated.unit}s of this kind, one share at a time."


def _too_few(result: Breakdown, rows: pd.DataFrame) -> str:
    """What ``K = 3`` in place of an interval means."""
    few = rows["units"][rows["ci_low"].isna()]
    if not len(few):
        return ""
    rests = f"the share rests on only {counted(int(few.iloc[0]), result.evaluated.unit)}"
    return f" K = {few.iloc[0]}: {rests}; an interval needs at least {LEAST_UNITS}."


def _blame(result: Breakdown, blame: pd.DataFrame, attribution: pd.DataFrame, slug: str) -> Table:
    errors = attribution[attribution["cause"] == "qr"].itertuples()
    chance = {(row.rewriter, row.metric, row.threshold): row.by_chance for row in errors}
    columns: list[Shown] = [
        (text("Correct if"), _label), *_of(blame),
        count("qa", header="QA", group="errors"), count("qr", header="rewriter", group="errors"),
        (number("by chance", group="errors"), lambda row: f"{chance[row.rewriter, row.metric, row.threshold]:g}"),
        *_grouped("QA − rewriter"),
    ]  # fmt: skip
    note = (
        "By chance: errors that the rewriter would still have if QR and Human were swapped at random in every turn. Points: of"
        f" per cent of all turns. {_mcnemar(result, blame, 'all rewriters, measures and thresholds')}"
    )
    several = blame["rewriter"].nunique() > 1
    return result_table(
        result, "blame", "Which of the two fails more often?", columns, note, rows=_cut_by_cut(blame),
        by="cut" if several else None, slug=f"blame{slug}",
    )  # fmt: skip


def _label(row: Any) -> str:
    return cut_label((row.metric, row.threshold))


def _grouped(group: str) -> list[Shown]:
    """The columns of a comparison under a common head."""
    pairs = (shown for shown in (_POINTS, _POINTS_INTERVAL, _P, _ADJUSTED) if isinstance(shown, tuple))
    return [(field.called(field.name, group), make) for field, make in pairs]


def _mcnemar(result: Breakdown, rows: pd.DataFrame, family: str) -> str:
    """How a comparison was tested, in which family, and what its rows say beside their numbers."""
    numbers = dict(zip(rows["metric"], rows["comparisons"], strict=True))
    if len(set(numbers.values())) == 1:
        over = counted(next(iter(numbers.values())), "comparison")
    else:
        over = ", ".join(f"{counted(number, 'comparison')} for {measure_label(name)}" for name, number in numbers.items())
    labels = [
        ", ".join([_label(row), *([row.rewriter] if rows["rewriter"].nunique() > 1 else [])])
        + (f" ({_pair(row)})" if hasattr(row, "first") else "")
        for row in rows.itertuples()
    ]
    return (
        f"95 % and p: McNemar's test with the {result.evaluated.unit} as unit, mid-p, one comparison at a time; p adj.:"
        f" adjusted by max-T over {over} ({family})." + noted(zip(labels, rows["note"], strict=True))
    )


def _pair(row: Any) -> str:
    return f"{FORMULATION_NAMES[row.first]}:{FORMULATION_NAMES[row.second]}"


def _answerable(result: Breakdown, answerable: pd.DataFrame, cuts: list[Cut], slug: str) -> Table:
    columns = [_CORRECT_IF]
    for turns, group in {"all": "all turns", "rewritten": "turns that needed rewriting"}.items():
        if lines := _by_cut(answerable[answerable["turns"] == turns]):
            answered = (count("answered"), lambda row: f"{row.answered} of {row.answerable}")
            columns += group_columns(result, "answerable", group, lines, answered, "share", _INTERVAL)
    return result_table(
        result, "answerable", "How much does the Original question answer alone?", columns,
        f"Out of the turns that the Human question answers. {_wilson(result)}{_too_few(result, answerable)}",
        rows=cuts, slug=f"answerable{slug}",
    )  # fmt: skip


def _tests(result: Breakdown, tests: pd.DataFrame, slug: str) -> Table:
    columns: list[Shown] = [
        (text("Correct if"), _label), *_of(tests), (text("First:second"), _pair),
        (count("turns"), lambda row: f"{row.only_first}:{row.only_second}"), _POINTS, _POINTS_INTERVAL, _P, _ADJUSTED,
    ]  # fmt: skip
    note = "Turns that only the first or only the second answers, in points first − second. "
    note += _mcnemar(result, tests, "all thresholds, pairs and rewriters of a measure")
    return result_table(
        result, "tests", "Does one formulation answer more turns than another?", columns, note,
        rows=_cut_by_cut(tests), by="cut", slug=f"tests{slug}",
    )  # fmt: skip


def _headroom(result: Breakdown, headroom: pd.DataFrame, slug: str) -> Table:
    columns: list[Shown] = [
        (text("Correct if"), _label), *_of(headroom),
        *(_three(result, "headroom", name) for name in ("qr", "human", "difference", "gain")),
        _GAIN_INTERVAL, _three(result, "headroom", "by_chance"),
    ]  # fmt: skip
    return result_table(
        result, "headroom", "What would a perfect rewriter gain?", columns,
        "Gain: the mean with Human's score in place of QR's wherever the rewriter is to blame, less QR's mean. Only turns where"
        " Human is ahead are picked, so some of it is noise. Chance: the gain that is left if QR and Human are swapped at"
        f" random in every turn. 95 %: of the gain, for other {result.evaluated.unit}s of this kind."
        + noted((_label(row), row.note) for row in headroom.itertuples()),
        rows=_cut_by_cut(headroom), slug=f"headroom{slug}",
    )  # fmt: skip


def _three(result: Breakdown, table: str, name: str) -> Shown:
    """A score or a difference with three decimals, so that a column of an article holds the table."""
    field = result.spec(table).field(name)
    form = signed if field.unit == "difference" else number_text
    return field, lambda row: form(getattr(row, name), 3)


def _choice(result: Breakdown, choice: pd.DataFrame, slug: str) -> Table:
    columns: list[Shown] = [
        (text("Measure"), lambda row: measure_label(row.metric)), *_of(choice), _three(result, "choice", "difference"),
        (number("95 %"), lambda row: signed_interval(row.ci_low, row.ci_high)), _three(result, "choice", "gain"),
        (number("95 %"), lambda row: interval(row.gain_low, row.gain_high)), _three(result, "choice", "by_chance"),
    ]  # fmt: skip
    return result_table(
        result, "choice", "And with Human's score wherever it is higher, at no threshold?", columns,
        "Human − QR is the difference of the means; the gain is half of it and what is left by chance."
        + noted((measure_label(row.metric), row.note) for row in choice.itertuples()),
        rows=choice, slug=f"choice{slug}",
    )  # fmt: skip


def show_turns(result: Breakdown, bin_: str, cut: Cut | None = None, most: int | None = None) -> Cards:
    """The turns of one bin with scores and texts, by the first rewriter; ``cut`` defaults to the result's first.

    ``most``: so many of them, those in which QR and Human differ most.

    Raises :class:`UsageError` for anything that is not a bin.
    """
    names = bins_of(result.bins)
    if bin_ not in names:
        raise UsageError("bad-bin", f"bin {bin_!r}", f"write Original, QR, Human as 0 or 1: {', '.join(names)}")
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
        caption += f"; the {len(cards)} in which QR and Human differ most"
    return Cards(f"turns-{bin_}", caption, tuple(cards), asked=True)
