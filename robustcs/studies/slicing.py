"""How a study is asked to split turns: its options."""

from __future__ import annotations

import click

from robustcs.slicing.words import BY_IDS, BY_TEXTS, TEXTS

_WORDS = ", ".join((*BY_IDS, *BY_TEXTS))


def slices_option(more: str = "") -> click.Option:
    """``--slices``, repeatable; ``more`` is what this study adds to its help."""
    return click.Option(
        ["--slices"], multiple=True, metavar="WHAT",
        help=f"Split the turns by {_WORDS}, all that texts say ({TEXTS}), or the columns of a TSV with a header and a column of"
        f" turn ids; repeat for several.{more}",
    )  # fmt: skip


def find_option(what: str) -> click.Option:
    """``--find-slices``; ``what`` is lower there."""
    return click.Option(
        ["--find-slices"], is_flag=True,
        help=f"Look for slices with {what}: rules of one or two conditions on --slices (default: depth and {TEXTS}), corrected"
        " for their number.",
    )  # fmt: skip
