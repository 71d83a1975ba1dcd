"""Keep computed answers next to the report until something that they depend on changes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from robustcs.documents.files import write_text
from robustcs.errors import InputError
from robustcs.inputs.text import parse_json, read_json
from robustcs.kept import remembering, sealed_text, typed, unsealed
from robustcs.overwrite_guard import is_protected
from robustcs.project.report_files import Made, is_whole
from robustcs.reporting.names import checksum_of

#: Packages that affect numbers or drawings of a report.
LIBRARIES = ("matplotlib", "nltk", "numpy", "pandas", "pytrec-eval-terrier", "rouge-score", "sacrebleu", "scipy", "typst")

#: The format of a kept value; its key follows.
FORMAT = "robustcs kept 2"
#: Name, dependences and shape of the kept results of :func:`~robustcs.kept.remembered` functions, by their calls.
_NUMBERS = "numbers", None, dict[str, Any]
#: Names of kept values; no other file is ever removed.
_KEPT = re.compile(r"[a-z-]+-[0-9a-f]{64}\.json")


class Store:
    """Values by what they depend on, each a JSON file in ``folder``; without a folder, nothing is kept.

    ``fresh`` ignores kept values. ``tell`` receives a message about each damaged file.
    """

    def __init__(self, folder: Path | None, fresh: bool = False, tell: Callable[[str], None] = lambda message: None):
        self.folder = folder
        self.fresh = fresh
        self.tell = tell
        self.used: set[str] = set()
        self.computed: list[str] = []
        self._numbers: dict[str, Any] = {}

    def find(self, name: str, depends_on: Any, shape: Any) -> Any:
        """Return the kept value as ``shape`` (see :func:`~robustcs.kept.typed`); None if there is no usable one.

        The key is a checksum of ``depends_on`` (JSON), the program's own files and the versions of :data:`LIBRARIES`, so a
        value is found only if none of them changed.
        """
        key = _key(name, depends_on)
        self.used.add(key)
        path = None if self.folder is None or self.fresh else self.folder / key
        if path is not None and path.is_file():
            try:
                text = unsealed(f"{FORMAT} {key}", read_json(path, halves=True)).get("value")
                return typed(parse_json(typed(text, str)), shape)
            except (InputError, ValueError):
                self.tell(f"{path}: damaged or edited; this result is computed again")
        return None

    def keep(self, name: str, depends_on: Any, text: str, shape: Any) -> Any:
        """Keep a computed value, given as JSON, and return it as :meth:`find` will."""
        self.computed.append(name)
        self._write(_key(name, depends_on), text)
        return typed(json.loads(text), shape)

    def _write(self, key: str, text: str) -> None:
        if self.folder is not None:
            write_text(self.folder / key, sealed_text(f"{FORMAT} {key}", {"value": text}), make_parents=True)

    @cached_property
    def _known(self) -> dict[str, Any]:
        return self.find(*_NUMBERS) or {}

    def remembering(self) -> contextlib.AbstractContextManager[None]:
        """Reuse results of slow functions while an answer is computed, because usually only some of its inputs changed."""
        return remembering(self._known, self._numbers)

    def sums(self) -> dict[str, str]:
        """Return name → SHA-256 of the files of all kept values, except those of whole reports."""
        found = {}
        for path in [] if self.folder is None else self.folder.glob("*.json"):
            if _KEPT.fullmatch(path.name) and not path.name.startswith("report-") and path.is_file():
                with contextlib.suppress(OSError):
                    found[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
        return found

    def report(self, depends_on: Any) -> Made | None:
        """Return the record of the report, if it was made from the same, and its files and inputs are as it left them."""
        made: Made | None = self.find("report", depends_on, Made)
        if made is None or self.folder is None:
            return None
        # inputs first, because they are most likely to have changed
        same = all(os.path.isfile(path) and checksum_of(Path(path)) == told for path, told in made["inputs"].items())
        return made if same and is_whole(self.folder.parent, made["files"]) and made["kept"] == self.sums() else None

    def prune(self) -> None:
        """Keep the results of slow functions, remove values that were not used, and exclude all from version control."""
        if self.folder is None or not self.folder.is_dir():
            return
        key = _key(*_NUMBERS[:2])
        self.used.add(key)
        if self._numbers and self._numbers.keys() - self._known.keys():
            self._write(key, json.dumps(self._numbers))
        for path in self.folder.glob("*.json"):
            if _KEPT.fullmatch(path.name) and path.name not in self.used and not is_protected(path):
                path.unlink(missing_ok=True)
        write_text(self.folder / ".gitignore", "*.json\n!/manifest.json\n!/state.json\n")


def _key(name: str, depends_on: Any) -> str:
    text = json.dumps([name, depends_on, program()], sort_keys=True)
    return f"{name}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}.json"


@cache
def program() -> str:
    """Return a checksum of the program's files and the versions of its libraries."""
    digest = hashlib.sha256()
    root = Path(__file__).parent.parent
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(files):
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                digest.update(os.path.relpath(path, root).encode() + b"\0" + file.read())
    digest.update(repr(library_versions()).encode())
    return digest.hexdigest()


@cache
def library_versions() -> dict[str, str]:
    """Return the versions of :data:`LIBRARIES`."""
    versions = {}
    for name in LIBRARIES:
        with contextlib.suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions
