"""Fields of turns: how much the samples of a rewriter differ."""

from __future__ import annotations

from functools import partial

import numpy as np

from robustcs.evaluation.measure import ANSWER_FAMILIES, GIVEN, parse_measure
from robustcs.inputs.texts import without_empty
from robustcs.project.model import Formulation
from robustcs.project.turn_scores import TurnCut
from robustcs.project.turns import TurnInputs
from robustcs.records.table import Contribution, TurnField, Values, aligned_numbers
from robustcs.studies.samples.steps import files_of_samples

WORDINGS = TurnField(
    "wordings", "number", "number of different texts among the samples", "samples", per_system=True
)
SPREAD = TurnField(
    "spread",
    "number",
    "highest minus lowest score of the samples, in the headline measure",
    "samples",
    per_system=True,
)


def fields(inputs: TurnInputs, cut: TurnCut | None) -> list[Contribution]:
    """Return what differs between the samples of rewriters that have several."""
    found = []
    samples = inputs.workspace.samples
    texted = [
        name for name, texts in samples.items() if any(len(one) > 1 for one in texts.values())
    ]
    if texted:
        found.append(Contribution(WORDINGS, partial(_wordings, inputs, texted)))
    parts = inputs.project.formulations.values()
    sampled = [part for part in parts if part.role == "qr" and part.run and part.sample_runs]
    if sampled and inputs.project.qrels and cut is not None and _of_rankings(cut.measure):
        found.append(Contribution(SPREAD, partial(_spreads, inputs, sampled, cut.measure)))
    return found


def _of_rankings(measure: str) -> bool:
    return parse_measure(measure, given=True).family not in (GIVEN, *ANSWER_FAMILIES)


def _wordings(inputs: TurnInputs, names: list[str]) -> Values:
    """Return rewriter → number of different texts of every turn with at least two."""
    found = {}
    for name in names:
        texts = without_empty(inputs.workspace.samples[name])
        known = {turn: float(len(set(some))) for turn, some in texts.items() if len(some) > 1}
        found[name] = aligned_numbers(inputs.ids, known)
    return found


def _spreads(inputs: TurnInputs, sampled: list[Formulation], measure: str) -> Values:
    """Return rewriter → range of the scores of its samples in every turn that counts."""
    files = {part.name: files_of_samples(part) for part in sampled}
    every = [file for some in files.values() for file in some]
    scores, _ = inputs.workspace.scores_of(every, [parse_measure(measure)])
    found = {}
    for name, some in files.items():
        values = np.stack([scores[file.name][measure] for file in some])
        ranges = np.ptp(values, axis=0).tolist()
        known = dict(zip(scores[name].turns, ranges, strict=True))
        found[name] = aligned_numbers(inputs.ids, known)
    return found
