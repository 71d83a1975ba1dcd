"""Guess the role of each file in a folder, with reasons; for ``robustcs init``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from robustcs.errors import InputError
from robustcs.evaluation.ranking import rank_run
from robustcs.inputs import mtrag
from robustcs.inputs.file_formats import RAG_RUN
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.runs import read_run
from robustcs.inputs.scores import read_scores
from robustcs.policy import EvaluationPolicy
from robustcs.project.families import Family, System, Texts, families_of, match_texts, most_complete, texts_in
from robustcs.project.guess_grid import find_grid
from robustcs.project.guess_judgments import Read, choose_judgments, join_texts, judged_by
from robustcs.project.guess_studies import guess_studies, guess_tasks, tasks_of
from robustcs.project.scaffold import Proposal
from robustcs.project.scan import Found, look_through, role_of, role_words, short_names, telling_words, without_common, words_of
from robustcs.project.text_run_match import Fit, fit, numbered, ranked_alike
from robustcs.wording import counted

#: Measures of the project file, unless files of scores determine them.
_METRICS = ("P_1", "ndcg_cut_3")
#: Suffix of the names of samples: ``llm_sample_2``, ``llm_seed2``.
_SAMPLE = re.compile(r"_?(?:sample|seed|draw)_?[0-9]+$")
#: Smallest number of turns to compare texts with rankings.
_FEW = 10


def guess(path: Path) -> Proposal:
    """Scan a folder and guess the role of each file."""
    made = Proposal(look_through(path))
    guess_studies(made)
    qrels = choose_judgments(made)
    _Systems(made, qrels).place()
    for kind in ("paraphrases", "collection"):
        files = made.folder.of(kind)  # type: ignore[arg-type]
        if files:
            largest = max(files, key=lambda file: (path / file.path).stat().st_size)
            made.use((kind,), largest.path, "the largest file of its kind")
    guess_tasks(made)
    for file in made.folder.files:
        if file.path not in made.folder.taken and file.what is not None:
            made.folder.leave(file.path, f"{file.what.says}; {file.what.advice}")
    return made


class _Systems:
    """Runs, per-turn scores, answers and texts."""

    def __init__(self, made: Proposal, qrels: Qrels | None):
        self.made = made
        self.folder = made.folder
        self.qrels = qrels
        self._ranked = cache(lambda path: numbered(rank_run(read_run(path), EvaluationPolicy())))
        self.measures: dict[str, list[str]] = {}
        self.similarity = ""
        self.turns: set[str] = set()
        self.placed: set[str] = set()

    def place(self) -> None:
        """Assign each file to a formulation or to other systems, or ignore it."""
        runs, scored = self._runs(), self._scored()
        families, of_scores = families_of(runs), families_of(scored)
        if of_scores and of_scores[0].formulations == 3 and (not families or families[0].formulations < 3):
            families = of_scores
        full = [family for family in families if family.formulations >= 2]
        family = full[0] if full else Family()
        if len(full) > 1:
            names = [" ".join(one.words) or "without a name" for one in full]
            self.made.comments["runs",] = (
                f"Other systems. Of the rankers {', '.join(sorted(names))}, {names[0]} is used: it is the most complete, or the"
                " first by name."
            )
        self.turns = set(self.qrels.turns) if self.qrels else {turn for one in family.members or runs for turn in one.turns}
        self._formulations(family, self._texts())
        if self.similarity and len(family.rewriters) == 1 and family.rewriters.popitem()[1].depth == 0:
            self.made.use(("answer_similarity",), self.similarity, "by its columns")
        self._further(runs, family)
        known = [set(columns) for path, columns in self.measures.items() if path in self.folder.taken]
        metrics = [name for name in _METRICS if all(name in one for one in known)]
        if self.qrels or known:
            self.made.put(("metrics",), metrics or sorted(set.intersection(*known))[:2])
            self.made.put(("thresholds",), [">0", ">=0.5", "=1"])
        self._answers()

    # ------------------------------------------------------------ reading

    def _runs(self) -> list[System]:
        files = self.folder.of("run")
        # the references of answers are rankings only if there are no others
        cited = [
            file for file in self.folder.files if file.is_a("run") and file.path in self.folder.taken and file.is_a("answers")
        ]
        files += [file for file in cited if not files or (file.what and file.what.family != RAG_RUN.name)]
        read = []
        for file in files:
            tasks = tasks_of(self.made, file)
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
        if read and all(found.documents for _, found in read):
            self.made.put(("policy", "documents"), True)
        else:  # ids of documents may end like those of passages; one policy cannot fit both
            for file, found in read:
                if found.documents:
                    self.folder.leave(file.path, "a run of passages DOC-N, but other runs rank the judged documents")
            read = [(file, found) for file, found in read if not found.documents]
        return self._systems(read)

    def _scored(self) -> list[System]:
        read = []
        for file in self.folder.of("scores"):
            try:
                frame = read_scores(self.folder.place(file))
            except InputError as error:
                self.folder.refuse(file.path, error)
                continue
            columns, turns = [str(column) for column in frame.columns], frozenset(map(str, frame.index))
            if any(word in column for column in columns for word in ("overlap", "similarity", "jaccard")):
                self.similarity = self.similarity or file.path
            else:
                self.measures[file.path] = columns
                read.append((file, Read(turns, len(turns & set(self.qrels.turns)) if self.qrels else len(turns))))
        return self._systems(read)

    def _systems(self, read: Sequence[tuple[Found, Read]]) -> list[System]:
        called = [self.folder.called.get(file.path, file.path) for file, _ in read]
        names = short_names(called, [found.tag for _, found in read])
        telling = [telling_words(name) or tuple(words_of(found.tag)) for name, (_, found) in zip(called, read, strict=True)]
        return [
            System(file, name, words, found.turns, found.judged, found.depth)
            for (file, found), name, words in zip(read, names, without_common(telling), strict=True)
        ]

    def _rankings(self, system: System) -> Mapping[str, int]:
        """Return turn → a number for the system's ranking; empty if it only has scores."""
        return self._ranked(self.folder.place(system.file)) if system.depth else {}

    # ------------------------------------------------------------ formulations

    def _texts(self) -> list[Texts]:
        """Return the texts of the project's turns; without turns, those of the file with most formulations and turns."""
        files = [
            file for file in self.folder.of("texts", further=True) if not (file.is_a("nuggets") or self._are_answers(file))
        ]
        texts = join_texts(self.folder, [one for file in files for one in texts_in(self.folder, file)])
        self.turns = self.turns or set(max(texts, key=lambda one: (one.fields, len(one.texts))).texts if texts else ())
        for one in texts:
            if not one.texts.keys() & self.turns:
                self.folder.leave(one.files[0], f"texts of other turns, such as {next(iter(one.texts))!r}")
        return [one for one in texts if one.texts.keys() & self.turns]

    def _formulations(self, family: Family, texts: Sequence[Texts]) -> None:
        original, human = (most_complete(texts, role, self.turns) for role in ("original", "human"))
        other, other_system = (human, family.human) if human and family.human else (original, family.original)

        def fits(one: Texts, system: System) -> Fit | None:
            if other is None or other_system is None:
                return None
            alike = ranked_alike(self._rankings(system), self._rankings(other_system))
            found = fit(one.texts, other.texts, alike)
            return found if len(found.equal) + len(found.other) >= _FEW else None

        free = [one for one in texts if one.role in ("qr", None) and one not in (original, human)]
        matched = match_texts(family.rewriters, free, fits)
        self._part("original", [family.original] if family.original else [], [(original, "")] if original else [])
        grouped: dict[str, list[str]] = {}
        unknown = bool(family.words) and not any(one.role == "qr" for one in texts)
        for name in family.rewriters:
            # others in a family without a name are further systems
            if name in matched or unknown or role_words("qr") & set(words_of(name)) or _SAMPLE.search(name):
                grouped.setdefault(_SAMPLE.sub("", name), []).append(name)
        for called, names in grouped.items():
            names.sort(key=lambda name: (len(name), name))
            key = "qr" if len(grouped) == 1 or called in ("", "qr") else f"qr:{called}"
            systems = [family.rewriters[name] for name in names]
            self._part(key, systems, [matched[name] for name in names if name in matched])
        self._part("human", [family.human] if family.human else [], [(human, "")] if human else [])
        if not family.members:  # texts without runs, for diversity and retrieve
            alone = [one for one in free if one.role == "qr"]
            for name, one in zip(short_names([one.files[0] for one in alone]), alone, strict=True):
                self._part("qr" if len(alone) == 1 else f"qr:{name}", [], [(one, "")])
        for one in texts:
            for path in one.files:
                if path not in self.folder.taken:
                    why = "other texts are used, or their run is unknown"
                    self.folder.leave(path, f"{why}; to retrieve them with robustcs retrieve, add them to [texts]")

    def _part(self, key: str, systems: Sequence[System], texts: Sequence[tuple[Texts, str]]) -> None:
        """Put the run or scores and the texts of a formulation; further ones are those of further samples."""
        if systems:
            first, what = systems[0], "run" if systems[0].depth else "scores"
            files = [path for one in systems for path in self.folder.together(one.file.path)]
            about = counted(len(first.turns), "turn") + (f", up to {first.depth} deep" if first.depth else "")
            about += "; one run per sample" if len(systems) > 1 else ""
            if first.depth and not texts and key.startswith("qr"):
                about += "\nrewrites = …  # the texts of this run are unknown"
            self.made.put(("formulations", key, what), files if len(files) > 1 else files[0], about)
            self.made.take(("formulations", key, what), files, "by its name")
            self.placed |= {one.file.path for one in systems}
        for what, some in (("rewrites", texts[:1]), ("samples", texts[1:])):
            named = [name for one, _ in some for name in one.named]
            for one, why in some:
                sampled = f"up to {one.samples} samples per turn" if one.samples > 1 else ""
                comment = "; ".join(filter(None, (why, sampled)))
                self.made.put(("formulations", key, what), named if len(named) > 1 else named[0], comment)
                why = why or ("by its fields" if one.column else "by its name")
                self.made.take(("formulations", key, what), one.files, why)

    # ------------------------------------------------------------ further runs, sets, grid, answers

    def _further(self, runs: Sequence[System], family: Family) -> None:
        by_path = {one.file.path: one for one in runs}
        cells, how = find_grid(
            {path: self.folder.called.get(path, path) for path in by_path}, lambda path: self._rankings(by_path[path])
        )
        sets = {one.file.path for some in family.sets.values() for one in some}
        # one name for one system; other entries refer to the names of sets and of runs with answers
        fixed = any(file.is_a("answers") for file in self.folder.files)
        named = {path: "/".join(cell) for cell, path in cells.items() if path not in sets and not fixed}
        for one in runs:
            if one.file.path not in self.placed:
                self.made.use(("runs", named.get(one.file.path, one.name)), one.file.path, "by its content")
        for cell, path in cells.items():
            self.made.use(("components", "/".join(cell)), path, how)
        if cells:
            about = f"Runs that cross wordings with rankers, WORDING/RANKER; the wording was recognised {how}."
            self.made.comments["components",] = about
        for role, systems in family.sets.items():
            baseline = family.original if role == "original" else family.human
            if baseline and systems[0].depth:
                group = "raw" if role == "original" else "manual"
                self.made.put(("groups", group, "baseline"), role, f"paraphrases of {role.capitalize()}, by their names")
                self.made.put(("groups", group, "sets"), [one.name for one in systems])

    @staticmethod
    def _are_answers(file: Found) -> bool:
        words = words_of(file.path)
        return file.is_a("answers") and any(word.startswith(("answer", "predict", "gold")) for word in words)

    def _answers(self) -> None:
        """Assign gold and predicted answers by file name."""
        for file in self.folder.of("answers"):
            role = role_of(file.stem)
            key = ("gold",) if "gold" in words_of(file.stem) else ("formulations", str(role), "answers")
            if key == ("gold",) or (role and self._are_answers(file)):
                self.made.use(key, file.path, "by its name")
