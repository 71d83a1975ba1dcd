"""A gate for continuous integration: every case of a condition fails, passes or cannot be decided.

The one-sided null hypothesis of a case is that the mean drop (or the growth of a share of errors) is at most the limit. All
cases of one call are one family (:func:`robustcs.statistics.families.max_t`). The decision follows this order:

0. If many scores of a file are missing (:mod:`robustcs.studies.compare.missing`), or if the judgments no longer fit the
   passages (:mod:`robustcs.studies.compare.fit`), the gate cannot tell. If new passages are unjudged, step 1 also needs the
   test on the turns whose top is judged in both states.
1. If the test rejects the null hypothesis, the case fails, even if there are other problems.
2. If the data have a structural problem, or the drop is above the limit but not significant, the gate cannot tell.
3. Otherwise the case passes.

A condition ``no worse`` is stricter: it passes only if the 95% CI excludes a larger drop. Since all of its cases must pass,
these intervals need no adjustment (Berger 1982).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.outcomes import OUTCOMES
from robustcs.evaluation.thresholds import parse_threshold
from robustcs.lazy import pd
from robustcs.messages import Message, OptionName
from robustcs.policy import Grouping
from robustcs.statistics import Floats, Mask
from robustcs.statistics.columns import columns_of
from robustcs.statistics.completed import completed_intervals
from robustcs.statistics.estimate import p_text
from robustcs.statistics.families import max_t
from robustcs.statistics.sign_flip import DRAWS, Subsets, paired_tests
from robustcs.studies.compare.changes import ROUNDING, Aligned
from robustcs.studies.compare.fit import JudgmentFit, lost_line, new_line, on_judged, to_judge
from robustcs.studies.compare.fit import figures as columns_of_fit
from robustcs.wording import counted

Outcome = Literal["failed", "cannot tell", "passed"]
Evidence = Literal["test", "expected", "bounds"]
#: The rule on missing scores or judgments that decided a case, if any.
UndecidedRule = Literal["missing scores", "no fit", "new passages", ""]
#: The worst first.
DECISIONS: tuple[Outcome, ...] = ("failed", "cannot tell", "passed")

#: Sign patterns for each draw of the hole model.
_PATTERNS = 9_999
#: Reason for cases without bounds.
NO_BOUNDS = "the effect of unjudged passages is unknown"
_GROWS = {"qa": "QA errors", "qr": "rewriter errors"} | {
    name: f"outcome {name.replace('_', ' ')}" for name in OUTCOMES
}


#: Adjusted p-values up to this are significant.
ALPHA = 0.05

_CONDITION = re.compile(
    r"(?:(?P<metric>[^\s:]+)?(?::(?P<run>\S+))?\s+)?(?P<what>drop|p|qa|qr|OUTCOMES)"
    r"\s*(?P<operator>[<>])\s*(?P<value>[0-9]*\.?[0-9]+)".replace("OUTCOMES", "|".join(OUTCOMES))
)


@dataclass(frozen=True)
class Condition:
    """One condition of a gate.

    text
        The condition as written.
    what
        ``drop``: fails if the mean score drops by more than ``value``. ``p``: fails if it drops with an adjusted p below
        ``value``. ``qa``, ``qr`` or an outcome of answers, such as ``made_up``: fails if the share of turns with a QA error, a
        rewriter error or this outcome grows by more than ``value``. ``no worse``: passes only if the interval excludes a drop
        of more than ``value``.
    metric, run
        The only measure or run that the condition covers; None for all.
    """

    text: str
    what: str
    value: float
    metric: str | None = None
    run: str | None = None

    @property
    def limit(self) -> float:
        """The largest drop, or growth of a share, that the condition allows."""
        return 0.0 if self.what == "p" else self.value

    def rejects(self, p: float) -> bool:
        """Return whether an adjusted p of the null hypothesis fails the condition."""
        return p < self.value if self.what == "p" else p <= ALPHA

    def addresses(self, run: str, metric: str) -> bool:
        """Return whether the condition covers this run and measure."""
        return self.run in (None, run) and self.metric in (None, metric)


def parse_condition(text: str) -> Condition:
    """Parse ``drop>0.02``, ``p<0.05`` or ``qr>0.05``, optionally after ``MEASURE``, ``:RUN`` or ``MEASURE:RUN`` and a space.

    Raises :class:`UsageError` for anything else.
    """
    match = _CONDITION.fullmatch(text.strip())
    what = match["what"] if match else ""
    if not match or (match["operator"] == "<") != (what == "p"):
        advice = (
            "write 'drop>0.02', 'p<0.05', 'qr>0.05', 'made_up>0.02', or 'ndcg_cut_3:RUN drop>0.02'"
        )
        raise UsageError(
            "bad-condition", Message(OptionName("fail-if"), f" {text!r} cannot be read"), advice
        )
    value = float(match["value"])
    if what == "p" and not 0 < value < 1:
        raise UsageError(
            "bad-condition",
            Message(OptionName("fail-if"), f" {text!r}: p is {match['value']}"),
            "write a p between 0 and 1",
        )
    if value >= 1:
        found = Message(
            OptionName("fail-if"),
            f" {text!r}: scores and shares lie between 0 and 1, so this condition never fails",
        )
        raise UsageError("bad-condition", found, "write two percentage points as 0.02")
    metric = parse_measure(match["metric"], given=True).name if match["metric"] else None
    return Condition(text.strip(), what, value, metric, match["run"])  # type: ignore[arg-type]


def no_worse(margin: float) -> Condition:
    """Return the condition of ``--no-worse-than``. Raises :class:`UsageError` unless 0 ≤ margin < 1."""
    if not 0 <= margin < 1:
        raise UsageError(
            "bad-condition",
            Message(OptionName("no-worse-than"), f" {margin:g} is not at least 0 and below 1"),
            "write a drop such as 0.01",
        )
    return Condition(f"no worse than {margin:g}", "no worse", margin)


@dataclass(frozen=True, eq=False)
class GateCase:
    """One condition for one run and measure.

    metric
        The measure; for a share of errors, with the threshold.
    drop
        float64[T]: the drop by turn of ``turns``.
    low, high
        Bounds of the mean drop over all grades of unjudged passages; nan without bounds.
    drawn
        float64[D, T]: the drop under grades drawn by the hole model. If it is None, ``undrawn`` gives the reason.
    problems
        Further problems of the data that do not depend on the scores.
    lost
        Number of turns that are gone or have lost their judgments.
    fit
        How well the judgments fit the passages; None if the passages are unknown.
    alike
        Whether no ranking changed. Also true if only scores are known.
    missing
        Numbers of missing scores, if they are many.
    """

    condition: Condition
    run: str
    metric: str
    turns: tuple[str, ...]
    drop: Floats
    low: float = math.nan
    high: float = math.nan
    drawn: Floats | None = None
    undrawn: str = ""
    problems: tuple[str, ...] = ()
    lost: int = 0
    fit: JudgmentFit | None = None
    alike: bool = False
    missing: tuple[str, ...] = ()

    @property
    def both(self) -> Mask | None:
        """The turns whose top is judged in both states, if the drop must be significant on them, too."""
        return self.fit.both if self.fit and self.fit.doubtful else None

    @property
    def troubles(self) -> list[str]:
        """All problems of the data, with those of the judged share."""
        return [*self.problems, *(self.fit.problems if self.fit else ())]

    def same(self, evidence: Evidence) -> bool:
        """Return whether no turn differs, by the chosen evidence."""
        if np.any(np.abs(self.drop) >= ROUNDING):
            return False
        if evidence != "expected":
            return True
        return self.alike if self.drawn is None else not np.any(np.abs(self.drawn) >= ROUNDING)

    def amount(self, value: float) -> str:
        """Return a difference for the output: ``0.164``, or ``12.3 percentage points`` of a share."""
        points = self.condition.what in _GROWS
        return (f"{100 * value:.1f} percentage points" if points else f"{value:.3f}").replace(
            "-", "−"
        )

    @property
    def limit(self) -> str:
        """The condition's limit for the output."""
        limit = self.condition.limit
        return (
            f"{100 * limit:g} percentage points" if self.condition.what in _GROWS else f"{limit:g}"
        )

    def moved(self, value: float) -> str:
        """Return the change in words, such as ``the mean drops by 0.164``."""
        errors = _GROWS.get(self.condition.what)
        subject = f"the share of {errors}" if errors else "the mean"
        if abs(value) < ROUNDING:
            return f"{subject} does not change"
        verb = ("grows" if value > 0 else "falls") if errors else "drops" if value > 0 else "rises"
        return f"{subject} {verb} by {self.amount(abs(value))}"


