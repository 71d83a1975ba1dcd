"""What changed between two states of a project, and whether a gate lets it pass."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from robustcs.evaluation.ranking import Top
from robustcs.evaluation.state import State, SystemState
from robustcs.evaluation.thresholds import DEFAULT_THRESHOLDS, Threshold, distinct_thresholds, parse_threshold
from robustcs.inputs.turns import turn_sort_key
from robustcs.lazy import pd
from robustcs.policy import Unit
from robustcs.result import Evaluated, Result, count, difference, flag, measure, number, p_value, score, share, table, text
from robustcs.statistics.columns import comparisons
from robustcs.statistics.units import units_of
from robustcs.studies.compare.cases import NO_GATE, Gate, gate_rows
from robustcs.studies.compare.changes import ROUNDING, Aligned, Change, Rescored, changes_of
from robustcs.studies.compare.gate import ALPHA, OUTCOMES, Outcome
from robustcs.wording import some_of

_RUN = text("run", header="Run")
INPUTS = table(
    "inputs", "Every file by what it is for.",
    text("role", header="Input"), text("path", "as the new state names it, or the old one where it is gone"),
    text("state", "same, changed, added or removed"),
)  # fmt: skip
MEASURES = table(
    "measures", "The mean score of every run that both states have, over their common turns.",
    _RUN, measure(), score("old"), score("new"),
    *difference("change", "new minus old").rounded(3).between(says="of this comparison alone, from the test that gives p"),
    p_value(says="sign-flip test of whole units, two-sided"),
    p_value("p_corrected", "by max-T over all runs of the measure", "p adj."),
    score("rescored", "the old run under the new judgments; null where they cannot be scored so", "old, new judgments"),
    difference("low", "the change under the new judgments, whatever grades the unjudged passages of both runs get",
               "at least").rounded(3),
    difference("high", header="at most").rounded(3),
    count("turns", "that both states score"), text("note", "what must be known beside the numbers"),
)  # fmt: skip
TURNS = table(
    "turns", "Every turn whose score changed.",
    _RUN, text("turn", header="Turn"), measure(), score("old"), score("new"), difference("change"),
    text("why", "what changed: words, ranking, judgments (joined by “and”), scores or policy", "what changed"),
    text("crossed", "thresholds that the turn crossed: +>0 is correct now, −>0 no longer"), text("old_text"), text("new_text"),
)  # fmt: skip
CONCLUSIONS = table(
    "conclusions", "Pairs of systems: the better one before and after, at p ≤ 0.05 by max-T over all pairs of the measure.",
    measure(), text("first", header="First"), text("second", header="Second"),
    text("old", "the better system, or “no significant difference”", "better before"), text("new", header="better now"),
    flag("flipped", "do the two differ?"),
)  # fmt: skip
GATE = table(
    "gate", "Every condition of a gate for every run and measure that it addresses.",
    text("condition", "as written; “every condition” for what is gone, such as a run", "Condition"), _RUN,
    text("metric", "measure, and for shares of errors the threshold", "Measure"),
    *difference("drop", "drop of the mean score, or growth of the share, under the new judgments", "Drop").rounded(3).between(
        says="95% CI of the drop, of this row alone"
    ),
    p_value("p", "one-sided, of “the mean drop is at most the limit”; of this row alone"),
    p_value("p_corrected", "the same, by max-T over all rows of the gate in which something differs", "p adj."),
    number("low", "the least drop that grades of unjudged passages could leave; null where nothing bounds it"),
    number("high", "the greatest"), number("limit", "the largest drop that the condition allows"),
    difference("expected", "mean drop under grades that the hole model draws, with --evidence expected"),
    count("lost", "turns that are gone or have lost their judgments"),
    share("judged_old", "judged share of the passages down to the measure's cutoff, before"), share("judged_new", "now"),
    text("outcome", "failed, cannot tell or passed", "Outcome"), text("reason", "why"),
)  # fmt: skip


@dataclass(frozen=True)
class Comparison(Result):
    """Two states of a project.

    files
        The table ``inputs``.
    old_name, new_name
        What the states are called.
    scores
        (run, measure) → turn → (old, new), of the turns that both states score.
    texts
        Run → turn → (old, new) question text, where known.
    tops
        ``RUN, old`` or ``RUN, new`` → the best passages by turn; of runs that changed, where asked for and known.
    passages
        Passage → text, of those, where a collection has them.
    failed
        Whether a condition of the gate failed.
    outcome
        Of the whole gate: failed, cannot tell or passed; None without conditions.
    """

    study = "compare"
    declared = (INPUTS, MEASURES, TURNS, CONCLUSIONS, GATE)

    files: pd.DataFrame
    measures: pd.DataFrame
    turns: pd.DataFrame
    conclusions: pd.DataFrame
    gate: pd.DataFrame
    old_name: str
    new_name: str
    scores: Mapping[tuple[str, str], Mapping[str, tuple[float, float]]] = field(default_factory=dict)
    texts: Mapping[str, Mapping[str, tuple[str | None, str | None]]] = field(default_factory=dict)
    tops: Mapping[str, Top] = field(default_factory=dict)
    passages: Mapping[str, str] = field(default_factory=dict)

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Table name → frame."""
        return {spec.name: getattr(self, "files" if spec is INPUTS else spec.name) for spec in self.declared}

    @property
    def outcome(self) -> Outcome | None:
        """The worst outcome of the gate's cases."""
        found = set(self.gate["outcome"])
        return next((outcome for outcome in OUTCOMES if outcome in found), None)

    @property
    def failed(self) -> bool:
        """Whether a condition of the gate failed."""
        return self.outcome == "failed"


