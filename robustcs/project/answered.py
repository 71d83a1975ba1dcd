"""The answers of a project: where they come from, what was asked, what was given to the generator, and what became of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, partial

import numpy as np

from robustcs.errors import InputError, UsageError
from robustcs.evaluation.answers import answer_scores
from robustcs.evaluation.grid import CAUSES, Grid, causes_of
from robustcs.evaluation.holes import grades_by_pair
from robustcs.evaluation.measure import ANSWER_FAMILIES
from robustcs.evaluation.outcomes import Cause, Traced, cause_of, outcome_of
from robustcs.evaluation.ranking import Ranking, rank_run
from robustcs.evaluation.turns import Expected, answered_by_turns, strangers
from robustcs.inputs.answer_traces import (
    IDK,
    AnswerLabels,
    Kind,
    Response,
    Trace,
    read_answer_labels,
    read_trace,
    response_of_label,
)
from robustcs.inputs.answers import read_gold_answers, read_predicted_answers
from robustcs.inputs.collection import read_passages
from robustcs.inputs.nuggets import Assigned, read_assignments
from robustcs.inputs.paths import shown
from robustcs.inputs.pooled import rows_of
from robustcs.inputs.runs import read_run
from robustcs.inputs.sniff import identify
from robustcs.project.model import AnswerFiles
from robustcs.project.requirements import grid
from robustcs.project.workspace import Workspace
from robustcs.similarity.responses import response_of
from robustcs.similarity.support import Sentence, checked_sentences
from robustcs.similarity.texts import Words, content_words
from robustcs.wording import counted, some_of, verb

Answers = Mapping[str, str]
Passages = Mapping[str, Sequence[str]]
#: Causes of a grid that name a component, as causes of a lost turn.
_CHANGES: Mapping[str, Cause] = {"wording": "wording", "ranker": "ranker", "either": "either", "both": "both"}


class AnswerInputs:
    """The answers of a project, with their passages, labels and gold passages. ``notes`` explain them to the reader.

    responses
        System → turn → answer.
    traces
        System → other contents of its file.
    assigned
        System → topic → assignments of nuggets.
    gold
        Turn → gold passages.
    """

    def __init__(self, workspace: Workspace):
        self.workspace = workspace
        self.files = workspace.project.answers or AnswerFiles()
        self.notes: list[str] = []
        self.assigned = self._assignments()
        self.responses = self._responses()
        self.traces = {name: read_trace(path, name) for name, path in self.files.answered.items()}
        self.traces |= {name: Trace() for name in self.responses if name not in self.traces}
        self.labels = AnswerLabels()
        if self.files.labels is not None:
            self.labels = read_answer_labels(self.files.labels)
            workspace.remember("labels", self.files.labels, len(self.labels))
            self._check_labels()
        self.gold = self._gold()

    def _assignments(self) -> dict[str, dict[str, Assigned]]:
        """Return system → topic → assignments. Raises :class:`UsageError` if only some systems have assignments."""
        found = {}
        for name, path in self.files.assignments.items():
            found[name] = read_assignments(path, name)
            self.workspace.remember(f"{name} assignments", path, len(found[name]))
        without = [name for name in self.files.answered if name not in found]
        if found and without:
            raise UsageError(
                "some-assignments", f"no assignments for {some_of(without)}, but for {some_of(list(found))}",
                "give assignments for all systems or for none: word matching and assignments are not comparable",
            )  # fmt: skip
        return found

    def _responses(self) -> dict[str, Answers]:
        """Return system → turn → answer, from assignments if a system has no file of answers."""
        found: dict[str, Answers] = {}
        for name, path in self.files.answered.items():
            answers = read_predicted_answers(path, name)
            self.workspace.remember(f"{name} answers", path, rows_of(answers))
            found[name] = answers
        for name, topics in self.assigned.items():
            if name not in found:
                found[name] = {topic: one.answer for topic, one in topics.items() if one.answer is not None}
                if not found[name]:
                    advice = f"add the answers with --response {name}=FILE"
                    raise UsageError("no-responses", f"the assignments of {name} have no answer_text", advice)
        return found

    def _check_labels(self) -> None:
        """Raise :class:`UsageError` for labels of answers of unknown systems, or without a system if there are several."""
        named = {system for system, _ in (*self.labels.responses, *self.labels.correct)}
        unknown = sorted(named - {*self.responses, *([""] if len(self.responses) == 1 else [])})
        if unknown:
            found = f"labels of the system {unknown[0]!r}" if unknown[0] else "labels of answers without a system"
            raise UsageError(
                "no-such-system", f"{self.files.labels} has {found}", f"the systems are {some_of(list(self.responses))}"
            )

    def _gold(self) -> dict[str, frozenset[str]]:
        """Return turn → gold passages: those that are relevant in the gold passages, else in the project's qrels."""
        project, found = self.workspace.project, dict[str, set[str]]()
        if self.files.gold_passages is None and not project.qrels:
            return {}
        qrels = self.workspace.read_qrels(self.files.gold_passages) if self.files.gold_passages else self.workspace.qrels
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
        return [known.get(turn, "answerable" if turn in gold or turn in self.gold else "unknown") for turn in turns]

    # ------------------------------------------------------------ scores

    def metrics(self) -> list[str]:
        """Return the metrics in the files of answers."""
        return list(dict.fromkeys(metric for trace in self.traces.values() for metric in trace.scores))

    def scores(self, metric: str) -> dict[str, Mapping[str, float]]:
        """Return system → turn → score in a metric of the files, or f1 or em against the project's gold answers."""
        if metric not in ANSWER_FAMILIES or metric in self.metrics():
            return {name: trace.scores.get(metric, {}) for name, trace in self.traces.items()}
        source = self.workspace.require("gold")
        gold = read_gold_answers(source)
        self.workspace.remember("gold answers", source, rows_of(gold))
        scored = {name: answer_scores(own, gold)[0] for name, own in self.responses.items()}
        return {name: dict(zip(one.turns, one[metric].tolist(), strict=True)) for name, one in scored.items()}

    # ------------------------------------------------------------ passages of answers

    @cache  # noqa: B019 (one object for each command)
    def made_of(self, gold: tuple[str, ...]) -> MadeOf:
        """Return the passages of answers; ``gold``: turns with gold information."""
        return MadeOf(self, gold)

    def texts(self, wanted: Collection[str]) -> dict[str, str] | None:
        """Return the texts of passages, from the files of answers and the collection; None if there are none."""
        path, texts = self.workspace.project.collection, dict[str, str]()
        for trace in self.traces.values():
            texts |= {passage: text for passage, text in trace.texts.items() if passage in wanted}
        lacking = [passage for passage in wanted if passage not in texts]
        if path is None or not wanted:
            return texts or None
        if lacking:
            read = read_passages(path, lacking)
            self.workspace.remember("collection", path, len(read))
            texts |= read
        if without := len(wanted) - len(texts):
            has = verb(without, "has", "have")
            self.notes.append(f"{without:,} of {counted(len(wanted), 'passage')} {has} no text in {shown(path)}")
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
        own = [
            (name, cell)
            for name in self.responses
            for cell in cells
            if name == "/".join(cell) or paths.get(name) == cells[cell]
        ]
        if not own:
            return {}
        files = [("/".join(cell), path) for cell, path in cells.items()]
        tops = self.workspace.per_run(files, partial(_best, depth=self.files.depth))
        right = {
            cell: [float(not self.gold.get(turn, frozenset()).isdisjoint(top.get(turn, ()))) for turn in turns]
            for cell, top in zip(cells, tops, strict=True)
        }
        codes = causes_of(crossed.cube(right) > 0)
        for name, cell in own:
            row, column = crossed.places[cell]
            causes = [CAUSES[code] for code in codes[:, row, column]]
            found[name] = {turn: _CHANGES[one] for turn, one in zip(turns, causes, strict=True) if one in _CHANGES}
        return found

    # ------------------------------------------------------------ what became of every turn

    def trace(
        self,
        turns: Sequence[str],
        kinds: Sequence[Kind],
        passages: Mapping[str, Passages | None],
        correct: Mapping[str, Mapping[str, bool]],
        texts: Mapping[str, str] | None = None,
        lost_by: Mapping[str, Mapping[str, Cause]] | None = None,
    ) -> list[Traced]:
        """Return what became of ``turns`` in every system.

        passages
            System → turn → passages of its answers; None if unknown.
        correct
            System → turn → whether the answer meets the criterion; turns without a value are not in it.
        texts
            Passage → text; None to compare no sentences.
        lost_by
            System → turn → component that did not give the generator a gold passage, where known.
        """
        words, lost_by = cache(content_words), lost_by or {}
        return [
            self._traced(
                name, turns, kinds, passages.get(name), correct.get(name, {}), texts, words, lost_by.get(name, {})
            )
            for name in self.responses
        ]  # fmt: skip

    def _traced(
        self,
        name: str,
        turns: Sequence[str],
        kinds: Sequence[Kind],
        passages: Passages | None,
        correct: Mapping[str, bool],
        texts: Mapping[str, str] | None,
        words: Callable[[str], Words],
        lost_by: Mapping[str, Cause],
    ) -> Traced:
        answers, trace = self.responses[name], self.traces[name]
        idk = {turn: response_of_label(str(value)) for turn, value in trace.scores.get(IDK, {}).items()}
        said, right = self.human_labels(name)
        filled = [turn for turn in turns if answers.get(turn, "").strip()]
        whole = bool(said) and all(turn in said for turn in filled)
        labels = said if whole else {turn: one for turn, one in idk.items() if one}
        source = ("labels" if whole else IDK) if labels else ""
        detected = [response_of(answers.get(turn, "")) for turn in turns]
        responses = [one if one == "no_answer" else labels.get(turn, one) for turn, one in zip(turns, detected, strict=True)]
        judged = bool(right) and all(
            turn in right for turn, one in zip(turns, responses, strict=True) if one in ("answered", "partly")
        )
        if judged:
            correct = {turn: value >= 0.5 for turn, value in right.items()}
        gold = [len(self.gold.get(turn, ())) for turn in turns]
        given = [
            None if passages is None else len(self.gold.get(turn, frozenset()).intersection(passages.get(turn, ())))
            for turn in turns
        ]
        was_given = [None if not all_ or some is None else some > 0 for all_, some in zip(gold, given, strict=True)]
        outcomes = [
            outcome_of(kind, response, known, correct.get(turn))
            for turn, kind, response, known in zip(turns, kinds, responses, was_given, strict=True)
        ]
        human = [
            outcome_of(kind, said.get(turn, response), known, right[turn] >= 0.5 if turn in right else correct.get(turn))
            if (turn in said and not whole) or (turn in right and not judged) else None
            for turn, kind, response, known in zip(turns, kinds, responses, was_given, strict=True)
        ]  # fmt: skip
        sentences, unsupported = np.full((2, len(turns)), math.nan)
        if texts is not None and passages is not None:
            for place, turn in enumerate(turns):
                checked = self.checked(name, turn, passages, texts, words)
                if checked is not None:
                    sentences[place] = sum(one.supported is not None for one in checked)
                    unsupported[place] = sum(one.supported is False for one in checked)
        by = (
            source
            if source and all(turn in labels for turn in filled)
            else f"{source}, else detector"
            if source
            else "detector"
        )
        return Traced(
            name, by, tuple(responses), tuple(gold), tuple(given), tuple(outcomes),
            tuple(
                cause_of(kind, outcome, known, lost_by.get(turn, "retrieval"))
                for turn, kind, outcome, known in zip(turns, kinds, outcomes, was_given, strict=True)
            ),
            tuple(labels.get(turn, said.get(turn)) for turn in turns), tuple(detected), tuple(human), sentences, unsupported,
            "citations and words" if trace.cited else "words",
            {metric: np.array([own.get(turn, math.nan) for turn in turns]) for metric, own in trace.scores.items()},
        )  # fmt: skip

    def checked(
        self, name: str, turn: str, passages: Passages, texts: Mapping[str, str], words: Callable[[str], Words]
    ) -> list[Sentence] | None:
        """Return the sentences of an answer with their support; None if its passages have no texts and it cites none."""
        known = {passage: texts.get(passage, "") for passage in passages.get(turn, ())}
        cited = self.traces[name].cited.get(turn)
        if not cited and not any(known.values()):
            return None
        return checked_sentences(self.responses[name].get(turn, ""), known, words, self.files.covered, cited)


