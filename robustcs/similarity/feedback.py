"""What a user says before the question: feedback on the last response, and what they reveal about themselves.

Source: Al-Thani et al. (2023), "ECAsT", stage 2: a turn is split into sentences, and the final one, the question, is kept. Its
sentiment analysis (VADER; Hutto & Gilbert, 2014) tells how what is taken off sounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from nltk.tokenize.punkt import PunktSentenceTokenizer

Sentiment = Literal["negative", "neutral", "positive"]
#: VADER's own limits of its compound score.
_POSITIVE, _NEGATIVE = 0.05, -0.05


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
def _punkt() -> PunktSentenceTokenizer:
    from nltk.tokenize.punkt import PunktSentenceTokenizer

    return PunktSentenceTokenizer()


@cache
def _vader() -> Any:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    return SentimentIntensityAnalyzer()
