"""Write output files completely or not at all."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from robustcs.errors import OutputError, UsageError, not_written
from robustcs.inputs.files import sha256
from robustcs.messages import Message, OptionName
from robustcs.overwrite_guard import refuse_locked, refuse_outside, refuse_protected
from robustcs.tempfiles import temporary


def write_text(path: str | os.PathLike[str], text: str, *, make_parents: bool = False) -> None:
    """Write ``text`` as UTF-8, with its line ends unchanged; see :func:`write_bytes`.

    Halves of surrogate pairs (undecodable bytes), which UTF-8 cannot represent, become question marks.
    """
    write_bytes(path, text.encode("utf-8", "replace"), make_parents=make_parents)


def write_bytes(path: str | os.PathLike[str], data: bytes, *, make_parents: bool = False) -> None:
    """Write ``data`` to ``path`` so that a reader finds the old file or the whole new one, never a part of it.

    The data are written to a temporary file in the same folder, synced to disk, and renamed. An error or interruption
    removes the temporary file. A link stays a link, and its target is replaced. Anything but an ordinary file (a terminal, a
    pipe, ``/dev/stdout``) is written to directly.

    Raises
    ------
    OutputError
        If the folder does not exist (unless ``make_parents``) or is not writable, ``path`` is a folder, or the disk is full.
    UsageError
        If ``path`` is an input.
    """
    refuse_protected(path)
    try:
        target = Path(os.path.realpath(path, strict=False))
        if make_parents:
            target.parent.mkdir(parents=True, exist_ok=True)
        mode = _mode(path)
        if mode is not None and stat.S_ISDIR(mode):
            raise OutputError(path, "this is a folder", "name a file")
        # /dev/stdout may be an ordinary file that the shell has open; it must not be replaced.
        if mode is not None and (not stat.S_ISREG(mode) or Path(path).is_relative_to("/dev")):
            with open(path, "wb") as device:
                device.write(data)
        else:
            _replace(target, data, 0o644 & ~_umask() if mode is None else stat.S_IMODE(mode))
    except (OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError) and target.parent.is_dir():
            raise OutputError(
                path, f"{target.parent} does not accept new files", "choose another folder"
            ) from None
        raise not_written(path, error) from None


def replace_project(path: str | os.PathLike[str], text: str) -> None:
    """Replace the text of a project file, which nothing else overwrites, because the user asked for this change.

    The file is written as by :func:`write_bytes`. Raises :class:`UsageError` if it is write-protected, and
    :class:`UntrustedError` if a link leads out of the folder of its project.
    """
    refuse_outside(path)
    refuse_locked(path, "allow writing to it, or delete the marks in an editor")
    try:
        target = Path(os.path.realpath(path))
        _replace(
            target, text.encode("utf-8", "surrogateescape"), stat.S_IMODE(os.stat(target).st_mode)
        )
    except OSError as error:
        raise not_written(path, error) from None


def require_writable(path: str | os.PathLike[str]) -> None:
    """Check before long work that ``path`` can be written, including new parent folders; leave nothing behind.

    Raises :class:`OutputError` if it cannot, and :class:`UsageError` if ``path`` is an input.
    """
    refuse_protected(path)
    try:
        target = Path(os.path.realpath(path, strict=False))
        if target.is_dir():
            raise OutputError(path, "this is a folder", "name a file")
        nearest = next(folder for folder in target.parents if folder.exists())
        if not nearest.is_dir():
            raise OutputError(path, "a parent folder is a file", "choose another name")
        with temporary(nearest) as trial:
            trial.touch(exist_ok=False)
    except FileNotFoundError:
        raise OutputError(
            path, f"{nearest} does not accept new files", "choose another folder"
        ) from None
    except (OSError, ValueError) as error:
        raise not_written(path, error) from None


def write_folder(
    folder: str | os.PathLike[str], files: Mapping[str, str], overwrite: bool = False
) -> list[Path]:
    """Write ``files`` (name → content) into ``folder``, which is created if needed, and return their paths.

    An existing file with the same content is kept, so an interrupted command can be repeated. Raises :class:`UsageError`,
    before anything is written, for an existing file with other content (unless ``overwrite``), and for an input.
    """
    paths = {Path(folder) / name: text for name, text in files.items()}
    todo = {path: text for path, text in paths.items() if not _holds(path, text)}
    for path in todo:
        refuse_protected(path)
    taken = [path for path in todo if path.exists()]
    if taken and not overwrite:
        found = (
            f"{taken[0]} and {len(taken) - 1} more: exist"
            if len(taken) > 1
            else f"{taken[0]}: exists"
        )
        raise UsageError(
            "file-exists",
            f"{found} with other content",
            Message("name another ", OptionName("folder"), ", or add ", OptionName("overwrite")),
        )
    for path, text in todo.items():
        write_text(path, text, make_parents=True)
    return list(paths)


def _holds(path: Path, text: str) -> bool:
    return (
        path.is_file()
        and sha256(path) == hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    )


def _replace(target: Path, data: bytes, mode: int) -> None:
    with temporary(target.parent) as path:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(path, mode)
        os.replace(path, target)


def _mode(path: str | os.PathLike[str]) -> int | None:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def _umask() -> int:
    mask = os.umask(0o077)  # reading it requires setting it
    os.umask(mask)
    return mask
