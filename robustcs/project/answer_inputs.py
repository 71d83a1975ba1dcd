"""The answers of a project: their files, the kinds of turns, the passages given to the generator, and the outcomes."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from robustcs.documents.words import cut_label
from robustcs.errors import UsageError
from robustcs.evaluation.answers import answer_scores
from robustcs.evaluation.grid import CAUSES, Grid, causes_of
from robustcs.evaluation.holes import grades_by_pair
from robustcs.evaluation.measure import ANSWER_FAMILIES, GIVEN
from robustcs.evaluation.outcomes import Cause, Traced, cause_of, outcome_of, whether_given
from robustcs.evaluation.thresholds import parse_threshold
from robustcs.evaluation.turns import Expected, count_turns, covered_by_turns
from robustcs.inputs.answers import (
    IDK,
    AnswerLabels,
    Kind,
    Response,
    Trace,
    read_answer_labels,
    read_gold_answers,
    read_predicted_answers,
    read_trace,
)
from robustcs.inputs.collection import read_passages
from robustcs.inputs.nuggets import Assigned, read_assignments
from robustcs.inputs.paths import shown
from robustcs.inputs.readings import read_once, rows_of
from robustcs.inputs.turns import turn_sort_key
from robustcs.messages import Message, OptionName
from robustcs.project.answer_support import Passages, Program, ProgramSupport, top_passages
from robustcs.project.conversations import conversations_of
from robustcs.project.model import AnswerFiles
from robustcs.project.requirements import grid
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.similarity.responses import Sentence, checked_sentences, response_of, sentences_of
from robustcs.similarity.texts import content_words
from robustcs.wording import counted, some_of

AnswerTexts = Mapping[str, str]
#: Causes of a grid that name a component, as causes of a lost turn.
_CHANGES: tuple[Cause, ...] = ("wording", "ranker", "either", "both")


class AnswerInputs:
    """The answers of a project, with their passages, labels and gold passages. ``notes`` explain them to the reader.

    responses
        System → turn → answer.
    traces
        System → other contents of its file.
    assigned
        System → topic → assignments of nuggets.
    reference
        Other contents of the file of labels, if it is one of tasks.
    gold
        Turn → gold passages.
    """

    def __init__(self, workspace: Workspace):
        self.workspace = workspace
        self.files = workspace.project.answers or AnswerFiles()
        self.notes: list[str] = []
        self.assigned = self._assignments()
        self.responses = self._responses()
        self.traces = {
            name: read_once(read_trace, path, name) for name, path in self.files.of_systems.items()
        }
        self.traces |= {name: Trace() for name in self.responses if name not in self.traces}
        self.labels, self.reference = AnswerLabels(), Trace()
        if self.files.labels is not None:
            self.labels = read_once(read_answer_labels, self.files.labels)
            self.reference = read_once(read_trace, self.files.labels)
            workspace.remember("labels", self.files.labels, len(self.labels))
            self._check_labels()
        self.gold = self._gold()
        self.said: dict[tuple[str, str], ProgramSupport] = {}
        self._words = cache(content_words)

    def _assignments(self) -> dict[str, dict[str, Assigned]]:
        """Return system → topic → assignments. Raises :class:`UsageError` if only some systems have assignments."""
        found = {}
        for name, path in self.files.assignments.items():
            found[name] = read_assignments(path, name)
            self.workspace.remember(f"{name} assignments", path, len(found[name]))
        without = [name for name in self.files.of_systems if name not in found]
        if found and without:
            told = f"no assignments for {some_of(without)}, but for {some_of(list(found))}"
            advice = "give assignments for all systems or for none: word matching and assignments are not comparable"
            raise UsageError("some-assignments", told, advice)
        return found

    def _responses(self) -> dict[str, AnswerTexts]:
        """Return system → turn → answer, from assignments if a system has no file of answers."""
        found: dict[str, AnswerTexts] = {}
        for name, path in self.files.of_systems.items():
            answers = read_once(read_predicted_answers, path, name)
            self.workspace.remember(f"{name} answers", path, rows_of(answers))
            found[name] = answers
        for name, topics in self.assigned.items():
            if name not in found:
                found[name] = {
                    topic: one.answer for topic, one in topics.items() if one.answer is not None
                }
                if not found[name]:
                    advice = Message(
                        "add the answers with ", OptionName("response", f"{name}=FILE")
                    )
                    raise UsageError(
                        "no-responses", f"the assignments of {name} have no answer_text", advice
                    )
        return found

    def _check_labels(self) -> None:
        """Raise :class:`UsageError` for labels of unknown systems or turns, or without a system if there are several.

        Labels of some unknown turns only give a note.
        """
        named = {system for system, _ in (*self.labels.responses, *self.labels.correct)}
        unknown = sorted(named - {*self.responses, *([""] if len(self.responses) == 1 else [])})
        if unknown:
            found = (
                f"labels of the system {unknown[0]!r}"
                if unknown[0]
                else "labels of answers without a system"
            )
            advice = f"the systems are {some_of(list(self.responses))}"
            raise UsageError("no-such-system", f"{self.files.labels} has {found}", advice)
        labelled = {turn for _, turn in (*self.labels.responses, *self.labels.correct)}
        if strange := sorted(labelled - set().union(*self.responses.values())):
            found = f"{self.files.labels} labels {counted(len(strange), 'turn')} without an answer: {some_of(strange)}"
            if len(strange) == len(labelled):
                raise UsageError(
                    "no-common-turns", found, "check that labels and answers belong together"
                )
            self.notes.append(found)

    def _gold(self) -> dict[str, frozenset[str]]:
        """Return turn → gold passages: those that are relevant in the gold passages, else in the project's qrels."""
        project, found = self.workspace.project, dict[str, set[str]]()
        if self.files.gold_passages is None and not project.qrels:
            return {}
        qrels = (
            self.workspace.read_qrels(self.files.gold_passages)
            if self.files.gold_passages
            else self.workspace.qrels
        )
        for (turn, passage), grade in grades_by_pair(qrels).items():
            if grade >= project.policy.relevance_level:
                found.setdefault(turn, set()).add(passage)
        return {turn: frozenset(passages) for turn, passages in found.items()}

    def human_labels(self, name: str) -> tuple[dict[str, Response], dict[str, float]]:
        """Return turn → response, and turn → correctness, of the answers of a system by labels of the file of labels."""
        responses, correct = (
            {turn: value for (system, turn), value in one.items() if system in (name, "")}
            for one in (self.labels.responses, self.labels.correct)
        )
        return responses, correct  # type: ignore[return-value]

    def kinds(self, turns: Sequence[str], gold: Collection[str]) -> list[Kind]:
        """Return the kind of each turn: by the file of labels, by those of answers, or answerable if it has gold."""
        known = dict(self.labels.kinds)
        for trace in self.traces.values():
            known = trace.kinds | known
        return [
            known.get(turn, "answerable" if turn in gold or turn in self.gold else "unknown")
            for turn in turns
        ]

    # ------------------------------------------------------------ scores

    def metrics(self) -> list[str]:
        """Return the metrics in the files of answers."""
        return list(
            dict.fromkeys(metric for trace in self.traces.values() for metric in trace.scores)
        )

    def scores(self, metric: str) -> dict[str, Mapping[str, float]]:
        """Return system → turn → score in a metric of the files, or f1 or em against the project's gold answers."""
        if metric not in ANSWER_FAMILIES or metric in self.metrics():
            return {name: trace.scores.get(metric, {}) for name, trace in self.traces.items()}
        source = self.workspace.require("gold")
        gold = read_once(read_gold_answers, source)
        self.workspace.remember("gold answers", source, rows_of(gold))
        scored = {name: answer_scores(own, gold)[0] for name, own in self.responses.items()}
        return {
            name: dict(zip(one.turns, one[metric].tolist(), strict=True))
            for name, one in scored.items()
        }

    def metric(self, more: Collection[str] = (), default: str = "") -> str:
        """Return the first measure of the project that scores answers, else ``default``; it decides whether one is correct.

        Raises :class:`UsageError` for a measure that neither ``more`` nor any file has.
        """
        project = self.workspace.project
        known = [*self.metrics(), *more, *(ANSWER_FAMILIES if project.gold else ())]
        requested = [one.name for one in project.metrics if one.family in (GIVEN, *ANSWER_FAMILIES)]
        if lacking := [name for name in requested if name not in known]:
            there = f"choose from {', '.join(known)}" if known else "the files have no metrics"
            raise UsageError(
                "no-such-measure", f"no file of answers has the metric {lacking[0]}", there
            )
        return requested[0] if requested else default

    def criterion(
        self, metric: str, scores: Mapping[str, Mapping[str, float]]
    ) -> tuple[str, dict[str, dict[str, bool]]]:
        """Return what makes an answer correct, and system → turn → whether it is; empty without a metric.

        ``scores``: system → turn → score in the metric.
        """
        if not metric:
            return "", {}
        thresholds = self.workspace.project.thresholds
        threshold = thresholds[0] if len(thresholds) == 1 else parse_threshold(">=0.5")
        return cut_label((metric, str(threshold))), {
            name: dict(zip(own, threshold.holds(list(own.values())).tolist(), strict=True))
            if own
            else {}
            for name, own in scores.items()
        }

    def counted(self, with_items: Sequence[str] = ()) -> tuple[list[str], Evaluated]:
        """Return the turns that systems should answer or answer, under the project's policy for missing answers.

        They should answer the turns with labels or gold items, or without both, those with gold passages.
        """
        policy, files = self.workspace.project.policy, self.files
        gold = {*with_items, *self.labels.kinds} or set(self.gold)
        answered = set().union(*self.responses.values())
        expected = Expected(tuple(sorted(gold, key=turn_sort_key)), "the gold information")
        every = Expected(
            tuple(sorted(gold | answered, key=turn_sort_key)),
            "the gold information and the answers",
        )
        paths = {
            name: files.of_systems.get(name, files.assignments.get(name, Path()))
            for name in self.responses
        }
        own = {one: [covered_by_turns(name, paths[name], known, one) for name, known in self.responses.items()]
               for one in (expected, every)}  # fmt: skip
        if gold:  # refuses files without common turns
            count_turns(expected, own[expected], "zero")
        kept = count_turns(every, own[every], policy.missing)
        self.notes += kept.notes
        return list(kept.names), Evaluated(policy, "coverage", len(kept.names), int(kept.lacking.sum()),
                                           conversations=conversations_of(self.workspace, kept.names))  # fmt: skip

    # ------------------------------------------------------------ passages of answers

    def texts(self, wanted: Collection[str]) -> dict[str, str] | None:
        """Return the texts of passages, from the files of answers and the collection; None if there are none."""
        path, texts = self.workspace.project.collection, dict[str, str]()
        for trace in (self.reference, *self.traces.values()):
            texts |= {passage: text for passage, text in trace.texts.items() if passage in wanted}
        lacking = [passage for passage in wanted if passage not in texts]
        if path is None or not wanted:
            return texts or None
        if lacking:
            read = read_passages(path, lacking)
            self.workspace.remember("collection", path, rows_of(read))
            texts |= read
        if without := len(wanted) - len(texts):
            self.notes.append(
                f"{shown(path)} has no text of {without:,} of {counted(len(wanted), 'passage')}"
            )
        return texts

    def lost_by(self, turns: Sequence[str]) -> dict[str, dict[str, Cause]]:
        """Return system → turn → wording, ranker, either or both, for systems whose run is a cell of the project's grid.

        The cell is that of the system's name or run. A cell is right in a turn if a gold passage is among its top passages.
        """
        if len(self.workspace.project.components) < 2:
            return {}
        cells, found = grid(self.workspace), dict[str, dict[str, Cause]]()
        paths = {**self.workspace.project.systems, **self.files.runs}
        crossed = Grid(tuple(cells))
        own = [(name, cell) for name in self.responses for cell in cells
               if name == "/".join(cell) or paths.get(name) == cells[cell]]  # fmt: skip
        if not own:
            return {}
        files = [("/".join(cell), path) for cell, path in cells.items()]
        tops = self.workspace.per_run(files, partial(top_passages, depth=self.files.depth))
        right = {
            cell: [
                float(not self.gold.get(turn, frozenset()).isdisjoint(top.get(turn, ())))
                for turn in turns
            ]
            for cell, top in zip(cells, tops, strict=True)
        }
        codes = causes_of(crossed.cube(right) > 0)
        for name, cell in own:
            row, column = crossed.places[cell]
            causes = [CAUSES[code] for code in codes[:, row, column]]
            found[name] = {
                turn: one for turn, one in zip(turns, causes, strict=True) if one in _CHANGES
            }
        return found

    # ------------------------------------------------------------ outcome of every turn

    def call_program(
        self,
        program: Program,
        turns: Sequence[str],
        passages: Mapping[str, Passages | None],
        texts: Mapping[str, str] | None,
    ) -> None:
        """Call a program with all answers; :meth:`traced` uses what it says."""
        requests: dict[tuple[str, str], dict[str, Any]] = {}
        for name, answers in self.responses.items():
            for turn in (turn for turn in turns if answers.get(turn, "").strip()):
                given, said = (passages.get(name) or {}).get(turn, ()), self.conversation(turn)
                requests[name, turn] = {
                    "question": said[-1][1] if said else "", "answer": answers[turn],
                    "sentences": [answers[turn][start:end] for start, end in sentences_of(answers[turn])],
                    "passages": [{"id": one, "text": (texts or {}).get(one, "")} for one in given],
                }  # fmt: skip
        self.said, notes = program.call(requests)
        self.notes += notes

    def conversation(self, turn: str) -> list[tuple[str, str]]:
        """Return (speaker, text) of every message before an answer, the question last; empty if unknown."""
        every = (*self.traces.values(), self.reference)
        return next((one.conversation[turn] for one in every if turn in one.conversation), [])

    def traced(
        self,
        name: str,
        turns: Sequence[str],
        kinds: Sequence[Kind],
        passages: Passages | None,
        correct: Mapping[str, bool],
        texts: Mapping[str, str] | None = None,
        lost_by: Mapping[str, Cause] | None = None,
    ) -> Traced:
        """Return the outcomes of ``turns`` in one system.

        passages
            Turn → passages of its answer; None if unknown.
        correct
            Turn → whether the answer meets the criterion; turns without a value are not in it.
        texts
            Passage → text; None to compare no sentences.
        lost_by
            Turn → component that did not give the generator a gold passage, where known.
        """
        answers, trace = self.responses[name], self.traces[name]
        said, right = self.human_labels(name)
        filled = [turn for turn in turns if answers.get(turn, "").strip()]
        whole = bool(said) and all(turn in said for turn in filled)
        labels = said if whole else trace.responses
        told = {turn: one.response for turn in turns if (one := self.said.get((name, turn)))}
        detected = [told.get(turn) or response_of(answers.get(turn, "")) for turn in turns]
        responses = [
            one if one == "no_answer" else labels.get(turn, one)
            for turn, one in zip(turns, detected, strict=True)
        ]
        judged = bool(right) and all(
            turn in right
            for turn, one in zip(turns, responses, strict=True)
            if one in ("answered", "partly")
        )
        if judged:
            correct = {turn: value >= 0.5 for turn, value in right.items()}
        gold = [self.gold.get(turn, frozenset()) for turn in turns]
        given = [
            None if passages is None else len(own.intersection(passages.get(turn, ())))
            for turn, own in zip(turns, gold, strict=True)
        ]
        sizes = tuple(map(len, gold))
        every = list(zip(turns, kinds, responses, whether_given(sizes, given), strict=True))
        outcomes = [
            outcome_of(kind, response, known, correct.get(turn))
            for turn, kind, response, known in every
        ]
        human = [
            outcome_of(kind, said.get(turn, response), known, right[turn] >= 0.5 if turn in right else correct.get(turn))
            if (turn in said and not whole) or (turn in right and not judged) else None
            for turn, kind, response, known in every
        ]  # fmt: skip
        causes = [
            cause_of(kind, outcome, known, (lost_by or {}).get(turn, "retrieval"))
            for (turn, kind, _, known), outcome in zip(every, outcomes, strict=True)
        ]
        sentences, unsupported = np.full((2, len(turns)), math.nan)
        for place, turn in enumerate(turns if texts is not None and passages is not None else ()):
            checked = self.checked(name, turn, passages or {}, texts or {})
            if checked is not None:
                sentences[place] = sum(one.supported is not None for one in checked)
                unsupported[place] = sum(one.supported is False for one in checked)
        by = "program" if any(told.values()) else "detector"
        if labels:
            source = "labels" if whole else IDK
            by = source if all(turn in labels for turn in filled) else f"{source}, else {by}"
        support_by = "citations and words" if trace.cited else "words"
        if any(one.supported for one in self.said.values()):
            support_by = "program"
        return Traced(
            name, by, tuple(responses), sizes, tuple(given), tuple(outcomes), tuple(causes),
            tuple(labels.get(turn, said.get(turn)) for turn in turns), tuple(detected), tuple(human), sentences, unsupported,
            support_by,
            {metric: np.array([own.get(turn, math.nan) for turn in turns]) for metric, own in trace.scores.items()},
        )  # fmt: skip

    def checked(
        self, name: str, turn: str, passages: Passages, texts: Mapping[str, str]
    ) -> list[Sentence] | None:
        """Return the sentences of an answer with their support; None if its passages or their texts are unknown.

        If the answer has no passage, no sentence is supported.
        """
        answer, said = self.responses[name].get(turn, ""), self.said.get((name, turn))
        if said is not None and said.supported is not None:
            return [
                Sentence(*span, one)
                for span, one in zip(sentences_of(answer), said.supported, strict=True)
            ]
        known = {passage: texts.get(passage, "") for passage in passages.get(turn, ())}
        if turn not in passages or (known and not any(known.values())):
            return None
        return checked_sentences(
            answer, known, self._words, self.files.covered, self.traces[name].cited.get(turn)
        )
