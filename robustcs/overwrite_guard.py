"""Inputs are never changed: what is read is known here, and everything that writes a file asks first.

So are places outside a project's folder, where its file or a link in its folder would lead what is written, unless the user
trusts it (docs/safety.md).

All this holds for the whole process; the command line starts every command with an empty one. Whoever reads a project or files
of it calls :func:`protect`, whoever writes calls :func:`refuse_protected`, so that no command has a check of its own.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from robustcs.errors import Problem, UntrustedError, UsageError

#: The name of a project file; one is never overwritten, whichever project it belongs to.
CONFIG_NAME = "robustcs.toml"

StrPath = str | os.PathLike[str]


class _Known:
    """``read``: nobody writes to these. ``growing``: only who adds to what is there does. Without links.

    ``roots``: folder of a project that is not trusted → files outside it that the project names. ``trusted``: every project is.
    """

    def __init__(self) -> None:
        self.read: set[str] = set()
        self.growing: set[str] = set()
        self.roots: dict[str, set[str]] = {}
        self.trusted = False


_known = _Known()


@contextmanager
def protection() -> Iterator[None]:
    """A set of its own for one command; the former one is back afterwards."""
    global _known
    before, _known = _known, _Known()
    try:
        yield
    finally:
        _known = before


def protect(paths: Iterable[StrPath], growing: bool = False) -> None:
    """From now on these files, and all that folders among them hold, are not written to; they need not exist.

    ``growing``: judgments that a session of judging may add to.
    """
    (_known.growing if growing else _known.read).update(map(_real, paths))


def refuse_protected(path: StrPath, adds: bool = False) -> None:
    """Raise :class:`UsageError` where ``path`` is an input, by whatever name, link or spelling, or a project file.

    ``adds``: what is there stays, and something is added. Raises :class:`UntrustedError` where a project that is not trusted
    leads the writing out of its folder.
    """
    refuse_outside(path)
    if is_protected(path, adds):
        found = f"{os.fspath(path)} is a file that is read"
        raise UsageError("overwrites-input", found, "choose another name for the output")


# ---------------------------------------------------------------- projects that are not trusted


#: What to do about a project that asks for more than its folder.
TRUST = "add --trust if you trust this project (in Python: open_project(FILE, trust=True))"


def trust_projects() -> None:
    """From now on every project may name addresses, pipes, and places outside its folder."""
    _known.trusted = True


def is_trusted() -> bool:
    """Did somebody call :func:`trust_projects`?"""
    return _known.trusted


def confine(root: StrPath, named: Iterable[StrPath], trusted: bool) -> None:
    """From now on nothing is written through a link that leads out of ``root``, nor to the ``named`` files outside it.

    ``trusted``: anything may be written again.
    """
    if trusted:
        _known.roots.pop(os.path.abspath(root), None)
    else:
        _known.roots[os.path.abspath(root)] = {_real(path) for path in named if not is_inside(path, root)}


def is_inside(path: StrPath, root: StrPath) -> bool:
    """Is ``path``, without links, below ``root``?"""
    return Path(_real(path)).is_relative_to(_real(root))


def refuse_outside(path: StrPath, beside: StrPath | None = None) -> None:
    """Raise :class:`UntrustedError` where writing ``path`` would change something outside the folder of a project.

    ``beside``: the file whose place decides that of ``path``.
    """
    if _known.trusted:
        return
    for root, named in _known.roots.items():
        linked = Path(os.path.abspath(path)).is_relative_to(root) and not is_inside(path, root)
        if linked or not named.isdisjoint((_real(path), _real(beside or path))):
            found = f"would be written outside the project folder{f' ({_real(path)})' if linked else ''}"
            raise UntrustedError([Problem(path, None, found, TRUST, "not-trusted")])


def is_protected(path: StrPath, adds: bool = False) -> bool:
    """Is ``path`` an input, or a project file? See :func:`refuse_protected`."""
    real = _real(path)
    if os.path.exists(real) and _identity(real) is None:
        return False  # a terminal or a pipe loses nothing
    if CONFIG_NAME in (os.path.basename(os.fspath(path)), os.path.basename(real)) and os.path.exists(real):
        return True
    known = _known.read if adds else _known.read | _known.growing
    places = (real, *filter(os.path.isdir, map(str, Path(real).parents)))
    return not known.isdisjoint(places) or _same_file(places, known)


def _same_file(places: Iterable[str], known: Iterable[str]) -> bool:
    """Is one of ``places`` one of the ``known`` by another name: a hard link, or another spelling where case is ignored?"""
    there = set(filter(None, map(_identity, places)))
    return bool(there) and any(_identity(path) in there for path in known)


def _identity(path: str) -> tuple[int, int] | None:
    """What a file or folder is on this machine; None for what is absent or neither."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode) else None


def _real(path: StrPath) -> str:
    try:
        return os.path.normcase(os.path.realpath(path))
    except ValueError:  # such as a NUL in the name; opening it says so
        return os.fspath(path)
