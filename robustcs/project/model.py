"""What a project is: its files by what they are for, and the policy that evaluates them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self

from robustcs.errors import UsageError
from robustcs.evaluation.measure import ANSWER_FAMILIES, Measure
from robustcs.evaluation.rating_scales import MIN_AGREEMENT
from robustcs.evaluation.state import Group
from robustcs.evaluation.thresholds import Threshold
from robustcs.inputs.paths import IRDS_PREFIX, PooledFile, is_irds, located, pooled
from robustcs.overwrite_guard import protect
from robustcs.policy import EvaluationPolicy
from robustcs.project.sources import SOURCES, settings_of
from robustcs.retrieval.settings import CONTEXT, RetrievalSettings

Role = Literal["original", "qr", "human"]
#: How passages were selected for judging: by rank in pooled runs; by a model's filter; by clicks; or only relevant ones are
#: listed.
Selection = Literal["pool", "filtered", "clicks", "positives"]
ROLES: tuple[Role, ...] = ("original", "qr", "human")
#: What a formulation can have.
FORMULATION_FILES = tuple(source.key for source in SOURCES if source.table == "formulations")


@dataclass(frozen=True)
class TextSource:
    """A file of question texts, or ``irds:NAME``, and the column to read; None lets the role choose."""

    path: Path | str
    column: str | None = None


@dataclass(frozen=True)
class Formulation:
    """One formulation of the turns and what answers it. ``name`` is ``original``, ``human`` or the rewriter's name.

    samples, sample_runs
        Of a rewriter that varies: the texts of its second and further samples, a file each, and their runs. Where one is
        needed, ``rewrites`` and ``run`` stand, which are its first sample. A file of texts may hold several samples itself.
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
    """What commands on other turns than those of the rankings take: the table ``table`` of the project file."""

    table = ""

    def __post_init__(self) -> None:
        for key, setting in settings_of(self.table).items():
            setting.checked(getattr(self, key))

    def given(self, **values: Any) -> Self:
        """With these values. Files among them take the place of all files that are here; settings stay."""
        settings = settings_of(self.table).keys()
        names = settings if values.keys() - settings else [field.name for field in fields(self)]  # type: ignore[arg-type]
        return type(self)(**({name: getattr(self, name) for name in names} | values))


