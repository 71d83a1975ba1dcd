"""The tasks of ClariQ: question retrieval, document relevance after the answer, and the need to ask."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations, product
from typing import Any, NamedTuple

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.clarification import (
    CUTOFFS,
    DocumentRelevance,
    confusion,
    recalls,
    weighted_scores,
)
from robustcs.inputs.clariq import NEEDS, Topics
from robustcs.inputs.turns import turn_sort_key
from robustcs.messages import Message, OptionName
from robustcs.result import Field, count, difference, number, p_value, score, table, text
from robustcs.statistics import Codes, Floats
from robustcs.statistics.agreement import Statistic, agreement_estimate, cohen_of
from robustcs.statistics.columns import EXACT, P_FLOOR, comparisons
from robustcs.statistics.estimate import Estimate
from robustcs.statistics.means import mean_estimates, share_estimates
from robustcs.statistics.units import Units

NOUN = "topic"
#: The baselines of document relevance: the worst question of a facet, no question, and the best question.
BASELINES = ("worst", "no", "best")
#: The smallest and the largest squared error of a label from 1 to 4.
_MSE_BOUNDS = (0.0, 9.0)
_CLUSTER = "95% CI, cluster-robust t over topics; null for fewer than five"
_SYSTEM = text("system", header="System")
_NOTE: Field = text("note", "caveats about the interval, if any")
QUESTION_RELEVANCE = table(
    "question_relevance", "Recall of each topic's questions: mean over topics.",
    _SYSTEM, count("k"), *score("recall").between(says=_CLUSTER), count("topics"), count("missing", "topics without output"),
    _NOTE,
)  # fmt: skip
TOPICS = table(
    "topics", "Recall of questions by topic.",
    text("system"), text("topic"), count("questions", "relevant questions of the topic"), count("k"), score("recall"),
)  # fmt: skip
DOCUMENT_RELEVANCE = table(
    "document_relevance", "Scores of the documents retrieved after the question: means over facets or contexts.",
    _SYSTEM, text("metric"), *score("value").between(says=_CLUSTER),
    count("units", "facets or contexts"),
    count("topics"), count("missing", "units without output"), _NOTE,
)  # fmt: skip
FACETS = table(
    "facets", "Document relevance by facet or context.",
    text("system"), text("unit", "facet or context"), text("topic"), text("asked", "question; null if unknown"),
    text("outcome", "asked, no candidate or no output; null if unknown"), text("metric"), score("value"),
)  # fmt: skip
CLARIFICATION_NEED = table(
    "clarification_need", "Quality of the predicted need to ask.",
    _SYSTEM, text("measure", "precision, recall and f1 (weighted by label), mse, kappa (Cohen's)"), *score("value").between(
        says="95% CI by topic: nested bootstrap-t; recall: Wilson; mse: cluster-robust t on the logit scale of 0 to 9"),
    count("topics"), count("missing", "topics without a prediction"), _NOTE,
)  # fmt: skip
CONFUSION = table(
    "need_confusion", "Number of topics by label and prediction.",
    _SYSTEM, count("label", header="need"), count("predicted", "predicted label; 0: no prediction"), count("topics"),
)  # fmt: skip
COMPARISONS = table(
    "comparisons", "Differences between runs in means over topics (document relevance: over facets or contexts).",
    text("task"), text("metric", header="Measure"), text("first", header="First"), text("second", header="Second"),
    *difference("difference", "first − second").between(
        says="95% CI of this comparison alone, from the sign-flip test; null if it cannot be computed"),
    p_value("p", "two-sided sign-flip test over topics"),
    p_value("p_corrected", "adjusted by max-T over all pairs of runs of the task and measure", "p adj."), count("topics"),
    P_FLOOR, EXACT, number("effect", "mean difference divided by its standard deviation over topics"),
    difference("detectable", "smallest true difference that this design detects with 80% power at p ≤ 0.05"),
    text("note", "caveats about the numbers, if any"),
)  # fmt: skip
TASK_TABLES = (
    QUESTION_RELEVANCE,
    DOCUMENT_RELEVANCE,
    CLARIFICATION_NEED,
    COMPARISONS,
    CONFUSION,
    TOPICS,
    FACETS,
)


class Outputs(NamedTuple):
    """System → its output, by task; a system may be in some tasks only.

    questions
        Topic → its questions, best first.
    documents
        Document relevance by measure and unit. A unit is a facet, or a context of a multi-turn conversation.
    needs
        Topic → predicted label of the need to ask.
    """

    questions: Mapping[str, Mapping[str, Sequence[str]]]
    documents: Mapping[str, DocumentRelevance]
    needs: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class TaskResults:
    """Results of the tasks: rows by table, scored topics, topics that a system misses, and notes on comparisons."""

    rows: dict[str, list[Any]] = field(
        default_factory=lambda: {spec.name: [] for spec in TASK_TABLES}
    )
    topics: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)
    notes: dict[str, None] = field(default_factory=dict)

    def means(
        self, task: str, metric: str, names: Sequence[str], values: Floats, groups: Codes, pairs: Sequence[tuple[int, int]],
        seed: int,
    ) -> tuple[Estimate, ...]:  # fmt: skip
        """Return each system's mean with its interval by topic, and add the comparisons of ``pairs`` of systems.

        The test flips the signs of all units of a topic together; ``pairs`` are its family. ``values``: float64[systems,
        units]; ``groups``: int64[units], the topic of each unit, numbered from 0 without gaps.
        """
        topics = Units(NOUN, groups, tuple(map(str, range(int(groups.max(initial=-1)) + 1))))
        if pairs:
            first, second = np.array(pairs).T
            tested = comparisons(
                topics.sums(values[first] - values[second]), topics.sizes, NOUN, seed
            )
            known = {"task": task, "metric": metric, "topics": topics.count}
            rows = tested.frame.assign(
                **known, first=[names[one] for one in first], second=[names[one] for one in second]
            )
            self.rows["comparisons"] += rows.to_dict("records")
            if note := tested.families[0].note:
                self.notes[f"{task.replace('_', ' ')}: {note}"] = None
        inside = bool(((values >= 0) & (values <= 1)).all())
        return mean_estimates(
            topics.sums(values), topics.sizes, NOUN, (0.0, 1.0) if inside else None
        )


def common_units(
    units: Iterable[str], have: Mapping[str, Container[str]], drop: bool
) -> tuple[list[str], dict[str, list[str]]]:
    """Return the scored units in natural order, and the missing units of each system.

    ``drop`` excludes units that any system misses.
    """
    wanted = sorted(units, key=turn_sort_key)
    missing = {name: [unit for unit in wanted if unit not in own] for name, own in have.items()}
    gone = set().union(*missing.values()) if drop else set()
    return [unit for unit in wanted if unit not in gone], missing


class Task(NamedTuple):
    """The output of each system in a task, the scored units, and the missing units of each system."""

    outputs: Mapping[str, Any]
    kept: list[str]
    missing: dict[str, list[str]]


def tasks_of(outputs: Outputs, topics: Topics | None, drop: bool) -> dict[str, Task]:
    """Return the tasks for which systems have output; ``drop`` excludes units that any system of the task misses.

    A unit of document relevance that one system misses and another has scores 0 or is excluded. Baselines come first.

    Raises :class:`UsageError` if no unit is left, or if the systems have no measure of document relevance in common.
    """
    lists, relevance, needs = outputs
    found: dict[str, Task] = {}
    if lists and topics and topics.questions:
        found["question_relevance"] = Task(lists, *common_units(topics.questions, lists, drop))
    if relevance:
        relevance = {
            name: relevance[name] for name in (*BASELINES, *relevance) if name in relevance
        }
        metrics = _metrics(relevance)
        if not metrics:
            raise UsageError(
                "no-common-measures",
                f"{', '.join(relevance)} have no measure in common",
                "use the same for all",
            )
        scores = {name: own.scores[metrics[0]] for name, own in relevance.items()}
        have = {
            name: {unit for unit in own if relevance[name].outcomes.get(unit) != "no output"}
            for name, own in scores.items()
        }
        found["document_relevance"] = Task(
            relevance, *common_units(dict.fromkeys(chain(*scores.values())), have, drop)
        )
    if not all(task.kept for task in found.values()):
        raise UsageError(
            "no-turns",
            "no topic is answered by all systems",
            Message("omit ", OptionName("missing", "drop"), ", or check the topic ids"),
        )
    if needs and topics:
        found["clarification_need"] = Task(needs, *common_units(topics.needs, needs, drop))
        if not found["clarification_need"].kept:
            raise UsageError(
                "no-needs",
                "no topic has both a label and a prediction of the need to ask",
                "check the topic ids",
            )
    return found


def _metrics(relevance: Mapping[str, DocumentRelevance]) -> list[str]:
    """Return the measures of document relevance that all systems have."""
    first, *others = (own.scores for own in relevance.values())
    return [metric for metric in first if all(metric in own for own in others)]


def question_relevance(found: TaskResults, task: Task, topics: Topics, seed: int) -> None:
    """Add recall@k of the topics' questions."""
    lists, kept, missing = task
    relevant = {topic: topics.questions[topic] for topic in kept}
    values = np.stack([recalls(own, relevant) for own in lists.values()])
    pairs, topic_numbers = list(combinations(range(len(lists)), 2)), np.arange(len(kept))
    for column, k in enumerate(CUTOFFS):
        means = found.means(
            "question_relevance",
            f"R@{k}",
            list(lists),
            values[:, :, column],
            topic_numbers,
            pairs,
            seed,
        )
        for name, mean in zip(lists, means, strict=True):
            found.rows["question_relevance"].append(
                (name, k, mean, len(kept), len(missing[name]), mean.note)
            )
    found.rows["topics"] += [
        (name, topic, len(relevant[topic]), k, values[row, place, column])
        for row, name in enumerate(lists) for place, topic in enumerate(kept) for column, k in enumerate(CUTOFFS)
    ]  # fmt: skip
    found.topics.update(kept)
    found.missing.update(*missing.values())


