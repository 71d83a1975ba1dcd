"""Cases of a gate: the runs and measures of each condition, and problems of their data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, product
from typing import Any

import numpy as np

from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.outcomes import OUTCOMES
from robustcs.evaluation.thresholds import Threshold, distinct_thresholds
from robustcs.inputs.turns import turn_sort_key
from robustcs.policy import Grouping
from robustcs.statistics import Floats
from robustcs.studies.compare.changes import ROUNDING, Change, wrong_by
from robustcs.studies.compare.fit import FALL, Fits, figures, worst
from robustcs.studies.compare.gate import Condition, Evidence, GateCase, decided
from robustcs.studies.compare.missing import Missing
from robustcs.studies.compare.states import ProjectState, SystemState
from robustcs.wording import counted, some_of, verb

#: Column ``condition`` of rows that need no condition.
EVERY = "every condition"
#: Settings of the policy that affect scores.
SCORING = ("relevance_level", "missing", "order", "depth", "documents")
#: Reason for cases without draws of the hole model.
NO_RANKINGS = "the hole model needs the rankings of both states, not scores alone"


@dataclass(frozen=True, eq=False)
class Drawn:
    """Scores of the runs of both states under grades that the hole model draws, the same grades for all runs.

    names
        The R runs, such as ``qr`` and ``qr, old``.
    scores
        float64[D, R, M, T] by draw, run, measure and turn.
    filled
        Number of unjudged passages with drawn grades.
    warnings
        Caveats for the reader.
    """

    names: Sequence[str]
    measures: Sequence[str]
    turns: Sequence[str]
    scores: Floats
    filled: int
    warnings: Sequence[str]

    def of(self, run: str, metric: str, turns: Sequence[str], old: bool) -> Floats | None:
        """Return the scores float64[D, T] of a run in one of the states, or None if they are missing."""
        before = f"{run}, old"
        # an unchanged ranking is scored only once
        name = before if old and before in self.names else run
        places = {turn: place for place, turn in enumerate(self.turns)}
        if name not in self.names or metric not in self.measures or not places.keys() >= set(turns):
            return None
        rows = [places[turn] for turn in turns]
        return np.asarray(
            self.scores[:, self.names.index(name), self.measures.index(metric)][:, rows]
        )


@dataclass(frozen=True)
class Gate:
    """The conditions of a gate and its settings.

    evidence
        ``test``: paired test on the available judgments. ``expected``: the same test under grades drawn by the hole model.
        ``bounds``: the test, and the bounds over all grades of unjudged passages.
    allow_missing
        Number of turns that a run may lose.
    drawn
        The draws that ``expected`` needs, or the reason why there are none.
    requested
        Measures that the user named.
    """

    conditions: Sequence[Condition] = ()
    evidence: Evidence = "test"
    allow_missing: int = 0
    drawn: Drawn | str = field(default="", repr=False)
    requested: Sequence[str] = ()

    def notes(self, how: str) -> list[str]:
        """Return the notes of the outcome: the evidence, ``how`` cases were tested, and warnings."""
        used = {
            "test": "one-sided paired test on the available judgments",
            "expected": "one-sided paired test, with grades of unjudged passages drawn by the hole model",
            "bounds": "one-sided paired test on the available judgments, and exact bounds for unjudged passages",
        }
        notes = [", ".join(filter(None, [f"gate: {used[self.evidence]}", how]))]
        if isinstance(self.drawn, Drawn):
            notes[0] += f"; {counted(self.drawn.filled, 'unjudged passage')} filled in"
            notes += self.drawn.warnings
        return notes


NO_GATE = Gate()


def _declared(old: ProjectState, new: ProjectState) -> Iterable[tuple[str, str]]:
    """Yield names of formulations and groups that the new state lost or changed, each with the reason."""
    for name in old.formulations:
        if name not in new.formulations and (name in new.systems or name not in old.systems):
            # else its run is gone
            yield name, "the formulation exists only in the old state"
    for name, group in old.groups.items():
        now = new.groups.get(name)
        if now is None:
            yield name, "the group exists only in the old state"
        elif group["baseline"] != now["baseline"] or set(group["sets"]) - set(now["sets"]):
            yield name, "the group has lost a system, or has another baseline"


def _unknown(condition: str, run: str, reason: str, metric: str = "") -> dict[str, Any]:
    return {
        "condition": condition,
        "system": run,
        "metric": metric,
        "lost": 0,
        "rule": "",
        "outcome": "cannot tell",
        "reason": reason,
    }


@dataclass(frozen=True)
class Cases:
    """Both states, from which the cases of the gate's conditions are built."""

    gate: Gate
    changes: Sequence[Change]
    old: ProjectState
    new: ProjectState
    thresholds: Sequence[Threshold]
    fits: Fits
    missing: Mapping[str, Missing] = field(default_factory=dict)

    def rows(self, by: Grouping, seed: int) -> tuple[list[dict[str, Any]], str]:
        """Return the rows of the table ``gate``, and how they were decided."""
        if not self.gate.conditions:
            return [], ""
        found = [list(self.cases(condition)) for condition in self.gate.conditions]
        decisions, how = decided(list(chain.from_iterable(found)), self.gate.evidence, by, seed)
        ahead = iter(decisions)
        rows = []
        for condition, cases in zip(self.gate.conditions, found, strict=True):
            own = [{
                "condition": condition.text, "system": case.run, "metric": case.metric, "limit": condition.limit,
                "low": case.low, "high": case.high, "lost": case.lost, **figures(case.fit, "drop_judged", case.drop),
                **asdict(next(ahead)),
            } for case in cases]  # fmt: skip
            own += self._gone(condition, cases)
            rows += own or [self._unmatched(condition, condition.run or "", condition.metric or "")]
        gone = {
            run: "the run exists only in the old state"
            for run in self.old.systems
            if run not in self.new.systems
        }
        return rows + [
            _unknown(EVERY, *one) for one in (*gone.items(), *_declared(self.old, self.new))
        ], how

    def cases(self, condition: Condition) -> Iterable[GateCase]:
        """Yield a case for every run and measure that the condition covers and both states have."""
        if condition.what in ("qa", "qr"):
            yield from self._errors(condition)
            return
        if condition.what in OUTCOMES:
            yield from self._answers(condition)
            return
        for change in self.changes:
            if condition.addresses(change.run, change.metric):
                yield self._case(condition, [change], change.metric, np.negative)

    def _answers(self, condition: Condition) -> Iterable[GateCase]:
        """Yield a case for every system with answers: the turns with the outcome of the condition."""
        what = condition.what
        for name, new in self.new.systems.items():
            old = self.old.systems.get(name)
            turns = (
                tuple(sorted(old.outcomes.keys() & new.outcomes.keys(), key=turn_sort_key))
                if old
                else ()
            )
            if not turns or not condition.addresses(name, what) or not self._judgeable(what):
                continue
            before, now = (
                np.array([one.outcomes[turn] == what for turn in turns], dtype=float)
                for one in (old or new, new)
            )
            unknown = np.full(len(turns), np.nan)
            yield self._case(
                condition,
                [Change(name, what, turns, before, now, *[unknown] * 3)],
                what,
                np.positive,
            )

    def _judgeable(self, what: str) -> bool:
        """Return whether both states have what an outcome needs: a criterion for correct and wrong answers."""
        return what not in ("correct", "wrong") or all(
            any({"correct", "wrong"} & {*one.outcomes.values()} for one in state.systems.values())
            for state in (self.old, self.new)
        )

    def _errors(self, condition: Condition) -> Iterable[GateCase]:
        """Yield a case for every rewriter, measure and threshold: the turns with a QA error or with a rewriter error."""
        found = {(change.run, change.metric): change for change in self.changes}
        human = self._human()
        for run, metric in found:
            if (
                run not in self._rewriters()
                or not condition.addresses(run, metric)
                or (human, metric) not in found
            ):
                continue
            parts = found[run, metric], found[human, metric]
            common = set(parts[0].turns) & set(parts[1].turns)
            if not common:
                continue
            one, other = (part.on(common) for part in parts)
            for threshold in distinct_thresholds(metric, self.thresholds):
                wrong = wrong_by(condition.what, threshold)
                least = self._least_growth([one, other], threshold, wrong)
                yield self._case(condition, [one, other], f"{metric} {threshold}", wrong, least)

    def _least_growth(
        self, parts: Sequence[Change], threshold: Threshold, wrong: Callable[..., Any]
    ) -> float:
        """Return the lowest growth of a share of errors that any grades of unjudged passages could give; nan if unknown.

        These are the turns whose error is certain in the new state, less those whose error is possible in the old one. Between
        its bounds, a score changes whether it passes the threshold only at the threshold itself.
        """
        errors = []
        for state in (self.new, self.old):
            values = []
            for part in parts:
                system, score = (
                    state.systems[part.run],
                    part.new if state is self.new else part.fair,
                )
                if part.metric not in system.low:
                    return math.nan
                low, high = (
                    np.array([end[part.metric][turn] for turn in part.turns])
                    for end in (system.low, system.high)
                )
                values.append([low, score, high, np.clip(threshold.value, low, high)])
            errors.append(np.array([wrong(*pair) for pair in product(*values)]))
        return float((errors[0].min(axis=0) - errors[1].max(axis=0)).mean())

    def _shifted(
        self, condition: Condition, parts: Sequence[Change], harm: Callable[..., Any]
    ) -> Iterable[str]:
        """Yield changes of the old scores by other judgments or another policy, if they exceed the condition's limit.

        If all earlier judgments and the policy remain, further judgments are no problem: old runs are scored with them.
        """
        if all(self.old.policy.get(key) == self.new.policy.get(key) for key in SCORING) and all(
            one.only_added(self.old.systems[run]) for run, one in self.fits.rescored.items()
        ):
            return
        # a condition on p allows no drop at all
        limit = FALL if condition.what == "p" else condition.limit
        several = len(parts) > 1
        moved = [
            (f"the old score{f' of {one.run}' if several else ''}", one.old, one.fair)
            for one in parts
        ]
        if several:
            moved.append(
                (
                    "the old share of errors",
                    harm(*(one.old for one in parts)),
                    harm(*(one.fair for one in parts)),
                )
            )
        for what, old, fair in moved:
            if abs(fair.mean() - old.mean()) > limit + ROUNDING:
                yield f"changed judgments or policy move {what} from {old.mean():.3f} to {fair.mean():.3f}"

    def _with_role(self, role: str) -> list[str]:
        """Return the runs with this role in either state, those of the old state first."""
        states = (self.old, self.new)
        return list(
            dict.fromkeys(
                run for state in states for run, one in state.systems.items() if one.role == role
            )
        )

    def _rewriters(self) -> list[str]:
        return self._with_role("qr")

    def _human(self) -> str:
        return next(iter(self._with_role("human")), "")

    def _case(
        self,
        condition: Condition,
        parts: Sequence[Change],
        metric: str,
        harm: Callable[..., Any],
        least: float = math.nan,
    ) -> GateCase:
        """Return the case of the runs ``parts``.

        ``harm`` is a function of the runs' scores (float64[…, T] each) that grows as the scores get worse; ``least`` is the
        lowest growth of a share under any grades.
        """
        first = parts[0]
        drop = harm(*(part.new for part in parts)) - harm(*(part.fair for part in parts))
        drawn, undrawn = None, self.gate.drawn if isinstance(self.gate.drawn, str) else ""
        if isinstance(self.gate.drawn, Drawn):
            sides = [
                [self.gate.drawn.of(part.run, part.metric, part.turns, old) for part in parts]
                for old in (False, True)
            ]
            if any(one is None for side in sides for one in side):
                undrawn = NO_RANKINGS
            else:
                drawn = harm(*sides[0]) - harm(*sides[1])
        ranked = [] if condition.what in OUTCOMES else parts
        rankings = [
            [_ranked(state.systems[part.run], part.turns) for part in ranked]
            for state in (self.old, self.new)
        ]
        low, high = least if all(map(all, rankings)) else math.nan, math.nan
        if harm is np.negative and all(map(all, rankings)):
            low, high = -float(first.high.mean()), -float(first.low.mean())
        lost, problems = self._lost(parts)
        fits = [fit for part in ranked if (fit := self.fits.of(part.run, part.metric, part.turns))]
        if len(parts) > 1:
            fits = [replace(fit, whose=f" of {fit.run}") for fit in fits]
        decisive = worst(fits) if fits else None
        if decisive and not decisive.lost:  # else nothing more needs to be said about judgments
            problems += [text for fit in fits if fit.run != decisive.run for text in fit.problems]
        problems = [*problems, *self._incomparable(ranked), *self._shifted(condition, parts, harm)]
        return GateCase(
            condition, first.run, metric, first.turns, drop, low, high, drawn=drawn, undrawn=undrawn,
            problems=tuple(problems), lost=lost, fit=decisive,
            alike=rankings[0] == rankings[1] and all(self._compared(part.metric) for part in ranked),
            missing=tuple(self._missing(ranked)),
        )  # fmt: skip

    def _compared(self, metric: str) -> bool:
        """Return whether rankings are compared as far down as a measure looks."""
        cutoff = parse_measure(metric, given=True).cutoff or math.inf
        return self.new.depth is None or cutoff <= self.new.depth

    def _lost(self, parts: Sequence[Change]) -> tuple[int, list[str]]:
        """Return the number of turns that only the old runs covered, and the resulting problems."""
        gone: set[str] = set()
        for part in parts:
            before, after = (
                state.systems[part.run].covered(part.metric) for state in (self.old, self.new)
            )
            gone |= before - after
        if len(gone) <= self.gate.allow_missing:
            return len(gone), []
        unjudged = {
            turn
            for turn in gone
            if self.new.judgments and turn in self.old.judgments.keys() - self.new.judgments.keys()
        }
        problems = []
        for turns, one, several in (
            (gone - unjudged, "is gone", "are gone"),
            (unjudged, "has lost its judgments", "have lost their judgments"),
        ):
            if turns:
                names = some_of(sorted(turns, key=turn_sort_key))
                problems.append(
                    f"{counted(len(turns), 'turn')} {verb(len(turns), one, several)} ({names})"
                )
        return len(gone), problems

    def _missing(self, parts: Sequence[Change]) -> Iterable[str]:
        """Yield the numbers of missing scores of runs with many: see :attr:`Missing.many`."""
        for part in parts:
            found = self.missing.get(part.run)
            if found and found.many:
                yield from found.told(f" of {part.run}" if len(parts) > 1 else "")

    def _incomparable(self, parts: Sequence[Change]) -> list[str]:
        """Return problems of old runs that cannot be scored under the new judgments and policy."""
        again = [
            part
            for part in parts
            if np.isnan(part.rescored).any() and self.old.systems[part.run].rankings
        ]
        old, new = self.old, self.new
        problems = []
        if any(
            old.judgments.get(turn) != new.judgments.get(turn)
            for part in again
            for turn in part.turns
            if new.judgments
        ):
            problems.append(
                "the judgments changed, and the old run cannot be scored under the new ones"
            )
        if again and any(old.policy.get(key) != new.policy.get(key) for key in SCORING):
            problems.append(
                "the policy changed, and the old run cannot be scored under the new one"
            )
        return problems

    def _gone(self, condition: Condition, cases: Sequence[GateCase]) -> list[dict[str, Any]]:
        """Return a row for every old run and measure that a condition covers and that has no case."""
        have = {(case.run, case.metric.partition(" ")[0]) for case in cases}
        rows = []
        for run, system in self.old.systems.items():
            metrics = [*system.scores, *self.gate.requested]
            if condition.what in OUTCOMES:
                metrics = [condition.what] if system.outcomes else []
            elif condition.what in ("qa", "qr"):
                metrics = metrics if self._human() and run in self._rewriters() else []
            elif run not in self.new.systems:
                metrics = []
            for metric in dict.fromkeys(metrics):
                if condition.addresses(run, metric) and (run, metric) not in have:
                    rows.append(self._unmatched(condition, run, metric))
        return rows

    def _unmatched(self, condition: Condition, run: str, metric: str) -> dict[str, Any]:
        """Return the row of a condition without a case for a run and a measure (empty: for any), with the reason."""
        states, errors = (self.old.systems, self.new.systems), condition.what in ("qa", "qr")
        needed = []
        for name in filter(None, (run, self._human() if errors and run else "")):
            needed.append((f"a run named {name}", [name in systems for systems in states]))
            if metric and condition.what not in OUTCOMES:
                have = [name in systems and metric in systems[name].scores for systems in states]
                needed.append((f"{metric} of {name}", have))
        if metric and not run:
            needed.append(
                (
                    metric,
                    [any(metric in one.scores for one in systems.values()) for systems in states],
                )
            )
        reason = (
            "no turn is scored in both states"
            if run and metric
            else "the states have no run and measure in common"
        )
        if condition.what in OUTCOMES:
            reason = (
                "no answers in both states"
                if self._judgeable(condition.what)
                else "no criterion of correct answers"
            )
        elif errors and not (run and metric):
            reason = "a condition on errors needs Human and a rewriter with a common measure in both states"
        for what, (old, new) in reversed(needed):
            if not (old and new):
                reason = f"{'only the old' if old else 'only the new' if new else 'neither'} state has {what}"
        return _unknown(condition.text, run, reason, metric)


def _ranked(system: SystemState, turns: Sequence[str]) -> list[str]:
    """Return the digests of the rankings of these turns; empty for a system of per-turn scores."""
    return [system.rankings.get(turn, "") for turn in turns] if system.rankings else []
