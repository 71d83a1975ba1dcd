"""What is taken off a question: what stands before its last sentence, and its context by a rule, to compare models with.

Source: Al-Thani et al. (2023), "ECAsT". Stage 2: a turn is split into sentences, and the final one, the question, is kept; a
sentiment analysis (VADER; Hutto & Gilbert, 2014) tells how what is taken off sounds. Table 9, "Entity Removal": all nouns that
a part-of-speech tagger finds are taken off; by default word lists find them, near enough for a baseline.
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
#: VADER's own limits of its compound score.
_POSITIVE, _NEGATIVE = 0.05, -0.05


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
    return _without(text, ((words[at].start, words[at].end) for at in sorted(gone)))


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    kept, end = [], 0
    for first, last in spans:
        kept.append(text[end:first])
        end = last
    return tidy("".join([*kept, text[end:]]))


def tagged_nouns() -> Callable[[str], str]:
    """Return a function as :func:`without_nouns`, which takes off what NLTK's part-of-speech tagger calls a noun (NN…).

    Raises :class:`NotInstalledError` where the tagger has no data; nothing is downloaded.
    """
    from nltk.tag import PerceptronTagger
    from nltk.tokenize import NLTKWordTokenizer

    try:
        tagger = PerceptronTagger()
    except LookupError as error:
        found = "NLTK's tagger has no data (averaged_perceptron_tagger_eng)"
        advice = "install them with: python -m nltk.downloader averaged_perceptron_tagger_eng"
        raise NotInstalledError("no-tagger", found, advice) from error
    spans_of = NLTKWordTokenizer().span_tokenize

    def without(text: str) -> str:
        spans = list(spans_of(text))
        tags = tagger.tag([text[start:end] for start, end in spans])
        left = _without(text, (span for span, (_, tag) in zip(spans, tags, strict=True) if tag.startswith("NN")))
        return left if words_of(left) else text

    return without


@dataclass(frozen=True)
class Stripped:
    """A turn without what stands before its last sentence.

    question
        What is kept; never empty.
    before
        What is taken off; empty where the turn is one sentence.
    compound
        VADER's compound score of ``before``, −1 to 1; 0 where there is nothing.
    """

    question: str
    before: str
    compound: float

    @property
    def sentiment(self) -> Sentiment:
        """How what is taken off sounds, by VADER's limits of 0.05."""
        if self.compound >= _POSITIVE:
            return "positive"
        return "negative" if self.compound <= _NEGATIVE else "neutral"


def strip_feedback(text: str) -> Stripped:
    """The last sentence of a turn, and what stands before it."""
    sentences = [text[start:end] for start, end in sentence_spans(text)]
    if len(sentences) < 2:
        return as_it_is(text)
    before = text[: text.rindex(sentences[-1])].strip()
    return Stripped(sentences[-1], before, float(_vader().polarity_scores(before)["compound"]))


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return start and end of every sentence by NLTK's Punkt rules, without a trained model: no data are needed."""
    return list(_punkt().span_tokenize(text))


def as_it_is(text: str) -> Stripped:
    """The whole turn, for turns without feedback."""
    return Stripped(text, "", 0.0)


@cache
def _punkt() -> Any:
    from nltk.tokenize.punkt import PunktSentenceTokenizer

    return PunktSentenceTokenizer()


@cache
def _vader() -> Any:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    return SentimentIntensityAnalyzer()
