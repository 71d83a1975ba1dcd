"""What a study works on: the inputs of a project, and the scores that they give, over the same turns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from robustcs.errors import UsageError
from robustcs.evaluation.answers import answer_scores
from robustcs.evaluation.bins import Formulations
from robustcs.evaluation.groups import ORIGINAL_REWRITTEN
from robustcs.evaluation.matrix import GradeMatrix
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.measures import ANSWER_FAMILIES, averaged, evaluate, parse_measure
from robustcs.evaluation.trec_eval import sampling_notes
from robustcs.evaluation.turns import (
    Answered,
    Expected,
    Turns,
    answered_by_run,
    answered_by_turns,
    count_turns,
    expected_of,
    union_of_turns,
)
from robustcs.inputs.answers import read_gold_answers, read_predicted_answers
from robustcs.inputs.scores import read_scores
from robustcs.inputs.turns import turn_sort_key
from robustcs.project.model import Formulation, Project
from robustcs.project.open_questions import systems_of, unanswered
from robustcs.project.reader import Inputs
from robustcs.result import Basis, Evaluated

if TYPE_CHECKING:
    import pandas as pd

#: Measures of Table 1 of the error-analysis paper, and of its Table 2.
DEFAULT_MEASURES = (parse_measure("P_1"), parse_measure("ndcg_cut_3"))
DEFAULT_ANSWER_MEASURES = (parse_measure("f1"),)

#: Scores by turn of every file, the turns that were expected of the files, what they have of them, and notes.
Scored = tuple[list["pd.DataFrame"], Expected, list[Answered], list[str]]


class Workspace(Inputs):
    """The inputs of a project, and scores of its systems and formulations by its policy."""

    def of(self, project: Project) -> Workspace:
        """A workspace of another project, or of this one after a step, with the same jobs and progress."""
        return Workspace(project, self.jobs, self.track)

    def ranking_measures(self, default: Sequence[Measure]) -> tuple[list[Measure], list[str]]:
        """The project's measures of rankings, or ``default``; measures of answers are passed over with a note."""
        measures = averaged(self.project.metrics or default)
        left = [measure.name for measure in measures if measure.family in ANSWER_FAMILIES]
        kept = [measure for measure in measures if measure.family not in ANSWER_FAMILIES]
        notes = [f"{', '.join(left)} left out: answers are not judged passages"] if left else []
        return kept or list(default), notes

    # ------------------------------------------------------------ scores of systems by name

    def system_files(self, names: Sequence[str]) -> list[tuple[str, Path]]:
        """(name, run file) of every name. Raises :class:`UsageError` for a name that the project does not have."""
        systems = self.project.systems
        for name in names:
            if name in self._with_texts() - systems.keys():
                raise self.unanswered([name])
            if name not in systems:
                have = f"there are {', '.join(systems)}" if systems else "name runs with --run NAME=FILE"
                if name == ORIGINAL_REWRITTEN:
                    have = "it is made of the original turns' texts where [retrieval] has an index and a rewriter"
                raise UsageError("no-such-run", f"no run is named {name!r}", have)
        return [(name, systems[name]) for name in names]

    def system_scores(
        self, names: Sequence[str], measures: Sequence[Measure] = ()
    ) -> tuple[dict[str, pd.DataFrame], Evaluated]:
        """Scores of systems over the same turns, by the project's policy: name → float frame, turns × measures.

        ``measures`` take the place of the project's; without either, P@1 and NDCG@3 are used.

        Raises :class:`UsageError` for an unknown name, without qrels, or where no run answers a judged turn.
        """
        names = list(dict.fromkeys(names))
        measures = averaged(measures or self.project.metrics or DEFAULT_MEASURES)
        for measure in measures:
            if measure.family in ANSWER_FAMILIES:
                raise UsageError("no-answers", f"{measure.name} measures answers, and runs have none", "ask for ndcg_cut_3")
        frames, evaluated = self._common_turns("runs", self._from_runs(names, self.system_files(names), measures))
        return dict(zip(names, frames, strict=True)), evaluated

    def count_turns(
        self, names: Sequence[str], files: Sequence[tuple[str, Path]], matrices: Sequence[GradeMatrix], holes: bool = False
    ) -> Turns:
        """Which judged turns count, by the project's policy, and which run lacks which; see :mod:`robustcs.evaluation.turns`.

        Raises :class:`InputError` for runs that have nothing to do with the qrels.
        """
        answered = _answered(names, files, matrices)
        return count_turns(expected_of(self.qrels), answered, self.project.policy.missing, holes=holes)

    def _common_turns(self, basis: Basis, scored: Scored) -> tuple[list[pd.DataFrame], Evaluated]:
        """The frames on the turns that count."""
        frames, expected, answered, notes = scored
        turns = count_turns(expected, answered, self.project.policy.missing)
        notes = list(dict.fromkeys([*notes, *turns.notes]))
        evaluated = Evaluated(self.project.policy, basis, int(turns.counted.sum()), int(turns.lacking.sum()), tuple(notes))
        return [frame[turns.counted] for frame in frames], evaluated

    # ------------------------------------------------------------ scores of the three formulations

    def _basis(self, measures: Sequence[Measure]) -> Basis:
        """Where scores come from, told by the measures and by what the formulations have."""
        wanted = [measure.family in ANSWER_FAMILIES for measure in measures]
        if any(wanted) and not all(wanted):
            raise UsageError(
                "mixed-measures", "measures of answers (f1, em) and of rankings go over different turns",
                "ask for them in two commands",
            )  # fmt: skip
        parts = self.project.formulations.values()
        if any(wanted):
            return "answers"
        if any(part.run for part in parts):
            return "runs"
        if any(part.scores for part in parts):
            return "scores"
        if any(part.answers for part in parts) and not wanted:
            return "answers"
        return "runs"

    def formulation_scores(self, measures: Sequence[Measure] = ()) -> tuple[Formulations, Evaluated]:
        """Scores of Original, every rewriter and Human over the same turns, by the project's policy.

        ``measures`` take the place of the project's; without either, those of the paper's tables are used.

        Raises :class:`UsageError` where a formulation or the qrels or gold answers are not given, or where the files do
        not have the measures that are asked for.
        """
        measures = measures or self.project.metrics
        basis = self._basis(measures)
        parts = self._three_formulations(basis)
        if basis == "runs":
            files = [(_key(part), part.run) for part in parts if part.run]
            asked = averaged(measures or DEFAULT_MEASURES)
            scored = self._from_runs([part.name for part in parts], files, asked)
        elif basis == "scores":
            files = [(_key(part), part.scores) for part in parts if part.scores]
            frames = self.score_files(files, averaged(measures))
            scored = align([part.name for part in parts], [path for _, path in files], frames)
        else:
            scored = self._from_answers(parts, averaged(measures or DEFAULT_ANSWER_MEASURES))
        frames, evaluated = self._common_turns(basis, scored)
        scores = dict(zip([(part.role, part.name) for part in parts], frames, strict=True))
        formulations = Formulations(
            original=scores["original", "original"],
            rewriters={name: frame for (role, name), frame in scores.items() if role == "qr"},
            human=scores["human", "human"],
        )
        return formulations, replace(evaluated, notes=(*evaluated.notes, *_swapped(formulations)))

    def _three_formulations(self, basis: Basis) -> list[Formulation]:
        """Original, the rewriters, Human; all of them have a file for the basis."""
        source = {"runs": "run", "scores": "scores", "answers": "answers"}[basis]
        parts = sorted(self.project.formulations.items(), key=lambda item: ("original", "qr", "human").index(item[1].role))
        chosen = [part for _, part in parts if getattr(part, source)]
        for role in ("original", "qr", "human"):
            if not any(part.role == role for part in chosen):
                waiting = [part.name for _, part in parts if part.role == role and part.rewrites]
                if basis == "runs" and waiting:
                    raise self.unanswered(waiting[:1])
                option = f"--{role} FILE" if basis == "runs" else f"--{source} {role}=FILE"
                what = {"runs": "run", "scores": "per-turn scores", "answers": "predicted answers"}[basis]
                have = [part.name for part in chosen]
                found = f"no {what} of the {role} formulation" + (f" (there are those of {', '.join(have)})" if have else "")
                raise UsageError("no-formulation", found, f"give {option}, or write a robustcs.toml with robustcs init")
        return chosen

    def require_runs(self) -> None:
        """Raises :class:`UsageError` where the project has no run; texts that wait for one are named."""
        if self.project.systems:
            return
        if waiting := self._with_texts():
            raise self.unanswered(waiting)
        raise UsageError("no-runs", "no runs are given", "name them with --run NAME=FILE")

    def unanswered(self, names: Collection[str]) -> UsageError:
        """The error for systems that have texts but no run; it names the turns and the command that answers them."""
        return unanswered([system for system in systems_of(self) if system.name in names])

    def _with_texts(self) -> set[str]:
        """The names of all systems that have texts."""
        written = {part.name for part in self.project.formulations.values() if part.rewrites}
        return {*written, *self.project.texts, *self.project.raw_texts}

    def _from_runs(self, names: Sequence[str], files: Sequence[tuple[str, Path]], measures: Sequence[Measure]) -> Scored:
        matrices = self.matrices(files)
        notes = [note for matrix in matrices for note in matrix.notes] + list(self.qrels.notes)
        notes += sampling_notes(measures, self.qrels.grades)
        frames = [evaluate(matrix, measures, self.project.policy) for matrix in matrices]
        return frames, expected_of(self.qrels), _answered(names, files, matrices), notes

    def score_files(self, files: Sequence[tuple[str, Path]], measures: Sequence[Measure]) -> list[pd.DataFrame]:
        """Per-turn scores of every (role, file), without turns that lack one; each file with the turns that it has.

        Without ``measures``, those of the default ones that all files have.

        Raises :class:`UsageError` for a file without a measure that is asked for, or without any of the default ones.
        """
        frames = []
        for role, path in files:
            frame = read_scores(path)
            self.remember(role, path, int(frame.notna().to_numpy().sum()))
            frames.append(frame)
        names = [measure.name for measure in measures]
        if not measures:
            names = [name for name in map(str, DEFAULT_MEASURES) if all(name in frame for frame in frames)]
        for (_, path), frame in zip(files, frames, strict=True):
            lacking = [name for name in names if name not in frame]
            if lacking or not names:
                raise UsageError(
                    "no-such-measure", f"{path} has no {lacking[0] if lacking else ' or '.join(map(str, DEFAULT_MEASURES))}",
                    f"it has {', '.join(map(str, frame.columns))}",
                )  # fmt: skip
        return [frame[names].dropna() for frame in frames]

    def scored_systems(
        self, files: Mapping[str, Path], measures: Sequence[Measure] = ()
    ) -> tuple[dict[str, pd.DataFrame], Evaluated]:
        """Per-turn scores of any systems, joined by turn: name → float frame, turns × measures; see :meth:`score_files`."""
        frames = self.score_files(list(files.items()), averaged(measures or self.project.metrics))
        frames, evaluated = self._common_turns("scores", align(list(files), list(files.values()), frames))
        return dict(zip(files, frames, strict=True)), evaluated

    def _from_answers(self, parts: Sequence[Formulation], measures: Sequence[Measure]) -> Scored:
        if self.project.gold is None:
            raise UsageError("no-gold", "no gold answers are given", "name them with --gold FILE")
        gold = read_gold_answers(self.project.gold)
        self.remember("gold answers", self.project.gold, len(gold))
        names = [measure.name for measure in measures]
        expected = Expected(tuple(sorted(gold, key=turn_sort_key)), "the gold answers")
        frames, answered, notes = [], [], []
        for part in parts:
            assert part.answers is not None
            predicted = read_predicted_answers(part.answers)
            self.remember(f"{_key(part)} answers", part.answers, len(predicted))
            frame, unmatched = answer_scores(predicted, gold)
            if unmatched.extra:
                notes.append(f"{unmatched.extra} answers of {part.name} to turns without gold answers left out")
            frames.append(frame[names])
            answered.append(answered_by_turns(part.name, part.answers, predicted, expected))
        return frames, expected, answered, notes


