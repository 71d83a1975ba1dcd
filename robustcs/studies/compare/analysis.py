"""Comparison of two states of a project, and the outcome of a gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from robustcs.evaluation.ranking import Top
from robustcs.evaluation.state import State, SystemState
from robustcs.evaluation.thresholds import DEFAULT_THRESHOLDS, Threshold, distinct_thresholds, parse_threshold
from robustcs.inputs.turns import turn_sort_key
from robustcs.lazy import pd
from robustcs.policy import Grouping
from robustcs.result import Evaluated, Result, count, difference, flag, measure, number, p_value, score, share, table, text
from robustcs.statistics.columns import comparisons
from robustcs.statistics.estimate import joined
from robustcs.statistics.units import units_of
from robustcs.studies.compare.cases import NO_GATE, Cases, Gate
from robustcs.studies.compare.changes import ROUNDING, Aligned, Change, Rescored, changes_of
from robustcs.studies.compare.fit import Fits, Passage, doubt, figures, to_judge
from robustcs.studies.compare.gate import ALPHA, DECISIONS, Outcome
from robustcs.studies.compare.reasons import doubts, lines_of
from robustcs.wording import some_of

_SYSTEM = text("system", header="System")
#: How well the judgments fit the passages; null where the passages are unknown.
_FIT = (
    count("depth", "passages of a turn that count: the measure's cutoff"),
    share("judged_old", "judged share of the top passages of the old state, down to this depth"),
    share("judged_new", "the same in the new state"),
    count("entered", "unjudged passages in the new top that are not in the old top"),
    count("new_passages", "of these, passages that no run of the old state retrieves for their turn"),
    count("possibly_new", "of these, passages that the old state may retrieve at ranks that a report does not keep"),
    count("turns_judged", "turns whose top passages are all judged in both states"),
)
_TO_JUDGE = count(
    "to_judge", "unjudged passages in the new tops of all rows whose judgments no longer fit; null for other rows"
)


@dataclass(frozen=True)
class Comparison(Result):
    """Comparison of two states of a project.

    old, new
        The compared states.
    tops
        ``RUN, old`` or ``RUN, new`` → best passages by turn, for runs that changed; empty unless requested and known.
    passages
        Passage → text of these passages, if a collection contains them.
    """

    study = "compare"
    files = table(
        "inputs", "Input files of both states by role.",
        text("role", header="Input"), text("path", "path in the new state, or in the old one if the input was removed"),
        text("state", "same, changed, added or removed"),
    )  # fmt: skip
    measures = table(
        "measures", "Mean score of every run that both states have, over their common turns.",
        _SYSTEM, measure(), score("old"), score("new"),
        *difference("change", "new minus old").rounded(3).between(says="95% CI of this comparison alone, from the sign-flip"
                    " test"),
        p_value(says="two-sided sign-flip test over sampling units"),
        p_value("p_corrected", "adjusted by max-T over all runs of the measure", "p adj."),
        score("rescored", "mean of the old run under the new judgments; null if unknown", "old, new judgments"),
        difference("low", "lowest change that any grades of the unjudged passages could give, under the new judgments",
                   "lowest").rounded(3),
        difference("high", "highest such change", "highest").rounded(3),
        count("turns", "turns that both states score"), text("note", "caveats about the numbers, if any"),
        *_FIT, difference("change_judged", "change on these turns").rounded(3), _TO_JUDGE,
        count("scored", "turns that at least one state scores"),
        count("answered_old", "turns of these that the system answers in the old state"),
        count("answered_new", "the same in the new state"),
    )  # fmt: skip
    turns = table(
        "turns", "Every turn whose score changed.",
        _SYSTEM, text("turn", header="Turn"), measure(), score("old"), score("new"), difference("change"),
        text("why", "what changed: words, ranking, judgments (joined by “and”), scores or policy", "what changed"),
        text("crossed", "thresholds that the turn crossed: +>0 means now correct, −>0 no longer correct"),
        text("old_text", "question text in the old state"), text("new_text", "question text in the new state"),
    )  # fmt: skip
    conclusions = table(
        "conclusions", "The better system of every pair before and now, at adjusted p ≤ 0.05 (max-T over the pairs of a"
        " measure).",
        measure(), text("first", header="First"), text("second", header="Second"),
        text("old", "the better system, or “no significant difference”", "better before"), text("new", header="better now"),
        flag("flipped", "whether old and new differ"),
    )  # fmt: skip
    gate = table(
        "gate", "Outcome of every condition for every run and measure that it covers.",
        text("condition", "as written; “every condition” if something is gone, such as a run", "Condition"), _SYSTEM,
        text("metric", "measure; for shares of errors also the threshold", "Measure"),
        *difference("drop", "drop of the mean score, or growth of the share, under the new judgments", "Drop")
        .rounded(3).between(says="95% CI of the drop, of this row alone"),
        p_value("p", "one-sided p of “the mean drop is at most the limit”, of this row alone"),
        p_value("p_corrected", "the same, adjusted by max-T over all rows of the gate in which something differs", "p adj."),
        number("low", "lowest drop that any grades of the unjudged passages could give; null without bounds"),
        number("high", "highest such drop"), number("limit", "largest drop that the condition allows"),
        difference("expected", "mean drop under grades drawn by the hole model (--evidence expected)"),
        count("lost", "turns that are gone or have lost their judgments"),
        *_FIT, difference("drop_judged", "drop on these turns").rounded(3),
        p_value("p_judged", "p_corrected on these turns; null where the gate does not need it: few passages are new"),
        _TO_JUDGE,
        text("rule", "rule on judgments that decided: “no fit”, “new passages” (p_judged is too large), or empty"),
        text("outcome", "failed, cannot tell or passed", "Outcome"), text("reason", "reason for the outcome"),
    )  # fmt: skip

    reasons = table(
        "reasons", "Reasons of outcomes other than passed, or limits of the changes without a gate; each kind once.",
        text("outcome", "failed or cannot tell; empty without a gate"), text("condition", "the conditions, as written"),
        text("subject", "systems and measures that share the reason: the first five, and the number of further ones"),
        count("cases", "rows of gate, or of measures, that share it"),
        text("reason", "the reason; if numbers differ between the rows, their range"),
    )  # fmt: skip

    old: State
    new: State
    tops: Mapping[str, Top] = field(default_factory=dict)
    passages: Mapping[str, str] = field(default_factory=dict)

    @property
    def outcome(self) -> Outcome | None:
        """The worst outcome of the gate's cases: failed, cannot tell or passed; None without conditions."""
        found = set(self.gate["outcome"])
        return next((outcome for outcome in DECISIONS if outcome in found), None)

    @property
    def doubts(self) -> list[str]:
        """Sentences on changes that missing judgments may explain; they come before any other statement."""
        return [f"{line.who(display=True)}: {line.reason}." for line in doubts(self.measures.itertuples())]

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
    deeper: Set[Passage] | None = None,
) -> Comparison:
    """Compare two states.

    evaluated
        Policy and notes of the new state; this function adds turns and units.
    rescored
        Run → old run under the new judgments. Without it, the old scores are compared as they are, and the bounds of a change
        combine the bounds of the two scores. These bounds are valid but wider than necessary.
    deeper
        See :class:`robustcs.studies.compare.fit.Fits`.
    """
    rescored = rescored or {}
    fits = Fits(old, new, rescored, deeper)
    notes = list(evaluated.notes)
    common = [name for name in new.systems if name in old.systems]
    for where, names in (("old", old.systems.keys() - new.systems.keys()), ("new", new.systems.keys() - old.systems.keys())):
        if names:
            notes.append(f"runs only in the {where} state: {some_of(sorted(names))}")
    changes = [
        change for name in common for change in changes_of(name, old.systems[name], new.systems[name], rescored.get(name))
    ]
    turns = sorted({turn for change in changes for turn in change.turns}, key=turn_sort_key)
    single = {turn for name in common for turn in _scored(old.systems[name]) ^ _scored(new.systems[name])}
    if single:
        notes.append(f"turns scored in only one state are excluded: {some_of(sorted(single, key=turn_sort_key))}")
    if old.judgments != new.judgments and not rescored and old.judgments and new.judgments:
        notes.append(
            "the judgments changed, and the old runs cannot be scored under the new ones, so changes of judgments and of"
            " systems are not separated; if NEW is a report folder, name its project instead"
        )
    units = units_of(turns, evaluated.grouping)
    if units.note:
        notes.append(units.note)
    thresholds = tuple(map(parse_threshold, new.thresholds)) or DEFAULT_THRESHOLDS
    rows, how = Cases(gate, changes, old, new, thresholds, fits).rows(evaluated.grouping, seed)
    if gate.conditions:
        both = "both states with the new judgments" if rescored and old.judgments != new.judgments else ""
        notes += gate.notes(", ".join(filter(None, (how, both))))
    by = evaluated.grouping
    evaluated = replace(evaluated, notes=tuple(notes), turns=len(turns), unit=units.kind, units=units.count)
    cases, measures = Comparison.gate.frame(pd.DataFrame(rows)), _measures(changes, fits, by, seed)
    lines = lines_of(row for row in cases.itertuples() if row.outcome != "passed")
    lines = lines if len(cases) else doubts(measures.itertuples())
    return Comparison(evaluated, old, new, content={
        "inputs": _inputs(old, new), "measures": [measures.assign(**_answered(changes, old, new))],
        "turns": _turns(changes, old, new, thresholds), "conclusions": _conclusions(common, old, new, by, seed),
        "gate": cases, "reasons": [(one.outcome, one.condition, one.who(), len(one.rows), one.reason) for one in lines],
    })  # fmt: skip


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


