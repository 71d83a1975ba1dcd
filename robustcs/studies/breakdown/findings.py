"""Verdicts and findings of a breakdown: which component fails more often, and how the rewriters differ from Human."""

from __future__ import annotations

import math
from typing import Any

from robustcs.documents.document import Verdict
from robustcs.documents.headline import Cut, at, headline_cut, shown_cuts
from robustcs.documents.words import (
    cut_label,
    measure_label,
    number,
    number_interval,
    percent_range,
    points,
    points_interval,
    qa_component,
    whole_percent,
)
from robustcs.statistics.estimate import p_text
from robustcs.studies.breakdown.analysis import Breakdown
from robustcs.studies.breakdown.rewriters import ALPHA
from robustcs.wording import and_more, counted, some_of, verb


class _Told:
    """Sentences about the errors of one rewriter and of the QA component at one measure and threshold.

    sides
        Component → rows of the table ``blame`` in which it fails significantly more often: of this measure if both
        components have such rows, else of all measures.
    """

    def __init__(self, result: Breakdown, rewriter: str, cut: Cut):
        self.cut, self.part = cut, qa_component(result.evaluated)
        self.who = "the rewriter" if rewriter == "qr" else f"the rewriter {rewriter}"
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

    def rate(self, cause: str) -> str:
        """Return how often a component fails and, for the one with more errors, whether it fails significantly more often.

        If that depends on the threshold, the sentence starts with it.
        """
        name, other = (self.part, self.who) if cause == "qa" else (self.who, self.part)
        rate = f"{name} fails on {whole_percent(self.lines.loc[cause, 'share'])} of turns"
        oracle = " even with the human rewrite" if cause == "qa" else ""
        if cause != ("qa" if self.lines.loc["qa", "share"] >= self.lines.loc["qr", "share"] else "qr"):
            return rate + oracle
        # one example per component: more would exceed the length of a verdict; blame() lists them
        first = {side: next(rows.itertuples()) for side, rows in self.sides.items()}
        if len(first) > 1:
            where = "; ".join(f"{side.removeprefix('the ')}: {_cut(row)}" for side, row in first.items())
            return f"{self.depends} ({where}); {rate}"
        if self.row.p_corrected <= ALPHA and self.row.difference:
            return f"{rate}{oracle}, more often than {other} ({_p(self.row)})"
        for side, row in first.items():
            where = f"but it fails more at {_cut(row)}" if side == name else f"which fails more at {_cut(row)}"
            return f"{rate}; no significant difference from {other}, {where} ({_p(row)})"
        return f"{rate}; the data do not show whether it or {other} fails more often ({_p(self.row)})"

    def blame(self) -> tuple[str, ...]:
        """Return which component fails more often: first whether that depends on the threshold, then by how much here."""
        row, sign = self.row, 1 if self.row.difference > 0 else -1
        family = f"max-T over {counted(row.comparisons, 'comparison')}"
        first, second = (self.part, self.who)[::sign]
        limits = sorted((sign * row.ci_low, sign * row.ci_high))
        between = "" if math.isnan(row.ci_low) else f"95% CI {points_interval(*limits)}; "
        size, here = f"{points(abs(row.difference))[1:]} percentage points", cut_label(self.cut)
        least = 100 * row.detectable
        missed = "" if math.isnan(least) else f" The test may miss a true difference below {least:.0f} percentage points."
        test = f"({between}{_p(row)}, {family})"
        if not row.difference:
            said = f"{_sentence(self.part)} and {self.who} fail equally often at {here} {test}."
        elif row.p_corrected <= ALPHA:
            said = f"{_sentence(first)} fails more often than {second} at {here}, by {size} {test}."
        else:
            said = f"The data do not show whether {self.part} or {self.who} fails more often at {here}: on these turns, {first}"
            said += f" does, by {size} {test}.{missed}"
        if len(self.sides) < 2:
            return (said,)
        where = []
        for name, rows in self.sides.items():
            cuts = [_cut(row) for row in rows.itertuples()]
            where.append(f"{name} fails more often at {', '.join(cuts[:3])}{and_more(len(cuts), 3)}")
        return f"{self.depends}: {'; '.join(where)} (adjusted p ≤ {ALPHA:g}, {family}).", said


def verdicts(result: Breakdown) -> tuple[Verdict, ...]:
    """Return how often the QA component and the best rewriter fail, and what the rewriter loses to Human.

    The verdict on the component with more errors also states whether it fails significantly more often.
    """
    cut = headline_cut(shown_cuts(result.rows("bins")))
    best, others = _best(result, cut)
    told = _Told(result, best, cut)
    found = []
    for cause in ("qa", "qr"):
        line = told.lines.loc[cause]
        basis = (
            f"{line['count']} of {result.evaluated.turns} turns; correct if {cut_label(cut)}{others if cause == 'qr' else ''}"
        )
        between = percent_range(line["ci_low"], line["ci_high"])
        share = float(line["share"])
        found.append(Verdict(whole_percent(share), between, _sentence(told.rate(cause)), basis, share, cause))
    return (*found, _lost(result, cut, best))


