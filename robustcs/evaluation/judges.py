"""Several judges of the same passages, side by side and never mixed: who judged what, and grades that leave the scale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from robustcs.errors import MAX_PROBLEMS, InputError, Problem, input_error
from robustcs.evaluation.run_pool import Grades, RunPool
from robustcs.evaluation.turns import Turns
from robustcs.inputs.labels import Labels
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.records import StrPath
from robustcs.lazy import npt
from robustcs.wording import counted

#: What happens to a grade off the scale: its pair has no label, it gets the nearest grade, or the file is refused.
OffScale = Literal["refuse", "drop", "clip"]


@dataclass(frozen=True, eq=False)
class Judge:
    """One judge on the scale of the people.

    off_scale
        Grade off the scale → how many labels have it.
    """

    labels: Labels
    off_scale: Mapping[int, int]

    @property
    def qrels(self) -> Qrels:
        """The labels that count."""
        return self.labels.qrels


@dataclass(frozen=True, eq=False)
class JudgedPool:
    """All pairs that people, a judge or a run has, N of them, in the turns that people or a judge judged, T of them.

    human
        int16[N + 1]: the grades of people, :data:`~robustcs.evaluation.matrix.UNJUDGED` where they gave none.
    judges
        Name → the judge; ``grades`` has its labels as ``human`` has those of people.
    scale
        The lowest and the highest grade.
    turns
        Which turns count, by what the runs answer.
    """

    pool: RunPool
    human: Grades
    judges: Mapping[str, Judge]
    grades: Mapping[str, Grades]
    scale: tuple[int, int]
    turns: Turns

    @property
    def counted(self) -> npt.NDArray[np.bool_]:
        """bool[T]: the turn counts."""
        return self.turns.counted

    def notes(self, off_scale: OffScale) -> list[str]:
        """What a reader should know about the judges' files: labels that are left out, and grades off the scale."""
        notes: list[str] = []
        for name, judge in self.judges.items():
            labels, off = judge.labels, sum(judge.off_scale.values())
            told = [
                (labels.unlabelled, "row", "without a grade"),
                (labels.fallback, "answer", "that its parser could not read (result_status 0)"),
                (labels.unknown, "label", "for texts that no turn or passage has"),
            ]
            notes += labels.qrels.notes
            notes += [f"{name}: {counted(number, what)} {why} left out" for number, what, why in told if number]
            if off:
                notes.append(f"{name}: {counted(off, 'grade')} off the scale {'clipped' if off_scale == 'clip' else 'dropped'}")
        return notes


def scale_of(qrels: Qrels) -> tuple[int, int]:
    """The lowest and the highest grade that people used; 0 at least is one of theirs."""
    return min(0, int(qrels.grades.min(initial=0))), max(0, int(qrels.grades.max(initial=0)))


def on_scale(labels: Labels, scale: tuple[int, int], rule: OffScale, path: StrPath) -> Judge:
    """The judge with every grade on ``scale`` (lowest, highest).

    Raises :class:`InputError` with the lines of grades off the scale where ``rule`` is ``refuse``.
    """
    qrels = labels.qrels
    lowest, highest = scale
    outside = (qrels.grades < lowest) | (qrels.grades > highest)
    counts = dict(sorted(Counter(qrels.grades[outside].tolist()).items()))
    if counts and rule == "refuse":
        advice = "choose --off-scale drop or clip, or correct the file"
        found = [
            Problem(
                path, labels.line(path, place),
                f"grade {qrels.grades[place]} is off the scale {lowest} to {highest} of the judgments", advice, "off-scale",
            )
            for place in np.flatnonzero(outside)[:MAX_PROBLEMS].tolist()
        ]  # fmt: skip
        raise InputError(found, int(outside.sum()))
    if counts and rule == "clip":
        labels = replace(labels, qrels=replace(qrels, grades=np.clip(qrels.grades, lowest, highest)))
    elif counts:
        if outside.all():
            raise input_error(path, None, f"no grade is on the scale {lowest} to {highest}", "check the file", "off-scale")
        labels = replace(labels, qrels=_taken(qrels, ~outside), lines=None)
    return Judge(labels, counts)


def _taken(qrels: Qrels, kept: np.ndarray) -> Qrels:
    """The judgments that ``kept`` (bool[n]) chooses, of the turns that still have one."""
    codes, turn_codes = np.unique(qrels.turn_codes[kept], return_inverse=True)
    return replace(
        qrels,
        turns=tuple(qrels.turns[code] for code in codes),
        turn_codes=turn_codes.astype(np.int32),
        ids=qrels.ids.take(kept),
        grades=qrels.grades[kept],
    )
