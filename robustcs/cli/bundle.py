"""``robustcs bundle``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from robustcs.cli.options import ALWAYS, load_project, shared_options
from robustcs.cli.pages import PagedCommand
from robustcs.cli.terminal import harmless, tell

_USES = ("jobs", "no_retrieve", *ALWAYS)
_HELP = """Copy a study into one folder on which every analysis can be repeated elsewhere.

    FOLDER gets the project file and everything that it names: runs, with what says which texts they answer, qrels, texts,
    scores, answers, judges, and the passages that the runs retrieve or that are judged. Questions that no run answers are
    retrieved first. Repeating the study needs neither the index nor Java.

    \b
    Examples:
      robustcs bundle ../for-a-colleague
      robustcs bundle study-2026 --no-retrieve
    """


def _run(out: str, **given: Any) -> None:
    from robustcs.cli.progress import track
    from robustcs.cli.report import retrieved
    from robustcs.errors import UsageError
    from robustcs.overwrite_guard import CONFIG_NAME
    from robustcs.project.bundle import require_bundle_folder, write_bundle
    from robustcs.project.open_questions import retrievable, unanswered
    from robustcs.project.parallel_io import jobs_of
    from robustcs.project.workspace import Workspace
    from robustcs.wording import and_more, counted, some_of

    config, folder = Path(given["config"] or CONFIG_NAME), Path(out)
    if not config.exists():
        raise UsageError(
            "no-project", f"{config}: no such project file", "write one with robustcs init, or name it with --config"
        )
    project, jobs = load_project(_USES, given), jobs_of(given)
    require_bundle_folder(folder)
    workspace = Workspace(retrieved(project, jobs, not given["no_retrieve"]), jobs, track)
    waiting = []
    if project.retrieval is None:  # nothing could answer them
        waiting = [system for system in retrievable(workspace, samples=True) if system.open]
    made = write_bundle(config, project, workspace, folder)
    if waiting:
        tell(str(unanswered(waiting)))
    if made.passages < made.of:
        tell(f"{made.passages:,} of {counted(made.of, 'passage')}: those that a run retrieves or that are judged")
    for what, names in (("copied from outside the project folder", made.outside), ("not copied", made.left)):
        if names:
            tell(f"{what}: {some_of(names)}{and_more(len(names), 5)}")
    click.echo(harmless(f"wrote {folder}: {counted(made.files, 'file')}, {made.size / 1e6:,.1f} MB"))


bundle = PagedCommand(
    "bundle",
    params=[click.Argument(["out"], metavar="FOLDER"), *shared_options(_USES)],
    callback=_run,
    help=_HELP,
    short_help="The study in one folder that works elsewhere.",
)
