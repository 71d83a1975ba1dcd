"""States of projects from the records of their turns: of a project, or of the file in a report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from robustcs.conversations import Places
from robustcs.evaluation.bounds import measure_bounds
from robustcs.evaluation.extremes import BOUNDED
from robustcs.evaluation.matrix import ABSENT, UNJUDGED, GradeMatrix, Grades
from robustcs.evaluation.measure import GIVEN, Measure, parse_measure
from robustcs.policy import EvaluationPolicy
from robustcs.project.text_run_match import digest
from robustcs.records.record import DEEPEST, Details, TurnRecords
from robustcs.records.schema import Graded, Head
from robustcs.records.table import NO_SYSTEM, TurnTable
from robustcs.statistics import Codes
from robustcs.studies.compare.states import ByTurn, ProjectState, SystemState

#: Least number of passages in the top of a turn.
SHOWN = 5
#: Judges of measures that are not computed from rankings (:class:`robustcs.records.schema.Head`).
_OF_ANSWERS, _OF_PREDICTIONS = "answers", "gold answers"


def state_of(
    turns: TurnRecords,
    measures: Sequence[str] = (),
    thresholds: Sequence[str] = (),
    outcomes: bool = True,
) -> ProjectState:
    """Return the state that records show, without bounds and without digests of rankings.

    Measures of predicted answers are not compared, nor are metrics in files of answers for a system
    that has rankings or a file of per-turn scores.

    measures, thresholds
        These only; without them, all measures, and the thresholds of the project.
    outcomes
        With the outcomes of answers also of systems that have other scores.
    """
    table = turns.table
    scores = _scores(table)
    head = turns.head()
    ranked, answered = _chosen(scores, head, measures)
    known: dict[str, dict[str, str]] = {}
    if outcomes or any(name not in ranked for name in turns.details.systems):
        known = _outcomes(table)
        head = turns.head()  # it names the files that were read for them, too
    systems = {}
    for name in turns.details.systems:
        if name in ranked:
            systems[name] = _system(turns, name, ranked[name], head)
            systems[name] = replace(systems[name], outcomes=known.get(name, {}))
        elif name in known:
            own = answered.get(name, {})
            systems[name] = _answers(turns.details, name, own, known[name], head)
    judgments = {turn: turns.details.judgments(turn) for turn in table.ids}
    state = ProjectState(
        name=head["name"],
        policy=_policy(head),
        thresholds=tuple(thresholds or head["thresholds"]),
        inputs=head["inputs"],
        systems=systems,
        judgments={turn: checksum for turn, checksum in judgments.items() if checksum},
        missing=head["policy"]["missing_turns"],
        formulations=list(head["formulations"]),
        groups=head["groups"],
    )
    if head["conversations"] == "fields":
        state = replace(state, conversations=_places(table, state.turns))
    return state


def policy_of(stored: Mapping[str, Any]) -> EvaluationPolicy:
    """Return the policy that outputs contain; where conversations come from is left out."""
    keys = EvaluationPolicy().as_dict()
    return EvaluationPolicy(**{key: stored[key] for key in keys})


def _policy(head: Head) -> dict[str, object]:
    policy = policy_of(head["policy"])
    found = {**policy.as_dict(), "line": policy.describe()}
    if head["policy"].get("conversation"):  # here also the name of a file
        found["conversation"] = head["policy"]["conversation"]
    return found


def _scores(table: TurnTable) -> dict[str, dict[str, dict[str, float]]]:
    """Return measure → system → turn → score."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for one in table.columns.fields:
        if one.place == "scores":
            for system, numbers in table.columns[one.name].numbers.items():
                pairs = zip(table.ids, numbers.tolist(), strict=True)
                scores = {turn: score for turn, score in pairs if not math.isnan(score)}
                if scores:
                    found.setdefault(one.name, {})[system] = scores
    return found


