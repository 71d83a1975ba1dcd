"""``NAME=FILE``, as options give files a name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from robustcs.errors import UsageError


def assigned(option: str, what: str, text: str) -> tuple[str, str]:
    """NAME and FILE of ``NAME=FILE``. Raises :class:`UsageError` for anything else."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise UsageError("bad-assignment", f"{option} {text}", f"write {option} {what}=FILE")
    return _utf8(name), value


def named(text: str) -> tuple[str | None, str]:
    """``NAME=FILE``, or a bare ``FILE`` (also one with an equals sign in its name, where that file exists)."""
    name, equals, path = text.partition("=")
    if equals and name and path and not Path(text).exists():
        return _utf8(name), path
    return None, text


def _utf8(name: str) -> str:
    """``name``, where the terminal gave it in UTF-8: a file may have any bytes as its name, a system in a table may not."""
    from robustcs.inputs.records import is_whole

    if not is_whole(name):
        raise UsageError("not-utf8", f"the name {name!r} is not UTF-8", "write it in UTF-8")
    return name


def distinct(option: str, names: Sequence[str], what: str = "") -> None:
    """Raises :class:`UsageError` where two files of an option, ``what`` they are, have the same name."""
    if len(set(names)) < len(names):
        found = f"two {what or f'files of {option}'} have the same name"
        raise UsageError("repeated-run", found, f"give every {option} a NAME of its own")
