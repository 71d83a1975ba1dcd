"""``robustcs report``."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robustcs.cli.options import ALWAYS, load_project, shared_options
from robustcs.cli.pages import PagedCommand
from robustcs.cli.terminal import harmless, tell
from robustcs.studies.study import FORMULATIONS, SCORING, SEED, UNIT

if TYPE_CHECKING:
    from robustcs.project.model import Project
    from robustcs.project.parallel_io import Jobs
    from robustcs.project.workspace import Workspace
    from robustcs.reporting.folder import Made
    from robustcs.reporting.store import Store

_USES = (
    *FORMULATIONS,
    "runs",
    "new_judgments",
    "judges",
    "paraphrases",
    "collection",
    "threshold",
    *SCORING,
    *UNIT,
    *SEED,
    "no_retrieve",
    *ALWAYS,
)
_HELP = """All analyses that the inputs allow, as one HTML page and one PDF, with their tables and figures.

    \b
    --output names the folder (default: reports/NAME). It gets
      report.html, report.pdf   the report
      tables/                   every table as LaTeX, and all data as CSV
      results/                  every result as JSON
      figures/                  SVG and PDF, as wide as a page and as a column
    Running it again computes only what changed: inputs, settings, program.
    --jobs N answers its questions side by side.

    \b
    Examples:
      robustcs report
      robustcs report --metric ndcg_cut_3 --metric map --output reports/paper
    """


def _run(output: str | None, fresh: bool, **given: Any) -> None:
    from robustcs.project.parallel_io import jobs_of
    from robustcs.reporting.folder import report_folder, require_report_folder

    project, jobs = load_project(_USES, given), jobs_of(given)
    folder = Path(output) if output is not None else report_folder(project)
    require_report_folder(folder, project)
    project = retrieved(project, jobs, not given["no_retrieve"])
    config = given["config"]
    make(project, folder, Path(config).parent if config else Path(), _command(given), jobs, fresh)


def retrieved(project: Project, jobs: Jobs, may_retrieve: bool) -> Project:
    """The project with a run for every text that waits for one, and with test sets where it can have some."""
    if project.retrieval is None:
        return project
    from robustcs.cli.progress import track
    from robustcs.project.retrieved import with_runs
    from robustcs.project.workspace import Workspace

    workspace = Workspace(project, jobs, track, may_retrieve)
    return with_runs(workspace.of(_with_testsets(workspace)), tell, samples=True)


def _with_testsets(workspace: Workspace) -> Project:
    """The project with test sets drawn from its paraphrases, where it has no groups and can retrieve them."""
    from robustcs.errors import UsageError
    from robustcs.studies.robustness.experiment import is_experiment, with_testsets

    if not is_experiment(workspace.project):
        return workspace.project
    try:
        return with_testsets(workspace, tell)
    except UsageError as error:
        tell(f"no test sets: {error}")
        return workspace.project


def make(project: Project, folder: Path, inputs: Path, command: str, jobs: Jobs, fresh: bool = False) -> None:
    """Write the report of ``project`` into ``folder``, telling on stderr what is being done and at the end what there is.

    ``inputs`` is the folder of the project file.
    """
    from robustcs.reporting.folder import STORE, Made, is_whole, require_report_folder
    from robustcs.reporting.names import Names
    from robustcs.reporting.store import Store, setting

    require_report_folder(folder, project)
    store = Store(folder / STORE, fresh, tell)
    depends_on = [Names(inputs).described(project), command, setting()]
    made, changed = store.find("report", depends_on, Made), 0
    if made is None or not is_whole(folder, made["files"]) or made["kept"] != store.sums():
        # a tenth of the time would go into looking for cycles, of which there are few
        gc.disable()
        try:
            made, changed = _made(project, folder, inputs, command, jobs, store)
        finally:
            gc.enable()
        store.keep("report", depends_on, made, Made)
    for what in made["lacking"]:
        tell(what)
    tell(f"{len(made['files'])} files in {folder}, {changed} of them new or changed")
    for name in ("report.html", "report.pdf"):
        click.echo(harmless(f"wrote {folder / name}"))


def _made(project: Project, folder: Path, inputs: Path, command: str, jobs: Jobs, store: Store) -> tuple[Made, int]:
    """Write what changed: what was made, and how many files were written."""
    from robustcs.cli.progress import track
    from robustcs.reporting.build import make_report
    from robustcs.reporting.folder import checksums, write_report

    made = make_report(
        project, folder=inputs, command=command, jobs=jobs, track=track,
        tell=lambda message: tell(f"· {message}"), store=store,
    )  # fmt: skip
    written = write_report(folder, made.files)
    lacking = [note for note in made.document.notes if note.startswith("Not answered: ")]
    return {"files": checksums(made.files), "kept": store.sums(), "lacking": lacking}, len(written)


def _command(given: Mapping[str, Any]) -> str:
    """The command line as far as it says what is in the report; of absolute names only the last part."""
    words = ["robustcs", "report"]
    for name, value in given.items():
        if name in ("jobs", "dask", "no_retrieve") or value in (None, ()):
            continue
        for one in value if isinstance(value, tuple) else (value,):
            words += [f"--{name.replace('_', '-')}", _short(str(one))]
    return " ".join(words)


def _short(text: str) -> str:
    """``NAME=/a/b/FILE`` → ``NAME=FILE``."""
    name, equals, value = text.rpartition("=")
    return f"{name}{equals}{Path(value).name}" if Path(value).is_absolute() else text


report = PagedCommand(
    "report",
    params=[
        click.Option(["--output", "-o"], metavar="FOLDER", help="The folder to write (default: reports/NAME)."),
        click.Option(["--fresh"], is_flag=True, help="Compute everything again, whatever was kept from the last time."),
        *shared_options(_USES),
    ],
    callback=_run,
    help=_HELP,
    short_help="All analyses that the inputs allow, in one folder.",
)
