"""What a command works on: the files of a project, read when they are needed, each remembered with its checksum."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from robustcs.errors import InputError, UsageError
from robustcs.evaluation.answers import answer_scores
from robustcs.evaluation.bins import Formulations
from robustcs.evaluation.groups import ORIGINAL_REWRITTEN
from robustcs.evaluation.matrix import GradeMatrix, grade_matrix
from robustcs.evaluation.measures import ANSWER_FAMILIES, Measure, evaluate, parse_measure
from robustcs.evaluation.ranking import Ranking, rank_run
from robustcs.evaluation.trec_eval import is_averaged, sampling_notes
from robustcs.evaluation.turns import (
    Answered,
    Expected,
    Turns,
    answered_by_run,
    answered_by_turns,
    count_turns,
    expected_of,
    strangers,
    union_of_turns,
)
from robustcs.inputs.answers import read_gold_answers, read_predicted_answers
from robustcs.inputs.files import sha256
from robustcs.inputs.paraphrases import Paraphrase, read_paraphrases
from robustcs.inputs.qrels import IRDS_PREFIX, Qrels, read_qrels
from robustcs.inputs.runs import read_run
from robustcs.inputs.scores import read_scores
from robustcs.inputs.slices import read_slices
from robustcs.inputs.texts import read_texts
from robustcs.inputs.turns import turn_sort_key
from robustcs.policy import EvaluationPolicy
from robustcs.project.files import protect_inputs
from robustcs.project.model import Formulation, Project
from robustcs.protected import protect
from robustcs.result import Basis, Evaluated

if TYPE_CHECKING:
    import pandas as pd

#: Measures of Table 1 of the error-analysis paper, and of its Table 2.
DEFAULT_METRICS = ("P_1", "ndcg_cut_3")
DEFAULT_ANSWER_METRICS = ("f1",)

T = TypeVar("T")

#: Shows progress over an iterable: (items, what is being done) → the same items.
Track = Callable[[Iterable[Any], str, int], Iterable[Any]]

#: Scores by turn of every file, the turns that were expected of the files, what they have of them, and notes.
Scored = tuple[list["pd.DataFrame"], Expected, list[Answered], list[str]]


class Workspace:
    """The inputs of one command; none of them is written to from now on.

    inputs
        One entry per file read so far: role, path, sha256 (None for ``irds:``), rows.
    """

    def __init__(self, project: Project, jobs: int = 1, track: Track = lambda items, what, total: items):
        self.project = project
        self.jobs = jobs
        self.track = track
        self.inputs: list[dict[str, Any]] = []
        self._text_files: list[tuple[Path, dict[str, str]]] = []
        protect_inputs(project)

    def remember(self, role: str, path: str | os.PathLike[str], rows: int) -> None:
        """Note a file that was read, with its checksum."""
        text = os.fspath(path)
        digest = None
        if not text.startswith(IRDS_PREFIX):
            digest = sha256(path)
            protect([path])
        self.inputs.append({"role": role, "path": text, "sha256": digest, "rows": rows})

    @cached_property
    def qrels(self) -> Qrels:
        """The project's judgments. Raises :class:`UsageError` where none are given."""
        return self.read_qrels(self.project.qrels)

    def read_qrels(self, source: Path | str | None) -> Qrels:
        """Judgments of another part of the project. Raises :class:`UsageError` for None."""
        if source is None:
            raise UsageError("no-qrels", "no qrels are given", "name them with --qrels FILE")
        qrels = read_qrels(source)
        self.remember("qrels", source, len(qrels))
        return qrels

    def per_run(
        self, files: Sequence[tuple[str, Path]], build: Callable[[Ranking], T], policy: EvaluationPolicy | None = None
    ) -> list[T]:
        """``build`` of the ranking of every (role, run file); runs are read ``jobs`` at a time and dropped once built.

        They are ranked by ``policy``, or by that of the project.
        """
        policy = policy or self.project.policy

        def one(file: tuple[str, Path]) -> tuple[T, int]:
            run = read_run(file[1], file[0], ranks=policy.order == "rank")
            return build(rank_run(run, policy)), len(run)

        with ThreadPoolExecutor(self.jobs) as pool:
            built = list(self.track(pool.map(one, files), "reading runs", len(files)))
        for (role, path), (_, rows) in zip(files, built, strict=True):
            self.remember(role, path, rows)
        return [result for result, _ in built]

    def matrices(self, files: Sequence[tuple[str, Path]]) -> list[GradeMatrix]:
        """The grade matrix of every (role, run file)."""
        qrels = self.qrels
        return self.per_run(files, lambda ranking: grade_matrix(ranking, qrels))

    @cached_property
    def texts(self) -> dict[str, dict[str, str]]:
        """Formulation name → turn → text; of several files for one formulation the earlier wins, turn by turn."""
        texts: dict[str, dict[str, str]] = {}
        for key, formulation in self.project.formulations.items():
            known = texts.setdefault(formulation.name, {})
            for source in formulation.rewrites:
                read = read_texts(source.path, formulation.role, source.column)
                self.remember(f"{key} texts", source.path, len(read))
                self._text_files.append((source.path, read))
                for turn, text in read.items():
                    known.setdefault(turn, text)
        return texts

    def texts_of(self, turns: Iterable[str], basis: Basis = "runs") -> dict[str, dict[str, str]]:
        """:attr:`texts`, where they are joined with ``turns``: those of the qrels (or runs), of scores or of answers.

        Raises :class:`InputError` for every file that has a text of none of them.
        """
        texts = self.texts
        what = "the scores" if basis == "scores" else "the answers" if basis == "answers" else "the runs"
        expected = Expected(tuple(turns), "the qrels" if basis == "runs" and self.project.qrels else what)
        problems = strangers(expected, [answered_by_turns("", path, read, expected) for path, read in self._text_files])
        if problems:
            raise InputError(list(dict.fromkeys(problems)))
        return texts

    @cached_property
    def paraphrases(self) -> dict[str, tuple[Paraphrase, ...]]:
        """Turn → its paraphrases. Raises :class:`UsageError` where the project has none."""
        path = self.project.paraphrases
        if path is None:
            raise UsageError("no-paraphrases", "no paraphrases are given", "name them with --paraphrases FILE")
        paraphrases = read_paraphrases(path)
        self.remember("paraphrases", path, sum(map(len, paraphrases.values())))
        return paraphrases

    def slices(self, path: Path) -> dict[str, dict[str, str]]:
        """Properties of turns from a user's TSV: column → turn → value."""
        slices = read_slices(path)
        self.remember("slices", path, len(set().union(*slices.values())))
        return slices

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
        self, names: Sequence[str], metrics: Sequence[str] = ()
    ) -> tuple[dict[str, pd.DataFrame], Evaluated]:
        """Scores of systems over the same turns, by the project's policy: name → float frame, turns × measures.

        ``metrics`` take the place of the project's; without either, P@1 and NDCG@3 are used.

        Raises :class:`UsageError` for an unknown name, without qrels, or where no run answers a judged turn.
        """
        names = list(dict.fromkeys(names))
        measures = parse_measures(metrics or self.project.metrics or DEFAULT_METRICS)
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

    def _basis(self, metrics: Sequence[str]) -> Basis:
        """Where scores come from, told by the measures and by what the formulations have."""
        wanted = [parse_measure(name).family in ANSWER_FAMILIES for name in metrics]
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

    def formulation_scores(self, metrics: Sequence[str] = ()) -> tuple[Formulations, Evaluated]:
        """Scores of Original, every rewriter and Human over the same turns, by the project's policy.

        ``metrics`` take the place of the project's; without either, those of the paper's tables are used.

        Raises :class:`UsageError` where a formulation or the qrels or gold answers are not given, or where the files do
        not have the measures that are asked for.
        """
        metrics = metrics or self.project.metrics
        basis = self._basis(metrics)
        parts = self._three_formulations(basis)
        if basis == "runs":
            files = [(_key(part), part.run) for part in parts if part.run]
            measures = parse_measures(metrics or DEFAULT_METRICS)
            scored = self._from_runs([part.name for part in parts], files, measures)
        elif basis == "scores":
            files = [(_key(part), part.scores) for part in parts if part.scores]
            frames = self.score_files(files, parse_measures(metrics))
            scored = align([part.name for part in parts], [path for _, path in files], frames)
        else:
            scored = self._from_answers(parts, metrics or DEFAULT_ANSWER_METRICS)
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
        from robustcs.project.open_questions import systems_of, unanswered

        return unanswered([system for system in systems_of(self) if system.name in names])

    def _with_texts(self) -> set[str]:
        """The names of all systems that have texts."""
        written = {part.name for part in self.project.formulations.values() if part.rewrites}
        return {*written, *self.project.texts, *self.project.raw_texts}

    def _from_runs(
        self, names: Sequence[str], files: Sequence[tuple[str, Path]], measures: Sequence[Measure]
    ) -> Scored:
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
            names = [name for name in DEFAULT_METRICS if all(name in frame for frame in frames)]
        for (_, path), frame in zip(files, frames, strict=True):
            lacking = [name for name in names if name not in frame]
            if lacking or not names:
                raise UsageError(
                    "no-such-measure", f"{path} has no {lacking[0] if lacking else ' or '.join(DEFAULT_METRICS)}",
                    f"it has {', '.join(map(str, frame.columns))}",
                )  # fmt: skip
        return [frame[names].dropna() for frame in frames]

    def _from_answers(self, parts: Sequence[Formulation], metrics: Sequence[str]) -> Scored:
        if self.project.gold is None:
            raise UsageError("no-gold", "no gold answers are given", "name them with --gold FILE")
        gold = read_gold_answers(self.project.gold)
        self.remember("gold answers", self.project.gold, len(gold))
        names = [measure.name for measure in parse_measures(metrics)]
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


def parse_measures(names: Sequence[str]) -> list[Measure]:
    """The measures named, each once.

    Raises :class:`UsageError` for names that mean none, and for counts and geometric means, which no turn has alone.
    """
    measures = list(dict.fromkeys(map(parse_measure, names)))
    for measure in measures:
        if not is_averaged(measure):
            advice = "ask for a measure that each turn has, such as map"
            raise UsageError("not-a-mean", f"{measure} is no mean over turns", advice)
    return measures


def _answered(
    names: Sequence[str], files: Sequence[tuple[str, Path]], matrices: Sequence[GradeMatrix]
) -> list[Answered]:
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
