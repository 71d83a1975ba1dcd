"""What a kind of file with retrieved passages is, beside the lines of TREC: how it is told, and what its turns retrieved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from robustcs.errors import ProblemList
from robustcs.inputs.text_format import Record


class Retrieved(NamedTuple):
    """The passages of one turn, best first as the file has them: (passage id, score or None) each, unchecked."""

    turn: object
    passages: list[tuple[object, object]]
    line: int | None


@dataclass(frozen=True)
class RunFormat:
    """One kind of file.

    name
        As messages call it, with its article, such as ``an iKAT run``.
    fits
        Whether a record is of this kind, by its fields.
    turns
        What the records retrieved; records that are broken go to the problems.
    """

    name: str
    fits: Callable[[Mapping[str, Any]], bool]
    turns: Callable[[Iterable[Record], ProblemList], Iterator[Retrieved]]


#: Names of a passage's id, where passages are objects.
_IDS = ("id", "docid", "doc_id", "docno", "passage_id", "pid", "document_id")


def passages_in(value: object) -> list[tuple[object, object]]:
    """Passages as files list them: ``{id: score}``, ``[id, …]`` or ``[{"id": …, "score": …}, …]``; empty for anything else."""
    if isinstance(value, dict):
        return [(passage, score) for passage, score in value.items()]
    if not isinstance(value, list):
        return []
    return [
        (next((one[name] for name in _IDS if name in one), None), one.get("score")) if isinstance(one, dict) else (one, None)
        for one in value
    ]
