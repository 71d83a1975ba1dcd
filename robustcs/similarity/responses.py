"""What a system did, by its answer, and which of its sentences are supported.

A system answered, partly answered, abstained, asked back, or gave no answer. Passages support a
sentence by its words, or by its citations if the answer has any.

The detector recognises English only. It consists of regular expressions over the first and the last
sentence. It was written on the answers of one generator (gemini of MTRAG-UN); :data:`MEASURED` is
its error on another (glm), against the published ``idk_eval``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from robustcs.inputs.answers import Response
from robustcs.similarity.texts import Words, held

#: Error of the detector on answers that were not used to write it.
MEASURED = (
    "on answers of glm to MTRAG-UN, it found 132 of 133 refusals and no refusal among 322 full"
    " answers"
)

_WORD = re.compile(r"\w")
#: Words of most English answers, and of few in other languages.
_ENGLISH = re.compile(r"\b(?:the|and|with|this|that|you|not)\b", re.IGNORECASE)
#: The number of an item of a list, before its text.
_ITEM = re.compile(r"\W*[0-9]{1,3}[.)]")
#: Ends of sentences: punctuation and white space, or lines. Not after single letters and common
#: abbreviations.
_END = re.compile(
    r"(?<=[.!?])"
    r"(?<!\b[A-Z]\.)(?<!\b(?:Mr|Dr|St|vs|No)\.)(?<!\b(?:Mrs|etc)\.)(?<!\b(?:e\.g|i\.e|U\.S)\.)"
    r"[\"'”’)\]*]*\s+(?=\S)|\s*\n\s*"
)
#: Most words that may accompany a refusal; an answer with more is a partial one.
_MOST_OTHER_WORDS = 25
#: Answers up to this number of characters do not show their language.
_SHORT_ANSWER = 20
#: One in so many answers must contain a frequent English word.
_ONE_IN = 10

_NOT = (
    r"(?:do(?:es)?n['’]?t|did(?: not|n['’]?t)|do(?:es)? not|can(?:not| not|['’]?t)"
    r"|could(?: not|n['’]?t)|fails? to|lacks?)"
)
_SOURCE = (
    r"(?:documents?|passages?|texts?|contexts?|information|sources?|excerpts?|contents?|articles?"
    r"|materials?|references?|knowledge base|search results?|data|snippets?|conversation)"
)
#: I do not have / cannot find / am unable to answer …
_I_CANNOT = (
    rf"\b(?:I|we)\b(?: \w+ly| am| are|['’]m|['’]re)?"
    rf" (?:{_NOT}|not able|unable|not sure|have no|found no|find no|see no)\b"
    r"(?=.{0,60}\b(?:have|find|know|answer|provide|access|determine|confirm|information|locate|sure"
    r"|tell|comment|details?|idea|see|help|assist|say|verify|identify|specify))"
)
#: The documents do not mention …
_SOURCES_DO_NOT = (
    rf"\b{_SOURCE}\b[^.?!]{{0,60}}?\b{_NOT}\b[^.?!]{{0,30}}?"
    r"\b(?:contain|mention|includ|provid|specif|stat|say|address|discuss|expla|describ|answer|cover"
    r"|list|detail|give|offer|indicat|have|identif|defin|clarif|report|reveal|refer|elaborat"
    r"|explicit|direct|information)"
)
#: None of the passages mentions …
_NONE_OF_SOURCES = rf"\b(?:none|neither|nothing) (?:of|in) [^.?!]{{0,30}}{_SOURCE}\b"
#: There is no information about …
_THERE_IS_NO = (
    r"\b(?:there (?:is|are|was|were)|contains?|ha(?:s|ve)|provides?|includes?|offers?|gives?|found"
    r"|find) (?:no|not any) (?:[\w-]+ ){0,3}?(?:information|mention|details?|answer|data|indication"
    r"|explanation|description|documents?|passages?)"
)
#: No information about … is available.
_NO_INFORMATION = (
    r"\bno (?:[\w-]+ ){0,3}(?:information|mention|details?|answer|data)\b[^.?!]{0,50}"
    r"\b(?:available|provided|found|given|in the)"
)
#: Not mentioned in the documents.
_NOT_IN_SOURCES = (
    r"\bnot (?:[\w-]+ ){0,2}(?:mentioned|provided|specified|stated|available|included|given"
    r"|discussed|described|listed|contained|addressed|detailed|covered|found|present|clear)\b"
    rf"[^.?!]{{0,40}}\b(?:in|by|from|within) [^.?!]{{0,30}}{_SOURCE}\b"
)
_NOT_ENOUGH = (
    r"\b(?:insufficient|not (?:enough|sufficient)|no relevant)"
    r" (?:information|context|data|details|evidence)"
)
_CANNOT_ANSWER = r"\b(?:cannot|can['’]?t|could not|not possible to) (?:be )?(?:answer|determin)"
_SORRY = (
    r"\bI(?:['’]m| am) (?:\w+ )?(?:sorry|afraid)|\bI apologi[sz]e"
    r"|^(?:sorry|unanswerable|cannotanswer|no answer|n/a|unknown)\b"
)
_REFUSALS = (
    _I_CANNOT,
    _SOURCES_DO_NOT,
    _NONE_OF_SOURCES,
    _THERE_IS_NO,
    _NO_INFORMATION,
    _NOT_IN_SOURCES,
    _NOT_ENOUGH,
    _CANNOT_ANSWER,
    _SORRY,
)
_REFUSAL = re.compile("|".join(_REFUSALS), re.IGNORECASE | re.DOTALL)


def sentences_of(text: str) -> list[tuple[int, int]]:
    """Return the half-open interval [start, end) of every sentence with a word.

    A line end also ends a sentence. The number of an item of a list is no sentence; it belongs to
    the text after it.
    """
    ends = [match.span() for match in _END.finditer(text)]
    ends.append((len(text), len(text)))
    sentences = []
    start = 0
    for end, next_start in ends:
        part = text[start:end]
        gap = text[end:next_start]
        is_item_number = _ITEM.fullmatch(part) and gap and "\n" not in gap
        if _WORD.search(part) and not is_item_number:
            leading = len(part) - len(part.lstrip())
            sentences.append((start + leading, start + len(part.rstrip())))
        start = next_start
    return sentences


def are_english(answers: Iterable[str]) -> bool:
    """Return whether at least 10% of the answers contain a frequent English word.

    Only answers with more than 20 characters count; without any, the result is True.
    """
    long = [answer for answer in answers if len(answer) > _SHORT_ANSWER]
    english = [answer for answer in long if _ENGLISH.search(answer)]
    return _ONE_IN * len(english) >= len(long)


def refuses(sentence: str) -> bool:
    """Return whether a sentence says that something is unknown or not in the passages."""
    return _REFUSAL.search(sentence) is not None


#: A question to the user about the question, and an offer, which is none.
_TO_USER = re.compile(r"\b(?:you|your|which|clarify|specify|mean|refer\w*)\b", re.IGNORECASE)
_OFFER = re.compile(
    r"\b(?:anything else|(?:know|learn|hear) more|(?:like|want) (?:me|more|help|to know)"
    r"|help (?:you )?with|assist)\b",
    re.IGNORECASE,
)


def is_question(sentence: str) -> bool:
    """Return whether a sentence is a question."""
    return sentence.rstrip("*_\"'”’) ").endswith("?")


def response_of(answer: str) -> Response:
    """Return what a system did, by its answer.

    A refusal in the first sentence with at most 25 other words, apart from questions, is
    ``abstained``; with more, or in the last sentence, ``partly``. A question to the user in the
    last sentence, without any refusal, is ``asked_back``; an offer of more help is not.
    """
    sentences = [answer[start:end] for start, end in sentences_of(answer)]
    if not sentences:
        return "no_answer"
    refusals = [refuses(sentence) for sentence in sentences]
    if refusals[0]:
        other_words = 0
        for sentence, is_refusal in zip(sentences, refusals, strict=True):
            if not is_refusal and not is_question(sentence):
                other_words += len(sentence.split())
        return "abstained" if other_words <= _MOST_OTHER_WORDS else "partly"
    if refusals[-1]:
        return "partly"
    if _is_question_to_user(sentences[-1]) and not any(refusals):
        return "asked_back"
    return "answered"


def _is_question_to_user(sentence: str) -> bool:
    """Return whether a sentence is a question to the user about the question, and no offer."""
    return bool(is_question(sentence) and _TO_USER.search(sentence) and not _OFFER.search(sentence))


# ---------------------------------------------------------------- supported sentences
#: Sentences of an answer with the ids of the passages that each cites.
Cited = Sequence[tuple[str, Sequence[str]]]


class Sentence(NamedTuple):
    """A sentence, the half-open interval [start, end) of an answer.

    ``supported`` is None if nothing was compared, or texts are missing.
    """

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

    A sentence is supported if one passage has the share ``least`` of its content words, and
    unsupported if none has and all have texts. With citations, only the passages that it cites
    count. Refusals, questions and sentences without content words are not compared.

    passages
        Id → text (empty if unknown) of the passages from which the answer was generated.
    words
        Function that returns the content words of a text.
    cited
        The citations of the answer; without any, all passages count.
    """
    sentences = []
    for part in _parts(answer, cited):
        candidates = list(passages.values())
        if part.citations is not None:
            candidates = [passages.get(passage, "") for passage in part.citations]
        supported = _supported(answer[part.start : part.end], candidates, words, least)
        sentences.append(Sentence(part.start, part.end, supported))
    return sentences


class _CitedSentence(NamedTuple):
    """A sentence [start, end) of an answer with the ids that it cites; None: all passages count."""

    start: int
    end: int
    citations: Sequence[str] | None


def _parts(answer: str, cited: Cited | None) -> list[_CitedSentence]:
    """Return the sentences of an answer with their citations.

    With citations, the sentences are those of ``cited`` that are found in the answer, in order.
    """
    if not cited or not any(citations for _, citations in cited):
        return [_CitedSentence(start, end, None) for start, end in sentences_of(answer)]
    parts = []
    searched = 0
    for text, citations in cited:
        start = answer.find(text, searched)
        if text and start >= 0:
            searched = start + len(text)
            parts.append(_CitedSentence(start, searched, citations))
    return parts


def _supported(
    sentence: str, passages: Sequence[str], words: Callable[[str], Words], least: float
) -> bool | None:
    """Return whether one of the ``passages`` (texts; empty if unknown) supports a sentence."""
    sentence_words = words(sentence)
    if not sentence_words or refuses(sentence) or is_question(sentence):
        return None
    if any(held(sentence_words, words(passage)) >= least for passage in passages):
        return True
    return None if "" in passages else False
