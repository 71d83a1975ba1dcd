"""Clarifying questions (ClariQ): question retrieval, document relevance after asking, the need to ask, human preferences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robustcs.inputs.clariq import TIE, Preference, Topics
from robustcs.inputs.turns import turn_sort_key
from robustcs.lazy import pd
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated, Frames, Result, count, number, p_value, share, table, text
from robustcs.statistics.columns import P_FLOOR
from robustcs.statistics.estimate import Tested
from robustcs.statistics.families import holm_family
from robustcs.statistics.preference import preferred_share
from robustcs.studies.clariq import tasks
from robustcs.wording import counted


@dataclass(frozen=True)
class EvaluatedTopics(Evaluated):
    """As :class:`Evaluated`, but ``turns`` and ``missing`` count topics.

    rankings
        Whether rankings of documents were scored, so that the relevance level matters.
    """

    rankings: bool = False

    @property
    def _scored(self) -> str:
        if self.basis == "texts":
            return "nothing is scored"
        if not self.turns:
            return "human preferences · ties count for neither side"
        missing = (
            "missing topics score 0" if self.policy.missing == "zero" else "missing topics dropped"
        )
        parts = [counted(self.turns, "topic"), f"{missing} ({self.missing})"]
        parts += self.policy.describe().replace("docid", "id").split(" · ")
        return " · ".join(parts if self.rankings else parts[:-1])


@dataclass(frozen=True)
class Clariq(Result):
    """Results of the ClariQ tasks. Document relevance is averaged over facets or contexts; topics are the sampling unit."""

    study = "clariq"

    question_relevance = tasks.QUESTION_RELEVANCE
    document_relevance = tasks.DOCUMENT_RELEVANCE
    clarification_need = tasks.CLARIFICATION_NEED
    preference = table(
        "preference", "Human preferences between two systems. A pair keeps the order in which the file first names it.",
        text("criterion", header="Criterion"), text("first"), text("second"), count("wins", "of the first system"),
        count("losses", "of the first system"), count("ties"),
        *share("share", "wins / (wins + losses); null if all judgments are ties").between(
            says="95% CI from the test of the share; null for fewer than five units"),
        p_value("p", "two-sided test that the share is one half, without ties"),
        p_value("p_corrected", "adjusted by Holm over the criteria of the two systems", "p adj."), count("judgments"),
        count("units", "sampling units: pairs of conversations, or judgments, that are not ties"),
        P_FLOOR,
        text("method", "exact binomial test; Wilson with the effective sample size if any pair was judged repeatedly"),
        text("note", "caveats about the numbers, if any"),
    )  # fmt: skip
    comparisons = tasks.COMPARISONS
    need_confusion = tasks.CONFUSION
    topics = tasks.TOPICS
    facets = tasks.FACETS
    statistics = table(
        "statistics", "The size of the data.",
        text("what", "topics, facets, questions, answers, or bank (questions of the question bank)", "Texts"), count("number"),
        number("terms", "words per text, separated by white space: mean over non-empty texts", "words").rounded(4),
        number("terms_sd", "standard deviation of the words per text", "SD").rounded(4),
    )  # fmt: skip

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Table name → frame; tables with rows come first."""
        return Frames(self, sorted(super().tables, key=lambda name: not len(self.table(name))))


def clariq(
    outputs: tasks.Outputs,
    topics: Topics | None,
    conversations: Mapping[str, str],
    preferences: Sequence[Preference],
    policy: EvaluationPolicy,
    seed: int,
    rankings: bool = False,
    notes: Sequence[str] = (),
    bank: Mapping[str, str] | None = None,
) -> Clariq:
    """Evaluate systems in every task for which they have output. The tables of other tasks are empty.

    ``conversations``: context → topic.
    """
    given, found = tasks.tasks_of(outputs, topics, policy.missing != "zero"), tasks.TaskResults()
    if topics and (task := given.get("question_relevance")):
        tasks.question_relevance(found, task, topics, seed)
    if task := given.get("document_relevance"):
        tasks.document_relevance(found, task, topics, conversations, seed)
    if topics and (task := given.get("clarification_need")):
        tasks.clarification_need(found, task, topics, seed)
    preference, few = preference_table(preferences)
    every = tuple(dict.fromkeys([*notes, *found.notes, *few]))
    number_of, unit = len(found.topics), "topic" if found.topics else ""
    evaluated = EvaluatedTopics(
        policy, "runs" if any(outputs) or preferences else "texts", number_of, len(found.missing), every, rankings, unit=unit,
        units=number_of,
    )  # fmt: skip
    size = statistics_rows(topics, bank)
    content = Clariq.built(**found.rows, preference=preference, statistics=size)
    return Clariq(evaluated, content=content)


def preference_table(preferences: Sequence[Preference]) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the table ``preference``, one row per criterion and pair of systems, and notes on the power of its tests.

    Judgments of the same pair of conversations depend on each other, so the pair is the sampling unit. A judgment without a
    pair is a unit of its own.
    """
    systems: dict[frozenset[str], tuple[str, str]] = {}
    judged: dict[tuple[str, str, str], list[Preference]] = {}
    for one in preferences:
        pair = systems.setdefault(frozenset((one.first, one.second)), (one.first, one.second))
        judged.setdefault((one.criterion, *pair), []).append(one)
    rows = []
    tests: dict[tuple[str, str], list[Tested]] = {}
    for (criterion, first, second), some in judged.items():
        units: dict[tuple[str, int], list[int]] = {}
        for place, one in enumerate(sorted(some, key=lambda one: turn_sort_key(one.pair))):
            tally = units.setdefault((one.pair, -1 if one.pair else place), [0, 0, 0])
            tally[(first, second, TIE).index(one.winner)] += 1
        counts = np.array(list(units.values()))
        noun = "pair" if any(one.pair for one in some) else "judgment"
        test = preferred_share(counts[:, 0], counts[:, :2].sum(axis=1), noun)
        tests.setdefault((first, second), []).append(test)
        rows.append((criterion, first, second, *counts.sum(axis=0).tolist(), test, test.p, math.nan, len(some), test.units,
                     test.floor, test.method, test.note))  # fmt: skip
    frame = Clariq.preference.frame(rows)
    notes = []
    for (first, second), own in tests.items():
        family = holm_family(own)
        frame.loc[(frame["first"] == first) & (frame["second"] == second), "p_corrected"] = family.p
        notes += [f"preference, {first} and {second}: {family.note}"] if family.note else []
    return frame, tuple(notes)


def statistics_rows(
    topics: Topics | None, bank: Mapping[str, str] | None
) -> list[tuple[object, ...]]:
    """Return the rows of ``statistics``: requests of topics, descriptions of facets, distinct questions, answers, and the bank.

    The table has no rows for topics or the bank if they are not given.
    """
    parts: dict[str, Iterable[str]] = {}
    if topics:
        parts = {"topics": topics.requests.values(), "facets": topics.facet_texts.values(),
                 "questions": topics.question_texts.values(), "answers": topics.answers}  # fmt: skip
    if bank is not None:
        parts["bank"] = bank.values()
    words = {
        what: pd.Series([len(text.split()) for text in texts if text.strip()], dtype=float)
        for what, texts in parts.items()
    }
    return [(what, len(own), own.mean(), own.std(ddof=0)) for what, own in words.items()]
