"""What the inputs allow a report to conclude: conditions that are checked before a verdict is chosen.

A limit says which verdicts it affects, and why. The reason stands on their cards, and some limits bar them from the first
screen. ``robustcs check`` prints the same reasons before anything is computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from robustcs.documents.document import SUBJECTS, Subject, Verdict
from robustcs.inputs.paths import parts_of
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.records import Skipped
from robustcs.inputs.sniff import kind_of
from robustcs.policy import Unit
from robustcs.project.model import Project
from robustcs.result import Evaluated
from robustcs.statistics.estimate import LEVELS
from robustcs.statistics.families import Family
from robustcs.statistics.units import units_of
from robustcs.wording import counted

#: Models as names of files have them: ``qrels-gpt4o.txt``.
_MODEL = re.compile(
    r"(?<![a-z])(umbrella|umbrela|chatgpt|gpt|llm|llama|claude|gemini|gemma|mistral|mixtral|qwen|phi|deepseek)(judges?)?(?![a-z]|4cs)",
    re.IGNORECASE,
)
_JUDGES: tuple[Subject, ...] = ("bias", "agreement")
#: Subjects that need no judgments.
_WITHOUT: tuple[Subject, ...] = ("similarity", "clarification")
_OF_TESTS: tuple[Subject, ...] = ("blame", "drop", "rewording", "systems", "reading")


@dataclass(frozen=True)
class Limit:
    """Why the verdicts on some subjects are less certain than they look.

    bars
        These verdicts may not open a report.
    """

    subjects: tuple[Subject, ...]
    reason: str
    bars: bool = False


def model_of(path: str) -> str:
    """Return the model that a file's name names, such as ``gpt``; empty where it names none."""
    named = _MODEL.search(Path(path).name)
    return named[1] if named else ""


def limits_of_sources(project: Project) -> list[Limit]:
    """Return what the names of the qrels and of the judges say: qrels that a model made are no human judgments."""
    if not project.qrels:
        return []
    files = parts_of(project.qrels)
    judge = next((name for name, path in project.judges.items() if path in files), None)
    named = next(((Path(file).name, found) for file in files if (found := model_of(Path(file).name))), None)
    labels = next((file for file in files if isinstance(file, Path) and file.is_file() and kind_of(file) == "labels"), None)
    if judge:
        whose = f"the qrels are those of judge {judge}"
    elif named:
        whose = f"the name of the qrels, {named[0]}, names a model ({named[1]})"
    elif labels:
        whose = f"the qrels, {labels.name}, have the fields of a judge's answers"
    else:
        return []
    of_people = tuple(one for one in SUBJECTS if one not in (*_JUDGES, *_WITHOUT))
    return [
        Limit(of_people, f"By model judgments, not human ones: {whose}."),
        Limit(_JUDGES, f"Not an agreement with people: {whose}.", bars=True),
    ]


def limits_of_qrels(qrels: Qrels) -> list[Limit]:
    """Return what the grades say: where all of them are relevant, a judged passage is a relevant one."""
    if not len(qrels) or qrels.grades.min() <= 0:
        return []
    grades = sorted(set(qrels.grades.tolist()))
    has = f"one grade ({grades[0]})" if len(grades) == 1 else f"positive grades only ({grades[0]} to {grades[-1]})"
    reason = f"The qrels have {has}: the share of judged passages is that of relevant ones and does not show what is unjudged."
    return [Limit(("unjudged",), reason, bars=True)]


def limits_of_rows(skipped: Mapping[tuple[str, str], Skipped]) -> list[Limit]:
    """Return what skipped rows say, by file and role, where they are more than 1% of a file."""
    return [
        Limit(SUBJECTS, f"More than 1% of {role} were skipped: {one}.")
        for (_, role), one in skipped.items()
        if 100 * one.count > one.rows
    ]


def limits_of_turns(turns: Sequence[str], unit: Unit) -> list[Limit]:
    """Return what the number of conversations of ``turns`` says."""
    units = units_of(turns, unit)
    return _limits_of_units(units.kind, units.count, units.note) if turns else []


def limits_of_result(evaluated: Evaluated, families: Iterable[Family] = ()) -> list[Limit]:
    """Return what the sampling units of a result say, and ``families`` of tests that cannot be significant."""
    limits = _limits_of_units(evaluated.unit, evaluated.units, evaluated.unit_note) if evaluated.units else []
    notes = dict.fromkeys(family.note for family in families if family.note)
    return limits or [limit for note in notes for limit in _insignificant(f"{note[0].upper()}{note[1:]}.")]


def _limits_of_units(kind: str, count: int, note: str) -> list[Limit]:
    if note:
        return [Limit(SUBJECTS, f"{note[0].upper()}{note[1:]}.")]
    smallest = 2.0 ** (1 - count)  # of all sign patterns, the observed one and its mirror image
    if smallest <= LEVELS[0]:
        return []
    return _insignificant(
        f"No p-value can reach {LEVELS[0]:g} with {counted(count, kind)}: the smallest possible is {smallest:.2g}."
    )


def _insignificant(reason: str) -> list[Limit]:
    return [Limit(_OF_TESTS, reason), Limit(("differences",), reason, bars=True)]


def limited(verdict: Verdict, limits: Iterable[Limit]) -> Verdict:
    """Return the verdict with the reasons of its limits, each once."""
    mine = [limit for limit in limits if verdict.subject in limit.subjects]
    told = dict.fromkeys([*filter(None, [verdict.caveat]), *(limit.reason for limit in mine)])
    return replace(verdict, caveat=" ".join(told), barred=verdict.barred or any(limit.bars for limit in mine))