def _measures(changes: Sequence[Change], fits: Fits, by: Grouping, seed: int) -> pd.DataFrame:
    at = Aligned([change.turns for change in changes], by)
    sums = at.sums([change.new - change.old for change in changes])
    metrics = [change.metric for change in changes]
    frame = comparisons(sums, at.sizes, at.units.kind, seed, metrics, power=False).frame.rename(
        columns={"difference": "change"}
    )
    columns = ("old", "new", "rescored", "low", "high")
    means = {name: [float(getattr(change, name).mean()) for change in changes] for name in columns}
    systems, turns = [change.run for change in changes], [len(change.turns) for change in changes]
    found = [fits.of(change.run, change.metric, change.turns) for change in changes]
    rows = [figures(fit, "change_judged", change.new - change.old) for fit, change in zip(found, changes, strict=True)]
    passages = to_judge(found)
    rows = [row | ({"to_judge": passages} if fit and fit.lost else {}) for row, fit in zip(rows, found, strict=True)]
    told = pd.DataFrame(rows, index=frame.index, columns=[*(one.name for one in (*_FIT, _TO_JUDGE)), "change_judged"])
    frame["note"] = [joined(doubt(fit), note) for fit, note in zip(found, frame["note"], strict=True)]
    return frame.assign(system=systems, metric=metrics, turns=turns, **means, **told)


