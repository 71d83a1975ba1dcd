"""Conversations in fields of files: turn ids, their conversations, and their places there.

The files are tables, JSONL or tasks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from robustcs.conversations import Places
from robustcs.errors import InputError, ProblemList, input_error
from robustcs.inputs.paths import StrPath
from robustcs.inputs.records import RowProblems
from robustcs.inputs.tables import Row, find_column, read_rows, text_of
from robustcs.inputs.text import id_text, whole_number

#: Columns of the conversation, of the place, and of the turn id; the first one present counts.
CONVERSATION_NAMES = (
    "conversation_id",
    "conversation",
    "conv_id",
    "conversation_no",
    "session_id",
    "session",
    "dialogue_id",
    "dialog_id",
    "thread_id",
)
PLACE_NAMES = ("turn_number", "turn_no", "turn_index", "turn")
_IDS = ("task_id", "query_id", "qid", "q_id", "turn_id", "sample_id", "_id", "id", "turn")
#: Largest place in a conversation.
_LAST = 10**9
#: Most columns that a message lists.
_LISTED = 12


def has_conversations(path: StrPath) -> bool:
    """Return whether a file has columns of turn ids and conversations.

    A file without such columns, or that cannot be read, is no error.
    """
    try:
        columns = read_rows(path, ProblemList(path))[0]
    except InputError:
        return False
    return bool(find_column(columns, CONVERSATION_NAMES) and find_column(columns, _IDS))


class _Columns(NamedTuple):
    """The names of the columns; ``ids`` and ``places`` are empty if the file has none."""

    ids: str
    conversations: str
    places: str


def read_conversations(path: StrPath, partly: bool = False) -> Places:
    """Return turn → its conversation and its place there (None without a column of places).

    A column whose numbers begin again in each conversation has places, not ids. If there is no
    other column of ids, turns are ``CONVERSATION_TURN``. Rows without a turn or a conversation say
    nothing. ``partly``: all rows may say nothing.

    Raises :class:`InputError` if there is no column of turns or of conversations, and for a turn in
    two conversations.
    """
    problems = RowProblems(path)
    names, row_iterator = read_rows(path, problems)
    candidates, conversations = _candidates(path, names)
    rows = list(row_iterator)
    columns = _columns(names, candidates, conversations, rows)
    places: dict[str, tuple[str, int | None]] = {}
    for line, row in rows:
        conversation = id_text(row.get(columns.conversations))
        place = id_text(row.get(columns.places)) if columns.places else ""
        turn = ""
        if columns.ids:
            turn = id_text(row.get(columns.ids))
        elif place:
            turn = f"{conversation}_{place}"
        if not turn or not conversation:
            cells = row.get(columns.ids), row.get(columns.conversations)
            if any(text_of(cell) and not id_text(cell) for cell in cells):
                advice = "write texts of usual length or whole numbers"
                problems.skip(line, "no turn id or no conversation", advice, "no-turn-id")
            continue
        known_conversation = places[turn][0] if turn in places else conversation
        if known_conversation != conversation:
            problem = f"turn {turn} is in conversations {known_conversation} and {conversation}"
            problems.add(line, problem, "write one conversation for each turn", "repeated-turn")
            continue
        places[turn] = conversation, whole_number(place, _LAST)
    if partly:
        problems.raise_if_any(len(places))
    else:
        problems.finish(places, "conversations")
    return places


def _candidates(path: StrPath, names: Sequence[str]) -> tuple[list[str], str]:
    """Return the columns that may contain turn ids, and the column of conversations.

    Raises :class:`InputError` if the file lacks one of the two.
    """
    candidates = []
    for usual_name in _IDS:
        column = find_column(names, [usual_name])
        if column is not None:
            candidates.append(column)
    conversations = find_column(names, CONVERSATION_NAMES)
    if not candidates or not conversations:
        missing = "turns" if conversations else "conversations"
        listed = ", ".join(names[:_LISTED])
        problem = f"no column of {missing}; the columns are: {listed}"
        advice = "name two columns turn and conversation"
        raise input_error(path, 1, problem, advice, "no-such-column")
    return candidates, conversations


def _columns(
    names: Sequence[str], candidates: Sequence[str], conversations: str, rows: Sequence[Row]
) -> _Columns:
    """Return the columns of ids, conversations and places; see :func:`_candidates`."""
    counting = [name for name in candidates if _begins_again(rows, name, conversations)]
    ids = next((name for name in candidates if name not in counting), "")
    if counting:
        return _Columns(ids, conversations, counting[0])
    others = [name for name in names if name not in (ids, conversations)]
    return _Columns(ids, conversations, find_column(others, PLACE_NAMES) or "")


def _begins_again(rows: Iterable[Row], name: str, conversations: str) -> bool:
    """Return whether a column has only whole numbers, and one of them in two conversations."""
    pairs = set()
    for _, row in rows:
        number, conversation = id_text(row.get(name)), id_text(row.get(conversations))
        if number and conversation:
            pairs.add((number, conversation))
    numbers = {number for number, _ in pairs}
    repeated = len(numbers) < len(pairs)
    return repeated and all(number.isascii() and number.isdecimal() for number in numbers)
