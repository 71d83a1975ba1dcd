"""Which runs are Original, rewriters and Human of one ranker: told from the words of their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from robustcs.project.found import Found, is_rewriter_word, role_of, role_words, set_of, words_of
from robustcs.project.model import ROLES, Role


@dataclass(frozen=True)
class System:
    """One run, or one file of per-turn scores.

    name
        Short and unique.
    words
        What its folders, its name, or else its tag say.
    turns
        The turns that it answers; ``judged`` of them count.
    depth
        The most passages of a turn; 0 for scores.
    """

    file: Found
    name: str
    words: tuple[str, ...]
    turns: frozenset[str]
    judged: int
    depth: int = 0

    @property
    def role(self) -> Role | None:
        """The formulation that its words speak of."""
        return role_of(" ".join(self.words))


@dataclass
class Family:
    """Systems that differ in the formulation alone: ``bm25_raw``, ``bm25_t5``, ``bm25_manual`` and ``bm25_manual_1``.

    words
        What all of them are called.
    original, human
        The most complete of each.
    rewriters
        Name → system; those in ``sure`` have a word of rewriters in their name.
    sets
        Sets of paraphrases by the formulation that they paraphrase.
    """

    words: tuple[str, ...]
    original: System | None = None
    human: System | None = None
    rewriters: dict[str, System] = field(default_factory=dict)
    sure: set[str] = field(default_factory=set)
    sets: dict[Role, list[System]] = field(default_factory=dict)

    @property
    def members(self) -> list[System]:
        """Original, Human, the rewriters and the sets."""
        own = [one for one in (self.original, self.human) if one is not None]
        return [*own, *self.rewriters.values(), *(one for some in self.sets.values() for one in some)]

    @property
    def rank(self) -> tuple[float, ...]:
        """More of the three formulations first, then more complete ones, more sets, more rewriters, deeper runs."""
        three = [one for one in (self.original, self.human, next(iter(self.rewriters.values()), None)) if one is not None]
        least = min((one.judged for one in three), default=0)
        return len(three), least, len(self.sets), len(self.rewriters), sum(one.depth for one in three)


def families_of(systems: Sequence[System]) -> list[Family]:
    """All families, the fullest first; a system belongs to the one with most of its words."""
    by_words: dict[tuple[str, ...], Family] = {}
    role: Role
    for role in ("original", "human", "qr"):
        for system in systems:
            words = tuple(word for word in system.words if word not in role_words(role))
            # a rewriter makes a family only where none has it
            if system.role == role and (role != "qr" or not any(_inside(known, system.words) for known in by_words)):
                by_words.setdefault(words, Family(words))
    for system in sorted(systems, key=lambda one: (-one.judged, -len(one.turns), -one.depth, one.name)):
        _place(system, by_words)
    found = [family for family in by_words.values() if family.members]
    return sorted(found, key=lambda family: (*(-value for value in family.rank), family.words))


def _place(system: System, families: Mapping[tuple[str, ...], Family]) -> None:
    fitting = [words for words in families if _inside(words, system.words) and len(words) < len(system.words)]
    if not fitting:
        return
    family = families[max(fitting, key=len)]
    extra = _without(system.words, family.words)
    paraphrased = set_of(" ".join(system.words))
    if paraphrased is not None:
        family.sets.setdefault(paraphrased[0], []).append(system)
        family.sets[paraphrased[0]].sort(key=lambda one: words_of(one.name)[-1].zfill(9))
    elif set(extra) & role_words("original"):
        family.original = family.original or system
    elif set(extra) & role_words("human"):
        family.human = family.human or system
    else:
        name = "_".join(extra)
        if name not in ROLES or name == "qr":
            family.rewriters.setdefault(name, system)
            if is_rewriter_word(extra):
                family.sure.add(name)


def _inside(words: Sequence[str], whole: Sequence[str]) -> bool:
    """Do the words stand in ``whole``, in this order?"""
    rest = iter(whole)
    return all(word in rest for word in words)


def _without(whole: Sequence[str], words: Sequence[str]) -> list[str]:
    left, waiting = [], list(words)
    for word in whole:
        if waiting and word == waiting[0]:
            waiting.pop(0)
        else:
            left.append(word)
    return left
