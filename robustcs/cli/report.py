"""``robustcs report``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from robustcs.cli.options import Options, load_project, shared_options
from robustcs.cli.retrieved import answered
from robustcs.cli.terminal import harmless, tell

if TYPE_CHECKING:
    from robustcs.project.model import Project


@click.command(short_help="All analyses that the inputs allow, in one folder.")
@click.option("--fresh", is_flag=True, help="Compute everything again, whatever was kept from the last time.")
@shared_options
def report(options: Options, fresh: bool) -> None:
    """All analyses that the inputs allow, as one HTML page and one PDF, with their tables and figures.

    \b
    --output names the folder (default: reports/NAME, from the project's name). It gets
      report.html, report.pdf   the report
      tables/                   every table as LaTeX, and all data as CSV
      results/                  every result as JSON
      figures/                  every figure as SVG and PDF
    Running it again computes only what changed: inputs by their contents, settings, program.

    \b
    Examples:
      robustcs report
      robustcs report --metric ndcg_cut_3 --metric map --output reports/paper
    """
    from robustcs.errors import UsageError
    from robustcs.reporting.folder import report_folder

    if len(options.output) > 1:
        raise UsageError("several-outputs", "a report is one folder", "name one with --output")
    if options.format or options.table:
        raise UsageError("no-format", "a report is always one folder with HTML and PDF", "leave out --format and --table")
    project = answered(load_project(options), options)
    folder = Path(options.output[0]) if options.output else report_folder(project)
    make(project, folder, Path(options.config).parent if options.config else Path(), _command(options), options.jobs, fresh)


def make(project: Project, folder: Path, inputs: Path, command: str, jobs: int, fresh: bool = False) -> None:
    """Write the report of ``project`` into ``folder``, telling on stderr what is being done and at the end what there is.

    ``inputs`` is the folder of the project file.
    """
    from robustcs.cli.progress import track
    from robustcs.errors import OutputError
    from robustcs.reporting.build import make_report
    from robustcs.reporting.folder import STORE, write_report
    from robustcs.reporting.store import Store
    
    if folder.exists() and not folder.is_dir():
        raise OutputError(folder / "report.html", "its folder would have the name of a file", "choose another name")
    store = Store(folder / STORE, fresh)
    made = make_report(
        project, folder=inputs, command=command, jobs=jobs, track=track,
        tell=lambda message: tell(f"· {message}"), store=store,
    )  # fmt: skip
    written = write_report(folder, made.files)
    for note in made.document.notes:
        if note.startswith("Left out: "):
            tell(note)
    tell(f"{len(made.files)} files in {folder}, {len(written)} of them new or changed")
    for name in ("report.html", "report.pdf"):
        click.echo(harmless(f"wrote {folder / name}"))


def _command(options: Options) -> str:
    """The command line as far as it says what is in the report; of absolute names only the last part."""
    from dataclasses import fields

    words = ["robustcs", "report"]
    for field in fields(Options):
        value = getattr(options, field.name)
        if field.name in ("output", "format", "table", "jobs") or value in (None, ()):
            continue
        for one in value if isinstance(value, tuple) else (value,):
            words += [f"--{field.name.replace('_', '-')}", _short(str(one))]
    return " ".join(words)


def _short(text: str) -> str:
    """``NAME=/a/b/FILE`` → ``NAME=FILE``."""
    name, equals, value = text.rpartition("=")
    return f"{name}{equals}{Path(value).name}" if Path(value).is_absolute() else text
