"""The two tasks of ClariQ about questions: are the relevant ones found, and what do the asked ones do for the documents?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.clarification import CUTOFFS, Asked, recalls
from robustcs.inputs.clariq import Topics
from robustcs.inputs.clariq_tables import Conversation
from robustcs.lazy import pd
from robustcs.result import count, flag, score, table, text
from robustcs.studies.clariq.topic_means import INTERVAL, NOTE, TopicMeans, common_units

#: Names of the baselines of document relevance, as its tables show them.
BASELINES = ("worst", "no", "best")
QUESTION_RELEVANCE = table(
    "question_relevance", "How many of a topic's questions are found.",
    text("run", header="Run"), count("k"), score("recall"), *INTERVAL, count("topics"), count("missing", "topics"), NOTE,
)  # fmt: skip
TOPICS = table(
    "topics", "The same topic by topic.",
    text("run"), text("topic"), count("questions", "that are relevant"), count("k"), score("recall"),
)  # fmt: skip
DOCUMENT_RELEVANCE = table(
    "document_relevance", "What the questions do for the documents: means over facets, or contexts.",
    text("run", header="Run"), text("metric"), score("value"), *INTERVAL,
    flag("baseline", "is the run the worst, no or the best question?"), count("units"), count("topics"),
    count("missing", "units"), NOTE,
)  # fmt: skip
BY_TURN = table(
    "by_turn", "Document relevance of multi-turn conversations by the number of questions asked before.",
    text("run", header="Run"), text("metric"), count("asked", "questions before this one"), count("units", header="contexts"),
    score("value"),
)  # fmt: skip
FACETS = table(
    "facets", "Document relevance facet by facet, or context by context.",
    text("run"), text("unit"), text("topic"), text("asked", "null where the run's questions are unknown"), text("outcome"),
    text("metric"), score("value"),
)  # fmt: skip


@dataclass(frozen=True)
class System:
    """What one system did; None where it is not evaluated so.

    questions
        Topic or context → its questions, best first.
    documents
        Document relevance by measure and unit: a facet, or the context of a multi-turn conversation.
    needs
        Topic → predicted label of clarification need.
    """

    name: str
    questions: Mapping[str, Sequence[str]] | None = None
    documents: Asked | None = None
    needs: Mapping[str, int] | None = None


@dataclass(frozen=True)
class Task:
    """Tables of one task by name, rows of :data:`~robustcs.studies.clariq.topic_means.COMPARISONS`, topics, those lacking.

    notes
        What the comparisons cannot show.
    """

    tables: dict[str, pd.DataFrame]
    comparisons: list[tuple[Any, ...]]
    topics: frozenset[str]
    missing: frozenset[str]
    notes: tuple[str, ...]


def question_relevance(systems: Sequence[System], topics: Topics | None, drop: bool, seed: int) -> Task:
    """Recall@k of the topics' questions. No rows without topics that list questions, or without systems."""
    runs = [system for system in systems if system.questions is not None]
    rows, per_topic = [], []
    comparisons: list[tuple[Any, ...]] = []
    notes: dict[str, None] = {}
    relevant: dict[str, frozenset[str]] = {}
    missing: dict[str, list[str]] = {}
    if runs and topics and topics.questions:
        kept, missing = common_units(topics.questions, {system.name: system.questions or () for system in runs}, drop)
        _any_left(kept)
        relevant = {topic: topics.questions[topic] for topic in kept}
        values = np.stack([recalls(system.questions or {}, relevant) for system in runs])
        names = [system.name for system in runs]
        for column, k in enumerate(CUTOFFS):
            block = TopicMeans("question_relevance", f"R@{k}", names, values[:, :, column], np.arange(len(kept)))
            for name, found in zip(names, block.means(), strict=True):
                rows.append((name, k, found.value, found.low, found.high, len(kept), len(missing[name]), found.note))
            add_comparisons(comparisons, notes, block.compare(list(combinations(range(len(names)), 2)), seed))
        for name, recall in zip(names, values, strict=True):
            for topic, line in zip(kept, recall, strict=True):
                listed = (name, topic, len(relevant[topic]))
                per_topic += [(*listed, k, value) for k, value in zip(CUTOFFS, line, strict=True)]
    return Task(
        {
            "question_relevance": QUESTION_RELEVANCE.frame(rows),
            "topics": TOPICS.frame(per_topic),
        },
        comparisons, frozenset(relevant), frozenset().union(*missing.values()), tuple(notes),
    )  # fmt: skip