@dataclass(frozen=True)
class Decision:
    """The decision on a case; its fields are columns of the table ``gate``."""

    drop: float
    outcome: Outcome
    reason: str
    p: float = math.nan
    p_corrected: float = math.nan
    ci_low: float = math.nan
    ci_high: float = math.nan
    expected: float = math.nan
    p_judged: float = math.nan
    to_judge: float = math.nan
    rule: UndecidedRule = ""


def decided(
    cases: Sequence[GateCase], evidence: Evidence, by: Grouping, seed: int
) -> tuple[list[Decision], str]:
    """Decide all cases of one call. Also return how, such as ``p adjusted by max-T over 6 cases, 20 conversations``."""
    able = [
        case
        for case in cases
        if not case.same(evidence) and (evidence != "expected" or case.drawn is not None)
    ]
    passages = to_judge(case.fit for case in cases)
    if not able:
        return [_decided(case, evidence, None, passages) for case in cases], ""
    at = Aligned([case.turns for case in able], by)
    tests = {
        id(case): row
        for case, row in zip(able, _tested(able, evidence, at, seed).itertuples(), strict=True)
    }
    how = f"p adjusted by max-T over {counted(len(able), 'case')}, {counted(at.units.count, at.units.kind)}"
    return [_decided(case, evidence, tests.get(id(case)), passages) for case in cases], how