def _chosen(
    scores: Mapping[str, ByTurn], head: Head, asked: Sequence[str]
) -> tuple[dict[str, dict[str, Mapping[str, float]]], dict[str, dict[str, Mapping[str, float]]]]:
    """Return system → measure → turn → score: of rankings and files of scores, and of answers."""
    named = [one for one in head["measures"] if parse_measure(one, given=True).family == GIVEN]
    ranked: dict[str, dict[str, Mapping[str, float]]] = {}
    answered: dict[str, dict[str, Mapping[str, float]]] = {}
    for measure, by_system in scores.items():
        judge = head["judges"].get(measure, "")
        if judge == _OF_PREDICTIONS or (asked and measure not in asked):
            continue
        if judge == _OF_ANSWERS and named and measure not in named:
            continue
        for system, values in by_system.items():
            found = answered if judge == _OF_ANSWERS else ranked
            found.setdefault(system, {})[measure] = values
    return ranked, answered


def _outcomes(table: TurnTable) -> dict[str, dict[str, str]]:
    """Return system → turn → outcome of the answer."""
    if not any(one.name == "outcome" for one in table.columns.fields):
        return {}
    found = {}
    for system, values in table.columns["outcome"].values.items():
        pairs = zip(table.ids, values, strict=True)
        found[system] = {turn: str(words[0]) for turn, words in pairs if len(words)}
    return found


def _answers(
    details: Details, name: str, scores: ByTurn, outcomes: Mapping[str, str], head: Head
) -> SystemState:
    """Return the state of a system with answers; a turn without a score of its answer scores 0."""
    filled = {}
    for measure, values in scores.items():
        filled[measure] = {turn: values.get(turn, 0.0) for turn in outcomes}
    lacking = [turn for turn in outcomes if details.answer(name, turn) is None]
    role = head["formulations"].get(name, "")
    return SystemState(role, filled, {}, {}, {}, {}, lacking=lacking, outcomes=outcomes)


def _system(turns: TurnRecords, name: str, scores: ByTurn, head: Head) -> SystemState:
    """Return the state of a system with rankings or with a file of per-turn scores."""
    details = turns.details
    every = dict.fromkeys(turn for own in scores.values() for turn in own)
    absent = {turn: details.absent(name, turn) for turn in turns.table.ids}
    texts = {turn: details.texts_by_formulation(turn).get(name) for turn in every}
    shown = max([SHOWN, *(parse_measure(one, given=True).cutoff or 0 for one in scores)])
    heads = {}
    for turn in every:
        ranking = details.ranking(name, turn)
        if ranking is not None:
            heads[turn] = list(ranking[: min(DEEPEST, shown)])
    return SystemState(
        role=head["formulations"].get(name, ""),
        scores=scores,
        low={},
        high={},
        rankings={},
        texts={turn: text for turn, text in texts.items() if text is not None},
        heads=heads,
        lacking=[turn for turn in every if absent[turn] == "turn"],
        unscored=[turn for turn, what in absent.items() if what == "score"],
        absent_is_missing=name in head["absent"],
    )


def _places(table: TurnTable, turns: Iterable[str]) -> Places:
    """Return the conversation of turns, and their places in it."""
    conversations = table.columns["conversation"].values[NO_SYSTEM]
    depths = table.columns["depth"].numbers[NO_SYSTEM].tolist()
    found = {}
    for turn, words, place in zip(table.ids, conversations, depths, strict=True):
        found[turn] = (str(words[0]), None if math.isnan(place) else int(place))
    return {turn: found[turn] for turn in turns}


# ---------------------------------------------------------------- what rankings add


def with_rankings(state: ProjectState, digests: Mapping[str, Mapping[str, str]]) -> ProjectState:
    """Return the state with the digests of its rankings: run → turn → digest."""
    systems = dict(state.systems)
    for name, by_turn in digests.items():
        if name in systems:
            own = systems[name]
            rankings = {turn: by_turn.get(turn, "") for turn in own.heads}
            systems[name] = replace(own, rankings=rankings)
    return replace(state, systems=systems)


def with_bounds(
    state: ProjectState, runs: Mapping[str, tuple[GradeMatrix, Codes]], highest: int
) -> ProjectState:
    """Return the state with the bounds of the scores of its runs.

    runs
        Run → its grades, and int64[T]: the number of unjudged passages of the whole run. If these
        are more than those of the matrix, measures that look deeper have no bounds.
    highest
        The highest grade of a judged passage.
    """
    policy = policy_of(state.policy)
    systems = dict(state.systems)
    for name, (matrix, unjudged) in runs.items():
        if name not in systems:
            continue
        whole = bool((unjudged == (matrix.grades == UNJUDGED).sum(axis=1)).all())
        low, high = {}, {}
        for measure in _bounded(systems[name]):
            if whole or (measure.cutoff or math.inf) <= matrix.grades.shape[1]:
                found = measure_bounds(matrix, measure, policy, highest, "pool", unjudged)
                low[measure.name] = dict(zip(matrix.turns, found.low.tolist(), strict=True))
                high[measure.name] = dict(zip(matrix.turns, found.high.tolist(), strict=True))
        systems[name] = replace(systems[name], low=low, high=high)
    return replace(state, systems=systems)


def _bounded(system: SystemState) -> list[Measure]:
    """Return the measures of a run that have bounds."""
    measures = [parse_measure(name, given=True) for name in system.scores]
    return [measure for measure in measures if measure.family in BOUNDED]


def kept_rankings(details: Details, state: ProjectState) -> dict[str, dict[str, list[Graded]]]:
    """Return run → turn → the passages that the records keep, of the turns with scores."""
    found: dict[str, dict[str, list[Graded]]] = {}
    for name, system in state.systems.items():
        for turn in system.heads:
            found.setdefault(name, {})[turn] = list(details.ranking(name, turn) or ())
    return found


def digests_of_kept(
    rankings: Mapping[str, Mapping[str, Sequence[Graded]]], depth: int | None
) -> dict[str, dict[str, str]]:
    """Return run → turn → digest of the ranking down to ``depth``; empty without passages."""
    found = {}
    for name, by_turn in rankings.items():
        found[name] = {
            turn: digest(passage for passage, _ in ranking[:depth]) if ranking else ""
            for turn, ranking in by_turn.items()
        }
    return found


def kept_matrix(
    name: str, rankings: Mapping[str, Sequence[Graded]], details: Details
) -> tuple[GradeMatrix, Codes]:
    """Return the grades of kept rankings, and the number of unjudged passages of the whole run."""
    turns = tuple(rankings)
    grades = [
        [UNJUDGED if grade is None else grade for _, grade in ranking]
        for ranking in rankings.values()
    ]
    judged = []
    for turn in turns:
        counts = sorted(details.judged(turn).items(), reverse=True)
        judged.append([grade for grade, number in counts for _ in range(number)])
    retrieved = np.array([details.retrieved(name, turn) for turn in turns], dtype=np.int64)
    matrix = GradeMatrix(
        name=name,
        turns=turns,
        grades=_padded(grades),
        judged=_padded(judged),
        retrieved=retrieved[:, 0],
        missing=retrieved[:, 0] == 0,
        extra_turns=0,
        notes=(),
    )
    return matrix, retrieved[:, 1]


def _padded(rows: Sequence[Sequence[int]]) -> Grades:
    """Return int16[rows, longest], padded with :data:`ABSENT`."""
    found = np.full((len(rows), max(map(len, rows), default=0)), ABSENT, dtype=np.int16)
    for place, row in enumerate(rows):
        found[place, : len(row)] = row
    return found


def with_rest(
    state: ProjectState, rankings: Mapping[str, Mapping[str, Sequence[Graded]]], details: Details
) -> ProjectState:
    """Return the state with the number of unjudged passages below those that the records keep."""
    systems = dict(state.systems)
    for name, by_turn in rankings.items():
        below = {}
        for turn, ranking in by_turn.items():
            _, unjudged = details.retrieved(name, turn)
            unknown = unjudged - sum(grade is None for _, grade in ranking)
            if unknown:
                below[turn] = unknown
        systems[name] = replace(systems[name], below=below)
    return replace(state, systems=systems)
