"""Steps of ``robustcs clariq``: read the files of the tasks, and collect each system's output."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from robustcs.errors import UsageError, input_error
from robustcs.evaluation import clarification
from robustcs.evaluation.ranking import Ranking, rank_run
from robustcs.inputs.clariq import (
    NO_QUESTION,
    QuestionScores,
    Topics,
    UnitScores,
    is_json,
    read_conversations,
    read_evaluation,
    read_needs,
    read_performance,
    read_preferences,
    read_question_run,
    read_topics,
)
from robustcs.inputs.mixed_initiative import read_question_bank
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.runs import read_run
from robustcs.messages import AnyOf, Message, OptionName
from robustcs.project.model import ClariqFiles
from robustcs.project.workspace import Workspace
from robustcs.studies.clariq.tasks import BASELINES, Outputs
from robustcs.studies.study import read_given
from robustcs.wording import Note, counted, some_of

#: The values of a unit: a number, or one for each question.
Values = TypeVar("Values", float, dict[str, float])


class ClariqInputs:
    """The files of a project's :class:`ClariqFiles`, each read once. ``notes`` are for the reader of the result."""

    def __init__(self, workspace: Workspace):
        files = workspace.project.clariq or ClariqFiles()
        self.workspace = workspace
        # questions and documents of facets have judgments under their own ids
        self.policy = replace(workspace.project.policy, documents=False)
        self.files = files
        self.notes: list[str] = []
        self.rankings = False
        self._multi_turn: set[str] = set()
        self._check_complete()
        self.topics: Topics | None = None
        if files.topics:
            self.topics = read_topics(files.topics)
            workspace.remember("topics", files.topics, self.topics.parts)
        self.bank = read_given(workspace, "question bank", files.questions, read_question_bank)
        self.conversations = (
            read_given(workspace, "conversations", files.conversations, read_conversations) or {}
        )
        self.preferences = (
            read_given(workspace, "preferences", files.preferences, read_preferences) or ()
        )

    @cached_property
    def qrels(self) -> Qrels:
        """Judgments of documents for facets."""
        if self.files.qrels is None:
            advice = Message("add ", OptionName("qrels", "FILE"), ", or qrels in [clariq]")
            raise UsageError("no-qrels", "no qrels of facets are given", advice)
        return self.workspace.read_qrels(self.files.qrels)

    def outputs(self) -> Outputs:
        """Return the output of every system and baseline."""
        lists = self._question_lists()
        documents, needs = self._documents(lists), {}
        for name, path in self.files.needs.items():
            needs[name] = read_needs(path)
            self.workspace.remember(f"{name} needs", path, len(needs[name]))
            self._note_missing(
                name, "prediction for", needs[name], self.topics.needs if self.topics else {}
            )
        questions = {
            name: own
            for name, own in lists.items()
            if self._has_topics(name, own, documents.get(name))
        }
        return Outputs(questions, documents, needs)

    def _check_complete(self) -> None:
        files = self.files
        if replace(files, qrels=None, conversations=None) == ClariqFiles():
            raise UsageError(
                "no-inputs", "no files of clarifying questions are given",
                Message("add ", OptionName("topics"), " for statistics of the data, and ",
                        AnyOf(("run", "evaluations", "performance", "need", "preferences")), " (in [clariq]: topics, runs …)"),
            )  # fmt: skip
        if not files.topics and (files.needs or (files.runs and not files.performance)):
            what = OptionName("need" if files.needs else "run")
            raise UsageError(
                "no-topics",
                Message(what, " needs topics"),
                Message("add ", OptionName("topics", "FILE")),
            )
        for name in files.runs.keys() | files.needs.keys():
            if name in BASELINES:
                raise UsageError(
                    "reserved-name",
                    f"{name!r} is the name of a baseline",
                    "choose another name for the system",
                )

    # ------------------------------------------------------------ runs of questions

    def _question_lists(self) -> dict[str, dict[str, list[str]]]:
        policy = self.policy
        found = {}
        for name, path in self.files.runs.items():
            read = read_question_run(path, name, self.bank, ranks=policy.order == "rank")
            self.workspace.remember(name, path, len(read.run))
            lists = clarification.question_lists(read.run, policy)
            if read.texts or self._all_contexts(read.run.turns):
                self._multi_turn.add(name)
            self.notes += read.run.notes
            if read.unknown:
                unknown = "with a question that is not in the question bank"
                self.notes.append(Note.of(name, counted(read.unknown, "row"), unknown))
            if lists.tied:
                how = (
                    "the higher id is asked"
                    if policy.order == "score"
                    else "the first in the file is asked"
                )
                tie = f"with a tie for the first question; {how}"
                self.notes.append(Note.of(name, counted(lists.tied, "topic"), tie))
            found[name] = lists.by_topic
        return found

    def _all_contexts(self, turns: Collection[str]) -> bool:
        """Return whether all of these are contexts and at least one is not a topic. The ids of both are numbers."""
        known = self.topics.requests.keys() if self.topics else set()
        return (
            bool(self.conversations)
            and self.conversations.keys() >= set(turns)
            and not set(turns) <= known
        )

    def _has_topics(
        self,
        name: str,
        questions: Mapping[str, object],
        documents: clarification.DocumentRelevance | None,
    ) -> bool:
        """Return whether a run answers topics, not contexts of conversations; then it must answer some of these topics."""
        path = self.files.runs[name]
        if name in self._multi_turn:
            if documents is None or all(
                outcome == "no output" for outcome in documents.outcomes.values()
            ):
                found = "this is a multi-turn run: its ids are contexts of conversations, even if they look like topics"
                advice = Message(
                    "add the values of its contexts with ",
                    OptionName("performance", "FILE"),
                    "; a single-turn run has question ids, not texts",
                )
                raise input_error(path, None, found, advice, "multi-turn-run")
            return False
        if self.topics is None:
            return True
        if not self.topics.requests.keys() & questions.keys():
            found = f"answers none of the {counted(len(self.topics.requests), 'topic')}"
            known, own = next(iter(self.topics.requests)), next(iter(questions))
            check = f"check the ids: the topics have {known!r}, the run {own!r}"
            raise input_error(path, None, found, check, "no-common-topics")
        if self.files.topics and not self.topics.questions and documents is None:
            found = "no topic has questions, so a run of questions cannot be evaluated"
            raise input_error(
                self.files.topics,
                1,
                found,
                "give their ids in a column question_id",
                "no-questions",
            )
        self._note_missing(name, "question for", questions, self.topics.questions)
        return True

    def _note_missing(
        self, name: str, what: str, own: Mapping[str, object], topics: Mapping[str, object]
    ) -> None:
        missing = [topic for topic in topics if topic not in own]
        if missing:
            alone = f"{name} has no {what} {counted(len(missing), 'topic')}: {some_of(missing)}"
            self.notes.append(
                Note.of(
                    name,
                    f"{counted(len(missing), 'topic')}: {some_of(missing, 2)}",
                    f"no {what} some topics",
                    alone,
                )
            )
        extra = sum(topic not in topics for topic in own)
        if extra and self.topics:
            skipped = "skipped: not in the topics file, or without a label there"
            self.notes.append(Note.of(name, counted(extra, "topic"), skipped))

    # ------------------------------------------------------------ document relevance

    def _documents(
        self, lists: Mapping[str, Mapping[str, list[str]]]
    ) -> dict[str, clarification.DocumentRelevance]:
        found: dict[str, clarification.DocumentRelevance] = {}
        performance = self._performance()
        if performance:
            units = dict.fromkeys(unit for values in performance.values() for unit in values)
            for name, own in lists.items():
                found[name] = clarification.after_questions(
                    performance, self._tops(units, name, own)
                )
            found |= {
                name: clarification.DocumentRelevance(scores)
                for name, scores in clarification.baselines(performance).items()
            }
            if "no" not in found and "no" not in self.files.evaluations:
                self.notes.append(
                    f"no baseline without a question, since some facets have no value for {NO_QUESTION}"
                )
        for name, path in self.files.evaluations.items():
            if name in found:
                self.notes.append(
                    Note.of(name, "", "the values of --evaluations replace those of --performance")
                )
            found[name] = clarification.DocumentRelevance(
                self._kept(self._evaluation(name, path), path)
            )
        return found

    def _performance(self) -> QuestionScores:
        path = self.files.performance
        if path is None:
            return {}
        if is_json(path):
            scores = read_performance(path)
            self.workspace.remember(
                "performance", path, sum(map(len, next(iter(scores.values())).values()))
            )
        else:
            ranking = self._document_ranking("performance", path)
            scores = clarification.performance_of(ranking, self.qrels, self.policy)
        return self._kept(scores, path)

    def _evaluation(self, name: str, path: Path) -> UnitScores:
        if is_json(path):
            scores = read_evaluation(path)
            self.workspace.remember(f"{name} evaluation", path, len(next(iter(scores.values()))))
            return scores
        qrels = self.qrels
        ranking = self._document_ranking(name, path)
        scores = clarification.facet_scores(ranking, qrels, self.policy)
        if not next(iter(scores.values())):
            advice = (
                f"check the ids: the qrels have {qrels.turns[0]!r}, the run {ranking.turns[0]!r}"
            )
            found = f"contains none of the {counted(len(qrels.turns), 'facet')} in the qrels"
            raise input_error(path, None, found, advice, "no-common-facets")
        return scores

    def _document_ranking(self, role: str, path: Path) -> Ranking:
        run = read_run(path, role, ranks=self.policy.order == "rank")
        self.workspace.remember(f"{role} documents", path, len(run))
        self.rankings = True
        ranking = rank_run(run, self.policy)
        self.notes += ranking.notes
        return ranking

    def _kept(
        self, scores: dict[str, dict[str, Values]], path: Path
    ) -> dict[str, dict[str, Values]]:
        """Keep the facets of the topics and the contexts of the conversations; keep all units if none of them is known."""
        units = list(dict.fromkeys(unit for values in scores.values() for unit in values))
        facets = self.topics.facets if self.topics else {}
        kept = {unit for unit in units if unit in facets or unit in self.conversations}
        if not kept:
            if facets or self.conversations:
                unknown = "no unit is a facet of the topics, so each unit counts as a sampling unit"
                self.notes.append(Note.of(path.name, "", unknown))
            return scores
        if len(kept) < len(units):
            self.notes.append(
                Note.of(
                    path.name, counted(len(units) - len(kept), "facet"), "of other topics skipped"
                )
            )
        missing = [facet for facet in facets if facet not in kept]
        if missing and not self.conversations:
            self.notes.append(
                f"no value for {counted(len(missing), 'facet')} of the topics: {some_of(missing)}"
            )
        return {
            name: {unit: value for unit, value in own.items() if unit in kept}
            for name, own in scores.items()
        }

    def _tops(
        self, units: Mapping[str, object], name: str, lists: Mapping[str, list[str]]
    ) -> dict[str, str]:
        """Return unit → question asked: the first of the facet's topic, or of the context in a multi-turn run."""
        facets = self.topics.facets if self.topics else {}
        if name in self._multi_turn or not facets:
            keys = {unit: unit for unit in units if unit not in facets}
        else:
            keys = {unit: facets[unit] for unit in units if unit in facets}
            if not keys:
                found = f"{name} answers topics, but no value is for a facet of these topics"
                advice = "use the values of the single-turn task for a single-turn run"
                raise input_error(self.files.runs[name], None, found, advice, "no-common-facets")
        return {unit: lists[key][0] for unit, key in keys.items() if lists.get(key)}
