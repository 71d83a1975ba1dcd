"""Which commands can run on a project, and what the others need; determined from the inputs without running them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property, partial

from robustcs.errors import InputError, Problem, RobustcsError, UsageError
from robustcs.evaluation.judgments import merge_qrels
from robustcs.evaluation.matrix import grade_matrix
from robustcs.evaluation.measure import ANSWER_FAMILIES
from robustcs.evaluation.ranking import rank_run
from robustcs.evaluation.turns import CoveredTurns, count_turns, covered_by_run, expected_of
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.runs import read_run
from robustcs.project import requirements
from robustcs.project.model import STUDY_TABLES, Project
from robustcs.project.open_questions import cells_of, systems_of
from robustcs.project.scoring import ScoredFile
from robustcs.project.turns import TurnInputs
from robustcs.project.workspace import Workspace
from robustcs.retrieval.index import index_state
from robustcs.retrieval.java import anserini_jar, java_home
from robustcs.studies.check.survey import Survey
from robustcs.studies.registry import STUDIES, study
from robustcs.studies.study import Study

#: command, runs, because, give.
Row = tuple[str, bool, str | None, str | None]

#: Inputs whose runs are scored against the qrels. With an index, missing runs are retrieved first.
_RANKED = frozenset(
    {"formulations", "question_pairs", "runs", "systems", "groups", "compared_runs", "components"}
)
#: Studies that need means over turns and therefore reject projects whose metrics are totals.
_MEANS = frozenset({"breakdown", "sweep", "correlate", "turns", "unjudged", "augment", "audit"})


class Readiness:
    """Whether each command can run on the project of a survey."""

    def __init__(self, workspace: Workspace, survey: Survey):
        self.workspace = workspace
        self.survey = survey
        self.project = workspace.project
        self._own: Mapping[str, Callable[[], None]] = {
            **{name: partial(self._scored, name) for name in ("breakdown", "sweep", "evaluate")},
            "correlate": self._pairs, "robustness": partial(self.check_files, ["paraphrases"]),
            "augment": self._merged, "judge": self._scale, "passages": self._relevant_passages,
            **{name: partial(self._check_table, name) for name in STUDY_TABLES}, "review": self._reviewed,
            "turns": self._turns_to_read,
            # their own checks are in the studies
            **{name: partial(self._prepare, name) for name in ("audit", "paraphrase", "diversity")},
        }  # fmt: skip

    def rows(self) -> list[Row]:
        """Return one row per command of the registry except ``check``, and one for ``report``."""
        errors = {one.name: self._error(one) for one in STUDIES if one.name != "check"}
        rows = [
            _row(f"{name} {study(name).batch_option}".strip(), error)
            for name, error in errors.items()
        ]
        return [*rows, _row("report", self._report_error(errors))]

    def without_input(self) -> dict[str, str]:
        """Return command → the input that it needs, in words; commands without any such input."""
        given = _given(self.project)
        return {
            f"{one.name} {one.batch_option}".strip(): one.input
            for one in STUDIES
            if one.input and not given[one.name]
        }

    def _error(self, one: Study) -> RobustcsError | None:
        """Return the error that the command would raise; None if it can run."""
        try:
            if one.name == "robustness" and requirements.is_experiment(self.project):
                self._check_experiment()
                return None
            with_runs = self if not _RANKED & set(one.reads) else self._with_runs
            for need in one.needs:
                requirements.REQUIREMENTS[need](with_runs.workspace)
            if one.name in _MEANS:
                self.workspace.averaged(self.project.metrics)
            with_runs.check_files(one.reads)
            if _RANKED & set(one.reads):
                with_runs.check_turns(one)
            self._own.get(one.name, lambda: None)()
            if one.name == "retrieve" and self._waiting:
                self._check_index()
        except RobustcsError as error:
            return error
        return None

    def files(self, name: str) -> set[str]:
        """Return the survey's inputs that belong to an input of the registry.

        Most inputs have the same name in both. For runs, these are the runs that a study opens: those of the formulations
        (or their scores or answers), of Human and the rewriters with texts, of the groups, or all runs. ``formulations`` and
        ``question_pairs`` include the qrels or gold answers.
        """
        project = self.project
        if name == "formulations":
            return _survey_names(self.workspace.formulation_files().values())
        if name == "systems":
            return _survey_names(self.workspace.scored_systems())
        if name == "sampled":
            sampled = [part for part in project.formulations.values() if part.sample_runs]
            return {
                name,
                *(f"{one} run" for one in (*(part.name for part in sampled), *project.sample_runs)),
            }
        if name == "components":
            named = {path: one for one, path in {**project.sample_runs, **project.systems}.items()}
            return {f"{named.get(path, one)} run" for one, path in project.components.items()}
        if name == "question_pairs":
            return (
                {"qrels", "answer_similarity", *(f"{part} run" for part in self._paired)}
                if self._pairs_have_runs
                else set()
            )
        if name in ("runs", "groups", "compared_runs"):
            grouped = {
                one for group in project.groups.values() for one in (group.baseline, *group.sets)
            }
            chosen = (
                grouped
                if name == "groups" or (name == "compared_runs" and grouped)
                else project.systems.keys()
            )
            return {f"{one} run" for one in chosen}
        return {"rewrites"} if name == "rewrites_alone" else {name}

    def check_files(self, names: Iterable[str]) -> None:
        """Raise the problems of the first broken or foreign file of these inputs."""
        for name in names:
            for of in sorted(self.files(name)):
                if of in self.survey.broken:
                    raise InputError(self.survey.broken[of])
        if (
            not {"texts", "paraphrases"} & set(names)
            and "rewrites" in names
            and self.survey.foreign.get("rewrites")
        ):
            raise InputError(self.survey.foreign["rewrites"])

    def check_turns(self, one: Study) -> None:
        """Raise :class:`InputError` if runs share no turn with the qrels, or if no turn remains."""
        names = set().union(*(self.files(name) for name in one.reads))
        runs = [run for run in self.survey.runs if f"{run.name} run" in names]
        if one.name == "augment" and self.project.new_judgments:
            runs = [self._by_all_judgments(run) for run in runs]
        if self.survey.qrels and runs:
            policy = self.project.policy
            count_turns(
                expected_of(self.survey.qrels, policy.documents),
                runs,
                policy.missing,
                holes=one.accepts_unjudged,
            )

    # ------------------------------------------------------------ retrieval

    @cached_property
    def _waiting(self) -> list[str]:
        scored = {
            part.name
            for part in self.project.formulations.values()
            if not part.run and (part.scores or part.answers)
        }
        return [
            system.name
            for system in systems_of(self.workspace)
            if system.open and system.name not in scored
        ]

    @property
    def _with_runs(self) -> Readiness:
        """The readiness after retrieving missing runs, if an index is configured. Raises an error if retrieval cannot run."""
        cells = {cell.name: cell for some in cells_of(self.workspace).values() for cell in some}
        if self.project.retrieval is None or not (
            self._waiting or any(cell.open for cell in cells.values())
        ):
            return self
        self._check_index()
        project, folder = self.project, self.project.retrieval.folder
        for key, part in project.formulations.items():
            if part.name in self._waiting:
                project = project.with_formulation(key, run=folder / part.name)
        others = {name: folder / name for name in self._waiting if name not in project.systems}
        grid = {**project.components, **{name: folder / name for name in cells}}
        workspace = self.workspace.of(
            replace(project, runs={**project.runs, **others}, components=grid)
        )
        return Readiness(workspace, self.survey)

    def _check_index(self) -> None:
        """Raise an error if pyserini, Java or the index is missing or broken."""
        settings = self.project.retrieval
        assert settings is not None
        anserini_jar()
        java_home()
        if settings.index.exists() or self.project.collection is None:
            index_state(settings.index)
        self.check_files(
            ["texts", "rewrites", *([] if settings.index.exists() else ["collection"])]
        )

    def _check_experiment(self) -> None:
        """Check the inputs of the experiment of ``robustness``, which draws and retrieves paraphrases."""
        self.check_files(["paraphrases", "rewrites", "qrels"])
        self.workspace.require("qrels")
        requirements.experiment_turns(self.survey.texts, self.survey.paraphrased or ())
        self._check_index()

    # ------------------------------------------------------------ checks for single studies

    def _scored(self, name: str) -> None:
        """Run a study on per-turn scores or answers, which are small; of runs alone, the turns are checked already."""
        with_runs = self._with_runs.workspace
        files = (
            with_runs.scored_systems()
            if name == "evaluate"
            else with_runs.formulation_files().values()
        )
        if any(file.kind != "runs" for file in files):
            self._prepare(name)

    def _prepare(self, name: str) -> None:
        study(name).prepare(self.workspace.of(self.project))

    @cached_property
    def _paired(self) -> list[str]:
        human, rewriters = requirements.question_pairs(self.workspace)
        return [part.name for part in (human, *rewriters)]

    @property
    def _pairs_have_runs(self) -> bool:
        of_answers = any(measure.family in ANSWER_FAMILIES for measure in self.project.metrics)
        return not of_answers and set(self._paired) <= self.project.systems.keys()

    def _pairs(self) -> None:
        """Check that rewriters and Human share turns; without runs, files are small, and the study itself joins them."""
        with_runs = self._with_runs
        if with_runs._pairs_have_runs and not self.project.answer_similarity:
            human, *rewriters = (set(self.survey.texts[name]) for name in self._paired)
            known = [
                set(self.survey.covered[name])
                for name in self._paired
                if name in self.survey.covered
            ]
            if not any((own & human).intersection(*known) for own in rewriters):
                found = "no turn has texts of a rewriter and of Human and answers to compare"
                raise UsageError(
                    "no-common-turns", found, "check that the turn ids of texts and runs agree"
                )
        else:
            study("correlate").part("pairs").read_question_pairs(
                with_runs.workspace.of(with_runs.project), ()
            )

    def _by_all_judgments(self, run: CoveredTurns) -> CoveredTurns:
        """Count the judged passages of a run after adding the new judgments to the qrels."""
        if run.judged or self._merged_qrels is None:
            return run
        policy = self.project.policy
        ranking = rank_run(read_run(run.path, run.name, ranks=policy.order == "rank"), policy)
        found = covered_by_run(run.name, run.path, grade_matrix(ranking, self._merged_qrels))
        return replace(run, judged=found.judged)

    @cached_property
    def _merged_qrels(self) -> Qrels | None:
        return (
            merge_qrels(self.survey.qrels, self.workspace.new_judgments, "keep").qrels
            if self.survey.qrels
            else None
        )

    def _merged(self) -> None:
        """Add the new judgments to the qrels; with judges alone, run ``augment``."""
        assert self._merged_qrels is not None
        if self.project.judges and not self.project.new_judgments:
            self._prepare("augment")

    def _scale(self) -> None:
        """Check that the grades of the qrels fit a scale for human judgments."""
        assert self.survey.qrels is not None
        requirements.highest_grade(self.survey.qrels)

    def _relevant_passages(self) -> None:
        """Check that some relevant passage has a text."""
        qrels, path, known = self.survey.qrels, self.project.collection, self.survey.passages
        assert qrels is not None and path is not None and known is not None
        requirements.relevant_passages(
            qrels, self.project.policy.relevance_level, path, known.keys().__and__
        )

    def _check_table(self, table: str) -> None:
        error = self.survey.study_errors[table]
        if error is not None:
            raise error

    def _reviewed(self) -> None:
        """Check the reviews, and the files of the studies with which they are crossed."""
        self._check_table("review")
        for name in study("review").part("steps").PROPERTIES:
            if isinstance(error := self._error(study(name)), InputError):
                raise error

    def _turns_to_read(self) -> None:
        """Check every file that ``turns`` reads; of runs, also that they share turns with the qrels."""
        answers, review = self.project.answers, self.project.review
        given = {"answers": answers, "review": review and review.files}
        for table, files in given.items():
            self.check_files([table])
            if files and table in self.survey.study_errors:
                self._check_table(table)
        for name, problems in self.survey.broken.items():
            if name in ("qrels", "gold", "rewrites") or name.endswith(
                (" run", " answers", " scores")
            ):
                raise InputError(problems)
        self.check_files(["rewrites"])
        self.check_turns(replace(study("turns"), reads=("runs", "components")))
        parts = {
            key: replace(part, run=None, sample_runs=())
            for key, part in self.project.formulations.items()
            if not part.run or part.answers
        }
        without_runs = replace(
            self.project, formulations=parts, runs={}, components={}, answers=None, groups={}
        )
        TurnInputs(self.workspace.of(without_runs)).scores  # noqa: B018  # small files: all errors

    # ------------------------------------------------------------ the report

    def _report_error(self, errors: Mapping[str, RobustcsError | None]) -> RobustcsError | None:
        """Return the error of ``report``: a broken file, or no analysis with complete inputs; else None.

        ``errors``: those of the commands. A command that can run answers its only question.
        """
        has_section = False
        for one in STUDIES:
            questions = [question for question in one.questions(self.project) if question.title]
            for question in questions:
                try:
                    part = question.inputs(self.project)
                except UsageError:
                    continue
                error = errors[one.name]
                if error is not None or len(questions) > 1:
                    error = Readiness(self.workspace.of(part), self.survey)._error(one)
                if isinstance(error, InputError):
                    return error
                has_section = has_section or (error is None)
        if not has_section:
            return UsageError(
                "nothing-to-report",
                "no analysis has all its inputs",
                "add the inputs of a command above",
            )
        wrong = {**self.survey.foreign, **self.survey.broken}
        cards = ("qrels", "gold", "rewrites", "collection", "ratings")
        shown = [of for of in wrong if of in cards or of.endswith((" run", " answers"))]
        return InputError(wrong[shown[0]]) if shown else None


def _given(project: Project) -> dict[str, bool]:
    """Return study → whether the project has an input for it, complete or not.

    Most studies have an input of their own (:attr:`Study.own`). Judgments, and runs and scores that several read, are given
    for ``evaluate``, ``unjudged``, ``judge`` and ``turns``.
    """
    parts = project.formulations.values()
    scored = bool(project.systems) or any(part.scores or part.answers for part in parts)
    compared = any(part.role != "original" for part in parts)
    texts = any(part.rewrites or part.samples for part in parts)
    samples = project.sample_runs or any(part.samples or part.sample_runs for part in parts)
    return {one.name: bool(one.own and getattr(project, one.own)) for one in STUDIES} | {
        "breakdown": compared,
        "sweep": compared,
        "correlate": compared,
        "turns": scored or texts or project.answers is not None,
        "evaluate": scored,
        "samples": bool(samples),
        "judge": bool(project.systems),
        "paraphrase": texts,
        "testsets": bool(project.paraphrases),
        "retrieve": texts or bool(project.texts or project.raw_texts),
        "diversity": texts or bool(project.paraphrases),
        "passages": project.collection is not None,
    }


def _survey_names(files: Iterable[ScoredFile]) -> set[str]:
    """Return the names that a survey uses for these files, and for the judgments or gold answers that score them."""
    files = list(files)
    word = {"runs": "run", "scores": "scores", "answers": "answers"}
    scored_by = {"runs": "qrels", "answers": "gold"}
    named = {f"{file.name} {word[file.kind]}" for file in files}
    return named | {scored_by[file.kind] for file in files if file.kind in scored_by}


def _row(command: str, error: RobustcsError | None) -> Row:
    if error is None:
        return command, True, None, None
    if isinstance(error, InputError):
        first: Problem = error.problems[0]
        return command, False, str(first._replace(advice="")), first.advice
    return command, False, error.found, error.advice
