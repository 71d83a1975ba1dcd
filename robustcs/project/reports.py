"""What a report wrote into its folder, as the folder itself says it."""

from __future__ import annotations

import json
import re
from pathlib import Path

#: Lists the files of a report's folder with their SHA-256.
MANIFEST = "manifest.json"
_INSIDE = re.compile(r"(?:(?:figures|results|tables)/)?[\w.-]+")


def files_of_report(folder: Path) -> dict[str, str]:
    """Name → SHA-256 of what the report in ``folder`` wrote, of names inside the folder only; empty where there is none."""
    try:
        data = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(data, dict) or "report.html" not in data:
        return {}
    return {name: checksum for name, checksum in data.items() if _INSIDE.fullmatch(name)}