def document_relevance(
    found: TaskResults,
    task: Task,
    topics: Topics | None,
    conversations: Mapping[str, str],
    seed: int,
) -> None:
    """Add document relevance after asking, and compare every system with the other systems and the baselines."""
    scored, kept, missing = task
    names = list(scored)
    # the topic of a facet or context, or the unit itself if its topic is unknown
    known = {**conversations, **(topics.facets if topics else {})}
    topic_of = {unit: known.get(unit, unit) for unit in chain(kept, *missing.values())}
    numbers = {
        topic: place for place, topic in enumerate(dict.fromkeys(topic_of[unit] for unit in kept))
    }
    groups = np.array([numbers[topic_of[unit]] for unit in kept])
    count_ = sum(name in BASELINES for name in names)
    own_places = range(count_, len(names))
    pairs = [*product(own_places, range(count_)), *combinations(own_places, 2)]
    for metric in _metrics(scored):
        values = np.array(
            [[scored[name].scores[metric].get(unit, 0.0) for unit in kept] for name in names]
        )
        means = found.means("document_relevance", metric, names, values, groups, pairs, seed)
        for name, mean, line in zip(names, means, values, strict=True):
            counts = (len(kept), len(numbers), len(missing[name]))
            found.rows["document_relevance"].append((name, metric, mean, *counts, mean.note))
            own = scored[name]
            found.rows["facets"] += [
                (
                    name,
                    unit,
                    topic_of[unit],
                    own.questions.get(unit),
                    own.outcomes.get(unit),
                    metric,
                    value,
                )
                for unit, value in zip(kept, line, strict=True)
            ]
    found.topics.update(numbers)
    found.missing.update(topic_of[unit] for absent in missing.values() for unit in absent)


