"""Decide, for every command, which turns count, which turns each file misses, and which files do not belong together.

A judged turn that a file misses scores 0, or is dropped for all files; the policy decides. A file without any of the expected
turns is rejected. So is a run without any judged passage, unless the command also analyzes entirely unjudged runs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from robustcs.errors import InputError, Problem, UsageError
from robustcs.evaluation.matrix import GradeMatrix, no_judged_passage
from robustcs.inputs.ids import Ids, are_passage_ids
from robustcs.inputs.paths import StrPath
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.turns import turn_sort_key
from robustcs.messages import Message, OptionName
from robustcs.policy import Missing
from robustcs.statistics import Mask
from robustcs.wording import Note, counted, some_of, system_name, verb

#: The number of a passage in ClueWeb22 and iKAT.
_NUMBERED = re.compile(r":[0-9]+\Z")


@dataclass(frozen=True)
class Asked:
    """The turns that a set of paraphrases asks.

    turns
        The turns for which it has a text; None if its texts are unknown.
    runs
        The sets of its groups. If its texts are unknown, it is assumed to ask the turns that one of their runs has.
    """

    turns: frozenset[str] | None
    runs: tuple[str, ...]


@dataclass(frozen=True)
class Expected:
    """The turns that files are expected to have.

    turns
        The T expected turns, in natural order.
    what
        Their source, for messages: ``the qrels``, ``the gold answers``.
    passage
        A judged passage, for messages.
    documents
        Whether the policy cuts the ids of passages in runs to those of documents.
    """

    turns: tuple[str, ...]
    what: str = "the qrels"
    passage: str = ""
    documents: bool = False


@dataclass(frozen=True, eq=False)
class Answered:
    """The expected turns that one file (a run, per-turn scores, answers or texts) has.

    path
        The file as the user named it.
    missing
        bool[T]: whether the file misses the turn.
    turn, passage
        One of its own turns and passages, for messages.
    extra
        Number of its turns that are not expected.
    judged
        Whether any of its passages is judged; True for files without passages.
    unscored
        bool[T]: whether its score of the turn is missing, so that the turn is neither answered nor failed; None for none.
    """

    name: str
    path: StrPath
    missing: Mask
    turn: str
    passage: str = ""
    extra: int = 0
    judged: bool = True
    unscored: Mask | None = None


@dataclass(frozen=True, eq=False)
class Turns:
    """The turns that count.

    counted, lacking
        bool[T]: whether the turn counts; whether at least one file misses it.
    missing
        Name of a file → the turns that it misses, if any.
    notes
        Notes: excluded turns, files with missing turns, and entirely unjudged runs.
    asked
        Name of a set of paraphrases → bool[T]: whether it asks the turn. All other files are asked every turn.
    unscored
        bool[T]: whether the score of at least one file is missing.
    """

    expected: Expected
    counted: Mask
    lacking: Mask
    missing: dict[str, tuple[str, ...]]
    notes: tuple[str, ...]
    asked: Mapping[str, Mask]
    unscored: Mask

    @property
    def names(self) -> tuple[str, ...]:
        """The ids of the turns that count."""
        return tuple(compress(self.expected.turns, self.counted))


def expected_of(qrels: Qrels, documents: bool = False) -> Expected:
    """Return the judged turns in the order of a grade matrix."""
    return Expected(
        tuple(sorted(qrels.turns, key=turn_sort_key)), passage=qrels.ids[0], documents=documents
    )


def answered_by_run(name: str, path: StrPath, matrix: GradeMatrix) -> Answered:
    """Return which turns the run of a grade matrix has."""
    turn, passage = matrix.first
    return Answered(
        name, path, matrix.missing, turn, passage, matrix.extra_turns, not no_judged_passage(matrix)
    )


def answered_by_turns(
    name: str, path: StrPath, own: Collection[str], expected: Expected
) -> Answered:
    """Return which expected turns a file with the turns ``own`` has."""
    known = frozenset(own)
    missing = np.array([turn not in known for turn in expected.turns], dtype=bool)
    return Answered(
        name, path, missing, next(iter(own), ""), extra=len(own) - int((~missing).sum())
    )


def count_turns(
    expected: Expected,
    files: Sequence[Answered],
    missing: Missing,
    *,
    holes: bool = False,
    alone: bool = False,
    asked: Mapping[str, Asked] | None = None,
    apart: bool = False,
) -> Turns:
    """Return the turns that count.

    ``holes``: a run without judged passages gives a note instead of an error. ``alone``: runs are not compared on the same
    turns, so with ``own`` every turn counts that at least one file answers, and so do turns with missing scores, which are left
    out otherwise. ``asked``: a turn that a set of paraphrases does not ask is not missing from its run, and a turn that no set
    asks does not count, unless systems are not compared with each other (``apart``).

    Raises :class:`InputError` for every file that does not belong to the expected turns, and :class:`UsageError` if no turn
    remains.
    """
    problems = [*strangers(expected, files), *([] if holes else unjudged_runs(expected, files))]
    if problems:
        raise InputError(problems)
    sets = _asked(expected, files, asked or {})
    files = [
        replace(one, missing=one.missing & sets[one.name]) if one.name in sets else one
        for one in files
    ]
    lacking, answered, unscored = np.zeros((3, len(expected.turns)), dtype=bool)
    told = []
    for place, file in enumerate(files):
        if file.unscored is not None and file.unscored.any():
            unscored |= file.unscored
            told.append(
                f"{system_name(file.name)} {some_of(tuple(compress(expected.turns, file.unscored)))}"
            )
            files[place] = replace(file, missing=file.missing & ~file.unscored)
    for file in files:
        lacking |= file.missing
        answered |= ~file.missing
    own = answered if alone else ~lacking
    kept = {"zero": np.ones(len(lacking), dtype=bool), "drop": ~lacking, "own": own}[missing]
    if not alone:
        kept &= ~unscored
    if sets and not apart:
        by_any = np.any(list(sets.values()), axis=0)
        kept, lacking = kept & by_any, lacking & by_any
    if not kept.any():
        raise UsageError(
            "no-turns", "no turn is answered by all files", "check that their turn ids agree"
        )
    lacks = {
        file.name: tuple(compress(expected.turns, file.missing))
        for file in files
        if file.missing.any()
    }
    # only runs have passages; notes on other files are made where they are read
    extra = max((file.extra for file in files if file.passage), default=0)
    left_out = [no_judgments(extra, "the runs")] if extra else []
    notes = [*left_out, *notes_on(expected, files), *_unasked_notes(sets, asked or {}, apart)]
    if told and not alone:
        number = int(unscored.sum())
        notes.append(
            f"{counted(number, 'turn')} left out, because a score is missing: {'; '.join(told)}"
        )
    return Turns(expected, kept, lacking, lacks, tuple(notes), sets, unscored)


def _asked(
    expected: Expected, files: Sequence[Answered], asked: Mapping[str, Asked]
) -> dict[str, Mask]:
    """Return name of a set → bool[T]: whether it asks the turn."""
    answered = {file.name: ~file.missing for file in files}
    found = {}
    for name, one in asked.items():
        if one.turns is None:
            found[name] = np.any([answered[run] for run in one.runs if run in answered], axis=0)
        else:
            found[name] = np.array([turn in one.turns for turn in expected.turns], dtype=bool)
    return {name: own for name, own in found.items() if name in answered}


def _unasked_notes(sets: Mapping[str, Mask], asked: Mapping[str, Asked], apart: bool) -> list[str]:
    """Return a note for the sets that do not cover every turn, together if they cover the same ones for the same reason."""
    alike: dict[tuple[bytes, bool], list[str]] = {}
    for name, own in sets.items():
        if not own.all():
            alike.setdefault((own.tobytes(), asked[name].turns is None), []).append(name)
    notes = []
    for (_, unknown), names in alike.items():
        own = sets[names[0]]
        left, of = int((~own).sum()), f"{int(own.sum())} of {counted(len(own), 'turn')}"
        who, one = ", ".join(map(system_name, names)), len(names) == 1
        whose = "it" if one else "them"
        whose += "" if apart else f" and {'its' if one else 'their'} baseline"
        both = f"the other {left} {verb(left, 'is', 'are')} left out of {whose}"
        both += f", {assumed(who)}" if unknown else ""
        does = (
            ("has passages for" if one else "have passages for")
            if unknown
            else "covers"
            if one
            else "cover"
        )
        notes.append(f"{who} {does} {of}; {both}")
    return notes


def assumed(who: str) -> str:
    """Return on which assumption the turns without passages are left out of sets whose texts are unknown."""
    unknown = f"because the texts of {who} are unknown (add them to [texts] or [raw_texts])"
    return f"on the assumption that they were not asked, {unknown}"


def no_judgments(turns: int, source: str) -> str:
    """Return the note on the turns of a source that are excluded because the qrels do not have them."""
    have = verb(turns, "has no judgments and is", "have no judgments and are")
    return f"{counted(turns, 'turn')} of {source} {have} excluded"


def strangers(expected: Expected, files: Sequence[Answered]) -> list[Problem]:
    """Return a problem for every file without any of the expected turns."""
    return [
        Problem(
            file.path, None,
            f"none of its turns is in {expected.what}: its turn ids look like {file.turn!r}, those of {expected.what} like"
            f" {expected.turns[0]!r}",
            "check that the files belong together", "no-common-turns",
        )
        for file in files
        if file.missing.all()
    ]  # fmt: skip


def unjudged_runs(expected: Expected, files: Sequence[Answered]) -> list[Problem]:
    """Return a problem for every run that answers judged turns but retrieves no judged passage."""
    return [
        Problem(
            file.path, None,
            f"none of its passages is judged: its passage ids look like {file.passage!r}, those of {expected.what} like"
            f" {expected.passage!r}",
            _advice(file.passage, expected),
            "no-judged-passage",
        )
        for file in files
        if not file.judged and not file.missing.all()
    ]  # fmt: skip


def _advice(found: str, expected: Expected) -> str:
    """Return the advice for a passage id ``found`` (cut, if the policy cuts ids) that is not judged."""
    if bool(_NUMBERED.search(found)) != bool(_NUMBERED.search(expected.passage)):
        return Message(
            "one of them has passages DOC:N, the other documents DOC; give both the same ids (",
            OptionName("documents"),
            " cuts only DOC-N)",
        )
    judged = are_passage_ids(Ids.of([expected.passage]))
    if expected.documents and judged:
        return Message(
            "remove ",
            OptionName("documents"),
            " (documents = true in [policy]): it cuts DOC-N to DOC in the ids of runs",
        )
    if not expected.documents and not judged and are_passage_ids(Ids.of([found])):
        return Message(
            "use ",
            OptionName("documents"),
            " (documents = true in [policy]) to evaluate passages DOC-N as documents DOC",
        )
    return "check that the files belong together"


def notes_on(expected: Expected, files: Sequence[Answered]) -> list[Note]:
    """Return notes on entirely unjudged runs and on missing turns, by file; files without common turns are ignored."""
    notes: list[Note] = []
    for file in files:
        alike = f"none of its passages is judged (ids of {expected.what} look like {expected.passage!r})"
        notes += [
            Note.of(
                file.name,
                f"{file.passage!r}",
                f"{alike}; {one.advice}",
                f"{file.name}: {one.found}; {one.advice}",
            )
            for one in unjudged_runs(expected, [file])
        ]
        if file.missing.any() and not file.missing.all():
            notes.append(lacks_note(file.name, tuple(compress(expected.turns, file.missing))))
    return notes


def lacks_note(name: str, turns: Sequence[str]) -> Note:
    """Return a note such as ``t5 misses 2 turns: 31_2, 31_4``."""
    alone = f"{system_name(name)} misses {counted(len(turns), 'turn')}: {some_of(turns)}"
    return Note.of(
        system_name(name),
        f"{counted(len(turns), 'turn')}: {some_of(turns, 2)}",
        "missing turns",
        alone,
    )


def union_of_turns(files: Sequence[tuple[StrPath, Collection[str]]], what: str) -> Expected:
    """Return all turns of files for which there are no other expected turns; ``what``: their collective name.

    Raises :class:`InputError` for every file that shares no turn with the others. If there are several, they are compared with
    the first of them.
    """
    every = [set(turns) for _, turns in files]
    alone = [
        place
        for place, own in enumerate(every)
        if own.isdisjoint(set().union(*every[:place], *every[place + 1 :]))
    ]
    if len(files) > 1 and alone:
        first = (
            0
            if len(alone) == len(files)
            else next(place for place in range(len(files)) if place not in alone)
        )
        against = Expected(tuple(sorted(every[first], key=turn_sort_key)), str(files[first][0]))
        wrong = [
            answered_by_turns("", files[place][0], list(files[place][1]), against)
            for place in alone
            if place != first
        ]
        raise InputError(strangers(against, wrong))
    return Expected(tuple(sorted(set().union(*every), key=turn_sort_key)), what)
