"""Words of a question: function words, pronouns that refer to earlier text, and names; all lists are in lower case."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")
_NAME = re.compile(r"[A-Z][\w'’.&-]*\w|[A-Z]")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PRONOUNS = _words("""
    i me my mine myself you your yours we us our ours he him his she her hers it its itself they them their theirs one ones this
    that these those there someone something anyone anything everyone everything
""")
POSSESSIVES = _words("my your his her its our their")
DETERMINERS = _words("a an the some any each every all both either neither no another other such own")
AUXILIARIES = _words("""
    am is are was were be been being do does did have has had can could will would shall should may might must isn't aren't
    wasn't weren't don't doesn't didn't haven't hasn't hadn't can't couldn't won't wouldn't shouldn't
""")
TO_BE = _words("am is are was were be been being isn't aren't wasn't weren't")
#: Auxiliaries that are not followed by a bare verb, but perhaps by a noun.
NO_VERB_AFTER = TO_BE | _words("have has had haven't hasn't hadn't")
PREPOSITIONS = _words("""
    of in on at by for with about against between into through during before after above below from up down out off over under
    among within without across along around behind beside besides beyond near since until upon than as like regarding
""")
QUESTION_WORDS = _words("""
    what who whom whose which when where why how what's who's where's how's when's why's what're who're
""")
#: Words that negate: without one, the question has the opposite meaning.
NEGATIONS = _words("no not nor never neither none without cannot")
_OTHERS = _words("""
    and or but if so because while then also just very too more most much many few less least to tell me please it's that's
    there's they're i'm i've i'd i'll you're let's well ok okay
""")
#: Pronouns that refer to earlier text. I and you refer to the speakers instead.
REFERRING = _words("""
    he him his himself she her hers herself it its itself it's he's she's they them their theirs themselves they're
    this these those that that's
""")
#: Words before "one" or "ones" as a replacement of a noun: the other one, which ones.
BEFORE_ONE = _words("the this that these those which each other another better best first last")
#: First words of fragments: and in Europe?
CONNECTING = _words("and or but also then")
#: First words of requests, which are complete without a question word.
REQUESTS = _words("""
    tell give list describe explain show compare name find discuss define provide outline summarize summarise recommend suggest
    help please write identify discover
""")
FUNCTION_WORDS = PRONOUNS | DETERMINERS | AUXILIARIES | PREPOSITIONS | QUESTION_WORDS | NEGATIONS | _OTHERS


def is_negation(word: str) -> bool:
    """Return whether a word negates; the word is in lower case with plain apostrophes."""
    return word in NEGATIONS or word.endswith("n't")


@dataclass(frozen=True)
class Word:
    """A word of a text: its position, and the word in lower case with plain apostrophes."""

    start: int
    end: int
    plain: str

    @property
    def grammar(self) -> bool:
        """Whether it is a function word."""
        return self.plain in FUNCTION_WORDS or is_negation(self.plain)

    @property
    def name(self) -> str:
        """The word without a genitive s."""
        return self.plain.removesuffix("'s")


def words_of(text: str) -> list[Word]:
    """Return the words of a text in order."""
    return [Word(*match.span(), match[0].lower().replace("’", "'")) for match in WORD.finditer(text)]


def adjacent(text: str, word: Word, following: Word) -> bool:
    """Return whether only white space separates two words."""
    return text[word.end : following.start].isspace()


def end_of_run(text: str, words: Sequence[Word], start: int) -> int:
    """Return the position of the last content word of the run of content words that begins at ``start``."""
    end = start
    while end + 1 < len(words) and not words[end + 1].grammar and adjacent(text, words[end], words[end + 1]):
        end += 1
    return end


def tidy(text: str) -> str:
    """Normalise white space: one space between words, none before closing punctuation."""
    return re.sub(r"\s+([?!.,;:])", r"\1", " ".join(text.split()))


def referring(text: str) -> list[str]:
    """Return the pronouns that refer to earlier text, in lower case, in the order of the text."""
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
    """Return the capitalised words of a text in lower case, without genitive, function words and first words of sentences.

    A first word counts if it has further capital letters (NASA's).
    """
    found = set()
    for place, word in enumerate(words_of(text)):
        written = text[word.start : word.end]
        opens = place == 0 or text[: word.start].rstrip()[-1:] in (".", "?", "!")
        if word.grammar or not _NAME.match(written) or (opens and not any(map(str.isupper, written[1:]))):
            continue
        found.add(word.name)
    return found
