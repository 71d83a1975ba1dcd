"""Guess the role of each file in a folder, with reasons; for ``robustcs init``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import itemgetter
from pathlib import Path

from robustcs.errors import InputError
from robustcs.evaluation.holes import only_relevant
from robustcs.evaluation.ranking import rank_run
from robustcs.inputs import mtrag
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.runs import read_run
from robustcs.inputs.scores import read_scores
from robustcs.policy import EvaluationPolicy
from robustcs.project.families import Chooser, Family, System, Texts, best_family, families_of, in_words, texts_in, why_best
from robustcs.project.guess_grid import find_grid
from robustcs.project.guess_judgments import choose_judgments, join_texts, judged_by
from robustcs.project.guess_studies import guess_studies, place_tasks, tasks_of
from robustcs.project.model import Role
from robustcs.project.scan import Folder, Found, look_through, role_of, short_names, telling_words, without_common, words_of
from robustcs.project.text_run_match import numbered
from robustcs.project.trust import customary_level
from robustcs.wording import counted

#: Measures of the project file, unless files of scores determine them.
_METRICS = ("P_1", "ndcg_cut_3")


#: Suffix of the names of samples: ``llm_sample_2``, ``llm_seed2``.
_SAMPLE = re.compile(r"_?(?:sample|seed|draw)_?([0-9]+)$")


@dataclass
class Part:
    """One formulation: its files, and the comments on them in the project file."""

    run: str | None = None
    scores: str | None = None
    answers: str | None = None
    rewrites: str | None = None
    samples: list[str] = field(default_factory=list)
    sample_runs: list[str] = field(default_factory=list)
    why: str = ""
    texts_why: str = ""


@dataclass
class Guess:
    """The parts of a project file.

    qrels, says, positives
        The judgments, their description, and whether they list relevant passages only.
    by_models
        Judgments that a model seems to have made, which are not used as qrels: file → evidence.
    ranker
        Why the formulations are those of this ranker; empty if there is only one.
    components, grid
        Cells WORDING/RANKER → run, and how the wordings were recognised.
    level
        The relevance level, and the collection that customarily uses it.
    documents
        Whether the runs rank passages DOC-N and the qrels judge documents.
    tables
        Tables of studies with separate turns: table → key → file, files, or files by name.
    """

    folder: Folder
    qrels: str | None = None
    says: str = ""
    positives: bool = False
    new_judgments: list[str] = field(default_factory=list)
    judges: dict[str, str] = field(default_factory=dict)
    by_models: dict[str, str] = field(default_factory=dict)
    ranker: str = ""
    files: dict[str, str] = field(default_factory=dict)
    level: tuple[int, str] = (1, "")
    documents: bool = False
    metrics: tuple[str, ...] = _METRICS
    formulations: dict[str, Part] = field(default_factory=dict)
    runs: dict[str, str] = field(default_factory=dict)
    components: dict[str, str] = field(default_factory=dict)
    grid: str = ""
    groups: dict[str, tuple[str, list[str]]] = field(default_factory=dict)
    tables: dict[str, dict[str, str | list[str] | dict[str, str]]] = field(default_factory=dict)


def guess(path: Path) -> Guess:
    """Scan a folder and guess the role of each file."""
    made = Guess(look_through(path))
    guess_studies(made.folder, made.tables)
    judged = choose_judgments(made.folder, made.by_models)
    if judged is not None:
        made.qrels, made.new_judgments, made.judges = judged.file.path, judged.new, judged.judges
        qrels = judged.qrels
        made.level = customary_level(qrels.turns, qrels.documents.take(slice(100)).texts(), int(qrels.grades.max()))
        made.says = judged.says
        made.positives = only_relevant(qrels, made.level[0])
    _Systems(made, None if judged is None else judged.qrels).place()
    _one_file(made, "paraphrases", "paraphrases")
    _one_file(made, "collection", "collection")
    place_tasks(made.folder, made.files, made.tables)
    for file in made.folder.of("nuggets", "ptkb"):
        assert file.what is not None
        lacking = "no command reads them" if file.what.kind == "ptkb" else f"{file.what.advice}, but there are no answers"
        made.folder.leave(file.path, f"{file.what.says}; {lacking}")
    for file in made.folder.files:
        if file.path not in made.folder.taken:
            made.folder.leave(file.path, f"{file.what.says if file.what else 'unknown'}, but no other file here fits")
    return made


def by_rewriter(names: Iterable[str]) -> list[list[str]]:
    """Group names of rewriters' runs: samples of one rewriter together, in the order of their numbers, others alone."""
    groups: dict[tuple[str, bool], list[tuple[int, str]]] = {}
    for name in names:
        sampled = _SAMPLE.search(name)
        rewriter, number = (name[: sampled.start()], int(sampled[1])) if sampled else (name, 0)
        groups.setdefault((rewriter, sampled is not None), []).append((number, name))
    return [[name for _, name in sorted(some, key=itemgetter(0))] for some in groups.values()]


