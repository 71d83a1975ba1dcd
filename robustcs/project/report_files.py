"""The files that a report wrote."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from robustcs.errors import InputError
from robustcs.inputs.text import read_json

#: The folder of a report for results as JSON.
RESULTS = "results"
#: File that lists the files of a report with their SHA-256, and its place in reports of earlier versions.
MANIFEST = "manifest.json"
_EARLIER = ".kept/manifest.json"
#: Names of files that a report writes, now or in earlier versions.
INSIDE = re.compile(r"(?:(?:figures|results|tables|\.kept(?:/results)?)/)?[\w.-]+")


def files_of_report(folder: Path) -> dict[str, str]:
    """Return name → SHA-256 of the files that the report in ``folder`` wrote, with its manifest; empty without a report."""
    for name in (MANIFEST, _EARLIER):
        text = contents_of(folder / name)
        if text is None:
            continue
        try:
            data = read_json(folder / name)
        except InputError:
            return {}
        if not isinstance(data, dict) or "report.html" not in data:
            return {}
        found = {one: checksum for one, checksum in data.items() if INSIDE.fullmatch(one)}
        return found | {name: hashlib.sha256(text).hexdigest()}
    return {}


def checksums(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return name → SHA-256."""
    return {name: hashlib.sha256(data).hexdigest() for name, data in sorted(files.items())}


def contents_of(path: Path) -> bytes | None:
    """Return the bytes of a file; None if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError:
        return None
