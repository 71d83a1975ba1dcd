"""The JSONL file with the grades of one program. No command accepts it as human judgments."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robustcs.documents.files import write_text
from robustcs.errors import ProblemList, UsageError, input_error
from robustcs.inputs.labels import JUDGMENT, judged_lines
from robustcs.inputs.records import shape_of
from robustcs.kept import locked, sealed
from robustcs.overwrite_guard import refuse_outside
from robustcs.programs.runner import program_identity, words_of
from robustcs.studies.judge.analysis import Pair
from robustcs.studies.judge.session import Scale

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
#: Digits of a program's identity that are its version.
_VERSION = 12
#: Maximum length of a reason, in characters.
_REASON = 2000


@dataclass(frozen=True)
class Said:
    """One answer of a program."""

    grade: int
    reason: str = ""


@dataclass(frozen=True)
class ProgramJudge:
    """A program as a judge.

    version
        Hash of the words of the command and the contents of the files among them: a changed script is another judge.
    path
        The file of its grades.
    """

    name: str
    version: str
    path: Path


def program_judge(command: str, name: str | None, files: Mapping[str, Path]) -> ProgramJudge:
    """Return the judge for ``command``.

    ``name``: default: the name of its script. ``files``: name → file of the project's judges.

    Raises :class:`UsageError` for a name that is not a valid file name.
    """
    words = words_of(command)
    scripts = [word for word in words[1:] if Path(word).is_file()]
    name = name or Path(scripts[0] if scripts else words[0]).stem
    if not _NAME.fullmatch(name):
        advice = "choose a name with --as: letters, digits, dots, underscores and hyphens"
        raise UsageError("bad-name", f"{name!r} is not a valid name of a judge", advice)
    path = Path(files.get(name, f"judge-{name}.jsonl"))
    refuse_outside(path)  # before the program is asked
    return ProgramJudge(name, program_identity(command)[:_VERSION], path)


def grade_of(answer: Mapping[str, Any]) -> int | None:
    """Return the integer ``grade`` of an answer, or None."""
    grade = answer.get("grade")
    if isinstance(grade, float) and grade.is_integer():
        grade = int(grade)
    return grade if isinstance(grade, int) and not isinstance(grade, bool) else None


def reason_of(answer: Mapping[str, Any]) -> str:
    """Return the ``reason`` of an answer, or an empty text."""
    reason = answer.get("reason")
    return reason[:_REASON] if isinstance(reason, str) else ""


def read_judge(judge: ProgramJudge, scale: Scale) -> dict[Pair, Said]:
    """Read the judge's file; empty if there is none.

    Raises :class:`InputError` with every line that this judge did not write.
    """
    if not judge.path.exists():
        return {}
    if shape_of(judge.path) == "table":
        found = f"this file contains the labels of another judge named {judge.name!r}"
        raise input_error(judge.path, None, found, "choose another name with --as", "other-judge")
    problems = ProblemList(judge.path)
    said: dict[Pair, Said] = {}
    for line, record in judged_lines(judge.path, problems):
        turn, document, grade = record.get("turn"), record.get("document"), grade_of(record)
        if record.get("judge") != judge.name or record.get("version") != judge.version:
            by = f"{str(record.get('judge'))[:40]!r}, version {str(record.get('version'))[:20]!r}"
            found = f"the grade was given by {by}, not by this program"
            problems.add(line, found, "choose another name with --as, or remove the file", "other-judge")
        elif not (isinstance(turn, str) and isinstance(document, str)) or grade is None or not 0 <= grade <= scale.max_grade:
            found = f"turn, document or grade (0 to {scale.max_grade}) is missing or invalid"
            problems.add(line, found, "remove the line", "bad-grade")
        else:
            said[turn, document] = Said(grade, reason_of(record))
    problems.raise_if_any()
    return said


def write_judge(judge: ProgramJudge, said: dict[Pair, Said], scale: Scale) -> None:
    """Write all answers of the judge, and add to ``said`` those that another process has written meanwhile.

    The file is complete at every moment. If a pair has two grades, the first one written stays.
    """
    with locked(judge.path.parent):
        said |= read_judge(judge, scale)
        lines = [
            json.dumps(sealed(JUDGMENT, {
                "turn": turn, "document": document, "grade": one.grade, "judge": judge.name, "version": judge.version,
                **({"reason": one.reason} if one.reason else {}),
            }))
            for (turn, document), one in said.items()
        ]  # fmt: skip
        write_text(judge.path, "".join(f"{line}\n" for line in lines))
