"""The files that a report wrote; without numpy, so that an unchanged report is recognised in the time of a start."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TypedDict

from robustcs.errors import InputError
from robustcs.inputs.text import read_json

#: The folder of a report for files that people do not open: kept answers, results as JSON, the state, and the manifest.
KEPT = ".kept"
#: File that lists the files of a report with their SHA-256, and its place in reports of earlier versions.
MANIFEST = f"{KEPT}/manifest.json"
_EARLIER = "manifest.json"
#: Names of files that a report writes, now or in earlier versions.
INSIDE = re.compile(r"(?:(?:figures|results|tables|\.kept(?:/results)?)/)?[\w.-]+")


def files_of_report(folder: Path) -> dict[str, str]:
    """Return name → SHA-256 of the files that the report in ``folder`` wrote; empty if there is no report."""
    path = next((folder / name for name in (MANIFEST, _EARLIER) if (folder / name).is_file()), None)
    try:
        data = read_json(path) if path else None
    except InputError:
        return {}
    if path is None or not isinstance(data, dict) or "report.html" not in data:
        return {}
    found = {name: checksum for name, checksum in data.items() if INSIDE.fullmatch(name)}
    return found if path.parent.name == KEPT else {**found, _EARLIER: hashlib.sha256(path.read_bytes()).hexdigest()}


class Made(TypedDict):
    """A report that was written: its files, kept answers and inputs with their SHA-256, and the questions without an answer."""

    files: dict[str, str]
    kept: dict[str, str]
    inputs: dict[str, str | None]
    lacking: list[str]


def checksums(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return name → SHA-256."""
    return {name: hashlib.sha256(data).hexdigest() for name, data in sorted(files.items())}


def is_whole(folder: Path, sums: Mapping[str, str]) -> bool:
    """Return whether the folder contains a report with exactly these files, each with its SHA-256."""
    found = {name: data for name in sums if (data := contents_of(folder / name)) is not None}
    return files_of_report(folder) == checksums(found) == sums


def contents_of(path: Path) -> bytes | None:
    """Return the bytes of a file; None if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError:
        return None
