"""Fields of turns: scores, and where the relevant passages are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from robustcs.evaluation.groups import baselines
from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.places import place_of
from robustcs.project.turn_scores import TurnCut
from robustcs.project.turns import TurnInputs
from robustcs.records.implied import correct_values, judged_values, loss_values, score_field
from robustcs.records.record import READ
from robustcs.records.table import (
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
    found = [
        Contribution(score_field(name), partial(_scores, inputs, name)) for name in inputs.scores
    ]
    if inputs.project.qrels:
        found.append(Contribution(JUDGED, partial(_judged, inputs)))
    if inputs.project.qrels and inputs.runs:
        found += [
            Contribution(FIRST, partial(_first, inputs)),
            Contribution(UNJUDGED, partial(_unjudged, inputs)),
        ]
    measure = cut.measure if cut else inputs.headline
    if measure and baselines(_groups(inputs), inputs.scores[measure]):
        found.append(Contribution(LOSS, partial(_losses, inputs, measure)))
    if cut is not None:
        found.append(Contribution(CORRECT, partial(_correct, inputs, cut)))
    if cut is not None and inputs.depths:
        found.append(Contribution(PLACE, partial(_places, inputs, cut)))
    return found


def _scores(inputs: TurnInputs, name: str) -> dict[str, np.ndarray]:
    by_system = inputs.scores.get(name, {})
    return {system: aligned_numbers(inputs.ids, own) for system, own in by_system.items()}


def _judged(inputs: TurnInputs) -> Values:
    return judged_values(inputs.ids, inputs)


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


def _groups(inputs: TurnInputs) -> list[tuple[str, Sequence[str]]]:
    return [(group.baseline, group.sets) for group in inputs.project.groups.values()]


def _losses(inputs: TurnInputs, measure: str) -> Values:
    return loss_values(_scores(inputs, measure), _groups(inputs))


def _correct(inputs: TurnInputs, cut: TurnCut) -> Values:
    return correct_values(_scores(inputs, cut.measure), cut.threshold)


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
