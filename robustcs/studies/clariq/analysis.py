"""Clarifying questions (ClariQ): which are found, what asking does for the documents, when to ask, whom people prefer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from robustcs.inputs.clariq import Topics
from robustcs.inputs.clariq_tables import Conversation
from robustcs.inputs.preferences import Preference
from robustcs.lazy import pd
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated, Result
from robustcs.studies.clariq.need import CLARIFICATION_NEED, CONFUSION, LABELS, PREDICTIONS, clarification_need
from robustcs.studies.clariq.preference import PREFERENCE, preference_table
from robustcs.studies.clariq.statistics import STATISTICS, statistics_table
from robustcs.studies.clariq.tasks import (
    BY_TURN,
    DOCUMENT_RELEVANCE,
    FACETS,
    QUESTION_RELEVANCE,
    TOPICS,
    System,
    Task,
    document_relevance,
    question_relevance,
)
from robustcs.studies.clariq.topic_means import COMPARISONS
from robustcs.wording import counted


@dataclass(frozen=True)
class EvaluatedTopics(Evaluated):
    """As :class:`Evaluated`; ``turns`` and ``missing`` count topics.

    rankings
        Rankings of documents were scored, so that the relevance level matters.
    """

    rankings: bool = False

    @property
    def _scored(self) -> str:
        if self.basis == "texts":
            return "nothing is scored"
        if not self.turns:
            return "preferences of people · ties count for neither side"
        missing = "missing topics score 0" if self.policy.missing == "zero" else "missing topics dropped"
        parts = [counted(self.turns, "topic"), f"{missing} ({self.missing})"]
        parts += self.policy.describe().replace("docid", "id").split(" · ")
        return " · ".join(parts if self.rankings else parts[:-1])


@dataclass(frozen=True)
class Clariq(Result):
    """Means over topics; those of document relevance over facets, or contexts. Topics are independent, not their facets."""

    study = "clariq"
    declared = (
        QUESTION_RELEVANCE, DOCUMENT_RELEVANCE, CLARIFICATION_NEED, PREFERENCE, COMPARISONS, BY_TURN, LABELS, CONFUSION, TOPICS,
        FACETS, PREDICTIONS, STATISTICS,
    )  # fmt: skip

    question_relevance: pd.DataFrame
    document_relevance: pd.DataFrame
    clarification_need: pd.DataFrame
    preference: pd.DataFrame
    comparisons: pd.DataFrame
    by_turn: pd.DataFrame
    need_labels: pd.DataFrame
    need_confusion: pd.DataFrame
    topics: pd.DataFrame
    facets: pd.DataFrame
    needs: pd.DataFrame
    statistics: pd.DataFrame

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Table name → frame, those that have rows first."""
        return dict(sorted(super().tables.items(), key=lambda item: not len(item[1])))


def clariq(
    systems: Sequence[System],
    topics: Topics | None,
    conversations: Mapping[str, Conversation],
    preferences: Sequence[Preference],
    policy: EvaluationPolicy,
    seed: int,
    rankings: bool = False,
    notes: Sequence[str] = (),
    bank: Mapping[str, str] | None = None,
) -> Clariq:
    """Evaluate what ``systems`` did in all tasks for which they have something; a task without input has empty tables."""
    drop = policy.missing != "zero"
    tasks: list[Task] = [
        question_relevance(systems, topics, drop, seed),
        document_relevance(systems, topics, conversations, drop, seed),
        clarification_need(systems, topics, drop, seed),
    ]
    tables = {name: frame for task in tasks for name, frame in task.tables.items()}
    compared = [row for task in tasks for row in task.comparisons]
    answered = frozenset().union(*(task.topics for task in tasks))
    missing = frozenset().union(*(task.missing for task in tasks))
    preference, few = preference_table(preferences)
    told = tuple(dict.fromkeys([*notes, *(note for task in tasks for note in task.notes), *few]))
    unit = "topic" if answered else ""
    return Clariq(
        evaluated=EvaluatedTopics(
            policy,
            "runs" if systems or preferences else "texts",
            len(answered),
            len(missing),
            told,
            rankings,
            unit=unit,
            units=len(answered),
        ),
        preference=preference,
        comparisons=COMPARISONS.frame(compared),
        statistics=statistics_table(topics, bank),
        **tables,
    )
