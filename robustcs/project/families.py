"""Find the runs for Original, rewriters and Human of one ranker by the words of their names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from robustcs.errors import InputError
from robustcs.inputs.texts import TextFile
from robustcs.project.model import ROLES, Role
from robustcs.project.scan import Folder, Found, reason_of, role_of, role_words, set_of, telling_words, words_of
from robustcs.project.text_run_match import Fit, fit, ranked_alike

#: Smallest share of turns on which texts and rankings agree, for texts to be assigned to a run without a matching name.
_SURE = 0.9
#: If the names match, a larger share of different texts with equal rankings shows that the run was made for other texts.
_OTHERS = 0.5
#: Smallest number of turns for a conclusion.
_FEW = 10
#: Words of names that do not distinguish rewriters, and synonyms.
_ANY = frozenset(("rewrite", "rewrites", "rewriter", "rewritten", "qr", "model", "predicted", "cast", "ikat", "trec"))
_ALIKE = {"automatic": "auto"}


@dataclass(frozen=True)
class Texts:
    """The texts of one formulation in one file.

    named
        ``FILE`` or ``FILE:FORMULATION``, as in the project file.
    role
        The formulation that the file's fields or its name indicate.
    words
        Words that may name a rewriter.
    fields
        Number of formulations for which the file has fields.
    topics
        Whether it is a topic file of a collection.
    samples
        Largest number of texts of a turn.
    """

    file: Found
    named: str
    role: Role | None
    words: tuple[str, ...]
    texts: Mapping[str, str]
    fields: int
    topics: bool
    samples: int


def texts_in(folder: Folder, file: Found) -> list[Texts]:
    """Return all readable formulations of a file; record those that cannot be read."""
    assert file.what is not None
    fields = dict(file.what.formulations)
    if "human" in fields and fields.get("qr") == fields["human"]:
        del fields["qr"]  # a single column of human rewrites
    try:
        opened = TextFile(folder.path / file.path)
    except InputError as error:
        folder.refuse(file.path, error)
        return []
    found: list[Texts] = []
    unreadable: dict[str, InputError] = {}
    tries: list[tuple[Role | None, str | None]] = [(role, role) for role in ROLES if role in fields]
    plain = role_of(file.stem) or role_of(" ".join(telling_words(file.path)))
    if plain not in fields and (not fields or set(fields) == {"original"}):
        tries.append((plain, None))
    for role, column in tries:
        try:
            samples = opened.samples(role or "qr", column)
        except InputError as error:
            unreadable[f"{file.path}:{column}" if role in fields else ""] = error
            continue
        words = (*telling_words(file.path), *words_of(fields.get(role, "") if role and column else ""))
        named = f"{file.path}:{column}" if column and (len(tries) > 1 or len(fields) > 1) else file.path
        if samples:
            texts = {turn: some[0] for turn, some in samples.items() if some[0]}
            most = max(map(len, samples.values()))
            found.append(Texts(file, named, role, words, texts, len(fields), file.what.family.endswith("topics"), most))
    if found:
        folder.unusable |= {named: reason_of(error) for named, error in unreadable.items() if named}
    elif unreadable:
        folder.refuse(file.path, list(unreadable.values())[-1])
    return found


class Chooser:
    """Chooses texts for the formulations of a family.

    turns
        Turns of the project; texts of other turns only are ``strange``.
    rankings
        Function from a system to turn → a number for its ranking, or to None if it has no rankings.
    """

    def __init__(self, texts: Sequence[Texts], turns: Collection[str], rankings: Callable[[System], Mapping[str, int] | None]):
        self.turns = set(turns)
        self.texts = [one for one in texts if self._covered(one)]
        self.strange = [one for one in texts if not self._covered(one)]
        self.rankings = rankings

    def _covered(self, one: Texts) -> int:
        return len(one.texts.keys() & self.turns)

    def for_role(self, role: Role, system: System | None, other: Texts | None, other_system: System | None) -> Texts | None:
        """Return the most complete texts of Original or Human; ties are broken by fit to the runs, then by topic files."""
        candidates = [one for one in self.texts if one.role == role]
        most = max(map(self._covered, candidates), default=0)
        full = [one for one in candidates if self._covered(one) == most]

        def order(one: Texts) -> tuple[float, bool, int, str]:
            found = self.fitting(one, system, other, other_system) if len(full) > 1 else None
            return -round(found.share if found else 0.0, 2), not one.topics, -one.fields, one.named

        return min(full, key=order, default=None)

    def fitting(
        self, texts: Texts | None, system: System | None, other: Texts | None, other_system: System | None
    ) -> Fit | None:
        """Return how well two systems' texts fit their rankings; None if there are too few turns."""
        if texts is None or other is None or system is None or other_system is None:
            return None
        ours, theirs = self.rankings(system), self.rankings(other_system)
        if ours is None or theirs is None:
            return None
        found = fit(texts.texts, other.texts, ranked_alike(ours, theirs))
        return found if len(found.equal) + len(found.other) >= _FEW else None

    def for_rewriters(
        self, rewriters: Mapping[str, System], other: Texts | None, other_system: System | None, used: Collection[str]
    ) -> dict[str, tuple[Texts, str]]:
        """Return rewriter → its texts, by name or by equal rankings of equal texts, and why; no texts have two rewriters."""
        free = [one for one in self.texts if one.role in ("qr", None) and one.named not in used]
        pairs = []
        for name, system in rewriters.items():
            for one in free:
                called = _alike(words_of(name), one)
                found = self.fitting(one, system, other, other_system)
                if found is None or other is None:
                    alone = len(rewriters) == len(free) == 1
                    if called or alone:
                        why = "by its name" if called else "as the only texts of a rewriter"
                        pairs.append((0.8, called, len(one.texts), name, one, why))
                    continue
                # rankings alone identify the texts only if some texts are equal, not only different
                told = found.share >= _SURE and len(found.equal) >= _FEW // 2
                if told or (called and len(found.other_alike) <= _OTHERS * len(found.other)):
                    why = ("by its name, and " if called else "") + in_words(found, other)
                    pairs.append((round(found.share, 1), called, len(one.texts), name, one, why))
        chosen: dict[str, tuple[Texts, str]] = {}
        taken: set[str] = set()
        for *_, name, one, why in sorted(pairs, key=lambda pair: (*(-value for value in pair[:3]), pair[3], pair[4].named)):
            if name not in chosen and one.named not in taken:
                chosen[name] = one, why
                taken.add(one.named)
        return chosen


