"""Read ``turns.jsonl``; every value that the schema does not allow is a problem with its line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypedDict, cast

from robustcs.errors import InputError, ProblemList, UsageError, input_error
from robustcs.evaluation.measure import highest_score, parse_measure
from robustcs.evaluation.outcomes import OUTCOMES
from robustcs.evaluation.thresholds import TOLERANCE, parse_threshold
from robustcs.inputs.ids import MAX_GRADE
from robustcs.inputs.records import json_lines
from robustcs.policy import EvaluationPolicy
from robustcs.records.record import TURNS
from robustcs.records.schema import SCHEMA, Graded, Head, PassageTexts, SystemRecord, TurnRecord
from robustcs.stored import typed
from robustcs.wording import counted

#: What to do about a file that cannot be used.
_ADVICE = "run robustcs report again, or name the project file"
#: Largest number of judged passages of a turn with one grade.
_MOST_JUDGED = 1_000_000
_GRADE = re.compile(r"-?[0-9]{1,5}")
#: Roles of formulations in their order.
ROLES = ("original", "qr", "human")


class _Settings(TypedDict):
    """The settings of the policy that a head has."""

    relevance_level: int
    missing: str
    order: str
    depth: int | None
    documents: bool
    unit: str


@dataclass(frozen=True)
class TurnsFile:
    """The contents of ``turns.jsonl``.

    records
        Turn → record, in the order of the file.
    passages
        Passage → text.
    """

    head: Head
    records: Mapping[str, TurnRecord]
    passages: Mapping[str, str]


def read_turns(path: Path) -> TurnsFile:
    """Read the file that :meth:`TurnRecords.write` writes.

    Raises :class:`InputError` if it is another file, or has a line that the schema does not allow.
    """
    problems = ProblemList(path)
    head: Head | None = None
    records: dict[str, TurnRecord] = {}
    passages: dict[str, str] = {}
    for line, found in json_lines(path, problems):
        try:
            if head is None:
                head = _head(path, found)
            elif "passages" in found:
                passages.update(typed(found, PassageTexts)["passages"])
            else:
                record = _record(found)
                if record["turn"] in records:
                    raise ValueError(f"turn {record['turn']} is there twice")
                records[record["turn"]] = record
        except (ValueError, UsageError) as error:
            problem = error.found if isinstance(error, UsageError) else error
            problems.add(line, str(problem), _ADVICE, "bad-turns")
            if head is None:
                break
    problems.raise_if_any()
    if head is None:
        raise _not_turns(path)
    if len(records) != head["turns"]:
        present = f"{len(records)} of {counted(head['turns'], 'turn')} are in the file"
        raise input_error(path, None, present, _ADVICE, "bad-turns")
    return TurnsFile(head, records, passages)


def _record(found: dict[str, Any]) -> TurnRecord:
    """Return the record of a line. Raises ``ValueError`` for values that the schema does not allow.

    Rankings are almost all of a file, so they are checked apart, which is ten times as fast.
    """
    rankings: dict[str, list[Graded]] = {}
    systems = found.get("systems")
    for name, own in systems.items() if isinstance(systems, dict) else ():
        if isinstance(own, dict) and "ranking" in own:
            rankings[name] = _graded(own.pop("ranking"))
    record = cast(TurnRecord, typed(found, TurnRecord))
    for name, ranking in rankings.items():
        record["systems"][name]["ranking"] = ranking
    for grade, number in record["judged"].items():
        if not (_GRADE.fullmatch(grade) and abs(int(grade)) <= MAX_GRADE):
            raise ValueError(f"{grade!r} is not a grade")
        if not 0 <= number <= _MOST_JUDGED:
            raise ValueError(f"{number} passages have grade {grade}")
    for name, own in record["systems"].items():
        _check(name, own)
    return record


def _check(name: str, own: SystemRecord) -> None:
    """Raise ``ValueError`` for values of a system that cannot be."""
    for measure, score in own["scores"].items():
        highest = _highest(measure)
        if highest is not None and not -TOLERANCE <= score <= highest + TOLERANCE:
            raise ValueError(f"{measure} of {name} is {score:g}, not in 0 to {highest:g}")
    if own.get("outcome", OUTCOMES[0]) not in OUTCOMES:
        raise ValueError(f"{name} has the outcome {own['outcome']!r}")
    if own.get("absent", "turn") not in ("turn", "score"):
        raise ValueError(f"absent of {name} is {own['absent']!r}, not 'turn' or 'score'")
    rest = own.get("rest")
    if rest is not None and not 0 <= rest["unjudged"] <= rest["passages"]:
        raise ValueError(f"{name} has {rest['unjudged']} of {rest['passages']} passages unjudged")


@cache
def _highest(measure: str) -> float | None:
    return highest_score(parse_measure(measure, given=True))


def _graded(value: Any) -> list[Graded]:
    """Return the passages of a ranking with their grades."""
    if not isinstance(value, list) or not all(map(_is_graded, value)):
        raise ValueError("a ranking is not a list of passages with grades")
    return [(passage, grade) for passage, grade in value]


def _is_graded(one: Any) -> bool:
    if type(one) is not list or len(one) != 2:
        return False
    passage, grade = one
    if type(passage) is not str:
        return False
    return grade is None or (type(grade) is int and abs(grade) <= MAX_GRADE)


def _head(path: Path, found: Mapping[str, Any]) -> Head:
    if found.get("schema") != SCHEMA:
        raise _not_turns(path)
    head = cast(Head, typed(found, Head))
    settings = {key: head["policy"].get(key) for key in EvaluationPolicy().as_dict()}
    EvaluationPolicy(**cast("dict[str, Any]", typed(settings, _Settings)))
    typed(head["policy"].get("missing_turns"), int)
    typed(head["policy"].get("conversation", ""), str)
    for threshold in head["thresholds"]:
        parse_threshold(threshold)
    for measure in (*head["measures"], *head["judges"]):
        parse_measure(measure, given=True)
    unknown = set(head["formulations"].values()) - set(ROLES)
    if unknown:
        raise ValueError(f"a formulation has the role {sorted(unknown)[0]!r}")
    return head


def _not_turns(path: Path) -> InputError:
    return input_error(
        path, 1, f"the first line is not that of {TURNS}", f"name a file of {SCHEMA!r}", "bad-turns"
    )
