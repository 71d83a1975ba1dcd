"""Call a program to judge: the order of the passages, the requests, and the answers that count.

The answers are kept in a JSONL file with the grades of one program. No command accepts it as human judgments.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from robustcs.conversations import Conversations
from robustcs.documents.files import write_text
from robustcs.errors import ProblemList, UsageError, input_error
from robustcs.inputs.labels import JUDGMENT, judged_lines
from robustcs.inputs.records import shape_of
from robustcs.inputs.text import finite_number
from robustcs.inputs.turns import turn_sort_key
from robustcs.overwrite_guard import refuse_outside
from robustcs.programs.outputs import OutputStore
from robustcs.programs.runner import (
    ProgramCall,
    Replies,
    Track,
    call_working_program,
    program_identity,
    words_of,
)
from robustcs.stored import locked, sealed
from robustcs.studies.judge.analysis import JudgingState, Pair, Worklist
from robustcs.studies.judge.outlook import Outlook
from robustcs.studies.judge.session import GradeScale
from robustcs.wording import counted

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
#: Digits of a program's identity that are its version.
_VERSION = 12
#: Maximum length of a reason, in characters.
_REASON = 2000


@dataclass(frozen=True)
class ProgramGrade:
    """One answer of a program."""

    grade: int
    reason: str = ""


@dataclass(frozen=True)
class ProgramJudge:
    """A program as a judge.

    version
        Hash of the words of the command and the contents of the files among them: a changed script is another judge.
    path
        The file of its grades.
    """

    name: str
    version: str
    path: Path


def program_judge(command: str, name: str | None, files: Mapping[str, Path]) -> ProgramJudge:
    """Return the judge for ``command``.

    ``name``: default: the name of its script. ``files``: name → file of the project's judges.

    Raises :class:`UsageError` for a name that is not a valid file name.
    """
    words = words_of(command)
    scripts = [word for word in words[1:] if Path(word).is_file()]
    name = name or Path(scripts[0] if scripts else words[0]).stem
    if not _NAME.fullmatch(name):
        advice = "choose a name with --as: letters, digits, dots, underscores and hyphens"
        raise UsageError("bad-name", f"{name!r} is not a valid name of a judge", advice)
    path = Path(files.get(name, f"judge-{name}.jsonl"))
    refuse_outside(path)  # before the program is called
    return ProgramJudge(name, program_identity(command)[:_VERSION], path)


def grade_of(answer: Mapping[str, Any]) -> int | None:
    """Return the integer ``grade`` of an answer, or None."""
    grade = answer.get("grade")
    if isinstance(grade, float) and grade.is_integer():
        grade = int(grade)
    return grade if isinstance(grade, int) and not isinstance(grade, bool) else None


def reason_of(answer: Mapping[str, Any]) -> str:
    """Return the ``reason`` of an answer, or an empty text."""
    reason = answer.get("reason")
    return reason[:_REASON] if isinstance(reason, str) else ""


def read_judge(judge: ProgramJudge, scale: GradeScale) -> dict[Pair, ProgramGrade]:
    """Read the judge's file; empty if there is none.

    Raises :class:`InputError` with every line that this judge did not write.
    """
    if not judge.path.exists():
        return {}
    if shape_of(judge.path) == "table":
        found = f"this file contains the labels of another judge named {judge.name!r}"
        raise input_error(judge.path, None, found, "choose another name with --as", "other-judge")
    problems = ProblemList(judge.path)
    said: dict[Pair, ProgramGrade] = {}
    for line, record in judged_lines(judge.path, problems):
        turn, document, grade = record.get("turn"), record.get("document"), grade_of(record)
        if record.get("judge") != judge.name or record.get("version") != judge.version:
            by = f"{str(record.get('judge'))[:40]!r}, version {str(record.get('version'))[:20]!r}"
            found = f"the grade was given by {by}, not by this program"
            problems.add(
                line, found, "choose another name with --as, or remove the file", "other-judge"
            )
        elif (
            not (isinstance(turn, str) and isinstance(document, str))
            or grade is None
            or not 0 <= grade <= scale.max_grade
        ):
            found = f"turn, document or grade (0 to {scale.max_grade}) is missing or invalid"
            problems.add(line, found, "remove the line", "bad-grade")
        else:
            said[turn, document] = ProgramGrade(grade, reason_of(record))
    problems.raise_if_any()
    return said


def write_judge(judge: ProgramJudge, said: dict[Pair, ProgramGrade], scale: GradeScale) -> None:
    """Write all answers of the judge, and add to ``said`` those that another process has written meanwhile.

    The file is complete at every moment. If a pair has two grades, the first one written stays.
    """
    with locked(judge.path.parent):
        said |= read_judge(judge, scale)
        lines = [
            json.dumps(sealed(JUDGMENT, {
                "turn": turn, "document": document, "grade": one.grade, "judge": judge.name, "version": judge.version,
                **({"reason": one.reason} if one.reason else {}),
            }))
            for (turn, document), one in said.items()
        ]  # fmt: skip
        write_text(judge.path, "".join(f"{line}\n" for line in lines))


#: Calls stop after this many passages in a row without a usable answer.
PATIENCE = 32
#: A request without its id. Answers are stored under it.
Request = dict[str, Any]


def by_influence(worklist: Worklist) -> list[Pair]:
    """Return the unjudged passages by expected influence, or by influence if there is no hole model."""
    frame = worklist.worklist
    first = "influence" if frame["expected_influence"].isna().any() else "expected_influence"
    order = np.argsort(-frame[first].to_numpy(), kind="stable")
    return [worklist.pairs[place] for place in order]


def drawn_judged(scale: GradeScale, known: Mapping[str, str], number: int, seed: int) -> list[Pair]:
    """Return ``number`` random human-judged pairs whose passage has a text.

    A larger number draws the same pairs as a smaller one, and more.
    """
    pairs = sorted(pair for pair in scale.judged if known.get(pair[1]))
    return [pairs[place] for place in np.random.default_rng(seed).permutation(len(pairs))[:number]]


def requests_for(
    pairs: Sequence[Pair],
    texts: Mapping[str, Mapping[str, str]],
    passages: Mapping[str, str],
    scale: GradeScale,
    conversations: Conversations | None = None,
) -> dict[Pair, Request]:
    """Return the request for each pair that has a question and a passage text, without systems, ranks or grades."""
    raw, human = texts.get("original", {}), texts.get("human", {})
    turns = sorted({*raw, *(turn for turn, _ in pairs)}, key=turn_sort_key)
    earlier = (conversations or Conversations.from_ids(turns)).earlier(turns)
    requests = {}
    for turn, document in pairs:
        question, passage = human.get(turn) or raw.get(turn), passages.get(document)
        if question and passage:
            before = [one for one in earlier[turn] if one in raw]
            requests[turn, document] = {
                "turn": turn, "conversation": [raw[one] for one in before], "question": question, "passage_id": document,
                "passage": passage, "scale": scale.meanings,
            }  # fmt: skip
    return requests


@dataclass
class Tally(Replies):
    """All answers of a call, and the number of each kind.

    known
        Pairs that the program graded in an earlier call.
    sent, off_scale, failed
        Pairs of this call: all, with a grade off the scale, without a valid answer.
    in_vain
        Pairs sent since the last batch with a usable answer.
    """

    known: int = 0
    sent: int = 0
    off_scale: int = 0
    in_vain: int = 0

    @property
    def graded(self) -> int:
        """The number of pairs of this call with a grade."""
        return len(self.answers)

    def add(self, sent: int, replies: Replies) -> None:
        """Count the answers of a batch of ``sent`` pairs."""
        off = sum(
            grade_of(answer) is not None and "error" not in answer
            for answer in replies.refused.values()
        )
        self.take(replies)
        self.sent += sent
        self.off_scale += off
        self.failed += replies.failed - off
        self.in_vain = 0 if replies.answers else self.in_vain + sent
        self.complaint = replies.complaint or self.complaint

    @property
    def told(self) -> str:
        """A summary in one line; costs are in the unit of the program."""
        numbers = {
            "graded": self.graded,
            "off the scale": self.off_scale or None,
            "failed": self.failed or None,
        }
        parts = [
            f"asked {self.sent:,}",
            *(f"{number:,} {what}" for what, number in numbers.items() if number is not None),
        ]
        costs = [
            cost
            for answer in (*self.answers.values(), *self.refused.values())
            if (cost := _cost(answer))
        ]
        return ", ".join([*parts, f"cost {sum(costs):g}"] if costs else parts)

    @property
    def warnings(self) -> list[str]:
        """Problems with the program and its answers."""
        ignored = {
            "repeated": self.repeated,
            "foreign": self.foreign,
            "unreadable": self.unreadable,
        }
        passed = [f"{number:,} {what}" for what, number in ignored.items() if number]
        told = [f"ignored answers: {', '.join(passed)}"] if passed else []
        told += [f"the program {self.complaint}"] if self.complaint else []
        errors = [str(answer["error"]) for answer in self.refused.values() if "error" in answer]
        printable = "".join(
            letter if letter.isprintable() else " " for letter in "".join(errors[-1:])
        )[:300].strip()
        return told + ([f"last error of the program: {printable}"] if errors else [])


def _cost(answer: Mapping[str, Any]) -> float:
    cost = finite_number(answer.get("cost"))
    return 0.0 if cost is None else max(cost, 0.0)


@dataclass
class Interview:
    """Call a program in batches until the order of the systems is settled or no passage is left.

    first
        Pairs that are sent before the queue, even if the order is settled. The queue fills up their last batch.
    said
        Answers of the judge so far; grows. They are saved in the file and the store, however the interview ends.
    people
        New human grades. They take precedence over the program's grades when the order is checked.
    limit
        Maximum number of pairs to send; None for all.
    to_the_end
        Continue after the order is settled.
    """

    program: ProgramCall
    judge: ProgramJudge
    scale: GradeScale
    requests: Mapping[Pair, Request]
    first: Sequence[Pair]
    queue: Sequence[Pair]
    said: dict[Pair, ProgramGrade]
    people: Mapping[Pair, int]
    outlook: Outlook
    track: Track
    batch: int
    limit: int | None
    to_the_end: bool
    store: OutputStore = field(default_factory=OutputStore)

    def __post_init__(self) -> None:
        self._maker = program_identity(self.program.command)
        self._tried: set[Pair] = set()

    def run(self, tell: Callable[[str], None]) -> tuple[Tally, JudgingState]:
        """Grade until no pair is left, the limit is reached, or :data:`PATIENCE` pairs in a row got no usable answer.

        ``tell`` reports the progress after each batch.

        Raises :class:`UsageError` if the program cannot be started or never answers.
        """
        tally = Tally()
        self._recall(tally)
        self.outlook.learn(self._grades())
        try:
            while True:
                state = self.outlook.of(self._grades(), self.queue)
                left = (
                    self.batch if self.limit is None else min(self.batch, self.limit - tally.sent)
                )
                some = [pair for pairs in self._open(state) for pair in pairs][: max(left, 0)]
                if not some or tally.in_vain >= PATIENCE:
                    return tally, state
                self._tried |= set(some)
                replies = self._grade(some, started=tally.graded > 0)
                tally.add(len(some), replies)
                self._write()
                tell(f"{tally.told} · {state.told}" if state.told else tally.told)
                if replies.answers:
                    self.outlook.learn(self._grades())
        finally:
            self._write()

    def _write(self) -> None:
        # no empty file for a program without a valid answer
        if self.said:
            write_judge(self.judge, self.said, self.scale)

    def _grades(self) -> dict[Pair, int]:
        return {pair: one.grade for pair, one in self.said.items()} | dict(self.people)

    def _recall(self, tally: Tally) -> None:
        """Take from the store the program's earlier answers to the same requests."""
        open_ = {
            str(place): pair for place, pair in enumerate(self.requests) if pair not in self.said
        }
        found = self.store.get(
            self._maker, {key: self.requests[pair] for key, pair in open_.items()}
        )
        for key, answer in found.items():
            grade = grade_of(answer)
            if grade is not None:
                self.said[open_[key]] = ProgramGrade(grade, reason_of(answer))
        tally.known = sum(pair in self.said for pair in self.requests)

    def _open(self, state: JudgingState) -> tuple[list[Pair], list[Pair]]:
        """Return the remaining pairs of ``first`` and of the queue."""
        queue = self.queue if self.to_the_end or not state.settled else ()
        known = self.said.keys() | self._tried
        first, rest = (
            [pair for pair in pairs if pair not in known] for pairs in (self.first, queue)
        )
        return first, rest

    def ending(self, tally: Tally, state: JudgingState) -> str:
        """Return why the calls stopped although pairs are left; empty if none is left."""
        first, queue = map(len, self._open(state))
        if not first + queue:
            return ""
        left = {"human-judged passage": first, "unjudged passage": queue}
        why = f"stopped at --limit {self.limit}"
        if tally.in_vain >= PATIENCE:
            why = f"stopped after {tally.in_vain:,} passages in a row without a usable grade"
        return f"{why}; not asked: {' and '.join(counted(number, what) for what, number in left.items() if number)}"

    def _grade(self, pairs: Sequence[Pair], started: bool) -> Replies:
        """Send ``pairs`` to the program. If the program ``started`` to give grades in earlier batches, its failure is only counted."""
        wanted = set(pairs)
        of = {str(place): pair for place, pair in enumerate(self.requests) if pair in wanted}

        def keep(answers: Mapping[str, dict[str, Any]]) -> None:
            kept = {
                key: {"grade": grade_of(answer), "reason": reason_of(answer)}
                for key, answer in answers.items()
            }
            self.store.put(self._maker, kept, {key: self.requests[of[key]] for key in kept})
            for key, answer in kept.items():
                self.said[of[key]] = ProgramGrade(answer["grade"], answer["reason"])  # type: ignore[arg-type]

        def usable(answer: Mapping[str, Any]) -> bool:
            grade = grade_of(answer)
            return grade is not None and 0 <= grade <= self.scale.max_grade

        lines = [{"id": key, **self.requests[pair]} for key, pair in of.items()]
        what = f"{self.judge.name}: {counted(len(lines), 'passage')}"
        try:
            return call_working_program(
                self.program, lines, keep, accept=usable, what=what, track=self.track
            )
        except UsageError as error:
            if not started:
                raise
            return Replies(failed=len(lines), complaint=error.found)
