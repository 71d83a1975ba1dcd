"""The options of studies that let local models work: where, and on how much at a time."""

from __future__ import annotations

import click

from robustcs.retrieval.models import DEVICES
from robustcs.studies.study import MOST


def device_options(device: str | None, batch: int | None) -> tuple[click.Option, ...]:
    """``--device`` and ``--batch`` with these defaults; None where the project file has them."""
    return (
        click.Option(["--device"], type=click.Choice(DEVICES), default=device, show_default=True,
                     help="Where models work; auto is a GPU where there is one, in half precision."),
        click.Option(["--batch"], type=click.IntRange(1, MOST), default=batch, show_default=True, metavar="N",
                     help="Texts that a model gets at a time."),
    )  # fmt: skip