def _answered(changes: Sequence[Change], old: State, new: State) -> dict[str, list[int]]:
    """Return, for each change, the number of turns that a state scores, and of those that the system answers in each state."""
    systems = [(old.systems[one.run], new.systems[one.run], one.metric) for one in changes]
    return {
        "scored": [len(first.scores[metric].keys() | second.scores[metric].keys()) for first, second, metric in systems],
        "answered_old": [len(first.answered(metric)) for first, _, metric in systems],
        "answered_new": [len(second.answered(metric)) for _, second, metric in systems],
    }


def _turns(changes: Sequence[Change], old: State, new: State, thresholds: Sequence[Threshold]) -> list[tuple[Any, ...]]:
    rows = []
    for change in changes:
        before, after = old.systems[change.run], new.systems[change.run]
        cuts = distinct_thresholds(change.metric, thresholds)
        for place in np.flatnonzero(np.abs(change.new - change.old) >= ROUNDING):
            turn, values = change.turns[place], (change.old, change.rescored, change.new)
            was, again, now = (float(one[place]) for one in values)
            why = _why(turn, was, again, now, before, after, old, new)
            rows.append((
                change.run, turn, change.metric, was, now, now - was, why, _crossed(was, now, cuts),
                before.texts.get(turn), after.texts.get(turn),
            ))  # fmt: skip
    return rows


def _why(
    turn: str, was: float, again: float, now: float, before: SystemState, after: SystemState, old: State, new: State
) -> str:
    """Return the cause of a changed score: words or ranking, judgments, both, scores or policy."""
    if not before.rankings or not after.rankings:
        return "scores"
    parts = []
    new_ranking = before.rankings.get(turn) != after.rankings.get(turn)
    new_judgments = old.judgments.get(turn) != new.judgments.get(turn)
    # if both changed, one may have had no effect on this score
    if new_ranking and not abs(now - again) < ROUNDING:
        parts.append("words" if before.texts.get(turn) != after.texts.get(turn) else "ranking")
    if new_judgments and not abs(again - was) < ROUNDING:
        parts.append("judgments")
    return " and ".join(parts) or "policy"


def _crossed(was: float, now: float, thresholds: Sequence[Threshold]) -> str:
    found = []
    for threshold in thresholds:
        first, second = threshold.holds([was, now])
        if first != second:
            found.append(f"{'+' if second else '−'}{threshold}")
    return " ".join(found)


def _conclusions(common: Sequence[str], old: State, new: State, by: Grouping, seed: int) -> list[tuple[Any, ...]]:
    rows = []
    metrics = dict.fromkeys(metric for name in common for metric in new.systems[name].scores)
    for metric in metrics:
        names = [name for name in common if metric in old.systems[name].scores and metric in new.systems[name].scores]
        if len(names) < 2:
            continue
        before, after = (_better(names, metric, state, by, seed) for state in (old, new))
        rows += [
            (metric, first, second, one, other, one != other)
            for (first, second), one, other in zip(combinations(names, 2), before, after, strict=True)
        ]
    return rows


def _better(names: Sequence[str], metric: str, state: State, by: Grouping, seed: int) -> list[str]:
    """Return the better system of every pair, or ``no significant difference``."""
    scores = [state.systems[name].scores[metric] for name in names]
    turns = sorted(set.intersection(*(set(one) for one in scores)), key=turn_sort_key)
    if not turns:
        return ["no common turns"] * (len(names) * (len(names) - 1) // 2)
    units = units_of(turns, by)
    table = units.sums(np.array([[one[turn] for turn in turns] for one in scores]))
    pairs = list(combinations(range(len(names)), 2))
    found = comparisons(
        np.array([table[first] - table[second] for first, second in pairs]), units.sizes, units.kind, seed, power=False
    ).frame
    return [
        "no significant difference" if not row.p_corrected <= ALPHA else names[first] if row.difference > 0 else names[second]
        for (first, second), row in zip(pairs, found.itertuples(), strict=True)
    ]
