"""The analyses as functions: what ``import robustcs`` offers.

Every function takes the same inputs: a project file (or the ``robustcs.toml`` of the working folder where there is one), and
by keyword whatever takes the place of what it says. Every result has its tables as pandas frames, knows the policy that made
it, and shows itself in a notebook. Wrong inputs raise :class:`robustcs.errors.RobustcsError`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robustcs.errors import UsageError
from robustcs.evaluation.groups import Group
from robustcs.inputs.qrels import IRDS_PREFIX
from robustcs.policy import EvaluationPolicy
from robustcs.project.model import AgreementFiles, ClariqFiles, CrowdFiles, Project, parse_role, parse_text_source
from robustcs.project.reading import find_project
from robustcs.result import Result

if TYPE_CHECKING:
    from robustcs.project.workspace import Workspace
    from robustcs.studies.agreement.analysis import SnippetAgreement
    from robustcs.studies.agreement.ratings import RatingAgreement
    from robustcs.studies.augment.analysis import Augmentation
    from robustcs.studies.breakdown.analysis import Breakdown
    from robustcs.studies.clariq.analysis import Clariq
    from robustcs.studies.correlate.analysis import Correlate
    from robustcs.studies.crowd.analysis import Crowd
    from robustcs.studies.diversity.analysis import Diversity
    from robustcs.studies.robustness.analysis import Robustness
    from robustcs.studies.sweep.analysis import Sweep
    from robustcs.studies.unjudged.analysis import Unjudged

StrPath = str | os.PathLike[str]


def _notebook(result: Result) -> str:
    """What a notebook shows of a result."""
    from robustcs.documents.notebook import notebook_html

    return notebook_html(result)


# results know no renderer; whoever uses them from Python is given one
setattr(Result, "_repr_html_", _notebook)  # noqa: B010

_FILES = ("qrels", "gold", "new_judgments", "answer_similarity", "paraphrases", "collection")
_POLICY = tuple(field.name for field in fields(EvaluationPolicy))


def open_project(project: Project | StrPath | None = None, **inputs: Any) -> Project:
    """A project from its file, or from keywords alone.

    project
        A ``robustcs.toml``, or a project opened before; without one, the ``robustcs.toml`` of the working folder if any.
    original, qr, human
        Runs of the three formulations; ``qr`` may be a mapping of rewriters: name → file.
    scores, answers, rewrites
        Role (``original``, ``qr``, ``qr:NAME``, ``human``) → per-turn scores, predicted answers, question texts
        (``FILE`` or ``FILE:COLUMN``, or several).
    qrels, gold, new_judgments, answer_similarity, paraphrases, collection
        Files.
    runs
        Further runs: name → file.
    groups
        Name → (baseline, [sets]), by the names of runs.
    metrics, thresholds
        One or several: ``"ndcg_cut_3"``, ``">=0.5"``.
    relevance_level, missing, order, depth, seed, name
        As in the project file.

    Raises :class:`UsageError` for an unknown keyword or role, :class:`InputError` for a broken project file.
    """
    opened = project if isinstance(project, Project) else find_project(None if project is None else os.fspath(project))
    for key, value in inputs.items():
        opened = _with(opened, key, value)
    return opened


def _with(project: Project, key: str, value: Any) -> Project:
    if key in _FILES:
        irds = key in ("qrels", "new_judgments") and str(value).startswith(IRDS_PREFIX)
        return _changed(project, key, value if irds else Path(value))
    if key in ("original", "human"):
        return project.with_formulation(key, run=Path(value))
    if key == "qr":
        named = {f"qr:{name}": path for name, path in value.items()} if isinstance(value, Mapping) else {"qr": value}
        for role, path in named.items():
            project = project.with_formulation(role, run=Path(path))
        return project
    if key in ("scores", "answers", "rewrites"):
        for role, given in value.items():
            parse_role(role)
            sources = tuple(parse_text_source(os.fspath(one)) for one in _several(given)) if key == "rewrites" else Path(given)
            project = project.with_formulation(role, **{key: sources})
        return project
    if key == "runs":
        return replace(project, runs={name: Path(path) for name, path in value.items()})
    if key == "groups":
        return replace(project, groups={name: Group(base, tuple(sets)) for name, (base, sets) in value.items()})
    if key in ("metrics", "thresholds"):
        return _changed(project, key, tuple(map(str, _several(value))))
    if key in _POLICY:
        policy: dict[str, Any] = {key: value}
        return replace(project, policy=replace(project.policy, **policy))
    if key in ("seed", "name"):
        return _changed(project, key, value)
    raise UsageError("no-such-input", f"no input is named {key!r}", "help(robustcs.open_project) lists them")


def _changed(project: Project, key: str, value: Any) -> Project:
    change: dict[str, Any] = {key: value}
    return replace(project, **change)


def _several(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else (value,)


def _workspace(project: Project | StrPath | None, inputs: Mapping[str, Any]) -> Workspace:
    from robustcs.project.workspace import Workspace

    return Workspace(open_project(project, **inputs))


def breakdown(project: Project | StrPath | None = None, **inputs: Any) -> Breakdown:
    """Wrong answer or wrong question? See :func:`open_project` for the inputs and :class:`Breakdown` for the tables."""
    from robustcs.evaluation.thresholds import parse_thresholds
    from robustcs.studies.breakdown.analysis import breakdown as analyse

    workspace = _workspace(project, inputs)
    scores, evaluated = workspace.formulation_scores()
    own = workspace.project
    texts = workspace.texts_of(scores.turns, evaluated.basis)
    return analyse(scores, evaluated, parse_thresholds(own.thresholds, own.metrics), texts, own.seed)


def sweep(project: Project | StrPath | None = None, *, step: str = "0.02", **inputs: Any) -> Sweep:
    """The bins at every threshold from 0 to 1 in steps of ``step``."""
    from robustcs.studies.sweep.analysis import sweep as analyse
    from robustcs.studies.sweep.analysis import threshold_grid

    workspace = _workspace(project, inputs)
    scores, evaluated = workspace.formulation_scores()
    return analyse(scores if workspace.project.metrics else scores.graded(), evaluated, threshold_grid(step))


def correlate(project: Project | StrPath | None = None, *, answers_by: Sequence[str] = (), **inputs: Any) -> Correlate:
    """Do similar questions get similar answers? ``answers_by``: measures of answers, as ``--y`` of the command."""
    from robustcs.evaluation.thresholds import parse_thresholds
    from robustcs.studies.correlate.ask import correlate_questions

    workspace = _workspace(project, inputs)
    own = workspace.project
    return correlate_questions(workspace, parse_thresholds(own.thresholds, own.metrics)[0], answers_by)


def unjudged(
    project: Project | StrPath | None = None, *, top: int | None = None, scope: str = "cutoff", **inputs: Any
) -> Unjudged:
    """How much of the top ``top`` (default 3) nobody judged, and how far scores could move.

    ``scope``: ``cutoff`` or ``run``, which unjudged passages could get a grade.
    """
    from robustcs.studies.unjudged.ask import find_unjudged

    if scope not in ("cutoff", "run"):
        raise UsageError("bad-scope", f"scope {scope!r}", "write cutoff or run")
    return find_unjudged(_workspace(project, inputs), top, scope)  # type: ignore[arg-type]


def augment(project: Project | StrPath | None = None, **inputs: Any) -> Augmentation:
    """Scores before and after the ``new_judgments``."""
    from robustcs.studies.augment.ask import compare_judgments

    return compare_judgments(_workspace(project, inputs))


def robustness(project: Project | StrPath | None = None, **inputs: Any) -> Robustness:
    """How far scores drop from the baseline of each of the ``groups`` to its sets."""
    from robustcs.project.rewritten import check_baselines
    from robustcs.studies.robustness.analysis import DEFAULT_METRICS
    from robustcs.studies.robustness.analysis import robustness as analyse

    workspace = _workspace(project, inputs)
    own = workspace.project
    if not own.groups:
        raise UsageError("no-groups", "no groups of runs are given", "name them with groups={NAME: (BASELINE, [SET, …])}")
    names = [name for group in own.groups.values() for name in (group.baseline, *group.sets)]
    check_baselines(own)
    scores, evaluated = workspace.system_scores(names, own.metrics or DEFAULT_METRICS)
    texts = workspace.texts_of(scores[names[0]].index).get("human")
    return analyse(own.groups, scores, evaluated, texts=texts, seed=own.seed)


def diversity(project: Project | StrPath | None = None, **inputs: Any) -> Diversity:
    """How different the formulations and paraphrases are, by BLEU, self-BLEU and duplicates."""
    from robustcs.studies.diversity.analysis import diversity as analyse
    from robustcs.studies.diversity.ask import read_text_sets

    return analyse(*read_text_sets(_workspace(project, inputs), (), ()))


def clariq(project: Project | StrPath | None = None, **inputs: Any) -> Clariq:
    """Clarifying questions: the keys of ``[clariq]`` as keywords, or that table of the project file where none is given.

    Other keywords are those of :func:`open_project`.
    """
    from robustcs.studies.clariq.ask import evaluate_clariq

    return evaluate_clariq(_other_workspace(project, "clariq", ClariqFiles, inputs))


def agreement(project: Project | StrPath | None = None, **inputs: Any) -> SnippetAgreement | RatingAgreement:
    """Agreement of annotators on ``snippets``, else on ``ratings``; keywords as for :func:`clariq`, of ``[agreement]``."""
    from robustcs.studies.agreement.ask import compare_ratings, compare_snippets

    workspace = _other_workspace(project, "agreement", AgreementFiles, inputs)
    files = workspace.project.agreement
    return compare_ratings(workspace) if files and files.ratings and not files.snippets else compare_snippets(workspace).result


def crowd(project: Project | StrPath | None = None, *, metrics: str | Sequence[str] = (), **inputs: Any) -> Crowd:
    """Judgments from crowd grades, and runs on them; keywords as for :func:`clariq`, of ``[crowd]``.

    ``metrics`` take the place of P@1 and NDCG@3.
    """
    from robustcs.studies.crowd.ask import evaluate_crowd

    return evaluate_crowd(_other_workspace(project, "crowd", CrowdFiles, inputs), _several(metrics)).result


def _other_workspace(project: Project | StrPath | None, table: str, kind: type, inputs: Mapping[str, Any]) -> Workspace:
    """A workspace in which the files of ``table`` are those of the keywords, where any is given."""
    names = {field.name for field in fields(kind)}
    own = {name: _as_input(name, value) for name, value in inputs.items() if name in names}
    opened = open_project(project, **{name: value for name, value in inputs.items() if name not in names})
    known = getattr(opened, table) or kind()
    return _workspace(_changed(opened, table, known.given(**own)), {})


def _as_input(name: str, value: Any) -> Any:
    """A value of these tables: paths, several of them, or by name; numbers and groups of ratings as they are."""
    if name == "groups":
        return {group: tuple(map(str, members)) for group, members in value.items()}
    if isinstance(value, Mapping):
        return {key: Path(path) for key, path in value.items()}
    if name in ("snippets", "reference", "ratings"):
        return tuple(map(Path, _several(value)))
    if isinstance(value, str | os.PathLike) and not str(value).startswith(IRDS_PREFIX):
        return Path(value)
    return value


def report(project: Project | StrPath | None = None, output: StrPath | None = None, **inputs: Any) -> Path:
    """Write the whole report into the folder ``output`` (default ``reports/NAME``); the path of its HTML page."""
    from robustcs.reporting.build import make_report
    from robustcs.reporting.folder import STORE, report_folder, write_report
    from robustcs.reporting.store import Store

    opened = open_project(project, **inputs)
    folder = report_folder(opened) if output is None else Path(output)
    given = project if project is not None and not isinstance(project, Project) else ""
    made = make_report(opened, folder=Path(given).parent, store=Store(folder / STORE))
    write_report(folder, made.files)
    return folder / "report.html"
