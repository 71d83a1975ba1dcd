"""Conversational question answering: CANARD, QReCC and TopiOCQA, whose questions have answers and passages beside them.

- CANARD: ``QuAC_dialog_id``, ``Question_no`` from 1, ``Question``, ``Rewrite``; turn ids are QuAC's question ids;
- QReCC and TopiOCQA: ``Conversation_no``, ``Turn_no``, ``Question``, ``Rewrite`` (QReCC), ``Answer``;
- what systems answer to QReCC (SCAI): ``Model_rewrite``, ``Model_passages`` {id: score}, ``Model_answer``;
- retrieved passages in the form of DPR: ``conv_id``, ``turn_id``, ``question`` (with ``[SEP]`` between the turns so far),
  ``answers``, ``ctxs`` with ``id`` and ``score``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from robustcs.errors import ProblemList
from robustcs.inputs.run_format import Retrieved, RunFormat, passages_in
from robustcs.inputs.text_format import Entry, Record, TextFormat, after_separator, flat, has


def _canard(records: Iterable[Record], problems: ProblemList) -> Iterator[Entry]:
    for record in records:
        entry = record.fields
        try:
            turn = f"{entry['QuAC_dialog_id']}_q#{int(entry['Question_no']) - 1}"
        except (KeyError, TypeError, ValueError) as error:
            found = f"entry {record.place} of the list is not a CANARD question ({error})"
            problems.skip(record.line, found, "complete the entry", "no-turn-id")
            continue
        yield Entry(turn, entry, record.line)


_OF_CONVERSATION = flat("Conversation_no", "Turn_no")
_OF_DPR = flat("conv_id", "turn_id")


def _dpr(records: Iterable[Record], problems: ProblemList) -> Iterator[Entry]:
    """The turns, with the question alone in place of the turns so far, which stand under ``conversation``."""
    for entry in _OF_DPR(records, problems):
        question = entry.fields.get("question")
        if isinstance(question, str):
            fields = {**entry.fields, "question": after_separator(question), "conversation": question}
            entry = entry._replace(fields=fields)
        yield entry


def is_dpr(record: Mapping[str, Any]) -> bool:
    """Whether a record is a question with passages or answers, in the form of DPR."""
    return all(name in record for name in ("conv_id", "turn_id", "question"))


CANARD = TextFormat(
    "CANARD questions", lambda record: "QuAC_dialog_id" in record, _canard,
    {"original": ("Question",), "qr": ("Rewrite",), "human": ("Rewrite",)},
)  # fmt: skip
QRECC = TextFormat(
    "QReCC or TopiOCQA questions",
    lambda record: "Conversation_no" in record and "Turn_no" in record,
    _OF_CONVERSATION,
    {"original": ("Question",), "qr": ("Model_rewrite", "Rewrite"), "human": ("Rewrite", "Truth_rewrite")},
)
DPR = TextFormat(
    "questions in the form of DPR (TopiOCQA)", is_dpr, _dpr,
    {"original": ("question",), "qr": ("rewrite",), "human": ("manual_rewrite", "gold_rewrite")},
)  # fmt: skip


def _contexts(records: Iterable[Record], problems: ProblemList) -> Iterator[Retrieved]:
    for entry in _OF_DPR(records, problems):
        yield Retrieved(entry.turn, passages_in(entry.fields.get("ctxs")), entry.line)


DPR_RUN = RunFormat(
    "a run in the form of DPR (TopiOCQA)", lambda record: is_dpr(record) and isinstance(record.get("ctxs"), list), _contexts
)


def _model_passages(records: Iterable[Record], problems: ProblemList) -> Iterator[Retrieved]:
    for entry in _OF_CONVERSATION(records, problems):
        yield Retrieved(entry.turn, passages_in(entry.fields.get("Model_passages")), entry.line)


SCAI_RUN = RunFormat("a run of SCAI-QReCC", has("Conversation_no", "Turn_no", "Model_passages"), _model_passages)


# ---------------------------------------------------------------- answers


def gold_answers(fields: Mapping[str, Any]) -> list[object]:
    """The gold answers of a turn, unchecked, without empty ones; TopiOCQA has those of further annotators."""
    first: object = next((fields[name] for name in ("Answer", "Truth_answer", "answers", "answer") if name in fields), [])
    more = fields.get("Additional_answers")
    further = [one.get("Answer") if isinstance(one, dict) else one for one in more] if isinstance(more, list) else []
    return [answer for answer in [*(first if isinstance(first, list) else [first]), *further] if answer not in ("", None)]


def predicted_answer(fields: Mapping[str, Any]) -> object:
    """The answer of a system, unchecked."""
    return next((fields[name] for name in ("Model_answer", "prediction", "Answer", "answer") if name in fields), None)