def _one_file(made: Guess, key: str, kind: str) -> None:
    """Use the largest file of a kind of which a project has one file."""
    files = made.folder.of(kind)  # type: ignore[arg-type]
    files.sort(key=lambda file: -(made.folder.path / file.path).stat().st_size)
    for file in files:
        if key in made.files:
            made.folder.leave(file.path, f"{made.files[key]} is larger")
        else:
            made.files[key] = file.path
            made.folder.take(file.path, key)


class _Systems:
    """Runs, per-turn scores, answers and texts."""

    def __init__(self, made: Guess, qrels: Qrels | None):
        self.made = made
        self.folder = made.folder
        self.qrels = qrels
        self._ranked = cache(lambda path: numbered(rank_run(read_run(path), EvaluationPolicy())))

    def place(self) -> None:
        """Assign each file to a formulation or to other systems, or ignore it."""
        runs = self._runs()
        scored = self._scored()
        of_runs, of_scores = best_family(families_of(runs)), best_family(families_of(scored))
        by_scores = of_scores is not None and of_scores.rank[0] == 3 and (of_runs is None or of_runs.rank[0] < 3)
        family = (of_scores if by_scores else of_runs) or Family(())
        self.made.ranker = why_best(families_of(scored if by_scores else runs))
        turns = set(self.qrels.turns) if self.qrels else {turn for one in family.members or runs for turn in one.turns}
        texts = [
            one for file in self.folder.each("texts") if not self._are_answers(file) for one in texts_in(self.folder, file)
        ]
        texts = join_texts(self.folder, texts)
        # if there are only texts, use the file with most formulations and turns
        turns = turns or set(max(texts, key=lambda one: (one.fields, len(one.texts))).texts if texts else ())
        self._formulations(family, Chooser(texts, turns, self.rankings), by_scores)
        self._further(runs, family)
        self._grid(runs)
        for one in scored:
            if one.file.path not in self.folder.taken:
                why = "there are runs" if of_runs and not by_scores else "not all of Original, QR and Human have such scores"
                self.folder.leave(one.file.path, f"per-turn scores, which are not needed: {why}")
        self._answers()

    # ------------------------------------------------------------ reading

    def _runs(self) -> list[System]:
        read = []
        for file in self.folder.of("run"):
            tasks = tasks_of(self.folder, file)
            if tasks and not any(map(mtrag.has_scores, tasks)):
                continue  # unordered passages from which answers were generated
            try:
                found = judged_by(self.folder.place(file), self.qrels)
            except InputError as error:
                self.folder.refuse(file.path, error)
                continue
            if isinstance(found, str):
                self.folder.leave(file.path, found)
            else:
                read.append((file, found))
        self.made.documents = bool(read) and all(found.documents for _, found in read)
        if not self.made.documents:  # ids of documents may end like those of passages; one policy cannot fit both
            for file, found in read:
                if found.documents:
                    self.folder.leave(file.path, "a run of passages DOC-N, but other runs rank the judged documents")
            read = [(file, found) for file, found in read if not found.documents]
        called = [self.folder.called.get(file.path, file.path) for file, _ in read]
        names = short_names(called, [found.tag for _, found in read])
        telling = [telling_words(name) or tuple(words_of(found.tag)) for name, (_, found) in zip(called, read, strict=True)]
        words = without_common(telling)
        return [
            System(file, name, own, found.turns, found.judged, found.depth)
            for (file, found), name, own in zip(read, names, words, strict=True)
        ]

    def _scored(self) -> list[System]:
        read = []
        self.alike: list[str] = []
        for file in self.folder.of("scores"):
            try:
                frame = read_scores(self.folder.place(file))
            except InputError as error:
                self.folder.refuse(file.path, error)
                continue
            if any(word in str(column) for column in frame.columns for word in ("overlap", "similarity", "jaccard")):
                self.alike.append(file.path)
                continue
            read.append((file, frozenset(map(str, frame.index)), [str(column) for column in frame.columns]))
        self.measures = {file.path: columns for file, _, columns in read}
        names = short_names([file.path for file, *_ in read])
        words = without_common([telling_words(file.path) for file, *_ in read])
        judged = set(self.qrels.turns) if self.qrels else set()
        return [
            System(file, name, own, turns, len(turns & judged) if judged else len(turns))
            for (file, turns, _), name, own in zip(read, names, words, strict=True)
        ]

    def rankings(self, system: System) -> Mapping[str, int] | None:
        """Return turn → a number for the system's ranking; None if it only has scores."""
        return self._ranked(self.folder.place(system.file)) if system.depth else None

    # ------------------------------------------------------------ formulations

    def _formulations(self, family: Family, chooser: Chooser, by_scores: bool) -> None:
        original = chooser.for_role("original", family.original, None, None)
        human = chooser.for_role("human", family.human, original, family.original)
        original = chooser.for_role("original", family.original, human, family.human)
        used = {one.named for one in (original, human) if one}
        other, other_system = (human, family.human) if human and family.human else (original, family.original)
        chosen = chooser.for_rewriters(family.rewriters, other, other_system, used)
        rewriters = self._believed(family, set(chosen), chooser)
        for role, system, texts in (("original", family.original, original), ("human", family.human, human)):
            if system or texts:
                self._part(role, system, by_scores)
                found = None if texts is other else chooser.fitting(texts, system, other, other_system)
                self._texts(role, texts, in_words(found, other) if found and other and found.equal else "")
        grouped = [[name] for name in rewriters] if by_scores else by_rewriter(rewriters)
        for first, *further in grouped:
            called = _SAMPLE.sub("", first) if further else first
            key = "qr" if len(grouped) == 1 or called in ("", "qr") else f"qr:{called}"
            self._part(key, rewriters[first], by_scores)
            if first in chosen:
                self._texts(key, *chosen[first])
            for name in further:
                self._sample(key, rewriters[name], chosen.get(name))
        if not family.members:
            self._texts_alone(chooser, used)
        self._leave_texts(chooser)
        for path in self.alike:
            if by_scores and len(rewriters) == 1 and path == self.alike[0]:
                self.made.files["answer_similarity"] = path
                self.folder.take(path, "similarity of the answers to QR and Human")
            else:
                self.folder.leave(path, "similarity of the answers to Human and to a rewriter, but it is unknown to which one")
        if by_scores:
            known = [set(self.measures[part.scores]) for part in self.made.formulations.values() if part.scores]
            there = [name for name in _METRICS if all(name in one for one in known)]
            self.made.metrics = tuple(there or sorted(set.intersection(*known))[:2])

    def _believed(self, family: Family, with_texts: set[str], chooser: Chooser) -> dict[str, System]:
        """Return the runs of rewriters, by name (also of a sample) or by texts; others of a nameless family are systems."""
        texts = any(one.role == "qr" for one in chooser.texts)
        return {
            name: system
            for name, system in family.rewriters.items()
            if name in family.sure or name in with_texts or _SAMPLE.search(name) or (family.words and not texts)
        }

    def _part(self, key: str, system: System | None, by_scores: bool) -> None:
        part = self.made.formulations.setdefault(key, Part())
        if system is None:
            return
        if by_scores:
            part.scores, part.why = system.file.path, counted(len(system.turns), "turn")
        else:
            part.run = system.file.path
            part.why = f"{counted(len(system.turns), 'turn')}, up to {system.depth} deep"
        self.folder.take(system.file.path, f"{'scores' if by_scores else 'run'} of {key}, by its name")

    def _sample(self, key: str, system: System, chosen: tuple[Texts, str] | None) -> None:
        part = self.made.formulations[key]
        part.sample_runs.append(system.file.path)
        self.folder.take(system.file.path, f"run of another sample of {key}, by its name")
        if chosen is not None:
            texts, why = chosen
            part.samples.append(texts.named)
            self.folder.take(texts.file.path, f"texts of another sample of {key}, {why}")

    def _texts(self, key: str, texts: Texts | None, why: str) -> None:
        if texts is None:
            return
        part = self.made.formulations.setdefault(key, Part())
        sampled = f"up to {texts.samples} samples per turn" if texts.samples > 1 else ""
        part.rewrites, part.texts_why = texts.named, "; ".join(filter(None, (why, sampled)))
        how = "by its fields" if texts.fields > 1 else why or "by its name"
        self.folder.take(texts.file.path, f"texts of {key}, {how}")

    def _texts_alone(self, chooser: Chooser, used: set[str]) -> None:
        """Use the texts of rewriters without runs, for diversity and retrieve."""
        alone = [one for one in chooser.texts if one.role == "qr" and one.named not in used]
        names = short_names([one.file.path for one in alone])
        for name, one in zip(names, alone, strict=True):
            self._texts("qr" if len(alone) == 1 else f"qr:{name}", one, "")

    def _leave_texts(self, chooser: Chooser) -> None:
        # files of nuggets may contain questions; they are ignored as nuggets elsewhere
        plain = [one for one in chooser.texts if not one.file.is_a("nuggets")]
        for one in sorted(plain, key=lambda one: ("qr", "human", "original", None).index(one.role)):
            if one.role == "qr":
                why = "texts of a rewriter without a known run; to retrieve them with robustcs retrieve, add them to [texts]"
            else:
                why = f"other texts of {one.role} are used" if one.role else "texts of an unknown formulation"
            if one.file.path not in self.folder.taken:
                self.folder.leave(one.file.path, why)
        for one in chooser.strange:
            if not one.file.is_a("nuggets") and one.file.path not in self.folder.taken:
                turn = next(iter(one.texts))
                self.folder.leave(one.file.path, f"texts of other turns, such as {turn!r}")

    # ------------------------------------------------------------ further runs, sets, answers

    def _grid(self, runs: Sequence[System]) -> None:
        by_path = {one.file.path: one for one in runs}
        names = {path: self.folder.called.get(path, path) for path in by_path}
        cells, self.made.grid = find_grid(names, lambda path: self.rankings(by_path[path]))
        self.made.components = {"/".join(cell): path for cell, path in cells.items()}
        for name, path in self.made.components.items():
            self.folder.take(path, f"cell {name} of the grid")
        # one name for one system; the names of sets and of runs of answers stay, because other entries refer to them
        named = {one for _, sets in self.made.groups.values() for one in sets}
        if not self.folder.of("answers"):
            cell = {path: name for name, path in self.made.components.items()}
            self.made.runs = {name if name in named else cell.get(path, name): path for name, path in self.made.runs.items()}

    def _further(self, runs: list[System], family: Family) -> None:
        names: dict[str, str] = {}
        # a file of questions with passages may provide texts of a formulation and also be a run
        placed = {part.run for part in self.made.formulations.values()}
        for one in runs:
            if one.file.path not in placed:
                self.made.runs[one.name] = names[one.file.path] = one.file.path
                names[one.file.path] = one.name
                self.folder.take(one.file.path, "run of another system")
        for role, sets in family.sets.items():
            baseline = family.original if role == "original" else family.human
            members = [names[one.file.path] for one in sets if one.file.path in names]
            if baseline and baseline.file.path in self.folder.taken and members:
                self.made.groups["raw" if role == "original" else "manual"] = (role, members)

    @staticmethod
    def _are_answers(file: Found) -> bool:
        words = words_of(file.path)
        return file.is_a("answers") and any(word.startswith(("answer", "predict", "gold")) for word in words)

    def _answers(self) -> None:
        """Assign gold and predicted answers by file name."""
        for file in self.folder.of("answers"):
            role: Role | None = role_of(file.stem)
            if "gold" in words_of(file.stem):
                self.made.files.setdefault("gold", file.path)
                self.folder.take(file.path, "gold answers, by its name")
            elif role is not None and self._are_answers(file):
                part = self.made.formulations.setdefault(role, Part())
                if part.answers is None:
                    part.answers = file.path
                    self.folder.take(file.path, f"answers of {role}, by its name")
