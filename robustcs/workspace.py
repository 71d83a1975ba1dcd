"""What a command works on: the files of a project, read when they are needed, each remembered with its checksum."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from robustcs.analyses.bins import Formulations
from robustcs.analyses.result import Basis, Evaluated
from robustcs.errors import UsageError
from robustcs.evaluation.answers import answer_scores
from robustcs.evaluation.matrix import UNJUDGED, GradeMatrix, grade_matrix
from robustcs.evaluation.measures import ANSWER_FAMILIES, Measure, evaluate, parse_measure
from robustcs.evaluation.ranking import Ranking, rank_run
from robustcs.inputs.answers import read_gold_answers, read_predicted_answers
from robustcs.inputs.files import sha256
from robustcs.inputs.qrels import IRDS_PREFIX, Qrels, read_qrels
from robustcs.inputs.runs import read_run
from robustcs.inputs.scores import read_scores
from robustcs.inputs.texts import read_texts
from robustcs.inputs.turns import turn_sort_key
from robustcs.project import Formulation, Project

if TYPE_CHECKING:
    import pandas as pd

#: Measures of Table 1 of the error-analysis paper, and of its Table 2.
DEFAULT_METRICS = ("P_1", "ndcg_cut_3")
DEFAULT_ANSWER_METRICS = ("f1",)

T = TypeVar("T")

#: Shows progress over an iterable: (items, what is being done) → the same items.
Track = Callable[[Iterable[Any], str, int], Iterable[Any]]


class Workspace:
    """The inputs of one command.

    inputs
        One entry per file read so far: role, path, sha256 (None for ``irds:``), rows.
    """

    def __init__(self, project: Project, jobs: int = 1, track: Track = lambda items, what, total: items):
        self.project = project
        self.jobs = jobs
        self.track = track
        self.inputs: list[dict[str, Any]] = []

    def _remember(self, role: str, path: str | os.PathLike[str], rows: int) -> None:
        text = os.fspath(path)
        digest = None if text.startswith(IRDS_PREFIX) else sha256(path)
        self.inputs.append({"role": role, "path": text, "sha256": digest, "rows": rows})

    @cached_property
    def qrels(self) -> Qrels:
        """The project's judgments. Raises :class:`UsageError` where none are given."""
        if self.project.qrels is None:
            raise UsageError("no-qrels", "no qrels are given", "name them with --qrels FILE")
        qrels = read_qrels(self.project.qrels)
        self._remember("qrels", self.project.qrels, len(qrels))
        return qrels

    def per_run(self, files: Sequence[tuple[str, Path]], build: Callable[[Ranking], T]) -> list[T]:
        """``build`` of the ranking of every (role, run file); runs are read ``jobs`` at a time and dropped once built."""
        policy = self.project.policy

        def one(file: tuple[str, Path]) -> tuple[T, int]:
            run = read_run(file[1], file[0], ranks=policy.order == "rank")
            return build(rank_run(run, policy)), len(run)

        with ThreadPoolExecutor(self.jobs) as pool:
            built = list(self.track(pool.map(one, files), "reading runs", len(files)))
        for (role, path), (_, rows) in zip(files, built, strict=True):
            self._remember(role, path, rows)
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
                self._remember(f"{key} texts", source.path, len(read))
                for turn, text in read.items():
                    known.setdefault(turn, text)
        return texts

    # ------------------------------------------------------------ scores of the three formulations

    def measures(self, basis: Basis) -> list[Measure]:
        """The project's measures, or the default ones of the basis."""
        defaults = DEFAULT_ANSWER_METRICS if basis == "answers" else DEFAULT_METRICS
        measures = [parse_measure(name) for name in self.project.metrics or defaults]
        return list(dict.fromkeys(measures))

    def basis(self) -> Basis:
        """Where scores come from, told by the measures and by what the formulations have."""
        wanted = [parse_measure(name).family in ANSWER_FAMILIES for name in self.project.metrics]
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

    def formulation_scores(self) -> tuple[Formulations, Evaluated]:
        """Scores of Original, every rewriter and Human over the same turns, by the project's policy.

        Raises :class:`UsageError` where a formulation or the qrels or gold answers are not given, or where the files do
        not have the measures that are asked for.
        """
        basis = self.basis()
        parts = self._three_formulations(basis)
        reader = {"runs": self._from_runs, "scores": self._from_score_files, "answers": self._from_answers}[basis]
        frames, missing, notes = reader(parts)
        first = frames[0]
        lacking = sorted(set().union(*missing), key=list(first.index).index) if any(missing) else []
        if lacking and self.project.policy.missing == "drop":
            frames = [frame.drop(index=lacking) for frame in frames]
            if not len(frames[0]):
                raise UsageError("no-turns", "no turn is answered by all files", "check that their turn ids agree")
        for part, turns in zip(parts, missing, strict=True):
            if turns:
                some = ", ".join(sorted(turns, key=list(first.index).index)[:5]) + (" …" if len(turns) > 5 else "")
                notes.append(f"{part.name} lacks {len(turns)} turn{'s' * (len(turns) != 1)}: {some}")
        scores = dict(zip([(part.role, part.name) for part in parts], frames, strict=True))
        formulations = Formulations(
            original=scores["original", "original"],
            rewriters={name: frame for (role, name), frame in scores.items() if role == "qr"},
            human=scores["human", "human"],
        )
        notes += _swapped(formulations)
        policy = self.project.policy
        return formulations, Evaluated(policy, basis, len(frames[0]), len(lacking), tuple(dict.fromkeys(notes)))

    def _three_formulations(self, basis: Basis) -> list[Formulation]:
        """Original, the rewriters, Human; all of them have a file for the basis."""
        source = {"runs": "run", "scores": "scores", "answers": "answers"}[basis]
        parts = sorted(self.project.formulations.items(), key=lambda item: ("original", "qr", "human").index(item[1].role))
        chosen = [part for _, part in parts if getattr(part, source)]
        for role in ("original", "qr", "human"):
            if not any(part.role == role for part in chosen):
                option = f"--{role} FILE" if basis == "runs" else f"--{source} {role}=FILE"
                what = {"runs": "run", "scores": "per-turn scores", "answers": "predicted answers"}[basis]
                have = [part.name for part in chosen]
                found = f"no {what} of the {role} formulation" + (f" (there are those of {', '.join(have)})" if have else "")
                raise UsageError("no-formulation", found, f"give {option}, or write a robustcs.toml with robustcs init")
        return chosen

    def _from_runs(self, parts: Sequence[Formulation]) -> tuple[list[pd.DataFrame], list[set[str]], list[str]]:
        matrices = self.matrices([(_key(part), part.run) for part in parts if part.run])
        measures = self.measures("runs")
        notes = [note for matrix in matrices for note in matrix.notes] + list(self.qrels.notes)
        extra = max(matrix.extra_turns for matrix in matrices)
        if extra:
            notes.append(f"{extra} turn{'s' * (extra != 1)} of the runs without judgments left out")
        if all(matrix.missing.all() for matrix in matrices):
            raise UsageError(
                "no-common-turns", f"no run answers any of the {len(self.qrels.turns)} judged turns",
                f"check the turn ids: the qrels have {self.qrels.turns[0]!r}",
            )  # fmt: skip
        for part, matrix in zip(parts, matrices, strict=True):
            if matrix.missing.all():
                notes.append(f"{part.name} answers none of the judged turns: are its turn ids those of the qrels?")
            elif not (matrix.grades > UNJUDGED).any():
                notes.append(f"no passage of {part.name} is judged: are its passage ids those of the qrels?")
        missing = [
            {turn for turn, lacks in zip(matrix.turns, matrix.missing, strict=True) if lacks} for matrix in matrices
        ]
        return [evaluate(matrix, measures, self.project.policy) for matrix in matrices], missing, notes

    def _from_score_files(self, parts: Sequence[Formulation]) -> tuple[list[pd.DataFrame], list[set[str]], list[str]]:
        frames = []
        for part in parts:
            assert part.scores is not None
            frame = read_scores(part.scores)
            self._remember(_key(part), part.scores, int(frame.notna().to_numpy().sum()))
            frames.append(frame)
        names = [measure.name for measure in self.measures("scores")]
        if not self.project.metrics:
            names = [name for name in names if all(name in frame for frame in frames)]
        for part, frame in zip(parts, frames, strict=True):
            lacking = [name for name in names if name not in frame]
            if lacking or not names:
                raise UsageError(
                    "no-such-measure", f"{part.scores} has no {lacking[0] if lacking else ' or '.join(DEFAULT_METRICS)}",
                    f"it has {', '.join(map(str, frame.columns))}",
                )  # fmt: skip
        frames = [frame[names].dropna() for frame in frames]
        return _align(frames)

    def _from_answers(self, parts: Sequence[Formulation]) -> tuple[list[pd.DataFrame], list[set[str]], list[str]]:
        if self.project.gold is None:
            raise UsageError("no-gold", "no gold answers are given", "name them with --gold FILE")
        gold = read_gold_answers(self.project.gold)
        self._remember("gold answers", self.project.gold, len(gold))
        names = [measure.name for measure in self.measures("answers")]
        frames, missing, notes = [], [], []
        for part in parts:
            assert part.answers is not None
            predicted = read_predicted_answers(part.answers)
            self._remember(f"{_key(part)} answers", part.answers, len(predicted))
            frame, unmatched = answer_scores(predicted, gold)
            if unmatched.missing == len(gold):
                raise UsageError(
                    "no-common-turns", f"{part.answers} answers none of the {len(gold)} gold turns",
                    f"check the turn ids: the gold answers have {next(iter(gold))!r}",
                )  # fmt: skip
            if unmatched.extra:
                notes.append(f"{unmatched.extra} answers of {part.name} to turns without gold answers left out")
            frames.append(frame[names])
            missing.append(set(gold) - set(predicted))
        return frames, missing, notes


def _key(part: Formulation) -> str:
    return part.role if part.role == part.name else f"{part.role}:{part.name}"


def _align(frames: Sequence[pd.DataFrame]) -> tuple[list[pd.DataFrame], list[set[str]], list[str]]:
    """Join per-turn files by turn id, never by row: the union of their turns, 0 where a file lacks one."""
    turns = sorted(set().union(*(frame.index for frame in frames)), key=turn_sort_key)
    if not any(set(frames[0].index) & set(frame.index) for frame in frames[1:]):
        raise UsageError(
            "no-common-turns", "the score files have no turn in common",
            f"check their turn ids: {frames[0].index[0]!r} and {frames[1].index[0]!r}",
        )  # fmt: skip
    missing = [set(turns) - set(frame.index) for frame in frames]
    return [frame.reindex(turns, fill_value=0.0).rename_axis("turn") for frame in frames], missing, []


def _swapped(scores: Formulations) -> list[str]:
    """A note where Human questions do worse than Original ones: then the files stand most likely in the wrong roles."""
    worse = [metric for metric in scores.measures if scores.human[metric].mean() < scores.original[metric].mean()]
    if not worse:
        return []
    return [f"Human questions score below Original ones ({', '.join(worse)}): are the two files swapped?"]
