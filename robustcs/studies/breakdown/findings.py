"""Verdicts and findings of a breakdown: which component fails more often, and how the rewriters differ from Human."""

from __future__ import annotations

import math
from typing import Any

from robustcs.documents.document import TurnSet, Verdict
from robustcs.documents.headline import Cut, at, headline_cut, shown_cuts
from robustcs.documents.words import (
    component,
    cut_label,
    few_answers,
    in_brackets,
    measure_label,
    number,
    number_interval,
    percent_range,
    points,
    points_interval,
    qa_component,
    system_in_words,
    whole_percent,
)
from robustcs.records.filter import cut_term, field_name, term
from robustcs.statistics.estimate import p_text
from robustcs.studies.breakdown.analysis import Breakdown
from robustcs.studies.breakdown.rewriters import ALPHA, UNKNOWN
from robustcs.wording import counted, many_missing, some_of, verb

#: Largest number of rewriters whose errors a section lists, those with the highest means.
_LISTED = 5


class _Told:
    """Sentences about the errors of one rewriter and of the QA component at one measure and threshold.

    sides
        Component → rows of the table ``blame`` in which it fails significantly more often.
    """

    def __init__(self, result: Breakdown, rewriter: str, cut: Cut):
        self.cut, self.part = cut, qa_component(result.evaluated)
        self.answers = few_answers((rewriter, "human"), result.evaluated)
        self.few = in_brackets(self.answers)
        self.missing = many_missing(result.evaluated.unscored_by)
        self.scored = f"on the {counted(result.evaluated.turns, 'turn')} with all scores"
        self.who = "the rewriter" if rewriter == "qr" else f"the rewriter {rewriter}"
        blame = result.blame[result.blame["rewriter"] == rewriter]
        self.lines = at(
            result.attribution[result.attribution["rewriter"] == rewriter], cut
        ).set_index("cause")
        self.row: Any = next(at(blame, cut).itertuples())
        apart = blame[blame["p_corrected"] <= ALPHA]
        sides = {
            name: apart[apart["difference"] * sign > 0]
            for name, sign in ((self.part, 1), (self.who, -1))
        }
        self.sides = {name: rows for name, rows in sides.items() if len(rows)}

    @property
    def depends(self) -> str:
        """Start of a sentence if each component fails significantly more often somewhere; else empty."""
        metrics = {metric for rows in self.sides.values() for metric in rows["metric"]}
        words = (
            f"Blame depends on the {'threshold' if len(metrics) == 1 else 'measure and threshold'}"
        )
        return words if len(self.sides) > 1 else ""

    def rate(self, cause: str) -> str:
        """Return how often a component fails and, for the one with more errors, whether it fails significantly more often.

        If that depends on the threshold, the sentence starts with it.
        """
        name, other = (self.part, self.who) if cause == "qa" else (self.who, self.part)
        rate = f"{name}{self.few} fails on {whole_percent(self.lines.loc[cause, 'share'])} of turns"
        oracle = " even with the human rewrite" if cause == "qa" else ""
        if self.missing:
            return f"{self.missing}; {self.scored}, {rate}{oracle}"
        if cause != (
            "qa" if self.lines.loc["qa", "share"] >= self.lines.loc["qr", "share"] else "qr"
        ):
            return rate + oracle
        if self.depends:  # one example per component: more would exceed the length of a verdict
            cuts = {side: next(iter(shown_cuts(rows))) for side, rows in self.sides.items()}
            where = (f"{side.removeprefix('the ')}: {cut_label(cut)}" for side, cut in cuts.items())
            return f"{self.depends} ({'; '.join(where)}); {rate}"
        if self.row.p_corrected <= ALPHA:
            return f"{rate}{oracle}, more often than {other} ({_p(self.row)})"
        return (
            f"{rate}; the data do not show whether it or {other} fails more often ({_p(self.row)})"
        )

    def blame(self) -> str:
        """Return which component fails more often here, and by how much; neither if many scores are missing."""
        if self.missing:
            return f"{self.missing}: the data do not show whether {self.part} or {self.who}{self.few} fails more often."
        row, sign = self.row, 1 if self.row.difference > 0 else -1
        family = f"max-T over {counted(row.comparisons, 'comparison')}"
        limits = sorted((sign * row.ci_low, sign * row.ci_high))
        between = "" if math.isnan(row.ci_low) else f"95% CI {points_interval(*limits)}; "
        size = f"{points(abs(row.difference))[1:]} percentage points"
        first, second = (self.part, self.who)[::sign]
        if row.p_corrected <= ALPHA:
            said = f"{_sentence(first)}{self.few} fails more often than {second} at {cut_label(self.cut)}, by {size}"
        else:
            said = f"The data do not show whether {self.part} or {self.who}{self.few} fails more often at"
            said += f" {cut_label(self.cut)}: on these turns, {first} does, by {size}"
        return f"{said} ({between}{_p(row)}, {family})."


