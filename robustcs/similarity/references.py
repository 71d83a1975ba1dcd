"""Pronouns that stand for what was said before, and names, told by word lists and capitals."""

from __future__ import annotations

import re

from robustcs.similarity.function_words import BEFORE_ONE, REFERRING, words_of

_NAME = re.compile(r"[A-Z][\w'’.&-]*\w|[A-Z]")


def referring(text: str) -> list[str]:
    """The pronouns that stand for what was said before, in lower case, in the order of the text."""
    words = words_of(text)
    found = []
    for place, word in enumerate(words):
        before = words[place - 1] if place else None
        if word.plain in ("one", "ones"):
            if before and before.plain in BEFORE_ONE:
                found.append(word.plain)
        elif word.plain in REFERRING and not (word.plain == "that" and before and not before.grammar):
            found.append(word.plain)
    return found


def names(text: str) -> set[str]:
    """The capitalised words of a text, in lower case and without a genitive: not the first word, I, or function words.

    The first word counts where its capitals go on (NASA's), for no sentence gives it these.
    """
    found = set()
    for place, word in enumerate(words_of(text)):
        written = text[word.start : word.end]
        opens = place == 0 or text[: word.start].rstrip()[-1:] in (".", "?", "!")
        if word.grammar or not _NAME.match(written) or (opens and not any(map(str.isupper, written[1:]))):
            continue
        found.add(word.name)
    return found