def _tested(cases: Sequence[GateCase], evidence: Evidence, at: Aligned, seed: int) -> pd.DataFrame:
    """Return a row of test results for each case.

    The columns are p, p_corrected, ci_low, ci_high, note, floor (the smallest possible p), bound (a p of at most this value
    is an upper bound) and p_judged: p_corrected on the turns of ``GateCase.both``, in the same family.
    """
    filled = evidence == "expected"
    values = [case.drop[None] if case.drawn is None or not filled else case.drawn for case in cases]
    sums = at.sums(values)
    limits = np.array([case.condition.limit for case in cases])
    count = _PATTERNS if sums.shape[1] > 1 else DRAWS
    subsets = Subsets(at.units.count, seed, count)

    def tested(sums: Floats, sizes: Floats) -> tuple[Floats, Floats, Floats]:
        shifted = sums - (limits[:, None] * sizes)[:, None]
        shifted[np.abs(shifted) < ROUNDING] = 0.0
        draws = range(sums.shape[1])
        # the p-value under the mixture of the draws, as in completed_intervals, is the mean of the draws' p-values
        raw = np.mean([_tails(shifted[:, draw], subsets) for draw in draws], axis=0)
        family = np.mean(
            [max_t(shifted[:, draw], seed, one_sided=True, draws=count) for draw in draws], axis=0
        )
        return raw, np.maximum(raw, family), (shifted != 0).any(axis=1).sum(axis=1)

    raw, corrected, moving = tested(sums, at.sizes)
    if filled:
        ends = [
            completed_intervals(own[:, None], size, seed)
            for own, size in zip(sums, at.sizes, strict=True)
        ]
        interval: dict[str, Any] = {
            "ci_low": [low[0] for low, _ in ends],
            "ci_high": [high[0] for _, high in ends],
        }
        interval["note"] = f"no interval: too few {at.units.kind}s differ"
    else:
        tests = paired_tests(sums[:, 0], at.sizes, seed, at.units.kind, draws=count)
        interval = columns_of(tests, "value", note="note")
    kept = [
        np.ones(len(case.turns)) if case.both is None else case.both.astype(float) for case in cases
    ]
    doubtful = np.array([case.both is not None and bool(case.both.any()) for case in cases])
    judged = np.full(len(cases), math.nan)
    if doubtful.any():
        on_kept = at.sums([value * mask for value, mask in zip(values, kept, strict=True)])
        judged[doubtful] = tested(on_kept, at.sums(kept))[1][doubtful]
    return pd.DataFrame(interval).assign(
        p=raw, p_corrected=corrected, floor=np.maximum(2.0**-moving, 1 / subsets.total),
        bound=0.0 if subsets.exact else (1 + 1e-9) / subsets.total, p_judged=judged,
    )  # fmt: skip


