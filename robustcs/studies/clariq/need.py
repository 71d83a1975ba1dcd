"""When to ask: predicted labels of clarification need against those of the topics."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from robustcs.errors import UsageError
from robustcs.evaluation.clarification import WEIGHTED, confusion, label_scores, weighted_scores
from robustcs.inputs.clariq import NEEDS, Topics
from robustcs.result import count, number, score, table, text
from robustcs.statistics.clusters import bootstrap_grouped_mean
from robustcs.statistics.intervals import CONFIDENCE, RESAMPLES
from robustcs.studies.clariq.tasks import System, Task
from robustcs.studies.clariq.topic_means import TopicMeans, common_units

CLARIFICATION_NEED = table(
    "clarification_need", "How well the need for a question is predicted.",
    text("run", header="Run"), text("measure", "precision, recall, f1: weighted; mse"), score("value"),
    number("ci_low", "bootstrap over topics"), number("ci_high"), count("topics"), count("missing", "topics"),
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
    """Weighted precision, recall and F1, and the mean squared error over the topics with a prediction.

    A topic without a prediction has no label that could be right or near: it counts as wrong, and has no squared error.
    """
    predictors = [system for system in systems if system.needs is not None]
    measures, labels, tables, per_topic, comparisons = [], [], [], [], []
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
            measures += [(name, *line, lacks) for line in _measures(true, row, seed)]
            table = confusion(true, row)
            scores = zip(NEEDS, *label_scores(table), table.sum(axis=1), table[:, 1:].sum(axis=0), strict=True)
            labels += [(name, *line) for line in scores]
            tables += [(name, need, column, int(table[need - 1, column])) for need in NEEDS for column in (*NEEDS, 0)]
            per_topic += [
                (name, topic, need, label or None) for topic, need, label in zip(kept, true, row.tolist(), strict=True)
            ]
        right = TopicMeans("clarification_need", "recall", names, (predicted == true).astype(float), np.arange(len(kept)))
        comparisons = right.compare(list(combinations(range(len(names)), 2)), seed)
    frames = {
        "clarification_need": CLARIFICATION_NEED.frame(measures),
        "need_labels": LABELS.frame(labels),
        "need_confusion": CONFUSION.frame(tables),
        "needs": PREDICTIONS.frame(per_topic).astype({"predicted": "Int64"}),
    }
    return Task(frames, comparisons, frozenset(kept), frozenset().union(*missing.values()))


def _measures(
    true: npt.NDArray[np.int64], predicted: npt.NDArray[np.int64], seed: int
) -> list[tuple[str, float, float, float, int]]:
    """(measure, value, interval over resampled topics, topics that it goes over)."""
    draws = np.random.default_rng(seed).integers(0, len(true), size=(RESAMPLES, len(true)), dtype=np.int32)
    drawn = np.stack([confusion(true[draw], predicted[draw]) for draw in draws])
    bounds = np.quantile(weighted_scores(drawn), [0.5 - CONFIDENCE / 2, 0.5 + CONFIDENCE / 2], axis=0)
    values = weighted_scores(confusion(true, predicted))
    rows = [
        (name, float(value), float(low), float(high), len(true))
        for name, value, low, high in zip(WEIGHTED, values, *bounds, strict=True)
    ]
    answered = (predicted > 0).astype(float)
    errors = answered * (true - predicted) ** 2
    count = int(answered.sum())
    mse = float(errors.sum() / count) if count else float("nan")
    return [*rows, ("mse", mse, *bootstrap_grouped_mean(errors, answered, seed), count)]
