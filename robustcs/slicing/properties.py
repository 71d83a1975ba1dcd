"""What the texts of turns say of them, by word lists and capitals alone: nothing is fetched, no model is asked.

Such lists are right on most questions and not on all: they are for splitting turns, not for judging a single one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from robustcs.inputs.turns import conversation, turn_depth
from robustcs.similarity.function_words import (
    AUXILIARIES,
    CONNECTING,
    QUESTION_WORDS,
    REQUESTS,
    Word,
    names,
    referring,
    words_of,
)

#: Lengths of a question, in words: the last number of all but the longest.
LENGTHS = (5, 8)


def pronoun(text: str) -> str:
    """``yes`` where a pronoun stands for what was said before; ``no``.

    A ``that`` right after a content word opens a clause (foods that help) and counts for nothing.
    """
    return "yes" if referring(text) else "no"


def ellipsis(text: str) -> str:
    """``yes`` where the question leaves out what makes it one; ``no``.

    That is: it opens with and, or, but, also, then, or with what about or how about; has function words alone (why?); or has
    neither a question word nor an auxiliary, and does not open as a request does (tell me).
    """
    words = words_of(text)
    if not words:
        return "yes"
    first = words[0].plain
    if first in CONNECTING or (first in ("what", "how") and len(words) > 1 and words[1].plain == "about"):
        return "yes"
    if all(word.grammar for word in words):
        return "yes"
    asks = any(word.plain in QUESTION_WORDS or word.plain in AUXILIARIES or word.plain.endswith("n't") for word in words)
    return "no" if asks or first in REQUESTS else "yes"


def length(text: str) -> str:
    """Its words: ``1–5``, ``6–8``, ``9+``."""
    words, start = len(words_of(text)), 1
    for last in LENGTHS:
        if words <= last:
            return f"{start}–{last}"
        start = last + 1
    return f"{start}+"


def name(text: str, human: str) -> str:
    """``lost`` where the Human text names something by capitals that ``text`` does not; ``kept``; ``none`` without a name."""
    named = names(human)
    if not named:
        return "none"
    return "kept" if named <= {word.name for word in words_of(text)} else "lost"


def topic_shifts(texts: Mapping[str, str]) -> dict[str, str]:
    """Turn → ``first``, ``stays``, ``returns`` or ``shifts``, by the content words that it shares with earlier questions.

    ``stays`` shares one with the question before it, ``returns`` only with an earlier one, ``shifts`` with none. Words are
    compared without case, genitive and a plural s. ``texts`` are all known ones, best those that stand alone, evaluated or not.
    Turns whose id does not say their place are left out.
    """
    by_conversation: dict[str, list[tuple[int, str]]] = {}
    for turn in texts:
        depth = turn_depth(turn)
        if depth is not None:
            by_conversation.setdefault(conversation(turn), []).append((depth, turn))
    found = {}
    for turns in by_conversation.values():
        earlier: list[set[str]] = []
        for _, turn in sorted(turns):
            own = {_stem(word) for word in words_of(texts[turn]) if not word.grammar and word.plain not in REQUESTS}
            found[turn] = _shift(own, earlier)
            earlier.append(own)
    return found


def _shift(own: set[str], earlier: Sequence[set[str]]) -> str:
    if not earlier:
        return "first"
    if own & earlier[-1]:
        return "stays"
    return "returns" if any(own & words for words in earlier) else "shifts"


def _stem(word: Word) -> str:
    plain = word.name
    return plain[:-1] if len(plain) > 3 and plain.endswith("s") and not plain.endswith(("ss", "us", "is")) else plain