def compare(
    old: State,
    new: State,
    evaluated: Evaluated,
    rescored: Mapping[str, Rescored] | None = None,
    gate: Gate = NO_GATE,
    seed: int = 0,
) -> Comparison:
    """Compare two states.

    evaluated
        How the new state was scored; turns and units are filled in.
    rescored
        Run → the old run under the new judgments, where the old runs are at hand. Without it scores are compared as they were,
        and bounds of a change are those of the two scores, each moved on its own: too far, never too near.
    """
    rescored = rescored or {}
    notes = list(evaluated.notes)
    common = [name for name in new.systems if name in old.systems]
    for where, names in (("old", old.systems.keys() - new.systems.keys()), ("new", new.systems.keys() - old.systems.keys())):
        if names:
            notes.append(f"only in the {where} state: {some_of(sorted(names))}")
    changes = [
        change for name in common for change in changes_of(name, old.systems[name], new.systems[name], rescored.get(name))
    ]
    turns = sorted({turn for change in changes for turn in change.turns}, key=turn_sort_key)
    apart = {turn for name in common for turn in _scored(old.systems[name]) ^ _scored(new.systems[name])}
    if apart:
        notes.append(f"scored in one state only, and left out: {some_of(sorted(apart, key=turn_sort_key))}")
    if old.judgments != new.judgments and not rescored and old.judgments and new.judgments:
        notes.append(
            "the judgments changed, and the old runs could not be scored under the new ones: what judgments did cannot be told"
            " from what systems did (of a new state that is a report, name the project instead)"
        )
    units = units_of(turns, evaluated.policy.unit)
    if units.note:
        notes.append(units.note)
    thresholds = tuple(map(parse_threshold, new.thresholds)) or DEFAULT_THRESHOLDS
    rows, how = gate_rows(gate, changes, old, new, thresholds, rescored, evaluated.policy.unit, seed)
    if gate.conditions:
        notes += gate.notes(how)
    return Comparison(
        replace(evaluated, notes=tuple(notes), turns=len(turns), unit=units.kind, units=units.count),
        files=INPUTS.frame(_inputs(old, new)),
        measures=MEASURES.frame(_measures(changes, evaluated.policy.unit, seed)),
        turns=TURNS.frame(_turns(changes, old, new, thresholds)),
        conclusions=CONCLUSIONS.frame(_conclusions(common, old, new, evaluated.policy.unit, seed)),
        gate=GATE.frame(pd.DataFrame(rows)),
        old_name=old.name,
        new_name=new.name,
        scores={
            (change.run, change.metric): dict(
                zip(change.turns, zip(change.old.tolist(), change.new.tolist(), strict=True), strict=True)
            )
            for change in changes
        },
        texts={
            name: {turn: (old.systems[name].texts.get(turn), new.systems[name].texts.get(turn)) for turn in turns}
            for name in common
        },
    )


def _scored(system: SystemState) -> set[str]:
    return {turn for scores in system.scores.values() for turn in scores}


def _inputs(old: State, new: State) -> list[tuple[str, str, str]]:
    before = {str(entry["role"]): entry for entry in old.inputs}
    after = {str(entry["role"]): entry for entry in new.inputs}
    rows = []
    for role, entry in after.items():
        earlier = before.get(role)
        same = earlier is not None and earlier["sha256"] is not None and earlier["sha256"] == entry["sha256"]
        rows.append((role, str(entry["path"]), "added" if earlier is None else "same" if same else "changed"))
    return rows + [(role, str(entry["path"]), "removed") for role, entry in before.items() if role not in after]