def document_relevance(
    systems: Sequence[System], topics: Topics | None, conversations: Mapping[str, Conversation], drop: bool, seed: int
) -> Task:
    """Means over units of what the asked questions do for the documents, every system against the others and the baselines.

    A unit that one system lacks and another has scores 0, or is dropped. Raises :class:`UsageError` where the systems have
    no measure in common.
    """
    scored = {system.name: system.documents for system in systems if system.documents is not None}
    names = [name for name in BASELINES if name in scored] + [name for name in scored if name not in BASELINES]
    rows, facets, by_turn = [], [], []
    comparisons: list[tuple[Any, ...]] = []
    notes: dict[str, None] = {}
    kept: list[str] = []
    missing: dict[str, list[str]] = {}
    topic_of: dict[str, str] = {}
    if names:
        tables = {name: scored[name] for name in names}
        metrics = [metric for metric in tables[names[0]].scores if all(metric in own.scores for own in tables.values())]
        if not metrics:
            raise UsageError("no-common-measures", f"{', '.join(names)} have no measure in common", "use the same for all")
        units = dict.fromkeys(unit for own in tables.values() for unit in own.scores[metrics[0]])
        have = {
            name: {unit for unit in own.scores[metrics[0]] if own.outcomes.get(unit) != "no output"}
            for name, own in tables.items()
        }
        kept, missing = common_units(units, have, drop)
        _any_left(kept)
        topic_of = {unit: _topic(unit, topics, conversations) for unit in units}
        number = {topic: place for place, topic in enumerate(dict.fromkeys(topic_of[unit] for unit in kept))}
        groups = np.array([number[topic_of[unit]] for unit in kept])
        of_baselines = [place for place, name in enumerate(names) if name in BASELINES]
        of_systems = [place for place, name in enumerate(names) if name not in BASELINES]
        pairs = [*product(of_systems, of_baselines), *combinations(of_systems, 2)]
        depths = np.array([conversations[unit].asked if unit in conversations else -1 for unit in kept])
        for metric in metrics:
            values = np.array([[tables[name].scores[metric].get(unit, 0.0) for unit in kept] for name in names])
            block = TopicMeans("document_relevance", metric, names, values, groups)
            for name, found in zip(names, block.means(), strict=True):
                counts = (name in BASELINES, len(kept), len(number), len(missing[name]))
                rows.append((name, metric, found.value, found.low, found.high, *counts, found.note))
            add_comparisons(comparisons, notes, block.compare(pairs, seed))
            for name, line in zip(names, values, strict=True):
                own = tables[name]
                facets += [
                    (name, unit, topic_of[unit], own.asked.get(unit), own.outcomes.get(unit), metric, value)
                    for unit, value in zip(kept, line, strict=True)
                ]
                for depth in np.unique(depths[depths >= 0]):
                    part = line[depths == depth]
                    by_turn.append((name, metric, int(depth), len(part), float(part.mean())))
    return Task(
        {
            "document_relevance": DOCUMENT_RELEVANCE.frame(rows),
            "by_turn": BY_TURN.frame(by_turn),
            "facets": FACETS.frame(facets),
        },
        comparisons,
        frozenset(topic_of[unit] for unit in kept),
        frozenset(topic_of[unit] for lacks in missing.values() for unit in lacks),
        tuple(notes),
    )


def add_comparisons(
    comparisons: list[tuple[Any, ...]], notes: dict[str, None], compared: tuple[list[tuple[Any, ...]], str]
) -> None:
    """Take in what :meth:`TopicMeans.compare` found, its note once."""
    rows, note = compared
    comparisons += rows
    if note:
        notes[f"{rows[0][0].replace('_', ' ')}: {note}"] = None


def _topic(unit: str, topics: Topics | None, conversations: Mapping[str, Conversation]) -> str:
    """The topic of a facet or context; where nothing says it, the unit itself."""
    if topics and unit in topics.facets:
        return topics.facets[unit]
    return conversations[unit].topic if unit in conversations else unit


def _any_left(units: Sequence[str]) -> None:
    if not units:
        raise UsageError("no-turns", "no topic is answered by all systems", "leave out --missing drop, or check the ids")
