"""How alike texts are: words, tokens of answers in common, distinct n-grams."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from robustcs.evaluation.answers import answer_tokens

_APOSTROPHES = re.compile("['’‘`´]")
_WORD = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    """The words of a text without case, punctuation and apostrophes: ``What's the dog's name?`` is whats the dogs name."""
    return _WORD.findall(_APOSTROPHES.sub("", unicodedata.normalize("NFKC", text)).casefold())


def answer_jaccard(first: str, second: str) -> float:
    """Jaccard similarity of the token sets of two answers, in [0, 1], as Figure 3 of the error-analysis paper has it.

    Tokens are normalised as SQuAD does; two answers without any token are alike.
    """
    ours, theirs = set(answer_tokens(first)), set(answer_tokens(second))
    return len(ours & theirs) / len(ours | theirs) if ours | theirs else 1.0


def distinct_n(texts: Sequence[Sequence[str]], n: int) -> float:
    """Different n-grams of words out of all n-grams of texts together, in (0, 1]; nan without any. Li et al. (2016).

    ``texts`` are given as their :func:`words`.
    """
    grams = [gram for some in texts for gram in zip(*(some[start:] for start in range(n)), strict=False)]
    return len(set(grams)) / len(grams) if grams else float("nan")