def _measures(changes: Sequence[Change], unit: Unit, seed: int) -> pd.DataFrame:
    at = Aligned([change.turns for change in changes], unit)
    sums = at.sums([change.new - change.old for change in changes])
    metrics = [change.metric for change in changes]
    frame = comparisons(sums, at.sizes, at.units.kind, seed, metrics, power=False).frame.rename(
        columns={"difference": "change"}
    )
    columns = ("old", "new", "rescored", "low", "high")
    means = {name: [_mean(getattr(change, name)) for change in changes] for name in columns}
    return frame.assign(run=[change.run for change in changes], metric=metrics, turns=[len(change.turns) for change in changes],
                        **means)  # fmt: skip


def _mean(values: np.ndarray | None) -> float:
    return math.nan if values is None else float(values.mean())


def _turns(changes: Sequence[Change], old: State, new: State, thresholds: Sequence[Threshold]) -> list[tuple[Any, ...]]:
    rows = []
    for change in changes:
        before, after = old.systems[change.run], new.systems[change.run]
        cuts = distinct_thresholds(change.metric, thresholds)
        for place in np.flatnonzero(np.abs(change.new - change.old) >= ROUNDING):
            turn, was, now = change.turns[place], float(change.old[place]), float(change.new[place])
            again = None if change.rescored is None else float(change.rescored[place])
            why = _why(turn, was, again, now, before, after, old, new)
            rows.append((
                change.run, turn, change.metric, was, now, now - was, why, _crossed(was, now, cuts),
                before.texts.get(turn), after.texts.get(turn),
            ))  # fmt: skip
    return rows


def _why(
    turn: str, was: float, again: float | None, now: float, before: SystemState, after: SystemState, old: State, new: State
) -> str:
    """What made a score change: the words or the ranking, the judgments, or both."""
    if not before.rankings or not after.rankings:
        return "scores"
    parts = []
    ranked_anew = before.rankings.get(turn) != after.rankings.get(turn)
    judged_anew = old.judgments.get(turn) != new.judgments.get(turn)
    # of two causes one may have had no effect on this score
    if ranked_anew and (again is None or abs(now - again) >= ROUNDING):
        parts.append("words" if before.texts.get(turn) != after.texts.get(turn) else "ranking")
    if judged_anew and (again is None or abs(again - was) >= ROUNDING):
        parts.append("judgments")
    return " and ".join(parts) or "policy"


def _crossed(was: float, now: float, thresholds: Sequence[Threshold]) -> str:
    found = []
    for threshold in thresholds:
        first, second = threshold.holds([was, now])
        if first != second:
            found.append(f"{'+' if second else '−'}{threshold}")
    return " ".join(found)


def _conclusions(common: Sequence[str], old: State, new: State, unit: Unit, seed: int) -> list[tuple[Any, ...]]:
    rows = []
    metrics = dict.fromkeys(metric for name in common for metric in new.systems[name].scores)
    for metric in metrics:
        names = [name for name in common if metric in old.systems[name].scores and metric in new.systems[name].scores]
        if len(names) < 2:
            continue
        before, after = (_better(names, metric, state, unit, seed) for state in (old, new))
        rows += [
            (metric, first, second, one, other, one != other)
            for (first, second), one, other in zip(combinations(names, 2), before, after, strict=True)
        ]
    return rows


def _better(names: Sequence[str], metric: str, state: State, unit: Unit, seed: int) -> list[str]:
    """Return the better system of every pair, or that the two do not differ significantly."""
    scores = [state.systems[name].scores[metric] for name in names]
    turns = sorted(set.intersection(*(set(one) for one in scores)), key=turn_sort_key)
    if not turns:
        return ["no common turns"] * (len(names) * (len(names) - 1) // 2)
    units = units_of(turns, unit)
    table = units.sums(np.array([[one[turn] for turn in turns] for one in scores]))
    pairs = list(combinations(range(len(names)), 2))
    found = comparisons(
        np.array([table[first] - table[second] for first, second in pairs]), units.sizes, units.kind, seed, power=False
    ).frame
    return [
        "no significant difference" if not row.p_corrected <= ALPHA else names[first] if row.difference > 0 else names[second]
        for (first, second), row in zip(pairs, found.itertuples(), strict=True)
    ]
