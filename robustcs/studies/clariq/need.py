"""When to ask: predicted labels of clarification need against those of the topics."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from robustcs.errors import UsageError
from robustcs.evaluation.clarification import confusion, label_scores, weighted_scores
from robustcs.inputs.clariq import NEEDS, Topics
from robustcs.result import count, number, score, table, text
from robustcs.statistics.agreement import Statistic, agreement_estimate, cohen_of
from robustcs.statistics.means import mean_estimates, share_estimates
from robustcs.studies.clariq.tasks import System, Task, add_comparisons
from robustcs.studies.clariq.topic_means import NOTE, NOUN, TopicMeans, common_units

#: The smallest and the largest squared error of a label from 1 to 4.
_MSE_BOUNDS = (0.0, 9.0)

CLARIFICATION_NEED = table(
    "clarification_need", "How well the need for a question is predicted.",
    text("run", header="Run"), text("measure", "precision, recall, f1: weighted; mse; kappa: Cohen's"), score("value"),
    number("ci_low", "95 % by topic: nested bootstrap-t; recall: Wilson's; mse: t on the logit of its place in 0 to 9"),
    number("ci_high"), count("topics"), count("missing", "topics"), NOTE,
)  # fmt: skip
LABELS = table(
    "need_labels", "The same label by label.",
    text("run"), count("label"), score("precision"), score("recall"), score("f1", header="F1"), count("topics"),
    count("predicted", "topics"),
)  # fmt: skip
CONFUSION = table(
    "need_confusion", "Topics by label and prediction.",
    text("run"), count("label", header="need"), count("predicted", "0: no prediction"), count("topics"),
)  # fmt: skip
PREDICTIONS = table(
    "needs", "The prediction for every topic.",
    text("run"), text("topic"), count("label"), count("predicted", "null without a prediction"),
)  # fmt: skip


def clarification_need(systems: Sequence[System], topics: Topics | None, drop: bool, seed: int) -> Task:
    """Weighted precision, recall and F1; the mean squared error and Cohen's kappa over the topics with a prediction.

    A topic without a prediction has no label that could be right or near: it counts as wrong, and has no squared error.
    """
    predictors = [system for system in systems if system.needs is not None]
    measures, labels, tables, per_topic = [], [], [], []
    comparisons: list[tuple[Any, ...]] = []
    notes: dict[str, None] = {}
    kept: list[str] = []
    missing: dict[str, list[str]] = {}
    if predictors and topics:
        kept, missing = common_units(topics.needs, {system.name: system.needs or () for system in predictors}, drop)
        if not kept:
            raise UsageError("no-needs", "no topic has a clarification need and a prediction", "check the topic ids")
        true = np.array([topics.needs[topic] for topic in kept])
        predicted = np.array([[(system.needs or {}).get(topic, 0) for topic in kept] for system in predictors])
        names = [system.name for system in predictors]
        for name, row in zip(names, predicted, strict=True):
            lacks = len(missing[name])
            measures += [(name, *line[:-1], lacks, line[-1]) for line in _measures(true, row, seed)]
            table = confusion(true, row)
            scores = zip(NEEDS, *label_scores(table), table.sum(axis=1), table[:, 1:].sum(axis=0), strict=True)
            labels += [(name, *line) for line in scores]
            tables += [(name, need, column, int(table[need - 1, column])) for need in NEEDS for column in (*NEEDS, 0)]
            per_topic += [
                (name, topic, need, label or None) for topic, need, label in zip(kept, true, row.tolist(), strict=True)
            ]
        right = TopicMeans("clarification_need", "recall", names, (predicted == true).astype(float), np.arange(len(kept)))
        add_comparisons(comparisons, notes, right.compare(list(combinations(range(len(names)), 2)), seed))
    frames = {
        "clarification_need": CLARIFICATION_NEED.frame(measures),
        "need_labels": LABELS.frame(labels),
        "need_confusion": CONFUSION.frame(tables),
        "needs": PREDICTIONS.frame(per_topic).astype({"predicted": "Int64"}),
    }
    return Task(frames, comparisons, frozenset(kept), frozenset().union(*missing.values()), tuple(notes))


def _measures(
    true: npt.NDArray[np.int64], predicted: npt.NDArray[np.int64], seed: int
) -> list[tuple[str, float, float, float, int, str]]:
    """(measure, value, interval by topic, topics that it goes over, note)."""
    of_topic = np.array(
        [confusion([label], [guess]).ravel() for label, guess in zip(true, predicted, strict=True)], dtype=float
    )
    right, answered = (true == predicted).astype(float), (predicted > 0).astype(float)
    # weighted recall is the share of topics whose label is predicted
    (recall,) = share_estimates(right, np.ones(len(true)), NOUN)
    precision, f1 = (agreement_estimate(of_topic, weighted_statistic(place), seed, NOUN) for place in (0, 2))
    (mse,) = mean_estimates(answered * (true - predicted) ** 2, answered, NOUN, _MSE_BOUNDS)
    kappa = agreement_estimate(of_topic[predicted > 0], _kappa, seed, NOUN)
    found = {"precision": precision, "recall": recall, "f1": f1, "mse": mse, "kappa": kappa}
    # the ends of the scales; NaN stays NaN
    return [
        (name, one.value, float(np.maximum(-1.0 if name == "kappa" else 0.0, one.low)), one.high, one.units, one.note)
        for name, one in found.items()
    ]


def _kappa(sums: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Cohen's kappa, from sums of the tables [..., 20] of topics that have a prediction."""
    table = sums.reshape(*sums.shape[:-1], len(NEEDS), len(NEEDS) + 1)[..., 1:]
    return cohen_of(len(NEEDS))(table.reshape(*sums.shape[:-1], len(NEEDS) ** 2))


def weighted_statistic(place: int) -> Statistic:
    """Precision, recall or F1, from sums of the topics' confusion tables [..., 20]."""

    def statistic(sums: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return weighted_scores(sums.reshape(*sums.shape[:-1], len(NEEDS), len(NEEDS) + 1))[..., place]

    return statistic
