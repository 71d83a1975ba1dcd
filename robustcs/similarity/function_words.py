"""Words of a question: function words, pronouns that refer to earlier text, and names.

All lists are in lower case.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PRONOUNS = _words("""
    i me my mine myself you your yours we us our ours he him his she her hers it its itself they
    them their theirs one ones this that these those there someone something anyone anything
    everyone everything
""")
POSSESSIVES = _words("my your his her its our their")
DETERMINERS = _words(
    "a an the some any each every all both either neither no another other such own"
)
AUXILIARIES = _words("""
    am is are was were be been being do does did have has had can could will would shall should may
    might must isn't aren't wasn't weren't don't doesn't didn't haven't hasn't hadn't can't couldn't
    won't wouldn't shouldn't
""")
TO_BE = _words("am is are was were be been being isn't aren't wasn't weren't")
#: Auxiliaries that are not followed by a bare verb, but perhaps by a noun.
NO_VERB_AFTER = TO_BE | _words("have has had haven't hasn't hadn't")
PREPOSITIONS = _words("""
    of in on at by for with about against between into through during before after above below from
    up down out off over under among within without across along around behind beside besides beyond
    near since until upon than as like regarding
""")
QUESTION_WORDS = _words("""
    what who whom whose which when where why how what's who's where's how's when's why's what're
    who're
""")
#: Words that negate: without one, the question has the opposite meaning.
NEGATIONS = _words("no not nor never neither none without cannot")
_OTHERS = _words("""
    and or but if so because while then also just very too more most much many few less least to
    tell me please it's that's there's they're i'm i've i'd i'll you're let's well ok okay
""")
#: Pronouns that refer to earlier text. I and you refer to the speakers instead.
REFERRING = _words("""
    he him his himself she her hers herself it its itself it's he's she's they them their theirs
    themselves they're this these those that that's
""")
#: Words before "one" or "ones" as a replacement of a noun: the other one, which ones.
BEFORE_ONE = _words("the this that these those which each other another better best first last")
#: First words of fragments: and in Europe?
CONNECTING = _words("and or but also then")
#: First words of requests, which are complete without a question word.
REQUESTS = _words("""
    tell give list describe explain show compare name find discuss define provide outline summarize
    summarise recommend suggest help please write identify discover
""")
FUNCTION_WORDS = (
    PRONOUNS | DETERMINERS | AUXILIARIES | PREPOSITIONS | QUESTION_WORDS | NEGATIONS | _OTHERS
)


def is_negation(word: str) -> bool:
    """Return whether a word, in lower case with plain apostrophes, negates."""
    return word in NEGATIONS or word.endswith("n't")


def is_grammar(word: str) -> bool:
    """Return whether a word, in lower case with plain apostrophes, is a function word."""
    return word in FUNCTION_WORDS or word.endswith("n't")


class Word(NamedTuple):
    """A word of a text: its position, and the word in lower case with plain apostrophes."""

    start: int
    end: int
    plain: str

    @property
    def grammar(self) -> bool:
        """Whether it is a function word."""
        return is_grammar(self.plain)

    @property
    def name(self) -> str:
        """The word without a genitive s."""
        return self.plain.removesuffix("'s")


def words_of(text: str) -> list[Word]:
    """Return the words of a text in order."""
    return [Word(*match.span(), _plain(match[0])) for match in WORD.finditer(text)]


@lru_cache(32_768)  # several properties of a question are properties of its words
def plain_words(text: str) -> tuple[str, ...]:
    """Return the words of a text in order, in lower case with plain apostrophes."""
    if text.isascii():  # no curly apostrophes, and lower case moves no border of a word
        return tuple(WORD.findall(text.lower()))
    return tuple(_plain(written) for written in WORD.findall(text))


def _plain(written: str) -> str:
    """Return a word in lower case with plain apostrophes."""
    return written.lower().replace("’", "'")


def adjacent(text: str, word: Word, following: Word) -> bool:
    """Return whether only white space separates two words."""
    return text[word.end : following.start].isspace()


def end_of_run(text: str, words: Sequence[Word], start: int) -> int:
    """Return the position of the last word of the run of content words that begins at ``start``.

    Only white space separates the words of a run. ``words``: all words of ``text``.
    """
    end = start
    for following in range(start + 1, len(words)):
        word = words[following]
        if word.grammar or not adjacent(text, words[end], word):
            break
        end = following
    return end


def tidy(text: str) -> str:
    """Normalise white space: one space between words, none before closing punctuation."""
    return re.sub(r"\s+([?!.,;:])", r"\1", " ".join(text.split()))


def referring(text: str) -> list[str]:
    """Return the pronouns that refer to earlier text, in lower case, in the order of the text."""
    pronouns = []
    before = ""
    for word in plain_words(text):
        if _refers(word, before):
            pronouns.append(word)
        before = word
    return pronouns


def _refers(word: str, before: str) -> bool:
    """Return whether a word refers to earlier text; ``before``: the word before it, or empty."""
    if word in ("one", "ones"):
        return before in BEFORE_ONE
    if word == "that":
        # after a content word, "that" begins a relative clause: the book that you read
        return not before or is_grammar(before)
    return word in REFERRING


def names(text: str) -> set[str]:
    """Return the capitalised words of a text in lower case, without genitive.

    Function words and first words of sentences are no names; a first word is one if it has further
    capital letters (NASA's).
    """
    name_words = set()
    for place, match in enumerate(WORD.finditer(text)):
        written = match[0]
        capitalised = "A" <= written[0] <= "Z"
        if not capitalised or is_grammar(_plain(written)):
            continue
        opens_sentence = place == 0 or text[: match.start()].rstrip().endswith((".", "?", "!"))
        has_more_capitals = any(letter.isupper() for letter in written[1:])
        if has_more_capitals or not opens_sentence:
            name_words.add(_plain(written).removesuffix("'s"))
    return name_words
