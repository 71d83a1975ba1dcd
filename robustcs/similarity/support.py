"""Which sentences of an answer do its passages support? By word matching, and by citations where an answer has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from robustcs.similarity.responses import asks, refuses, sentences_of
from robustcs.similarity.texts import Words, held

#: Sentences of an answer with the ids of the passages that each cites.
Cited = Sequence[tuple[str, Sequence[str]]]


class Sentence(NamedTuple):
    """A sentence, the half-open interval [start, end) of an answer; None if nothing was compared, or texts are missing."""

    start: int
    end: int
    supported: bool | None


def checked_sentences(
    answer: str,
    passages: Mapping[str, str],
    words: Callable[[str], Words],
    least: float,
    cited: Cited | None = None,
) -> list[Sentence]:
    """Return the sentences of an answer, with whether a passage supports each.

    A sentence is supported if one passage has the share ``least`` of its content words, and unsupported if none has and all
    have texts. With citations, only the passages that it cites count. Refusals, questions and sentences without content words
    are not compared.

    passages
        Id → text (empty if unknown) of the passages from which the answer was generated.
    words
        Function that returns the content words of a text.
    """
    return [
        Sentence(start, end, _supported(answer[start:end], passages, words, least, citing))
        for start, end, citing in _parts(answer, cited)
    ]


def _parts(answer: str, cited: Cited | None) -> list[tuple[int, int, Sequence[str] | None]]:
    """Return the sentences of an answer with their citations, None if the answer has none at all."""
    if not cited or not any(citing for _, citing in cited):
        return [(start, end, None) for start, end in sentences_of(answer)]
    parts, place = [], 0
    for text, citing in cited:
        start = answer.find(text, place)
        if text and start >= 0:
            place = start + len(text)
            parts.append((start, place, citing))
    return parts  # type: ignore[return-value]


def _supported(
    sentence: str, passages: Mapping[str, str], words: Callable[[str], Words], least: float, citing: Sequence[str] | None
) -> bool | None:
    own = words(sentence)
    if not own or refuses(sentence) or asks(sentence):
        return None
    known = [passages.get(passage, "") for passage in (passages if citing is None else citing)]
    if any(held(own, words(text)) >= least for text in known):
        return True
    return None if "" in known else False
