"""A question without its context by a rule, to compare models with.

Source: Al-Thani et al. (2023), "ECAsT", Table 9, "Entity Removal": all nouns that a part-of-speech tagger finds are taken off.
By default no model is needed: word lists find the nouns, near enough for a baseline. NLTK's tagger finds them as in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

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
