"""Write tables of a benchmark into a page of the documentation; standard library only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def between(text: str, name: str, lines: Sequence[str]) -> str:
    """Return the page with ``lines`` between its markers ``<!-- NAME -->`` and ``<!-- /NAME -->``.

    Raises ``ValueError`` if a marker is missing.
    """
    start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    before, found, rest = text.partition(start)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"the page has no markers for {name}")
    return "".join([before, start, *(f"{line}\n" for line in lines), end, after])


def put(page: Path, name: str, lines: Sequence[str]) -> None:
    """Replace the lines between these markers in the file of a page."""
    page.write_text(between(page.read_text(encoding="utf-8"), name, lines), encoding="utf-8")
