"""Which turns count, which file lacks which of them, and which file belongs to something else: decided here, for every command.

A judged turn that a file lacks scores 0 and counts, or is dropped for all files, as the policy says. A file that shares no turn
with what it is held against is refused, and so is a run none of whose passages is judged, except where a run of holes alone
means something.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from robustcs.errors import InputError, Problem, UsageError
from robustcs.evaluation.matrix import GradeMatrix, no_judged_passage
from robustcs.inputs.ids import Ids, are_passage_ids
from robustcs.inputs.paths import StrPath
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.turns import turn_sort_key
from robustcs.policy import Missing
from robustcs.statistics import Mask
from robustcs.wording import counted, some_of


@dataclass(frozen=True)
class Expected:
    """What files are held against.

    turns
        The T turns that are to be answered, in natural order.
    what
        Where they stand, for messages: ``the qrels``, ``the gold answers``.
    passage
        A judged passage, for messages.
    """

    turns: tuple[str, ...]
    what: str = "the qrels"
    passage: str = ""


@dataclass(frozen=True, eq=False)
class Answered:
    """What one file (a run, per-turn scores, answers or texts) has of the expected turns.

    path
        The file as the user named it.
    missing
        bool[T]: the file lacks the turn.
    turn, passage
        One of its own turns and passages, for messages.
    extra
        How many of its turns are not expected.
    judged
        Whether one of its passages is judged; True where it has none to be judged.
    """

    name: str
    path: StrPath
    missing: Mask
    turn: str
    passage: str = ""
    extra: int = 0
    judged: bool = True


@dataclass(frozen=True, eq=False)
class Turns:
    """The turns that count.

    counted, lacking
        bool[T]: the turn counts; at least one file lacks it.
    missing
        Name of a file → the turns that it lacks, where there are any.
    notes
        What a reader should know: turns left out, files that lack turns, runs of holes alone.
    """

    expected: Expected
    counted: Mask
    lacking: Mask
    missing: dict[str, tuple[str, ...]]
    notes: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The turns that count."""
        return _chosen(self.expected.turns, self.counted)


def expected_of(qrels: Qrels) -> Expected:
    """The judged turns, as a grade matrix has them."""
    return Expected(tuple(sorted(qrels.turns, key=turn_sort_key)), passage=qrels.documents[0])


def answered_by_run(name: str, path: StrPath, matrix: GradeMatrix) -> Answered:
    """What the run of a grade matrix has."""
    turn, passage = matrix.first
    return Answered(name, path, matrix.missing, turn, passage, matrix.extra_turns, not no_judged_passage(matrix))


def answered_by_turns(name: str, path: StrPath, own: Collection[str], expected: Expected) -> Answered:
    """What a file with these turns has."""
    missing = np.array([turn not in own for turn in expected.turns], dtype=bool)
    return Answered(name, path, missing, next(iter(own), ""), extra=len(own) - int((~missing).sum()))


def count_turns(
    expected: Expected, files: Sequence[Answered], missing: Missing, *, holes: bool = False, alone: bool = False
) -> Turns:
    """Which turns count. ``holes``: a run none of whose passages is judged is noted and not refused. ``alone``: runs are not
    compared on the same turns, so that with ``own`` every turn counts that some file answers.

    Raises :class:`InputError` for every file that belongs to something else, and :class:`UsageError` where ``drop`` leaves no
    turn.
    """
    problems = [*strangers(expected, files), *([] if holes else unjudged_runs(expected, files))]
    if problems:
        raise InputError(problems)
    lacking, answered = np.zeros((2, len(expected.turns)), dtype=bool)
    for file in files:
        lacking |= file.missing
        answered |= ~file.missing
    own = answered if alone else ~lacking
    kept = {"zero": np.ones(len(lacking), dtype=bool), "drop": ~lacking, "own": own}[missing]
    if not kept.any():
        raise UsageError("no-turns", "no turn is answered by all files", "check that their turn ids agree")
    lacks = {file.name: _chosen(expected.turns, file.missing) for file in files if file.missing.any()}
    # a run comes with passages; other files are told of where they are read
    extra = max((file.extra for file in files if file.passage), default=0)
    left_out = [f"{counted(extra, 'turn')} of the runs without judgments left out"] if extra else []
    return Turns(expected, kept, lacking, lacks, (*left_out, *notes_on(expected, files)))


def strangers(expected: Expected, files: Sequence[Answered]) -> list[Problem]:
    """A problem for every file that has none of the expected turns."""
    return [
        Problem(
            file.path, None,
            f"none of its turns is in {expected.what}: it has turns like {file.turn!r}, {expected.what} like"
            f" {expected.turns[0]!r}",
            "check that they belong together", "no-common-turns",
        )
        for file in files
        if file.missing.all()
    ]  # fmt: skip


def unjudged_runs(expected: Expected, files: Sequence[Answered]) -> list[Problem]:
    """A problem for every run that answers judged turns, but with passages that nobody judged."""
    return [
        Problem(
            file.path, None,
            f"none of its passages is judged: it has passages like {file.passage!r}, {expected.what} like"
            f" {expected.passage!r}",
            _advice(file.passage, expected.passage),
            "no-judged-passage",
        )
        for file in files
        if not file.judged and not file.missing.all()
    ]  # fmt: skip


def _advice(found: str, judged: str) -> str:
    """What to do about a passage ``found`` where passages like ``judged`` are judged."""
    advice = "check that they belong together"
    if not are_passage_ids(Ids.of([judged])):
        if are_passage_ids(Ids.of([found])):
            return "--documents (documents = true in [policy]) evaluates passages DOC-N as documents DOC"
        return advice
    return f"{advice}; leave out --documents (documents = true in [policy]) if given: it cuts the ids of runs, DOC-N to DOC"


def notes_on(expected: Expected, files: Sequence[Answered]) -> list[str]:
    """Runs of holes alone, and which turns are missing, file by file; nothing of files that belong to something else."""
    notes = []
    for file in files:
        notes += [f"{file.name}: {problem.found}; {problem.advice}" for problem in unjudged_runs(expected, [file])]
        if file.missing.any() and not file.missing.all():
            notes.append(lacks_note(file.name, _chosen(expected.turns, file.missing)))
    return notes


def lacks_note(name: str, turns: Sequence[str]) -> str:
    """``t5 lacks 2 turns: 31_2, 31_4``."""
    return f"{name} lacks {counted(len(turns), 'turn')}: {some_of(turns)}"


def union_of_turns(files: Sequence[tuple[StrPath, Collection[str]]], what: str) -> Expected:
    """All turns of files that have nothing but each other to be held against; ``what`` they are called together.

    Raises :class:`InputError` for every file that shares no turn with the others (of several such files the first is what the
    others are held against).
    """
    every = [set(turns) for _, turns in files]
    alone = [place for place, own in enumerate(every) if own.isdisjoint(set().union(*every[:place], *every[place + 1 :]))]
    if len(files) > 1 and alone:
        first = 0 if len(alone) == len(files) else next(place for place in range(len(files)) if place not in alone)
        against = Expected(tuple(sorted(every[first], key=turn_sort_key)), str(files[first][0]))
        wrong = [answered_by_turns("", files[place][0], list(files[place][1]), against) for place in alone if place != first]
        raise InputError(strangers(against, wrong))
    return Expected(tuple(sorted(set().union(*every), key=turn_sort_key)), what)


def _chosen(turns: Sequence[str], mask: Mask) -> tuple[str, ...]:
    return tuple(turn for turn, chosen in zip(turns, mask, strict=True) if chosen)
