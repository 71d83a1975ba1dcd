"""What a system did: answered, partly answered, abstained, asked back, or gave no answer; and which
sentences are supported.

Passages support a sentence by its words, or by its citations if the answer has any.

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
MEASURED = "on answers of glm to MTRAG-UN, it found 132 of 133 refusals and no refusal among 322 full answers"

_WORD = re.compile(r"\w")
#: Words of most English answers, and of few in other languages.
_ENGLISH = re.compile(r"\b(?:the|and|with|this|that|you|not)\b", re.IGNORECASE)
#: The number of an item of a list, before its text.
_ITEM = re.compile(r"\W*[0-9]{1,3}[.)]")
#: Ends of sentences: punctuation and white space, or lines. Not after single letters and common
#: abbreviations.
_END = re.compile(
    r"(?<=[.!?])(?<!\b[A-Z]\.)(?<!\b(?:Mr|Dr|St|vs|No)\.)(?<!\b(?:Mrs|etc)\.)(?<!\b(?:e\.g|i\.e|U\.S)\.)[\"'”’)\]*]*\s+(?=\S)|\s*\n\s*"
)
#: Most words that may accompany a refusal; an answer with more is a partial one.
_AROUND = 25

_NOT = r"(?:do(?:es)?n['’]?t|did(?: not|n['’]?t)|do(?:es)? not|can(?:not| not|['’]?t)|could(?: not|n['’]?t)|fails? to|lacks?)"
_SOURCE = (
    r"(?:documents?|passages?|texts?|contexts?|information|sources?|excerpts?|contents?|articles?|materials?|references?"
    r"|knowledge base|search results?|data|snippets?|conversation)"
)
_REFUSAL = re.compile(
    "|".join((
        # I do not have / cannot find / am unable to answer …
        rf"\b(?:I|we)\b(?: \w+ly| am| are|['’]m|['’]re)? (?:{_NOT}|not able|unable|not sure|have no|found no|find no|see no)\b"
        r"(?=.{0,60}\b(?:have|find|know|answer|provide|access|determine|confirm|information|locate|sure|tell|comment|details?"
        r"|idea|see|help|assist|say|verify|identify|specify))",
        # the documents do not mention …; none of the passages mentions …
        rf"\b{_SOURCE}\b[^.?!]{{0,60}}?\b{_NOT}\b[^.?!]{{0,30}}?\b(?:contain|mention|includ|provid|specif|stat|say|address|discuss"
        r"|expla|describ|answer|cover|list|detail|give|offer|indicat|have|identif|defin|clarif|report|reveal|refer|elaborat"
        r"|explicit|direct|information)",
        rf"\b(?:none|neither|nothing) (?:of|in) [^.?!]{{0,30}}{_SOURCE}\b",
        # there is no information about …; not mentioned in the documents
        r"\b(?:there (?:is|are|was|were)|contains?|ha(?:s|ve)|provides?|includes?|offers?|gives?|found|find) (?:no|not any) "
        r"(?:[\w-]+ ){0,3}?(?:information|mention|details?|answer|data|indication|explanation|description|documents?"
        r"|passages?)",
        r"\bno (?:[\w-]+ ){0,3}(?:information|mention|details?|answer|data)\b[^.?!]{0,50}"
        r"\b(?:available|provided|found|given|in the)",
        rf"\bnot (?:[\w-]+ ){{0,2}}(?:mentioned|provided|specified|stated|available|included|given|discussed|described|listed"
        rf"|contained|addressed|detailed|covered|found|present|clear)\b[^.?!]{{0,40}}\b(?:in|by|from|within) [^.?!]{{0,30}}"
        rf"{_SOURCE}\b",
        r"\b(?:insufficient|not (?:enough|sufficient)|no relevant) (?:information|context|data|details|evidence)",
        r"\b(?:cannot|can['’]?t|could not|not possible to) (?:be )?(?:answer|determin)",
        r"\bI(?:['’]m| am) (?:\w+ )?(?:sorry|afraid)|\bI apologi[sz]e"
        r"|^(?:sorry|unanswerable|cannotanswer|no answer|n/a|unknown)\b",
    )),
    re.IGNORECASE | re.DOTALL,
)  # fmt: skip


def sentences_of(text: str) -> list[tuple[int, int]]:
    """Return the half-open interval [start, end) of every sentence with a word; a line end also
    ends a sentence.

    The number of an item of a list is no sentence.
    """
    found, start = [], 0
    for end in (*(match.span() for match in _END.finditer(text)), (len(text), len(text))):
        part = text[start : end[0]]
        is_item = _ITEM.fullmatch(part) and end[1] > end[0] and "\n" not in text[end[0] : end[1]]
        if _WORD.search(part) and not is_item:
            left = start + len(part) - len(part.lstrip())
            found.append((left, start + len(part.rstrip())))
        start = end[1]
    return found


def are_english(answers: Iterable[str]) -> bool:
    """Return whether at least 10% of the answers with more than 20 characters contain a frequent
    English word.
    """
    long = [answer for answer in answers if len(answer) > 20]
    return 10 * sum(bool(_ENGLISH.search(answer)) for answer in long) >= len(long)


def refuses(sentence: str) -> bool:
    """Return whether a sentence says that something is unknown or not in the passages."""
    return _REFUSAL.search(sentence) is not None


#: A question to the user about the question, and an offer, which is none.
_TO_USER = re.compile(r"\b(?:you|your|which|clarify|specify|mean|refer\w*)\b", re.IGNORECASE)
_OFFER = re.compile(
    r"\b(?:anything else|(?:know|learn|hear) more|(?:like|want) (?:me|more|help|to know)|help (?:you )?with|assist)\b",
    re.IGNORECASE,
)


def asks(sentence: str) -> bool:
    """Return whether a sentence is a question."""
    return sentence.rstrip("*_\"'”’) ").endswith("?")


def response_of(answer: str) -> Response:
    """Return what a system did, by its answer.

    A refusal in the first sentence with at most 25 other words, apart from questions, is
    ``abstained``; with more, or in the last sentence, ``partly``. A question to the user in the
    last sentence, without any refusal, is ``asked_back``; an offer of more help is not.
    """
    every = [answer[start:end] for start, end in sentences_of(answer)]
    if not every:
        return "no_answer"
    refusing = [refuses(one) for one in every]
    if refusing[0]:
        other = [
            one
            for one, refusal in zip(every, refusing, strict=True)
            if not refusal and not asks(one)
        ]
        return "abstained" if sum(len(one.split()) for one in other) <= _AROUND else "partly"
    if refusing[-1]:
        return "partly"
    back = asks(every[-1]) and _TO_USER.search(every[-1]) and not _OFFER.search(every[-1])
    return "asked_back" if back and not any(refusing) else "answered"


# ---------------------------------------------------------------- which sentences do the passages support?
#: Sentences of an answer with the ids of the passages that each cites.
Cited = Sequence[tuple[str, Sequence[str]]]


class Sentence(NamedTuple):
    """A sentence, the half-open interval [start, end) of an answer; None if nothing was compared,
    or texts are missing.
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
    sentence: str,
    passages: Mapping[str, str],
    words: Callable[[str], Words],
    least: float,
    citing: Sequence[str] | None,
) -> bool | None:
    own = words(sentence)
    if not own or refuses(sentence) or asks(sentence):
        return None
    known = [passages.get(passage, "") for passage in (passages if citing is None else citing)]
    if any(held(own, words(text)) >= least for text in known):
        return True
    return None if "" in known else False
