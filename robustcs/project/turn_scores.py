"""The scores and rankings of a project's turns, for records of turns and the fields of studies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robustcs.documents.headline import headline_of
from robustcs.documents.words import measure_label
from robustcs.errors import UsageError
from robustcs.evaluation.bins import Formulations
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measure import ANSWER_FAMILIES, parse_measure
from robustcs.evaluation.measures import TurnScores
from robustcs.evaluation.ranking import GradedTop
from robustcs.evaluation.thresholds import (
    Threshold,
    distinct_thresholds,
    parse_threshold,
    reachable_thresholds,
)
from robustcs.policy import Basis, Evaluated
from robustcs.project.answer_inputs import AnswerInputs
from robustcs.project.model import measures
from robustcs.project.scoring import (
    DEFAULT_ANSWER_MEASURES,
    ScoredFile,
    file_of,
    score_files,
)
from robustcs.project.workspace import Workspace
from robustcs.records.filter import normalised
from robustcs.records.record import DEEPEST, READ

#: Passages of all rankings together that are kept to the depth of the runs.
MOST_PASSAGES = 4_000_000
#: Ranks of runs that are never cut.
_WHOLE = 2**31 - 1


class TurnCut(NamedTuple):
    """What makes an answer correct."""

    measure: str
    threshold: Threshold

    @property
    def written(self) -> tuple[str, str]:
        """As filters write it: ``("ndcg_cut_3", ">=0.5")``."""
        return self.measure, str(self.threshold)


class RunDepths(NamedTuple):
    """How deep the relevant passages of one run are, by turn; only judged turns are in it.

    first
        Rank of the first relevant passage; None if the run has none.
    unjudged
        Number of unjudged passages in the top :data:`~robustcs.records.record.READ`.
    retrieved, holes
        Number of passages of the whole run, and how many of them are unjudged.
    """

    first: Mapping[str, int | None]
    unjudged: Mapping[str, int]
    retrieved: Mapping[str, int]
    holes: Mapping[str, int]


class FileTurns(NamedTuple):
    """The turns of a file of per-turn scores.

    turns
        Those that it has.
    unscored
        Those whose score is missing.
    absent_is_missing
        Whether the score of a turn that the file lacks is missing; else it is 0, as for a run.
    """

    turns: frozenset[str]
    unscored: frozenset[str]
    absent_is_missing: bool


class ScoredTurns:
    """The scores and rankings of the turns of a project.

    Every file is read when something of it is needed.

    further
        Name → per-turn scores of further systems.
    apart
        Systems are not compared with each other; see
        :func:`~robustcs.evaluation.turns.count_turns`. A run without judged passages is no error.
    """

    def __init__(
        self,
        workspace: Workspace,
        further: Mapping[str, Path] | None = None,
        apart: bool = False,
    ) -> None:
        self.workspace = workspace
        self.project = workspace.project
        self.further = further or {}
        self.apart = apart

    @cached_property
    def answer_inputs(self) -> AnswerInputs | None:
        """The generated answers; None if there are none."""
        files = self.project.answers
        if files is None or not (files.of_systems or files.assignments):
            return None
        return AnswerInputs(self.workspace)

    # ------------------------------------------------------------ scores

    @cached_property
    def files(self) -> list[ScoredFile]:
        """The files that score rankings: runs, cells of a grid, and per-turn scores."""
        found = [ScoredFile(name, name, path, "runs") for name, path in self.runs.items()]
        for part in self.project.formulations.values():
            file = None if part.run else file_of(part, answers=False)
            if file is not None:
                found.append(file)
        found += [ScoredFile(name, name, path, "scores") for name, path in self.further.items()]
        return found

    @cached_property
    def runs(self) -> dict[str, Path]:
        """System → run: those of the project, and the cells of its grid with other runs."""
        systems = dict(self.project.systems)
        known = set(systems.values())
        for cell, path in self.project.components.items():
            if path not in known:
                systems[cell] = path
        return systems

    @cached_property
    def ranked(self) -> tuple[Mapping[str, TurnScores], Evaluated | None]:
        """The scores of rankings; None if there are no judgments or no rankings."""
        if not self.files or (self.runs and not self.project.qrels):
            return {}, None
        workspace = self.workspace
        given = not self.runs
        chosen, _ = workspace.ranking_measures((), given=given)
        # each system has its own scores, whatever others lack
        return workspace.scores_of(
            self.files, chosen, alone=not self.apart, asked=workspace.asked, apart=True
        )

    @property
    def ranked_turns(self) -> tuple[str, ...]:
        """The turns that count in the scores of rankings."""
        return next(iter(self.ranked[0].values())).turns if self.ranked[0] else ()

    @cached_property
    def read(self) -> tuple[Mapping[str, TurnScores], Evaluated | None]:
        """The scores of the formulations' predicted answers; None without gold answers."""
        files = [
            file
            for part in self.project.formulations.values()
            if (file := file_of(part, answers=True)) is not None
        ]
        if not files or not self.project.gold:
            return {}, None
        chosen = measures(self.project, of_answers=True) or DEFAULT_ANSWER_MEASURES
        return self.workspace.scores_of(files, chosen)

    @cached_property
    def scores(self) -> dict[str, dict[str, dict[str, float]]]:
        """Measure → system → turn → score; measures of rankings first. No missing scores."""
        found: dict[str, dict[str, dict[str, float]]] = {}
        for scored, _ in (self.ranked, self.read):
            for system, one in scored.items():
                for measure, values in one.items():
                    pairs = zip(one.turns, values.tolist(), strict=True)
                    own = {turn: value for turn, value in pairs if value == value}
                    found.setdefault(measure, {})[system] = own
        if self.answer_inputs is not None:
            for measure in self.answer_inputs.metrics():
                for system, given in self.answer_inputs.scores(measure).items():
                    found.setdefault(measure, {}).setdefault(system, dict(given))
        return found

    @cached_property
    def of_files(self) -> dict[str, FileTurns]:
        """System with a file of per-turn scores → what the file has."""
        files = [file for file in self.files if file.kind == "scores"]
        scored = next(iter(self.ranked[0].values()), None)
        if not files or scored is None:
            return {}
        measures = [parse_measure(name, given=True) for name in scored]
        read = score_files(self.workspace, files, measures, with_runs=bool(self.runs))
        every: set[str] = set()
        for one in read:
            every.update(one.scores.turns)
        found = {}
        for file, one in zip(files, read, strict=True):
            of_run = bool(self.project.qrels) and one.of_run
            turns = frozenset(one.scores.turns)
            unscored = frozenset(one.unscored)
            if not of_run:
                unscored |= every - turns
            found[file.name] = FileTurns(turns, unscored, not of_run)
        return found

    @cached_property
    def judges(self) -> dict[str, str]:
        """Measure → who or what made its judgments."""
        ranked = {measure for scored in self.ranked[0].values() for measure in scored}
        read = {measure for scored in self.read[0].values() for measure in scored}
        found = {}
        for measure in self.scores:
            found[measure] = "answers"
            if measure in ranked:
                found[measure] = self.project.qrels_source
            elif measure in read:
                found[measure] = "gold answers"
        return found

    # ------------------------------------------------------------ what makes an answer correct

    @cached_property
    def cuts(self) -> list[TurnCut]:
        """Every measure and threshold of correct answers, the headline first."""
        ranked, read = (list(next(iter(one.values()), {})) for one, _ in (self.ranked, self.read))
        thresholds = reachable_thresholds(self.project.thresholds, self.project.metrics)
        found = []
        for measure in dict.fromkeys([*ranked, *read]):
            for threshold in distinct_thresholds(measure, thresholds):
                found.append(TurnCut(measure, threshold))
        if found:
            headline = headline_of(ranked or read, thresholds)
            found.sort(key=lambda cut: cut.written != headline)
        return found

    @property
    def headline(self) -> str:
        """The headline measure: of the first cut, else the metric asked for, or the only one.

        Empty if the files have several metrics and the project asks for none.
        """
        if self.cuts:
            return self.cuts[0].measure
        asked = [one.name for one in self.project.metrics if one.name in self.scores]
        known = asked or list(self.scores)
        return known[0] if asked or len(known) == 1 else ""

    def cut_of(self, measure: str, threshold: str) -> TurnCut:
        """Return the measure and threshold that a filter writes.

        Raises :class:`UsageError` if the project has no such measure, or for a bad threshold.
        """
        names = {}
        for cut in self.cuts:
            for name in (cut.measure, measure_label(cut.measure)):
                names[normalised(name)] = cut.measure
        found = names.get(normalised(measure))
        if found is None:
            known = ", ".join(dict.fromkeys(cut.measure for cut in self.cuts))
            raise UsageError(
                "no-such-measure",
                f"turns have no scores in {measure!r}",
                f"choose from {known}" if known else "leave out at:",
            )
        return TurnCut(found, parse_threshold(threshold))

    def formulations_at(self, measure: str) -> tuple[Formulations, Basis] | None:
        """Return the scores of Original, the rewriters and Human, and what they are scores of.

        None if the project does not have these formulations, or not with this measure.
        """
        of_answers = parse_measure(measure, given=True).family in ANSWER_FAMILIES
        scored = self.read if of_answers else self.ranked
        if not any(measure in one for one in scored[0].values()):
            return None
        return self._formulations_by_answers if of_answers else self._formulations_by_rankings

    @cached_property
    def _formulations_by_rankings(self) -> tuple[Formulations, Basis] | None:
        return self._formulations(self.ranked[0])

    @cached_property
    def _formulations_by_answers(self) -> tuple[Formulations, Basis] | None:
        return self._formulations(self.read[0])

    def _formulations(self, scored: Mapping[str, TurnScores]) -> tuple[Formulations, Basis] | None:
        names = dict.fromkeys(measure for one in scored.values() for measure in one)
        asked = [parse_measure(name, given=True) for name in names]
        workspace = self.workspace.of(replace(self.project, metrics=()))
        try:
            workspace.formulation_files(asked)
        except UsageError:
            return None
        found, evaluated = workspace.formulation_scores(asked, apart=True)
        return found, evaluated.basis

    # ------------------------------------------------------------ rankings

    @cached_property
    def depths(self) -> dict[str, RunDepths]:
        """System → how deep its relevant passages are; empty without judgments."""
        if not self.project.qrels or not self.runs:
            return {}
        level = self.project.policy.relevance_level
        found = {}
        matrices = self.workspace.matrices(list(self.runs.items()))
        for name, matrix in zip(self.runs, matrices, strict=True):
            relevant = np.asarray(matrix.grades >= level)
            any_relevant = np.asarray(relevant.any(axis=1))
            places = relevant.argmax(axis=1) if relevant.shape[1] else np.zeros(len(relevant), int)
            first = [
                place + 1 if there else None
                for place, there in zip(places.tolist(), any_relevant.tolist(), strict=True)
            ]
            unjudged = np.asarray(matrix.grades == UNJUDGED)
            numbers = (unjudged[:, :READ].sum(axis=1), matrix.retrieved, unjudged.sum(axis=1))
            found[name] = RunDepths(
                dict(zip(matrix.turns, first, strict=True)),
                *(dict(zip(matrix.turns, one.tolist(), strict=True)) for one in numbers),
            )
        return found

    @cached_property
    def tops(self) -> dict[str, GradedTop]:
        """System → turn → its passages with grades; of very many, only the best."""
        passages = sum(sum(one.retrieved.values()) for one in self.depths.values())
        whole = bool(self.depths) and passages <= MOST_PASSAGES
        return self.workspace.tops(self.runs, _WHOLE if whole else DEEPEST)

    @cached_property
    def grades(self) -> dict[str, dict[str, int]]:
        """Turn → passage → grade; empty without judgments."""
        found: dict[str, dict[str, int]] = {}
        if self.project.qrels:
            for turn, passage, grade in self.workspace.qrels.rows():
                found.setdefault(turn, {})[passage] = grade
        return found

    def has_relevant(self, turn: str) -> bool:
        """Return whether some passage of the turn is judged relevant."""
        level = self.project.policy.relevance_level
        return any(grade >= level for grade in self.grades.get(turn, {}).values())
