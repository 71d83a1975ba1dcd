"""The commands for a whole project: ``init``, ``report``, ``bundle`` and ``demo``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from robustcs.cli.terminal import harmless, tell, track
from robustcs.errors import UsageError
from robustcs.overwrite_guard import CONFIG_NAME
from robustcs.studies.signature import Opt
from robustcs.studies.study import FORMULATIONS, SCORING, SEED, UNIT, Call
from robustcs.wording import and_more, counted, some_of

if TYPE_CHECKING:
    from robustcs.project.model import Project
    from robustcs.project.parallel_io import Jobs

#: Command → its shared options.
USES: Mapping[str, Sequence[str]] = {
    "report": (
        *FORMULATIONS, "runs", "components", "new_judgments", "judges", "paraphrases", "collection", "threshold", *SCORING,
        *UNIT, *SEED, "no_retrieve", "output",
    ),
    "bundle": ("jobs", "no_retrieve"),
    "demo": ("output",),
}  # fmt: skip
#: Options that do not affect the contents of a report.
_NOT_IN_REPORT = ("jobs", "dask", "no_retrieve", "output")
_PACKAGE = Path(__file__).resolve().parent.parent
#: Folder of the demo collection: in an installed package, and in a checkout (setup.py copies the latter into the package).
_COLLECTIONS = (_PACKAGE / "demo", _PACKAGE.parent / "fixtures")


def init(
    call: Call, folder: Annotated[str, Opt("[FOLDER]", argument=True)] = ".", *, why: bool = False
) -> None:
    """Write a commented robustcs.toml for the files in FOLDER (default: the current folder).

    The content of a file determines its kind: run, qrels, question texts of common collections, scores, answers, or inputs of
    clariq, agreement and crowd. Its role is guessed from its turns, its rankings (texts belong to a run if equal questions have
    equal rankings), and its name (raw, original; manual, human). The comment "# by name" marks a role that only a name
    suggests. Review the result before you use it. An existing robustcs.toml is never overwritten.

    why
        Write nothing; show the role of each file and the reason, or why the file is ignored.

    Examples:
      robustcs init
      robustcs init --why
    """
    from robustcs.documents.files import write_text
    from robustcs.project.conversations import conversations_among
    from robustcs.project.guess import explanation, guess, write_config
    from robustcs.project.marks import marks_in, told
    from robustcs.project.reading import read_project

    if not Path(folder).is_dir():
        raise UsageError(
            "no-folder", f"{folder}: no such folder", "name the folder with your files"
        )
    target = Path(folder) / CONFIG_NAME
    if target.exists() and not why:
        raise UsageError("config-exists", f"{target} exists already", "edit it, or move it first")
    made = guess(Path(folder))
    if why:
        click.echo(harmless(explanation(made)))
        return
    if not made.taken:
        advice = "name the folder with these files"
        if made.aside:
            advice += (
                f"; robustcs init --why lists why {counted(len(made.aside), 'file')} cannot be read"
            )
        raise UsageError("nothing-found", f"no runs, qrels, texts or answers in {folder}", advice)
    text = write_config(made, Path(folder).resolve().name)
    write_text(target, text)
    click.echo(harmless(f"wrote {target}; review it, then run robustcs check"))
    for other in made.offered:
        click.echo(harmless(other))
    if made.grid:
        of = counted(len(made.grid), "run")
        click.echo(
            f"the names of {of} suggest a grid, but their rankings do not: {made.doubt}; see the end of the file"
        )
    if whose := told(marks_in(text)):
        mark = (
            "to confirm one, delete its mark # by name; to confirm all, run robustcs check --accept"
        )
        click.echo(
            harmless(
                f"{counted(whose.count(',') + 1, 'role')} guessed from file names: {whose}; {mark}"
            )
        )
    if made.turns:
        conversations = conversations_among(call.workspace(read_project(target)), made.turns)
        click.echo(harmless(conversations.note or conversations.in_words))
    for path in made.told:
        click.echo(harmless(f"{path} is not used: {made.aside[path]}"))
    if made.aside:
        click.echo(
            f"ignored {counted(len(made.aside), 'file')}; robustcs init --why lists them with reasons"
        )


def bundle(call: Call, folder: Annotated[str, Opt("FOLDER", argument=True)]) -> None:
    """Copy a study into one folder, so that every analysis can be repeated on another machine.

    FOLDER receives the project file and all files that it names: runs with the record of their texts, qrels, question texts,
    scores, answers, and judges. It also receives the texts of all retrieved or judged passages. Missing runs are retrieved
    first. Repeating the study needs neither the index nor Java.

    Examples:
      robustcs bundle ../for-a-colleague
      robustcs bundle study-2026 --no-retrieve
    """
    from robustcs.project.bundle import require_bundle_folder, write_bundle
    from robustcs.project.open_questions import missing_runs, retrievable

    config, target = Path(call.given["config"] or CONFIG_NAME), Path(folder)
    if not config.exists():
        found = f"{config}: no such project file"
        raise UsageError(
            "no-project", found, "create one with robustcs init, or name it with --config"
        )
    project = call.project
    require_bundle_folder(target)
    workspace = call.workspace(_retrieved(call))
    waiting = []
    if project.retrieval is None:  # without an index, nothing can be retrieved
        waiting = [system for system in retrievable(workspace, samples=True) if system.open]
    made = write_bundle(config, project, workspace, target)
    if waiting:
        tell(str(missing_runs(waiting)))
    if made.passages < made.of:
        tell(
            f"copied {made.passages:,} of {counted(made.of, 'passage')}: those that are retrieved or judged"
        )
    for what, names in (
        ("copied from outside the project folder", made.outside),
        ("not copied", made.left),
    ):
        if names:
            tell(f"{what}: {some_of(names)}{and_more(len(names), 5)}")
    click.echo(
        harmless(f"wrote {target}: {counted(made.files, 'file')}, {made.size / 1e6:,.1f} MB")
    )


def demo(call: Call) -> None:
    """Write the report on the demo collection: ten conversations with unjudged passages and wrong rewrites.

    --output names the folder of the report (default: reports/demo). The collection is part of robustcs and is not changed. The
    command prints its folder, in which you can try every other command. --config names the project file of a copy.

    Examples:
      robustcs demo
      robustcs demo --output /tmp/demo
    """
    file = Path(call.given["config"]) if call.given["config"] else _collection() / "robustcs.toml"
    from robustcs.project.parallel_io import HERE
    from robustcs.project.reading import read_project

    _make(
        read_project(file),
        _folder(call) or Path("reports/demo"),
        file.parent,
        "robustcs demo",
        HERE,
    )
    tell(f"the collection is in {file.parent}")


def _collection() -> Path:
    """Return the folder of the demo collection. Raises :class:`UsageError` if this installation does not contain it."""
    for folder in _COLLECTIONS:
        if (folder / "robustcs.toml").is_file():
            return folder
    found = "the demo collection is not in this installation of robustcs"
    raise UsageError(
        "no-demo",
        found,
        "install robustcs from its wheel, or name the project file of a copy with --config",
    )


def report(call: Call) -> None:
    """Run all analyses that the inputs allow and write one HTML page and one PDF, with tables and figures.

    \b
    --output names the folder of the report (default: reports/NAME). It contains
      report.html, report.pdf   the report
      tables/                   all tables as LaTeX and CSV
      figures/                  SVG and PDF, in page width and column width
      results/                  all results as JSON
      turns.jsonl               all turns, which robustcs compare reads later

    Examples:
      robustcs report
      robustcs report --metric ndcg_cut_3 --metric map --output reports/paper
    """
    given, folder = call.given, _folder(call)
    from robustcs.project.parallel_io import jobs_of
    from robustcs.reporting.folder import report_folder, require_report_folder

    folder = folder or report_folder(call.project)
    require_report_folder(folder, call.project)
    inputs = Path(given["config"]).parent if given["config"] else Path()
    _make(_retrieved(call), folder, inputs, _command(given), jobs_of(given))


def _folder(call: Call) -> Path | None:
    """Return the folder of --output. Raises :class:`UsageError` for several."""
    if len(call.given["output"]) > 1:
        raise UsageError(
            "repeated-option",
            f"--output is given twice: {', '.join(call.given['output'])}",
            "give it once",
        )
    return next(map(Path, call.given["output"]), None)


def _retrieved(call: Call) -> Project:
    """Return the project after drawing its test sets, if it can, and retrieving its missing runs."""
    project = call.project
    if project.retrieval is None:
        return project
    from robustcs.project.requirements import is_experiment
    from robustcs.studies.robustness.experiment import with_testsets

    if is_experiment(project):
        try:
            project = with_testsets(call.workspace(), tell)
        except UsageError as error:
            tell(f"no test sets: {error}")
    return call.with_runs(project, samples=True, cells=True).project


def _make(project: Project, folder: Path, inputs: Path, command: str, jobs: Jobs) -> None:
    """Write the report of ``project`` into ``folder``; print progress and a summary on stderr.

    ``inputs`` is the folder of the project file.
    """
    from robustcs.reporting.build import make_report
    from robustcs.reporting.folder import require_report_folder, write_report

    require_report_folder(folder, project)
    made = make_report(
        project,
        folder=inputs,
        command=command,
        jobs=jobs,
        track=track,
        tell=lambda message: tell(f"· {message}"),
    )
    written = write_report(folder, made.files)
    for what in made.lacking:
        tell(what)
    tell(
        f"{folder} contains {counted(len(made.files), 'file')}, {len(written)} of them new or changed"
    )
    for name in ("report.html", "report.pdf"):
        click.echo(harmless(f"wrote {folder / name}"))


def _command(given: Mapping[str, Any]) -> str:
    """Return the command line without options that do not affect the report; ``NAME=/a/b/FILE`` becomes ``NAME=FILE``."""
    words = ["robustcs", "report"]
    for name, value in given.items():
        if name in _NOT_IN_REPORT or value in (None, ()):
            continue
        for one in map(str, value if isinstance(value, tuple) else (value,)):
            system, equals, path = one.rpartition("=")
            shown = f"{system}{equals}{Path(path).name}" if Path(path).is_absolute() else one
            words += [f"--{name.replace('_', '-')}", shown]
    return " ".join(words)
