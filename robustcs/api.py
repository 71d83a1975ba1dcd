"""The studies as functions: what ``import robustcs`` offers.

Every study of the registry is a function of its name: ``robustcs.breakdown(…)``. It takes a project file (or the
``robustcs.toml`` of the working folder where there is one), by keyword whatever takes the place of what it says, and
the keywords of the study's ``ask``. Every result has its tables as pandas frames, knows its policy, and shows itself in
a notebook. Wrong inputs raise :class:`robustcs.errors.RobustcsError`.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robustcs.project.model import Project
from robustcs.result import Result
from robustcs.studies.registry import STUDIES, study

if TYPE_CHECKING:
    from robustcs.studies.study import Study

StrPath = str | os.PathLike[str]


def _notebook(result: Result) -> str:
    """What a notebook shows of a result."""
    from robustcs.documents.notebook import notebook_html

    return notebook_html(study(result.study).part("show").show(result), result.evaluated)


# results know no renderer; whoever uses them from Python is given one
setattr(Result, "_repr_html_", _notebook)  # noqa: B010


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
    judges
        Labels of models or of other people: name → file.
    texts, raw_texts
        Further questions that wait for a run: name → ``FILE`` or ``FILE:COLUMN``.
    groups
        Name → (baseline, [sets]), by the names of runs.
    metrics, thresholds
        One or several: ``"ndcg_cut_3"``, ``">=0.5"``.
    relevance_level, missing, order, depth, unit, seed, name
        As in the project file.

    Raises :class:`UsageError` for an unknown keyword or role, :class:`InputError` for a broken project file.
    """
    return _opened(project, inputs)


def _opened(project: Project | StrPath | None, inputs: dict[str, Any], table: str = "") -> Project:
    from robustcs.project.given import with_inputs
    from robustcs.project.reading import find_project

    opened = project if isinstance(project, Project) else find_project(None if project is None else os.fspath(project))
    return with_inputs(opened, inputs, table)


@cache
def _function(one: Study) -> Callable[..., Any]:
    """The study as a function: its own keywords go to ``ask``, all others are inputs of the project."""
    from robustcs.project.model import STUDY_TABLES

    ask = one.part("ask").ask
    own = [name for name in inspect.signature(ask).parameters if name != "workspace"]
    table = one.name if one.name in STUDY_TABLES else ""

    def call(project: Project | StrPath | None = None, **keywords: Any) -> Any:
        from robustcs.project.workspace import Workspace

        mine = {name: keywords.pop(name) for name in own if name in keywords}
        return ask(Workspace(_opened(project, keywords, table)), **mine)

    call.__name__ = call.__qualname__ = one.name
    inputs = f"the keys of ``[{table}]``, and those of :func:`open_project`" if table else "see :func:`open_project`"
    call.__doc__ = f"{inspect.getdoc(ask)}\n\nInputs by keyword: {inputs}."
    signature = inspect.signature(ask)
    project = inspect.Parameter("project", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
    mine = [parameter for name, parameter in signature.parameters.items() if name in own]
    rest = inspect.Parameter("inputs", inspect.Parameter.VAR_KEYWORD)
    call.__signature__ = signature.replace(parameters=[project, *mine, rest])  # type: ignore[attr-defined]
    return call


def __getattr__(name: str) -> Any:
    if name in {one.name for one in STUDIES}:
        return _function(study(name))
    raise AttributeError(f"module 'robustcs.api' has no attribute {name!r}")


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
