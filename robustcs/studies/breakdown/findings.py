"""Sentences of a breakdown: who fails more often, what the best rewriter loses, and which rewriters differ."""

from __future__ import annotations

import math
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
from robustcs.statistics.estimate import p_text
from robustcs.studies.breakdown.analysis import Breakdown
from robustcs.studies.breakdown.rewriters import ALPHA
from robustcs.wording import and_more, counted, some_of, verb


class _Told:
    """What is said of a rewriter at a measure and threshold: its errors, and whether it or the QA component fails more often.

    sides
        By who fails more often there, the rows of the blame table in which the two differ: of this measure where it has both.
    """

    def __init__(self, result: Breakdown, rewriter: str, cut: Cut):
        self.cut, self.part, self.who = cut, f"the {component(result.evaluated.basis)}", _who(rewriter)
        blame = result.blame[result.blame["rewriter"] == rewriter]
        self.lines = at(result.attribution[result.attribution["rewriter"] == rewriter], cut).set_index("cause")
        self.row: Any = next(at(blame, cut).itertuples())
        apart = blame[blame["p_corrected"] <= ALPHA]
        for rows in (apart[apart["metric"] == cut[0]], apart):
            sides = {name: rows[rows["difference"] * sign > 0] for name, sign in ((self.part, 1), (self.who, -1))}
            if all(map(len, sides.values())):
                break
        self.sides = {name: side for name, side in sides.items() if len(side)}

    @property
    def depends(self) -> str:
        metrics = {metric for rows in self.sides.values() for metric in rows["metric"]}
        return f"Blame depends on the {'threshold' if len(metrics) == 1 else 'measure and threshold'}"

    def where(self, most: int, said: str = "") -> str:
        """``the ranker at NDCG@3 > 0, qr at NDCG@3 = 1``."""
        found = []
        for name, rows in self.sides.items():
            cuts = [cut_label((row.metric, row.threshold)) for row in rows.itertuples()]
            found.append(f"{name}{said} at {', '.join(cuts[:most])}{and_more(len(cuts), most)}")
        return ", ".join(found)

    def rate(self, cause: str) -> str:
        """How often one of the two fails; of the more frequent one with which fails more often, first if that depends."""
        name, other = (self.part, self.who) if cause == "qa" else (self.who, self.part)
        rate = f"{name} fails {whole_percent(self.lines.loc[cause, 'share'])} of turns"
        oracle = " even with the human rewrite" if cause == "qa" else ""
        if cause != ("qa" if self.lines.loc["qa", "share"] >= self.lines.loc["qr", "share"] else "qr"):
            return rate + oracle
        if len(self.sides) > 1:
            return f"{self.depends} ({self.where(1)}); {rate}"
        if self.row.p_corrected <= ALPHA and self.row.difference:
            return f"{rate}{oracle}, more often than {other} ({_p(self.row)})"
        for rows in self.sides.values():
            p = _p(next(rows.itertuples()))
            return f"{rate}; blame is undecided here, but {self.where(1, ' fails more often')} ({p})"
        return f"{rate}; the data do not show whether it or {other} fails more often ({_p(self.row)})"

    def blame(self) -> tuple[str, ...]:
        """Which of the two fails more often: first whether that depends on the threshold, then by how much here."""
        row, sign = self.row, 1 if self.row.difference > 0 else -1
        family = f"max-T over {counted(row.comparisons, 'comparison')}"
        first, second = (self.part, self.who)[::sign]
        limits = sorted((sign * row.ci_low, sign * row.ci_high))
        between = "" if math.isnan(row.ci_low) else f"95% CI {points_interval(*limits)}; "
        size, here = f"{points(abs(row.difference))[1:]} percentage points", cut_label(self.cut)
        least = 100 * row.detectable
        missed = "" if math.isnan(least) else f"; a true difference below {least:.0f} points may be missed"
        test = f"({between}{_p(row)}, {family})"
        if not row.difference:
            said = f"{_sentence(self.part)} and {self.who} fail equally often at {here} {test}."
        elif row.p_corrected <= ALPHA:
            said = f"{_sentence(first)} fails more often than {second} at {here}, by {size} {test}."
        else:
            said = f"The data do not show whether {self.part} or {self.who} fails more often at {here}: here {first} does, by"
            said += f" {size} {test}{missed}."
        if len(self.sides) < 2:
            return (said,)
        return f"{self.depends}: {self.where(3, ' fails more often')} (adjusted p ≤ {ALPHA:g}, {family}).", said


