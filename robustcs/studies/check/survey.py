"""Read all files of a project without stopping at broken ones; for ``robustcs check``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from robustcs.conversations import Conversations
from robustcs.errors import InputError, Problem, RobustcsError, UsageError
from robustcs.evaluation.grid import Grid, parse_cell
from robustcs.evaluation.matrix import GradeMatrix, Rows, grade_matrix
from robustcs.evaluation.ranking import notes_on_ranks, rank_run
from robustcs.evaluation.turns import (
    CoveredTurns,
    covered_by_run,
    covered_by_turns,
    expected_of,
    strangers,
)
from robustcs.inputs.answers import read_gold_answers, read_predicted_answers
from robustcs.inputs.collection import read_passages
from robustcs.inputs.heads import ir_metadata
from robustcs.inputs.paths import parts_of, shown
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.readings import rows_of, texts_in_order
from robustcs.inputs.runs import read_run
from robustcs.inputs.scores import read_scores
from robustcs.inputs.texts import read_samples, read_texts
from robustcs.policy import EvaluationPolicy
from robustcs.project.conversations import conversations_among
from robustcs.project.model import STUDY_TABLES, Project, Role, TextSource
from robustcs.project.open_questions import changed_texts, misfit_baseline
from robustcs.project.parallel_io import absolute, as_given
from robustcs.project.sources import BY_NAME, SOURCES, Source, several
from robustcs.project.text_run_match import digests_of
from robustcs.project.workspace import Workspace
from robustcs.retrieval.sidecar import require_unchanged
from robustcs.studies import registry
from robustcs.wording import Note, counted, some_of, turns_in_words

T = TypeVar("T")


class _Run(NamedTuple):
    """Content of a run; ``order`` is set for runs of formulations, see :attr:`Survey.orders`."""

    rows: Rows
    turns: frozenset[str]
    order: dict[str, str] | None
    matrix: GradeMatrix | None
    notes: tuple[str, ...]


def _surveyed(
    policy: EvaluationPolicy, qrels: Qrels | None, answering: frozenset[str], name: str, path: Path
) -> _Run | InputError:
    """Read a run, here or in another process. Return the error of a broken run, so that reading continues with the others."""
    try:
        run = read_run(path, name, policy.order == "rank")
    except InputError as error:
        return error
    ranking = rank_run(run, policy)
    order = digests_of(ranking) if name in answering else None
    matrix = grade_matrix(ranking, qrels) if qrels else None
    return _Run(
        run.parts or len(run),
        frozenset(run.turns),
        order,
        matrix,
        notes_on_ranks(run, path, policy),
    )


class Survey:
    """Content of all readable files of a project.

    files
        One entry per file: role, path, number of rows, number of skipped rows, problem (None if there is none).
    skipped
        One entry per skipped row: role, path, line, reason.
    problems
        All problems, file by file.
    broken, foreign
        Input (see :meth:`~robustcs.studies.check.readiness.Readiness.files`) → problems of its files. Broken files cannot be
        read; foreign files have no judged turn.
    study_errors
        Table of a study with separate turns → the error that the study raises for its files, or None. Set if all files can be
        read.
    matrices, runs
        Grade matrices of the readable runs, and the judged turns that these runs answer.
    texts
        Name of a formulation or of a set of additional questions → turn → text.
    covered
        System → the turns that its run answers. Excludes systems whose run cannot be read, or that have no run but scores or
        answers.
    scored
        Turns in files of per-turn scores.
    orders
        Formulation → turn → a checksum of its ranking: see :func:`~robustcs.project.text_run_match.digests_of`.
    paraphrased, passages
        Paraphrases, and texts of judged passages in the collection; None if not given.
    notes
        Mismatches other than those of runs and qrels: texts and runs, answers and gold answers, groups and runs, collection
        and qrels.
    """

    def __init__(self, workspace: Workspace, waiting: Mapping[str, Sequence[str]]):
        self._workspace = workspace
        self.files: list[dict[str, Any]] = []
        self.skipped: list[dict[str, Any]] = []
        self.problems: list[Problem] = []
        self.uncounted = 0
        self.broken: dict[str, list[Problem]] = {}
        self.foreign: dict[str, list[Problem]] = {}
        self.study_errors: dict[str, RobustcsError | None] = {}
        self.matrices: list[GradeMatrix] = []
        self.runs: list[CoveredTurns] = []
        self.texts: dict[str, dict[str, str]] = {}
        self.covered: dict[str, frozenset[str]] = {}
        self.scored: set[str] = set()
        self.orders: dict[str, dict[str, str]] = {}
        self.notes: list[str] = []
        self.paraphrased: Mapping[str, object] | None = None
        self.passages: Mapping[str, str] | None = None
        project = workspace.project
        self.qrels: Qrels | None = None
        if project.qrels:
            self.qrels = self._read(
                "qrels", "qrels", project.qrels, workspace.read_qrels, lambda read: read.sizes
            )
        systems = {**project.sample_runs, **project.systems}
        runs = systems | {
            name: path for name, path in project.components.items() if path not in systems.values()
        }
        answering = frozenset(part.name for part in project.formulations.values())
        work = partial(_surveyed, project.policy, self.qrels, answering)
        done = workspace.jobs.each(work, list(runs.items()))
        for (name, path), run in zip(
            runs.items(), workspace.track(done, "reading runs", len(runs)), strict=True
        ):
            self._run(workspace, name, path, run)
        for key, part in project.formulations.items():
            found = []
            for source in part.rewrites:
                read = self._read(
                    "rewrites",
                    f"{key} texts",
                    source.path,
                    partial(read_texts, role=part.role, column=source.column),
                )
                found.append((source.path, read or {}))
                if self.qrels and read:
                    texts = covered_by_turns("", source.path, read, expected_of(self.qrels))
                    self._refuse_stranger("rewrites", texts, self.qrels)
            self.texts[part.name], told = texts_in_order(found, part.name)
            workspace.notes += told
            for source in part.samples:
                read_sample = partial(read_samples, role=part.role, column=source.column)
                self._read("sampled", f"{key} texts", source.path, read_sample)
            if part.scores:
                scores = self._read(
                    f"{part.name} scores", f"{key} scores", part.scores, read_scores
                )
                self.scored.update(() if scores is None else map(str, scores.index))
        self._further_texts(project)
        self._uncovered(project, waiting)
        self._answers(project)
        for key in ("answer_similarity", "new_judgments"):
            for file in several(getattr(project, key) or ()):
                self._read(key, BY_NAME[key].role, file, BY_NAME[key].read)
        for name, path in project.judges.items():
            labels = self._read(
                "judges", f"judge {name}", path, partial(workspace.read_judge, name)
            )
            if labels and self.qrels and set(labels.qrels.turns).isdisjoint(self.qrels.turns):
                apart = "no turn in common with the qrels: audit compares only rankings of systems"
                self.notes.append(Note.of(f"judge {name}", "", apart))
        if project.paraphrases:
            known = BY_NAME["paraphrases"]
            self.paraphrased = self._read(
                "paraphrases", known.role, project.paraphrases, known.read, known.rows
            )
        if project.collection:
            self._collection(project.collection)
        for name, group in project.groups.items():
            unknown = [
                system for system in (group.baseline, *group.sets) if system not in project.systems
            ]
            if unknown:
                alone = f"group {name} names unknown runs: {', '.join(unknown)}"
                self.notes.append(Note.of(f"group {name}", some_of(unknown), "unknown runs", alone))
        with suppress(UsageError):  # the requirements of components report a bad name
            grid = Grid(tuple(map(parse_cell, project.components)))
            if grid.missing and not (project.retrieval and project.retrieval.rankers):
                lacking = some_of(["/".join(cell) for cell in grid.missing])
                self.notes.append(f"the grid lacks {counted(len(grid.missing), 'cell')}: {lacking}")
        with suppress(InputError):  # changed_texts reports broken records of runs
            self.notes += [
                str(error) for name in project.groups if (error := misfit_baseline(project, name))
            ]
        raw = {
            name: self.conversations(self.texts[name])
            for name in project.raw_texts
            if name in self.texts
        }
        self.notes += changed_texts(project.systems, self.texts, raw)
        for name in STUDY_TABLES:
            self._study(name, workspace)

    def conversations(self, turns: Iterable[str]) -> Conversations:
        """Return the conversations of turns; of their ids alone if a file that has them is broken."""
        every, parts = list(turns), self._workspace.project.formulations.values()
        sound = {one["path"] for one in self.files if not one["problem"]}
        try:
            return conversations_among(self._workspace, every, [
                part.scores for part in parts if part.scores and shown(part.scores) in sound
            ])  # fmt: skip
        except InputError as error:
            if any(problem not in self.problems for problem in error.problems):
                self.refuse("conversations", error)
            return Conversations.from_ids(every)

    def _read(
        self,
        of: str,
        role: str,
        path: str | os.PathLike[str],
        read: Callable[[Any], T],
        rows: Callable[[Any], Rows] = rows_of,
    ) -> T | None:
        """Read a file and record it under its role; ``of`` is the input to which it belongs."""
        entries: list[dict[str, Any]] = [
            {"role": role, "path": shown(part), "rows": None, "skipped": 0, "problem": None}
            for part in parts_of(path)
        ]
        self.files += entries
        try:
            value = read(path)
            skipped = [self._workspace.skipped_of(role, part) for part in parts_of(path)]
        except InputError as error:
            self.refuse(of, error)
            first = error.problems[0]
            found = f"skipped: {first.found}" if first.slug == "too-large" else first.found
            entry = next((one for one in entries if one["path"] == shown(first.path)), entries[0])
            entry["problem"] = str(first._replace(found=found))
            return None
        counts = rows(value)
        for entry, count, left in zip(
            entries, counts if isinstance(counts, tuple) else (counts,), skipped, strict=True
        ):
            entry["rows"] = count
            if left is not None:
                entry["skipped"] = left.count
                listed = [
                    {"role": role, "path": entry["path"], "line": one.line, "why": one.found}
                    for one in left.problems
                ]
                self.skipped += [row for row in listed if row not in self.skipped]
        return value

    def refuse(self, of: str, error: InputError) -> None:
        """Record that a file of the input ``of`` is broken."""
        self.problems += error.problems
        self.broken.setdefault(of, []).extend(error.problems)
        self.uncounted += error.total - len(error.problems)

    def _study(self, name: str, workspace: Workspace) -> None:
        """Read the files of a table with separate turns. If all can be read, the study checks that they fit."""
        project = workspace.project
        files = getattr(project, name)
        if files is None:
            return
        known: dict[str, Any] = {
            "by_rank": project.policy.order == "rank",
            "bank": getattr(files, "questions", None),
        }
        whole = []
        for source in (source for source in SOURCES if source.table == name):
            value = getattr(files, source.key)
            # robustcs agreement uses only one of the two
            unused = source.key == "ratings" and files.snippets
            named = (
                value.items()
                if isinstance(value, Mapping)
                else [("", path) for path in several(value or ())]
            )
            for system, path in named:
                read = partial(source.read, name=system, **known)
                sound = (
                    self._read(
                        "ratings" if unused else name,
                        _role(source, system),
                        path,
                        read,
                        source.rows,
                    )
                    is not None
                )
                whole.append(sound or unused)
        if all(whole):
            self.study_errors[name] = None
            try:
                registry.study(name).prepare(Workspace(project))
            except (UsageError, InputError) as error:
                self.study_errors[name] = error
                self.notes.append(f"[{name}]: {error}")

    def _run(self, workspace: Workspace, name: str, path: Path, found: _Run | InputError) -> None:
        def give(_: Path) -> _Run:
            if isinstance(found, InputError):
                raise as_given(found, absolute(path), path)
            for file in parts_of(path):
                require_unchanged(file)
            return found

        run = self._read(f"{name} run", name, path, give, lambda run: run.rows)
        if run is None:
            return
        self.covered[name] = run.turns
        self.notes += run.notes
        if metadata := ir_metadata(path):
            self.notes.append(Note.of(name, "", f"ir_metadata is {metadata}"))
        if run.order is not None:
            self.orders[name] = run.order
        if self.qrels is None or run.matrix is None:
            return
        self.matrices.append(run.matrix)
        self.runs.append(covered_by_run(name, path, run.matrix))
        self._refuse_stranger(f"{name} run", self.runs[-1], self.qrels)
        workspace.remember(name, path, run.rows)

    def _refuse_stranger(self, of: str, file: CoveredTurns, qrels: Qrels) -> None:
        """Record a file without any judged turn as unusable."""
        problems = strangers(expected_of(qrels), [file])
        self.problems += problems
        if problems:
            self.foreign.setdefault(of, []).extend(problems)
            self.files[-1]["problem"] = str(problems[0])

    def _further_texts(self, project: Project) -> None:
        """Read the sets of ``[texts]`` and ``[raw_texts]``."""
        formulated = {turn for texts in self.texts.values() for turn in texts}
        sets: list[tuple[str, TextSource, Role]] = [
            (name, source, "human") for name, source in project.texts.items()
        ]
        sets += [(name, source, "original") for name, source in project.raw_texts.items()]
        for name, source, role in sets:
            read = self._read(
                "texts",
                f"{name} texts",
                source.path,
                partial(read_texts, role=role, column=source.column),
            )
            if name in self.texts:
                alone = f"two systems with texts are named {name}: robustcs retrieve needs different names"
                kind = "names of two systems with texts; robustcs retrieve needs different names"
                self.notes.append(Note.of(name, "", kind, alone))
                continue
            self.texts[name] = dict(read or {})
            unknown = [turn for turn in self.texts[name] if turn not in formulated]
            if formulated and unknown:
                alone = f"{name} has texts for {turns_in_words(unknown)} that no formulation has"
                self.notes.append(
                    Note.of(
                        name,
                        counted(len(unknown), "turn"),
                        "texts of turns that no formulation has",
                        alone,
                    )
                )

    def _uncovered(self, project: Project, waiting: Mapping[str, Sequence[str]]) -> None:
        """Note turns without a run. ``waiting``: system → turns that no retrieved run answers, if known."""
        scored = {
            part.name for part in project.formulations.values() if part.scores or part.answers
        }
        for name, texts in self.texts.items():
            if name not in project.systems and name not in scored:
                self.covered[name] = frozenset()
                if turns := waiting.get(name, list(texts)):
                    alone = f"no run answers {turns_in_words(turns)} of {name}; robustcs retrieve creates one"
                    kind = "no run answers these turns; robustcs retrieve creates one"
                    self.notes.append(Note.of(name, counted(len(turns), "turn"), kind, alone))

    def _answers(self, project: Project) -> None:
        gold = (
            self._read("gold", "gold answers", project.gold, read_gold_answers)
            if project.gold
            else None
        )
        for key, part in project.formulations.items():
            of, role = f"{part.name} answers", f"{key} answers"
            predicted = (
                self._read(of, role, part.answers, read_predicted_answers) if part.answers else None
            )
            if gold and predicted:
                lacking = len(gold.keys() - predicted.keys())
                if lacking == len(gold):
                    kind = "no answer to a turn with a gold answer; check that the turn ids agree"
                    alone = f"{part.name} answers no turn with a gold answer; check that the turn ids agree"
                    self.notes.append(Note.of(part.name, "", kind, alone))
                elif lacking:
                    some = f"{len(gold) - lacking} of {len(gold)}"
                    alone = f"{part.name} answers {some} turns with gold answers"
                    self.notes.append(
                        Note.of(part.name, some, "answers to turns with gold answers", alone)
                    )

    def _collection(self, path: Path) -> None:
        """Read the judged passages only, since collections are large."""
        judged = set(self.qrels.ids.texts()) if self.qrels else set()
        passages = self._read(
            "collection", "collection (judged)", path, partial(read_passages, wanted=judged)
        )
        self.passages = passages
        if passages is not None and len(passages) < len(judged):
            self.notes.append(
                f"the collection contains {len(passages):,} of the {len(judged):,} judged passages"
            )


def _role(source: Source, system: str) -> str:
    """Return the role of a file of a study's table, unique among all files: ``clariq run stem``."""
    what = {"runs": "run", "evaluations": "evaluation"}.get(
        source.key, source.key.replace("_", " ")
    )
    # no other table has snippets or ratings
    table = "" if source.table == "agreement" else source.table
    return " ".join(filter(None, (table, what, system)))