@dataclass(frozen=True)
class ClariqFiles(_Files):
    """What ``robustcs clariq`` evaluates, by system where there are several.

    topics, questions
        ClariQ's topics and its question bank.
    runs
        Ranked questions.
    performance
        Document relevance of every question: JSON, or a run with ids ``FACET_QUESTION``.
    evaluations
        Document relevance of one system (or of the baselines no, worst, best): JSON, or a run with facets as ids.
    qrels
        Judgments of documents for facets, where the last two are runs.
    needs
        Predicted labels of clarification need.
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
    """What ``robustcs agreement`` compares: snippets that annotators chose, or ratings that they gave.

    reference
        Snippets to compare the others with.
    majority
        How many annotators make one; None is more than half of those of the text or item.
    min_agreement
        The share of an item's pairs of ratings that must be the same for it to be kept, 0 to 1.
    groups
        Name → ratings that count as the same; empty for the usual ones of a scale from 1 to 5.
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
    """What ``robustcs crowd`` makes judgments of, and evaluates on them.

    gold_checks, tolerance
        Grades that items deserve, and how far a worker may be from one.
    bank
        Texts of the items, for runs that hold texts.
    qrels
        Judgments in place of grades, a file for every criterion.
    subset
        Turns to evaluate separately.
    depth
        How deep runs are pooled.
    relevance_level
        The grade from which an item is relevant; CAsT-ReGIn takes 2.
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
    """What ``robustcs answers`` holds against each other.

    responses
        Answers of systems.
    snippets, nuggets
        What they should hold.
    assignments
        Which nuggets they hold, where a judge said so.
    runs, human
        The passages that they were made of, where the project does not have a run of that name; those of the human questions.
    depth
        How many passages of a run an answer is made of.
    covered
        The share of its words, or of its support, from which an item counts as covered.
    """

    table = "answers"

    responses: Mapping[str, Path] = field(default_factory=dict)
    snippets: tuple[Path, ...] = ()
    nuggets: Path | None = None
    assignments: Mapping[str, Path] = field(default_factory=dict)
    runs: Mapping[str, Path] = field(default_factory=dict)
    human: Path | None = None
    depth: int = 5
    covered: float = 0.5


#: The tables of ``robustcs.toml`` that are studies with turns of their own.
STUDY_TABLES: dict[str, type] = {kind.table: kind for kind in (ClariqFiles, AgreementFiles, CrowdFiles, AnswerFiles)}


@dataclass(frozen=True)
class Project:
    """Everything a command may need; absent parts are None or empty.

    formulations
        Key (``original``, ``original:NAME``, ``qr``, ``qr:NAME``, ``human``) → formulation.
    runs
        Further systems, name → file.
    texts, raw_texts
        Further questions that wait for a run, name → file; raw ones lean on their conversation and go through the rewriter of
        ``retrieval`` first.
    groups
        Group name → baseline and sets; names of formulations or of runs.
    run_groups
        Team, ranker, rewriter or other source → its runs, by name.
    retrieval
        What answers questions that no run answers.
    qrels_selection
        How passages were selected for judging. With anything but ``pool``, what the hole model expects stands only beside its
        tipping point, and in no headline.
    new_judgments
        Files of judgments that could join the qrels, one after the other.
    judges
        Labels of models or of other people, name → file; never mixed with the judgments.
    answer_similarity
        How alike the answers to QR and Human are, per turn, where no runs say so.
    paraphrases
        Paraphrases of the turns, in the ECAsT form.
    collection
        The passages' texts.
    clariq, agreement, crowd, answers
        The files of these commands, which have turns of their own.
    """

    name: str = "robustcs"
    qrels: Path | str | None = None
    qrels_selection: Selection = "pool"
    new_judgments: tuple[Path | str, ...] = ()
    judges: Mapping[str, Path] = field(default_factory=dict)
    gold: Path | None = None
    answer_similarity: Path | None = None
    paraphrases: Path | None = None
    collection: Path | None = None
    formulations: Mapping[str, Formulation] = field(default_factory=dict)
    runs: Mapping[str, Path] = field(default_factory=dict)
    texts: Mapping[str, TextSource] = field(default_factory=dict)
    raw_texts: Mapping[str, TextSource] = field(default_factory=dict)
    groups: Mapping[str, Group] = field(default_factory=dict)
    run_groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    retrieval: RetrievalSettings | None = None
    clariq: ClariqFiles | None = None
    agreement: AgreementFiles | None = None
    crowd: CrowdFiles | None = None
    answers: AnswerFiles | None = None
    metrics: tuple[Measure, ...] = ()
    thresholds: tuple[Threshold, ...] = ()
    policy: EvaluationPolicy = EvaluationPolicy()
    seed: int = 0

    @property
    def systems(self) -> dict[str, Path]:
        """Every run, name → file: those of the formulations first, then the further ones.

        Raises :class:`UsageError` where a further run has the name of a formulation.
        """
        own = {part.name: part.run for part in self.formulations.values() if part.run}
        for name in own.keys() & self.runs.keys():
            raise UsageError("repeated-run", f"a further run is named {name!r}, as a formulation is", "choose another name")
        return {**own, **self.runs}

    @property
    def sample_runs(self) -> dict[str, Path]:
        """The runs of rewriters' second and further samples, as ``NAME.2`` and so on → file."""
        return {
            f"{part.name}.{place}": run for part in self.formulations.values() for place, run in enumerate(part.sample_runs, 2)
        }

    def with_formulation(self, key: str, **changes: Any) -> Project:
        """The project with some parts of one formulation replaced; a run takes the place of scores and the reverse.

        A run without ``sample_runs`` is the only one of its rewriter.
        """
        role, name = parse_role(key)
        known = self.formulations.get(key, Formulation(role, name))
        if changes.get("run"):
            changes = {"scores": None, "sample_runs": (), **changes}
        elif changes.get("scores"):
            changes["run"] = None
        return replace(self, formulations={**self.formulations, key: replace(known, **changes)})


def parse_role(key: str) -> tuple[Role, str]:
    """Role and name of ``original``, ``original:NAME``, ``qr``, ``qr:NAME`` or ``human``.

    Raises :class:`UsageError` for anything else.
    """
    role, _, name = key.partition(":")
    if role in ROLES and (not name or role != "human") and (name or not key.endswith(":")):
        if name in ROLES:
            raise UsageError("bad-role", f"role {key!r} has the name {name!r}", "choose another name")
        return role, name or role  # type: ignore[return-value]
    raise UsageError("bad-role", f"role {key!r}", "write original, qr, human, or qr:NAME (original:NAME) for one of several")


