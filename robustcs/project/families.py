"""Find the runs for Original, rewriters and Human of one ranker by the words of their names, and the texts of each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from robustcs.errors import InputError
from robustcs.inputs.texts import TextFile
from robustcs.project.model import ROLES, Role
from robustcs.project.scan import Folder, Found, reason_of, role_of, role_words, set_of, telling_words, words_of
from robustcs.project.text_run_match import Fit
from robustcs.wording import counted

#: Smallest share of turns on which texts and rankings agree, for texts to be assigned to a run; without and with its name.
_SURE, _LIKELY = 0.9, 0.5
#: Smallest number of turns with equal texts for a conclusion without a matching name.
_FEW = 5
#: Words of names that do not distinguish rewriters.
_ANY = frozenset(("rewrite", "rewrites", "rewriter", "rewritten", "qr", "model", "predicted", "cast", "ikat", "trec"))


# ---------------------------------------------------------------- rankers


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
    depth: int

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
        Name → system.
    sets
        Sets of paraphrases by the formulation that they paraphrase.
    """

    words: tuple[str, ...] = ()
    original: System | None = None
    human: System | None = None
    rewriters: dict[str, System] = field(default_factory=dict)
    sets: dict[Role, list[System]] = field(default_factory=dict)

    @property
    def members(self) -> list[System]:
        """Original, Human, the rewriters and the sets."""
        own = [one for one in (self.original, self.human) if one is not None]
        return [*own, *self.rewriters.values(), *(one for some in self.sets.values() for one in some)]

    @property
    def formulations(self) -> int:
        """The number of formulations with a system."""
        return (self.original is not None) + (self.human is not None) + bool(self.rewriters)

    @property
    def rank(self) -> tuple[float, ...]:
        """Sort key: the family with most formulations, judged turns, sets and rewriters, and the deepest runs, comes first."""
        systems = [one for one in (self.original, self.human, *list(self.rewriters.values())[:1]) if one]
        least, depth = min((one.judged for one in systems), default=0), sum(one.depth for one in systems)
        return -self.formulations, -least, -len(self.sets), -len(self.rewriters), -depth

    def add(self, system: System) -> None:
        """Add a system whose name contains the words of the family and others, which tell the formulation."""
        extra = [word for word in system.words if word not in self.words]
        paraphrased = set_of(" ".join(system.words))
        if paraphrased is not None:
            self.sets.setdefault(paraphrased[0], []).append(system)
            self.sets[paraphrased[0]].sort(key=lambda one: (len(one.name), one.name))
        elif set(extra) & role_words("original"):
            self.original = self.original or system
        elif set(extra) & role_words("human"):
            self.human = self.human or system
        else:
            self.rewriters.setdefault("_".join(extra), system)


def families_of(systems: Sequence[System]) -> list[Family]:
    """Return all families, the most complete first; a system belongs to the family that shares most of its words."""
    families: dict[tuple[str, ...], Family] = {}
    role: Role
    for role in ("original", "human", "qr"):
        for system in systems:
            words = tuple(word for word in system.words if word not in role_words(role))
            # a rewriter starts a family only if it fits no other
            if system.role == role and (role != "qr" or not any(set(known) <= set(system.words) for known in families)):
                families.setdefault(words, Family(words))
    for system in sorted(systems, key=lambda one: (-one.judged, -len(one.turns), -one.depth, one.name)):
        fitting = [words for words in families if set(words) < set(system.words)]
        if fitting:
            families[max(fitting, key=len)].add(system)
    return sorted((family for family in families.values() if family.members), key=lambda family: (*family.rank, family.words))


# ---------------------------------------------------------------- texts


@dataclass(frozen=True)
class Texts:
    """The texts of one formulation in one file, or in one file of each collection.

    files, column
        The files, and the formulation of ``FILE:FORMULATION``; the latter is None for files with one formulation.
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

    files: list[str]
    column: Role | None
    role: Role | None
    words: tuple[str, ...]
    texts: Mapping[str, str]
    fields: int
    topics: bool
    samples: int

    @property
    def named(self) -> list[str]:
        """``FILE`` or ``FILE:FORMULATION``, as in the project file."""
        return [f"{path}:{self.column}" if self.column else path for path in self.files]


def texts_in(folder: Folder, file: Found) -> list[Texts]:
    """Return all readable formulations of a file; record those that cannot be read."""
    assert file.what is not None
    fields = dict(file.what.formulations)
    if fields.get("human") == fields.get("qr"):
        fields.pop("qr", None)  # a single column of human rewrites
    columns: dict[Role | None, Role | None] = {role: role for role in ROLES if role in fields}
    by_name = role_of(file.stem) or role_of(" ".join(telling_words(file.path)))
    if by_name not in fields and set(fields) <= {"original"}:
        columns[by_name] = None
    found: list[Texts] = []
    for role, column in columns.items():
        try:
            samples = TextFile(folder.path / file.path).samples(role or "qr", column)
        except InputError as error:
            if column:
                folder.leave(f"{file.path}:{column}", reason_of(error))
            elif not found:
                folder.refuse(file.path, error)
            continue
        words = (*telling_words(file.path), *words_of(fields.get(role, "") if role else ""))
        texts = {turn: some[0] for turn, some in samples.items() if some[0]}
        most = max(map(len, samples.values()), default=0)
        if texts:
            topics = file.what.family.endswith("topics")
            found.append(Texts([file.path], column, role, words, texts, len(fields), topics, most))
    return found


def most_complete(texts: Sequence[Texts], role: Role, turns: Collection[str]) -> Texts | None:
    """Return the most complete texts of Original or Human; topic files and files with more formulations break ties."""
    candidates = [one for one in texts if one.role == role]
    return min(
        candidates, key=lambda one: (-len(one.texts.keys() & turns), not one.topics, -one.fields, one.files), default=None
    )


def match_texts(
    rewriters: Mapping[str, System], texts: Sequence[Texts], fits: Callable[[Texts, System], Fit | None]
) -> dict[str, tuple[Texts, str]]:
    """Return rewriter → its texts, by name or by equal rankings of equal texts, and why; no texts have two rewriters.

    ``fits`` compares texts and rankings with those of Human or Original; it returns None if that is impossible.
    """
    pairs = []
    for name, system in rewriters.items():
        for one in texts:
            alike, found = _alike(words_of(name), one), fits(one, system)
            reasons = ["by its name"] if alike else []
            if found is None:
                likely, sure = 0.8, alike or len(rewriters) == len(texts) == 1
            else:
                likely = round(found.share, 1)
                sure = found.share >= (_LIKELY if alike else _SURE) and (alike or len(found.equal) >= _FEW)
                turns = len(found.equal) + len(found.other)
                agree = turns - len(found.equal_apart) - len(found.other_alike)
                reasons.append(f"texts and rankings agree on {agree} of {counted(turns, 'turn')}")
            if sure:
                pairs.append((likely, alike, len(one.texts), name, one, "; ".join(reasons) or "the only texts of a rewriter"))
    chosen: dict[str, tuple[Texts, str]] = {}
    for *_, name, one, why in sorted(pairs, key=lambda pair: (*(-value for value in pair[:3]), pair[3], pair[4].named)):
        if name not in chosen and all(one is not other for other, _ in chosen.values()):
            chosen[name] = one, why
    return chosen


def _alike(name: Sequence[str], one: Texts) -> float:
    """Return the share of a rewriter's words in the name of the texts; one without a name has any texts of a rewriter."""
    ours = {word for word in name if word not in _ANY}
    return len(ours & set(one.words)) / len(ours) if ours else 0.5 * (one.role == "qr")
