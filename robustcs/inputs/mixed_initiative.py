"""Runs of mixed-initiative tracks (CAsT 2022), and banks of questions.

A run is JSON with the questions that a system would ask at each turn, or its responses:

``{"run_name": …, "turns": [{"turn_id": …, "questions": [{"question": TEXT or ID, "score": 1.5}, …]}, …]}``, or with
``"responses": [{"text": TEXT or ID, "rank": 1}, …]``
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from robustcs.errors import ProblemList, UsageError, input_error
from robustcs.inputs.paths import StrPath
from robustcs.inputs.records import RowProblems, shape_of
from robustcs.inputs.runs import Run
from robustcs.inputs.tables import Fields, rows_by_field, text_of
from robustcs.inputs.text import finite_number, id_text, read_json
from robustcs.messages import Message, OptionName


@dataclass(frozen=True)
class SystemUtterance:
    """A question that a system would ask, or its response: a text, or an id of the bank."""

    turn: str
    question: str
    score: float


def read_mixed_initiative(path: StrPath) -> list[SystemUtterance]:
    """Return the questions or responses in file order. A turn may have none. With ranks and no scores, rank 2 scores -2.

    Raises :class:`InputError` with all problems (bounded): no list of turns, a turn without an id or without a list of
    questions or responses, one of them without text or score, a turn that occurs twice.
    """
    value = read_json(path)
    turns = value.get("turns") if isinstance(value, dict) else None
    if not isinstance(turns, list) or not turns:
        advice = 'write {"run_name": …, "turns": [{"turn_id": …, "questions": [{"question": …, "score": …}]}]}'
        raise input_error(
            path, None, "JSON, but not a mixed-initiative run", advice, "unknown-format"
        )
    problems = ProblemList(path)
    utterances: list[SystemUtterance] = []
    seen: set[str] = set()
    for place, entry in enumerate(turns, 1):
        fields = entry if isinstance(entry, dict) else {}
        kind = "responses" if "responses" in fields else "questions"
        name, questions = id_text(fields.get("turn_id")), fields.get(kind)
        if not name or not isinstance(questions, list):
            problems.add(
                None,
                f"turn {place} of the list has no turn_id or no {kind}",
                "complete the turn",
                "no-turn-id",
            )
            continue
        if name in seen:
            problems.add(
                None,
                f"turn {name} occurs twice",
                f"merge its {kind} into one list",
                "repeated-turn",
            )
        seen.add(name)
        for question in questions:
            text, value = _text_and_score(question) if isinstance(question, dict) else (None, None)
            if not isinstance(text, str) or value is None:
                problems.add(
                    None,
                    f"turn {name}: a {kind[:-1]} without text or score",
                    "add both",
                    "no-question",
                )
                continue
            utterances.append(SystemUtterance(name, text.strip(), value))
    problems.finish(utterances, "questions")
    return utterances


def _text_and_score(entry: Mapping[str, Any]) -> tuple[object, float | None]:
    text = next((entry[key] for key in ("question", "text", "response") if key in entry), None)
    rank = finite_number(entry.get("rank"))
    return text, finite_number(entry["score"]) if entry.get(
        "score"
    ) is not None else None if rank is None else -rank


_BANK: Fields = {"id": ("question_id", "response_id", "id"), "text": ("question", "text")}


def read_bank(path: StrPath) -> dict[str, str]:
    """Return id → text of a bank of questions or responses: a table or JSONL, or one JSON object ``{id: text}``.

    A text may be empty. Raises :class:`InputError` for an id with two texts, and as other readers of tables do.
    """
    problems = RowProblems(path, "questions")
    if shape_of(path) == "json":
        value = read_json(path)
        if not isinstance(value, dict) or not value:
            raise input_error(
                path,
                None,
                "not a bank of texts",
                'write one JSON object {"Q0001": "text"}',
                "unknown-format",
            )
        rows: Iterator[tuple[int | None, dict[str, Any]]] = (
            (None, {"id": key, "text": text}) for key, text in value.items()
        )
    else:
        rows = rows_by_field(path, problems, _BANK)  # type: ignore[assignment]
    bank: dict[str, str] = {}
    for line, row in rows:
        name, text = text_of(row["id"]), row["text"]
        if not name:
            problems.skip(line, "no question id", "complete the row or delete it", "no-question-id")
        elif not isinstance(text or "", str):
            problems.add(line, f"{name}: not a text", "write every text in quotes", "not-a-text")
        else:
            problems.once(
                bank, name, text_of(text), line, "question {key} has a different text earlier"
            )
    problems.finish(bank, "questions")
    return bank


def read_question_bank(path: StrPath) -> dict[str, str]:
    """Return :func:`read_bank` of a table or JSONL. Raises :class:`InputError` for one JSON object, which may be any texts."""
    if shape_of(path) == "json":
        advice = "write a table with the columns question_id and question"
        raise input_error(
            path, None, "one JSON object, not a question bank", advice, "unknown-format"
        )
    return read_bank(path)


_NO_WORD = re.compile(r"[\W_]+")


def plain_text(text: str) -> str:
    """Return ``text`` in lower case, without punctuation, with single spaces; texts with equal results count as the same."""
    return " ".join(_NO_WORD.sub(" ", text.casefold()).split())


class Bank:
    """Finds the id of a question: the question itself if it is an id, else the same text, else the same :func:`plain_text`.

    If several ids have the same text, the first one counts.
    """

    def __init__(self, texts: Mapping[str, str]):
        self.texts = texts
        self._exact: dict[str, str] = {}
        self._plain: dict[str, str] = {}
        for name, text in texts.items():
            self._exact.setdefault(text.strip(), name)
            if plain_text(text):
                self._plain.setdefault(plain_text(text), name)

    def find(self, question: str) -> str | None:
        """Return the id, or None."""
        if question in self.texts:
            return question
        return self._exact.get(question) or self._plain.get(plain_text(question))


@dataclass(frozen=True)
class Mapped:
    """A run whose documents are ids of the bank; its ranks are the order of the file.

    unmapped
        The questions that are not in the bank, in file order; they keep their places in the run under their :func:`own_id`.
    """

    run: Run
    unmapped: tuple[SystemUtterance, ...]


def own_id(question: str) -> str:
    """Return an id for a question outside the bank: one word is an id; a text is quoted and joined by underscores."""
    words = question.split()
    return words[0] if len(words) == 1 else f'"{"_".join(words)}"'


def map_to_bank(utterances: Sequence[SystemUtterance], bank: Bank | None, name: str) -> Mapped:
    """Return the run ``name`` with ids of ``bank`` in place of texts. Without a bank all questions must be ids.

    Questions outside the bank keep their places: a question counts even if it is unjudged.

    Raises :class:`UsageError` for a text without a bank, and if no question is in the bank.
    """
    found: list[tuple[str, str, float]] = []
    unmapped: list[SystemUtterance] = []
    for question in utterances:
        if bank is None and len(question.question.split()) != 1:
            told = f"run {name} has texts, such as {question.question[:60]!r}"
            raise UsageError(
                "no-bank",
                told,
                Message("give the bank with their ids as ", OptionName("bank", "FILE")),
            )
        match = question.question if bank is None else bank.find(question.question)
        if match is None:
            unmapped.append(question)
        found.append(
            (question.turn, own_id(question.question) if match is None else match, question.score)
        )
    if len(unmapped) == len(utterances):
        raise UsageError(
            "no-common-items",
            f"no question of run {name} is in the bank",
            "check that they belong together",
        )
    told = f"{name}: {len(unmapped):,} of {len(utterances):,} questions are not in the bank; they keep their places in the run"
    run = Run.of(name, found, range(1, len(found) + 1), (told,) if unmapped else ())
    return Mapped(run, tuple(unmapped))
