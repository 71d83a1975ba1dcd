"""Conversations in fields of files: a table, JSONL or tasks with turn ids, their conversations, and their places there."""

from __future__ import annotations

from robustcs.conversations import Places
from robustcs.errors import InputError, ProblemList, input_error
from robustcs.inputs.paths import StrPath
from robustcs.inputs.records import RowProblems
from robustcs.inputs.tables import find_column, read_rows
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
    """Return whether a file has columns of turn ids and conversations; no file without such columns is an error."""
    try:
        columns = read_rows(path, ProblemList(path))[0]
    except InputError:
        return False
    return bool(find_column(columns, CONVERSATION_NAMES) and find_column(columns, _IDS))


def read_conversations(path: StrPath) -> Places:
    """Return turn → its conversation and its place there (None without a column of places).

    If the column ``turn`` numbers the turns of each conversation, turns are ``CONVERSATION_TURN``. Raises :class:`InputError`
    if there is no column of turns or of conversations, and for a turn in two conversations.
    """
    problems = RowProblems(path)
    columns, rows = read_rows(path, problems)
    ids, conversations = find_column(columns, _IDS), find_column(columns, CONVERSATION_NAMES)
    if not ids or not conversations:
        found = f"no column of {'turns' if conversations else 'conversations'}; the columns are: {', '.join(columns[:12])}"
        advice = "name two columns turn and conversation"
        raise input_error(path, 1, found, advice, "no-such-column")
    number = find_column([name for name in columns if name not in (ids, conversations)], PLACE_NAMES)
    read = [
        (line, id_text(row.get(ids)), id_text(row.get(conversations)), id_text(row.get(number)) if number else "")
        for line, row in rows
    ]
    numbered = len({turn for _, turn, *_ in read}) < len({row[1:3] for row in read}) and all(row[1].isdecimal() for row in read)
    if not number and ids.lower() == "turn" and numbered:
        read = [(line, f"{conversation}_{turn}", conversation, turn) for line, turn, conversation, _ in read]
    places: dict[str, tuple[str, int | None]] = {}
    for line, turn, conversation, place in read:
        if not turn or not conversation:
            problems.skip(line, "no turn id or no conversation", "complete the row or delete it", "no-turn-id")
        elif places.get(turn, (conversation,))[0] != conversation:
            found = f"turn {turn} is in conversations {places[turn][0]} and {conversation}"
            problems.add(line, found, "write one conversation for each turn", "repeated-turn")
        else:
            places[turn] = conversation, whole_number(place, _LAST)
    problems.finish(places, "conversations")
    return places