def _key(part: Formulation) -> str:
    return part.role if part.role == part.name else f"{part.role}:{part.name}"


def _answered(names: Sequence[str], files: Sequence[tuple[str, Path]], matrices: Sequence[GradeMatrix]) -> list[Answered]:
    return [answered_by_run(name, path, matrix) for name, (_, path), matrix in zip(names, files, matrices, strict=True)]


def align(names: Sequence[str], paths: Sequence[Path], frames: Sequence[pd.DataFrame]) -> Scored:
    """Join per-turn scores by turn id, never by row: the union of their turns, 0 where a file lacks one.

    Raises :class:`InputError` for a file that shares no turn with the others.
    """
    own = [list(frame.index) for frame in frames]
    expected = union_of_turns(list(zip(paths, own, strict=True)), "the scores")
    files = zip(names, paths, own, strict=True)
    answered = [answered_by_turns(name, path, turns, expected) for name, path, turns in files]
    turns = list(expected.turns)
    return [frame.reindex(turns, fill_value=0.0).rename_axis("turn") for frame in frames], expected, answered, []


def _swapped(scores: Formulations) -> list[str]:
    """A note where Human questions do worse than Original ones: then the files stand most likely in the wrong roles."""
    worse = [metric for metric in scores.measures if scores.human[metric].mean() < scores.original[metric].mean()]
    if not worse:
        return []
    return [f"Human questions score below Original ones ({', '.join(worse)}): are the two files swapped?"]
