"""The files of a project, as a command reads them; each is recorded with its checksum."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from robustcs.errors import InputError, UsageError
from robustcs.evaluation.holes import GradesByPair, grades_by_pair
from robustcs.evaluation.matrix import GradeMatrix, Rows, grade_matrix, graded_run
from robustcs.evaluation.measure import GIVEN, GOLD_MEASURES, Measure, averaged, refuse_given
from robustcs.evaluation.ranking import GradedTop, Ranking, rank_run
from robustcs.evaluation.turns import Expected, covered_by_turns, strangers
from robustcs.inputs.files import sha256
from robustcs.inputs.paths import IRDS_PREFIX, StrPath, parts_of, shown, sidecar_path
from robustcs.inputs.qrels import Qrels, read_qrels
from robustcs.inputs.readings import (
    Skipped,
    keeps_readings,
    read_once,
    take_skipped,
    texts_in_order,
)
from robustcs.inputs.runs import read_run
from robustcs.messages import Message, OptionName
from robustcs.overwrite_guard import protect
from robustcs.policy import EvaluationPolicy
from robustcs.project.model import Project, Role, TextSource, protect_inputs
from robustcs.project.parallel_io import HERE, Jobs
from robustcs.result import Basis
from robustcs.retrieval.sidecar import require_unchanged
from robustcs.wording import Note

if TYPE_CHECKING:
    from robustcs.inputs.labels import Labels
    from robustcs.inputs.paraphrases import Paraphrases
    from robustcs.inputs.texts import Samples, TextFile

T = TypeVar("T")
U = TypeVar("U")

#: Key in the project → error if it is missing: slug, problem, advice.
REQUIRED = {
    key: (f"no-{key.replace('_', '-')}", f"no {what} given", Message("add ", option))
    for key, what, option in (
        ("qrels", "qrels are", OptionName("qrels", "FILE")),
        ("judges", "judges are", OptionName("judge", "NAME=FILE")),
        ("paraphrases", "paraphrases are", OptionName("paraphrases", "FILE")),
        ("collection", "collection is", OptionName("collection", "FILE")),
        ("gold", "gold answers are", OptionName("gold", "FILE")),
    )
} | {
    "clariq": (
        "no-inputs",
        "no clarifying questions are given",
        Message(
            "add ",
            OptionName("topics", "FILE"),
            ", ",
            OptionName("run", "NAME=FILE"),
            " and so on, or the keys of [clariq]",
        ),
    ),
    "crowd": (
        "nothing-given",
        "neither grades nor runs are given",
        Message("name a file of grades, or add ", OptionName("run", "NAME=FILE")),
    ),
}

#: Shows progress over an iterable: (items, description, number of items) → the same items.
Track = Callable[[Iterable[Any], str, int], Iterable[Any]]


def untracked(items: Iterable[Any], what: str, total: int) -> Iterable[Any]:
    """Return the same items; show no progress."""
    return items


class Inputs:
    """The inputs of one command. Each is read once, when it is needed, and is protected from being overwritten.

    notes
        Notes on what was ignored while reading texts and runs.
    skipped
        File and role → skipped rows.
    takes_samples
        Use all samples of a rewriter. Otherwise only the first is used, and a note says so.
    may_retrieve
        Allow retrieval for texts without a run.
    """

    takes_samples = False

    def __init__(
        self,
        project: Project,
        jobs: Jobs = HERE,
        track: Track = untracked,
        may_retrieve: bool = True,
    ):
        self.project = project
        self.jobs = jobs
        self.track = track
        self.may_retrieve = may_retrieve
        self._entries: dict[str, dict[str, Any]] = {}
        self.paths: dict[
            str, StrPath
        ] = {}  # name of a file in messages → its path, which may be in memory
        self._opened: dict[Path | str, TextFile] = {}
        self._text_files: list[tuple[Path | str, dict[str, str]]] = []
        self.notes: list[str] = []
        self.skipped: dict[tuple[str, str], Skipped] = {}
        protect_inputs(project)

    def note(self, *notes: str) -> None:
        """Add notes that are not there already."""
        self.notes += [one for one in notes if one not in self.notes]

    @property
    def read(self) -> list[dict[str, Any]]:
        """One entry per file read so far: role (several are joined), path, rows, and the number of skipped rows over all roles,
        if any.
        """
        return list(self._entries.values())

    @property
    def inputs(self) -> list[dict[str, Any]]:
        """The entries of :attr:`read` with the SHA-256 of each file, which takes time (None for ``irds:``)."""
        sums = {text: read_once(sha256, path) for text, path in self.paths.items()}
        return [
            {"role": one["role"], "path": text, "sha256": sums.get(text), **one}
            for text, one in self._entries.items()
        ]

    @property
    def skipped_in_words(self) -> list[str]:
        """Skipped rows of the files read so far, as in the policy line: ``human: 1 of 332 texts empty``, or, if a role has
        several files, ``human FILE: 1 of 332 texts empty``.
        """
        whose = {
            role: role.removesuffix(one.what).strip() for (_, role), one in self.skipped.items()
        }
        said = []
        for (path, role), one in self.skipped.items():
            several = sum(role in entry["role"].split(", ") for entry in self.read) > 1
            who = " ".join(filter(None, (whose[role], path if several else "")))
            said.append(f"{who}: {one}" if who else str(one))
        return said

    def skipped_of(self, role: str, path: StrPath) -> Skipped | None:
        """Return the skipped rows of a file that was read. Raises :class:`InputError` if the project is strict."""
        skipped = take_skipped(path, self.project.policy.strict)
        if skipped is not None:
            self.skipped[shown(path), role] = skipped
        return skipped

    def remember(self, role: str, path: StrPath, rows: Rows) -> None:
        """Record a file that was read. If it is read again, the first rows count.

        Raises :class:`InputError` if rows were skipped and the project is strict.
        """
        if isinstance(rows, tuple):
            for part, own in zip(parts_of(path), rows, strict=True):
                self.remember(role, part, own)
            return
        text = shown(path)
        skipped = self.skipped_of(role, path)
        known = self._entries.get(text)
        if known is None:
            if not text.startswith(IRDS_PREFIX):
                protect([path])
                self.paths[text] = path
            self._entries[text] = {"role": role, "path": text, "rows": rows}
        elif role not in known["role"].split(", "):
            known["role"] += f", {role}"
        if skipped:
            every = [one.count for (file, _), one in self.skipped.items() if file == text]
            self._entries[text]["skipped"] = sum(every)

    @cached_property
    def qrels(self) -> Qrels:
        """The project's qrels. Raises :class:`UsageError` if none are given."""
        return self.read_qrels(self.require("qrels"))

    def averaged(
        self, measures: Sequence[Measure], totals: bool = False, given: bool = False
    ) -> list[Measure]:
        """Return the measures that :func:`~robustcs.evaluation.measures.averaged` keeps; note the others.

        ``given``: the scores are read from files, so they may have any name. Otherwise such measures belong to the project's
        answers and are left out with a note. Raises :class:`UsageError` if no answers have them, or if nothing else remains.
        """
        if not given:
            computed = [measure for measure in measures if measure.family != GIVEN]
            known = self._answer_measures() if computed and len(computed) < len(measures) else ()
            refuse_given([measure for measure in measures if measure.name not in known])
            if left := [one.name for one in measures if one not in computed]:
                self.note(f"{', '.join(left)}: not a measure of rankings; left out")
            measures = computed
        kept = averaged(measures, totals)
        if left := [measure.name for measure in dict.fromkeys(measures) if measure not in kept]:
            self.note(f"{', '.join(left)}: not a mean over turns; reported only by evaluate")
        return kept

    def _answer_measures(self) -> set[str]:
        """Return the metrics in the project's files of answers and the measures of gold items; empty without answers."""
        from robustcs.inputs.answers import read_trace

        if not self.project.answers:
            return set()
        traces = [
            read_once(read_trace, path, name)
            for name, path in self.project.answers.of_systems.items()
        ]
        return {metric for trace in traces for metric in trace.scores}.union(
            *GOLD_MEASURES.values()
        )

    def require(self, key: str) -> Any:
        """Return the project's value of a ``key`` of :data:`REQUIRED`. Raises :class:`UsageError` if there is no value."""
        found = getattr(self.project, key)
        if not found:
            slug, what, advice = REQUIRED[key]
            raise UsageError(slug, what, advice)
        return found

    def read_qrels(self, source: Path | str) -> Qrels:
        """Read and record a file of judgments."""
        qrels = read_once(read_qrels, source)
        self.remember("qrels", source, qrels.sizes)
        return qrels

    @cached_property
    def new_judgments(self) -> list[Qrels]:
        """The project's new judgments; each file has the name that the user gave."""
        read = []
        for file in self.project.new_judgments:
            qrels = replace(read_once(read_qrels, file), name=shown(file))
            self.remember("new judgments", file, len(qrels))
            read.append(qrels)
        return read

    @cached_property
    def judges(self) -> dict[str, Labels]:
        """The labels of the project's judges by name. Raises :class:`UsageError` if none are given."""
        return {name: self.read_judge(name, path) for name, path in self.require("judges").items()}

    def read_judge(self, name: str, path: Path) -> Labels:
        """Read the labels of one judge. Labels for texts are joined with the formulations' texts and the collection."""
        from robustcs.inputs.labels import LabelTexts, read_labels

        used: list[Path] = []

        def texts() -> LabelTexts:
            used.extend(parts_of(self.project.collection) if self.project.collection else ())
            queries = self.texts_of(self.qrels.turns) if self.project.qrels else self.texts
            return LabelTexts(queries, self.project.collection)

        labels = read_labels(path, texts)
        self.remember(f"judge {name}", path, len(labels))
        for collection in used:
            self.remember("collection", collection, len(labels.qrels.documents))
        return labels

    def per_run(
        self,
        files: Sequence[tuple[str, Path]],
        build: Callable[[Ranking], T],
        keep: Callable[[T], U] | None = None,
    ) -> list[Any]:
        """Apply ``build`` to the ranking of each (role, run file), then ``keep`` to its result, and free the run.

        ``build`` may be called in another process, so it and its results must be picklable. ``keep`` is called in this process,
        in the order of the files.
        """
        return self._each(files, partial(_ranked, build, self.project.policy), keep)

    def _each(
        self,
        files: Sequence[tuple[str, Path]],
        one: Callable[[str, Path], tuple[T, Rows]],
        keep: Callable[[T], U] | None = None,
    ) -> list[Any]:
        """Apply ``one``, which also returns the rows of the file, to each (role, run file), then ``keep`` to its result."""
        paths = {path for _, path in files}
        for part in self.project.formulations.values():
            if part.run in paths and part.sample_runs and not self.takes_samples:
                self.note(
                    Note.of(
                        part.name,
                        f"{len(part.sample_runs) + 1} runs",
                        "given, one per sample; the first is used",
                    )
                )
        built, told = [], []
        for result, rows in self.track(self.jobs.each(one, files), "reading runs", len(files)):
            built.append(result if keep is None else keep(result))
            told.append(rows)
        for (role, path), rows in zip(files, told, strict=True):
            for file in parts_of(path):
                if sidecar_path(file).is_file():  # few runs have one
                    require_unchanged(file)
            self.remember(role, path, rows)
        return built

    def matrices(self, files: Sequence[tuple[str, Path]]) -> list[GradeMatrix]:
        """Return the grade matrix of each (role, run file)."""
        return self._each(files, partial(_graded, self.project.policy, self.qrels))

    def tops(self, files: Mapping[str, Path], depth: int) -> dict[str, GradedTop]:
        """Return the top ``depth`` passages of each run (name → file), with their grades if there are qrels."""
        grades: GradesByPair = grades_by_pair(self.qrels) if self.project.qrels and files else {}
        return dict(
            zip(files, self.per_run(list(files.items()), partial(_top, grades, depth)), strict=True)
        )

    def text_file(self, source: TextSource, role: Role, who: str) -> dict[str, str]:
        """Return the texts of a source, turn → text. A file with several formulations is read once; ``who`` owns the texts."""
        file = self._open(source)
        texts = file.texts(role, source.column)
        if not self.takes_samples:
            self.note(*file.notes(role, source.column))
        self.remember(f"{who} texts", source.path, len(texts))
        return texts

    @cached_property
    def samples(self) -> dict[str, dict[str, Samples]]:
        """Rewriter → turn → texts, one per sample: those of the file that has the turn, then one of each further file of
        samples. Skipped texts are empty.
        """
        found: dict[str, dict[str, Samples]] = {}
        for key, part in self.project.formulations.items():
            if part.role != "qr":
                continue
            read = [(source.path, self._text_samples(source, key)) for source in part.rewrites]
            known: dict[str, Samples] = self._in_order(read, part.name)
            for source in part.samples:
                for turn, texts in self._text_samples(source, key).items():
                    known[turn] = (*known.get(turn, ()), *texts)
            found[part.name] = known
        return found

    def _text_samples(self, source: TextSource, key: str) -> dict[str, Samples]:
        samples = self._open(source).samples("qr", source.column)
        self.remember(f"{key} texts", source.path, len(samples))
        self._text_files.append((source.path, {turn: texts[0] for turn, texts in samples.items()}))
        return samples

    def samples_of(self, turns: Iterable[str]) -> dict[str, dict[str, Samples]]:
        """Return :attr:`samples` after checking that they share ``turns`` of the qrels or runs; see :meth:`texts_of`."""
        samples = self.samples
        self.refuse_strangers(self._text_files, turns)
        return samples

    def _open(self, source: TextSource) -> TextFile:
        from robustcs.inputs.texts import TextFile

        if source.path not in self._opened:
            self._opened[source.path] = read_once(TextFile, source.path)
        return self._opened[source.path]

    @cached_property
    def texts(self) -> dict[str, dict[str, str]]:
        """Formulation name → turn → text. Of several files, the first with a text counts; notes report different texts."""
        texts: dict[str, dict[str, str]] = {}
        for key, part in self.project.formulations.items():
            read = [
                (source.path, self.text_file(source, part.role, key)) for source in part.rewrites
            ]
            self._text_files += read
            texts[part.name] = self._in_order(read, part.name)
        return texts

    def _in_order(
        self, files: Sequence[tuple[Path | str, Mapping[str, T]]], whose: str
    ) -> dict[str, T]:
        """Join the texts of several files; note differences."""
        found, notes = texts_in_order(files, whose)
        self.note(*notes)
        return found

    def texts_of(self, turns: Iterable[str], basis: Basis = "runs") -> dict[str, dict[str, str]]:
        """Return :attr:`texts` after checking that they share ``turns``: those of the qrels (or runs), scores or answers.

        Raises :class:`InputError` for each file that shares none of them.
        """
        texts = self.texts
        self.refuse_strangers(self._text_files, turns, basis)
        return texts

    def refuse_strangers(
        self,
        files: Iterable[tuple[StrPath, dict[str, str]]],
        turns: Iterable[str],
        basis: Basis = "runs",
    ) -> None:
        """Raise :class:`InputError` for each (file, texts) that shares none of ``turns``; see :meth:`texts_of`."""
        what = (
            "the scores"
            if basis == "scores"
            else "the answers"
            if basis == "answers"
            else "the runs"
        )
        expected = Expected(
            tuple(turns), "the qrels" if basis == "runs" and self.project.qrels else what
        )
        problems = strangers(
            expected, [covered_by_turns("", path, read, expected) for path, read in files]
        )
        if problems:
            raise InputError(list(dict.fromkeys(problems)))

    @cached_property
    def paraphrases(self) -> Paraphrases:
        """Turn → paraphrases. Raises :class:`UsageError` if the project has no paraphrases."""
        from robustcs.inputs.paraphrases import read_paraphrases

        path = self.require("paraphrases")
        paraphrases = read_paraphrases(path)
        self.remember("paraphrases", path, sum(map(len, paraphrases.values())))
        return paraphrases

    def slices(self, path: Path) -> dict[str, dict[str, str]]:
        """Read properties of turns from a user's TSV: column → turn → value."""
        from robustcs.inputs.scores import read_slices

        slices = read_slices(path)
        self.remember("slices", path, len(set().union(*slices.values())))
        return slices