def in_words(found: Fit, other: Texts) -> str:
    """Return a sentence such as ``65 of 65 turns with the text of Human have the ranking of Human``."""
    name = (other.role or "").capitalize()
    same = len(found.equal) - len(found.equal_apart)
    if found.equal:
        return f"{same} of {len(found.equal)} turns with the text of {name} have the ranking of {name}"
    differ = len(found.other) - len(found.other_alike)
    return f"{differ} of {len(found.other)} turns with a text other than {name} have another ranking"


def _alike(name: Sequence[str], one: Texts) -> float:
    """Return the share of a rewriter's words in the name of the texts; 1 if the joined words are equal.

    A rewriter with a generic name matches any texts of a rewriter.
    """
    ours = [_ALIKE.get(word, word) for word in name if word not in _ANY]
    theirs = [_ALIKE.get(word, word) for word in one.words if word not in _ANY]
    if not ours:
        return 0.5 if one.role == "qr" else 0.0
    if not theirs:
        return 0.0
    if "".join(ours) in "".join(theirs) or "".join(theirs) in "".join(ours):
        return 1.0
    return len(set(ours) & set(theirs)) / len(set(ours))


def best_family(families: Sequence[Family]) -> Family | None:
    """Return the first family with at least two formulations."""
    return next((family for family in families if family.rank[0] >= 2), None)


#: Meaning of the parts of :attr:`Family.rank`.
_RANKED = ("more formulations", "more judged turns", "more sets of paraphrases", "more rewriters", "deeper runs")


def why_best(families: Sequence[Family]) -> str:
    """Return why the first of several families is used; empty if there is only one."""
    full = [family for family in families if family.rank[0] >= 2]
    if len(full) < 2:
        return ""
    first, second = full[:2]
    ahead = (what for what, one, other in zip(_RANKED, first.rank, second.rank, strict=True) if one != other)
    names = [" ".join(family.words) or "without a name" for family in full]
    reason = next((f"it has {what}" for what in ahead), "it is first by name, and no other is more complete")
    return f"Of the rankers {', '.join(sorted(names))}, {names[0]} is used: {reason}."


@dataclass(frozen=True)
class System:
    """One run, or one file of per-turn scores.

    name
        Short unique name.
    words
        Words of its folders and its name, or else of its tag.
    turns
        Turns that it answers; ``judged`` is the number of judged ones.
    depth
        Largest number of passages of a turn; 0 for scores.
    """

    file: Found
    name: str
    words: tuple[str, ...]
    turns: frozenset[str]
    judged: int
    depth: int = 0

    @property
    def role(self) -> Role | None:
        """The formulation that its words indicate."""
        return role_of(" ".join(self.words))


@dataclass
class Family:
    """Systems that differ only in the formulation: ``bm25_raw``, ``bm25_t5``, ``bm25_manual`` and ``bm25_manual_1``.

    words
        Common words of their names.
    original, human
        The most complete system of each.
    rewriters
        Name → system; the names of those in ``sure`` indicate a rewriter.
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
        """Sort key: number of formulations, judged turns, sets, rewriters, and depth of runs."""
        three = [one for one in (self.original, self.human, next(iter(self.rewriters.values()), None)) if one is not None]
        least = min((one.judged for one in three), default=0)
        return len(three), least, len(self.sets), len(self.rewriters), sum(one.depth for one in three)


def families_of(systems: Sequence[System]) -> list[Family]:
    """Return all families, the most complete first; a system belongs to the family that shares most of its words."""
    by_words: dict[tuple[str, ...], Family] = {}
    role: Role
    for role in ("original", "human", "qr"):
        for system in systems:
            words = tuple(word for word in system.words if word not in role_words(role))
            # a rewriter starts a family only if it fits no other
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
            if set(extra) & role_words("qr"):
                family.sure.add(name)


def _inside(words: Sequence[str], whole: Sequence[str]) -> bool:
    """Return whether ``whole`` contains the words in this order."""
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