def _tails(sums: Floats, subsets: Subsets) -> Floats:
    """Return the share of sign patterns whose total is at least the observed one, float64[M].

    These are the patterns whose flipped part sums to at most 0.
    """
    rounding = 1e-12 * np.abs(sums).sum(axis=1, keepdims=True)
    return np.asarray((1 + (subsets.sums(sums) <= rounding).sum(axis=1)) / subsets.total)


def _decided(case: GateCase, evidence: Evidence, test: Any, passages: int) -> Decision:
    """Return the decision on a case.

    ``test`` is its row of :func:`_tested`, or None if it was not tested; ``passages``: see :func:`to_judge`.
    """
    drop, parts, troubles = float(case.drop.mean()), list[str](), case.troubles
    outcome: Outcome = "cannot tell"
    figures: dict[str, Any] = {}
    if test is not None:
        figures = {
            name: float(getattr(test, name))
            for name in ("p", "p_corrected", "ci_low", "ci_high", "p_judged")
        }
        figures["expected"] = (
            float(case.drawn.mean())
            if evidence == "expected" and case.drawn is not None
            else math.nan
        )
    if case.missing:
        parts = list(case.missing)
        figures["rule"] = "missing scores"
    elif case.fit and case.fit.lost:
        parts, troubles = [lost_line([case.fit], passages)], list(case.problems)
        figures |= {"to_judge": passages, "rule": "no fit"}
    elif test is not None and case.fit and case.both is not None and _explained(case, test):
        row = SimpleNamespace(
            drop=drop, **figures, **columns_of_fit(case.fit, "drop_judged", case.drop)
        )
        moved, points = case.moved(1.0).partition(" by ")[0], case.condition.what in _GROWS
        parts, troubles = (
            [new_line([row], moved, points, case.fit.whose)],
            [*case.problems, case.fit.covered],
        )
        figures["rule"] = "new passages"
    elif test is not None:
        outcome, *parts = _judged(case, evidence, test, drop, figures["expected"])
    elif not case.same(evidence):  # the hole model has no draws
        parts = [case.undrawn]
    elif not troubles:
        outcome, *parts = _unmoved(case, evidence)
    return Decision(drop, outcome, "; ".join(filter(None, [*parts, *troubles])), **figures)


def _explained(case: GateCase, test: Any) -> bool:
    """Return whether new passages may explain a significant drop: it is not significant on the turns of ``GateCase.both``."""
    rejects = case.condition.rejects
    return rejects(float(test.p_corrected)) and not rejects(float(test.p_judged))


