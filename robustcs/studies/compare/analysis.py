"""Comparison of two states of a project, and the outcome of a gate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from robustcs.evaluation.missing_scores import bounded_comparisons
from robustcs.evaluation.thresholds import (
    DEFAULT_THRESHOLDS,
    Threshold,
    distinct_thresholds,
    parse_threshold,
)
from robustcs.inputs.turns import turn_sort_key
from robustcs.lazy import pd
from robustcs.policy import Grouping
from robustcs.records.record import TurnRecords
from robustcs.records.schema import InputFile, TurnRecord
from robustcs.result import (
    Evaluated,
    Result,
    count,
    difference,
    flag,
    measure,
    number,
    p_value,
    score,
    share,
    table,
    text,
)
from robustcs.statistics.columns import comparisons
from robustcs.statistics.estimate import joined
from robustcs.statistics.units import units_of
from robustcs.studies.compare.cases import NO_GATE, Cases, Gate
from robustcs.studies.compare.changes import ROUNDING, Aligned, Change, Rescored, changes_of
from robustcs.studies.compare.fit import Fits, Passage, doubt, figures, to_judge
from robustcs.studies.compare.gate import ALPHA, DECISIONS, Outcome
from robustcs.studies.compare.missing import (
    OPEN,
    Missing,
    many,
    missing_line,
    missing_scores,
    unstored,
)
from robustcs.studies.compare.reasons import doubts, lines_of
from robustcs.studies.compare.states import ProjectState, SystemState
from robustcs.wording import some_of, system_name

_SYSTEM = text("system", header="System")
#: How well the judgments fit the passages; null where the passages are unknown.
_FIT = (
    count("depth", "passages of a turn that count: the measure's cutoff"),
    share("judged_old", "judged share of the top passages of the old state, down to this depth"),
    share("judged_new", "the same in the new state"),
    count("entered", "unjudged passages in the new top that are not in the old top"),
    count(
        "new_passages", "of these, passages that no run of the old state retrieves for their turn"
    ),
    count(
        "possibly_new",
        "of these, passages that the old state may retrieve at ranks that a report does not keep",
    ),
    count("turns_judged", "turns whose top passages are all judged in both states"),
)
_TO_JUDGE = count(
    "to_judge",
    "unjudged passages in the new tops of all rows whose judgments no longer fit; null for other rows",
)


def _no_record(turn: str) -> TurnRecord:
    raise KeyError(turn)


@dataclass(frozen=True)
class Comparison(Result):
    """Comparison of two states of a project.

    old, new
        The compared states.
    records
        The records of the turns of both states; None for states that were not read from records.
    record
        Turn → its record in the new state, with the changes of its scores.
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
        count("scored", "turns of the system in both states: with a score in at least one, or with a missing one"),
        count("answered_old", "turns of these that the system answers in the old state"),
        count("answered_new", "the same in the new state"),
        count("missing_old", "of the turns scored, those whose score is missing in a file of the old state"),
        count("missing_new", "the same in the new state"),
    )  # fmt: skip
    turns = table(
        "turns", "Every turn whose score changed, the largest change first.",
        _SYSTEM, text("turn", header="Turn"), measure(), score("old"), score("new"), difference("change"),
        text("why", "what changed: words, ranking, judgments (joined by “and”), scores or policy", "what changed"),
        text("crossed", "thresholds that the turn crossed: +>0 means now correct, −>0 no longer correct"),
        text("old_text", "question text in the old state"), text("new_text", "question text in the new state"),
    )  # fmt: skip
    conclusions = table(
        "conclusions", "The better system of every pair before and now, at adjusted p ≤ 0.05 (max-T over the pairs of a"
        " measure).",
        measure(), text("first", header="First"), text("second", header="Second"),
        text("old", f"the better system, “no significant difference”, or “{OPEN}”", "better before"),
        text("new", header="better now"), flag("flipped", "whether old and new differ and neither is open"),
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
        text("rule", "rule that decided: “missing scores”, “no fit”, “new passages” (p_judged is too large), or empty"),
        text("outcome", "failed, cannot tell or passed", "Outcome"), text("reason", "reason for the outcome"),
    )  # fmt: skip

    reasons = table(
        "reasons", "Reasons of outcomes other than passed, or limits of the changes without a gate; each kind once.",
        text("outcome", "failed or cannot tell; empty without a gate"), text("condition", "the conditions, as written"),
        text("subject", "systems and measures that share the reason: the first five, and the number of further ones"),
        count("cases", "rows of gate, or of measures, that share it"),
        text("reason", "the reason; if numbers differ between the rows, their range"),
    )  # fmt: skip

    old: ProjectState
    new: ProjectState
    records: tuple[TurnRecords, TurnRecords] | None = field(default=None, repr=False)
    record: Callable[[str], TurnRecord] = field(default=_no_record, repr=False)

    @property
    def outcome(self) -> Outcome | None:
        """The worst outcome of the gate's cases: failed, cannot tell or passed; None without conditions."""
        found = set(self.gate["outcome"])
        return next((outcome for outcome in DECISIONS if outcome in found), None)

    @property
    def doubts(self) -> list[str]:
        """Sentences on changes that missing judgments may explain; they come before any other statement."""
        return [
            f"{line.who(display=True)}: {line.reason}."
            for line in doubts(self.measures.itertuples())
        ]

    @property
    def missing(self) -> dict[tuple[str, str], str]:
        """A sentence for each system and state (old, new) with missing scores, if they are many."""
        found, several = {}, self.measures["system"].nunique() > 1
        for row in self.measures.itertuples():
            for when, state, lost in (
                ("old", self.old, row.missing_old),
                ("new", self.new, row.missing_new),
            ):
                if lost and many(row.missing_old, row.missing_new, row.scored):
                    whose = f" of {system_name(row.system)}" if several else ""
                    found[row.system, when] = (
                        f"{missing_line(lost, row.scored, when, whose)} ({state.name})."
                    )
        return found

    @property
    def failed(self) -> bool:
        """Whether a condition of the gate failed."""
        return self.outcome == "failed"