def clarification_need(found: TaskResults, task: Task, topics: Topics, seed: int) -> None:
    """Add weighted precision, recall and F1 over all topics, and mean squared error and Cohen's kappa over predicted topics.

    A topic without a prediction counts as wrong and has no squared error.
    """
    needs, kept, missing = task
    true = np.array([topics.needs[topic] for topic in kept])
    predicted = np.array([[own.get(topic, 0) for topic in kept] for own in needs.values()])
    for name, row in zip(needs, predicted, strict=True):
        for measure, one in _measures(true, row, seed).items():
            found.rows["clarification_need"].append(
                (name, measure, one, one.units, len(missing[name]), one.note)
            )
        pairs = confusion(true, row)
        found.rows["need_confusion"] += [
            (name, need, column, int(pairs[need - 1, column]))
            for need in NEEDS
            for column in (*NEEDS, 0)
        ]
    right, pairs_of_systems = (
        (predicted == true).astype(float),
        list(combinations(range(len(needs)), 2)),
    )
    found.means(
        "clarification_need",
        "recall",
        list(needs),
        right,
        np.arange(len(kept)),
        pairs_of_systems,
        seed,
    )
    found.topics.update(kept)
    found.missing.update(*missing.values())


def _measures(true: Codes, predicted: Codes, seed: int) -> dict[str, Estimate]:
    """Return measure → estimate with its interval by topic."""
    of_topic = np.array(
        [confusion([one], [guess]).ravel() for one, guess in zip(true, predicted, strict=True)],
        dtype=float,
    )
    right, answered = (true == predicted).astype(float), (predicted > 0).astype(float)
    precision, f1 = (
        agreement_estimate(of_topic, weighted_statistic(place), seed, NOUN) for place in (0, 2)
    )
    # weighted recall is the share of topics whose label is predicted
    (recall,) = share_estimates(right, np.ones(len(true)), NOUN)
    (mse,) = mean_estimates(answered * (true - predicted) ** 2, answered, NOUN, _MSE_BOUNDS)
    kappa = agreement_estimate(of_topic[predicted > 0], _kappa, seed, NOUN)
    found = {"precision": precision, "recall": recall, "f1": f1, "mse": mse, "kappa": kappa}
    # clip to the scale; NaN stays NaN
    return {
        name: replace(one, low=float(np.maximum(-1.0 if name == "kappa" else 0.0, one.low)))
        for name, one in found.items()
    }


def _square(sums: Floats) -> Floats:
    return sums.reshape(*sums.shape[:-1], len(NEEDS), len(NEEDS) + 1)


def _kappa(sums: Floats) -> Floats:
    """Return Cohen's kappa from sums [..., 20] of the confusion tables of topics with a prediction."""
    return cohen_of(len(NEEDS))(_square(sums)[..., 1:].reshape(*sums.shape[:-1], len(NEEDS) ** 2))


def weighted_statistic(place: int) -> Statistic:
    """Return the function that computes precision, recall or F1 from sums [..., 20] of the topics' confusion tables."""
    return lambda sums: weighted_scores(_square(sums))[..., place]