def _judged(
    case: GateCase, evidence: Evidence, test: Any, drop: float, expected: float
) -> tuple[Any, ...]:
    """Return the outcome of a tested case and the parts of its reason."""
    condition, p = case.condition, float(test.p_corrected)
    moved = case.moved(drop) + (
        "" if math.isnan(expected) else f" ({case.amount(expected)} expected by the hole model)"
    )
    adjusted = f"(adjusted {p_text(p, test.bound)})"
    more = f"more than {case.limit}" if condition.limit else ""
    also = _on_judged(case, test)
    if condition.rejects(p):
        significant = (
            f"{moved}, significantly {more} {adjusted}"
            if more
            else f"{moved} significantly {adjusted}"
        )
        significant += f"; also {also}" if also else ""
        if evidence != "bounds":
            return "failed", significant
        if case.low > condition.limit:
            return (
                "failed",
                f"{significant}, and at least by {case.amount(case.low)} for any grades of unjudged passages",
            )
        if math.isnan(case.low):
            return "cannot tell", significant, NO_BOUNDS
        return (
            "cannot tell",
            significant,
            f"grades of unjudged passages could reduce this to {case.amount(case.low)}",
        )
    if max(drop, -math.inf if math.isnan(expected) else expected) > condition.limit + ROUNDING:
        reached = condition.value if condition.what == "p" else 0.05
        few = f"no p-value can reach {reached:g}: the smallest possible is {test.floor:.2g}"
        weak = f"{moved}, but not significantly {more}".rstrip()
        return "cannot tell", f"{weak} {adjusted}", few if test.floor > reached else "", also
    if case.troubles:
        return "cannot tell", moved, also
    if condition.what != "no worse":
        return "passed", moved if drop <= 0 else f"{moved}, which the condition allows"
    if math.isnan(test.ci_high):
        return "cannot tell", test.note or "no interval"
    interval = f"the 95% CI of the drop, {case.amount(test.ci_low)} to {case.amount(test.ci_high)},"
    if test.ci_high > condition.limit + ROUNDING:
        return "cannot tell", f"{interval} includes a drop larger than {case.limit}"
    excludes = f"{interval} excludes a drop larger than {case.limit}"
    if evidence == "bounds" and not case.high <= condition.limit + ROUNDING:
        return "cannot tell", excludes, "grades of unjudged passages could cause a larger one"
    return "passed", excludes


def _on_judged(case: GateCase, test: Any) -> str:
    """Return the change on the turns of ``GateCase.both`` in words; empty if no such test is needed."""
    if case.both is None or case.fit is None:
        return ""
    if not case.both.any():
        return f"there are no {on_judged([case.fit])}"
    drop = case.moved(float(case.drop[case.both].mean()))
    return f"on the {on_judged([case.fit])}, {drop} (adjusted {p_text(test.p_judged, test.bound)})"


def _unmoved(case: GateCase, evidence: Evidence) -> tuple[Outcome, str]:
    """Decide a case without problems in which no score differs, although passages may have changed."""
    if case.alike:
        return "passed", "no turn differs"
    known = "no score differs, but rankings do"
    if case.condition.what != "no worse" or evidence == "expected":
        # all draws agree that nothing differs
        return "passed", known
    if case.high <= (case.condition.limit if evidence == "bounds" else 0.0) + ROUNDING:
        return (
            "passed",
            f"{known}; no grades of unjudged passages can cause a drop larger than {case.limit}",
        )
    return "cannot tell", f"{known}; grades of unjudged passages could cause a larger drop"


def measure_label(name: str) -> str:
    """Return a case's ``metric`` for the output: ``NDCG@3 ≥ 0.5``."""
    metric, _, threshold = name.partition(" ")
    if not metric:
        return ""
    return f"{parse_measure(metric, given=True).label} {parse_threshold(threshold).label if threshold else ''}".strip()


def subject(row: Any) -> str:
    """Return run and measure of a row of the table: ``qr, NDCG@3``."""
    return ", ".join(filter(None, [row.system, measure_label(row.metric)])) or "all runs"
