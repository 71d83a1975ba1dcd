"""``robustcs init``."""

from __future__ import annotations

import click

from robustcs.cli.terminal import harmless


@click.command(short_help="Write a robustcs.toml from the files in a folder.")
@click.argument("folder", default=".", type=click.Path(exists=True, file_okay=False))
def init(folder: str) -> None:
    """Write a commented robustcs.toml from the files in FOLDER (default: this folder).

    Runs, qrels, texts and answers are told by their content, their roles guessed from their names (raw, original; manual,
    human; anything else is a rewriter or a further system). Read the file before you rely on it. An existing robustcs.toml is
    never overwritten.
    """
    from pathlib import Path

    from robustcs.documents.files import write_text
    from robustcs.errors import UsageError
    from robustcs.project.scaffold import find_inputs, find_texts, judged_turns, write_config
    from robustcs.protected import CONFIG_NAME

    target = Path(folder) / CONFIG_NAME
    if target.exists():
        raise UsageError("config-exists", f"{target} is there already", "edit it, or move it away first")
    found = find_inputs(Path(folder))
    if not found:
        raise UsageError("nothing-found", f"no runs, qrels, texts or answers in {folder}", "name the folder that has them")
    texts = find_texts(Path(folder), found.get("texts", []), judged_turns(Path(folder), found))
    write_text(target, write_config(found, Path(folder).resolve().name, texts))
    click.echo(harmless(f"wrote {target}: look through it, then try robustcs check"))
