"""What a study works on: the inputs of a project, and the scores that they give, over the same turns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from robustcs.errors import UsageError
from robustcs.evaluation.bins import Formulations
from robustcs.evaluation.matrix import GradeMatrix
from robustcs.evaluation.measure import ANSWER_FAMILIES, Measure
from robustcs.evaluation.state import ORIGINAL_REWRITTEN
from robustcs.evaluation.turns import Turns, answered_by_run, count_turns, expected_of
from robustcs.lazy import pd
from robustcs.project.model import ROLES, Project, Role
from robustcs.project.open_questions import systems_of, unanswered
from robustcs.project.reader import Inputs
from robustcs.project.scoring import ScoredFile, file_of, of_answers, score
from robustcs.result import Evaluated


class Workspace(Inputs):
    """The inputs of a project, and scores of its systems and formulations by its policy."""

    def of(self, project: Project) -> Workspace:
        """A workspace of another project, or of this one after a step, with the same jobs and progress."""
        return Workspace(project, self.jobs, self.track, self.may_retrieve)

    def ranking_measures(self, default: Sequence[Measure], totals: bool = False) -> tuple[list[Measure], list[str]]:
        """The project's measures of rankings, or ``default``; measures of answers are passed over with a note."""
        measures = self.averaged(self.project.metrics or default, totals)
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
        """Scores of systems' runs over the same turns, by the project's policy: name → float frame, turns × measures.

        ``measures`` take the place of the project's; without either, P@1 and NDCG@3 are used.

        Raises :class:`UsageError` for an unknown name, without qrels, or where no run answers a judged turn.
        """
        files = [ScoredFile(name, name, path, "runs") for name, path in self.system_files(list(dict.fromkeys(names)))]
        return self.scores_of(files, measures or self.project.metrics)

    def scores_of(
        self, files: Sequence[ScoredFile], measures: Sequence[Measure], alone: bool = False
    ) -> tuple[dict[str, pd.DataFrame], Evaluated]:
        """As :meth:`system_scores`, of any runs and per-turn scores; without ``measures``, those of the paper's tables. See
        :func:`~robustcs.project.scoring.score` for ``alone``.
        """
        for measure in measures:
            if measure.family in ANSWER_FAMILIES:
                raise UsageError("no-answers", f"{measure.name} measures answers, and runs have none", "ask for ndcg_cut_3")
        frames, evaluated = score(self, files, measures, alone)
        return {file.name: frame for file, frame in zip(files, frames, strict=True)}, evaluated

    def count_turns(
        self, names: Sequence[str], files: Sequence[tuple[str, Path]], matrices: Sequence[GradeMatrix], holes: bool = False
    ) -> Turns:
        """Which judged turns count, by the project's policy, and which run lacks which; see :mod:`robustcs.evaluation.turns`.

        Raises :class:`InputError` for runs that have nothing to do with the qrels.
        """
        answered = [answered_by_run(name, path, matrix) for name, (_, path), matrix in zip(names, files, matrices, strict=True)]
        return count_turns(expected_of(self.qrels), answered, self.project.policy.missing, holes=holes)

    # ------------------------------------------------------------ scores of the three formulations

    def formulation_scores(self, measures: Sequence[Measure] = ()) -> tuple[Formulations, Evaluated]:
        """Scores of Original, every rewriter and Human over the same turns, by the project's policy.

        ``measures`` take the place of the project's; without either, those of the paper's tables are used.

        Raises :class:`UsageError` where a formulation or the qrels or gold answers are not given, or where the files do
        not have the measures that are asked for.
        """
        measures = measures or self.project.metrics
        files = self.formulation_files(measures)
        frames, evaluated = score(self, list(files.values()), measures)
        scores = dict(zip(files, frames, strict=True))
        formulations = Formulations(
            original=scores.get(("original", "original")),
            # a further Original, such as the whole conversation, is one more question without the human in it
            rewriters={name: frame for (role, name), frame in scores.items() if role != "human" and name != "original"},
            human=scores["human", "human"],
        )
        return formulations, replace(evaluated, notes=(*evaluated.notes, *_swapped(formulations)))

    def formulation_files(self, measures: Sequence[Measure] = ()) -> dict[tuple[Role, str], ScoredFile]:
        """Original (which may be absent), the rewriters and Human by role and name, and what scores them; no file is read.

        Raises :class:`UsageError` where one of them, or the gold answers, are not given.
        """
        measures = measures or self.project.metrics
        parts = sorted(self.project.formulations.values(), key=lambda part: ROLES.index(part.role))
        ranked = any(part.run or part.scores for part in parts) or not any(part.answers for part in parts)
        answers = of_answers(measures) or not (measures or ranked)
        chosen = {(part.role, part.name): file for part in parts if (file := file_of(part, answers))}
        for role in ROLES:
            if role != "original" and not any(role == one for one, _ in chosen):
                waiting = [part.name for part in parts if part.role == role and part.rewrites]
                if not answers and waiting:
                    raise self.unanswered(waiting[:1])
                kinds = {file.kind for file in chosen.values()} or {"answers" if answers else "runs"}
                kind = kinds.pop() if len(kinds) == 1 else "runs"
                what = {"answers": "predicted answers", "scores": "per-turn scores", "runs": "run"}[kind]
                have = f" (there are those of {', '.join(name for _, name in chosen)})" if chosen else ""
                option = f"--{role} FILE" if kind == "runs" else f"--{kind} {role}=FILE"
                advice = f"give {option}, or write a robustcs.toml with robustcs init"
                raise UsageError("no-formulation", f"no {what} of the {role} formulation{have}", advice)
        if answers:
            self.require("gold")
        return chosen

    def scored_systems(self, scores: Mapping[str, Path] | None = None) -> list[ScoredFile]:
        """Every run, the formulations that have per-turn scores instead, and the files of ``scores`` (by name), which win.

        Raises :class:`UsageError` where there is none.
        """
        files = [ScoredFile(name, name, path, "runs") for name, path in self.project.systems.items()]
        parts = self.project.formulations.values()
        files += [file for part in parts if not part.run and (file := file_of(part, answers=False))]
        files += [ScoredFile(name, f"{name} scores", path, "scores") for name, path in (scores or {}).items()]
        if not files:
            self.require_runs()
        return list({file.name: file for file in files}.values())

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


def _swapped(scores: Formulations) -> list[str]:
    """A note where Human questions do worse than Original ones: then the files stand most likely in the wrong roles."""
    if scores.original is None:
        return []
    worse = [metric for metric in scores.measures if scores.human[metric].mean() < scores.original[metric].mean()]
    if not worse:
        return []
    return [f"Human questions score below Original ones ({', '.join(worse)}): are the two files swapped?"]
