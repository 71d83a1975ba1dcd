"""Scores of formulations from frames, turns × measures, as tests write them by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from robustcs.evaluation.bins import Formulations
from robustcs.evaluation.matrix import GradeMatrix
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.measures import TurnScores, evaluate
from robustcs.policy import EvaluationPolicy


def scores_of(given: pd.DataFrame | TurnScores) -> TurnScores:
    return given if isinstance(given, TurnScores) else TurnScores.of(given)


def formulations_of(
    original: pd.DataFrame | TurnScores | None,
    rewriters: Mapping[str, pd.DataFrame | TurnScores],
    human: pd.DataFrame | TurnScores,
) -> Formulations:
    every = {name: scores_of(one) for name, one in rewriters.items()}
    return Formulations(None if original is None else scores_of(original), every, scores_of(human))


def score_frame(
    matrix: GradeMatrix, measures: Sequence[Measure], policy: EvaluationPolicy
) -> pd.DataFrame:
    """Scores of a run, turns × measures."""
    return evaluate(matrix, measures, policy).frame()
