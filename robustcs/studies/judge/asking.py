"""Asking a program: which passages in which order, what it is told of them, and what of its answers counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from robustcs.errors import UsageError
from robustcs.inputs.text import finite_number
from robustcs.inputs.turns import conversation, turn_sort_key
from robustcs.programs.copies import Asking, ask_copies
from robustcs.programs.outputs import OutputStore
from robustcs.programs.runner import Replies, Track, program_identity
from robustcs.studies.judge.analysis import Pair, State, Worklist
from robustcs.studies.judge.judge_file import ProgramJudge, Said, grade_of, reason_of, write_judge
from robustcs.studies.judge.outlook import Outlook
from robustcs.studies.judge.session import Scale
from robustcs.wording import counted

#: Passages in a row without a usable answer, after which a program is asked no more.
PATIENCE = 32
#: A request without its id, as the program gets it and as answers are kept.
Request = dict[str, Any]


def by_influence(worklist: Worklist) -> list[Pair]:
    """The holes in the order in which a program is asked: by expected influence, where there is none by influence."""
    frame = worklist.worklist
    first = "influence" if frame["expected_influence"].isna().any() else "expected_influence"
    order = np.argsort(-frame[first].to_numpy(), kind="stable")
    return [worklist.pairs[place] for place in order]


def drawn_judged(scale: Scale, known: Mapping[str, str], number: int, seed: int) -> list[Pair]:
    """``number`` pairs that people judged, at random, of passages with a text; a larger number adds to a smaller one."""
    pairs = sorted(pair for pair in scale.judged if known.get(pair[1]))
    return [pairs[place] for place in np.random.default_rng(seed).permutation(len(pairs))[:number]]


def requests_for(
    pairs: Sequence[Pair], texts: Mapping[str, Mapping[str, str]], passages: Mapping[str, str], scale: Scale
) -> dict[Pair, Request]:
    """What the program is told of every pair that has a question and a passage: nothing of systems, ranks or grades."""
    raw, human = texts.get("original", {}), texts.get("human", {})
    in_order: dict[str, list[str]] = {}
    for turn in sorted(raw, key=turn_sort_key):
        in_order.setdefault(conversation(turn), []).append(turn)
    requests = {}
    for turn, document in pairs:
        question, passage = human.get(turn) or raw.get(turn), passages.get(document)
        if question and passage:
            before = [one for one in in_order.get(conversation(turn), []) if turn_sort_key(one) < turn_sort_key(turn)]
            requests[turn, document] = {
                "turn": turn, "conversation": [raw[one] for one in before], "question": question, "passage_id": document,
                "passage": passage, "scale": scale.meanings,
            }  # fmt: skip
    return requests


@dataclass
class Tally:
    """What came of asking.

    known
        Pairs that the program was asked about before.
    asked, graded, off_scale, failed
        Of those asked now: all, those with a grade, those with one off the scale, and those without an answer that counts.
    error
        The last ``error`` that it told.
    in_vain
        Passages of the last batches, as far as none of them gave a usable answer.
    passed_over
        Lines that are repeated, foreign or unreadable.
    cost
        The sum of what it said its answers cost, in its own unit; None where it said nothing.
    """

    known: int = 0
    asked: int = 0
    graded: int = 0
    off_scale: int = 0
    failed: int = 0
    in_vain: int = 0
    passed_over: Counter[str] = field(default_factory=Counter)
    error: str = ""
    complaint: str = ""
    cost: float | None = None

    def add(self, asked: int, replies: Replies) -> None:
        """Count what a batch gave."""
        off = sum(grade_of(answer) is not None and "error" not in answer for answer in replies.refused.values())
        self.asked += asked
        self.graded += len(replies.answers)
        self.off_scale += off
        self.failed += replies.failed - off
        self.in_vain = 0 if replies.answers else self.in_vain + asked
        self.passed_over.update(repeated=replies.repeated, foreign=replies.foreign, unreadable=replies.unreadable)
        errors = [str(answer["error"]) for answer in replies.refused.values() if "error" in answer]
        self.error = errors[-1] if errors else self.error
        self.complaint = replies.complaint or self.complaint
        costs = [cost for answer in (*replies.answers.values(), *replies.refused.values()) if (cost := _cost(answer))]
        if costs:
            self.cost = (self.cost or 0.0) + sum(costs)

    @property
    def told(self) -> str:
        """In one line."""
        parts = [f"asked {self.asked:,}", f"{self.graded:,} graded"]
        parts += [
            f"{number:,} {what}" for number, what in ((self.off_scale, "off the scale"), (self.failed, "failed")) if number
        ]
        parts += [f"cost {self.cost:g}"] if self.cost is not None else []
        return ", ".join(parts)

    @property
    def warnings(self) -> list[str]:
        """What else has to be told."""
        passed = [f"{number:,} {what}" for what, number in self.passed_over.items() if number]
        told = [f"passed over: {', '.join(passed)} answers"] if passed else []
        told += [f"the program {self.complaint}"] if self.complaint else []
        return told + ([f"its last error: {_printable(self.error)}"] if self.error else [])


def _cost(answer: Mapping[str, Any]) -> float:
    cost = finite_number(answer.get("cost"))
    return 0.0 if cost is None else max(cost, 0.0)


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)[:300].strip()


@dataclass
class Interview:
    """A program asked about the passages of a queue, batch after batch, until the order is settled or nothing is left.

    first
        Pairs that are asked in any case, before the queue; their last batch is filled from it.
    said
        What the judge said so far; grows. It is in the file, and in the store, whatever ends the interview.
    people
        Grades that people gave meanwhile: they stand before those of the program where it is asked whether to go on.
    limit
        Most pairs to ask, None for all.
    to_the_end
        Go on when the order is settled.
    """

    asking: Asking
    judge: ProgramJudge
    scale: Scale
    requests: Mapping[Pair, Request]
    first: Sequence[Pair]
    queue: Sequence[Pair]
    said: dict[Pair, Said]
    people: Mapping[Pair, int]
    outlook: Outlook
    track: Track
    batch: int
    limit: int | None
    to_the_end: bool
    store: OutputStore = field(default_factory=OutputStore)
    _tried: set[Pair] = field(default_factory=set)

    def run(self, tell: Callable[[str], None]) -> tuple[Tally, State]:
        """Ask, until there is nothing to ask, the limit is reached, or :data:`PATIENCE` is at its end.

        Raises :class:`UsageError` where the program cannot be started or never answers.
        """
        tally = Tally()
        self._recall(tally)
        self.outlook.learn(self._grades())
        try:
            while True:
                state = self.outlook.of(self._grades(), self.queue)
                some = self._next(tally, state)
                if not some:
                    return tally, state
                replies = self._ask(some, started=tally.graded > 0)
                tally.add(len(some), replies)
                self._write()
                tell(f"{tally.told} · {state.told}" if state.told else tally.told)
                if replies.answers:
                    self.outlook.learn(self._grades())
                elif tally.in_vain >= PATIENCE:
                    return tally, state
        finally:
            self._write()

    def _write(self) -> None:
        # a program whose answers were all refused leaves no empty file
        if self.said:
            write_judge(self.judge, self.said, self.scale)

    def _grades(self) -> dict[Pair, int]:
        return {pair: one.grade for pair, one in self.said.items()} | dict(self.people)

    def _recall(self, tally: Tally) -> None:
        """Take from the store what the program said before of the same texts."""
        open_ = {str(place): pair for place, pair in enumerate(self.requests) if pair not in self.said}
        found = self.store.get(self._maker, {key: self.requests[pair] for key, pair in open_.items()})
        for key, answer in found.items():
            grade = grade_of(answer)
            if grade is not None:
                self.said[open_[key]] = Said(grade, reason_of(answer))
        tally.known = sum(pair in self.said for pair in self.requests)

    @property
    def _maker(self) -> str:
        return program_identity(self.asking.command)

    def _next(self, tally: Tally, state: State) -> list[Pair]:
        """The next batch; empty at the end."""
        left = self.batch if self.limit is None else min(self.batch, self.limit - tally.asked)
        first, queue = self._open(state)
        some = [*first, *queue][: max(left, 0)]
        self._tried |= set(some)
        return some

    def _open(self, state: State) -> tuple[list[Pair], list[Pair]]:
        """What is still to be asked, of those in any case and of the queue."""
        queue = self.queue if self.to_the_end or not state.settled else ()
        known = self.said.keys() | self._tried
        first, rest = ([pair for pair in pairs if pair not in known] for pairs in (self.first, queue))
        return first, rest

    def ending(self, tally: Tally, state: State) -> str:
        """Why it ended, where something was left to ask; else empty."""
        first, queue = map(len, self._open(state))
        if not first + queue:
            return ""
        parts = [
            counted(number, f"passage {what}", f"passages {what}")
            for number, what in ((first, "that people judged"), (queue, "that nobody judged")) if number
        ]  # fmt: skip
        why = (
            f"no usable grade for {tally.in_vain:,} passages in a row: it is asked no more"
            if tally.in_vain >= PATIENCE else f"--limit {self.limit} is reached"
        )  # fmt: skip
        return f"{why}; not asked: {' and '.join(parts)}"

    def _ask(self, pairs: Sequence[Pair], started: bool) -> Replies:
        """Ask about ``pairs``; what a program answered before it fails for good counts (``started``)."""
        of = {str(place): pair for place, pair in enumerate(pairs)}

        def keep(answers: Mapping[str, dict[str, Any]]) -> None:
            kept = {key: {"grade": grade_of(answer), "reason": reason_of(answer)} for key, answer in answers.items()}
            self.store.put(self._maker, kept, {key: self.requests[of[key]] for key in kept})
            for key, answer in kept.items():
                self.said[of[key]] = Said(answer["grade"], answer["reason"])  # type: ignore[arg-type]

        def usable(answer: Mapping[str, Any]) -> bool:
            grade = grade_of(answer)
            return grade is not None and 0 <= grade <= self.scale.max_grade

        lines = [{"id": key, **self.requests[pair]} for key, pair in of.items()]
        what = f"{self.judge.name}: {counted(len(lines), 'passage')}"
        try:
            return ask_copies(self.asking, lines, keep, accept=usable, what=what, track=self.track)
        except UsageError as error:
            if not started:
                raise
            return Replies(failed=len(lines), complaint=error.found)
