"""Turn the grades of single workers into judgments: exclude unreliable workers, and assign one final grade per item.

Source: CAsT-ReGIn, "Crowdsourcing and filtering process": workers who contradict an obvious judgment lose all their grades for
that topic; the final grade is the mode, or the average if there is no clear mode.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from robustcs.errors import UsageError
from robustcs.inputs.ids import Ids
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.ratings import GoldCheck, Grade
from robustcs.inputs.turns import turn_sort_key
from robustcs.result import count, table, text
from robustcs.statistics.units import unit_of
from robustcs.wording import counted

#: The criterion that combines all others.
COMBINED = "combined"
#: Maximum number of failed checks in a reason.
_SPELLED_OUT = 3
EXCLUSIONS = table(
    "exclusions", "Excluded workers, by topic.",
    text("topic", header="Topic"), text("worker", header="Worker"), count("checks", "gold checks that the worker graded"),
    count("failed"), count("grades", "excluded"), text("reason", header="Reason"),
)  # fmt: skip
GRADES = table(
    "grades", "The final grade of each item.",
    text("criterion"), text("turn"), text("item"), count("workers"), count("grade"), text("rule", "mode or mean"),
)  # fmt: skip


class Exclusion(NamedTuple):
    """A worker whose grades for a topic are excluded: a row of :data:`EXCLUSIONS`."""

    topic: str
    worker: str
    checks: int
    failed: int
    grades: int
    reason: str


class FinalGrade(NamedTuple):
    """The judgment of an item: a row of :data:`GRADES`. ``rule``: mode or mean of the workers' grades."""

    criterion: str
    turn: str
    item: str
    workers: int
    grade: int
    rule: str


def exclude_workers(
    grades: Sequence[Grade], checks: Sequence[GoldCheck], tolerance: int
) -> tuple[list[Grade], list[Exclusion], int]:
    """Return the remaining grades, the exclusions, and the number of checks on items without grades.

    A worker whose grade differs from a gold check by more than ``tolerance`` loses all grades for the topic, in every
    criterion.

    Raises :class:`UsageError` for a check without a criterion if the grades have several.
    """
    criteria = list(dict.fromkeys(grade.criterion for grade in grades))
    if len(criteria) > 1 and any(not check.criterion for check in checks):
        found = f"a gold check names no criterion, but the grades have several: {', '.join(criteria)}"
        raise UsageError("no-criterion", found, "add a column criterion to the gold checks")
    expected = {(check.turn, check.item, check.criterion or criteria[0]): check.grade for check in checks}
    given: dict[tuple[str, str], list[Grade]] = {}
    for grade in grades:
        given.setdefault((unit_of(grade.turn), grade.worker), []).append(grade)
    exclusions = []
    for (topic, worker), own in given.items():
        checked = [(grade, expected[key]) for grade in own if (key := _item(grade)) in expected]
        failed = [(grade, wanted) for grade, wanted in checked if abs(grade.grade - wanted) > tolerance]
        if failed:
            exclusions.append(Exclusion(topic, worker, len(checked), len(failed), len(own), _reason(failed, tolerance)))
    exclusions.sort(key=lambda exclusion: (turn_sort_key(exclusion.topic), exclusion.worker))
    out = {(exclusion.topic, exclusion.worker) for exclusion in exclusions}
    kept = [grade for grade in grades if (unit_of(grade.turn), grade.worker) not in out]
    return kept, exclusions, len(expected.keys() - set(map(_item, grades)))


def _item(grade: Grade) -> tuple[str, str, str]:
    return grade.turn, grade.item, grade.criterion


def _reason(failed: Sequence[tuple[Grade, int]], tolerance: int) -> str:
    parts = [
        f"{grade.turn} {grade.item} {grade.criterion}: grade {grade.grade}, gold check {expected}"
        for grade, expected in failed[:_SPELLED_OUT]
    ]
    more = f"; and {len(failed) - _SPELLED_OUT} more" if len(failed) > _SPELLED_OUT else ""
    return f"{'; '.join(parts)}{more} (tolerance {tolerance})"


