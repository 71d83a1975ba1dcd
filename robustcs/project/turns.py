"""What the files of a project say about its turns: the part of records that no study computes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from robustcs.conversations import Conversations
from robustcs.errors import InputError
from robustcs.evaluation.measure import parse_measure
from robustcs.inputs.answers import read_gold_answers, read_predicted_answers, read_trace
from robustcs.inputs.collection import read_passages
from robustcs.inputs.formats import Utterance
from robustcs.inputs.heads import first_record
from robustcs.inputs.mtrag import has_tasks
from robustcs.inputs.paths import parts_of
from robustcs.inputs.readings import read_once, rows_of
from robustcs.inputs.reviews import Review, read_reviews
from robustcs.inputs.texts import TextFile
from robustcs.inputs.turns import turn_sort_key
from robustcs.policy import Evaluated
from robustcs.project.answer_support import MadeOf, Passages
from robustcs.project.conversations import conversations_among
from robustcs.project.model import ROLES, ReviewFiles
from robustcs.project.text_run_match import digest
from robustcs.project.turn_scores import ScoredTurns
from robustcs.project.workspace import Workspace
from robustcs.records.implied import searched_texts
from robustcs.records.schema import Graded


class TurnInputs(ScoredTurns):
    """The turns of a project; see :class:`robustcs.records.record.Details`.

    Every file is read when something of it is needed. ``notes`` tell what was not read.

    slice_columns
        Column of a file of the user → turn → value.
    further, apart
        See :class:`~robustcs.project.turn_scores.ScoredTurns`.
    """

    def __init__(
        self,
        workspace: Workspace,
        slice_columns: Mapping[str, Mapping[str, str]] | None = None,
        further: Mapping[str, Path] | None = None,
        apart: bool = False,
    ) -> None:
        super().__init__(workspace, further, apart)
        self.slice_columns = slice_columns or {}
        self.notes: list[str] = []

    # ------------------------------------------------------------ turns

    @cached_property
    def ids(self) -> list[str]:
        """All turns with judgments, scores, texts or answers, in natural order.

        Without any of these, all turns of runs.
        """
        known: set[str] = set()
        for by_system in self.scores.values():
            known.update(*by_system.values())
        if self.ranked[1] is not None:
            known.update(self.ranked_turns)
            if self.project.qrels:
                known.update(self.workspace.qrels.turns)
        for file in self.of_files.values():
            known.update(file.turns)
        known.update(*self.texts.values(), *self.answers.values())
        if not known:
            known.update(*self.tops.values())
        return sorted(known, key=turn_sort_key)

    @cached_property
    def conversations(self) -> Conversations:
        """The conversations of all turns."""
        return conversations_among(self.workspace, self.ids)

    @cached_property
    def evaluated(self) -> Evaluated:
        """What was evaluated: the rankings, else the answers, else only texts."""
        for _, evaluated in (self.ranked, self.read):
            if evaluated is not None:
                return evaluated
        if self.answer_inputs is not None:
            return self.answer_inputs.counted()[1]
        return Evaluated(
            self.project.policy, "texts", len(self.ids), 0, conversations=self.conversations
        )

    # ------------------------------------------------------------ texts and answers

    @cached_property
    def texts(self) -> dict[str, dict[str, str]]:
        """Formulation → turn → text: Original, the rewriters, Human, and wordings of a grid."""
        texts = self.workspace.texts
        if self.ranked_turns:
            texts = self.workspace.texts_of(self.ranked_turns, self.evaluated.basis)
        found = {name: texts[name] for name in self.formulations if texts.get(name)}
        for cell in self.project.components:
            wording = cell.partition("/")[0].strip()
            if wording not in found:
                found |= self._set_of_texts(wording)
        return found

    def _set_of_texts(self, name: str) -> dict[str, dict[str, str]]:
        """Return the texts under the name of their set; empty without such a set."""
        project = self.project
        if name in project.texts:
            return {name: self.workspace.text_file(project.texts[name], "human", name)}
        if name in project.raw_texts:
            return {name: self.workspace.text_file(project.raw_texts[name], "original", name)}
        return {}

    @cached_property
    def answers(self) -> dict[str, Mapping[str, str]]:
        """System → turn → generated answer, or the predicted answer of a formulation."""
        found: dict[str, Mapping[str, str]] = {}
        if self.answer_inputs is not None:
            found.update(self.answer_inputs.responses)
        for part in self.project.formulations.values():
            if part.answers is not None and part.name not in found:
                found[part.name] = read_once(read_predicted_answers, part.answers)
        return found

    @cached_property
    def _gold(self) -> Mapping[str, Sequence[str]]:
        """Turn → gold answers: those of the project, else the targets of tasks."""
        gold: dict[str, Sequence[str]] = {}
        for path in self._files_of_answers():
            if has_tasks(first_record(path) or {}):
                with suppress(InputError):  # tasks may have no targets
                    gold = {**read_once(read_gold_answers, path), **gold}
        if self.project.gold:
            own = read_once(read_gold_answers, self.project.gold)
            self.workspace.remember("gold answers", self.project.gold, rows_of(own))
            gold |= own
        return gold

    def _files_of_answers(self) -> list[Path]:
        """Return the files of generated answers and of their labels, each of pooled files."""
        files = self.project.answers
        if files is None:
            return []
        paths = [*files.of_systems.values(), *filter(None, [files.labels])]
        return [part for path in paths for part in parts_of(path)]

    @cached_property
    def _made_of(self) -> Mapping[str, Passages | None]:
        """System → turn → the passages from which its answer was generated."""
        inputs = self.answer_inputs
        if inputs is None:
            return {}
        with_gold = sorted({*inputs.gold, *inputs.labels.kinds}, key=turn_sort_key)
        return MadeOf(self.workspace, inputs.traces, with_gold, self.notes).given

    @cached_property
    def _given_texts(self) -> Mapping[str, str]:
        """Passage → text of the passages from which answers were generated."""
        wanted: set[str] = set()
        for given in self._made_of.values():
            for passages in (given or {}).values():
                wanted.update(passages)
        return self.passage_texts(wanted)

    @cached_property
    def reviews(self) -> list[Review]:
        """The reviews of turns."""
        found: list[Review] = []
        for path in (self.project.review or ReviewFiles()).files:
            own = read_reviews(path)
            self.workspace.remember("review", path, len(own))
            found += own
        return found

    @cached_property
    def _conversations_in_files(self) -> dict[str, list[tuple[str, str]]]:
        """Turn → (speaker, text) of every message up to the turn, from files of tasks."""
        found: dict[str, list[tuple[str, str]]] = {}
        if self.answer_inputs is not None:
            for trace in (*self.answer_inputs.traces.values(), self.answer_inputs.reference):
                found = trace.conversation | found
        for path in self._files_of_tasks():
            found = read_once(read_trace, path).conversation | found
        return found

    def _files_of_tasks(self) -> Iterable[Path]:
        """Return the files of texts and runs, which may be tasks with conversations."""
        parts = self.project.formulations.values()
        paths = [source.path for part in parts for source in part.rewrites]
        paths += self.runs.values()
        return dict.fromkeys(path for path in paths if isinstance(path, Path))

    @cached_property
    def _histories(self) -> dict[str, Sequence[Utterance]]:
        """Turn → the messages before it, as the first file of texts that has them tells them."""
        found: dict[str, Sequence[Utterance]] = {}
        for part in self.project.formulations.values():
            for source in part.rewrites:
                if isinstance(source.path, Path):
                    found = {**read_once(TextFile, source.path).history(), **found}
        return found

    @cached_property
    def _shown_texts(self) -> Mapping[str, str]:
        """Passage → text of the passages that are messages of conversations."""
        wanted = {one.passage for before in self._histories.values() for one in before}
        return self.passage_texts(wanted - {""}) if wanted - {""} else {}

    @cached_property
    def _earlier(self) -> dict[str, list[str]]:
        """Turn → the earlier turns of its conversation."""
        return self.conversations.earlier(self.ids)

    @cached_property
    def searched(self) -> list[str]:
        """The text of every turn in which words of a filter are searched."""
        return searched_texts(self.ids, self)

    # ------------------------------------------------------------ details of records

    @cached_property
    def systems(self) -> list[str]:
        """The names of all systems: formulations, other runs, and systems with answers."""
        names = dict.fromkeys([*self.formulations, *self.runs, *self.answers])
        for by_system in self.scores.values():
            names |= dict.fromkeys(by_system)
        return list(names)

    @property
    def formulations(self) -> list[str]:
        """The names of the formulations: Original, the rewriters, Human."""
        parts = sorted(self.project.formulations.values(), key=lambda one: ROLES.index(one.role))
        return [part.name for part in parts]

    @property
    def cutoff(self) -> int:
        """The largest cutoff of the measures; 0 without one."""
        found = [parse_measure(name, given=True).cutoff or 0 for name in self.scores]
        return max(found, default=0)

    @property
    def longest(self) -> int:
        """The number of passages in the longest ranking."""
        lengths = (len(one) for top in self.tops.values() for one in top.values())
        return max(lengths, default=0)

    def history(self, turn: str) -> list[tuple[str, str]]:
        """Return the messages before the turn, as files tell them, else the earlier questions."""
        said = self._conversations_in_files.get(turn)
        if said is not None:
            return said[:-1]
        if turn in self._histories:
            texts = self._shown_texts
            told = [
                (one.who, one.text or texts.get(one.passage, "")) for one in self._histories[turn]
            ]
            return [(who, text) for who, text in told if text]
        asked = [self._question(one) for one in self._earlier.get(turn, ())]
        return [("user", text) for text in asked if text]

    def _question(self, turn: str) -> str:
        """Return the question as the user asked it, else as a formulation has it."""
        texts = self.texts_by_formulation(turn)
        return texts.get("original") or next(iter(texts.values()), "")

    def texts_by_formulation(self, turn: str) -> dict[str, str]:
        """Return formulation → text; without one, the question in a file of tasks is Original."""
        found = {name: texts[turn] for name, texts in self.texts.items() if turn in texts}
        said = self._conversations_in_files.get(turn)
        if said and "original" not in found:
            found = {"original": said[-1][1], **found}
        return found

    def gold_answers(self, turn: str) -> list[str]:
        """Return the gold answers."""
        return list(self._gold.get(turn, ()))

    def judged(self, turn: str) -> dict[int, int]:
        """Return grade → number of judged passages, the highest grade first."""
        counts = Counter(self.grades.get(turn, {}).values())
        return dict(sorted(counts.items(), reverse=True))

    def judgments(self, turn: str) -> str:
        """Return a checksum of the judgments; empty without judgments."""
        grades = self.grades.get(turn)
        if not grades:
            return ""
        return digest(sorted(f"{passage} {grade}" for passage, grade in grades.items()))

    def labels(self, turn: str) -> dict[str, tuple[list[str], str]]:
        """Return reader → tags and note."""
        return self._labels.get(turn, {})

    @cached_property
    def _labels(self) -> dict[str, dict[str, tuple[list[str], str]]]:
        found: dict[str, dict[str, tuple[list[str], str]]] = {}
        for one in self.reviews:
            tags, note = found.setdefault(one.turn, {}).get(one.coder, ([], ""))
            both = dict.fromkeys([*tags, *one.categories])
            found[one.turn][one.coder] = list(both), note or one.note
        return found

    def ranking(self, system: str, turn: str) -> list[Graded] | None:
        """Return the passages of the system with grades; None without a run."""
        top = self.tops.get(system)
        return None if top is None else list(top.get(turn, ()))

    def retrieved(self, system: str, turn: str) -> tuple[int, int]:
        """Return the number of passages of the whole run, and how many of them are unjudged."""
        depths = self.depths.get(system)
        if depths is not None and turn in depths.retrieved:
            return depths.retrieved[turn], depths.holes[turn]
        passages = len(self.ranking(system, turn) or ())
        return passages, passages

    def absent(self, system: str, turn: str) -> str:
        """Return what a file of per-turn scores lacks: ``turn``, ``score`` or nothing."""
        file = self.of_files.get(system)
        if file is None:
            return ""
        if turn in file.unscored:
            return "score"
        return "" if turn in file.turns or turn not in self._counted else "turn"

    @cached_property
    def _counted(self) -> frozenset[str]:
        return frozenset(self.ranked_turns)

    def answer(self, system: str, turn: str) -> str | None:
        """Return the answer; None if there is none."""
        return self.answers.get(system, {}).get(turn)

    def given(self, system: str, turn: str) -> list[Graded] | None:
        """Return the passages from which the answer was generated; None if unknown."""
        passages = self._made_of.get(system)
        if passages is None or turn not in passages:
            return None
        grades = self.grades.get(turn, {})
        return [(passage, grades.get(passage)) for passage in passages[turn]]

    def unsupported(self, system: str, turn: str) -> list[str] | None:
        """Return the sentences of the answer without support; None if unknown."""
        inputs, passages = self.answer_inputs, self._made_of.get(system)
        if inputs is None or passages is None or not self._given_texts:
            return None
        checked = inputs.checked(system, turn, passages, self._given_texts)
        if checked is None:
            return None
        answer = inputs.responses[system].get(turn, "")
        return [answer[one.start : one.end] for one in checked if one.supported is False]

    def passage_texts(self, wanted: Collection[str]) -> dict[str, str]:
        """Return the texts of passages; of several sources, the first that knows one counts."""
        found: dict[str, str] = {}
        collection = self.project.collection
        if collection is not None and wanted:
            found = read_passages(collection, wanted)
            self.workspace.remember("collection", collection, rows_of(found))
        traces = []
        if self.answer_inputs is not None:
            traces = [self.answer_inputs.reference, *self.answer_inputs.traces.values()]
        for path in self._files_of_tasks():
            if all(passage in found for passage in wanted):
                break
            traces.append(read_once(read_trace, path))
        for trace in traces:
            for passage in wanted:
                if passage not in found and passage in trace.texts:
                    found[passage] = trace.texts[passage]
        return found
