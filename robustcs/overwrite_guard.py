"""Protection of inputs: files that were read are recorded here, and code that writes a file checks this record first.

Files outside the folder of a project are protected too, if its project file or a link would redirect output to them, unless
the user trusts the project (docs/safety.md).

The record is global to the process; the command line starts each command with an empty one. Code that reads files calls
:func:`protect`, and code that writes files calls :func:`refuse_protected`, so commands need no checks of their own.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from robustcs.errors import Problem, UntrustedError, UsageError
from robustcs.messages import Either, Message

#: The name of a project file. Project files are never overwritten.
CONFIG_NAME = "robustcs.toml"

StrPath = str | os.PathLike[str]


class _Record:
    """The record; all paths are without links.

    ``read``: never written to. ``growing``: only appended to. ``roots``: folder of an untrusted project → files outside it that
    the project names. ``trusted``: all projects are trusted.
    """

    def __init__(self) -> None:
        self.read: set[str] = set()
        self.growing: set[str] = set()
        self.roots: dict[str, set[str]] = {}
        self.trusted = False


_known = _Record()


@contextmanager
def protection() -> Iterator[None]:
    """Use an empty record for one command, and restore the previous one afterwards."""
    global _known
    before, _known = _known, _Record()
    try:
        yield
    finally:
        _known = before


def protect(paths: Iterable[StrPath], growing: bool = False) -> None:
    """Protect these files, and all files in these folders, from being written to. They need not exist.

    ``growing``: files of judgments to which a judging session may append.
    """
    known, folder_of = _known.growing if growing else _known.read, cache(os.path.realpath)
    for path in paths:
        folder, name = os.path.split(path)
        # links of a folder are resolved once: it may have hundreds of runs
        place = os.path.join(folder_of(folder), name)
        plain = os.name == "posix" and name not in ("", ".", "..") and not os.path.islink(place)
        known.add(place if plain else _real(path))


def refuse_protected(path: StrPath, adds: bool = False) -> None:
    """Raise :class:`UsageError` if ``path`` is write-protected, or a project file or an input under any name, link or spelling.

    ``adds``: the file is only appended to. Raises :class:`UntrustedError` if an untrusted project redirects the output out of
    its folder.
    """
    refuse_outside(path)
    if is_protected(path, adds):
        found = f"{os.fspath(path)} is an input, which is never overwritten"
        raise UsageError("overwrites-input", found, "choose another name for the output")
    refuse_locked(path, "choose another name for the output")


def refuse_locked(path: StrPath, advice: str) -> None:
    """Raise :class:`UsageError` with this advice if a file is write-protected for all.

    Renaming a new file onto it would not ask, nor would the superuser.
    """
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return
    if stat.S_ISREG(found.st_mode) and not found.st_mode & 0o222:
        raise UsageError("overwrites-locked", f"{os.fspath(path)} is write-protected", advice)


# ---------------------------------------------------------------- untrusted projects


#: Advice about a project that names something outside its folder.
TRUST = Message(
    Either(
        "add --trust if you trust this project (in Python: open_project(FILE, trust=True))",
        "use open_project(FILE, trust=True) if you trust this project",
    )
)


def trust_projects() -> None:
    """Allow all projects to name URLs, pipes, and paths outside their folders."""
    _known.trusted = True


def is_trusted() -> bool:
    """Return whether :func:`trust_projects` was called."""
    return _known.trusted


def confine(root: StrPath, named: Iterable[StrPath], trusted: bool) -> None:
    """Forbid writing through links that lead out of ``root``, and to the ``named`` files outside it.

    ``trusted``: remove this restriction.
    """
    if trusted:
        _known.roots.pop(os.path.abspath(root), None)
    else:
        _known.roots[os.path.abspath(root)] = {
            _real(path) for path in named if not is_inside(path, root)
        }


def is_inside(path: StrPath, root: StrPath) -> bool:
    """Return whether ``path`` is below ``root``, both without links."""
    return Path(_real(path)).is_relative_to(_real(root))


def refuse_outside(path: StrPath, owner: StrPath | None = None) -> None:
    """Raise :class:`UntrustedError` if writing ``path`` would change a file outside the folder of a project.

    ``owner``: the file to which ``path``, next to it, belongs.
    """
    if _known.trusted:
        return
    for root, named in _known.roots.items():
        linked = Path(os.path.abspath(path)).is_relative_to(root) and not is_inside(path, root)
        if linked or not named.isdisjoint((_real(path), _real(owner or path))):
            found = f"would be written outside the project folder{f' ({_real(path)})' if linked else ''}"
            raise UntrustedError([Problem(path, None, found, TRUST, "not-trusted")])


def is_protected(path: StrPath, adds: bool = False) -> bool:
    """Return whether ``path`` is an input or a project file; see :func:`refuse_protected`."""
    real = _real(path)
    if os.path.exists(real) and _identity(real) is None:
        return False  # writing to a terminal or pipe destroys nothing
    if CONFIG_NAME in (
        os.path.basename(os.fspath(path)),
        os.path.basename(real),
    ) and os.path.exists(real):
        return True
    known = _known.read if adds else _known.read | _known.growing
    places = (real, *filter(os.path.isdir, map(str, Path(real).parents)))
    return not known.isdisjoint(places) or _same_file(places, known)


def _same_file(places: Iterable[str], known: Iterable[str]) -> bool:
    """Return whether one of ``places`` is a ``known`` file under another name: a hard link, or another case of letters."""
    there = set(filter(None, map(_identity, places)))
    return bool(there) and any(_identity(path) in there for path in known)


def _identity(path: str) -> tuple[int, int] | None:
    """Return device and inode of a file or folder; None for anything else."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (
        (found.st_dev, found.st_ino)
        if stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
        else None
    )


def _real(path: StrPath) -> str:
    return os.path.normcase(os.path.realpath(path))
