"""The answer of one annotation task: selected snippets of a text, or chosen sentences.

:mod:`robustcs.inputs.annotations` describes the formats.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from robustcs.inputs.records import BadRowError, UnusableRowError
from robustcs.inputs.tables import text_of
from robustcs.inputs.text import parse_json

#: Half-open [start, end) in characters.
Span = tuple[int, int]
Spans = tuple[Span, ...]
#: The levels of confidence of CAsT-snippets, from 1 on.
CONFIDENCE = ("very_low", "low", "medium", "high", "very_high")
#: Longest literal; answers are short, and a longer literal could exhaust the parser's memory.
_LONGEST = 1_000_000
#: Most bits of an offset. A Python literal can contain a number of a million digits, which str()
#: rejects.
_OFFSET_BITS = 63
#: Most characters of a wrong literal in a message.
_LONGEST_SHOWN_LITERAL = 40


class SelectedText(NamedTuple):
    """A text, the sentences to choose from (else empty), and the selected spans."""

    text: str
    parts: Spans
    selected: list[Span]


def literal(text: str) -> Any:
    """Return the value of a literal in JSON or Python notation.

    None if it is neither, or too long.
    """
    if len(text) > _LONGEST:
        return None
    for parse in (parse_json, literal_eval):
        with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return parse(text)
    return None


def worker_answer(row: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return the parts of an answer of MTurk, ``[{name: {"entities": […]}, …}]``.

    None for a row of JSONL. Raises :class:`BadRowError` if it cannot be parsed.
    """
    written = row.get("snippets")
    if not isinstance(written, str):
        return None
    value = literal(written)
    if value is None:
        shown = repr(written[:_LONGEST_SHOWN_LITERAL])
        problem = f"the answer {shown} is neither JSON nor a Python literal"
        raise BadRowError(problem, "write JSON, as MTurk does", "not-a-literal")
    parts = value if isinstance(value, list) else [value]
    return [part for part in parts if isinstance(part, dict)]


def snippets_of(
    row: Mapping[str, Any], answer: list[dict[str, Any]] | None, of: str
) -> SelectedText:
    """Return the text of a row and its snippets.

    These are a list of ``[start, end]``, or the entities of an ``answer`` of MTurk. ``of`` names
    the text in messages. Raises :class:`BadRowError`.
    """
    text = row["text"]
    if not isinstance(text, str) or not text.strip():
        advice = "add the text that the offsets refer to"
        raise UnusableRowError(f"{of}: no text", advice, "empty-text")
    snippets: Any = row["snippets"] if answer is None else _offsets_of_entities(answer)
    if not isinstance(snippets, list):
        advice = 'write "snippets": [[start, end], …], or [] for none'
        raise BadRowError("no snippets", advice, "no-snippets")
    if not all(_is_pair_of_offsets(snippet) for snippet in snippets):
        problem = "a snippet without start and end"
        raise BadRowError(problem, "write both as whole numbers", "bad-offsets")
    for start, end in snippets:
        if not 0 <= start < end <= len(text):
            problem = (
                f"{of}: snippet [{start}, {end}) is not inside the text of {len(text)} characters"
            )
            advice = "count offsets in characters from 0, with start below end"
            raise BadRowError(problem, advice, "bad-offsets")
    return SelectedText(text, (), [(start, end) for start, end in snippets])


def _offsets_of_entities(answer: Iterable[Mapping[str, Any]]) -> list[list[Any]]:
    """Return the unchecked ``[start, end]`` of all entities of an answer of MTurk.

    Raises :class:`BadRowError` if it has no list of entities.
    """
    offsets: list[list[Any]] = []
    has_list = False
    for tasks in answer:
        for task in tasks.values():
            if not isinstance(task, dict) or not isinstance(task.get("entities"), list):
                continue
            has_list = True
            for entity in task["entities"]:
                fields = entity if isinstance(entity, dict) else {}
                offsets.append([fields.get("startOffset"), fields.get("endOffset")])
    if not has_list:
        problem = "the answer has no list of entities"
        raise BadRowError(problem, 'write [{"task": {"entities": []}}]', "no-entities")
    return offsets


