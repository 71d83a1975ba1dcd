"""``robustcs demo``."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(short_help="The report on the demo collection.")
@click.option("--output", "-o", default="reports/demo", show_default=True, metavar="FOLDER", help="Where to write it.")
@click.option("--config", default="fixtures/robustcs.toml", show_default=True, metavar="FILE",
              help="The demo's project file, which comes with a checkout of robustcs.")  # fmt: skip
def demo(output: str, config: str) -> None:
    """The report on the demo collection: ten conversations with holes in the judgments and rewrites that go wrong."""
    from robustcs.cli.report import make
    from robustcs.errors import UsageError
    from robustcs.project import read_project

    if not Path(config).is_file():
        raise UsageError("no-demo", f"{config} is not here", "run this in a checkout of robustcs, or name it with --config")
    make(read_project(config), Path(output), Path(config).parent, "robustcs demo", jobs=1)
