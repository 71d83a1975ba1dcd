"""Find the runs for Original, rewriters and Human of one ranker by the words of their names, the texts of each, and grids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import numpy as np

from robustcs.errors import InputError
from robustcs.evaluation.grid import Cell
from robustcs.evaluation.matrix import grade_matrix, no_judged_passage
from robustcs.evaluation.ranking import rank_run
from robustcs.inputs.heads import first_lines, first_record
from robustcs.inputs.ids import are_passage_ids
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.runs import Run
from robustcs.inputs.text import number_of
from robustcs.inputs.texts import Samples, TextFile
from robustcs.policy import EvaluationPolicy
from robustcs.project.model import ROLES, Role
from robustcs.project.scan import (
    WORDS,
    Proposal,
    ScannedFile,
    reason_of,
    refusal,
    role_of,
    run_words,
    set_of,
    short_names,
    telling_words,
    without_common,
    words_of,
)
from robustcs.project.text_run_match import TextRunMatch
from robustcs.wording import counted

#: Smallest share of turns on which texts and rankings agree, for texts to be assigned to a run; without and with its name.
_SURE, _LIKELY = 0.9, 0.5
#: Smallest number of turns with equal texts for a conclusion without a matching name.
_FEW = 5
#: Largest number of different labels, and the share of the turns below which it lies.
_MOST_LABELS, _LABELS = 10, 0.1
#: Words of names that do not distinguish rewriters.
_ANY = frozenset(
    (
        "rewrite",
        "rewrites",
        "rewriter",
        "rewritten",
        "qr",
        "model",
        "predicted",
        "cast",
        "ikat",
        "trec",
    )
)
#: Words in the names of files and columns that show ratings, even if the file also has the rated questions.
_RATED = frozenset((
    "rating", "ratings", "rated", "grade", "grades", "graded", "judgment", "judgments", "judgement", "judgements", "vote",
    "votes", "likert",
))  # fmt: skip


# ---------------------------------------------------------------- runs and their rankers


@dataclass(eq=False)
class System:
    """One run, or one file of per-turn scores.

    turns
        Turns that it answers; ``judged`` is the number of judged ones.
    depth
        Largest number of passages of a turn; 0 for scores.
    documents
        Whether it ranks passages ``DOC-N`` and the qrels judge documents.
    measures
        The measures of a file of scores.
    name, words
        Short unique name; words of its folders and its name, or else of its tag.
    """

    file: ScannedFile
    turns: frozenset[str]
    judged: int
    depth: int = 0
    documents: bool = False
    measures: tuple[str, ...] = ()
    name: str = ""
    words: tuple[str, ...] = ()


def read_system(file: ScannedFile, run: Run, qrels: Qrels | None) -> System | str:
    """Return the system of a run, or why it cannot be evaluated on the qrels."""
    ranking = rank_run(run, EvaluationPolicy())
    depth, turns = int(np.diff(ranking.starts).max(initial=0)), frozenset(ranking.turns)
    if qrels is None:
        return System(file, turns, len(turns), depth)
    matrix = grade_matrix(ranking, qrels)
    if matrix.missing.all():
        return f"a run of other turns, such as {ranking.turns[0]!r}; the qrels have turns such as {qrels.turns[0]!r}"
    documents = no_judged_passage(matrix) and are_passage_ids(ranking.ids)
    if no_judged_passage(
        grade_matrix(rank_run(run, EvaluationPolicy(documents=True)), qrels)
        if documents
        else matrix
    ):
        return f"none of its passages is judged; it has passages such as {matrix.first[1]!r}"
    return System(file, turns, int((~matrix.missing).sum()), depth, documents)


def named(made: Proposal, systems: Sequence[System]) -> Sequence[System]:
    """Give systems their names and their words."""
    called = [one.file.name for one in systems]
    lines = [
        first_lines(made.folder / one.file.path)
        if one.file.what and one.file.what.shape == "lines"
        else []
        for one in systems
    ]
    tags = ["_".join(some[0].split()[5:]) if some else "" for some in lines]
    words = without_common(
        [
            telling_words(path) or tuple(words_of(tag))
            for path, tag in zip(called, tags, strict=True)
        ]
    )
    for one, name, own in zip(systems, short_names(called, tags), words, strict=True):
        one.name, one.words = name, own
    return systems


@dataclass
class SystemFamily:
    """Systems that differ only in the formulation: ``bm25_raw``, ``bm25_t5``, ``bm25_manual`` and ``bm25_manual_1``.

    words
        Common words of their names.
    systems
        Original, human, or the name of a rewriter → the most complete system.
    sets
        Sets of paraphrases by the formulation that they paraphrase.
    """

    words: tuple[str, ...] = ()
    systems: dict[str, System] = field(default_factory=dict)
    sets: dict[Role, list[System]] = field(default_factory=dict)

    @property
    def rewriters(self) -> dict[str, System]:
        """Name → system of the rewriters."""
        return {
            name: system
            for name, system in self.systems.items()
            if name not in ("original", "human")
        }

    @property
    def formulations(self) -> int:
        """The number of formulations with a system."""
        return len(self.systems) - max(len(self.rewriters) - 1, 0)

    @property
    def rank(self) -> tuple[float, ...]:
        """Sort key: the family with most formulations, judged turns, sets and rewriters, and the deepest runs, comes first."""
        three = [one for name, one in self.systems.items() if name not in [*self.rewriters][1:]]
        least, depth = (
            min((one.judged for one in three), default=0),
            sum(one.depth for one in three),
        )
        return -self.formulations, -least, -len(self.sets), -len(self.rewriters), -depth

    def add(self, system: System) -> None:
        """Add a system whose name contains the words of the family and others, which tell the formulation."""
        extra = [word for word in system.words if word not in self.words]
        paraphrased = set_of(" ".join(system.words))
        if paraphrased:
            self.sets.setdefault(paraphrased, []).append(system)
            self.sets[paraphrased].sort(key=lambda one: (len(one.name), one.name))
        else:
            role = next(
                (role for role in ("original", "human") if WORDS[role] & set(extra)),
                "_".join(extra),
            )
            self.systems.setdefault(role, system)


def families_of(systems: Sequence[System]) -> list[SystemFamily]:
    """Return all families, the most complete first; a system belongs to the family that shares most of its words."""
    families: dict[tuple[str, ...], SystemFamily] = {}
    for role, own in WORDS.items():
        for system in systems:
            # a rewriter starts a family only if it fits no other
            alone = role != "qr" or not any(set(known) <= set(system.words) for known in families)
            if alone and role_of(" ".join(system.words)) == role:
                words = tuple(word for word in system.words if word not in own)
                families.setdefault(words, SystemFamily(words))
    for system in sorted(
        systems, key=lambda one: (-one.judged, -len(one.turns), -one.depth, one.name)
    ):
        fitting = [words for words in families if set(words) < set(system.words)]
        if fitting:
            families[max(fitting, key=len)].add(system)
    found = [family for family in families.values() if family.systems or family.sets]
    return sorted(found, key=lambda family: (*family.rank, family.words))


# ---------------------------------------------------------------- grids of wordings and rankers


def find_grid(systems: Sequence[System], families: Sequence[SystemFamily]) -> dict[Cell, System]:
    """Return the grid of wordings and rankers in which each wording and each ranker has at least two cells.

    The words of a family name the ranker, the other words of a run the wording: ``t5/bm25`` for ``bm25_t5``.
    """
    cells: dict[tuple[tuple[str, ...], tuple[str, ...]], System] = {}
    names = [run_words(one.file.name) for one in systems]
    for one, whole, words in zip(systems, names, without_common(names), strict=True):
        known = [family.words for family in families if set(family.words) <= set(words)]
        wording = tuple(word for word in words if word not in max(known, key=len, default=words))
        ranker = tuple(word for word in whole if word not in wording)
        if wording and ranker:
            cells.setdefault((wording, ranker), one)
    counts: Counter[Any] = Counter()
    while sum(counts.values()) != 2 * len(cells):
        counts = Counter(level for cell in cells for level in enumerate(cell))
        cells = {
            cell: one
            for cell, one in cells.items()
            if all(counts[level] > 1 for level in enumerate(cell))
        }
    rankers = sorted({ranker for _, ranker in cells})
    short = dict(zip(rankers, without_common(rankers), strict=True))
    return {
        ("_".join(wording), "_".join(short[ranker])): one
        for (wording, ranker), one in cells.items()
    }


# ---------------------------------------------------------------- texts


@dataclass(frozen=True, eq=False)
class FormulationTexts:
    """The texts of one formulation in a file.

    column
        The formulation of ``FILE:FORMULATION``; None for files with one formulation.
    role
        The formulation that the file's fields or its name indicate.
    fields
        Number of formulations for which the file has fields.
    samples
        Largest number of texts of a turn.
    """

    file: ScannedFile
    column: Role | None
    role: Role | None
    texts: Mapping[str, str]
    fields: int
    samples: int

    @property
    def named(self) -> list[str]:
        """``FILE`` or ``FILE:FORMULATION``, as in the project file."""
        return [f"{path}:{self.column}" if self.column else path for path in self.file.paths]


def texts_in(made: Proposal, file: ScannedFile) -> list[FormulationTexts]:
    """Return all readable formulations of a file; record those that cannot be read, and ratings.

    The file's own name tells the role of a single text field. Names of folders do not.
    """
    assert file.what is not None
    fields = dict(file.what.formulations)
    if fields.get("human") == fields.get("qr"):
        fields.pop("qr", None)  # a single column of human rewrites
    columns: dict[Role | None, Role | None] = {role: role for role in ROLES if role in fields}
    by_name = role_of(file.stem)
    if by_name not in fields and set(fields) <= {"original"}:
        columns[by_name] = None
    if None in columns.values() and (rated := _rated(made, file)):
        made.leave(file.paths, f"its {rated} shows that these are ratings, not texts of turns")
        return []
    found: list[FormulationTexts] = []
    for role, column in columns.items():
        samples: dict[str, Samples] = {}
        try:
            for path in file.paths:
                samples |= TextFile(made.folder / path).samples(role or "qr", column)
        except InputError as error:
            if column:
                made.leave([f"{path}:{column}" for path in file.paths], reason_of(error), tell=True)
            elif not found:
                made.leave(file.paths, refusal(error))
        if texts := {turn: some[0] for turn, some in samples.items() if some[0]}:
            found.append(
                FormulationTexts(
                    file, column, role, texts, len(fields), max(map(len, samples.values()))
                )
            )
    if found and all(number_of(text) is not None for one in found for text in one.texts.values()):
        made.leave(file.paths, "all its texts are numbers, so these are ratings or scores")
        return []
    labels = [one for one in found if _are_labels(one.texts)]
    for one in labels:
        different, turns = len(set(one.texts.values())), counted(len(one.texts), "turn")
        made.leave(
            one.named,
            f"only {counted(different, 'different text')} for {turns}, so these are labels",
        )
    return [one for one in found if one not in labels]


def _are_labels(texts: Mapping[str, str]) -> bool:
    """Return whether texts are labels such as ``good``: few different ones, each for many turns."""
    different = len(set(texts.values()))
    return different <= _MOST_LABELS and different < _LABELS * len(texts)


def _rated(made: Proposal, file: ScannedFile) -> str:
    """Return what shows that a file contains ratings: a word of its name, or a column; empty if nothing does."""
    path, shape = made.folder / file.path, file.what and file.what.shape
    columns = (
        first_record(path) or ()
        if shape == "json"
        else first_lines(path)[:1]
        if shape == "table"
        else ()
    )
    word = next((word for word in words_of(file.stem) if word in _RATED), "")
    column = next((word for name in columns for word in words_of(name) if word in _RATED), "")
    return f"name ({word})" if word else f"column ({column})" if column else ""


def match_texts(
    rewriters: Mapping[str, System],
    texts: Sequence[FormulationTexts],
    fits: Callable[[FormulationTexts, System], TextRunMatch | None],
) -> dict[str, tuple[FormulationTexts, str]]:
    """Return rewriter → its texts, by name or by equal rankings of equal texts, and why; no texts have two rewriters.

    ``fits`` compares texts and rankings with those of Human or Original; it returns None if that is impossible.
    """
    pairs = []
    for name, system in rewriters.items():
        for one in texts:
            alike, found = _alike(words_of(name), one), fits(one, system)
            why = ["by its name"] if alike else []
            if found is None:
                share, sure = 0.8, alike or len(rewriters) == len(texts) == 1
            else:
                share, sure = (
                    found.share,
                    found.share >= (_LIKELY if alike else _SURE)
                    and (alike or len(found.equal) >= _FEW),
                )
                why.append(found.agreement)
            if sure:
                rank = -alike, -round(share, 1), -len(one.texts), name, one.named
                pairs.append((rank, name, one, "; ".join(why) or "the only texts of a rewriter"))
    chosen: dict[str, tuple[FormulationTexts, str]] = {}
    for _, name, one, told in sorted(pairs, key=itemgetter(0)):
        if name not in chosen and all(one is not other for other, _ in chosen.values()):
            chosen[name] = one, told
    return chosen


def _alike(name: Sequence[str], one: FormulationTexts) -> float:
    """Return the share of a rewriter's words in the name of the texts; one without a name has any texts of a rewriter."""
    ours = {word for word in name if word not in _ANY}
    return (
        len(ours & set(telling_words(one.file.name))) / len(ours)
        if ours
        else 0.5 * (one.role == "qr")
    )
