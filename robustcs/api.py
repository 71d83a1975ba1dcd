"""The Python API: each study as a function.

Each study of the registry is a function of its name: ``robustcs.breakdown(…)``. It accepts a project file (default: the
``robustcs.toml`` of the working folder, if any), keywords that replace entries of the project, and the keywords of the study's
``ask``. A result has its tables as pandas frames, its policy, its inputs, and methods that draw and write them
(:class:`robustcs.result.Result`).
Invalid inputs raise :class:`robustcs.errors.RobustcsError`.
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from robustcs.errors import RobustcsError, UsageError
from robustcs.messages import Python
from robustcs.project.model import STUDY_TABLES, Project
from robustcs.project.overrides import SINGULARS, in_plural, with_inputs
from robustcs.project.parallel_io import Jobs, jobs_of
from robustcs.project.sources import BY_NAME, OTHER_NAMES, SOURCES, several
from robustcs.studies.registry import STUDIES, study
from robustcs.studies.signature import MOST, Opt, types_of

if TYPE_CHECKING:
    from robustcs.records.table import TurnTable
    from robustcs.studies.study import Study

StrPath = str | os.PathLike[str]
#: Keywords that determine which processes read runs.
JOBS = ("jobs", "dask")
#: Option that names inputs → keyword.
_KEYWORDS = SINGULARS | {source.option.removeprefix("--"): source.key for source in SOURCES}


def open_project(
    project: Project | StrPath | None = None, *, trust: bool = False, **inputs: Any
) -> Project:
    """Open a project from its file, or from keywords alone.

    Instead of a file, each keyword also accepts a Python object: a pandas frame, a dictionary in the form of pytrec_eval and
    ranx, or records in the form of ir_measures and ir_datasets. Objects are checked as strictly as files.

    project
        A ``robustcs.toml``, or an open project. Default: the ``robustcs.toml`` of the working folder, if any.
    trust
        Allow the project file to name URLs, pipes, devices, and output paths outside its folder. Otherwise such a file raises
        :class:`robustcs.errors.UntrustedError`. Values of keywords are always allowed.
    original, qr, human
        Runs of the three formulations; ``qr`` and ``original`` may be mappings, name → file. Instead of a file: a frame or
        records with ``query_id``, ``doc_id`` and ``score`` (or ``qid``, ``turn_id``; ``docno``, ``passage_id``), or
        ``{turn: {document: score}}``.
    scores, answers, rewrites
        Role (``original``, ``original:NAME``, ``qr``, ``qr:NAME``, ``human``) → per-turn scores, predicted answers, question
        texts (``FILE`` or ``FILE:COLUMN``, or several). Instead of a file: ``{turn: {measure: value}}``, ``{turn: answer}``,
        ``{turn: text}``, or frames and records with these columns.
    qrels, gold, new_judgments, answer_similarity, paraphrases, collection
        Files. Instead of qrels: a frame or records with ``query_id``, ``doc_id`` and ``relevance`` (or ``rel``, ``grade``), or
        ``{turn: {document: grade}}``.
    runs
        Runs of other systems: name → file.
    judges
        Grades of model judges or second assessors: name → file.
    texts, raw_texts
        Additional questions without a run: name → ``FILE`` or ``FILE:COLUMN``.
    groups
        Name → (baseline, [sets]), by the names of runs.
    metrics, thresholds
        One or several: ``"ndcg_cut_3"``, ``">=0.5"``.
    relevance_level, missing, order, depth, documents, unit, conversation, seed, name
        As in the project file.

    Raises :class:`UsageError` for an unknown keyword, role or type; :class:`InputError` for an invalid project file or object.
    """
    with _in_python():
        return _opened(project, inputs, trust=trust)


def _opened(
    project: Project | StrPath | None,
    inputs: dict[str, Any],
    table: str = "",
    further: Collection[str] = (),
    trust: bool = False,
    start: Callable[[], Project] | None = None,
) -> Project:
    from robustcs.project.reading import find_project

    if not isinstance(project, Project | str | os.PathLike | None):
        found = f"the project is of type {type(project).__name__}"
        raise UsageError(
            "bad-type",
            found,
            "give a robustcs.toml or the result of open_project, and inputs by keyword",
        )
    if project is None:
        opened = start() if start else find_project(None, trust)
    else:
        opened = (
            project if isinstance(project, Project) else find_project(os.fspath(project), trust)
        )
    return with_inputs(opened, inputs, table, further)


def _setting(name: str, value: Any, kind: Any, optional: bool, opt: Opt) -> Any:
    """Return a value for a study, one of several as a tuple.

    Raises :class:`UsageError` for a value of another type, or outside the range of its option.
    """
    inner = get_args(kind)[0] if get_origin(kind) is tuple else kind
    value = several(value) if get_args(kind)[1:] == (...,) else value
    if get_origin(inner) is Literal and not (value is None and optional):
        *most, last = choices = get_args(inner)
        for one in several(value):
            if one not in choices:
                raise UsageError(
                    "bad-setting", f"{name} is {one!r}", f"choose {', '.join(most)} or {last}"
                )
    for one in several(value) if inner is str and not (value is None and optional) else ():
        if not isinstance(one, str | os.PathLike):
            raise UsageError("bad-setting", f"{name} is {one!r}", "give a string")
    wanted = {int: (Integral, "a whole number"), float: (Real, "a number")}.get(kind)
    if wanted is None or (value is None and optional):
        return value
    advice = f"write {wanted[1]}"
    if isinstance(value, wanted[0]):
        low = -math.inf if opt.low is None else opt.low
        high = math.inf if opt.high is None else opt.high
        if low <= float(value) <= high:
            return value
        limits = f"from {low:g} to {high:g}" if high < MOST else f"of at least {low:g}"
        advice += f" {limits}"
    raise UsageError("bad-setting", f"{name} is {value!r}", advice)


def _by_name(runs: Any) -> Mapping[str, Any]:
    """Return runs by name: mappings unchanged, files by their names without suffixes, anything else as ``run``."""
    from robustcs.inputs.objects import is_nested

    if isinstance(runs, Mapping) and not is_nested(runs):
        return runs
    files = (
        runs
        if isinstance(runs, list | tuple)
        and all(isinstance(one, str | os.PathLike) for one in runs)
        else [runs]
    )
    return {
        Path(one).name.partition(".")[0] if isinstance(one, str | os.PathLike) else "run": one
        for one in files
    }


@contextmanager
def _in_python(one: Study | None = None) -> Iterator[None]:
    """Name keywords, not options, in errors. ``one``: the study whose own keywords they may name."""
    try:
        yield
    except RobustcsError as error:
        keywords = dict(_KEYWORDS)
        for parameter in one.command.parameters if one else ():
            option = max(parameter.opts, key=len)
            keywords[option.removeprefix("--")] = str(parameter.name)
        error.word(Python(OTHER_NAMES.get(one.name if one else "", {}), keywords))
        raise


def signature_of(one: Study) -> inspect.Signature:
    """Return the signature of a study as a function: qrels and runs, then its own keywords and those of its inputs."""
    ask, command = one.part("study").ask, one.command
    given = inspect.signature(ask)
    own = {name: parameter for name, parameter in given.parameters.items() if name != "workspace"}
    taken = [
        BY_NAME[name].key if name in BY_NAME else SINGULARS.get(name, name) for name in command.uses
    ]
    first = [name for name, parameter in own.items() if parameter.default is parameter.empty]
    first = first or [name for name in ("qrels", "runs") if name in taken]
    table = (
        [field.name for field in fields(STUDY_TABLES[one.name])] if one.name in STUDY_TABLES else []
    )
    taken = ["project", *taken, *table, *(["groups"] if one.name == "robustness" else [])]
    inputs = {
        name: inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)
        for name in taken
    }
    every = inputs | own
    front = [
        every.pop(name).replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in first
    ]
    rest = [
        every.pop(name).replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name in own
        if name in every
    ]
    return inspect.Signature(
        [*front, *rest, *every.values()], return_annotation=given.return_annotation
    )


def _selection(project: Project, jobs: Jobs, slices: Any) -> Callable[[str], list[str]]:
    """Return the function that selects turns of a project by a filter; its first call reads the inputs."""
    from robustcs.inputs.readings import reading_once

    @cache
    def table() -> TurnTable:
        from robustcs.project.workspace import Workspace
        from robustcs.studies.turns.steps import read_turns

        return read_turns(Workspace(project, jobs), slices)[1].table

    def select(where: str) -> list[str]:
        with _in_python(), reading_once():
            return table().where(where)

    return select


@cache
def _function(one: Study) -> Callable[..., Any]:
    """Return a study as a function: its own keywords go to ``ask``; all others are inputs of the project."""
    ask = one.part("study").ask
    own = types_of(ask)
    table = one.name if one.name in STUDY_TABLES else ""

    signature = signature_of(one)
    required = [
        name
        for name, parameter in signature.parameters.items()
        if parameter.default is parameter.empty
    ]

    def call(*given: Any, **keywords: Any) -> Any:
        with _in_python(one):
            return answer(*given, **keywords)

    def answer(*given: Any, **keywords: Any) -> Any:
        from robustcs.project.collections import ask_by
        from robustcs.project.workspace import Workspace

        project = keywords.pop("project", None)
        first = given[0] if given and not required else ""
        if isinstance(first, Project | None) or (
            isinstance(first, str | os.PathLike) and Path(first).suffix == ".toml"
        ):
            project, *given = given  # type: ignore[assignment]
        keywords = in_plural(keywords)
        front = [
            name
            for name, one in signature.parameters.items()
            if one.kind is one.POSITIONAL_OR_KEYWORD
        ]
        if len(given) > len(front):
            advice = f"give {' and '.join(front)} by position and all others by keyword"
            raise UsageError(
                "too-many-arguments",
                f"{call.__name__} has {len(given)} positional arguments",
                advice,
            )
        placed = signature.bind_partial(*given).arguments
        if twice := [name for name in placed if name in keywords]:
            raise UsageError(
                "repeated-keyword",
                f"{twice[0]} is given both by position and by keyword",
                "give it once",
            )
        keywords |= placed
        if "runs" in keywords and not table:
            keywords["runs"] = _by_name(keywords["runs"])
        uses = one.command.uses if keywords.keys() & {*JOBS, "by"} else ()
        jobs = jobs_of(
            {name: keywords.pop(name) for name in JOBS if name in uses and name in keywords}
        )
        mine = {
            name: _setting(name, keywords.pop(name), *own[name]) for name in own if name in keywords
        }
        by = keywords.pop("by", None) if "by" in uses else None
        if lacking := [name for name in required if name not in mine]:
            # names an unknown keyword first
            _opened(Project(), keywords, table, signature.parameters)
            raise UsageError(
                "no-argument",
                f"argument {lacking[0]} of {one.name} is missing",
                f"give {' and '.join(required)}",
            )
        opened = _opened(
            project, keywords, table, signature.parameters, start=lambda: one.start(**mine)
        )
        workspace = Workspace(opened, jobs)
        if by is None:
            result = ask(workspace, **mine)
        else:
            result = ask_by(ask, workspace, by, **mine)
        result = workspace.stated(result)
        select = result.select
        if select is None and not hasattr(one.part("study"), "start"):
            select = _selection(opened, jobs, mine.get("slices"))
        return result.changed(inputs=tuple(workspace.inputs), select=select)

    call.__name__ = call.__qualname__ = one.name
    inputs = (
        f"the keys of ``[{table}]``, and those of :func:`open_project`"
        if table
        else "see :func:`open_project`"
    )
    where = (
        "``jobs``: number of processes that read runs. ``dask``: address of a scheduler whose cluster reads them instead."
        " ``by='collection'``: also compute each table per collection, if the qrels are of several."
    )
    call.__doc__ = f"{inspect.getdoc(ask)}\n\nInputs by keyword: {inputs}. {where}"
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def __getattr__(name: str) -> Any:
    if name in {one.name for one in STUDIES}:
        return _function(study(name))
    raise AttributeError(f"module 'robustcs.api' has no attribute {name!r}")


def report(
    project: Project | StrPath | None = None,
    output: StrPath | None = None,
    jobs: int = 1,
    dask: str | None = None,
    **inputs: Any,
) -> Path:
    """Write the report into the folder ``output`` (default: ``reports/NAME``) and return the path of its HTML page.

    ``jobs``: number of processes that read runs. ``dask``: address of a scheduler whose cluster reads them instead.
    """
    from robustcs.reporting.build import make_report
    from robustcs.reporting.folder import report_folder, require_report_folder, write_report

    with _in_python():
        opened = open_project(project, **inputs)
        if not isinstance(output, str | os.PathLike | None):
            raise UsageError("bad-setting", f"output is {output!r}", "name a folder")
        folder = report_folder(opened) if output is None else Path(output)
        given = project if project is not None and not isinstance(project, Project) else ""
        require_report_folder(folder, opened)
        where = jobs_of({"jobs": jobs, "dask": dask})
        made = make_report(opened, folder=Path(given).parent, jobs=where)
        write_report(folder, made.files)
    return folder / "report.html"
