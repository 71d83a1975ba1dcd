"""The Python API: each study as a function.

Each study of the registry is a function of its name: ``robustcs.breakdown(…)``. It accepts a project file (default: the
``robustcs.toml`` of the working folder, if any), keywords that replace entries of the project, and the keywords of the study's
``ask``. A result has its tables as pandas frames, its policy, its inputs, and methods that draw and write them.
Invalid inputs raise :class:`robustcs.errors.RobustcsError`.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from robustcs.documents.document import Figure
from robustcs.errors import UsageError
from robustcs.project.model import STUDY_TABLES, Project
from robustcs.project.overrides import SINGULARS, in_plural, with_inputs
from robustcs.project.parallel_io import jobs_of
from robustcs.project.sources import BY_NAME, SOURCES, several
from robustcs.result import Result
from robustcs.studies.registry import STUDIES, study
from robustcs.studies.signature import types_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

    from robustcs.documents.document import Block
    from robustcs.studies.study import Study

StrPath = str | os.PathLike[str]
#: One table of a result, several, or all of them.
Tables = str | Sequence[str] | None
#: Keywords that determine which processes read runs.
JOBS = ("jobs", "dask")
#: An option in a message, alone or with ``NAME=FILE`` or ``N``.
_OPTION = re.compile(r"--([a-z][a-z-]*)(?: ([\w/]+)=([A-Z]+)| ([A-Z]+)\b)?")


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


def _setting(name: str, value: Any, kind: Any, optional: bool) -> Any:
    """Return a value for a study, one of several as a tuple. Raises :class:`UsageError` for a value of another type."""
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
    if wanted is None or isinstance(value, wanted[0]) or (value is None and optional):
        return value
    raise UsageError("bad-setting", f"{name} is {value!r}", f"write {wanted[1]}")


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


def _in_python(text: str, one: Study, known: Collection[str]) -> str:
    """Return a message with ``known`` keywords in place of options: ``runs={NAME: FILE}`` for ``--run NAME=FILE``."""
    keys = SINGULARS | {source.option.removeprefix("--"): source.key for source in SOURCES}
    keys |= {
        max(own.opts, key=len).split()[-1].removeprefix("--"): str(own.name)
        for own in one.command.parameters
    }

    def keyword(found: re.Match[str]) -> str:
        option, name, file, value = found.groups()
        key = keys.get(option, option.replace("-", "_"))
        given = (
            f"={{{name if name.isupper() else repr(name)}: {file}}}"
            if name
            else f"={value}"
            if value
            else ""
        )
        return key + given if key in known else found[0]

    return _OPTION.sub(
        keyword, re.sub("--set ([a-z-]+)", lambda found: found[1].replace("-", "_"), text)
    )


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
        from robustcs.project.collections import asked
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
        try:
            if lacking := [name for name in required if name not in mine]:
                _opened(
                    Project(), keywords, table, signature.parameters
                )  # names an unknown keyword first
                raise UsageError(
                    "no-argument",
                    f"argument {lacking[0]} of {one.name} is missing",
                    f"give {' and '.join(required)}",
                )
            opened = _opened(
                project, keywords, table, signature.parameters, start=lambda: one.start(**mine)
            )
            workspace = Workspace(opened, jobs)
            result = workspace.stated(
                ask(workspace, **mine) if by is None else asked(ask, workspace, by, **mine)
            )
        except UsageError as error:
            error.found, error.advice = (
                _in_python(text, one, signature.parameters) for text in (error.found, error.advice)
            )
            error.args = (str(error),)
            raise
        return result.changed(inputs=tuple(workspace.inputs))

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

    opened = open_project(project, **inputs)
    folder = report_folder(opened) if output is None else Path(output)
    given = project if project is not None and not isinstance(project, Project) else ""
    require_report_folder(folder, opened)
    where = jobs_of({"jobs": jobs, "dask": dask})
    made = make_report(opened, folder=Path(given).parent, jobs=where)
    write_report(folder, made.files)
    return folder / "report.html"


# ---------------------------------------------------------------- methods of results
# Formats are those of --format; the figure is that of --output NAME.png. The module of results does not import renderers.


def _blocks(result: Result, names: Sequence[str] = ()) -> Sequence[Block]:
    return study(result.study).blocks(result, names)


def figures(result: Result) -> dict[str, str]:
    """Return the figures of a result: name → caption. :func:`plot` draws the first."""
    return {block.slug: block.caption for block in _blocks(result) if isinstance(block, Figure)}


def plot(result: Result, figure: str | None = None) -> MatplotlibFigure:
    """Draw the result's first figure, or the one of that name, with matplotlib, and return it; save nothing.

    The rcParams that you have changed apply to it; all others are those of the report's figures.

    Raises :class:`UsageError` if the result has no figures, or none of that name.
    """
    there = {block.slug: block for block in _blocks(result) if isinstance(block, Figure)}
    if not there:
        raise UsageError("no-figure", f"{result.study} has no figure", "see .tables for its tables")
    if figure is not None and figure not in there:
        raise UsageError(
            "no-figure",
            f"{result.study} has no figure {figure!r}",
            f"choose from {', '.join(there)}",
        )
    from robustcs.documents.figures import plotted

    return plotted(there[figure or next(iter(there))])


def to_csv(
    result: Result, path: StrPath | None = None, *, table: str | None = None, raw: bool = False
) -> str | None:
    """Return or write one table (default: the first) as CSV with 12 significant digits.

    An apostrophe precedes texts that a spreadsheet would run as formulas, unless ``raw``.
    """
    return _written(result, "raw-csv" if raw else "csv", path, table)


def to_json(result: Result, path: StrPath | None = None, *, table: Tables = None) -> str | None:
    """Return or write all tables, or those of ``table``, as JSON with 12 significant digits, policy, inputs and notes."""
    return _written(result, "json", path, table)


def to_latex(result: Result, path: StrPath | None = None, *, table: Tables = None) -> str | None:
    """Return or write all displayed tables, or those of ``table``, as LaTeX (booktabs)."""
    return _written(result, "latex", path, table)


def to_markdown(result: Result, path: StrPath | None = None, *, table: Tables = None) -> str | None:
    """Return or write all displayed tables, or those of ``table``, as Markdown."""
    return _written(result, "markdown", path, table)


def to_html(result: Result, path: StrPath | None = None, *, table: Tables = None) -> str | None:
    """Return or write all displayed tables and figures, or the tables of ``table``, as an HTML fragment without styles."""
    return _written(result, "html", path, table)


def _written(result: Result, form: str, path: StrPath | None, table: Tables) -> str | None:
    """Return a result in a format, or write it and return None. Raises :class:`UsageError` if the path is an input."""
    from robustcs.documents.files import write_text
    from robustcs.documents.forms import data_of, text_of
    from robustcs.overwrite_guard import refuse_protected

    names = (table,) if isinstance(table, str) else table or ()
    if form in ("csv", "raw-csv", "json"):
        text = data_of(form, result.study, result, result.inputs, names)
    else:
        text = text_of(form, result, _blocks(result, names), names)
    if path is None:
        return text
    refuse_protected(path)
    write_text(Path(path), text)
    return None


for _method in (plot, figures, to_csv, to_json, to_latex, to_markdown, to_html):
    setattr(Result, _method.__name__, _method)
Result._repr_html_ = to_html  # type: ignore[attr-defined]