# ---------------------------------------------------------------- work on one run, in this or another process


def _ranked(
    build: Callable[[Ranking], T], policy: EvaluationPolicy, role: str, path: Path
) -> tuple[T, Rows]:
    ranking, rows = _ranking(policy, role, path)
    return build(ranking), rows


def _ranking(policy: EvaluationPolicy, role: str, path: Path) -> tuple[Ranking, Rows]:
    """Return the ranking of a run; a report asks for it under several names."""
    ranking, rows = read_once(
        _read_ranking, path, policy, rows=lambda made: len(made[0].document_codes)
    )
    notes = tuple(Note.renamed(note, shown(path), role) for note in ranking.notes)
    return replace(ranking, name=role, notes=notes), rows


def _read_ranking(path: Path, policy: EvaluationPolicy) -> tuple[Ranking, Rows]:
    run = read_run(path, shown(path), ranks=policy.order == "rank")
    return rank_run(run, policy), run.parts or len(run)


def _graded(
    policy: EvaluationPolicy, qrels: Qrels, role: str, path: Path
) -> tuple[GradeMatrix, Rows]:
    if not keeps_readings():
        return graded_run(path, role, policy, qrels)  # in parts, with less memory
    ranking, rows = _ranking(policy, role, path)
    matrix = read_once(_matrix, path, policy, qrels, rows=lambda made: made.grades.size // 8)
    return replace(matrix, name=role, notes=ranking.notes), rows


def _matrix(path: Path, policy: EvaluationPolicy, qrels: Qrels) -> GradeMatrix:
    return grade_matrix(_ranking(policy, shown(path), path)[0], qrels)


def _top(grades: GradesByPair, depth: int, ranking: Ranking) -> GradedTop:
    return {
        turn: [(name, grades.get((turn, name))) for name in names]
        for turn, names in ranking.by_turn(depth)
    }