def verdicts(result: Breakdown) -> tuple[Verdict, ...]:
    """Return how often the QA component and the best rewriter fail, and what the rewriter loses to Human.

    The verdict on the component with more errors also states whether it fails significantly more often.
    """
    cut = headline_cut(shown_cuts(result.table("bins")))
    best, near, apart, _ = _ranked(result, cut)
    told = _Told(result, best.rewriter, cut)
    found = []
    for cause in ("qa", "qr"):
        line = told.lines.loc[cause]
        basis = f"{line['count']} of {counted(result.evaluated.turns, 'turn')}; correct if {cut_label(cut)}"
        if cause == "qr" and (near or apart) and not told.missing:
            highest = f"{best.rewriter} has the highest mean {measure_label(cut[0])} of {1 + len(near) + len(apart)} rewriters"
            basis += f"; {highest}{f' and ties with {some_of(near, 2)}' if near else ''}"
        between = percent_range(line["ci_low"], line["ci_high"])
        share = float(line["share"])
        turns = _errors(result, cut, best.rewriter, cause)
        found.append(
            Verdict(
                whole_percent(share),
                between,
                _sentence(told.rate(cause)),
                basis,
                share,
                cause,
                turns=turns.where,
                count=turns.count,
                sort=turns.sort,
            )
        )
    return (*found, _lost(result, cut, best, told))


def turns_to_read(result: Breakdown) -> tuple[TurnSet, ...]:
    """Return the errors of each component, the most frequent type of rewriter errors, and where only the rewriter is correct.

    Of several rewriters, those with the highest means.
    """
    cut = headline_cut(shown_cuts(result.table("bins")))
    best, near, apart, _ = _ranked(result, cut)
    names = [best.rewriter, *near, *apart][:_LISTED]
    return (
        *(_errors(result, cut, name, "qr") for name in names),
        *_most_frequent_type(result, cut, best.rewriter),
        _errors(result, cut, best.rewriter, "qa"),
        _gained(result, cut, best.rewriter),
    )


def _errors(result: Breakdown, cut: Cut, rewriter: str, cause: str) -> TurnSet:
    """Return the turns on which a rewriter (``qr``) or the QA component (``qa``) fails, the largest loss first.

    Of the QA component, those on which Human scores lowest come first.
    """
    rows = at(result.attribution, cut)
    rows = rows[(rows["rewriter"] == rewriter) & (rows["cause"] == cause)]
    count = int(rows["count"].iloc[0])
    if cause == "qa":
        name = component(result.evaluated.basis)
        where = _where(result, cut, term("cause", name, system=rewriter))
        return TurnSet(f"{name} errors", where, count, field_name(cut[0], "human"))
    name = "rewriter errors" if rewriter == "qr" else f"rewriter errors of {rewriter}"
    where = _where(result, cut, term("cause", "rewriter", system=rewriter))
    return TurnSet(name, where, count, field_name("loss", rewriter))


def _most_frequent_type(result: Breakdown, cut: Cut, rewriter: str) -> list[TurnSet]:
    """Return the rewriter errors with their most frequent difference from Human; none without texts."""
    rows = at(result.error_types, cut)
    rows = rows[(rows["rewriter"] == rewriter) & (rows["type"] != UNKNOWN) & (rows["errors"] > 0)]
    if not len(rows):
        return []
    row = rows.loc[rows["errors"].idxmax()]
    terms = term("cause", "rewriter", system=rewriter), term("type", row["type"], system=rewriter)
    where, count = _where(result, cut, *terms), int(row["errors"])
    return [TurnSet(f"rewriter errors, {row['type']}", where, count, field_name("loss", rewriter))]


def _gained(result: Breakdown, cut: Cut, rewriter: str) -> TurnSet:
    """Return the turns that a rewriter answers and Human does not, those with the lowest score of Human first."""
    turns = at(result.turns[result.turns["rewriter"] == rewriter], cut)
    count = int(turns["bin"].str.endswith("10").sum())
    terms = term("correct", "yes", system=rewriter), term("correct", "no", system="human")
    who = "QR" if rewriter == "qr" else rewriter
    where = _where(result, cut, *terms)
    return TurnSet(f"{who} correct, Human not", where, count, field_name(cut[0], "human"))


def _where(result: Breakdown, cut: Cut, *terms: str) -> str:
    """Return the filter with all terms; that of answers names its measure, as rankings come first."""
    at_cut = [cut_term(*cut)] if result.evaluated.basis == "answers" else []
    return " ".join([*terms, *at_cut])


def _sentence(text: str) -> str:
    """Return the text with a capital letter, unless it starts with a name."""
    return text[0].upper() + text[1:] if text.startswith("the ") else text


def _p(row: Any) -> str:
    return f"adjusted {p_text(row.p_corrected)}"


