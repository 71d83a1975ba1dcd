"""Conditions that a change must not meet: ``--fail-if 'ndcg_cut_3:qr drop>0.02'``."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.measures import parse_measure
from robustcs.evaluation.state import State
from robustcs.evaluation.thresholds import Threshold, distinct_thresholds
from robustcs.policy import Unit
from robustcs.studies.compare.changes import ROUNDING, Change, corrected, tested

#: Corrected p values up to this count as proof.
ALPHA = 0.05

What = Literal["drop", "p", "qa", "qr"]

_CONDITION = re.compile(
    r"(?:(?P<metric>[^\s:]+)?(?::(?P<run>\S+))?\s+)?(?P<what>drop|p|qa|qr)\s*(?P<operator>[<>])\s*(?P<value>[0-9]*\.?[0-9]+)"
)


@dataclass(frozen=True)
class Condition:
    """What fails a comparison; prints as it was written.

    what
        ``drop``: the mean score falls by more than ``value``. ``p``: it falls, and the corrected p is below ``value``. ``qa``,
        ``qr``: the share of turns with a QA error, or an error of the rewriter, grows by more than ``value``.
    metric, run
        Only this measure, or this run; None for all.
    """

    text: str
    what: What
    value: float
    metric: str | None = None
    run: str | None = None

    @property
    def least(self) -> float:
        """The drop, or the growth of a share, that is proven to be exceeded."""
        return 0.0 if self.what == "p" else self.value

    def level(self, alpha: float) -> float:
        """Corrected p values up to this count as proof."""
        return self.value if self.what == "p" else alpha


def parse_condition(text: str) -> Condition:
    """``drop>0.02``, ``p<0.05``, ``qr>0.05``, with ``MEASURE``, ``:RUN`` or ``MEASURE:RUN`` and a space before it.

    Raises :class:`UsageError` for anything else.
    """
    match = _CONDITION.fullmatch(text.strip())
    what = match["what"] if match else ""
    if not match or (match["operator"] == "<") != (what == "p"):
        raise UsageError(
            "bad-condition",
            f"--fail-if {text!r} cannot be read",
            "write 'drop>0.02', 'p<0.05', 'qr>0.05', or 'ndcg_cut_3:RUN drop>0.02'",
        )
    value = float(match["value"])
    if not (0 < value < 1 if what == "p" else 0 <= value < math.inf):
        raise UsageError("bad-condition", f"--fail-if {text!r}: {match['value']}", "write a p between 0 and 1")
    metric = parse_measure(match["metric"]).name if match["metric"] else None
    return Condition(text.strip(), what, value, metric, match["run"])  # type: ignore[arg-type]


@dataclass(frozen=True)
class _Case:
    """What a condition speaks of: by turn, how much worse it became, and at least so much whatever the grades are."""

    run: str
    metric: str
    turns: Sequence[str]
    drop: np.ndarray
    least: np.ndarray | None
    as_given: bool


def gate_rows(
    conditions: Sequence[Condition],
    changes: Sequence[Change],
    old: State,
    new: State,
    thresholds: Sequence[Threshold],
    unit: Unit,
    seed: int,
) -> list[tuple[Any, ...]]:
    """The rows of the gate: for every condition, everything that it speaks of.

    Condition, run, measure (with the threshold, for shares of errors), drop, one-sided p, corrected p, the least drop under any
    grades, state and note.
    """
    rows: list[tuple[Any, ...]] = []
    for condition in conditions:
        if condition.what in ("drop", "p"):
            cases = [_fallen(change, new) for change in changes]
        else:
            cases = list(_errors(condition.what, changes, old, new, thresholds))
        cases = [
            case
            for case in cases
            if condition.run in (None, case.run) and condition.metric in (None, case.metric.partition(" ")[0])
        ]
        rows += _states(condition, cases, unit, seed)
    return rows


def _fallen(change: Change, new: State) -> _Case:
    least = None if change.high is None else -change.high
    as_given = not new.systems[change.run].rankings
    return _Case(change.run, change.metric, change.turns, change.fair - change.new, least, as_given)


def _errors(
    cause: str,
    changes: Sequence[Change],
    old: State,
    new: State,
    thresholds: Sequence[Threshold],
) -> Iterable[_Case]:
    """Turns with an error of the QA component or of the rewriter, for every rewriter, measure and threshold."""
    human = next((name for name, system in new.systems.items() if system.role == "human"), None)
    rewriters = [name for name, system in new.systems.items() if system.role == "qr"]
    found = {(change.run, change.metric): change for change in changes}
    for name in rewriters:
        for metric in new.systems[name].scores:
            one, other = found.get((name, metric)), found.get((human or "", metric))
            if one is None or other is None or one.turns != other.turns:
                continue
            for threshold in distinct_thresholds(metric, thresholds):
                wrong = _wrong(cause, threshold)
                drop = wrong(one.new, other.new).astype(float) - wrong(one.fair, other.fair)
                as_given = not (new.systems[name].rankings and new.systems[human or ""].rankings)
                least = None if as_given else _least_growth(cause, threshold, one, other, old, new)
                yield _Case(name, f"{metric} {threshold}", one.turns, drop, least, as_given)


def _wrong(cause: str, threshold: Threshold) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    def wrong(qr: np.ndarray, human: np.ndarray) -> np.ndarray:
        correct = threshold.holds(human)
        return ~correct if cause == "qa" else correct & ~threshold.holds(qr)

    return wrong


def _least_growth(cause: str, threshold: Threshold, one: Change, other: Change, old: State, new: State) -> np.ndarray | None:
    """By turn, the least growth of an error under any grades: certain now, less possible before; too low, never too high."""
    ends = []
    for state in (old, new):
        for change in (one, other):
            system = state.systems[change.run]
            if change.metric not in system.low:
                return None
            moved = change.rescored is not None and state is old
            low = np.array([system.low[change.metric][turn] for turn in change.turns])
            high = np.array([system.high[change.metric][turn] for turn in change.turns])
            if moved:  # new judgments lie inside what the old bounds allowed, save where they change old grades
                again = change.fair
                low, high = np.minimum(low, again), np.maximum(high, again)
            ends.append((low, high))
    (old_qr, old_human, new_qr, new_human) = ends

    def certain(pair: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        return threshold.holds(pair[0]) & threshold.holds(pair[1])

    def possible(pair: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        inside = (pair[0] <= threshold.value) & (threshold.value <= pair[1])
        return threshold.holds(pair[0]) | threshold.holds(pair[1]) | (inside & (threshold.operator == "="))

    if cause == "qa":
        now, before = ~possible(new_human), ~certain(old_human)
    else:
        now, before = certain(new_human) & ~possible(new_qr), possible(old_human) & ~certain(old_qr)
    return np.asarray(now.astype(float) - before)


def _states(condition: Condition, cases: Sequence[_Case], unit: Unit, seed: int) -> list[tuple[Any, ...]]:
    tests = [tested(case.drop - condition.least, case.turns, unit, seed) for case in cases]
    # the distribution of sign flips is symmetric, so one tail is half of both
    tails = [test.p / 2 if test.value > 0 else 1 - test.p / 2 for test in tests]
    rows: list[tuple[Any, ...]] = []
    for case, tail, p in zip(cases, tails, corrected(tests, tails), strict=True):
        drop = float(case.drop.mean())
        low = math.nan if case.least is None else float(case.least.mean())
        state, note = "passed", ""
        if drop > condition.least + ROUNDING:
            rejects = p <= condition.level(ALPHA)
            bounded = case.as_given or low > condition.least
            state = "failed" if rejects and bounded else "unproven"
            why = [] if rejects else ["the test does not reject"]
            why += [] if bounded else ["no bounds" if math.isnan(low) else "judging the unjudged passages could undo it"]
            note = " and ".join(why) or ("scores as given: their holes are unknown" if case.as_given else "")
        rows.append((condition.text, case.run, case.metric, drop, tail, p, low, state, note))
    return rows
