"""Decide, for every command, which turns count.

Also decide which turns each file misses, and which files do not belong together. A judged turn that
a file misses scores 0, or is dropped for all files; the policy decides. A file without any of the
expected turns is rejected. So is a run without any judged passage, unless the command also analyzes
entirely unjudged runs.
"""

from __future__ import annotations

import re
from collections import Counter
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
class AskedTurns:
    """The turns that a set of paraphrases asks.

    turns
        The turns for which it has a text; None if its texts are unknown.
    runs
        The sets of its groups. If its texts are unknown, it is assumed to ask the turns that one of
        their runs has.
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
class CoveredTurns:
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
        bool[T]: whether its score of the turn is missing, so that the turn is neither covered nor
        failed; None for none.
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
        Name of a set of paraphrases → bool[T]: whether it asks the turn. All other files are asked
        every turn.
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
    turns = tuple(sorted(qrels.turns, key=turn_sort_key))
    return Expected(turns, passage=qrels.ids[0], documents=documents)


def covered_by_run(name: str, path: StrPath, matrix: GradeMatrix) -> CoveredTurns:
    """Return which turns the run of a grade matrix has."""
    turn, passage = matrix.first
    return CoveredTurns(
        name=name,
        path=path,
        missing=matrix.missing,
        turn=turn,
        passage=passage,
        extra=matrix.extra_turns,
        judged=not no_judged_passage(matrix),
    )


def covered_by_turns(
    name: str, path: StrPath, turns: Collection[str], expected: Expected
) -> CoveredTurns:
    """Return which expected turns a file with these ``turns`` has."""
    known = frozenset(turns)
    missing = np.array([turn not in known for turn in expected.turns], dtype=bool)
    extra = len(turns) - int((~missing).sum())
    return CoveredTurns(name, path, missing, turn=next(iter(turns), ""), extra=extra)


def count_turns(
    expected: Expected,
    files: Sequence[CoveredTurns],
    missing: Missing,
    *,
    holes: bool = False,
    alone: bool = False,
    asked: Mapping[str, AskedTurns] | None = None,
    apart: bool = False,
) -> Turns:
    """Return the turns that count.

    holes
        A run without judged passages gives a note instead of an error.
    alone
        Runs are not compared on the same turns: with the rule ``own`` every turn counts that at
        least one file answers, and so do turns with missing scores, which are left out otherwise.
    asked
        Sets of paraphrases by name. A turn that a set does not ask is not missing from its run, and
        a turn that no set asks does not count.
    apart
        Systems are not compared with each other, so that a turn that no set asks counts.

    Raises :class:`InputError` for every file that does not belong to the expected turns, and
    :class:`UsageError` if no turn remains.
    """
    problems = strangers(expected, files)
    if not holes:
        problems += unjudged_runs(expected, files)
    if problems:
        raise InputError(problems)
    asked = asked or {}
    asked_turns = _asked_turns(expected, files, asked)
    files = [_excused(file, asked_turns.get(file.name)) for file in files]
    size = len(expected.turns)
    lacking = _union([file.missing for file in files], size)
    unscored = _union([file.unscored for file in files if file.unscored is not None], size)
    counts = ~lacking
    if missing == "zero":
        counts = np.ones(size, dtype=bool)
    elif missing == "own" and alone:
        counts = _union([~file.missing for file in files], size)
    if not alone:
        counts &= ~unscored
    if asked_turns and not apart:
        asked_by_any = _union(list(asked_turns.values()), size)
        counts, lacking = counts & asked_by_any, lacking & asked_by_any
    if not counts.any():
        raise UsageError(
            "no-turns", "no turn is answered by all files", "check that their turn ids agree"
        )
    notes = [*_extra_notes(files), *notes_on(expected, files)]
    notes += _unasked_notes(asked_turns, asked, apart)
    if not alone:
        notes += _unscored_notes(expected, files, int(unscored.sum()))
    missing_turns = {}
    for file in files:
        if file.missing.any():
            missing_turns[file.name] = tuple(compress(expected.turns, file.missing))
    return Turns(expected, counts, lacking, missing_turns, tuple(notes), asked_turns, unscored)


def _union(masks: Sequence[Mask], size: int) -> Mask:
    """Return bool[size]: whether any of the masks is true."""
    union = np.zeros(size, dtype=bool)
    for mask in masks:
        union |= mask
    return union


def _excused(file: CoveredTurns, asked: Mask | None) -> CoveredTurns:
    """Return the file without missing turns that it is not asked, or whose score is missing."""
    missing = file.missing
    if asked is not None:
        missing = missing & asked
    if file.unscored is not None:
        missing = missing & ~file.unscored
    return replace(file, missing=missing)


def _asked_turns(
    expected: Expected, files: Sequence[CoveredTurns], asked: Mapping[str, AskedTurns]
) -> dict[str, Mask]:
    """Return name of a set → bool[T]: whether it asks the turn; only of sets that have a file."""
    covered = {file.name: ~file.missing for file in files}
    asked_turns = {}
    for name, paraphrases in asked.items():
        if name not in covered:
            continue
        if paraphrases.turns is None:
            of_runs = [covered[run] for run in paraphrases.runs if run in covered]
            asked_turns[name] = np.any(of_runs, axis=0)
        else:
            known = [turn in paraphrases.turns for turn in expected.turns]
            asked_turns[name] = np.array(known, dtype=bool)
    return asked_turns


def _extra_notes(files: Sequence[CoveredTurns]) -> list[str]:
    """Return a note if runs have turns that are not judged.

    Only runs have passages; notes on other files are made where they are read.
    """
    extra = max((file.extra for file in files if file.passage), default=0)
    return [no_judgments(extra, "the runs")] if extra else []


def _unscored_notes(expected: Expected, files: Sequence[CoveredTurns], turns: int) -> list[str]:
    """Return a note on the ``turns`` that are left out because a score is missing."""
    systems = []
    for file in files:
        if file.unscored is not None and file.unscored.any():
            names = tuple(compress(expected.turns, file.unscored))
            systems.append(f"{system_name(file.name)} {some_of(names)}")
    if not systems:
        return []
    left_out = f"{counted(turns, 'turn')} left out, because a score is missing"
    return [f"{left_out}: {'; '.join(systems)}"]


def _unasked_notes(
    asked_turns: Mapping[str, Mask], asked: Mapping[str, AskedTurns], apart: bool
) -> list[str]:
    """Return notes on the sets that do not cover every turn.

    Sets that cover the same turns for the same reason have one note.
    """
    names_of: dict[tuple[bytes, bool], list[str]] = {}
    for name, turns in asked_turns.items():
        if not turns.all():
            is_assumed = asked[name].turns is None
            names_of.setdefault((turns.tobytes(), is_assumed), []).append(name)
    return [
        _unasked_note(names, asked_turns[names[0]], is_assumed, apart)
        for (_, is_assumed), names in names_of.items()
    ]


def _unasked_note(names: Sequence[str], turns: Mask, is_assumed: bool, apart: bool) -> str:
    """Return the note on sets that all cover ``turns`` (bool[T]).

    ``is_assumed``: their texts are unknown, so that this is an assumption.
    """
    number = len(names)
    systems = ", ".join(map(system_name, names))
    if is_assumed:
        covers = verb(number, "has passages for", "have passages for")
    else:
        covers = verb(number, "covers", "cover")
    covered = f"{int(turns.sum())} of {counted(len(turns), 'turn')}"
    others = int((~turns).sum())
    left_out_of = verb(number, "it", "them")
    if not apart:
        left_out_of += verb(number, " and its baseline", " and their baseline")
    left_out = f"the other {others} {verb(others, 'is', 'are')} left out of {left_out_of}"
    if is_assumed:
        left_out += f", {assumed(systems)}"
    return f"{systems} {covers} {covered}; {left_out}"


def assumed(who: str) -> str:
    """Return why turns without passages are left out of sets whose texts are unknown."""
    unknown = f"because the texts of {who} are unknown (add them to [texts] or [raw_texts])"
    return f"on the assumption that they were not asked, {unknown}"


def no_judgments(turns: int, source: str) -> str:
    """Return the note on the turns of a source that are excluded because they are not judged."""
    have = verb(turns, "has no judgments and is", "have no judgments and are")
    return f"{counted(turns, 'turn')} of {source} {have} excluded"


def strangers(expected: Expected, files: Sequence[CoveredTurns]) -> list[Problem]:
    """Return a problem for every file without any of the expected turns."""
    problems = []
    for file in files:
        if file.missing.all():
            mismatch = (
                f"none of its turns is in {expected.what}: its turn ids look like {file.turn!r},"
                f" those of {expected.what} like {expected.turns[0]!r}"
            )
            advice = "check that the files belong together"
            problems.append(Problem(file.path, None, mismatch, advice, "no-common-turns"))
    return problems


def unjudged_runs(expected: Expected, files: Sequence[CoveredTurns]) -> list[Problem]:
    """Return a problem for every run that answers judged turns but retrieves no judged passage."""
    problems = []
    for file in files:
        if not file.judged and not file.missing.all():
            mismatch = (
                "none of its passages is judged: its passage ids look like"
                f" {file.passage!r}, those of {expected.what} like {expected.passage!r}"
            )
            advice = _advice(file.passage, expected)
            problems.append(Problem(file.path, None, mismatch, advice, "no-judged-passage"))
    return problems


def _advice(passage: str, expected: Expected) -> str:
    """Return the advice for a retrieved ``passage`` that is not judged.

    Its id is cut, if the policy cuts ids.
    """
    if bool(_NUMBERED.search(passage)) != bool(_NUMBERED.search(expected.passage)):
        return Message(
            "one of them has passages DOC:N, the other documents DOC; give both the same ids (",
            OptionName("documents"),
            " cuts only DOC-N)",
        )
    judged_are_passages = are_passage_ids(Ids.of([expected.passage]))
    if expected.documents and judged_are_passages:
        return Message(
            "remove ",
            OptionName("documents"),
            " (documents = true in [policy]): it cuts DOC-N to DOC in the ids of runs",
        )
    retrieved_are_passages = are_passage_ids(Ids.of([passage]))
    if not expected.documents and not judged_are_passages and retrieved_are_passages:
        return Message(
            "use ",
            OptionName("documents"),
            " (documents = true in [policy]) to evaluate passages DOC-N as documents DOC",
        )
    return "check that the files belong together"


def notes_on(expected: Expected, files: Sequence[CoveredTurns]) -> list[Note]:
    """Return notes on entirely unjudged runs and on missing turns, by file.

    Files without common turns are ignored.
    """
    notes: list[Note] = []
    unjudged = (
        f"none of its passages is judged (ids of {expected.what} look like {expected.passage!r})"
    )
    for file in files:
        for problem in unjudged_runs(expected, [file]):
            kind = f"{unjudged}; {problem.advice}"
            alone = f"{file.name}: {problem.found}; {problem.advice}"
            notes.append(Note.of(file.name, f"{file.passage!r}", kind, alone))
        if file.missing.any() and not file.missing.all():
            notes.append(lacks_note(file.name, tuple(compress(expected.turns, file.missing))))
    return notes


def lacks_note(name: str, turns: Sequence[str]) -> Note:
    """Return a note such as ``t5 misses 2 turns: 31_2, 31_4``."""
    system, number = system_name(name), counted(len(turns), "turn")
    alone = f"{system} misses {number}: {some_of(turns)}"
    return Note.of(system, f"{number}: {some_of(turns, 2)}", "missing turns", alone)


def union_of_turns(files: Sequence[tuple[StrPath, Collection[str]]], what: str) -> Expected:
    """Return all turns of files for which there are no other expected turns.

    ``files``: path and turns of each. ``what``: their collective name.

    Raises :class:`InputError` for every file that shares no turn with the others. If there are
    several, they are compared with the first of them.
    """
    turns_of = [set(turns) for _, turns in files]
    number_of_files: Counter[str] = Counter()
    for turns in turns_of:
        number_of_files.update(turns)
    shared = {turn for turn, number in number_of_files.items() if number > 1}
    sharing = [not shared.isdisjoint(turns) for turns in turns_of]
    if len(files) > 1 and not all(sharing):
        first = sharing.index(True) if any(sharing) else 0
        path, _ = files[first]
        against = Expected(tuple(sorted(turns_of[first], key=turn_sort_key)), str(path))
        wrong = []
        for place, (path, file_turns) in enumerate(files):
            if not sharing[place] and place != first:
                wrong.append(covered_by_turns("", path, list(file_turns), against))
        raise InputError(strangers(against, wrong))
    return Expected(tuple(sorted(number_of_files, key=turn_sort_key)), what)