def final_grade(grades: Sequence[int]) -> tuple[int, str]:
    """Return the mode of the grades and ``mode``; if the mode is tied, their mean, rounded half up, and ``mean``."""
    counts = Counter(grades).most_common(2)
    if len(counts) == 1 or counts[0][1] > counts[1][1]:
        return counts[0][0], "mode"
    # floor(sum / n + 1/2) in integers
    return (2 * sum(grades) + len(grades)) // (2 * len(grades)), "mean"


def aggregate(grades: Iterable[Grade]) -> list[FinalGrade]:
    """Return one judgment per criterion, turn and item; criteria in order of appearance, turns in natural order."""
    pairs: dict[tuple[str, str, str], list[int]] = {}
    for grade in grades:
        pairs.setdefault((grade.criterion, grade.turn, grade.item), []).append(grade.grade)
    criteria = {criterion: place for place, criterion in enumerate(dict.fromkeys(key[0] for key in pairs))}
    ordered = sorted(pairs, key=lambda key: (criteria[key[0]], turn_sort_key(key[1]), turn_sort_key(key[2])))
    return [FinalGrade(*key, len(pairs[key]), *final_grade(pairs[key])) for key in ordered]


def as_qrels(name: str, judgments: Iterable[tuple[str, str, int]]) -> Qrels:
    """Return (turn, item, grade) as qrels; pairs must be unique."""
    turns, items, grades = zip(*judgments, strict=True)
    turn_code = {turn: place for place, turn in enumerate(dict.fromkeys(turns))}
    return Qrels(
        name=name,
        turns=tuple(turn_code),
        turn_codes=np.array([turn_code[turn] for turn in turns], dtype=np.int32),
        ids=Ids.of(items),
        grades=np.array(grades, dtype=np.int16),
    )


def qrels_by_criterion(final: Iterable[FinalGrade]) -> dict[str, Qrels]:
    """Return criterion → its judgments."""
    by_criterion: dict[str, list[tuple[str, str, int]]] = {}
    for judged in final:
        by_criterion.setdefault(judged.criterion, []).append((judged.turn, judged.item, judged.grade))
    return {criterion: as_qrels(criterion, judgments) for criterion, judgments in by_criterion.items()}


def with_combined(criteria: Mapping[str, Qrels]) -> tuple[dict[str, Qrels], list[str]]:
    """Add the criterion :data:`COMBINED` to several criteria; return all, and notes.

    The combined grade of an item is its lowest grade, so it is relevant only if it is relevant by every criterion. A mean
    could make an off-topic question relevant because it is novel. Items without a grade for every criterion have no combined
    grade.
    """
    grades: dict[tuple[str, str], list[int]] = {}
    for qrels in criteria.values():
        items = qrels.documents.texts()
        for turn, item, grade in zip(qrels.turn_codes, qrels.document_codes, qrels.grades, strict=True):
            grades.setdefault((qrels.turns[turn], items[item]), []).append(int(grade))
    whole = [(turn, item, min(own)) for (turn, item), own in grades.items() if len(own) == len(criteria)]
    if len(criteria) < 2 or COMBINED in criteria or not whole:
        return dict(criteria), []
    missing = len(grades) - len(whole)
    notes = [f"{COMBINED}: excludes {counted(missing, 'item')} without a grade for every criterion"] if missing else []
    return {**criteria, COMBINED: as_qrels(COMBINED, whole)}, notes


def only_turns(qrels: Qrels, turns: Collection[str]) -> Qrels | None:
    """Return the judgments of ``turns``; None if there are none."""
    rows = np.flatnonzero(np.isin(np.array(qrels.turns), list(turns))[qrels.turn_codes])
    documents = qrels.documents.texts()
    judgments = [
        (qrels.turns[qrels.turn_codes[row]], documents[qrels.document_codes[row]], int(qrels.grades[row])) for row in rows
    ]
    return as_qrels(qrels.name, judgments) if judgments else None


def turn_sets(qrels: Qrels, level: int, subset: Collection[str] | None) -> Mapping[str, Qrels]:
    """Return the judgments on all turns, on turns with a grade of at least ``level`` (filtered), and on ``subset``."""
    relevant = {qrels.turns[code] for code in qrels.turn_codes[qrels.grades >= level]}
    sets = {"all": qrels, "filtered": only_turns(qrels, relevant)}
    if subset is not None:
        sets["subset"] = only_turns(qrels, subset)
    return {name: some for name, some in sets.items() if some is not None}
