"""Shorter versions of a turn: only its last sentence, or no nouns.

The first leaves out the feedback before the question; the second is a baseline.

Source: Al-Thani et al. (2023), "ECAsT". Stage 2 splits a turn into sentences and keeps the last
one, the question; VADER (Hutto & Gilbert, 2014) measures the sentiment of the removed sentences.
Table 9, "Entity Removal", removes all nouns found by a part-of-speech tagger; the default here uses
word lists, which are close enough for a baseline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from robustcs.errors import NotInstalledError
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
Sentiment = Literal["negative", "neutral", "positive"]
#: VADER's limits of the compound score.
_POSITIVE = 0.05
_NEGATIVE = -0.05


def without_nouns(text: str) -> str:
    """Return the text without nouns, found by rules; the whole text if no word would remain.

    Removed are capitalised words (except the first) and content words after a determiner, a
    preposition or a question word.
    """
    words = words_of(text)
    nouns: list[int] = []
    place = 0
    while place < len(words):
        if words[place].grammar:
            place += 1
            continue
        last = end_of_run(text, words, place)
        after_determiner = place > 0 and words[place - 1].plain in _BEFORE_NOUNS
        for in_run in range(place, last + 1):
            capitalised = text[words[in_run].start].isupper()
            if after_determiner or (capitalised and in_run > 0):
                nouns.append(in_run)
        place = last + 1
    if len(nouns) == len(words):
        return text
    return _without(text, ((words[noun].start, words[noun].end) for noun in nouns))


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return the text without half-open ``spans``, which are ascending, with tidy white space."""
    kept = []
    end = 0
    for span_start, span_end in spans:
        kept.append(text[end:span_start])
        end = span_end
    kept.append(text[end:])
    return tidy("".join(kept))


def tagged_nouns() -> Callable[[str], str]:
    """Return a function like :func:`without_nouns` that uses NLTK's part-of-speech tagger.

    It removes the tokens with tags NN…. Raises :class:`NotInstalledError` if the tagger has no
    data; nothing is downloaded.
    """
    from nltk.tag import PerceptronTagger
    from nltk.tokenize import NLTKWordTokenizer

    try:
        tagger = PerceptronTagger()
    except LookupError as error:
        problem = "NLTK's tagger has no data (averaged_perceptron_tagger_eng)"
        advice = "install the data with: python -m nltk.downloader averaged_perceptron_tagger_eng"
        raise NotInstalledError("no-tagger", problem, advice) from error
    spans_of = NLTKWordTokenizer().span_tokenize

    def without(text: str) -> str:
        spans = list(spans_of(text))
        tagged = tagger.tag([text[start:end] for start, end in spans])
        nouns = [span for span, (_, tag) in zip(spans, tagged, strict=True) if tag.startswith("NN")]
        remaining = _without(text, nouns)
        return remaining if words_of(remaining) else text

    return without


@dataclass(frozen=True)
class Stripped:
    """A turn, split into its last sentence and the text before it.

    question
        The last sentence; never empty.
    before
        The text before it; empty if the turn is one sentence.
    compound
        VADER's compound score of ``before``, −1 to 1; 0 if it is empty.
    """

    question: str
    before: str = ""
    compound: float = 0.0

    @property
    def sentiment(self) -> Sentiment:
        """The sentiment of ``before``, by VADER's limits of ±0.05."""
        if self.compound >= _POSITIVE:
            return "positive"
        if self.compound <= _NEGATIVE:
            return "negative"
        return "neutral"


def strip_feedback(text: str) -> Stripped:
    """Split a turn into its last sentence and the text before it."""
    spans = sentence_spans(text)
    if len(spans) < 2:
        return Stripped(text)
    start, end = spans[-1]
    question = text[start:end]
    before = text[: text.rindex(question)].strip()
    compound = float(_vader().polarity_scores(before)["compound"])
    return Stripped(question, before, compound)


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return start and end of every sentence by NLTK's Punkt rules, which need no trained model."""
    return list(_punkt().span_tokenize(text))


@cache
def _punkt() -> Any:
    from nltk.tokenize.punkt import PunktSentenceTokenizer

    return PunktSentenceTokenizer()


@cache
def _vader() -> Any:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    return SentimentIntensityAnalyzer()
