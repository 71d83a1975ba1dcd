"""Sentences of a breakdown: who fails more often, what the best rewriter loses, and which rewriters differ."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from robustcs.documents.document import Verdict
from robustcs.documents.headline import Cut, at, headline_cut, shown_cuts
from robustcs.documents.words import (
    component,
    cut_label,
    measure_label,
    number,
    number_interval,
    percent_range,
    points,
    points_interval,
    whole_percent,
)
from robustcs.lazy import pd
from robustcs.statistics.estimate import p_text
from robustcs.studies.breakdown.analysis import Breakdown
from robustcs.studies.breakdown.rewriters import ALPHA
from robustcs.wording import and_more, counted, some_of, verb


def verdicts(result: Breakdown) -> tuple[Verdict, ...]:
    """How often the QA component fails, how often the best rewriter does, and what it loses against Human.

    The more frequent error says which of the two fails more often.
    """
    cut = headline_cut(shown_cuts(result.turns))
    best, others = _best(result, cut)
    lines = at(result.attribution[result.attribution["rewriter"] == best], cut).set_index("cause")
    names = {"qa": f"the {component(result.evaluated.basis)}", "qr": _who(best)}
    leads = "qa" if lines.loc["qa", "share"] >= lines.loc["qr", "share"] else "qr"

    def verdict(cause: str) -> Verdict:
        line = lines.loc[cause]
        share = whole_percent(line["share"])
        rate = f"{names[cause]} fails {share} of turns"
        oracle = " even with the human rewrite" if cause == "qa" else ""
        text = _with_blame(result, best, cut, rate, oracle) if cause == leads else rate + oracle
        return Verdict(
            share, percent_range(line["ci_low"], line["ci_high"]), _sentence(text),
            f"{line['count']} of {result.evaluated.turns} turns; correct: {cut_label(cut)}{others if cause == 'qr' else ''}",
            float(line["share"]), cause,
        )  # fmt: skip

    return verdict("qa"), verdict("qr"), _lost(result, cut, best)


def _sentence(text: str) -> str:
    """The text with a capital, unless it starts with a name."""
    return text[0].upper() + text[1:] if text.startswith("the ") else text


def _who(rewriter: str) -> str:
    return "the rewriter" if rewriter == "qr" else rewriter


def _best(result: Breakdown, cut: Cut) -> tuple[str, str]:
    """The rewriter with the highest mean, and what that says among several."""
    rows = at(result.rewriters, cut).sort_values("mean", ascending=False, kind="stable")
    best, *others = rows.itertuples()
    if not others:
        return best.rewriter, ""
    near = [row.rewriter for row in others if set(row.letters.split()) & set(best.letters.split())]
    said = f"; {best.rewriter} has the highest mean {measure_label(cut[0])} of {len(rows)} rewriters"
    if near:
        said += f", {some_of(near, 2)} {verb(len(near), 'does', 'do')} not differ significantly from it"
    return best.rewriter, said


def _sides(result: Breakdown, rewriter: str, metric: str) -> dict[str, pd.DataFrame]:
    """By who fails more often there, the rows of the blame table in which the two differ: of ``metric`` where it has both."""
    rows = result.blame[(result.blame["rewriter"] == rewriter) & (result.blame["p_corrected"] <= ALPHA)]
    names = {f"the {component(result.evaluated.basis)}": 1, _who(rewriter): -1}
    for part in (rows[rows["metric"] == metric], rows):
        sides = {name: part[part["difference"] * sign > 0] for name, sign in names.items()}
        if all(map(len, sides.values())):
            break
    return {name: side for name, side in sides.items() if len(side)}


def _row(result: Breakdown, rewriter: str, cut: Cut) -> Any:
    return next(at(result.blame[result.blame["rewriter"] == rewriter], cut).itertuples())


def _p(row: Any) -> str:
    return f"adjusted {p_text(row.p_corrected, 0.0 if row.exact else row.p_floor)}"


def _cuts(rows: pd.DataFrame, most: int) -> str:
    names = [cut_label((row.metric, row.threshold)) for row in rows.itertuples()]
    return ", ".join(names[:most]) + and_more(len(names), most)


def _depends(sides: Mapping[str, pd.DataFrame]) -> str:
    metrics = {metric for rows in sides.values() for metric in rows["metric"]}
    return f"Blame depends on the {'threshold' if len(metrics) == 1 else 'measure and threshold'}"


def _with_blame(result: Breakdown, rewriter: str, cut: Cut, rate: str, oracle: str) -> str:
    """``rate`` with which of the two fails more often; that it depends on the threshold stands first."""
    sides, row = _sides(result, rewriter, cut[0]), _row(result, rewriter, cut)
    part = f"the {component(result.evaluated.basis)}"
    other = _who(rewriter) if rate.startswith(part) else part
    if len(sides) > 1:
        where = ", ".join(f"{name} at {_cuts(rows, 1)}" for name, rows in sides.items())
        return f"{_depends(sides)} ({where}); {rate}"
    if row.p_corrected <= ALPHA and row.difference:
        return f"{rate}{oracle}, more often than {other} ({_p(row)})"
    for name, rows in sides.items():
        p = _p(next(rows.itertuples()))
        return f"{rate}; blame is undecided here, but {name} fails more often at {_cuts(rows, 1)} ({p})"
    return f"{rate}; the data do not show whether it or {other} fails more often ({_p(row)})"


def _lost(result: Breakdown, cut: Cut, best: str) -> Verdict:
    row = result.choice[(result.choice["rewriter"] == best) & (result.choice["metric"] == cut[0])].iloc[0]
    label, who = measure_label(cut[0]), _who(best)
    loses = row["difference"] >= 0
    low, high = (row["ci_low"], row["ci_high"]) if loses else (-row["ci_high"], -row["ci_low"])
    size = number(abs(float(row["difference"])), 3)
    if low > 0:
        text = f"{who} {'loses' if loses else 'gains'} {size} {label} {'to' if loses else 'over'} Human"
    else:  # also without an interval
        text = f"the data do not show whether {who} or Human has the higher mean {label} (they differ by {size})"
    between = number_interval(low, high).strip("–")
    basis = f"mean of {result.evaluated.turns} turns"
    return Verdict(size, between, _sentence(text), basis, abs(float(row["difference"])), subject="drop")


def finding(result: Breakdown) -> tuple[str, ...]:
    """What fails how often, with intervals, and which fails more often; of several rewriters how they compare, and the best."""
    cut = headline_cut(shown_cuts(result.turns))
    best, others = _best(result, cut)
    return (*((_of_rewriters(result, cut),) if others else ()), *_of_one(result, best, cut))


def _of_one(result: Breakdown, rewriter: str, cut: Cut) -> tuple[str, ...]:
    lines = at(result.attribution[result.attribution["rewriter"] == rewriter], cut).set_index("cause")
    part, who = f"the {component(result.evaluated.basis)}", _who(rewriter)
    said = {}
    for cause, line in lines.iterrows():
        between = percent_range(line["ci_low"], line["ci_high"])
        said[cause] = f"{line['count']} ({whole_percent(line['share'])}{between and f', 95% CI {between}'})"
    qr = "QR" if rewriter == "qr" else rewriter
    return (
        f"Of {counted(result.evaluated.turns, 'turn')} (correct: {cut_label(cut)}), {part} fails {said['qa']} even with the"
        f" human rewrite and {who} fails {said['qr']}; {qr} and Human are correct on {said['correct']}.",
        *_blame_sentences(result, rewriter, cut),
        f"If {qr} and Human were swapped at random in every turn, {lines.loc['qr', 'by_chance']:g} turns would still count as"
        " rewriter errors.",
    )


def _blame_sentences(result: Breakdown, rewriter: str, cut: Cut) -> tuple[str, ...]:
    """Which of the two fails more often: first whether that depends on the threshold, then by how much at ``cut``."""
    row, sides = _row(result, rewriter, cut), _sides(result, rewriter, cut[0])
    part, who = f"the {component(result.evaluated.basis)}", _who(rewriter)
    family = f"max-T over {counted(row.comparisons, 'comparison')}"
    first, second = (part, who) if row.difference > 0 else (who, part)
    limits = (row.ci_low, row.ci_high) if row.difference > 0 else (-row.ci_high, -row.ci_low)
    between = "" if math.isnan(row.ci_low) else f"95% CI {points_interval(*limits)}; "
    test = f"({between}{_p(row)}, {family})"
    size = points(abs(row.difference))[1:]
    sentences = []
    if len(sides) > 1:
        where = ", ".join(f"{name} fails more often at {_cuts(rows, 3)}" for name, rows in sides.items())
        sentences.append(f"{_depends(sides)}: {where} (adjusted p ≤ {ALPHA:g}, {family}).")
    if not row.difference:
        sentences.append(f"{_sentence(part)} and {who} fail equally often at {cut_label(cut)} {test}.")
    elif row.p_corrected <= ALPHA:
        sentences.append(
            f"{_sentence(first)} fails more often than {second} at {cut_label(cut)}, by {size} percentage points {test}."
        )
    else:
        least = 100 * row.detectable
        missed = "" if math.isnan(least) else f"; a true difference below {least:.0f} points may be missed"
        sentences.append(
            f"The data do not show whether {part} or {who} fails more often at {cut_label(cut)}: here {first} does, by {size}"
            f" percentage points {test}{missed}."
        )
    return tuple(sentences)


def _of_rewriters(result: Breakdown, cut: Cut) -> str:
    """Who is best, who does not differ from the best, and what no rewriter answers."""
    rows = at(result.rewriters, cut).sort_values("mean", ascending=False, kind="stable")
    best, *others = rows.itertuples()
    between = "" if math.isnan(best.mean_low) else f", 95% CI {number_interval(best.mean_low, best.mean_high)}"
    label = measure_label(cut[0])
    said = f"{best.rewriter} has the highest mean {label} of {len(rows)} rewriters ({number(best.mean, 3)}{between})."
    own = set(best.letters.split())
    near = [row.rewriter for row in others if own & set(row.letters.split())]
    apart = [row.rewriter for row in others if own and row.rewriter not in near]
    if own:
        pairs = f"(max-T over {counted(len(rows) * (len(rows) - 1) // 2, 'pair')})"
        parts = [f"{some_of(near, 3)} {verb(len(near), 'does', 'do')} not differ significantly from it"] if near else []
        parts += [f"{some_of(apart, 3)} {verb(len(apart), 'scores', 'score')} significantly lower"] if apart else []
        said += f" {'; '.join(parts)} {pairs}."
    none = next(row for row in at(result.repairs, cut).itertuples() if row.answered_by == "none")
    answerable = int(at(result.repairs, cut)["count"].sum())
    return (
        f"{said} No rewriter answers {none.count} of the {counted(answerable, 'turn')} that Human answers"
        f" ({whole_percent(none.share)}; correct: {cut_label(cut)}); on {none.human_fails} further"
        f" {verb(none.human_fails, 'turn', 'turns')} neither Human nor a rewriter is correct."
    )
