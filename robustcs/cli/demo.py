"""``robustcs demo``."""

from __future__ import annotations

from pathlib import Path

import click

from robustcs.cli.pages import PagedCommand

_PACKAGE = Path(__file__).resolve().parent.parent
#: Where the demo collection is: in an installed package, in a checkout (setup.py copies the one into the other).
_COLLECTIONS = (_PACKAGE / "demo", _PACKAGE.parent / "fixtures")


@click.command(cls=PagedCommand, short_help="The report on the demo collection.")
@click.option("--output", "-o", default="reports/demo", show_default=True, metavar="FOLDER", help="Where to write it.")
@click.option("--config", metavar="FILE", show_default="the collection that comes with robustcs",
              help="The project file of the demo.")  # fmt: skip
def demo(output: str, config: str | None) -> None:
    """The report on the demo collection: ten conversations with holes in the judgments and rewrites that go wrong.

    The collection comes with robustcs and is only read; its folder is told, and every command can be tried on it.

    \b
    Examples:
      robustcs demo
      robustcs demo --output /tmp/demo
    """
    from robustcs.cli.report import make
    from robustcs.project.parallel_io import HERE
    from robustcs.project.reading import read_project

    file = Path(config) if config else collection() / "robustcs.toml"
    make(read_project(file), Path(output), file.parent, "robustcs demo", HERE)
    click.echo(f"the collection is in {file.parent}", err=True)


def collection() -> Path:
    """The folder of the demo collection that comes with robustcs. Raises :class:`UsageError` where it does not."""
    from robustcs.errors import UsageError

    for folder in _COLLECTIONS:
        if (folder / "robustcs.toml").is_file():
            return folder
    raise UsageError(
        "no-demo", "the demo collection is not in this installation of robustcs",
        "install robustcs from its wheel, or name the project file of a copy with --config",
    )  # fmt: skip
