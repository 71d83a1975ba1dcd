"""Answers that were computed before, kept beside the report until something that they depend on changes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import platform
import re
import time
from collections.abc import Callable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from robustcs.documents.dates import source_date
from robustcs.documents.files import write_text
from robustcs.errors import InputError
from robustcs.inputs.text import read_json
from robustcs.kept import sealed, typed, unsealed
from robustcs.overwrite_guard import is_protected

#: Packages whose numbers or drawings stand in a report.
LIBRARIES = ("matplotlib", "numpy", "pandas", "pyarrow", "pytrec-eval-terrier", "rouge-score", "sacrebleu", "scipy", "typst")

#: What a kept value says of itself, before its key.
FORMAT = "robustcs kept 1"
#: The names of kept values: nothing else is ever removed.
_KEPT = re.compile(r"[a-z-]+-[0-9a-f]{64}\.json")


class Store:
    """Values by what they depend on, one JSON file each in ``folder``; None keeps nothing, ``fresh`` uses nothing kept.

    ``tell`` is told of files that are damaged.
    """

    def __init__(self, folder: Path | None, fresh: bool = False, tell: Callable[[str], None] = lambda message: None):
        self.folder = folder
        self.fresh = fresh
        self.tell = tell
        self.used: set[str] = set()
        self.computed: list[str] = []

    def find(self, name: str, depends_on: Any, shape: Any) -> Any:
        """The value that was kept, as ``shape`` (see :func:`~robustcs.kept.typed`); None where there is none that can be used.

        The key is a checksum of ``depends_on`` (JSON) together with the program's own files and the versions of
        :data:`LIBRARIES`, so that a value is found only where nothing changed.
        """
        key = _key(name, depends_on)
        self.used.add(key)
        path = None if self.folder is None or self.fresh else self.folder / key
        if path is not None and path.is_file():
            try:
                return typed(unsealed(f"{FORMAT} {key}", read_json(path, halves=True)).get("value"), shape)
            except (InputError, ValueError):
                self.tell(f"{path} is not as it was written; this is computed again")
        return None

    def keep(self, name: str, depends_on: Any, value: Any, shape: Any) -> Any:
        """Keep a ``value`` that was computed; as it will be found again."""
        self.computed.append(name)
        value = json.loads(json.dumps(value))
        if self.folder is not None:
            key = _key(name, depends_on)
            write_text(self.folder / key, json.dumps(sealed(f"{FORMAT} {key}", {"value": value})), make_parents=True)
        return typed(value, shape)

    def sums(self) -> dict[str, str]:
        """Name → SHA-256 of every file of a kept value, but for those of whole reports."""
        found = {}
        for path in [] if self.folder is None else self.folder.glob("*.json"):
            if _KEPT.fullmatch(path.name) and not path.name.startswith("report-") and path.is_file():
                with contextlib.suppress(OSError):
                    found[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
        return found

    def prune(self) -> None:
        """Forget what was not used, and keep the folder out of version control."""
        if self.folder is None or not self.folder.is_dir():
            return
        for path in self.folder.glob("*.json"):
            if _KEPT.fullmatch(path.name) and path.name not in self.used and not is_protected(path):
                path.unlink(missing_ok=True)
        write_text(self.folder / ".gitignore", "*\n")


def _key(name: str, depends_on: Any) -> str:
    text = json.dumps([name, depends_on, program()], sort_keys=True)
    return f"{name}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}.json"


@cache
def program() -> str:
    """A checksum of the program's files and of the versions that it runs with."""
    digest = hashlib.sha256()
    root = Path(__file__).parent.parent
    for path in sorted(root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    digest.update(repr(library_versions()).encode())
    return digest.hexdigest()


def setting() -> list[str]:
    """What a report says of where and when it was made: Python's version, and the day."""
    return [platform.python_version(), time.strftime("%Y-%m-%d", time.gmtime(source_date()))]


def library_versions() -> dict[str, str]:
    """The versions of :data:`LIBRARIES`."""
    versions = {}
    for name in LIBRARIES:
        with contextlib.suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions
