"""The project: its files by role, and the policy for their evaluation."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self

from robustcs.errors import UsageError
from robustcs.evaluation.groups import Group
from robustcs.evaluation.measure import ANSWER_FAMILIES, GIVEN, Measure
from robustcs.evaluation.thresholds import Threshold
from robustcs.inputs.paths import IRDS_PREFIX, PooledFile, is_irds, located, pooled
from robustcs.overwrite_guard import protect
from robustcs.policy import EvaluationPolicy
from robustcs.project.sources import SOURCES, settings_of
from robustcs.retrieval.settings import CONTEXT, RetrievalSettings
from robustcs.statistics.estimate import MIN_AGREEMENT

Role = Literal["original", "qr", "human"]
#: Selection of passages for judging: by rank in pooled runs, by a model's filter, by clicks, or relevant passages only.
Selection = Literal["pool", "filtered", "clicks", "positives"]
ROLES: tuple[Role, ...] = ("original", "qr", "human")
#: Inputs of a formulation.
FORMULATION_FILES = tuple(source.key for source in SOURCES if source.table == "formulations")


@dataclass(frozen=True)
class TextSource:
    """A file of question texts, or ``irds:NAME``, and the column to read; if None, the role determines the column."""

    path: Path | str
    column: str | None = None


@dataclass(frozen=True)
class Formulation:
    """One formulation of the turns. ``name`` is ``original``, ``human`` or the name of the rewriter.

    samples, sample_runs
        Second and further samples of a rewriter: texts, one file each, and runs. ``rewrites`` and ``run`` are the first sample.
        A file of texts may also contain several samples.
    """

    role: Role
    name: str
    run: Path | None = None
    scores: Path | None = None
    answers: Path | None = None
    rewrites: tuple[TextSource, ...] = ()
    samples: tuple[TextSource, ...] = ()
    sample_runs: tuple[Path, ...] = ()


class _Files:
    """Files of a command with separate turns: the table ``table`` of the project file."""

    table = ""

    def __post_init__(self) -> None:
        for key, setting in settings_of(self.table).items():
            setting.checked(getattr(self, key))

    def given(self, **values: Any) -> Self:
        """Replace values. Files, except labels and gold passages, replace all present files; settings stay."""
        settings = settings_of(self.table).keys()
        alone = values.keys() - settings - {"labels", "gold_passages"}
        names = settings if alone else [field.name for field in fields(self)]  # type: ignore[arg-type]
        return type(self)(**({name: getattr(self, name) for name in names} | values))


@dataclass(frozen=True)
class ClariqFiles(_Files):
    """Inputs of ``robustcs clariq``; mappings are by system.

    topics, questions
        Topics of ClariQ and its question bank.
    runs
        Ranked questions.
    performance, evaluations
        Document relevance after each question, and of a system or baseline (no, worst, best): JSON, or runs with ids
        ``FACET_QUESTION`` and ``FACET``.
    qrels
        Judgments of documents per facet, if the last two are runs.
    needs
        Predicted clarification need.
    """

    table = "clariq"

    topics: Path | None = None
    questions: Path | None = None
    runs: Mapping[str, Path] = field(default_factory=dict)
    performance: Path | None = None
    evaluations: Mapping[str, Path] = field(default_factory=dict)
    qrels: Path | str | None = None
    needs: Mapping[str, Path] = field(default_factory=dict)
    preferences: Path | None = None
    conversations: Path | None = None


@dataclass(frozen=True)
class AgreementFiles(_Files):
    """Inputs of ``robustcs agreement``: snippets that annotators chose, or ratings that they gave.

    reference
        Snippets with which the others are compared.
    majority, min_agreement
        Number of annotators that form a majority (None: more than half of those of the text or item); smallest share of equal
        pairs of ratings for an item to be kept, 0 to 1.
    groups
        Name → ratings that count as equal; empty for the usual groups of a scale from 1 to 5.
    """

    table = "agreement"

    snippets: tuple[Path, ...] = ()
    reference: tuple[Path, ...] = ()
    ratings: tuple[Path, ...] = ()
    majority: int | None = None
    min_agreement: float = MIN_AGREEMENT
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class CrowdFiles(_Files):
    """Inputs of ``robustcs crowd``: grades that become judgments, and runs to evaluate on them.

    gold_checks, tolerance
        Known grades of test items, and the largest accepted difference from them.
    bank
        Texts of the items, for runs that contain texts.
    qrels
        Judgments in place of grades, one file per criterion.
    subset
        Turns to evaluate separately.
    depth, relevance_level
        Pool depth of the runs; lowest grade of a relevant item, in CAsT-ReGIn 2.
    """

    table = "crowd"

    grades: Path | None = None
    gold_checks: Path | None = None
    tolerance: int = 1
    bank: Path | None = None
    qrels: tuple[Path | str, ...] = ()
    subset: Path | None = None
    runs: Mapping[str, Path] = field(default_factory=dict)
    depth: int = 1
    relevance_level: int = 2


@dataclass(frozen=True)
class AnswerFiles(_Files):
    """Inputs of ``robustcs answers``.

    responses, tasks
        Answers of systems; tasks also contain their passages, labels and metrics.
    gold_passages, labels
        Judgments of passages, if not the project's qrels; kinds of turns, and human labels of answers.
    snippets, nuggets, assignments
        Content that answers should include; nuggets that a judge found in them.
    runs, human
        Runs from which the answers were generated, if the project has no run of that name; run for the human rewrites.
    depth, covered
        Number of passages of a run from which an answer is generated; smallest share of an item's words, or of its support,
        for the item to count as covered.
    """

    table = "answers"

    responses: Mapping[str, Path] = field(default_factory=dict)
    tasks: Mapping[str, Path] = field(default_factory=dict)
    gold_passages: Path | str | None = None
    labels: Path | None = None
    snippets: tuple[Path, ...] = ()
    nuggets: Path | None = None
    assignments: Mapping[str, Path] = field(default_factory=dict)
    runs: Mapping[str, Path] = field(default_factory=dict)
    human: Path | None = None
    depth: int = 5
    covered: float = 0.5

    @property
    def of_systems(self) -> dict[str, Path]:
        """System → file with its answers."""
        return {**self.responses, **self.tasks}


@dataclass(frozen=True)
class ReviewFiles(_Files):
    """Inputs of ``robustcs review``: the turns that coders reviewed, as the page of a report exports them."""

    table = "review"

    files: tuple[Path, ...] = ()


#: Tables of ``robustcs.toml`` for studies with inputs of their own.
STUDY_TABLES: dict[str, type] = {
    kind.table: kind for kind in (ClariqFiles, AgreementFiles, CrowdFiles, AnswerFiles, ReviewFiles)
}


@dataclass(frozen=True)
class Project:
    """All inputs and settings that a command may need; absent parts are None or empty.

    formulations
        Key (``original``, ``original:NAME``, ``qr``, ``qr:NAME``, ``human``) → formulation.
    runs
        Other systems, name → file.
    components
        Runs of a grid, WORDING/RANKER → file.
    texts, raw_texts
        Additional questions without a run, name → file. Raw texts depend on their conversation and are rewritten by the
        rewriter of ``retrieval`` first.
    groups
        Group name → baseline and sets (names of formulations or runs).
    run_groups
        Team, ranker, rewriter or other source → names of its runs.
    retrieval
        Settings for retrieving questions without a run.
    qrels_selection, qrels_source
        Selection of passages for judging (unless ``pool``, the hole model gives only tipping points), and who judged them.
    new_judgments
        Files of judgments to add to the qrels, in this order.
    judges
        Grades of model judges or second assessors, name → file; never mixed with the qrels.
    answer_similarity
        Similarity of the answers to QR and Human per turn, if there are no runs to compute it from.
    paraphrases, collection
        Paraphrases of the turns in the format of ECAsT; passage texts.
    clariq, agreement, crowd, answers, review
        Files of these commands alone.
    marks
        Keys whose role only the name of a file suggests: see :mod:`robustcs.project.marks`.
    """

    name: str = "robustcs"
    qrels: Path | str | None = None
    qrels_selection: Selection = "pool"
    qrels_source: str = ""
    new_judgments: tuple[Path | str, ...] = ()
    judges: Mapping[str, Path] = field(default_factory=dict)
    gold: Path | None = None
    answer_similarity: Path | None = None
    paraphrases: Path | None = None
    collection: Path | None = None
    formulations: Mapping[str, Formulation] = field(default_factory=dict)
    runs: Mapping[str, Path] = field(default_factory=dict)
    components: Mapping[str, Path] = field(default_factory=dict)
    texts: Mapping[str, TextSource] = field(default_factory=dict)
    raw_texts: Mapping[str, TextSource] = field(default_factory=dict)
    groups: Mapping[str, Group] = field(default_factory=dict)
    run_groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    retrieval: RetrievalSettings | None = None
    clariq: ClariqFiles | None = None
    agreement: AgreementFiles | None = None
    crowd: CrowdFiles | None = None
    answers: AnswerFiles | None = None
    review: ReviewFiles | None = None
    metrics: tuple[Measure, ...] = ()
    thresholds: tuple[Threshold, ...] = ()
    policy: EvaluationPolicy = EvaluationPolicy()
    seed: int = 0
    marks: tuple[tuple[str, ...], ...] = ()

    @property
    def systems(self) -> dict[str, Path]:
        """All runs, name → file: those of the formulations first, then the others.

        Raises :class:`UsageError` if another run has the name of a formulation.
        """
        own = {part.name: part.run for part in self.formulations.values() if part.run}
        for name in own.keys() & self.runs.keys():
            raise UsageError(
                "repeated-run",
                f"a run and a formulation are both named {name!r}",
                "choose another name",
            )
        return {**own, **self.runs}

    @property
    def sample_runs(self) -> dict[str, Path]:
        """Runs of rewriters' second and further samples: ``NAME.2`` and so on → file."""
        parts = self.formulations.values()
        return {
            f"{part.name}.{place}": run
            for part in parts
            for place, run in enumerate(part.sample_runs, 2)
        }

    def with_formulation(self, key: str, **changes: Any) -> Project:
        """Replace parts of one formulation. A run replaces scores, and scores replace the run.

        A run without ``sample_runs`` becomes the only run of its rewriter.
        """
        role, name = parse_role(key)
        known = self.formulations.get(key, Formulation(role, name))
        if changes.get("run"):
            changes = {"scores": None, "sample_runs": (), **changes}
        elif changes.get("scores"):
            changes["run"] = None
        return replace(self, formulations={**self.formulations, key: replace(known, **changes)})


def parse_role(key: str) -> tuple[Role, str]:
    """Return role and name of ``original``, ``original:NAME``, ``qr``, ``qr:NAME`` or ``human``.

    Raises :class:`UsageError` for anything else.
    """
    role, _, name = key.partition(":")
    if role in ROLES and (not name or role != "human") and (name or not key.endswith(":")):
        if name in ROLES:
            raise UsageError(
                "bad-role", f"{key!r} uses the role {name!r} as a name", "choose another name"
            )
        return role, name or role  # type: ignore[return-value]
    advice = "write original, qr or human; qr:NAME or original:NAME if there are several"
    raise UsageError("bad-role", f"unknown role {key!r}", advice)


def answer_files(texts: Sequence[str], folder: Path = Path()) -> Path:
    """Return the path of one or several ``FILE`` or ``FILE:MODEL``; the names of a pooled file are the models."""
    sources = [parse_text_source(text, folder) for text in texts]
    models = tuple(source.column or "" for source in sources)
    return pooled([source.path for source in sources], models if any(models) else ())  # type: ignore[no-any-return]


def parse_text_source(text: str, folder: Path = Path()) -> TextSource:
    """Parse ``FILE`` or ``FILE:COLUMN``. If a file of the whole name exists, the colon belongs to the file name.

    ``irds:NAME`` and ``irds:NAME:COLUMN`` name a dataset of ir_datasets.
    """
    if is_irds(text):
        name, _, column = text.removeprefix(IRDS_PREFIX).partition(":")
        return TextSource(f"{IRDS_PREFIX}{name}", column or None)
    head, colon, column = text.rpartition(":")
    if not colon or not head or os.sep in column or (folder / text).exists():
        return TextSource(located(text, folder))
    return TextSource(located(head, folder), column)


def only(project: Project, keys: Collection[str], formulation: Collection[str] = ()) -> Project:
    """Return a project with only these fields, and only these fields of each formulation; drop empty formulations."""
    parts = {}
    for key, part in project.formulations.items():
        kept = Formulation(
            part.role, part.name, **{name: getattr(part, name) for name in formulation}
        )
        if any(getattr(kept, name) for name in (*FORMULATION_FILES, "sample_runs")):
            parts[key] = kept
    assert {field.name for field in fields(Project)}.issuperset(keys)
    return replace(
        Project(marks=project.marks),
        **{key: getattr(project, key) for key in keys},
        formulations=parts,
    )


def measures(project: Project, of_answers: bool) -> tuple[Measure, ...]:
    """Return the project's measures of predicted answers, or those of rankings."""
    known = (measure for measure in project.metrics if measure.family != GIVEN)
    return tuple(measure for measure in known if (measure.family in ANSWER_FAMILIES) == of_answers)


def of_rankings(
    project: Project, keys: Collection[str], formulation: Collection[str] = ("run",)
) -> Project:
    """Return the project with these fields only (see :func:`only`), and the measures of rankings."""
    return replace(only(project, keys, formulation), metrics=measures(project, of_answers=False))


def needs(condition: object, slug: str, found: str, advice: str) -> None:
    """Raise :class:`UsageError` unless ``condition`` holds."""
    if not condition:
        raise UsageError(slug, found, advice)


def input_files(project: Project) -> list[Path]:
    """Return all files and folders that the project names as inputs, except new judgments and folders that retrieval writes."""
    found = list(paths_of(replace(project, retrieval=None, new_judgments=())))
    if project.retrieval is not None:
        found.append(project.retrieval.index)
        if project.retrieval.reranker is not None:
            found.append(project.retrieval.reranker)
        if project.retrieval.rewriter and project.retrieval.rewriter not in CONTEXT:
            found.append(Path(parse_text_source(project.retrieval.rewriter).path))
    return found


def new_judgment_files(project: Project) -> list[Path]:
    """Return the project's new judgments without those of ir_datasets."""
    return [path for path in project.new_judgments if isinstance(path, Path)]


def protect_inputs(project: Project) -> None:
    """Protect the project's inputs from being overwritten; only judging may append to the new judgments."""
    protect(input_files(project))
    protect(new_judgment_files(project), growing=True)


def paths_of(value: Any) -> Iterator[Path]:
    """Yield each path inside a value."""
    if isinstance(value, PooledFile):
        yield from paths_of(value.files)
    elif isinstance(value, Path):
        yield value
    elif isinstance(value, Mapping | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from paths_of(part)
    elif is_dataclass(value):
        for field in fields(value):
            yield from paths_of(getattr(value, field.name))
