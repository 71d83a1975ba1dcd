"""Properties of questions that are read from their texts: pronouns, ellipsis, length, names, topic.

Each function returns the name of a slice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from robustcs.conversations import Conversations
from robustcs.similarity.function_words import (
    AUXILIARIES,
    CONNECTING,
    QUESTION_WORDS,
    REQUESTS,
    is_grammar,
    names,
    plain_words,
    referring,
)

#: Classes of question length: the largest number of words of each class except the last.
LENGTHS = (5, 8)
#: The plural s is removed only from longer words.
_SHORTEST_STEM = 3
#: Endings in s that are no plural.
_NO_PLURAL = ("ss", "us", "is")


def pronoun(text: str) -> str:
    """Return ``yes`` if the text contains a pronoun that refers to earlier text, else ``no``.

    A ``that`` directly after a content word begins a clause (foods that help) and does not count.
    """
    return "yes" if referring(text) else "no"


def ellipsis(text: str) -> str:
    """Return ``yes`` if the question is elliptical, else ``no``.

    A question is elliptical if it begins with and, or, but, also, then, what about or how about; if
    it consists of function words only (why?); or if it has no question word and no auxiliary and
    does not begin like a request (tell me).
    """
    words = plain_words(text)
    if all(map(is_grammar, words)):
        return "yes"
    first = words[0]
    if first in CONNECTING or (first in ("what", "how") and words[1] == "about"):
        return "yes"
    if first in REQUESTS or any(map(_marks_question, words)):
        return "no"
    return "yes"


def _marks_question(word: str) -> bool:
    """Return whether the word can make a sentence a question."""
    return word in QUESTION_WORDS or word in AUXILIARIES or word.endswith("n't")


def length(text: str) -> str:
    """Return the class of the number of words: ``1–5``, ``6–8`` or ``9+``."""
    words = len(plain_words(text))
    start = 1
    for last in LENGTHS:
        if words <= last:
            return f"{start}–{last}"
        start = last + 1
    return f"{start}+"


def name_kept(text: str, human: str) -> str:
    """Return whether ``text`` has the capitalised names of the Human text.

    ``lost`` if it misses one, ``kept`` if it has all, ``none`` without a name.
    """
    named = names(human)
    if not named:
        return "none"
    words = {word.removesuffix("'s") for word in plain_words(text)}
    return "kept" if named <= words else "lost"


def topic_shifts(
    texts: Mapping[str, str], conversations: Conversations | None = None
) -> dict[str, str]:
    """Return turn → ``first``, ``stays``, ``returns`` or ``shifts``.

    It depends on the content words shared with earlier questions. A turn ``stays`` if it shares a
    word with the previous question, ``returns`` if only with an earlier one, and ``shifts`` if with
    none. Words are compared without case, genitive and plural s. Turns without a known place in a
    conversation are excluded.

    texts
        Turn → text: all known texts, evaluated or not, preferably self-contained ones.
    conversations
        The conversations of the turns; None: those that their ids show.
    """
    conversations = conversations or Conversations.from_ids(texts)
    by_conversation: dict[str, list[tuple[int, str]]] = {}
    for turn in texts:
        depth = conversations.depth(turn)
        if depth is not None:
            by_conversation.setdefault(conversations.of(turn), []).append((depth, turn))
    shifts = {}
    for turns in by_conversation.values():
        earlier: list[set[str]] = []
        for _, turn in sorted(turns):
            words = _content_words(texts[turn])
            shifts[turn] = _shift(words, earlier)
            earlier.append(words)
    return shifts


def _content_words(text: str) -> set[str]:
    words = plain_words(text)
    return {_stem(word) for word in words if not is_grammar(word) and word not in REQUESTS}


def _shift(words: set[str], earlier: Sequence[set[str]]) -> str:
    """Return the shift of a question; ``earlier``: the content words of the questions before."""
    if not earlier:
        return "first"
    if words & earlier[-1]:
        return "stays"
    return "returns" if any(words & others for others in earlier) else "shifts"


def _stem(word: str) -> str:
    """Return the word without genitive and plural s."""
    word = word.removesuffix("'s")
    if len(word) > _SHORTEST_STEM and word.endswith("s") and not word.endswith(_NO_PLURAL):
        return word[:-1]
    return word
