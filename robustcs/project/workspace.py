"""The inputs of a project, and the scores of its systems over the same turns; every study works on them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from robustcs.errors import UsageError
from robustcs.evaluation.bins import Formulations
from robustcs.evaluation.groups import ORIGINAL_REWRITTEN
from robustcs.evaluation.matrix import GradeMatrix
from robustcs.evaluation.measure import ANSWER_FAMILIES, GIVEN, Measure
from robustcs.evaluation.measures import TurnScores
from robustcs.evaluation.ranking import Ranking
from robustcs.evaluation.turns import (
    AskedTurns,
    Turns,
    assumed,
    count_turns,
    covered_by_run,
    expected_of,
)
from robustcs.inputs.paths import PooledFile, pooled, shown
from robustcs.inputs.readings import reading_once
from robustcs.messages import Message, OptionName
from robustcs.project.model import ROLES, Project, Role, TextSource
from robustcs.project.reader import Inputs
from robustcs.project.scoring import ScoredFile, file_of, of_answers, score
from robustcs.project.trust import SWAPPED, fit_of, misfits, note_on_names
from robustcs.result import Evaluated, Result
from robustcs.wording import counted, system_name, verb

if TYPE_CHECKING:
    from robustcs.evaluation.collection_fit import CollectionFit

R = TypeVar("R", bound=Result)


class Workspace(Inputs):
    """The inputs of a project, and the scores of its systems and formulations under its policy.

    fit
        How far the judgments fit the collection and the runs that were scored; None without a collection.
    """

    fit: CollectionFit | None = None

    def of(self, project: Project) -> Workspace:
        """Return a workspace of ``project`` with the same jobs and progress display."""
        return Workspace(project, self.jobs, self.track, self.may_retrieve)

    @cached_property
    def collections(self) -> dict[str, Path | str]:
        """Name → judgments of each collection; files of judgments that share a turn belong to one. Empty for a single file."""
        source = self.project.qrels
        if not isinstance(source, PooledFile):
            return {}
        groups: list[tuple[set[str], list[int]]] = []
        for place, (_, turns) in enumerate(self.qrels.parts):
            own, places = set(turns), [place]
            for group in [one for one in groups if not one[0].isdisjoint(turns)]:
                groups.remove(group)
                own, places = own | group[0], group[1] + places
            groups.append((own, sorted(places)))
        from robustcs.project.scan import short_names, without_common

        below = without_common([Path(shown(file)).parts for file in source.files])
        names = source.names or short_names(["/".join(parts) for parts in below])
        return {" + ".join(names[place] for place in places): pooled([source.files[place] for place in places])
                for _, places in sorted(groups, key=lambda one: one[1])}  # fmt: skip

    @property
    def collections_read(self) -> int:
        """The number of collections whose judgments were read; 0 for a single file of judgments, or if none was read."""
        return len(self.collections) if "qrels" in vars(self) else 0

    def stated(self, result: R) -> R:
        """Return ``result`` with the notes from reading its files, and the number of collections.

        Judgments that do not fit the collection are noted first.
        """
        result = result.with_notes(self.notes, self.skipped_in_words)
        notes = tuple(dict.fromkeys((*self.misfits, *result.evaluated.notes)))
        return result.changed(
            evaluated=replace(result.evaluated, notes=notes, collections=self.collections_read)
        )

    @property
    def misfits(self) -> tuple[str, ...]:
        """What of the judgments does not fit the collection and the runs that were scored, in words; empty if all fits."""
        return misfits(self.fit) if self.fit else ()

    def _fit(self, runs: Mapping[str, tuple[str, Path]]) -> None:
        """Compare the judgments with the collection and ``runs`` (system → role and file), unless all of them are known."""
        if self.project.collection and not (self.fit and runs.keys() <= self.fit.tops.keys()):
            self.fit = fit_of(self, runs)

    def ranking_measures(
        self, default: Sequence[Measure], totals: bool = False, given: bool = False
    ) -> tuple[list[Measure], list[str]]:
        """Return the project's measures of rankings, or ``default``, and a note on the measures of answers that are ignored.

        ``given``: also columns of files of scores. There f1 and em are such columns, unless the project has gold answers.
        """
        measures = self.averaged(self.project.metrics or default, totals, given)
        if given and not self.project.gold:
            return measures, []
        left = [measure.name for measure in measures if measure.family in ANSWER_FAMILIES]
        kept = [measure for measure in measures if measure.family not in ANSWER_FAMILIES]
        return kept or list(default), [
            f"{', '.join(left)}: measures of answers; left out"
        ] if left else []

    def note_names(self, *tables: str) -> None:
        """Note the roles in these tables of the project file, of files read so far, that only the names of files suggest."""
        read = {entry["path"] for entry in self.read}
        self.note(*filter(None, [note_on_names(self.project, read, tables)]))

    # ------------------------------------------------------------ scores of systems by name

    def system_files(self, names: Sequence[str]) -> list[tuple[str, Path]]:
        """Return (name, run file) for each name. Raises :class:`UsageError` for a name that the project does not have."""
        systems = self.project.systems
        for name in names:
            if name in self._with_texts() - systems.keys():
                raise self.missing_runs([name])
            if name not in systems:
                have = (
                    f"choose from {', '.join(systems)}"
                    if systems
                    else Message("add runs with ", OptionName("run", "NAME=FILE"))
                )
                if name == ORIGINAL_REWRITTEN:
                    have = "to retrieve it from the Original texts, set an index and a rewriter in [retrieval]"
                raise UsageError("no-such-run", f"no run is named {name!r}", have)
        return [(name, systems[name]) for name in names]

    @cached_property
    def texts_of_sets(self) -> dict[str, dict[str, str]]:
        """Set of a group → turn → text, of the sets whose texts are known."""
        found = {}
        kinds: tuple[tuple[Role, Mapping[str, TextSource]], ...] = (
            ("human", self.project.texts), ("original", self.project.raw_texts)
        )  # fmt: skip
        for role, sources in kinds:
            for name in dict.fromkeys(
                name for group in self.project.groups.values() for name in group.sets
            ):
                if name in sources:
                    found[name] = self.text_file(sources[name], role, name)
        return found

    @cached_property
    def asked(self) -> dict[str, AskedTurns]:
        """The turns that each set of a group asks; formulations are asked every turn and are left out."""
        formulations = {part.name for part in self.project.formulations.values()}
        groups = self.project.groups.values()
        found = {}
        for name in dict.fromkeys(
            name for group in groups for name in group.sets if name not in formulations
        ):
            texts = self.texts_of_sets.get(name)
            runs = tuple(run for group in groups if name in group.sets for run in group.sets)
            found[name] = AskedTurns(None if texts is None else frozenset(texts), runs)
        return found

    def partly_asked(self) -> dict[str, str]:
        """Return the sets of groups that ask less than 95% of the judged turns → ``typo covers 12 of 30 turns``.

        If the texts of a set are unknown, these are the turns for which a run of its group has passages, and the words say so.
        """
        if not (self.project.qrels and self.project.groups):
            return {}
        systems = self.project.systems
        unknown = [
            name for name, one in self.asked.items() if one.turns is None and name in systems
        ]
        runs = dict.fromkeys(
            run for name in unknown for run in self.asked[name].runs if run in systems
        )
        covered = dict(
            zip(runs, self.per_run([(run, systems[run]) for run in runs], _turns_of), strict=True)
        )
        judged = set(self.qrels.turns) if self.asked else set()
        found = {}
        for name, one in self.asked.items():
            any_run = set[str]().union(*(covered.get(run, ()) for run in one.runs))
            turns = judged & (any_run if one.turns is None else one.turns)
            if 0 < len(turns) < 0.95 * len(judged):
                # a run of other turns is an error, which its reader reports
                of, known = f"{len(turns)} of {counted(len(judged), 'turn')}", one.turns is not None
                found[name] = f"{name} covers {of}" if known else f"{name} has passages for {of}"
                left = len(judged) - len(turns)
                found[name] += (
                    ""
                    if known
                    else f"; the other {left} {verb(left, 'is', 'are')} left out, {assumed(name)}"
                )
        return found

    def system_scores(
        self,
        names: Sequence[str],
        measures: Sequence[Measure] = (),
        asked: Mapping[str, AskedTurns] | None = None,
    ) -> tuple[dict[str, TurnScores], Evaluated]:
        """Score runs over the same turns under the project's policy. Return name → scores.

        ``measures`` replace the project's; without either, P@1 and NDCG@3 are used. ``asked``: see
        :func:`~robustcs.project.scoring.score`.

        Raises :class:`UsageError` for an unknown name, without qrels, or if no run answers a judged turn.
        """
        files = [
            ScoredFile(name, name, path, "runs")
            for name, path in self.system_files(list(dict.fromkeys(names)))
        ]
        return self.scores_of(files, measures or self.project.metrics, asked=asked)

    def scores_of(
        self,
        files: Sequence[ScoredFile],
        measures: Sequence[Measure],
        alone: bool = False,
        asked: Mapping[str, AskedTurns] | None = None,
        apart: bool = False,
    ) -> tuple[dict[str, TurnScores], Evaluated]:
        """Score any runs and files of per-turn scores as :meth:`system_scores` does; see
        :func:`~robustcs.project.scoring.score` for ``alone``, ``asked`` and ``apart``.
        """
        for measure in measures:
            if measure.family in ANSWER_FAMILIES and any(file.kind == "runs" for file in files):
                found = f"{measure.name} measures answers, but these systems have runs"
                raise UsageError("no-answers", found, "use a measure such as ndcg_cut_3")
        frames, evaluated = self._scored(files, measures, alone, asked, apart)
        return {file.name: frame for file, frame in zip(files, frames, strict=True)}, evaluated

    def _scored(
        self,
        files: Sequence[ScoredFile],
        measures: Sequence[Measure],
        alone: bool = False,
        asked: Mapping[str, AskedTurns] | None = None,
        apart: bool = False,
    ) -> tuple[list[TurnScores], Evaluated]:
        # runs are read once for their scores and for their fit with a collection
        with reading_once() if self.project.collection else nullcontext():
            found = score(self, files, measures, alone, asked, apart)
            self._fit({file.name: (file.role, file.path) for file in files if file.kind == "runs"})
        return found

    def count_turns(
        self,
        names: Sequence[str],
        files: Sequence[tuple[str, Path]],
        matrices: Sequence[GradeMatrix],
        holes: bool = False,
        asked: Mapping[str, AskedTurns] | None = None,
        apart: bool = False,
    ) -> Turns:
        """Return the judged turns that count under the project's policy, and the missing turns of each run.

        See :mod:`robustcs.evaluation.turns`. Raises :class:`InputError` for runs that share no turn with the qrels.
        """
        covered = [
            covered_by_run(name, path, matrix)
            for name, (_, path), matrix in zip(names, files, matrices, strict=True)
        ]
        self._fit(dict(zip(names, files, strict=True)))
        policy = self.project.policy
        expected = expected_of(self.qrels, policy.documents)
        return count_turns(expected, covered, policy.missing, holes=holes, asked=asked, apart=apart)

    # ------------------------------------------------------------ scores of the three formulations

    def formulation_scores(
        self, measures: Sequence[Measure] = (), apart: bool = False
    ) -> tuple[Formulations, Evaluated]:
        """Score Original, each rewriter and Human over the same turns under the project's policy.

        ``measures`` replace the project's; without either, P@1 and NDCG@3 (answers: F1) are used. ``apart``: see
        :func:`~robustcs.project.scoring.score`.

        Raises :class:`UsageError` if a formulation, the qrels or the gold answers are missing, or if a file does not have a
        requested measure.
        """
        measures = measures or self.project.metrics
        files = self.formulation_files(measures)
        frames, evaluated = self._scored(list(files.values()), measures, apart=apart)
        self.note_names("formulations")
        scores = dict(zip(files, frames, strict=True))
        formulations = Formulations(
            original=scores.get(("original", "original")),
            # another Original, such as the whole conversation, is treated like a rewriter
            rewriters={
                name: frame
                for (role, name), frame in scores.items()
                if role != "human" and name != "original"
            },
            human=scores["human", "human"],
        )
        # the cell WORDING/RANKER of each run
        cells = {path: name for name, path in self.project.components.items()}
        rankers = {cells.get(file.path, "").partition("/")[2].strip() for file in files.values()}
        ranker = rankers.pop() if len(rankers) == 1 else ""
        return formulations, replace(
            evaluated, notes=(*evaluated.notes, *_doubts(formulations)), ranker=ranker
        )

    def formulation_files(
        self, measures: Sequence[Measure] = ()
    ) -> dict[tuple[Role, str], ScoredFile]:
        """Return the files that score Original (optional), the rewriters and Human, by role and name. No file is read.

        Raises :class:`UsageError` if one of them or the gold answers are missing.
        """
        measures = measures or self.project.metrics
        parts = sorted(self.project.formulations.values(), key=lambda part: ROLES.index(part.role))
        ranked = any(part.run or part.scores for part in parts) or not any(
            part.answers for part in parts
        )
        answers = of_answers(measures) or not (measures or ranked)
        chosen = {
            (part.role, part.name): file for part in parts if (file := file_of(part, answers))
        }
        for role in ROLES:
            if role != "original" and not any(role == one for one, _ in chosen):
                waiting = [part.name for part in parts if part.role == role and part.rewrites]
                if not answers and waiting:
                    raise self.missing_runs(waiting[:1])
                scores = OptionName("scores", f"{role}=FILE")
                if answers:
                    what, option = "answers", Message(OptionName("answers", f"{role}=FILE"))
                else:
                    what, option = (
                        "run or scores",
                        Message(OptionName(role, "FILE"), " or ", scores),
                    )
                have = f" (given: {', '.join(name for _, name in chosen)})" if chosen else ""
                advice = Message("add ", option, ", or create a robustcs.toml with robustcs init")
                if self.project.components:
                    advice = Message(advice, "; robustcs components needs no human rewrites")
                raise UsageError(
                    "no-formulation", f"no {what} of the {role} formulation{have}", advice
                )
        if answers:
            self.require("gold")
        return chosen

    def scored_systems(self, scores: Mapping[str, Path] | None = None) -> list[ScoredFile]:
        """Return all runs, formulations with per-turn scores, and ``scores`` (name → file), which replace others of that name.

        Raises :class:`UsageError` if there is none.
        """
        files = [
            ScoredFile(name, name, path, "runs") for name, path in self.project.systems.items()
        ]
        parts = self.project.formulations.values()
        files += [file for part in parts if not part.run and (file := file_of(part, answers=False))]
        if any(measure.family == GIVEN for measure in self.project.metrics) and (
            answers := self.answer_files()
        ):
            files = answers
        files += [
            ScoredFile(name, f"{name} scores", path, "scores")
            for name, path in (scores or {}).items()
        ]
        if not files:
            self.require_runs()
        return list({file.name: file for file in files}.values())

    def answer_files(self) -> list[ScoredFile]:
        """Return the files of answers that contain scores."""
        if not self.project.answers:
            return []
        from robustcs.inputs.scores import has_scores

        known = self.project.answers.of_systems
        return [
            ScoredFile(name, f"{name} scores", path, "scores")
            for name, path in known.items()
            if has_scores(path, name)
        ]

    def require_runs(self) -> None:
        """Raise :class:`UsageError` if the project has no run; the error names systems that have texts but no run."""
        if self.project.systems:
            return
        if waiting := self._with_texts():
            raise self.missing_runs(waiting)
        raise UsageError(
            "no-runs",
            "no runs are given",
            Message("add them with ", OptionName("run", "NAME=FILE")),
        )

    def missing_runs(self, names: Collection[str]) -> UsageError:
        """Return the error for systems that have texts but no run; it names the turns and the command to run."""
        from robustcs.project.open_questions import missing_runs, systems_of

        return missing_runs([system for system in systems_of(self) if system.name in names])

    def _with_texts(self) -> set[str]:
        """Return the names of all systems with texts."""
        written = {part.name for part in self.project.formulations.values() if part.rewrites}
        return {*written, *self.project.texts, *self.project.raw_texts}


def _turns_of(ranking: Ranking) -> tuple[str, ...]:
    return ranking.turns


#: Smallest number of turns of which equal scores on every one are noted.
_SAME = 10


def _doubts(scores: Formulations) -> list[str]:
    """Return notes if files are probably swapped (Human scores below Original) or the same (equal scores on every turn)."""
    notes = [
        f"{system_name(name)} and Human have the same scores on every turn; check that their files differ"
        for name, one in {"original": scores.original, **scores.rewriters}.items()
        if one is not None
        and len(one.turns) >= _SAME
        and all((one[metric] == scores.human[metric]).all() for metric in scores.measures)
    ]
    if scores.original is None:
        return notes
    worse = [
        metric
        for metric in scores.measures
        if scores.human[metric].mean() < scores.original[metric].mean()
    ]
    return (
        [*notes, f"{SWAPPED} ({', '.join(worse)}); check that the two files are not swapped"]
        if worse
        else notes
    )
