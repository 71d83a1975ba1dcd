"""Porter's stemmer as NLTK runs it, which is the one of the rouge-score package, without the second that importing NLTK takes.

Porter (1980), with the departures of Martin Porter's own implementations and those of NLTK (its mode ``NLTK_EXTENSIONS``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

#: Irregular words, and what they are cut to.
_IRREGULAR = {
    "sky": "sky", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news", "innings": "inning",
    "inning": "inning", "outings": "outing", "outing": "outing", "cannings": "canning", "canning": "canning",
    "howe": "howe", "proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}  # fmt: skip
_VOWELS = frozenset("aeiou")

#: Suffixes and what takes their place. Of those that a word ends in the first one is tried and no other.
_Rules = Sequence[tuple[str, str]]
_PLURALS: _Rules = (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", ""))
_DOUBLE: _Rules = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"), ("ator", "ate"),
    ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"),
    ("biliti", "ble"), ("fulli", "ful"),
)  # fmt: skip
_SINGLE: _Rules = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
)  # fmt: skip
_LAST: _Rules = (
    ("al", ""), ("ance", ""), ("ence", ""), ("er", ""), ("ic", ""), ("able", ""), ("ible", ""), ("ant", ""), ("ement", ""),
    ("ment", ""), ("ent", ""), ("ion", ""), ("ou", ""), ("ism", ""), ("ate", ""), ("iti", ""), ("ous", ""), ("ive", ""),
    ("ize", ""),
)  # fmt: skip


def stem(word: str) -> str:
    """The stem of a word, in lower case."""
    lower = word.lower()
    if lower in _IRREGULAR:
        return _IRREGULAR[lower]
    if len(word) <= 2:
        return lower
    found = _y_to_i(_without_past(_without_plural(lower)))
    found = _without_last(_replaced(_without_double(found), _SINGLE, _has_measure))
    return _without_double_l(_without_e(found))


def _consonants(word: str) -> list[bool]:
    """Whether each letter is a consonant: none of a, e, i, o and u, and no y after a consonant."""
    flags: list[bool] = []
    for letter in word:
        flags.append(not (flags and flags[-1]) if letter == "y" else letter not in _VOWELS)
    return flags


def _measure(part: str) -> int:
    """How many runs of vowels have consonants after them."""
    flags = _consonants(part)
    return sum(after and not before for before, after in zip(flags, flags[1:], strict=False))


def _has_measure(part: str) -> bool:
    return _measure(part) > 0


def _ends_short(word: str) -> bool:
    """Consonant, vowel, consonant at the end, the last not w, x or y; or just a vowel and a consonant."""
    flags = _consonants(word)
    return (flags[-3:] == [True, False, True] and word[-1] not in "wxy") or flags == [False, True]


def _replaced(word: str, rules: _Rules, condition: Callable[[str], bool]) -> str:
    """The word with the first suffix of ``rules`` that it ends in replaced, where what stands before meets the condition."""
    for suffix, replacement in rules:
        if word.endswith(suffix):
            part = word[: -len(suffix)]
            return part + replacement if condition(part) else word
    return word


def _without_plural(word: str) -> str:
    if len(word) == 4 and word.endswith("ies"):
        return word[:-1]
    return _replaced(word, _PLURALS, lambda part: True)


def _without_past(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _has_measure(word[:-3]) else word
    for suffix in ("ed", "ing"):
        part = word.removesuffix(suffix)
        if part != word and not all(_consonants(part)):
            return _mended(part)
    return word


def _mended(part: str) -> str:
    """What -ed or -ing was taken from, with the e or without the double letter that it had."""
    if part.endswith(("at", "bl", "iz")):
        return part + "e"
    if len(part) > 1 and part[-1] == part[-2] and _consonants(part)[-1]:
        return part if part[-1] in "lsz" else part[:-1]
    return part + "e" if _measure(part) == 1 and _ends_short(part) else part


def _y_to_i(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and len(word) > 2 and _consonants(word)[-2] else word


def _without_double(word: str) -> str:
    if word.endswith("alli") and _has_measure(word[:-4]):
        return _without_double(word[:-2])
    found = _replaced(word, _DOUBLE, _has_measure)
    # its l counts with what stands before
    return word[:-1] if found == word and word.endswith("logi") and _has_measure(word[:-3]) else found


def _without_last(word: str) -> str:
    def condition(part: str) -> bool:
        return _measure(part) > 1 and (not word.endswith("ion") or part[-1] in "st")

    return _replaced(word, _LAST, condition)


def _without_e(word: str) -> str:
    part = word.removesuffix("e")
    if part == word:
        return word
    measure = _measure(part)
    return part if measure > 1 or (measure == 1 and not _ends_short(part)) else word


def _without_double_l(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
