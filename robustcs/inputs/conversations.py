"""Conversations in fields of files: a table, JSONL or tasks with turn ids, their conversations, and
their places there.
"""

from __future__ import annotations

from collections.abc import Iterable

from robustcs.conversations import Places
from robustcs.errors import InputError, ProblemList, input_error
from robustcs.inputs.paths import StrPath
from robustcs.inputs.records import RowProblems
from robustcs.inputs.tables import Row, find_column, read_rows, text_of
from robustcs.inputs.text import id_text, whole_number

#: Columns of the conversation, of the place, and of the turn id; the first one present counts.
CONVERSATION_NAMES = (
    "conversation_id", "conversation", "conv_id", "conversation_no", "session_id", "session", "dialogue_id", "dialog_id",
    "thread_id",
)  # fmt: skip
PLACE_NAMES = ("turn_number", "turn_no", "turn_index", "turn")
_IDS = ("task_id", "query_id", "qid", "q_id", "turn_id", "sample_id", "_id", "id", "turn")
#: Largest place in a conversation.
_LAST = 10**9


def has_conversations(path: StrPath) -> bool:
    """Return whether a file has columns of turn ids and conversations; no file without such columns
    is an error.
    """
    try:
        columns = read_rows(path, ProblemList(path))[0]
    except InputError:
        return False
    return bool(find_column(columns, CONVERSATION_NAMES) and find_column(columns, _IDS))


def read_conversations(path: StrPath, partly: bool = False) -> Places:
    """Return turn → its conversation and its place there (None without a column of places).

    A column whose numbers begin again in each conversation has places, not ids. If there is no
    other column of ids, turns are ``CONVERSATION_TURN``. Rows without a turn or a conversation say
    nothing. ``partly``: all rows may say nothing.

    Raises :class:`InputError` if there is no column of turns or of conversations, and for a turn in
    two conversations.
    """
    problems = RowProblems(path)
    columns, lines = read_rows(path, problems)
    known = [name for one in _IDS if (name := find_column(columns, [one]))]
    conversations = find_column(columns, CONVERSATION_NAMES)
    if not known or not conversations:
        found = f"no column of {'turns' if conversations else 'conversations'}; the columns are: {', '.join(columns[:12])}"
        advice = "name two columns turn and conversation"
        raise input_error(path, 1, found, advice, "no-such-column")
    rows = list(lines)
    again = [name for name in known if _begins_again(rows, name, conversations)]
    ids = next((name for name in known if name not in again), "")
    number = (
        again[0]
        if again
        else find_column(
            [name for name in columns if name not in (ids, conversations)], PLACE_NAMES
        )
    )
    places: dict[str, tuple[str, int | None]] = {}
    for line, row in rows:
        conversation, place = (
            id_text(row.get(conversations)),
            id_text(row.get(number)) if number else "",
        )
        turn = id_text(row.get(ids)) if ids else f"{conversation}_{place}" if place else ""
        if not turn or not conversation:
            if any(
                text_of(cell) and not id_text(cell)
                for cell in (row.get(ids), row.get(conversations))
            ):
                problems.skip(
                    line,
                    "no turn id or no conversation",
                    "write texts of usual length or whole numbers",
                    "no-turn-id",
                )
        elif places.get(turn, (conversation,))[0] != conversation:
            found = f"turn {turn} is in conversations {places[turn][0]} and {conversation}"
            problems.add(line, found, "write one conversation for each turn", "repeated-turn")
        else:
            places[turn] = conversation, whole_number(place, _LAST)
    if partly:
        problems.raise_if_any(len(places))
    else:
        problems.finish(places, "conversations")
    return places


def _begins_again(rows: Iterable[Row], name: str, conversations: str) -> bool:
    """Return whether a column has only whole numbers, and one of them in two conversations."""
    read = {(id_text(row.get(name)), id_text(row.get(conversations))) for _, row in rows}
    whole = [(one, conversation) for one, conversation in read if one and conversation]
    return len({one for one, _ in whole}) < len(whole) and all(
        one.isascii() and one.isdecimal() for one, _ in whole
    )
