"""Rewrites as the repositories of rewriters write and read them, one turn a record.

- ConversationQueryRewriter and ConvDR: ``topic_number`` and ``query_number``; ``input`` (the turns so far, of which the last is
  the question), ``target``, ``output``; ConvDR has the system's ``manual_response`` beside them, which is no question;
- ConvGQR, T5QR: ``sample_id``, ``cur_utt_text``, ``oracle_utt_text``, ``t5_rewrite``;
- LLM4CS: ``sample_id``, ``predicted_rewrite``, a list of samples; its topics are conversations (``conv_id``) with ``turns``
  that have ``turn_id``, ``question`` and ``manual_rewrite``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from robustcs.errors import ProblemList
from robustcs.inputs.text_format import Entry, Record, TextFormat, flat, nested

_SAMPLED = ("predicted_rewrite", "t5_rewrite", "rewrite", "output")


def _by_sample_id(records: Iterable[Record], problems: ProblemList) -> Iterator[Entry]:
    for record in records:
        yield Entry(record.fields.get("sample_id"), record.fields, record.line)


def _is_rewrite(record: Mapping[str, Any]) -> bool:
    return "sample_id" in record and ("cur_utt_text" in record or "oracle_utt_text" in record or
                                      any(name in record for name in _SAMPLED))  # fmt: skip


def _is_topic(record: Mapping[str, Any]) -> bool:
    return "conv_id" in record and isinstance(record.get("turns"), list)


#: ConversationQueryRewriter and ConvDR.
INPUT_TARGET = TextFormat(
    "rewrites by ConversationQueryRewriter or ConvDR",
    lambda record: "topic_number" in record and "query_number" in record,
    flat("topic_number", "query_number"),
    {"original": ("input",), "qr": ("output",), "human": ("target",)},
    last=("input",),
    sampled=("output",),
)
#: ConvGQR, T5QR and LLM4CS.
BY_SAMPLE_ID = TextFormat(
    "rewrites by LLM4CS or ConvGQR", _is_rewrite, _by_sample_id,
    {"original": ("cur_utt_text",), "qr": _SAMPLED, "human": ("oracle_utt_text",)},
    sampled=_SAMPLED,
)  # fmt: skip
LLM4CS_TOPICS = TextFormat(
    "LLM4CS topics", _is_topic, nested("conv_id", ("turns",), "turn_id"),
    {"original": ("question",), "qr": ("rewrite",), "human": ("manual_rewrite",)},
    optional=True,
)  # fmt: skip
