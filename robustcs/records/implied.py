"""Fields that scores, judgments and labels imply, whether these are of a project or of a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from robustcs.evaluation.groups import baselines
from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.thresholds import Threshold
from robustcs.records.record import READ, Details
from robustcs.records.table import (
    BETWEEN_TEXTS,
    NO_SYSTEM,
    TurnField,
    Values,
    aligned_numbers,
    aligned_words,
)


def score_field(name: str) -> TurnField:
    """Return the field of a measure."""
    label = parse_measure(name, given=True).label
    return TurnField(
        name,
        "number",
        f"score in {label}",
        "evaluate",
        per_system=True,
        aliases=() if label == name else (label,),
        place="scores",
    )


def correct_values(scores: Mapping[str, np.ndarray], threshold: Threshold) -> Values:
    """Return system → yes or no for every turn with a score; ``scores``: system → float[turns]."""
    found = {}
    for system, values in scores.items():
        words = zip(values.tolist(), threshold.holds(values).tolist(), strict=True)
        found[system] = [
            () if score != score else ("yes" if holds else "no",) for score, holds in words
        ]
    return found


def loss_values(
    scores: Mapping[str, np.ndarray], groups: Iterable[tuple[str, Sequence[str]]]
) -> Values:
    """Return system → float[turns]: score of its baseline minus its own.

    groups
        Baseline and systems of each group; see :func:`~robustcs.evaluation.groups.baselines`.
    """
    return {
        system: scores[baseline] - scores[system]
        for system, baseline in baselines(groups, scores).items()
    }


def judged_values(ids: Sequence[str], details: Details) -> Values:
    """Return the number of judged passages of every turn that is judged."""
    judged = {turn: float(sum(details.judged(turn).values())) for turn in ids}
    return {
        NO_SYSTEM: aligned_numbers(ids, {turn: number for turn, number in judged.items() if number})
    }


def tag_values(ids: Sequence[str], details: Details) -> Values:
    """Return the categories that coders assigned to every turn."""
    found = {}
    for turn in ids:
        tags = [tag for own, _ in details.labels(turn).values() for tag in own]
        found[turn] = list(dict.fromkeys(tags))
    return {NO_SYSTEM: aligned_words(ids, found)}


def coder_values(ids: Sequence[str], details: Details) -> Values:
    """Return the coders who reviewed every turn."""
    return {NO_SYSTEM: aligned_words(ids, {turn: list(details.labels(turn)) for turn in ids})}


def searched_texts(ids: Sequence[str], details: Details) -> list[str]:
    """Return the text of every turn in which words of a filter are searched.

    Texts of the question, answers, passages in the top :data:`~robustcs.records.record.READ`,
    labels and notes, with :data:`~robustcs.records.table.BETWEEN_TEXTS` between them.
    """
    shown: dict[str, list[str]] = {}
    for turn in ids:
        rankings = [details.ranking(system, turn) or () for system in details.systems]
        top = [passage for ranking in rankings for passage, _ in ranking[:READ]]
        shown[turn] = list(dict.fromkeys(top))
    wanted = dict.fromkeys(passage for top in shown.values() for passage in top)
    passages = details.passage_texts(wanted)
    found = []
    for turn in ids:
        parts = list(details.texts_by_formulation(turn).values())
        answers = (details.answer(system, turn) for system in details.systems)
        parts += [answer for answer in answers if answer is not None]
        parts += [passages[passage] for passage in shown[turn] if passage in passages]
        for tags, note in details.labels(turn).values():
            parts += [*tags, note]
        found.append(BETWEEN_TEXTS.join(parts))
    return found