def _sentence(text: str) -> str:
    """Return the text with a capital letter, unless it starts with a name."""
    return text[0].upper() + text[1:] if text.startswith("the ") else text


def _cut(row: Any) -> str:
    return cut_label((row.metric, row.threshold))


def _p(row: Any) -> str:
    return f"adjusted {p_text(row.p_corrected, 0.0 if row.exact else row.p_floor)}"


def _ranked(result: Breakdown, cut: Cut) -> tuple[Any, list[str], list[str]]:
    """Return the rewriter with the highest mean, those that do not differ significantly from it, and those that do.

    Both lists are empty if pairs of rewriters were not compared.
    """
    best, *others = at(result.rewriters, cut).sort_values("mean", ascending=False, kind="stable").itertuples()
    own = set(best.letters.split())
    near = [row.rewriter for row in others if own & set(row.letters.split())]
    return best, near, [row.rewriter for row in others if own and row.rewriter not in near]


def _highest(result: Breakdown, cut: Cut) -> str:
    return f"has the highest mean {measure_label(cut[0])} of {len(at(result.rewriters, cut))} rewriters"


def _alike(near: list[str], most: int) -> str:
    return f"{some_of(near, most)} {verb(len(near), 'does', 'do')} not differ significantly from it" if near else ""


def _best(result: Breakdown, cut: Cut) -> tuple[str, str]:
    """Return the rewriter with the highest mean and, if there are several, a clause that says so."""
    best, near, _ = _ranked(result, cut)
    if len(at(result.rewriters, cut)) == 1:
        return best.rewriter, ""
    parts = [f"; {best.rewriter} {_highest(result, cut)}", _alike(near, 2)]
    return best.rewriter, ", ".join(filter(None, parts))


def _lost(result: Breakdown, cut: Cut, best: str) -> Verdict:
    row = result.choice[(result.choice["rewriter"] == best) & (result.choice["metric"] == cut[0])].iloc[0]
    label, who = measure_label(cut[0]), "the rewriter" if best == "qr" else best
    loses = row["difference"] >= 0
    low, high = (row["ci_low"], row["ci_high"]) if loses else (-row["ci_high"], -row["ci_low"])
    size = number(abs(float(row["difference"])), 3)
    if low > 0:
        text = f"{who} {'loses' if loses else 'gains'} {size} {label} {'to' if loses else 'over'} Human"
    else:  # also without an interval
        text = f"the data do not show whether {who} or Human has the higher mean {label} (they differ by {size})"
    between = number_interval(low, high).strip("–")
    basis = f"mean over {counted(result.evaluated.turns, 'turn')}"
    return Verdict(size, between, _sentence(text), basis, abs(float(row["difference"])), subject="drop")


def finding(result: Breakdown) -> tuple[str, ...]:
    """Return how often each component fails and which fails more often; with several rewriters, first how they compare."""
    cut = headline_cut(shown_cuts(result.rows("bins")))
    best, others = _best(result, cut)
    told = _Told(result, best, cut)
    said = {}
    for cause, line in told.lines.iterrows():
        between = percent_range(line["ci_low"], line["ci_high"])
        said[cause] = f"{line['count']} ({whole_percent(line['share'])}{between and f', 95% CI {between}'})"
    qr = "QR" if best == "qr" else best
    return (
        *((_of_rewriters(result, cut),) if others else ()),
        f"Of {counted(result.evaluated.turns, 'turn')} (correct if {cut_label(cut)}), {told.part} fails on {said['qa']} even"
        f" with the human rewrite, {told.who} fails on {said['qr']}, and {qr} and Human are correct on {said['correct']}.",
        *told.blame(),
        f"If {qr} and Human were swapped at random in every turn, {told.lines.loc['qr', 'by_chance']:g} turns would still count"
        " as rewriter errors.",
    )


def _of_rewriters(result: Breakdown, cut: Cut) -> str:
    """Return which rewriter has the highest mean, which do not differ from it, and how many turns no rewriter answers."""
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
        f"{said} Of the {counted(int(repairs['count'].sum()), 'turn')} that Human answers (correct if {cut_label(cut)}),"
        f" {none.count} ({whole_percent(none.share)}) {verb(none.count, 'is', 'are')} answered by no rewriter. On"
        f" {none.human_fails} more {verb(none.human_fails, 'turn', 'turns')}, neither Human nor any rewriter is correct."
    )
