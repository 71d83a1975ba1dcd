"""``robustcs init``."""

from __future__ import annotations

import click

from robustcs.cli.pages import PagedCommand
from robustcs.cli.terminal import harmless


@click.command(cls=PagedCommand, short_help="Write a robustcs.toml from the files in a folder.")
@click.argument("folder", default=".", type=click.Path(exists=True, file_okay=False))
@click.option("--explain", is_flag=True, help="Write nothing; say what every file was taken for, or why it was left aside.")
def init(folder: str, explain: bool) -> None:
    """Write a commented robustcs.toml from the files in FOLDER (default: this folder).

    Files are told by their content: runs, judgments, texts of today's collections, scores, answers, and those of clariq,
    agreement and crowd. Their roles are guessed from names (raw, original; manual, human), from the turns that they share, and
    from what was ranked: texts belong to a run where equal questions got equal rankings. Look through the file before you rely
    on it. An existing robustcs.toml is never overwritten.

    \b
    Examples:
      robustcs init
      robustcs init --explain
    """
    from pathlib import Path

    from robustcs.documents.files import write_text
    from robustcs.errors import UsageError
    from robustcs.overwrite_guard import CONFIG_NAME
    from robustcs.project.guess import guess
    from robustcs.project.scaffold import explanation, name_of, write_config
    from robustcs.wording import counted

    target = Path(folder) / CONFIG_NAME
    if target.exists() and not explain:
        raise UsageError("config-exists", f"{target} is there already", "edit it, or move it away first")
    made = guess(Path(folder))
    if explain:
        click.echo("\n".join(map(harmless, explanation(made).split("\n"))))
        return
    if not made.folder.taken:
        raise UsageError("nothing-found", f"no runs, qrels, texts or answers in {folder}", "name the folder that has them")
    write_text(target, write_config(made, name_of(Path(folder))))
    click.echo(harmless(f"wrote {target}: look through it, then try robustcs check"))
    for path in made.by_models:
        click.echo(harmless(f"{path} is not taken as qrels: {made.folder.aside[path]}"))
    if made.folder.aside:
        click.echo(f"left aside {counted(len(made.folder.aside), 'file')}: robustcs init --explain says which, and why")
