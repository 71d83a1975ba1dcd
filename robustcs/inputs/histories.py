"""What was said before a turn, as files of question texts tell it.

Topic files list the turns of a conversation, often with the answers of a system; other files repeat
the earlier messages in every turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from robustcs.inputs.formats import Histories, Record, Utterance, turn_of
from robustcs.inputs.text import id_text

USER, SYSTEM = "user", "system"


def in_topics(
    topic: str,
    lists: Sequence[str],
    turn: str,
    asked: Sequence[str],
    shown: Sequence[str] = (),
) -> Histories:
    """Return a reader of files with a list of turns for each topic.

    A turn may contain the ``response`` of the system, or the ``passage`` that it showed, and the
    system may have turns of its own (CAsT 2022), which name their ``parent``.

    topic, lists, turn
        Fields of the topic's id, of its list of turns, and of the turn's id.
    asked
        Fields of the question; the first one present counts.
    shown
        Fields of the id of the passage that answers the turn.
    """

    def histories(records: Iterable[Record]) -> Iterator[tuple[object, Sequence[Utterance]]]:
        for record in records:
            turns = next((record.fields[name] for name in lists if name in record.fields), None)
            number = record.fields.get(topic)
            said: dict[str, list[Utterance]] = {}
            last = ""
            for entry in turns if isinstance(turns, list) else ():
                if not isinstance(entry, dict):
                    continue
                own = id_text(entry.get(turn))
                earlier = id_text(entry.get("parent"))
                if not earlier and _branch(own) == _branch(last):
                    earlier = last
                before = said.get(earlier, [])
                by_user = entry.get("participant", "User") == "User"
                if by_user:
                    yield turn_of(number, entry.get(turn)), before
                said[own] = [*before, *(_asked(entry, asked) if by_user else ())]
                said[own] += _answered(entry, shown, by_user)
                last = own

    return histories


def _branch(turn: str) -> str:
    """Return the branch of a turn of CAsT 2022: ``1`` of ``1-3``; empty for other turns."""
    return turn.rpartition("-")[0]


def _asked(entry: Mapping[str, Any], names: Sequence[str]) -> list[Utterance]:
    text = _first_text(entry, names)
    return [Utterance(USER, text)] if text else []


def _answered(entry: Mapping[str, Any], shown: Sequence[str], by_user: bool) -> list[Utterance]:
    """Return what the system says in a turn of its own, or after the question of the user."""
    text = _first_text(entry, ("response", "passage") if by_user else ("response", "utterance"))
    if text:
        return [Utterance(SYSTEM, text)]
    passage = next((id_text(entry[name]) for name in shown if entry.get(name)), "")
    return [Utterance(SYSTEM, "", passage)] if passage else []


def _first_text(entry: Mapping[str, Any], names: Iterable[str]) -> str:
    texts = (entry.get(name) for name in names)
    return next((one.strip() for one in texts if isinstance(one, str) and one.strip()), "")


def in_field(
    name: str, turn: Callable[[Mapping[str, Any]], object], skip: int = 0, answers: bool = True
) -> Histories:
    """Return a reader of files with a list of the earlier messages in every turn.

    name
        The field of the list.
    turn
        Returns the id of the turn.
    skip
        Number of entries before the first message.
    answers
        Whether every second message is the system's; else all are questions, and the last is the
        question of the turn.
    """

    def histories(records: Iterable[Record]) -> Iterator[tuple[object, Sequence[Utterance]]]:
        for record in records:
            listed = record.fields.get(name)
            texts = listed[skip:] if isinstance(listed, list) else None
            if texts is None or not all(isinstance(text, str) for text in texts):
                continue
            if answers:
                who = [(USER, SYSTEM)[place % 2] for place in range(len(texts))]
            else:
                texts = texts[:-1]
                who = [USER] * len(texts)
            yield turn(record.fields), [Utterance(*one) for one in zip(who, texts, strict=True)]

    return histories
