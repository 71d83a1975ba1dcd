"""Judges whose grades are compared with human judgments, on the human scale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from robustcs.errors import MAX_PROBLEMS, InputError, Problem, input_error
from robustcs.evaluation.judgments import taken
from robustcs.evaluation.matrix import Grades
from robustcs.evaluation.run_pool import RunPool
from robustcs.evaluation.turns import Turns
from robustcs.inputs.labels import Labels
from robustcs.inputs.paths import StrPath
from robustcs.inputs.qrels import Qrels
from robustcs.messages import Message, OptionName
from robustcs.statistics import Mask
from robustcs.wording import Note, counted

#: Treatment of grades outside the scale: reject the file, drop the grade, or use the nearest grade.
OffScale = Literal["refuse", "drop", "clip"]


@dataclass(frozen=True, eq=False)
class Judge:
    """A judge on the scale of the human judgments.

    off_scale
        Grade outside the scale → number of labels with it.
    """

    labels: Labels
    off_scale: Mapping[int, int]

    @property
    def qrels(self) -> Qrels:
        """The labels on the scale."""
        return self.labels.qrels


@dataclass(frozen=True, eq=False)
class JudgedPool:
    """All N pairs of human judgments, judges and runs, in T turns that people or a judge judged.

    human
        int16[N + 1]: human grades; :data:`~robustcs.evaluation.matrix.UNJUDGED` if there is none.
        The last entry is for ranks without a passage.
    judges
        Name → judge. ``grades``: name → its labels in the form of ``human``.
    scale
        The lowest and the highest grade.
    turns
        The turns that count, given the turns that the runs answer.
    """

    pool: RunPool
    human: Grades
    judges: Mapping[str, Judge]
    grades: Mapping[str, Grades]
    scale: tuple[int, int]
    turns: Turns

    @property
    def counted(self) -> Mask:
        """bool[T]: whether the turn counts."""
        return self.turns.counted

    def notes(self, off_scale: OffScale) -> list[str]:
        """Return notes on the files of the judges: skipped labels, and grades outside the scale."""
        notes: list[str] = []
        for name, judge in self.judges.items():
            labels = judge.labels
            notes += labels.qrels.notes
            if labels.unlabelled:
                rows = counted(labels.unlabelled, "row")
                notes.append(Note.of(name, rows, "without a grade skipped"))
            if labels.fallback:
                answers = counted(labels.fallback, "answer")
                reason = "that its parser could not read (result_status 0) skipped"
                notes.append(Note.of(name, answers, reason))
            if labels.unknown:
                unknown = counted(labels.unknown, "label")
                reason = "for texts that match no turn or passage skipped"
                notes.append(Note.of(name, unknown, reason))
            outside = sum(judge.off_scale.values())
            if outside:
                treatment = "clipped" if off_scale == "clip" else "dropped"
                grades = counted(outside, "grade")
                notes.append(Note.of(name, grades, f"outside the scale {treatment}"))
        return notes


def scale_of(qrels: Qrels) -> tuple[int, int]:
    """Return the lowest and the highest human grade; the scale always includes 0."""
    return min(0, int(qrels.grades.min(initial=0))), max(0, int(qrels.grades.max(initial=0)))


def on_scale(labels: Labels, scale: tuple[int, int], rule: OffScale, path: StrPath) -> Judge:
    """Return the judge with every grade on ``scale`` (lowest, highest).

    Raises :class:`InputError` with the lines of grades outside the scale if ``rule`` is ``refuse``,
    or if no grade is on it and ``rule`` is ``drop``.
    """
    qrels = labels.qrels
    lowest, highest = scale
    outside = (qrels.grades < lowest) | (qrels.grades > highest)
    counts = dict(sorted(Counter(qrels.grades[outside].tolist()).items()))
    if not counts:
        return Judge(labels, counts)
    if rule == "refuse":
        raise _off_scale(labels, outside, scale, path)
    if rule == "clip":
        grades = np.clip(qrels.grades, lowest, highest)
        return Judge(replace(labels, qrels=replace(qrels, grades=grades)), counts)
    if outside.all():
        raise input_error(
            path,
            None,
            f"no grade is on the scale {lowest} to {highest}",
            "check the file",
            "off-scale",
        )
    return Judge(replace(labels, qrels=taken(qrels, ~outside), lines=None), counts)


def _off_scale(labels: Labels, outside: Mask, scale: tuple[int, int], path: StrPath) -> InputError:
    """Return the error on the grades selected by ``outside`` (bool[n])."""
    lowest, highest = scale
    problems = []
    for place in np.flatnonzero(outside)[:MAX_PROBLEMS].tolist():
        grade = labels.qrels.grades[place]
        problem = Problem(
            path,
            labels.line(path, place),
            f"grade {grade} is outside the scale {lowest} to {highest} of the judgments",
            Message("use ", OptionName("off-scale"), " drop or clip, or correct the file"),
            "off-scale",
        )
        problems.append(problem)
    return InputError(problems, int(outside.sum()))
