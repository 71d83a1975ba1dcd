"""What a report wrote into its folder, as the folder itself says it."""

from __future__ import annotations

import re
from pathlib import Path

from robustcs.errors import InputError
from robustcs.inputs.files import read_json

#: Lists the files of a report's folder with their SHA-256.
MANIFEST = "manifest.json"
#: Names of files that a report writes.
INSIDE = re.compile(r"(?:(?:figures|results|tables)/)?[\w.-]+")


def files_of_report(folder: Path) -> dict[str, str]:
    """Name → SHA-256 of what the report in ``folder`` wrote, of names inside the folder only; empty where there is none."""
    try:
        data = read_json(folder / MANIFEST) if (folder / MANIFEST).is_file() else None
    except InputError:
        return {}
    if not isinstance(data, dict) or "report.html" not in data:
        return {}
    return {name: checksum for name, checksum in data.items() if INSIDE.fullmatch(name)}
