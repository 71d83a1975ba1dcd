"""Names of files for a report: the same on every machine."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from robustcs.inputs.paths import url_of
from robustcs.wording import Note

V = TypeVar("V")


class Names:
    """Names of files relative to ``folder``, the folder of the project file; ``files`` are the inputs of the project."""

    def __init__(self, folder: Path, files: Sequence[Path] = ()):
        self.folder = folder
        self.files = files

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

    @cached_property
    def _hidden(self) -> re.Pattern[str] | None:
        """The folder in front of names of files; a relative folder only before the files of the project.

        ``w/`` also occurs in other words.
        """
        inside = [
            path.relative_to(self.folder).as_posix()
            for path in self.files
            if path.is_relative_to(self.folder)
        ]
        if not self.folder.parts or not (inside or self.folder.is_absolute()):
            return None
        known = (
            ""
            if self.folder.is_absolute()
            else rf"(?=(?:{'|'.join(map(re.escape, inside))})(?![\w+/]))"
        )
        folder = f"{re.escape(self.folder.as_posix())}/"
        # the folder comes first in the pattern: megabytes are searched for it sixty times faster than for what is before it
        return re.compile(rf"{folder}(?<![\w./+-]{folder}){known}")

    def hide(self, value: V) -> V:
        """Return ``value`` without the folder in front of names of files, in each text inside it.

        ``value`` is a text, a dataclass or a collection of such values; all others stay as they are.
        """
        return value if self._hidden is None else self._without_folder(value)  # type: ignore[no-any-return]

    def _without_folder(self, value: Any) -> Any:
        if isinstance(value, Note):
            return Note.made(*map(self._without_folder, Note.parts(value)))
        if isinstance(value, str):
            assert self._hidden is not None
            return self._hidden.sub("", value)
        if is_dataclass(value) and not isinstance(value, type):
            return replace(
                value,
                **{
                    one.name: self._without_folder(getattr(value, one.name))
                    for one in fields(value)
                },
            )
        if isinstance(value, Mapping):
            return {key: self._without_folder(item) for key, item in value.items()}
        if type(value) is tuple:
            return tuple(map(self._without_folder, value))
        if type(value) is list:
            return list(map(self._without_folder, value))
        return value