def _is_pair_of_offsets(snippet: object) -> bool:
    return isinstance(snippet, list) and len(snippet) == 2 and all(map(_is_offset, snippet))


def _is_offset(value: object) -> bool:
    if not isinstance(value, int) or isinstance(value, bool):
        return False
    return value.bit_length() <= _OFFSET_BITS


def marked_level(answer: Iterable[Mapping[str, Any]]) -> str | None:
    """Return the level marked in ``answer_confidence`` of an answer of MTurk.

    None unless exactly one level is marked.
    """
    for part in answer:
        levels = part.get("answer_confidence")
        if isinstance(levels, dict):
            marked = [name for name in CONFIDENCE if levels.get(name) is True]
            return marked[0] if len(marked) == 1 else None
    return None


def selection_of(row: Mapping[str, Any]) -> SelectedText:
    """Return the sentences of a row as one text, their spans, and the spans of the chosen ones.

    ``sentences`` are texts whose numbers from 0 are in ``chosen``; or, without ``chosen``,
    ``[text, id]`` pairs with a column ``Answer.ID.on`` each. Raises :class:`BadRowError` if they
    cannot be read.
    """
    entries = _sentence_entries(row)
    sentences = [entry[0] for entry in entries]
    if "chosen" in row:
        chosen = _chosen_numbers(row["chosen"], len(sentences))
    else:
        chosen = _marked_numbers(row, [entry[-1] for entry in entries])
    spans: list[Span] = []
    start = 0
    for sentence in sentences:
        end = start + len(sentence)
        spans.append((start, end))
        start = end + 1  # one space between two sentences
    selected = [spans[number] for number in sorted(set(chosen))]
    return SelectedText(" ".join(sentences), tuple(spans), selected)


def _sentence_entries(row: Mapping[str, Any]) -> list[list[Any]]:
    """Return the sentences of a row, each a list that begins with its text.

    Raises :class:`BadRowError` unless there is a list of sentences, all with texts.
    """
    sentences = row["sentences"]
    if isinstance(sentences, str):
        sentences = literal(sentences)
    entries = []
    if isinstance(sentences, list):
        entries = [entry if isinstance(entry, list) else [entry] for entry in sentences]
    if not entries or not all(_begins_with_text(entry) for entry in entries):
        raise BadRowError("no list of sentences", "write their texts as a list", "no-sentences")
    return entries


def _begins_with_text(entry: list[Any]) -> bool:
    return bool(entry) and isinstance(entry[0], str) and bool(entry[0].strip())


def _chosen_numbers(chosen: Any, count: int) -> list[int]:
    """Return the numbers of the chosen ones of ``count`` sentences. Raises :class:`BadRowError`."""
    are_numbers = isinstance(chosen, list) and all(
        _is_offset(number) and 0 <= number < count for number in chosen
    )
    if not are_numbers:
        problem = f"chosen is not a list of numbers from 0 to {count - 1}"
        advice = 'write "chosen": [0, 2], numbers of sentences, or [] for none'
        raise BadRowError(problem, advice, "bad-choice")
    return list(chosen)


def _marked_numbers(row: Mapping[str, Any], ids: Sequence[object]) -> list[int]:
    """Return the numbers of the sentences whose column ``Answer.ID.on`` is true.

    Raises :class:`BadRowError` if one is neither true nor false.
    """
    marked = []
    for number, sentence_id in enumerate(ids):
        mark = text_of(row.get(f"Answer.{sentence_id}.on")).lower()
        if mark not in ("true", "false"):
            problem = f"sentence {number} is neither on nor off"
            advice = "write True or False for every sentence (Answer.ID.on)"
            raise BadRowError(problem, advice, "no-choice")
        if mark == "true":
            marked.append(number)
    return marked
