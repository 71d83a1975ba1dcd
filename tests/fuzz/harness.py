"""Runs a reader on bytes and says what is wrong with its answer; keeps what was found, made small."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import math
import re
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from robustcs.errors import InputError, RobustcsError
from tests.fuzz import oracle
from tests.fuzz.formats import Format

CORPUS = Path(__file__).parent / "corpus"
#: A reader that takes longer than this for a few kB does not end; no reader comes near it.
HANGS_AFTER = 60
#: What is said of a file as a whole; all else that is wrong with a file of lines has a line.
WHOLE_FILE = {
    "unusable-rows", "empty", "damaged-file", "old-line-ends", "no-turns", "not-utf8", "not-json", "unknown-format", "pickle",
    "no-table", "no-labels", "other-kind", "compressed-twice", "zip-archive", "too-large",
}  # fmt: skip
#: A line of a message is read by people.
LONGEST_LINE = 1500
#: Findings above this size are kept packed: every reader unpacks.
_PACKED_FROM = 400
_TRIES = 300


@dataclass(frozen=True)
class Finding:
    """``key`` is the same for everything that has the same cause."""

    key: str
    detail: str


class _Endless(Exception):
    pass


@contextlib.contextmanager
def _ends() -> Iterator[None]:
    def stop(_: int, __: FrameType | None) -> None:
        raise _Endless

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, HANGS_AFTER)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def find(form: Format, path: Path, data: bytes) -> Finding | None:
    """What is wrong with how ``form`` reads ``data`` from ``path``; None where it gives a value or says clearly why not."""
    path.write_bytes(data)
    printed = io.StringIO()
    swallowed: list[str] = []
    hook, sys.unraisablehook = (
        sys.unraisablehook,
        lambda error: swallowed.append(repr(error.exc_value)),
    )
    value: Any = None
    refused: Exception | None = None
    try:
        with (
            warnings.catch_warnings(record=True) as warned, contextlib.redirect_stderr(printed),
            contextlib.redirect_stdout(printed), _ends(),
        ):  # fmt: skip
            warnings.simplefilter("always")
            try:
                value = form.read(path)
            except Exception as error:
                refused = error
    finally:
        sys.unraisablehook = hook
    if swallowed or warned or printed.getvalue():
        told = [
            *swallowed,
            *(f"{one.category.__name__}: {one.message}" for one in warned),
            printed.getvalue(),
        ]
        kind = re.match(r"\w*", told[0])
        return Finding(f"printed: {kind[0] if kind else ''}", "\n".join(told))
    if isinstance(refused, RobustcsError):
        return _unclear(refused, path, data)
    if refused is not None:
        return Finding(
            f"{type(refused).__name__} in {_place(refused)}",
            "".join(traceback.format_exception(refused))[-1500:],
        )
    return None if form.expected is None else _misread(form, value, data)


def _place(error: BaseException) -> str:
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if "/robustcs/" in frame.filename
    ]
    return f"{frames[-1].filename.rpartition('/robustcs/')[2]}:{frames[-1].name}" if frames else "?"


def _unclear(error: RobustcsError, path: Path, data: bytes) -> Finding | None:
    """A message is unclear that does not name the file and the line, or that nobody can read."""
    message = str(error)
    for line in message.split("\n"):
        if not line.startswith(str(path)) and not re.fullmatch(
            r"… and [0-9,]+ more problems", line
        ):
            return Finding(f"message without its file, {error.slug}", line[:300])
        if len(line) > len(str(path)) + LONGEST_LINE:
            return Finding(
                f"message without end, {error.slug}", f"{len(line)} characters: {line[:300]}"
            )
    if not isinstance(error, InputError):
        return Finding(f"{type(error).__name__} for a file, {error.slug}", message)
    try:
        text = oracle.plain(data)
    except ValueError:
        return None
    last = text.count(b"\n") + 1
    for problem in error.problems:
        if problem.line is not None and not 1 <= problem.line <= last:
            return Finding(f"line out of the file, {problem.slug}", message)
        if (
            problem.line is None
            and problem.slug not in WHOLE_FILE
            and not text.lstrip().startswith((b"{", b"["))
        ):
            return Finding(f"message without a line, {problem.slug}", message)
    return None


def _misread(form: Format, value: Any, data: bytes) -> Finding | None:
    assert form.expected is not None
    found = form.found(value)
    try:
        expected = form.expected(data)
    except (ValueError, IndexError, TypeError, AttributeError) as error:
        return Finding(
            f"accepted what means nothing, {type(error).__name__}", f"{error!r}\n{found!r}"[:600]
        )
    if expected == oracle.UNKNOWN or _same(expected, found):
        return None
    return Finding(
        "accepted with another meaning", f"expected {expected!r}\nfound    {found!r}"[:1200]
    )


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


# ---------------------------------------------------------------- what was found, made small and kept


def smaller(form: Format, path: Path, data: bytes, key: str) -> bytes:
    """``data`` with as much left out as can be while the same is wrong with it."""
    tries = 0
    for size in (len(data) // 2, len(data) // 4, 4096, 512, 64, 16, 4, 1):
        at = 0
        while 0 < size <= len(data) and at < len(data) and tries < _TRIES:
            tries += 1
            shorter = data[:at] + data[at + size :]
            finding = find(form, path, shorter)
            if finding is not None and finding.key == key:
                data = shorter
            else:
                at += size
    return data


def keep(name: str, data: bytes, finding: Finding) -> Path:
    """Write a finding to the corpus, packed where it is large."""
    if len(data) > _PACKED_FROM and not data.startswith(b"\x1f\x8b"):
        data = gzip.compress(data, mtime=0)
    cause = re.sub(r"[^A-Za-z0-9]+", "-", finding.key).strip("-")[:60]
    target = CORPUS / f"{name}--{cause}--{hashlib.sha256(data).hexdigest()[:8]}"
    target.write_bytes(data)
    return target
