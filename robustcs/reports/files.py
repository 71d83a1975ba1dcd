"""Writing output files: whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

from robustcs.errors import ExitCode, RobustcsError, UsageError
from robustcs.inputs.files import sha256


class OutputError(RobustcsError):
    """An output file could not be written; nothing of it was left behind."""

    exit_code = ExitCode.BAD_INPUT

    def __init__(self, path: str | os.PathLike[str], reason: str, advice: str = ""):
        self.path = path
        super().__init__("not-written", f"{os.fspath(path)}: not written, {reason}", advice)


def write_text(path: str | os.PathLike[str], text: str, *, make_parents: bool = False) -> None:
    """Write ``text`` as UTF-8 with the line ends it has; see :func:`write_bytes`.

    What UTF-8 cannot hold (halves of surrogate pairs, which stand for undecodable bytes) becomes a question mark.
    """
    write_bytes(path, text.encode("utf-8", "replace"), make_parents=make_parents)


def write_bytes(path: str | os.PathLike[str], data: bytes, *, make_parents: bool = False) -> None:
    """Write ``data`` to ``path`` so that a reader finds the old file or the whole new one, never a part of it.

    The data go to a temporary file of the same folder, reach the disk, and are then renamed; an error or interruption
    removes the temporary file. A link stays a link and its target is replaced. What is there but no ordinary file (a
    terminal, a pipe, ``/dev/stdout``) is written to directly.

    Raises
    ------
    OutputError
        Where the folder is absent (unless ``make_parents``) or closed for writing, ``path`` is a folder, or the disk is
        full.
    """
    try:
        target = Path(os.path.realpath(path, strict=False))
        if make_parents:
            target.parent.mkdir(parents=True, exist_ok=True)
        mode = _mode(path)
        if mode is not None and stat.S_ISDIR(mode):
            raise OutputError(path, "this is a folder", "name a file")
        # /dev/stdout may lead to an ordinary file that the shell holds open: that one must not be renamed away.
        if mode is not None and (not stat.S_ISREG(mode) or Path(path).is_relative_to("/dev")):
            with open(path, "wb") as device:
                device.write(data)
        else:
            _replace(target, data, 0o644 & ~_umask() if mode is None else stat.S_IMODE(mode))
    except FileNotFoundError:
        raise OutputError(path, "its folder does not exist", "make the folder first") from None
    except FileExistsError:
        raise OutputError(path, "its folder would have the name of a file", "choose another name") from None
    except NotADirectoryError:
        raise OutputError(path, "a part of its path is a file, not a folder", "check the path") from None
    except PermissionError:
        raise OutputError(path, "its folder may not be written to", "check the permissions") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise OutputError(path, reason[:1].lower() + reason[1:]) from None


def write_folder(
    folder: str | os.PathLike[str], files: Mapping[str, str], overwrite: bool = False
) -> list[Path]:
    """Write ``files`` (name → content) into ``folder``, which is made where it is absent, and return their paths.

    A file that is there already with the same content is left alone, so that a broken-off command can be repeated.
    Raises :class:`UsageError`, before anything is written, for one with other content unless ``overwrite``.
    """
    paths = {Path(folder) / name: text for name, text in files.items()}
    todo = {path: text for path, text in paths.items() if not _holds(path, text)}
    taken = [path for path in todo if path.exists()]
    if taken and not overwrite:
        more = f" and {len(taken) - 1} more" if len(taken) > 1 else ""
        raise UsageError(
            "file-exists", f"{taken[0]}{more}: there already, with other content", "name another --folder, or add --overwrite"
        )
    for path, text in todo.items():
        write_text(path, text, make_parents=True)
    return list(paths)


def _holds(path: Path, text: str) -> bool:
    return path.is_file() and sha256(path) == hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _replace(target: Path, data: bytes, mode: int) -> None:
    handle, name = tempfile.mkstemp(prefix=".robustcs-", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, mode)
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _mode(path: str | os.PathLike[str]) -> int | None:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def _umask() -> int:
    mask = os.umask(0o077)  # the only way to read it is to set it
    os.umask(mask)
    return mask