def verdicts(result: Breakdown) -> tuple[Verdict, ...]:
    """How often the QA component fails, how often the best rewriter does, and what it loses against Human.

    The more frequent error says which of the two fails more often.
    """
    cut = headline_cut(shown_cuts(result.turns))
    best, others = _best(result, cut)
    told = _Told(result, best, cut)
    found = []
    for cause in ("qa", "qr"):
        line = told.lines.loc[cause]
        basis = f"{line['count']} of {result.evaluated.turns} turns; correct: {cut_label(cut)}{others if cause == 'qr' else ''}"
        between = percent_range(line["ci_low"], line["ci_high"])
        share = float(line["share"])
        found.append(Verdict(whole_percent(share), between, _sentence(told.rate(cause)), basis, share, cause))
    return (*found, _lost(result, cut, best))


def _sentence(text: str) -> str:
    """The text with a capital, unless it starts with a name."""
    return text[0].upper() + text[1:] if text.startswith("the ") else text


def _who(rewriter: str) -> str:
    return "the rewriter" if rewriter == "qr" else rewriter


def _p(row: Any) -> str:
    return f"adjusted {p_text(row.p_corrected, 0.0 if row.exact else row.p_floor)}"


def _ranked(result: Breakdown, cut: Cut) -> tuple[Any, list[str], list[str]]:
    """The rewriter with the highest mean, those that do not differ from it, and those that do, as far as that is known."""
    best, *others = at(result.rewriters, cut).sort_values("mean", ascending=False, kind="stable").itertuples()
    own = set(best.letters.split())
    near = [row.rewriter for row in others if own & set(row.letters.split())]
    return best, near, [row.rewriter for row in others if own and row.rewriter not in near]


def _highest(result: Breakdown, cut: Cut) -> str:
    return f"has the highest mean {measure_label(cut[0])} of {len(at(result.rewriters, cut))} rewriters"


def _alike(near: list[str], most: int) -> str:
    return f"{some_of(near, most)} {verb(len(near), 'does', 'do')} not differ significantly from it" if near else ""


def _best(result: Breakdown, cut: Cut) -> tuple[str, str]:
    """The rewriter with the highest mean, and what that says among several."""
    best, near, _ = _ranked(result, cut)
    if len(at(result.rewriters, cut)) == 1:
        return best.rewriter, ""
    parts = [f"; {best.rewriter} {_highest(result, cut)}", _alike(near, 2)]
    return best.rewriter, ", ".join(filter(None, parts))


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
    told = _Told(result, best, cut)
    said = {}
    for cause, line in told.lines.iterrows():
        between = percent_range(line["ci_low"], line["ci_high"])
        said[cause] = f"{line['count']} ({whole_percent(line['share'])}{between and f', 95% CI {between}'})"
    qr = "QR" if best == "qr" else best
    return (
        *((_of_rewriters(result, cut),) if others else ()),
        f"Of {counted(result.evaluated.turns, 'turn')} (correct: {cut_label(cut)}), {told.part} fails {said['qa']} even with"
        f" the human rewrite and {told.who} fails {said['qr']}; {qr} and Human are correct on {said['correct']}.",
        *told.blame(),
        f"If {qr} and Human were swapped at random in every turn, {told.lines.loc['qr', 'by_chance']:g} turns would still count"
        " as rewriter errors.",
    )


def _of_rewriters(result: Breakdown, cut: Cut) -> str:
    """Who is best, who does not differ from the best, and what no rewriter answers."""
    best, near, apart = _ranked(result, cut)
    between = "" if math.isnan(best.mean_low) else f", 95% CI {number_interval(best.mean_low, best.mean_high)}"
    said = f"{best.rewriter} {_highest(result, cut)} ({number(best.mean, 3)}{between})."
    if near or apart:
        rewriters = len(near) + len(apart) + 1
        parts = [_alike(near, 3)] if near else []
        parts += [f"{some_of(apart, 3)} {verb(len(apart), 'scores', 'score')} significantly lower"] if apart else []
        said += f" {'; '.join(parts)} (max-T over {counted(rewriters * (rewriters - 1) // 2, 'pair')})."
    repairs = at(result.repairs, cut)
    none = next(repairs[repairs["answered_by"] == "none"].itertuples())
    return (
        f"{said} No rewriter answers {none.count} of the {counted(int(repairs['count'].sum()), 'turn')} that Human answers"
        f" ({whole_percent(none.share)}; correct: {cut_label(cut)}); on {none.human_fails} further"
        f" {verb(none.human_fails, 'turn', 'turns')} neither Human nor a rewriter is correct."
    )
