"""The question texts of turns: raw turns, rewrites by a model, rewrites by hand.

The format is told by content, not by the file's name:

- CAsT topic JSON of 2019–2022; columns ``raw_utterance``, ``manual_rewritten_utterance``,
  ``automatic_rewritten_utterance``, in short ``raw``, ``manual``, ``automatic``; 2022 calls the raw turn ``utterance``
  and has the system's turns too, which are no questions;
- CANARD JSON; columns ``Question``, ``Rewrite``; turn ids are QuAC's question ids;
- JSONL of ConversationQueryRewriter; columns ``input`` (the turns so far, the last is the raw turn), ``target``,
  ``output``;
- JSONL with one object a line: an id (:data:`~robustcs.inputs.records.ID_NAMES`) and a text;
- one JSON object ``{turn: text}``;
- TSV with a header line, or with two columns ``id TAB text`` and none. TSV has no quoting: quotes belong to the text.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

from robustcs.errors import InputError, ProblemList, input_error
from robustcs.inputs.files import read_json
from robustcs.inputs.records import (
    ID_NAMES,
    ByTurn,
    StrPath,
    filled_lines,
    is_turn_id,
    json_lines,
    json_pairs,
    looks_like,
    no_column,
    record_id,
    shape_of,
)

Role = Literal["original", "qr", "human"]

#: The text column of tables and JSONL where none is named: the first of these that is there.
TEXT_NAMES = ("query", "text", "question", "rewrite")

_TOPIC_COLUMNS: dict[Role, str] = {"original": "raw", "human": "manual", "qr": "automatic"}
_CANARD_COLUMNS: dict[Role, str] = {"original": "Question", "human": "Rewrite", "qr": "Rewrite"}
_REWRITER_COLUMNS: dict[Role, str] = {"original": "input", "human": "target", "qr": "output"}
_RAW = ("raw_utterance", "utterance")
_TOPIC_FIELDS = {
    "raw": _RAW,
    "raw_utterance": _RAW,
    "utterance": _RAW,
    "manual": ("manual_rewritten_utterance",),
    "automatic": ("automatic_rewritten_utterance",),
}
_FORMATS = "write TSV (id and query), JSONL, JSON {turn: text}, CAsT topic JSON or CANARD JSON"


def read_texts(path: StrPath, role: Role, column: str | None = None) -> dict[str, str]:
    """Turn id → text without surrounding white space, in file order.

    ``column`` names the column or field; by default ``role`` chooses it where the format has several formulations, and
    it is the first of :data:`TEXT_NAMES` elsewhere. A CAsT turn that lacks the field is absent from the result.

    Raises :class:`InputError` with every problem of the file (bounded): ids or texts that are missing or empty, a turn
    with two different texts, wrong numbers of columns, a column that is not there.
    """
    return TextFile(path).texts(role, column)


class TextFile:
    """A file of texts, which is read once however many formulations are taken from it.

    Raises :class:`InputError` as :func:`read_texts` does.
    """

    def __init__(self, path: StrPath):
        self.path = path
        self._shape = shape_of(path)

    def texts(self, role: Role, column: str | None = None) -> dict[str, str]:
        """The texts of one formulation: see :func:`read_texts`."""
        path = self.path
        if self._shape == "table":
            return _read_table(path, self._lines, column)
        if self._shape == "jsonl":
            return _read_jsonl(path, *self._records, role, column)
        value = self._value
        if isinstance(value, list) and value and isinstance(value[0], dict):
            if "turn" in value[0]:
                return _read_topics(path, value, column or _TOPIC_COLUMNS[role])
            if "QuAC_dialog_id" in value[0]:
                return _read_canard(path, value, column or _CANARD_COLUMNS[role])
        if isinstance(value, dict) and (not value or any(isinstance(text, str) for text in value.values())):
            return _read_object(path, column)
        what = "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else "a value"
        raise input_error(path, None, f"JSON, but {what} without texts of turns", _FORMATS, "unknown-format")

    @cached_property
    def _lines(self) -> list[tuple[int, str]]:
        return list(filled_lines(self.path))

    @cached_property
    def _records(self) -> tuple[list[tuple[int, dict[str, Any]]], ProblemList]:
        problems = ProblemList(self.path)
        return list(json_lines(self.path, problems, halves=True)), problems

    @cached_property
    def _value(self) -> Any:
        return read_json(self.path, halves=True)


def _read_table(path: StrPath, lines: list[tuple[int, str]], column: str | None) -> dict[str, str]:
    rows = iter(lines)
    number, first = next(rows)
    advice = looks_like(first)
    if advice or "\t" not in first:
        raise input_error(path, number, "not a file of texts", advice or _FORMATS, "unknown-format")
    header = [cell.strip() for cell in first.split("\t")]
    names = [cell.lower() for cell in header]
    id_name = next((name for name in ID_NAMES if name in names), None)
    if id_name:
        column = column or next((name for name in TEXT_NAMES if name in header), TEXT_NAMES[0])
        if column not in header:
            raise no_column(path, number, column, header)
        id_position, text_position = names.index(id_name), header.index(column)
        expected = f"the header has {len(header)}"
    else:
        if column:
            raise _no_columns(path, number, column, "the file has no header line (id TAB text)")
        if len(header) != 2:
            found = f"{len(header)} columns, but no header line that names one of {', '.join(ID_NAMES)}"
            raise input_error(path, number, found, "add a header line, or write id TAB text only", "wrong-columns")
        rows = iter(lines)
        id_position, text_position = 0, 1
        expected = "a file without a header line has 2 (id, text)"
    width = len(header) if id_name else 2
    texts: ByTurn[str] = ByTurn(path)
    for number, line in rows:
        cells = line.split("\t")
        if len(cells) != width:
            advice = "is there a tab inside a text?" if len(cells) > width else "complete the line or leave it out"
            found = f"{len(cells)} column{'s' * (len(cells) != 1)} where {expected}"
            texts.problems.add(number, found, advice, "wrong-columns")
            continue
        _add(texts, cells[id_position], cells[text_position], number)
    return texts.result()


def _read_jsonl(
    path: StrPath, records: list[tuple[int, dict[str, Any]]], problems: ProblemList, role: Role, column: str | None
) -> dict[str, str]:
    texts: ByTurn[str] = ByTurn(path)
    texts.problems.take(problems)
    chosen = column
    for number, record in records:
        from_rewriter = is_turn_id(record.get("topic_number")) and is_turn_id(record.get("query_number"))
        if chosen is None:
            names = (_REWRITER_COLUMNS[role],) if from_rewriter else TEXT_NAMES
            chosen = next((name for name in names if name in record), names[0])
        if chosen not in record:
            if not texts.values:
                raise no_column(path, number, chosen, list(record))
            texts.problems.add(number, f"no field {chosen!r}", "complete the line or leave it out", "no-such-column")
            continue
        text = record[chosen]
        if from_rewriter:
            turn: object = f"{record['topic_number']}_{record['query_number']}"
            if isinstance(text, list) and text:
                text = text[-1]
        else:
            turn = record_id(record)
        _add(texts, turn, text, number)
    return texts.result()


def _read_object(path: StrPath, column: str | None) -> dict[str, str]:
    if column:
        raise _no_columns(path, None, column, "the file is one JSON object {turn: text}")
    texts: ByTurn[str] = ByTurn(path)
    for turn, text in json_pairs(path):
        _add(texts, turn, text, None)
    return texts.result()


def _read_topics(path: StrPath, topics: list[Any], column: str) -> dict[str, str]:
    names = _TOPIC_FIELDS.get(column, (column,))
    texts: ByTurn[str] = ByTurn(path)
    fields: dict[str, None] = {}
    for place, topic in enumerate(topics, 1):
        if not _numbered(topic) or not isinstance(topic.get("turn"), list):
            found = f"topic {place} of the list has no number or no list of turns"
            texts.problems.add(None, found, "complete the topic", "no-turn-id")
            continue
        for turn_place, turn in enumerate(topic["turn"], 1):
            if not _numbered(turn):
                found = f"topic {topic['number']}: turn {turn_place} of the list has no number"
                texts.problems.add(None, found, "complete the turn", "no-turn-id")
                continue
            if turn.get("participant", "User") != "User":
                continue
            fields.update(dict.fromkeys(turn))
            name = next((name for name in names if name in turn), None)
            if name:
                _add(texts, f"{topic['number']}_{turn['number']}", turn[name], None)
    if not texts.values and not texts.problems.total and fields:
        raise no_column(path, None, names[0], [field for field in fields if field != "number"])
    return texts.result()


def _numbered(entry: object) -> bool:
    return isinstance(entry, dict) and is_turn_id(entry.get("number"))


def _read_canard(path: StrPath, entries: list[Any], column: str) -> dict[str, str]:
    if column not in entries[0]:
        raise no_column(path, None, column, list(entries[0]))
    texts: ByTurn[str] = ByTurn(path)
    for place, entry in enumerate(entries, 1):
        try:
            turn = f"{entry['QuAC_dialog_id']}_q#{entry['Question_no'] - 1}"
            text = entry[column]
        except (KeyError, TypeError, ValueError) as error:
            found = f"entry {place} of the list is not a CANARD question ({error})"
            texts.problems.add(None, found, "complete the entry", "no-turn-id")
            continue
        _add(texts, turn, text, None)
    return texts.result()


def _add(texts: ByTurn[str], turn: object, value: object, line: int | None) -> None:
    text = texts.text(turn, value, line)
    if text is not None:
        texts.add(turn, text, line)


def _no_columns(path: StrPath, line: int | None, column: str, found: str) -> InputError:
    return input_error(path, line, f"no column {column!r}: {found}", "name the file without :COLUMN", "no-such-column")
