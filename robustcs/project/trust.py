"""Conditions on the inputs that limit which conclusions a report may draw; checked before verdicts are chosen.

A limit names the verdicts that it affects, and the reason, which their cards show. Some limits bar verdicts from the first
screen. ``robustcs check`` prints the same reasons before anything is computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from robustcs.documents.document import SUBJECTS, Subject, Verdict
from robustcs.inputs.columns import plain_chunks
from robustcs.inputs.paths import parts_of
from robustcs.inputs.qrels import FAR, Qrels
from robustcs.inputs.readings import Skipped
from robustcs.inputs.text import HEAD
from robustcs.policy import Unit
from robustcs.project.model import Project
from robustcs.result import Evaluated
from robustcs.statistics.estimate import LEVELS
from robustcs.statistics.families import Family
from robustcs.statistics.units import units_of
from robustcs.wording import counted, listed

#: Names of models in file names: ``qrels-gpt4o.txt``.
_MODEL = re.compile(
    r"(?<![a-z])(umbrella|umbrela|chatgpt|gpt|llm|llama|claude|gemini|gemma|mistral|mixtral|qwen|phi|deepseek)(judges?)?(?![a-z]|4cs)",
    re.IGNORECASE,
)
#: How the note on formulations that are probably swapped begins.
SWAPPED = "Human scores below Original"
#: Share of the turns that may be missing without a limit.
MOST_MISSING = 0.05
_JUDGES: tuple[Subject, ...] = ("bias", "agreement")
#: Subjects that do not depend on judgments.
_WITHOUT: tuple[Subject, ...] = ("similarity", "clarification")
_OF_JUDGMENTS = tuple(one for one in SUBJECTS if one not in (*_JUDGES, *_WITHOUT))
_OF_ROLES: tuple[Subject, ...] = ("blame", "drop", "unjudged")
_OF_TESTS: tuple[Subject, ...] = ("blame", "drop", "rewording", "systems", "reading")


@dataclass(frozen=True)
class Limit:
    """The reason why verdicts on some subjects are less certain than they look.

    bars
        Bar these verdicts from the first screen of a report.
    """

    subjects: tuple[Subject, ...]
    reason: str
    bars: bool = False


def model_evidence(file: Path) -> str:
    """Return the evidence that a model made a file of judgments; empty if there is none."""
    if named := _MODEL.search(file.name):
        return f"its name contains a model name ({named[1]})"
    if file.is_file() and not plain_chunks(file, "qrels", HEAD):
        from robustcs.inputs.sniff import kind_of

        if kind_of(file) == "labels":
            return "it has the fields of a model judge's output"
    return ""


def model_of_qrels(project: Project) -> tuple[str, str]:
    """Return the name of the model that made the qrels, and how that is known; empty if people did, or if it is unknown."""
    if not project.qrels or project.qrels_source in ("people", "mixed"):
        return "", ""
    files = parts_of(project.qrels)
    found = [(name, f"the qrels are those of judge {name}") for name, path in project.judges.items() if path in files]
    if project.qrels_source == "model":
        found += [(file.stem, f"the source of {file.name} is model") for file in files]
    found += [(file.stem, f"the qrels are {file.name}, and {why}") for file in files if (why := model_evidence(file))]
    return found[0] if found else ("", "")


def limits_of_sources(project: Project) -> list[Limit]:
    """Return limits from the source of the qrels: those of a model are no judgments of people."""
    _, told = model_of_qrels(project)
    return [
        Limit(_OF_JUDGMENTS, f"Based on judgments of a model, not of people: {told}."),
        Limit(_JUDGES, f"Agreement with a model, not with people: {told}.", bars=True),
    ] if told else []  # fmt: skip


def limits_of_qrels(qrels: Qrels) -> list[Limit]:
    """Return limits from grades far above all others, and if all are positive: then all judged passages are relevant."""
    limits = [Limit(_OF_JUDGMENTS, f"{note}.") for note in qrels.notes if FAR in note]
    if not len(qrels) or qrels.grades.min() <= 0:
        return limits
    grades = sorted(set(qrels.grades.tolist()))
    has = f"only grade {grades[0]}" if len(grades) == 1 else f"only positive grades ({grades[0]} to {grades[-1]})"
    reason = f"The qrels have {has}, so the share of judged passages does not show how many passages are unjudged."
    return [*limits, Limit(("unjudged",), reason, bars=True)]


def limits_of_rows(skipped: Mapping[tuple[str, str], Skipped]) -> list[Limit]:
    """Return one limit on all files and roles with more than 1% skipped rows."""
    many = [(role, str(one)) for (_, role), one in skipped.items() if 100 * one.count > one.rows]
    told = many[0] if len(many) == 1 else ("rows", listed(f"{role} ({one})" for role, one in many))
    return [Limit(SUBJECTS, f"More than 1% of {told[0]} were skipped: {told[1]}.")] if many else []


def limits_of_turns(turns: Sequence[str], unit: Unit) -> list[Limit]:
    """Return limits from the number of sampling units among ``turns``."""
    units = units_of(turns, unit)
    return _limits_of_units(units.kind, units.count, units.note) if turns else []


def limits_of_result(evaluated: Evaluated, family: Family | None = None) -> list[Limit]:
    """Return limits from missing turns, probably swapped formulations, few sampling units, and a ``family`` without power."""
    limits = [Limit(_OF_ROLES, f"{note}.") for note in evaluated.notes if note.startswith(SWAPPED)]
    if evaluated.missing_rule == "zero" and evaluated.missing > MOST_MISSING * evaluated.turns:
        reason = f"{evaluated.missing} of {counted(evaluated.turns, 'turn')} are missing in at least one system and score 0."
        limits.append(Limit(_OF_JUDGMENTS, reason))
    of_units = _limits_of_units(evaluated.unit, evaluated.units, evaluated.unit_note) if evaluated.units else []
    note = family.note if family else ""
    return limits + (of_units or (_insignificant(f"{note[0].upper()}{note[1:]}.", ("systems",)) if note else []))


def _limits_of_units(kind: str, count: int, note: str) -> list[Limit]:
    if note:
        return [Limit(SUBJECTS, f"{note[0].upper()}{note[1:]}.")]
    smallest = 2.0 ** (1 - count)  # of all sign patterns, the observed one and its mirror image
    if smallest <= LEVELS[0]:
        return []
    return _insignificant(
        f"No p-value can reach {LEVELS[0]:g} with {counted(count, kind)}: the smallest possible is {smallest:.2g}."
    )


def _insignificant(reason: str, also: tuple[Subject, ...] = _OF_TESTS) -> list[Limit]:
    return [Limit(also, reason), Limit(("differences",), reason, bars=True)]


def limited(verdict: Verdict, limits: Iterable[Limit]) -> Verdict:
    """Return the verdict with the reasons of its limits, each once."""
    mine = [limit for limit in limits if verdict.subject in limit.subjects]
    told = dict.fromkeys([*filter(None, [verdict.caveat]), *(limit.reason for limit in mine)])
    return replace(verdict, caveat=" ".join(told), barred=verdict.barred or any(limit.bars for limit in mine))


# ---------------------------------------------------------------- customary relevance levels of known collections
#: Collection, prefix of its passage ids, and pattern of its turn ids.
_COLLECTIONS = (
    ("iKAT", re.compile(r"clueweb22-"), re.compile(r"\d+(-\d+)?[_-]\d+(-\d+)?")),
    ("CAsT", re.compile(r"(MARCO|CAR|WAPO|KILT)_"), re.compile(r"\d+_\d+(-\d+)?")),
    ("TREC DL", re.compile(r"msmarco_(passage|doc|v2)"), re.compile(r"\d+")),
)
_CUSTOMARY = 2


def customary_level(turns: Sequence[str], passages: Sequence[str], highest: int) -> tuple[int, str]:
    """Return the customary relevance level of a collection for binary measures, and its name; (1, "") if it is unknown.

    turns, passages
        Ids in the qrels; most of the first hundred must match a collection.
    highest
        The highest grade; binary qrels have only level 1.
    """
    for name, passage_id, turn_id in _COLLECTIONS:
        if _mostly(passage_id, passages) and _mostly(turn_id, turns, whole=True) and highest >= _CUSTOMARY:
            return _CUSTOMARY, name
    return 1, ""


def _mostly(pattern: re.Pattern[str], ids: Sequence[str], whole: bool = False) -> bool:
    some = ids[:100]
    matches = pattern.fullmatch if whole else pattern.match
    return bool(some) and sum(matches(one) is not None for one in some) > len(some) / 2