class MadeOf:
    """The passages from which answers were generated: those in tasks, else the top of the system's run, else its references."""

    def __init__(self, inputs: AnswerInputs, gold: Sequence[str]):
        self.inputs, self.workspace, self.files, self.notes = inputs, inputs.workspace, inputs.files, inputs.notes
        project, files, responses = self.workspace.project, self.files, inputs.responses
        self.tasks = {name for name, trace in inputs.traces.items() if trace.passages and not trace.cited}
        self.human_names = {part.name for part in project.formulations.values() if part.role == "human"}
        own = next((part.run for part in project.formulations.values() if part.role == "human" and part.run), None)
        runs = {name: path for name, path in {**project.systems, **files.runs}.items()
                if name in responses and (name in files.runs or name not in self.tasks)}  # fmt: skip
        human = files.human or own
        every = list(dict.fromkeys([*runs.values(), *([human] if human and runs else [])]))
        read: list[Passages] = self.workspace.per_run([("passages", path) for path in every], partial(_best, depth=files.depth))
        tops = dict(zip(every, read, strict=True))
        given = {*files.runs.values(), files.human}
        unrelated = {path for path in every if tops[path].keys().isdisjoint(gold)} if gold else set()
        expected = Expected(tuple(gold), "the gold information")
        if wrong := [path for path in every if path in unrelated & given]:
            raise InputError(strangers(expected, [answered_by_turns("", path, tops[path], expected) for path in wrong]))
        if unrelated:
            self.notes.append(f"runs of other turns ignored: {some_of([shown(path) for path in unrelated])}")
        self.runs = {name: path for name, path in runs.items() if path not in unrelated}
        self.human = human if human and human in tops and human not in unrelated else None
        self.tops = tops
        if self.runs:
            self.notes.append(
                f"assumption: each answer was generated from the top {counted(files.depth, 'passage')} of its run"
            )
        if self.human is not None and any(not self.is_human(name) for name in self.runs):
            self.notes.append(f"assumption: a perfect rewriter would retrieve the passages of {self.human}")
        self.given = {name: self._given(name) for name in responses}

    def is_human(self, name: str) -> bool:
        """Return whether a system answers the human question."""
        return name in self.human_names or (self.human is not None and self.runs.get(name) == self.human)

    @property
    def of_human(self) -> Passages | None:
        """Turn → passages of the human question; None if unknown."""
        return None if self.human is None else self.tops[self.human]

    def _given(self, name: str) -> Passages | None:
        if name in self.runs:
            return self.tops[self.runs[name]]
        if name in self.tasks:
            return self.inputs.traces[name].passages
        path = self.files.answered.get(name)
        if path is None or (found := identify(path)) is None or "run" not in found.kinds:
            self.notes.append(f"the passages of {name} are unknown, and so are the causes of its missed items")
            return None
        self.notes.append(f"{name}: assumption: each answer was generated from its references alone")
        return _best(rank_run(read_run(path, name), self.workspace.project.policy), None)


def _best(ranking: Ranking, depth: int | None) -> Passages:
    """Return turn → top ``depth`` passages, or all passages if ``depth`` is None."""
    ends = ranking.starts[1:] if depth is None else np.minimum(ranking.starts[1:], ranking.starts[:-1] + depth)
    return {
        turn: ranking.ids.take(ranking.document_codes[start:end]).texts()
        for turn, start, end in zip(ranking.turns, ranking.starts[:-1], ends, strict=True)
    }
