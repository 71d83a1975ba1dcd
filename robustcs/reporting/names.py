"""Files as a report names them, and what they hold: the same on every machine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from robustcs.inputs.files import sha256
from robustcs.inputs.paths import PooledFile, url_of


class Names:
    """Names relative to ``folder``, the place of the project file; each file is read once for its checksum."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._sums: dict[Path, str] = {}

    def shown(self, path: str | os.PathLike[str]) -> str:
        """As the project file or the command line names it; of an absolute name only the last part."""
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
        """SHA-256 of the file's bytes; None where it cannot be read, of which whoever reads it tells more."""
        if path not in self._sums:
            try:
                self._sums[path] = sha256(path)
            except OSError:
                return None
        return self._sums[path]

    def hide(self, text: str) -> str:
        """``text`` without the folder in front of its files' names."""
        return text.replace(f"{self.folder.as_posix()}/", "") if self.folder.parts else text

    def described(self, value: Any) -> Any:
        """A project or a part of it as JSON: files by name and contents, everything else as it is."""
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