def answer_files(texts: Sequence[str], folder: Path = Path()) -> Path:
    """The path of answers in one or several ``FILE`` or ``FILE:MODEL``; the names of a pooled file are the models."""
    sources = [parse_text_source(text, folder) for text in texts]
    models = tuple(source.column or "" for source in sources)
    return pooled([source.path for source in sources], models if any(models) else ())  # type: ignore[no-any-return]


def parse_text_source(text: str, folder: Path = Path()) -> TextSource:
    """``FILE`` or ``FILE:COLUMN``; a colon belongs to the file name where a file of the whole name exists.

    ``irds:NAME`` and ``irds:NAME:COLUMN`` are a data set of ir_datasets.
    """
    if is_irds(text):
        name, _, column = text.removeprefix(IRDS_PREFIX).partition(":")
        return TextSource(f"{IRDS_PREFIX}{name}", column or None)
    head, colon, column = text.rpartition(":")
    if not colon or not head or os.sep in column or (folder / text).exists():
        return TextSource(located(text, folder))
    return TextSource(located(head, folder), column)


# ---------------------------------------------------------------- parts of a project, and its files


def only(project: Project, keys: Collection[str], formulation: Collection[str] = ()) -> Project:
    """A project with these fields alone, and these fields of every formulation; formulations left empty are gone."""
    parts = {}
    for key, part in project.formulations.items():
        kept = Formulation(part.role, part.name, **{name: getattr(part, name) for name in formulation})
        if any(getattr(kept, name) for name in (*FORMULATION_FILES, "sample_runs")):
            parts[key] = kept
    known = {field.name for field in fields(Project)}
    assert known.issuperset(keys)
    return replace(Project(), **{key: getattr(project, key) for key in keys}, formulations=parts)


def measures(project: Project, of_answers: bool) -> tuple[Measure, ...]:
    """The project's measures of predicted answers, or those of rankings."""
    return tuple(measure for measure in project.metrics if (measure.family in ANSWER_FAMILIES) == of_answers)


def needs(condition: object, slug: str, found: str, advice: str) -> None:
    """Raise :class:`UsageError` unless ``condition`` holds."""
    if not condition:
        raise UsageError(slug, found, advice)


def judged_runs(project: Project, keys: tuple[str, ...]) -> Project:
    """The part with all runs, the judgments old and new, and ``keys``. Raises :class:`UsageError` without qrels or runs."""
    needs(project.qrels, "no-qrels", "no qrels", "name them with qrels = … or --qrels")
    needs(project.systems, "no-runs", "no runs", "name them in robustcs.toml or with --run NAME=FILE")
    part = only(project, ("qrels", "qrels_selection", "runs", "policy", "new_judgments", *keys), ("run",))
    return replace(part, metrics=measures(project, of_answers=False))


def input_files(project: Project) -> list[Path]:
    """Every file and folder that the project reads from, whatever a command needs of them, but for its new judgments.

    Where retrieval writes (its runs, its store) is not among them.
    """
    found = list(_paths(replace(project, retrieval=None, new_judgments=())))
    if project.retrieval is not None:
        found.append(project.retrieval.index)
        if project.retrieval.reranker is not None:
            found.append(project.retrieval.reranker)
        rewriter = project.retrieval.rewriter
        if rewriter is not None and rewriter not in CONTEXT:
            whole = Path(rewriter)
            found.append(whole if whole.exists() else Path(rewriter.rpartition(":")[0] or rewriter))
    return found


def protect_inputs(project: Project) -> None:
    """Keep everything that writes from the project's inputs; judging may add to the new judgments."""
    protect(input_files(project))
    protect((path for path in project.new_judgments if isinstance(path, Path)), growing=True)


def _paths(value: Any) -> Iterator[Path]:
    """Every path inside a value."""
    if isinstance(value, PooledFile):
        yield from _paths(value.files)
    elif isinstance(value, Path):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _paths(part)
    elif isinstance(value, tuple):
        for part in value:
            yield from _paths(part)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _paths(getattr(value, field.name))
