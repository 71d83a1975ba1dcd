"""A breakdown as Tables 1, 3 and 4 of the error-analysis paper print it, with intervals and tests beside them."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from robustcs.documents.bins import BIN_RULES, bin_columns
from robustcs.documents.document import Block, Card, Cards, Heading, Table
from robustcs.documents.headline import Cut, headline_cut
from robustcs.documents.tables import Shown, group_columns, result_table
from robustcs.documents.words import (
    CAUSE_TITLES,
    FORMULATION_NAMES,
    interval,
    marks,
    measure_label,
    noted,
    percent,
    percent_interval,
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
from robustcs.evaluation.bins import BINS, CAUSES
from robustcs.result import count, number, text
from robustcs.statistics.estimate import LEAST_UNITS
from robustcs.studies.breakdown.analysis import Breakdown
from robustcs.wording import counted

#: The level at which two shares are told apart.
ALPHA = 0.05


def show(result: Breakdown) -> tuple[Block, ...]:
    """All tables of a breakdown, rewriter by rewriter."""
    rewriters = list(dict.fromkeys(result.bins["rewriter"]))
    blocks: list[Block] = []
    for rewriter in rewriters:
        tables = {name: frame[frame["rewriter"] == rewriter] for name, frame in result.tables.items()}
        if len(rewriters) > 1:
            blocks.append(Heading(f"Rewriter {rewriter}", 2))
        slug = f"-{rewriter}" if len(rewriters) > 1 else ""
        cuts = shown_cuts(tables["turns"])
        blocks += [
            _bins(result, tables["bins"], cuts, slug),
            _attribution(result, tables["attribution"], cuts, slug),
            _blame(result, tables["blame"], tables["attribution"], slug),
            _answerable(result, tables["answerable"], cuts, slug),
            _tests(result, tables["tests"], slug),
            _headroom(result, tables["headroom"], slug),
            _choice(result, tables["choice"], slug),
        ]
    return tuple(blocks)


def shown_cuts(turns: pd.DataFrame) -> list[Cut]:
    """The (metric, threshold) pairs of the result, each a column of its tables."""
    return list(dict.fromkeys(zip(turns["metric"], turns["threshold"], strict=True)))


def cut_label(cut: Cut) -> str:
    """``NDCG@3 ≥ 0.5``."""
    return f"{measure_label(cut[0])} {threshold_label(cut[1])}"


def _at(frame: pd.DataFrame, cut: Cut) -> pd.DataFrame:
    return frame[(frame["metric"] == cut[0]) & (frame["threshold"] == cut[1])]


_CORRECT_IF: Shown = (text("Correct if"), cut_label)
_INTERVAL: Shown = (number("95 %"), lambda row: share_interval(row.ci_low, row.ci_high, row.units))
_POINTS: Shown = (number("points"), lambda row: points(row.difference))
_POINTS_INTERVAL: Shown = (number("95 %"), lambda row: points_interval(row.ci_low, row.ci_high))
_P: Shown = (number("p"), lambda row: tested_p(row.p, row.p_floor, row.exact))
_GAIN_INTERVAL: Shown = (number("95 %"), lambda row: interval(row.ci_low, row.ci_high))
_HOLM: Shown = (number("Holm"), lambda row: tested_p(row.p_corrected, row.comparisons * row.p_floor, row.exact))


def _by_cut(frame: pd.DataFrame) -> dict[Cut, Any]:
    return {(row.metric, row.threshold): row for row in frame.itertuples()}


def _bins(result: Breakdown, bins: pd.DataFrame, cuts: list[Cut], slug: str) -> Table:
    known = not bins["unchanged"].isna().any()
    (original, mark), *others = bin_columns()
    columns: list[Shown] = [(original, lambda row: mark(row) or row), *others]
    for metric, threshold in cuts:
        part = _at(bins, (metric, threshold))[["count", "unchanged"]]
        numbers = [*part.itertuples(index=False, name=None), tuple(part.sum())]
        cells = [f"{turns} ({unchanged})" if known else f"{turns}" for turns, unchanged in numbers]
        head = count(threshold_label(threshold), group=measure_label(metric))
        columns.append((head, dict(zip((*BINS, "Total"), cells, strict=True)).__getitem__))
    note = "Rows 1–4: errors of the QA component; rows 5–6: of the rewriter; rows 7–8: answered."
    if known:
        note += " In brackets: turns whose Human text equals the Original."
    return result_table(
        result, "bins", "Turns per bin: is the answer to each formulation correct?", columns, note,
        rows=(*BINS, "Total"), rules=(*BIN_RULES, len(BINS)), slug=f"bins{slug}",
    )  # fmt: skip


def _attribution(result: Breakdown, attribution: pd.DataFrame, cuts: list[Cut], slug: str) -> Table:
    columns = [_CORRECT_IF]
    for cause in CAUSES:
        lines = _by_cut(attribution[attribution["cause"] == cause])
        columns += group_columns(
            result, "attribution", CAUSE_TITLES[cause], lines, (count("turns"), lambda row: str(row.count)), "share", _INTERVAL
        )
    turns = _at(attribution, cuts[0])["count"].sum()
    return result_table(
        result, "attribution", "Who is to blame?", columns,
        f"Shares of all {turns} turns. {_wilson(result)}{_too_few(result, attribution)}",
        rows=cuts, slug=f"attribution{slug}",
    )  # fmt: skip


def _wilson(result: Breakdown) -> str:
    return f"95 %: in per cent, Wilson's interval for other {result.evaluated.unit}s of this kind, one share at a time."


def _too_few(result: Breakdown, rows: pd.DataFrame) -> str:
    """What ``K = 3`` in place of an interval means."""
    few = rows["units"][rows["ci_low"].isna()]
    if not len(few):
        return ""
    return f" K = {few.iloc[0]}: too few {result.evaluated.unit}s with such turns for an interval, which needs {LEAST_UNITS}."


def _blame(result: Breakdown, blame: pd.DataFrame, attribution: pd.DataFrame, slug: str) -> Table:
    chance = _by_cut(attribution[attribution["cause"] == "qr"])
    columns: list[Shown] = [
        (text("Correct if"), _label),
        count("qa", header="QA", group="errors"), count("qr", header="rewriter", group="errors"),
        (number("by chance", group="errors"), lambda row: f"{chance[row.metric, row.threshold].by_chance:g}"),
        *_grouped("QA − rewriter"),
    ]  # fmt: skip
    note = (
        "By chance: errors that the rewriter would still have if QR and Human were swapped at random in every turn. Points: of"
        f" per cent of all turns. {_mcnemar(result, blame)}"
    )
    return result_table(
        result, "blame", "Which of the two fails more often?", columns, note, rows=blame, slug=f"blame{slug}"
    )  # fmt: skip


def _label(row: Any) -> str:
    return cut_label((row.metric, row.threshold))


def _grouped(group: str) -> list[Shown]:
    """The columns of a comparison under a common head."""
    pairs = (shown for shown in (_POINTS, _POINTS_INTERVAL, _P, _HOLM) if isinstance(shown, tuple))
    return [(field.called(field.name, group), make) for field, make in pairs]


def _mcnemar(result: Breakdown, rows: pd.DataFrame) -> str:
    """How a comparison was tested, in which family, and what its rows say beside their numbers."""
    families = ", ".join(
        f"{measure_label(metric)}: {comparisons}" for metric, comparisons in
        dict(zip(rows["metric"], rows["comparisons"], strict=True)).items()
    )  # fmt: skip
    labels = [
        _label(row) + (f" ({_pair(row)})" if hasattr(row, "first") else "") for row in rows.itertuples()
    ]  # fmt: skip
    return (
        f"95 % and p: McNemar's test with the {result.evaluated.unit} as unit, mid-p, one comparison at a time; Holm over the"
        f" comparisons of a measure ({families})." + noted(zip(labels, rows["note"], strict=True))
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
        (text("Correct if"), _label), (text("First:second"), _pair),
        (count("turns"), lambda row: f"{row.only_first}:{row.only_second}"), _POINTS, _POINTS_INTERVAL, _P, _HOLM,
    ]  # fmt: skip
    note = f"Turns that only the first or only the second answers, in points first − second. {_mcnemar(result, tests)}"
    return result_table(
        result, "tests", "Does one formulation answer more turns than another?", columns, note,
        rows=tests.assign(cut=tests["metric"] + tests["threshold"]), by="cut", slug=f"tests{slug}",
    )  # fmt: skip


def _headroom(result: Breakdown, headroom: pd.DataFrame, slug: str) -> Table:
    columns: list[Shown] = [
        (text("Correct if"), _label), *(_three(result, "headroom", name) for name in ("qr", "human", "difference", "gain")),
        _GAIN_INTERVAL, _three(result, "headroom", "by_chance"),
    ]  # fmt: skip
    return result_table(
        result, "headroom", "What would a perfect rewriter gain?", columns,
        "Gain: the mean with Human's score in place of QR's wherever the rewriter is to blame, less QR's mean. Only turns where"
        " Human is ahead are picked, so some of it is noise. Chance: the gain that is left if QR and Human are swapped at"
        f" random in every turn. 95 %: of the gain, for other {result.evaluated.unit}s of this kind."
        + noted((_label(row), row.note) for row in headroom.itertuples()),
        rows=headroom, slug=f"headroom{slug}",
    )  # fmt: skip


def _three(result: Breakdown, table: str, name: str) -> Shown:
    """A score or a difference with three decimals, so that a column of an article holds the table."""
    field = result.spec(table).field(name)
    form = signed if field.unit == "difference" else number_text
    return field, lambda row: form(getattr(row, name), 3)


def _choice(result: Breakdown, choice: pd.DataFrame, slug: str) -> Table:
    columns: list[Shown] = [
        (text("Measure"), lambda row: measure_label(row.metric)), _three(result, "choice", "difference"),
        (number("95 %"), lambda row: signed_interval(row.ci_low, row.ci_high)), _three(result, "choice", "gain"),
        (number("95 %"), lambda row: interval(row.gain_low, row.gain_high)), _three(result, "choice", "by_chance"),
    ]  # fmt: skip
    return result_table(
        result, "choice", "And with Human's score wherever it is higher, at no threshold?", columns,
        "Human − QR is the difference of the means; the gain is half of it and what is left by chance."
        + noted((measure_label(row.metric), row.note) for row in choice.itertuples()),
        rows=choice, slug=f"choice{slug}",
    )  # fmt: skip


def show_turns(result: Breakdown, bin_: str, cut: Cut | None = None) -> Cards:
    """The turns of one bin with scores and texts, by the first rewriter; ``cut`` defaults to the result's first.

    Raises :class:`UsageError` for anything that is not a bin.
    """
    if bin_ not in BINS:
        raise UsageError("bad-bin", f"bin {bin_!r}", f"write Original, QR, Human as 0 or 1: {', '.join(BINS)}")
    turns = result.turns
    first = turns.iloc[0]
    cut = cut or (first["metric"], first["threshold"])
    chosen = _at(turns[turns["rewriter"] == first["rewriter"]], cut)
    chosen = chosen[chosen["bin"] == bin_]
    cards = []
    for _, row in chosen.iterrows():
        scores = " · ".join(f"{FORMULATION_NAMES[role]} {score(row[role])}" for role in FORMULATION_NAMES)
        texts = tuple(
            (FORMULATION_NAMES[role], row[f"{role}_text"] if isinstance(row[f"{role}_text"], str) else "(no text given)")
            for role in FORMULATION_NAMES
        )
        cards.append(Card(f"{row['turn']} · {scores}", texts))
    caption = (
        f"{len(cards)} of {result.evaluated.turns} turns in bin {bin_}"
        f" (Original {marks(bin_[0])}, QR {marks(bin_[1])}, Human {marks(bin_[2])}), correct if {cut_label(cut)}"
    )
    return Cards(f"turns-{bin_}", caption, tuple(cards))


def finding(result: Breakdown) -> tuple[str, ...]:
    """Who is to blame, per rewriter, with counts, shares and intervals, and whether that can be told."""
    sentences = []
    for rewriter, rows in result.attribution.groupby("rewriter", sort=False):
        cut = headline_cut(shown_cuts(result.turns[result.turns["rewriter"] == rewriter]))
        part = _at(rows, cut).set_index("cause")
        said = {}
        for cause, line in part.iterrows():
            known = "" if math.isnan(line["ci_low"]) else f", 95 % interval {percent_interval(line['ci_low'], line['ci_high'])}"
            said[cause] = f"{line['count']} ({percent(line['share'])}{known})"
        who = "The rewriter" if rewriter == "qr" else f"The rewriter {rewriter}"
        sentences.append(
            f"Of {result.evaluated.turns} turns, correct if {cut_label(cut)}: {said['correct']} are answered by QR and Human."
            f" {who} is to blame for {said['qr']}, the QA component for {said['qa']}; if QR and Human were swapped at random,"
            f" {part.loc['qr', 'by_chance']:g} turns would still count as errors of the rewriter."
            f" {_verdict(next(_at(result.blame[result.blame['rewriter'] == rewriter], cut).itertuples()))}"
        )
    return tuple(sentences)


def _verdict(row: Any) -> str:
    """Whether it can be told which of the two fails more often."""
    ahead = row.difference > 0
    limits = (row.ci_low, row.ci_high) if ahead else (-row.ci_high, -row.ci_low)
    known = "" if math.isnan(row.ci_low) else f"95 % interval {points_interval(*limits)}; "
    p = tested_p(row.p_corrected, row.comparisons * row.p_floor, row.exact)
    test = f"({known}p {p if p.startswith('<') else f'= {p}'} by Holm over {counted(row.comparisons, 'comparison')})"
    if not row.difference:
        return f"In these turns both fail equally often {test}."
    first, second = ("QA component", "rewriter") if ahead else ("rewriter", "QA component")
    by = f"by {points(abs(row.difference))[1:]} points {test}"
    if row.p_corrected <= ALPHA:
        return f"The {first} fails more often than the {second}, {by}."
    missed = "" if math.isnan(row.detectable) else f"; a true difference below {100 * row.detectable:.0f} may well be missed"
    return f"Which of the two fails more often is open: in these turns it is the {first}, {by}{missed}."
