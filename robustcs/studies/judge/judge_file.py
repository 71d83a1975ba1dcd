"""What one program said of passages: a file of its own, JSONL, that no command takes for judgments of people."""

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
#: Digits of the identity of a program that tell it from others.
_VERSION = 12
#: Letters of a reason that are kept.
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
        Of its words and the contents of the files among them: a changed script is another judge.
    path
        Where its grades go.
    """

    name: str
    version: str
    path: Path


def program_judge(command: str, name: str | None, files: Mapping[str, Path]) -> ProgramJudge:
    """The judge that ``command`` is; ``name`` by default that of its script, ``files`` those of the project's judges.

    Raises :class:`UsageError` for a name that is no file name.
    """
    words = words_of(command)
    scripts = [word for word in words[1:] if Path(word).is_file()]
    name = name or Path(scripts[0] if scripts else words[0]).stem
    if not _NAME.fullmatch(name):
        raise UsageError("bad-name", f"a judge named {name!r}", "name it with --as, by letters, digits, dots and hyphens")
    path = Path(files.get(name, f"judge-{name}.jsonl"))
    refuse_outside(path)  # before the program is asked
    return ProgramJudge(name, program_identity(command)[:_VERSION], path)


def grade_of(answer: Mapping[str, Any]) -> int | None:
    """The whole number that an answer gives as ``grade``; None for all else."""
    grade = answer.get("grade")
    if isinstance(grade, float) and grade.is_integer():
        grade = int(grade)
    return grade if isinstance(grade, int) and not isinstance(grade, bool) else None


def reason_of(answer: Mapping[str, Any]) -> str:
    """Its reason, where it gives one."""
    reason = answer.get("reason")
    return reason[:_REASON] if isinstance(reason, str) else ""


def read_judge(judge: ProgramJudge, scale: Scale) -> dict[Pair, Said]:
    """What stands in the judge's file, in its order; nothing where there is none.

    Raises :class:`InputError` with every line that this judge did not write.
    """
    if not judge.path.exists():
        return {}
    if shape_of(judge.path) == "table":
        found = f"not answers of a program, but labels of another judge named {judge.name!r}"
        raise input_error(judge.path, None, found, "name this one with --as", "other-judge")
    problems = ProblemList(judge.path)
    said: dict[Pair, Said] = {}
    for line, record in judged_lines(judge.path, problems):
        turn, document, grade = record.get("turn"), record.get("document"), grade_of(record)
        if record.get("judge") != judge.name or record.get("version") != judge.version:
            by = f"{str(record.get('judge'))[:40]!r}, version {str(record.get('version'))[:20]!r}"
            found = f"an answer of {by}, not of this program"
            problems.add(line, found, "name this one with --as, or remove the file", "other-judge")
        elif not (isinstance(turn, str) and isinstance(document, str)) or grade is None or not 0 <= grade <= scale.max_grade:
            problems.add(line, f"no turn, document and grade of 0 to {scale.max_grade}", "remove the line", "bad-grade")
        else:
            said[turn, document] = Said(grade, reason_of(record))
    problems.raise_if_any()
    return said


def write_judge(judge: ProgramJudge, said: dict[Pair, Said], scale: Scale) -> None:
    """Write all that the judge said, and take into ``said`` what another process has written meanwhile.

    The file is whole at any moment. Of two grades of a pair the one that was written first stays.
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
