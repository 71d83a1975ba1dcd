"""Token F1 and exact match between predicted and gold answers, as SQuAD defines them.

Source: the official SQuAD 2.0 evaluation script; ``CANNOTANSWER`` as in QuAC (Choi et al., 2018). The score of a turn
is the maximum over its gold answers. QuAC's own F1, which leaves out one annotator at a time, differs from it.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from robustcs.evaluation.measures import TurnScores
from robustcs.inputs.answers import CANNOT_ANSWER
from robustcs.inputs.turns import turn_sort_key

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


class Unmatched(NamedTuple):
    """Numbers of turns that only one side has.

    missing
        Gold turns without a prediction, which score 0.
    extra
        Predicted turns without gold answers, which are excluded.
    """

    missing: int
    extra: int


def answer_tokens(text: str) -> list[str]:
    """Return the words of the normalized text, in order."""
    return _ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()


def answer_f1(predicted: str, golds: Sequence[str]) -> float:
    """Return token F1 in [0, 1], the maximum over ``golds`` (one or more).

    F1 = 2 · common / (predicted tokens + gold tokens), with tokens counted as often as they occur. An answer without tokens
    matches only another one without tokens. ``CANNOTANSWER`` matches only itself, in exactly this spelling. The quotient is
    the script's harmonic mean with a single rounding, so an F1 of one half is 0.5 and passes the threshold ``>=0.5``.
    """
    return _best(predicted, golds, _f1)


def exact_match(predicted: str, golds: Sequence[str]) -> float:
    """Return 1.0 if the normalized texts of the prediction and of one of ``golds`` (one or more) are equal, else 0.0.

    ``CANNOTANSWER`` matches only itself, in exactly this spelling.
    """
    return _best(predicted, golds, lambda own, gold: float(own == gold))


def _best(
    predicted: str, golds: Sequence[str], score: Callable[[list[str], list[str]], float]
) -> float:
    """Return the highest score of the tokens of the prediction and of a gold answer."""
    tokens = answer_tokens(predicted)
    return max(
        float(predicted == gold)
        if CANNOT_ANSWER in (predicted, gold)
        else score(tokens, answer_tokens(gold))
        for gold in golds
    )


def _f1(own: list[str], gold: list[str]) -> float:
    if not own or not gold:
        return float(own == gold)
    return 2 * sum((Counter(own) & Counter(gold)).values()) / (len(own) + len(gold))


def answer_scores(
    predicted: Mapping[str, str], gold: Mapping[str, Sequence[str]]
) -> tuple[TurnScores, Unmatched]:
    """Return the scores of every gold turn, and the numbers of turns that only one side has.

    The turns are in natural order, and the measures are ``f1`` and ``em``, in [0, 1]. A turn without a prediction scores 0 in
    both.
    """
    turns = sorted(gold, key=turn_sort_key)
    scores = {
        name: np.array(
            [score(predicted[turn], gold[turn]) if turn in predicted else 0.0 for turn in turns],
            dtype=np.float64,
        )
        for name, score in (("f1", answer_f1), ("em", exact_match))
    }
    return TurnScores(turns, scores), Unmatched(
        len(gold.keys() - predicted.keys()), len(predicted.keys() - gold.keys())
    )
