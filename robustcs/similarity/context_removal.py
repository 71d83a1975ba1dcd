"""A question without its context by a rule, to compare models with.

Source: Al-Thani et al. (2023), "ECAsT", Table 9, "Entity Removal": all nouns that a part-of-speech tagger finds are taken off.
Here no model is needed: nouns are told by word lists, near enough for a baseline.
"""

from __future__ import annotations

from robustcs.similarity.function_words import (
    DETERMINERS,
    POSSESSIVES,
    PREPOSITIONS,
    QUESTION_WORDS,
    end_of_run,
    tidy,
    words_of,
)

_BEFORE_NOUNS = DETERMINERS | POSSESSIVES | PREPOSITIONS | QUESTION_WORDS


def without_nouns(text: str) -> str:
    """The text without capitalised words (but for the first) and without content words that follow a determiner, a
    preposition or a question word; the text itself where nothing would be left.
    """
    words = words_of(text)
    gone: set[int] = set()
    place = 0
    while place < len(words):
        if words[place].grammar:
            place += 1
            continue
        last = end_of_run(text, words, place)
        run = range(place, last + 1)
        noun = place > 0 and words[place - 1].plain in _BEFORE_NOUNS
        gone.update(at for at in run if noun or (at and text[words[at].start].isupper()))
        place = last + 1
    if len(gone) == len(words):
        return text
    kept, end = [], 0
    for at in sorted(gone):
        kept.append(text[end : words[at].start])
        end = words[at].end
    return tidy("".join([*kept, text[end:]]))
