"""Shorter versions of a turn: its last sentence without the feedback before it, and a baseline
without nouns.

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
_POSITIVE, _NEGATIVE = 0.05, -0.05


def without_nouns(text: str) -> str:
    """Return the text without nouns, found by rules; the whole text if no word would remain.

    Removed are capitalised words (except the first) and content words after a determiner, a
    preposition or a question word.
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
    return _without(text, ((words[at].start, words[at].end) for at in sorted(gone)))


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    kept, end = [], 0
    for first, last in spans:
        kept.append(text[end:first])
        end = last
    return tidy("".join([*kept, text[end:]]))


def tagged_nouns() -> Callable[[str], str]:
    """Return a function like :func:`without_nouns` that removes the nouns (NN…) of NLTK's
    part-of-speech tagger.

    Raises :class:`NotInstalledError` if the tagger has no data; nothing is downloaded.
    """
    from nltk.tag import PerceptronTagger
    from nltk.tokenize import NLTKWordTokenizer

    try:
        tagger = PerceptronTagger()
    except LookupError as error:
        found = "NLTK's tagger has no data (averaged_perceptron_tagger_eng)"
        advice = "install the data with: python -m nltk.downloader averaged_perceptron_tagger_eng"
        raise NotInstalledError("no-tagger", found, advice) from error
    spans_of = NLTKWordTokenizer().span_tokenize

    def without(text: str) -> str:
        spans = list(spans_of(text))
        tags = tagger.tag([text[start:end] for start, end in spans])
        left = _without(
            text, (span for span, (_, tag) in zip(spans, tags, strict=True) if tag.startswith("NN"))
        )
        return left if words_of(left) else text

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
        return "negative" if self.compound <= _NEGATIVE else "neutral"


def strip_feedback(text: str) -> Stripped:
    """Split a turn into its last sentence and the text before it."""
    sentences = [text[start:end] for start, end in sentence_spans(text)]
    if len(sentences) < 2:
        return Stripped(text)
    before = text[: text.rindex(sentences[-1])].strip()
    return Stripped(sentences[-1], before, float(_vader().polarity_scores(before)["compound"]))


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
