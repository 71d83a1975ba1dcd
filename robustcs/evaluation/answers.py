"""Token F1 and exact match between predicted and gold answers, as SQuAD defines them.

Source: the official SQuAD 2.0 evaluation script; ``CANNOTANSWER`` as in QuAC (Choi et al., 2018).
The score of a turn is the maximum over its gold answers. QuAC's own F1, which leaves out one
annotator at a time, differs from it.
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

#: (tokens of a prediction, tokens of a gold answer) → score in [0, 1].
TokenScore = Callable[[list[str], list[str]], float]

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


class Unmatched(NamedTuple):
    """Numbers of turns with only gold answers, or with only a prediction.

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

    F1 = 2 · common / (predicted tokens + gold tokens), with tokens counted as often as they occur.
    An answer without tokens matches only another one without tokens. ``CANNOTANSWER`` matches only
    itself, in exactly this spelling. The quotient is the script's harmonic mean with a single
    rounding, so an F1 of one half is 0.5 and passes the threshold ``>=0.5``.
    """
    return _best(predicted, golds, _token_f1)


def exact_match(predicted: str, golds: Sequence[str]) -> float:
    """Return 1.0 if the normalized prediction equals one of ``golds`` (one or more), else 0.0.

    ``CANNOTANSWER`` matches only itself, in exactly this spelling.
    """
    return _best(predicted, golds, _same_tokens)


def _best(predicted: str, golds: Sequence[str], score: TokenScore) -> float:
    """Return the highest score of the prediction for one of the gold answers."""
    tokens = answer_tokens(predicted)
    scores = []
    for gold in golds:
        if CANNOT_ANSWER in (predicted, gold):
            scores.append(float(predicted == gold))
        else:
            scores.append(score(tokens, answer_tokens(gold)))
    return max(scores)


def _token_f1(predicted: list[str], gold: list[str]) -> float:
    if not predicted or not gold:
        return float(predicted == gold)
    common = Counter(predicted) & Counter(gold)
    return 2 * common.total() / (len(predicted) + len(gold))


def _same_tokens(predicted: list[str], gold: list[str]) -> float:
    return float(predicted == gold)


def answer_scores(
    predicted: Mapping[str, str], gold: Mapping[str, Sequence[str]]
) -> tuple[TurnScores, Unmatched]:
    """Return the scores of every gold turn, and the numbers of turns without a counterpart.

    ``predicted``: turn → answer; ``gold``: turn → gold answers, at least one. The turns are in
    natural order, and the measures are ``f1`` and ``em``, in [0, 1]. A turn without a prediction
    scores 0 in both.
    """
    turns = sorted(gold, key=turn_sort_key)
    f1, em = np.zeros(len(turns)), np.zeros(len(turns))
    for row, turn in enumerate(turns):
        if turn in predicted:
            f1[row] = answer_f1(predicted[turn], gold[turn])
            em[row] = exact_match(predicted[turn], gold[turn])
    missing = len(gold.keys() - predicted.keys())
    extra = len(predicted.keys() - gold.keys())
    return TurnScores(turns, {"f1": f1, "em": em}), Unmatched(missing, extra)
