"""Names and checksums of files for a report: the same on every machine."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from robustcs.inputs.files import sha256
from robustcs.inputs.paths import PooledFile, url_of


class Names:
    """Names of files relative to ``folder``, the folder of the project file, and their checksums, each computed once."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.sums: dict[Path, str | None] = {}

    def shown(self, path: str | os.PathLike[str]) -> str:
        """Return the name as in the project file or on the command line; of an absolute path elsewhere, only the last part."""
        url = url_of(path)
        if url is not None:
            return url
        path = Path(path)
        if path.is_relative_to(self.folder):
            return path.relative_to(self.folder).as_posix()
        if self._root is not None and path.is_absolute() and path.is_relative_to(self._root):
            return path.relative_to(self._root).as_posix()
        return path.name if path.is_absolute() else path.as_posix()

    @cached_property
    def _root(self) -> Path | None:
        return self.folder.resolve() if self.folder.parts else None

    def checksum(self, path: Path) -> str | None:
        """Return the SHA-256 of the file; None if it cannot be read, which its reader reports."""
        if path not in self.sums:
            self.sums[path] = checksum_of(path)
        return self.sums[path]

    def hide(self, text: str) -> str:
        """Return ``text`` without the folder in front of names of files.

        A relative folder is removed only before the files of the project, since ``w/`` also occurs in other words, and in
        figures as base64.
        """
        inside = [path.relative_to(self.folder).as_posix() for path in self.sums if path.is_relative_to(self.folder)]
        if not self.folder.parts or not (inside or self.folder.is_absolute()):
            return text
        known = "" if self.folder.is_absolute() else rf"(?=(?:{'|'.join(map(re.escape, inside))})(?![\w+/]))"
        folder = f"{re.escape(self.folder.as_posix())}/"
        # the folder comes first in the pattern: megabytes are searched for it sixty times faster than for what is before it
        return re.sub(rf"{folder}(?<![\w./+-]{folder}){known}", "", text)

    def described(self, value: Any) -> Any:
        """Return a project or a part of it as JSON, with the name and the checksum of every file."""
        if isinstance(value, PooledFile):
            return {"files": self.described(value.files), "names": list(value.names)}
        if isinstance(value, Path):
            return {"file": self.shown(value), "sha256": self.checksum(value)}
        if is_dataclass(value) and not isinstance(value, type):
            return {field.name: self.described(getattr(value, field.name)) for field in fields(value)}
        if isinstance(value, Mapping):
            return [[key, self.described(item)] for key, item in value.items()]
        if isinstance(value, tuple | list):
            return [self.described(item) for item in value]
        return value


def checksum_of(path: Path) -> str | None:
    """Return the SHA-256 of a file; None if it cannot be read."""
    try:
        return sha256(path)
    except OSError:
        return None
