"""Fields of turns: scores, and where the relevant passages are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

import numpy as np

from robustcs.documents.words import measure_label
from robustcs.evaluation.groups import baselines
from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.places import place_of
from robustcs.project.turn_scores import TurnCut
from robustcs.project.turns import TurnInputs
from robustcs.records.record import READ
from robustcs.records.table import (
    NO_SYSTEM,
    Contribution,
    TurnField,
    Values,
    aligned_numbers,
    aligned_words,
)

FIRST = TurnField(
    "first",
    "number",
    "rank of the first relevant passage in the run",
    "evaluate",
    per_system=True,
)
UNJUDGED = TurnField(
    "unjudged",
    "number",
    f"number of unjudged passages in the top {READ} of the run",
    "evaluate",
    per_system=True,
    place="none",
)
JUDGED = TurnField(
    "judged", "number", "number of judged passages of the turn", "evaluate", place="none"
)
CORRECT = TurnField(
    "correct",
    "words",
    "yes or no: whether the score passes the threshold",
    "evaluate",
    per_system=True,
    by_cut=True,
    place="none",
)
PLACE = TurnField(
    "place",
    "words",
    "where the first relevant passage of a turn that is not correct is: top (within the cutoff of"
    " the measure), 10, 100, deeper, absent (not in the run) or none (no passage is relevant)",
    "evaluate",
    per_system=True,
    by_cut=True,
)
LOSS = TurnField(
    "loss",
    "number",
    "score of Human, or of the baseline of the system's group, minus score of the system",
    "evaluate",
    per_system=True,
    by_cut=True,
    place="none",
)


def fields(inputs: TurnInputs, cut: TurnCut | None) -> list[Contribution]:
    """Return every measure, and what judgments show of rankings."""
    found = [_measure(inputs, name) for name in inputs.scores]
    if inputs.project.qrels:
        found.append(Contribution(JUDGED, partial(_judged, inputs)))
    if inputs.project.qrels and inputs.runs:
        found += [
            Contribution(FIRST, partial(_first, inputs)),
            Contribution(UNJUDGED, partial(_unjudged, inputs)),
        ]
    measure = cut.measure if cut else inputs.headline
    if measure and _baselines(inputs, inputs.scores[measure]):
        found.append(Contribution(LOSS, partial(_losses, inputs, measure)))
    if cut is not None:
        found.append(Contribution(CORRECT, partial(_correct, inputs, cut)))
    if cut is not None and inputs.depths:
        found.append(Contribution(PLACE, partial(_places, inputs, cut)))
    return found


def _measure(inputs: TurnInputs, name: str) -> Contribution:
    label = measure_label(name)
    aliases = () if label == name else (label,)
    field = TurnField(
        name,
        "number",
        f"score in {label}",
        "evaluate",
        per_system=True,
        place="scores",
        aliases=aliases,
    )
    return Contribution(field, partial(_scores, inputs, name))


def _scores(inputs: TurnInputs, name: str) -> Values:
    by_system = inputs.scores[name]
    return {system: aligned_numbers(inputs.ids, own) for system, own in by_system.items()}


def _judged(inputs: TurnInputs) -> Values:
    judged = {turn: float(len(grades)) for turn, grades in inputs.grades.items()}
    return {NO_SYSTEM: aligned_numbers(inputs.ids, judged)}


def _first(inputs: TurnInputs) -> Values:
    found = {}
    for system, depths in inputs.depths.items():
        known = {turn: rank for turn, rank in depths.first.items() if rank is not None}
        found[system] = aligned_numbers(inputs.ids, known)
    return found


def _unjudged(inputs: TurnInputs) -> Values:
    return {
        system: aligned_numbers(inputs.ids, depths.unjudged)
        for system, depths in inputs.depths.items()
    }


def _baselines(inputs: TurnInputs, scores: Mapping[str, Mapping[str, float]]) -> dict[str, str]:
    groups = inputs.project.groups.values()
    return baselines([(group.baseline, group.sets) for group in groups], scores)


def _losses(inputs: TurnInputs, measure: str) -> Values:
    scores = _scores(inputs, measure)
    found = {}
    for system, baseline in _baselines(inputs, inputs.scores[measure]).items():
        found[system] = np.asarray(scores[baseline], float) - np.asarray(scores[system], float)
    return found


def _correct(inputs: TurnInputs, cut: TurnCut) -> Values:
    found = {}
    for system, scores in inputs.scores.get(cut.measure, {}).items():
        words = {
            turn: ("yes" if cut.threshold.holds(score) else "no",) for turn, score in scores.items()
        }
        found[system] = aligned_words(inputs.ids, words)
    return found


def _places(inputs: TurnInputs, cut: TurnCut) -> Values:
    cutoff = parse_measure(cut.measure, given=True).cutoff or math.inf
    found = {}
    for system, depths in inputs.depths.items():
        scores = inputs.scores.get(cut.measure, {}).get(system, {})
        places = {}
        for turn, score in scores.items():
            if turn in depths.first and not cut.threshold.holds(score):
                place = place_of(depths.first[turn], cutoff, inputs.has_relevant(turn))
                places[turn] = (place,)
        found[system] = aligned_words(inputs.ids, places)
    return found