def _ranked(result: Breakdown, cut: Cut) -> tuple[Any, list[str], list[str], list[str]]:
    """Return the rewriter with the highest mean, those that tie with it, those that differ significantly, and those not ranked.

    Rewriters that answer less than half of the turns are not ranked, unless all do.
    """
    rows = list(
        at(result.rewriters, cut).sort_values("mean", ascending=False, kind="stable").itertuples()
    )
    few = result.evaluated.few
    left_out = (
        [row for row in rows if row.rewriter in few]
        if any(row.rewriter not in few for row in rows)
        else []
    )
    best, *others = (row for row in rows if row not in left_out)
    near = [row.rewriter for row in others if set(best.letters.split()) & set(row.letters.split())]
    apart = [row.rewriter for row in others if row.rewriter not in near]
    return best, near, apart, [system_in_words(row.rewriter, result.evaluated) for row in left_out]


def _lost(result: Breakdown, cut: Cut, row: Any, told: _Told) -> Verdict:
    """Return what a rewriter, a row of the table ``rewriters``, loses to Human."""
    label, who = measure_label(cut[0]), "the rewriter" if row.rewriter == "qr" else row.rewriter
    few = in_brackets(few_answers((row.rewriter, "human"), result.evaluated))
    loses = row.to_human <= 0
    low, high = sorted(
        (-row.to_human_low, -row.to_human_high) if loses else (row.to_human_low, row.to_human_high)
    )
    size = number(abs(row.to_human), 3)
    if told.missing:
        text = f"{told.missing}; {told.scored}, the mean {label} of {who}{few} is {size} {'below' if loses else 'above'} Human's"
    elif low > 0:
        text = f"{who}{few} {'loses' if loses else 'gains'} {size} {label} {'to' if loses else 'over'} Human"
    else:  # also without an interval
        text = f"the data do not show whether {who} or Human{few} has the higher mean {label} (they differ by {size})"
    between = number_interval(low, high).strip("–")
    turns = result.evaluated.turns
    basis = f"mean over {counted(turns, 'turn')}"
    return Verdict(
        size,
        between,
        _sentence(text),
        basis,
        abs(row.to_human),
        subject="drop",
        turns=_where(result, cut, term("cause", system=row.rewriter)),
        count=turns,
        sort=field_name("loss", row.rewriter),
    )


def finding(result: Breakdown) -> tuple[str, ...]:
    """Return how often each component fails and which fails more often; with several rewriters, first how they compare."""
    cut = headline_cut(shown_cuts(result.table("bins")))
    best, *others = _ranked(result, cut)
    told = _Told(result, best.rewriter, cut)
    said = {}
    for cause, line in told.lines.iterrows():
        between = percent_range(line["ci_low"], line["ci_high"])
        said[cause] = (
            f"{line['count']} ({whole_percent(line['share'])}{between and f', 95% CI {between}'})"
        )
    qr = "QR" if best.rewriter == "qr" else best.rewriter
    turns = counted(result.evaluated.turns, "turn")
    first = f"{told.missing}. Of the {turns} with all scores" if told.missing else f"Of {turns}"
    return (
        *((_of_rewriters(result, cut),) if any(others) and not told.missing else ()),
        f"{first}{in_brackets(f'correct if {cut_label(cut)}', told.answers)}, {told.part} fails on {said['qa']}"
        f" even with the human rewrite, {told.who} fails on {said['qr']}, and {qr} and Human are correct on {said['correct']}.",
        told.blame(),
        f"If {qr} and Human{told.few} were swapped at random in every turn, {told.lines.loc['qr', 'by_chance']:g} turns would"
        " still count as rewriter errors.",
    )


def _of_rewriters(result: Breakdown, cut: Cut) -> str:
    """Return which rewriter has the highest mean, which do not differ from it, and how many turns no rewriter answers."""
    best, near, apart, left_out = _ranked(result, cut)
    between = (
        ""
        if math.isnan(best.mean_low)
        else f", 95% CI {number_interval(best.mean_low, best.mean_high)}"
    )
    rewriters = 1 + len(near) + len(apart)
    parts = [f"It ties with {some_of(near, 3)}"] if near else []
    parts += (
        [f"{some_of(apart, 3)} {verb(len(apart), 'scores', 'score')} significantly lower"]
        if apart
        else []
    )
    parts += [f"{'not' if parts else 'Not'} ranked: {'; '.join(left_out)}"] if left_out else []
    repairs = at(result.repairs, cut)
    none = next(repairs[repairs["answered_by"] == "none"].itertuples())
    return (
        f"{best.rewriter} has the highest mean {measure_label(cut[0])} of {rewriters} rewriters"
        f" ({number(best.mean, 3)}{between}). {'; '.join(parts)} (max-T over"
        f" {counted(rewriters * (rewriters - 1) // 2, 'pair')}). Of the {counted(int(repairs['count'].sum()), 'turn')} that"
        f" Human answers (correct if {cut_label(cut)}), {none.count} ({whole_percent(none.share)})"
        f" {verb(none.count, 'is', 'are')} answered by no rewriter."
    )
