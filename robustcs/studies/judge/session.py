"""A judging session: the queue of passages, and a qrels file that loses no grade."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from robustcs.errors import (
    InputError,
    OutputError,
    ProblemList,
    UsageError,
    input_error,
    not_written,
)
from robustcs.inputs.qrels import Qrels
from robustcs.overwrite_guard import refuse_protected
from robustcs.stored import lock
from robustcs.studies.judge.analysis import Pair
from robustcs.wording import counted

_DIGITS = re.compile("[0-9]{1,9}")
_ADVICE = (
    "judge only adds to files that it created for these qrels; name another file with --judgments"
)


#: The CAsT assessment guidelines for the scale 0 to 4 (Table 6 of the ECAsT paper).
_GUIDELINES = (
    "Fails to meet: not relevant to the turn.",
    "Slightly meets: some relevant content, but does not answer the turn directly.",
    "Moderately meets: answers the turn partially, but focuses on unrelated information.",
    "Highly meets: answers the turn, with limited extraneous information.",
    "Fully meets: a perfect answer to the turn, focused on the information need only.",
)


class GradeScale:
    """The judgments that may be added: grades 0 to ``max_grade`` of unjudged passages for turns of the qrels."""

    def __init__(self, qrels: Qrels, max_grade: int):
        self.max_grade = max_grade
        self.turns = frozenset(qrels.turns)
        self.judged = frozenset((turn, document) for turn, document, _ in qrels.rows())

    @property
    def meanings(self) -> dict[str, str]:
        """Grade → meaning; meanings are empty unless the scale is 0 to 4."""
        told = (
            _GUIDELINES if self.max_grade == len(_GUIDELINES) - 1 else ("",) * (self.max_grade + 1)
        )
        return {str(grade): meaning for grade, meaning in enumerate(told)}


def read_judgments(path: Path, scale: GradeScale) -> dict[Pair, int]:
    """Read (turn, document) → grade in the order of the file; empty if there is no file.

    Only files of this command are accepted: a file with other turns, pairs of the qrels, or grades outside the scale has
    another origin. A last line that a killed process left unfinished is ignored.

    Raises :class:`InputError` with every line that does not fit.
    """
    return _parse(path, path.read_bytes(), scale) if path.exists() else {}


class JudgmentFile:
    """The file of the grades, one line ``turn 0 document grade`` each.

    Each grade is one write and one fsync, before the next passage is shown; undo removes the last line. So the file is a valid
    qrels file of all grades so far at every moment, even if the process is killed. A lock prevents a second session.

    grades
        The content of the file, in its order.

    Raises :class:`InputError` as :func:`read_judgments` does, :class:`UsageError` if the file is the qrels or another input
    or is in use, :class:`OutputError` if it cannot be written.
    """

    def __init__(self, path: Path, scale: GradeScale, qrels: str | os.PathLike[str] | None = None):
        self.path = path
        if (
            path.exists()
            and qrels is not None
            and os.path.exists(qrels)
            and os.path.samefile(path, qrels)
        ):
            raise UsageError(
                "same-file", f"{path} is the qrels file", "name another file with --judgments"
            )
        refuse_protected(path, adds=True)
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except (OSError, ValueError) as error:
            raise not_written(path, error) from None
        if not lock(self._file):
            os.close(self._file)
            advice = "end that session, or name another file with --judgments"
            raise UsageError("in-use", f"{path} is in use by another session", advice)
        try:
            raw = path.read_bytes()
            self.grades = _parse(path, raw, scale)
            self._repair(raw, scale)
        except OSError as error:
            self.close()
            raise not_written(path, error) from None
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> JudgmentFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; remove it if it has no grades, since it would not be a valid qrels file."""
        if not os.fstat(self._file).st_size and self._in_place():
            self.path.unlink()
        os.close(self._file)

    def append(self, graded: Sequence[tuple[Pair, int]]) -> None:
        """Write the grades and wait until they are on the disk.

        Raises :class:`OutputError` on a full disk; then none of these grades is written, and earlier ones stay.
        """
        self._check_in_place()
        size = os.fstat(self._file).st_size
        rest = "".join(
            f"{turn} 0 {document} {grade}\n" for (turn, document), grade in graded
        ).encode()
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, size)
            reason = (error.strerror or str(error)).lower()
            raise OutputError(
                self.path, reason, "free some space and start again; all earlier grades are saved"
            ) from None
        self.grades.update(graded)

    def take_back(self) -> None:
        """Remove the last grade from the file."""
        self._check_in_place()
        last = next(reversed(self.grades))
        body = self.path.read_bytes().rstrip()
        start = body.rfind(b"\n") + 1
        if body[start:].decode().split()[::2] != list(last):
            raise self._changed()
        os.ftruncate(self._file, start)
        os.fsync(self._file)
        del self.grades[last]

    def _repair(self, raw: bytes, scale: GradeScale) -> None:
        if not raw:
            if hasattr(os, "O_DIRECTORY"):
                # the folder's entry of the new file must reach the disk, too
                folder = os.open(self.path.resolve().parent, os.O_RDONLY | os.O_DIRECTORY)
                os.fsync(folder)
                os.close(folder)
        elif not raw.endswith(b"\n"):
            kept = _whole_lines(raw, scale)
            os.ftruncate(self._file, len(kept))
            if not kept.endswith(b"\n"):
                os.write(self._file, b"\n")
            os.fsync(self._file)

    def _in_place(self) -> bool:
        try:
            there, own = os.stat(self.path), os.fstat(self._file)
        except FileNotFoundError:
            return False
        return (there.st_dev, there.st_ino) == (own.st_dev, own.st_ino)

    def _check_in_place(self) -> None:
        if not self._in_place():
            raise self._changed()

    def _changed(self) -> InputError:
        found = "another program changed or removed this file during the session"
        return input_error(
            self.path, None, found, "close that program and start again", "file-changed"
        )


