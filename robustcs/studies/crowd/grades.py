"""From the grades of single workers to judgments: which workers to trust, and one grade per item.

Source: CAsT-ReGIn, "Crowdsourcing and filtering process": workers who contradict an obvious judgment lose all their grades of
that topic; the final grade is the mode, or the average where there is no clear one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from robustcs.errors import UsageError
from robustcs.inputs.ids import Ids
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.ratings import GoldCheck, Grade
from robustcs.inputs.turns import conversation, turn_sort_key
from robustcs.result import count, table, text
from robustcs.wording import counted

#: The criterion that all others make together.
COMBINED = "combined"
_BRANCH = re.compile(r"(.+)_[0-9]+-[0-9]+")
#: Failed checks that a reason spells out.
_SPELLED_OUT = 3
EXCLUSIONS = table(
    "exclusions", "Workers whose grades of a topic are left out.",
    text("topic", header="Topic"), text("worker", header="Worker"), count("checks", "gold checks that the worker graded"),
    count("failed"), count("grades", "left out"), text("reason", header="Reason"),
)  # fmt: skip
GRADES = table(
    "grades", "The final grade of every item.",
    text("criterion"), text("turn"), text("item"), count("workers"), count("grade"), text("rule", "mode or mean"),
)  # fmt: skip


class Exclusion(NamedTuple):
    """A worker whose grades of a topic are left out, and why: a row of :data:`EXCLUSIONS`."""

    topic: str
    worker: str
    checks: int
    failed: int
    grades: int
    reason: str


class FinalGrade(NamedTuple):
    """One item's judgment, a row of :data:`GRADES`; ``rule`` says how it came from the workers' grades."""

    criterion: str
    turn: str
    item: str
    workers: int
    grade: int
    rule: str


def topic_of(turn: str) -> str:
    """The topic of a turn: ``132`` of ``132_1-3``, where all branches of the tree are one topic; ``31`` of ``31_4``."""
    found = _BRANCH.fullmatch(turn)
    return found[1] if found else conversation(turn)


def exclude_workers(
    grades: Sequence[Grade], checks: Sequence[GoldCheck], tolerance: int
) -> tuple[list[Grade], list[Exclusion], int]:
    """The grades that stay, the exclusions, and how many checks nobody graded.

    A worker whose grade is more than ``tolerance`` away from a gold check loses all grades, of every criterion, of its topic.

    Raises :class:`UsageError` for a check without a criterion where the grades have several.
    """
    criteria = list(dict.fromkeys(grade.criterion for grade in grades))
    if len(criteria) > 1 and any(not check.criterion for check in checks):
        raise UsageError(
            "no-criterion", f"a gold check names no criterion, and the grades have {', '.join(criteria)}",
            "give the gold checks a column criterion",
        )  # fmt: skip
    expected = {(check.turn, check.item, check.criterion or criteria[0]): check.grade for check in checks}
    given: dict[tuple[str, str], list[Grade]] = {}
    for grade in grades:
        given.setdefault((topic_of(grade.turn), grade.worker), []).append(grade)
    exclusions = []
    for (topic, worker), own in given.items():
        checked = [(grade, expected[key]) for grade in own if (key := _item(grade)) in expected]
        failed = [(grade, wanted) for grade, wanted in checked if abs(grade.grade - wanted) > tolerance]
        if failed:
            exclusions.append(Exclusion(topic, worker, len(checked), len(failed), len(own), _reason(failed, tolerance)))
    exclusions.sort(key=lambda exclusion: (turn_sort_key(exclusion.topic), exclusion.worker))
    out = {(exclusion.topic, exclusion.worker) for exclusion in exclusions}
    kept = [grade for grade in grades if (topic_of(grade.turn), grade.worker) not in out]
    return kept, exclusions, len(expected.keys() - set(map(_item, grades)))


def _item(grade: Grade) -> tuple[str, str, str]:
    return grade.turn, grade.item, grade.criterion


def _reason(failed: Sequence[tuple[Grade, int]], tolerance: int) -> str:
    parts = [
        f"{grade.turn} {grade.item} {grade.criterion}: gave {grade.grade}, the gold check says {expected}"
        for grade, expected in failed[:_SPELLED_OUT]
    ]
    more = f"; and {len(failed) - _SPELLED_OUT} more" if len(failed) > _SPELLED_OUT else ""
    return f"{'; '.join(parts)}{more} (tolerance {tolerance})"


def final_grade(grades: Sequence[int]) -> tuple[int, str]:
    """The mode, or, where two grades are given equally often, the mean of all rounded half up; and which of the two it is."""
    counts = Counter(grades).most_common(2)
    if len(counts) == 1 or counts[0][1] > counts[1][1]:
        return counts[0][0], "mode"
    # whole numbers only: floor(sum / n + 1/2)
    return (2 * sum(grades) + len(grades)) // (2 * len(grades)), "mean"


def aggregate(grades: Iterable[Grade]) -> list[FinalGrade]:
    """One judgment per criterion, turn and item; criteria in order of first appearance, turns in natural order."""
    pairs: dict[tuple[str, str, str], list[int]] = {}
    for grade in grades:
        pairs.setdefault((grade.criterion, grade.turn, grade.item), []).append(grade.grade)
    criteria = {criterion: place for place, criterion in enumerate(dict.fromkeys(key[0] for key in pairs))}
    ordered = sorted(pairs, key=lambda key: (criteria[key[0]], turn_sort_key(key[1]), turn_sort_key(key[2])))
    return [FinalGrade(*key, len(pairs[key]), *final_grade(pairs[key])) for key in ordered]


def as_qrels(name: str, judgments: Iterable[tuple[str, str, int]]) -> Qrels:
    """(turn, item, grade) as qrels; every pair must stand once."""
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
    """Criterion → its judgments."""
    by_criterion: dict[str, list[tuple[str, str, int]]] = {}
    for judged in final:
        by_criterion.setdefault(judged.criterion, []).append((judged.turn, judged.item, judged.grade))
    return {criterion: as_qrels(criterion, judgments) for criterion, judgments in by_criterion.items()}


def with_combined(criteria: Mapping[str, Qrels]) -> tuple[dict[str, Qrels], list[str]]:
    """The judgments of several criteria with those of all together as :data:`COMBINED`, and what must be said of them.

    An item gets the lowest of its grades: it is relevant where it is by every criterion. A mean would make a question relevant
    that is new and open and about something else. Items that some criterion does not judge have no combined grade.
    """
    grades: dict[tuple[str, str], list[int]] = {}
    for qrels in criteria.values():
        items = qrels.documents.to_pylist()
        for turn, item, grade in zip(qrels.turn_codes, qrels.document_codes, qrels.grades, strict=True):
            grades.setdefault((qrels.turns[turn], items[item]), []).append(int(grade))
    whole = [(turn, item, min(own)) for (turn, item), own in grades.items() if len(own) == len(criteria)]
    if len(criteria) < 2 or COMBINED in criteria or not whole:
        return dict(criteria), []
    lacking = len(grades) - len(whole)
    notes = [f"{COMBINED}: without {counted(lacking, 'item')} that some criterion does not judge"] if lacking else []
    return {**criteria, COMBINED: as_qrels(COMBINED, whole)}, notes


def only_turns(qrels: Qrels, turns: Collection[str]) -> Qrels | None:
    """The judgments of ``turns``; None where there are none."""
    rows = np.flatnonzero(np.isin(np.array(qrels.turns), list(turns))[qrels.turn_codes])
    documents = qrels.documents.to_pylist()
    judgments = [
        (qrels.turns[qrels.turn_codes[row]], documents[qrels.document_codes[row]], int(qrels.grades[row])) for row in rows
    ]
    return as_qrels(qrels.name, judgments) if judgments else None


def turn_sets(qrels: Qrels, level: int, subset: Collection[str] | None) -> Mapping[str, Qrels]:
    """The judgments on all turns, on those with a grade of at least ``level`` (filtered), and on those of ``subset``."""
    relevant = {qrels.turns[code] for code in qrels.turn_codes[qrels.grades >= level]}
    sets = {"all": qrels, "filtered": only_turns(qrels, relevant)}
    if subset is not None:
        sets["subset"] = only_turns(qrels, subset)
    return {name: some for name, some in sets.items() if some is not None}