def compare(
    old: ProjectState,
    new: ProjectState,
    evaluated: Evaluated,
    rescored: Mapping[str, Rescored] | None = None,
    gate: Gate = NO_GATE,
    seed: int = 0,
    deeper: Set[Passage] = frozenset(),
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
    for where, names in (
        ("old", old.systems.keys() - new.systems.keys()),
        ("new", new.systems.keys() - old.systems.keys()),
    ):
        if names:
            notes.append(f"runs only in the {where} state: {some_of(sorted(names))}")
    changes = [
        change
        for name in common
        for change in changes_of(name, old.systems[name], new.systems[name], rescored.get(name))
    ]
    turns = sorted({turn for change in changes for turn in change.turns}, key=turn_sort_key)
    single = {
        turn for name in common for turn in _scored(old.systems[name]) ^ _scored(new.systems[name])
    }
    if single:
        notes.append(
            f"turns scored in only one state are excluded: {some_of(sorted(single, key=turn_sort_key))}"
        )
    if old.judgments != new.judgments and not rescored and old.judgments and new.judgments:
        notes.append(
            "the judgments changed, and the old runs cannot be scored under the new ones, so changes of judgments and of"
            " systems are not separated; if NEW is a report folder, name its project instead"
        )
    units = units_of(turns, evaluated.grouping)
    if units.note:
        notes.append(units.note)
    thresholds = tuple(map(parse_threshold, new.thresholds)) or DEFAULT_THRESHOLDS
    missing = missing_scores(old, new)
    rows, how = Cases(gate, changes, old, new, thresholds, fits, missing).rows(
        evaluated.grouping, seed
    )
    if gate.conditions:
        both = (
            "both states with the new judgments"
            if rescored and old.judgments != new.judgments
            else ""
        )
        notes += gate.notes(", ".join(filter(None, (how, both))))
    by = evaluated.grouping
    notes += [
        line for name, one in missing.items() if not one.many for line in one.told(f" of {name}")
    ]
    lost = {turn for one in missing.values() for turn in one.old | one.new}
    evaluated = replace(
        evaluated, notes=tuple(notes), turns=len(turns), unit=units.kind, units=units.count, unscored=len(lost)
    )  # fmt: skip
    cases, measures = Comparison.gate.frame(rows), _measures(changes, fits, by, seed)
    lines = lines_of(row for row in cases.itertuples() if row.outcome != "passed")
    lines = lines if len(cases) else doubts(measures.itertuples())
    content = Comparison.built(
        inputs=_inputs(old, new),
        measures=measures.assign(**_covered(changes, old, new, missing)),
        turns=_turns(changes, old, new, thresholds),
        conclusions=_conclusions(common, old, new, missing, by, seed),
        gate=cases,
        reasons=[(one.outcome, one.condition, one.who(), len(one.rows), one.reason) for one in lines],
    )  # fmt: skip
    return Comparison(evaluated, old, new, content=content)


def _scored(system: SystemState) -> set[str]:
    return {turn for scores in system.scores.values() for turn in scores}


def _inputs(old: ProjectState, new: ProjectState) -> list[tuple[str, str, str]]:
    before = {_first_role(entry): entry for entry in old.inputs}
    after = {_first_role(entry): entry for entry in new.inputs}
    rows = []
    for role, entry in after.items():
        earlier = before.get(role)
        same = (
            earlier is not None
            and earlier["sha256"] is not None
            and earlier["sha256"] == entry["sha256"]
        )
        rows.append(
            (
                entry["role"],
                str(entry["path"]),
                "added" if earlier is None else "same" if same else "changed",
            )
        )
    return rows + [
        (entry["role"], str(entry["path"]), "removed")
        for role, entry in before.items()
        if role not in after
    ]


def _first_role(entry: InputFile) -> str:
    """Return the role for which a file was read first; its further roles depend on what else the project has."""
    return entry["role"].partition(", ")[0]


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
    rows = [
        figures(fit, "change_judged", change.new - change.old)
        for fit, change in zip(found, changes, strict=True)
    ]
    passages = to_judge(found)
    rows = [
        row | ({"to_judge": passages} if fit and fit.lost else {})
        for row, fit in zip(rows, found, strict=True)
    ]
    told = pd.DataFrame(
        rows,
        index=frame.index,
        columns=[*(one.name for one in (*_FIT, _TO_JUDGE)), "change_judged"],
    )
    frame["note"] = [
        joined(doubt(fit), note) for fit, note in zip(found, frame["note"], strict=True)
    ]
    return frame.assign(system=systems, metric=metrics, turns=turns, **means, **told)


def _covered(
    changes: Sequence[Change], old: ProjectState, new: ProjectState, missing: Mapping[str, Missing]
) -> dict[str, list[int]]:
    """Return, for each change, the system's number of turns, and of those answered and missing in each state."""
    systems = [(old.systems[one.run], new.systems[one.run], one.metric) for one in changes]
    lost = [missing.get(one.run, Missing()) for one in changes]
    return {
        "scored": [
            len(first.scores[metric].keys() | second.scores[metric].keys() | own.turns)
            for (first, second, metric), own in zip(systems, lost, strict=True)
        ],
        "answered_old": [len(first.covered(metric)) for first, _, metric in systems],
        "answered_new": [len(second.covered(metric)) for _, second, metric in systems],
        "missing_old": [len(own.old) for own in lost],
        "missing_new": [len(own.new) for own in lost],
    }


def _turns(
    changes: Sequence[Change], old: ProjectState, new: ProjectState, thresholds: Sequence[Threshold]
) -> list[tuple[Any, ...]]:
    """Return the rows of changed turns, the largest change first; equal ones by system and turn."""
    rows: list[tuple[Any, ...]] = []
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
    return sorted(rows, key=lambda row: -abs(row[5]))


def _why(
    turn: str,
    was: float,
    again: float,
    now: float,
    before: SystemState,
    after: SystemState,
    old: ProjectState,
    new: ProjectState,
) -> str:
    """Return the cause of a changed score: words or ranking, judgments, both, scores or policy.

    Where rankings are equal as far as they are compared, and nothing else changed, they differ further down.
    """
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
    if not parts and new.depth is not None and old.policy == new.policy:
        return "ranking"
    return " and ".join(parts) or "policy"


def _crossed(was: float, now: float, thresholds: Sequence[Threshold]) -> str:
    found = []
    for threshold in thresholds:
        first, second = threshold.holds([was, now])
        if first != second:
            found.append(f"{'+' if second else '−'}{threshold}")
    return " ".join(found)


def _conclusions(
    common: Sequence[str],
    old: ProjectState,
    new: ProjectState,
    missing: Mapping[str, Missing],
    by: Grouping,
    seed: int,
) -> list[tuple[Any, ...]]:
    rows = []
    metrics = dict.fromkeys(metric for name in common for metric in new.systems[name].scores)
    for metric in metrics:
        names = [
            name
            for name in common
            if metric in old.systems[name].scores and metric in new.systems[name].scores
        ]
        if len(names) < 2:
            continue
        found = [missing.get(name, Missing()) for name in names]
        doubted = [name for name, one in zip(names, found, strict=True) if one.many]
        before = _better(names, metric, old, [one.old for one in found], doubted, by, seed)
        after = _better(names, metric, new, [one.new for one in found], doubted, by, seed)
        rows += [
            (metric, first, second, one, other, one != other and OPEN not in (one, other))
            for (first, second), one, other in zip(
                combinations(names, 2), before, after, strict=True
            )
        ]
    return rows


def _better(
    names: Sequence[str],
    metric: str,
    state: ProjectState,
    lost: Sequence[Set[str]],
    doubted: Sequence[str],
    by: Grouping,
    seed: int,
) -> list[str]:
    """Return the better system of every pair, ``no significant difference``, or :data:`OPEN`.

    ``lost``: turns whose score is missing, by system. A system is better only if it is for all values of these scores. If it is
    not, or if there is no difference and a system is among those ``doubted`` (with many missing scores), the pair is open.
    """
    scores = [state.systems[name].scores[metric] for name in names]
    shared = set.intersection(*(set(one) for one in scores))
    pairs = list(combinations(range(len(names)), 2))
    if not shared:
        return ["no common turns"] * len(pairs)
    turns = sorted(shared.union(*lost), key=turn_sort_key)
    given, units = unstored(scores, lost, turns), units_of(turns, by)
    known = np.array([turn in shared for turn in turns])
    table, sizes = units.sums(np.where(known, given.values, 0.0)), units.sums(known.astype(float))
    sums = np.array([table[first] - table[second] for first, second in pairs])
    found = comparisons(sums, sizes, units.kind, seed, power=False)
    firm = bounded_comparisons(found, given, pairs, units, seed).comparisons if given else found
    told = []
    for (first, second), row, p in zip(
        pairs, found.frame.itertuples(), firm.corrected, strict=True
    ):
        better = names[first] if row.difference > 0 else names[second]
        doubt = row.p_corrected <= ALPHA or names[first] in doubted or names[second] in doubted
        told.append(
            better if p <= ALPHA else OPEN if given and doubt else "no significant difference"
        )
    return told