@dataclass(eq=False)
class Session:
    """The queue of one session: the next passage, the skipped ones, and the actions that undo reverts.

    Skipped passages come back in the next session.
    """

    pairs: Sequence[Pair]
    file: JudgmentFile
    graded_here: int = 0
    skipped: set[Pair] = field(default_factory=set)
    _actions: list[Pair] = field(default_factory=list)
    _recalled: Pair | None = None

    def current(self) -> Pair | None:
        """Return the passage to judge: the last undone one, else the first open one; None at the end."""
        if self._recalled is not None:
            return self._recalled
        return next(
            (
                pair
                for pair in self.pairs
                if pair not in self.file.grades and pair not in self.skipped
            ),
            None,
        )

    def grade(self, grade: int) -> Pair:
        """Save a grade of the current passage."""
        pair = self._take()
        self.file.append([(pair, grade)])
        self.graded_here += 1
        return pair

    def skip(self) -> Pair:
        """Skip the current passage until the next session."""
        pair = self._take()
        self.skipped.add(pair)
        return pair

    def undo(self) -> Pair | None:
        """Return to the passage graded or skipped last, even in an earlier session; None if there is none."""
        if self._actions:
            pair = self._actions.pop()
            if pair not in self.skipped:
                self.file.take_back()
                self.graded_here -= 1
            self.skipped.discard(pair)
        else:
            pair = next(reversed(self.file.grades), ("", ""))
            if pair not in self.pairs:
                return None
            self.file.take_back()
        self._recalled = pair
        return pair

    def progress(self, turns: Callable[[str], bool] = bool) -> tuple[int, int]:
        """Return the numbers of judged and of all passages of these turns (default: all)."""
        pairs = [pair for pair in self.pairs if turns(pair[0])]
        return sum(pair in self.file.grades for pair in pairs), len(pairs)

    def _take(self) -> Pair:
        pair = self.current()
        assert pair is not None, "nothing is left to judge"
        self._recalled = None
        self._actions.append(pair)
        return pair


def _whole_lines(raw: bytes, scale: GradeScale) -> bytes:
    """Return ``raw`` without an incomplete last line; a line that misses only its line end is complete.

    Only the beginning of a line that this command could have written is removed: other files stay as they are.
    """
    start = raw.rfind(b"\n") + 1
    cells = raw[start:].decode(errors="ignore").split()
    if len(cells) == 1:
        cut = any(turn.startswith(cells[0]) for turn in scale.turns)
    else:
        cut = len(cells) in (2, 3) and cells[0] in scale.turns and cells[1] == "0"
    return raw[:start] if cut else raw


def _parse(path: Path, raw: bytes, scale: GradeScale) -> dict[Pair, int]:
    try:
        text = _whole_lines(raw, scale).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise input_error(
            path, None, "not a plain text file", "name another file with --judgments", "not-utf8"
        ) from None
    problems = ProblemList(path)
    grades: dict[Pair, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        cells = line.split()
        if not cells:
            continue
        found = _line_misfit(cells, grades, scale)
        if found:
            problems.add(number, found, _ADVICE, "other-qrels")
        else:
            grades[cells[0], cells[2]] = int(cells[3])
    problems.raise_if_any()
    return grades


def _line_misfit(cells: Sequence[str], grades: dict[Pair, int], scale: GradeScale) -> str:
    """Return why a line is not a judgment of this command; empty if it is one."""
    if len(cells) != 4:
        return f"{counted(len(cells), 'column')} instead of 4 (turn 0 document grade)"
    pair, grade = (cells[0], cells[2]), cells[3]
    misfit = misfit_of(pair, grade, scale)
    if not misfit and grades.get(pair, int(grade)) != int(grade):
        return f"turn {pair[0]} document {pair[1]} has grade {grade} but grade {grades[pair]} in an earlier line"
    return misfit


def misfit_of(
    pair: Pair, grade: str, scale: GradeScale, worklist: Collection[Pair] | None = None
) -> str:
    """Return why a grade of a pair is not accepted; empty if it is. ``worklist``: the accepted pairs."""
    turn, document = pair
    # int() rejects numbers of thousands of digits, even zeros
    if not _DIGITS.fullmatch(grade) or int(grade) > scale.max_grade:
        return f"grade {grade!r} of turn {turn} document {document} is not an integer from 0 to {scale.max_grade}"
    if turn not in scale.turns:
        return f"turn {turn} is not in the qrels"
    if pair in scale.judged:
        return f"turn {turn} document {document} is already judged in the qrels"
    if worklist is not None and pair not in worklist:
        return f"turn {turn} document {document} is not in the worklist"
    return ""
