"""The folder of a report on disk."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path

from robustcs.documents.files import require_writable, write_bytes, write_text
from robustcs.errors import not_written
from robustcs.overwrite_guard import is_protected, refuse_protected
from robustcs.project.model import Project, protect_inputs
from robustcs.project.report_files import MANIFEST, RESULTS, checksums, contents_of, files_of_report
from robustcs.stored import locked


def report_folder(project: Project) -> Path:
    """Return ``reports/NAME``, with a name that is safe for a folder."""
    name = re.sub(r"[^\w.-]+", "-", project.name).strip("-.").lower()
    return Path("reports") / (name[:100] or "report")


def require_report_folder(folder: Path, project: Project) -> None:
    """Check before the work that the report of ``project`` can be written into ``folder``.

    Raises :class:`OutputError` if the folder cannot be written, and :class:`UsageError` if a file of the report is an input.
    """
    protect_inputs(project)
    for name in (
        "report.html",
        "report.pdf",
        MANIFEST,
        *(f"{part}/report" for part in ("tables", "figures", RESULTS)),
    ):
        require_writable(folder / name)


def write_report(folder: Path, files: Mapping[str, bytes]) -> list[str]:
    """Write the files that changed and the manifest. Return the names of the files written.

    Files of an earlier report that this one does not have are removed, unless they were changed since or are inputs now.
    Raises :class:`UsageError`, before anything is written, if a file of the report is an input.
    """
    for name in (*files, MANIFEST):
        refuse_protected(folder / name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise not_written(folder, error) from None
    with locked(folder):
        return _replace(folder, files)


def _replace(folder: Path, files: Mapping[str, bytes]) -> list[str]:
    written = []
    for name, data in files.items():
        if contents_of(folder / name) != data:
            write_bytes(folder / name, data, make_parents=True)
            written.append(name)
    for name, checksum in files_of_report(folder).items():
        old = contents_of(folder / name)
        own = old is not None and hashlib.sha256(old).hexdigest() == checksum
        if name not in (*files, MANIFEST) and own and not is_protected(folder / name):
            (folder / name).unlink()
    write_text(folder / MANIFEST, json.dumps(checksums(files), indent=1) + "\n", make_parents=True)
    return written
