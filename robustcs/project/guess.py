"""Guess the role of each file in a folder, with reasons; for ``robustcs init``."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from robustcs.evaluation.grid import Cell
from robustcs.evaluation.ranking import rank_run
from robustcs.inputs import mtrag
from robustcs.inputs.file_formats import RAG_RUN
from robustcs.inputs.paths import parts_of
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.runs import read_run
from robustcs.inputs.scores import read_scores
from robustcs.inputs.turns import turn_sort_key
from robustcs.policy import EvaluationPolicy
from robustcs.project.conversations import first_with_fields
from robustcs.project.families import (
    FormulationTexts,
    System,
    SystemFamily,
    families_of,
    find_grid,
    match_texts,
    named,
    read_system,
    texts_in,
)
from robustcs.project.guess_judgments import choose_judgments
from robustcs.project.guess_studies import guess_studies, guess_tasks, tasks_of
from robustcs.project.marks import MARK
from robustcs.project.model import Role
from robustcs.project.roles import Chosen, are_rewrites, choose, no_human_run
from robustcs.project.scan import (
    WORDS,
    Proposal,
    ScannedFile,
    look_through,
    role_of,
    short_names,
    words_of,
)
from robustcs.project.text_run_match import TextRunMatch, digests_of, fit, ranked_alike, uncrossed
from robustcs.project.toml import quoted, toml_key, toml_text
from robustcs.wording import counted, some_of

#: Tables in the order of a project file → the comment on each.
_TABLES = {
    "qrels": "The qrels list relevant passages only. Other selections: pool, filtered, clicks.",
    "policy": "",
    "formulations": "",
    "runs": "Other systems, for commands that compare any runs.",
    "components": "Runs that cross wordings with rankers, WORDING/RANKER.",
    "judges": "Judges of the same passages, usually models; robustcs audit compares them with the qrels.",
    "groups": "",
    "clariq": "Clarifying questions; their turns are topics.",
    "answers": "Answers of systems, and the snippets or nuggets that they should contain.",
    "agreement": "Annotations; several files count as one.",
    "crowd": "Grades of crowd workers, or judgments made from them.",
    "review": "Turns that coders reviewed in the page of a report.",
}
#: Measures of the project file, unless files of scores determine them.
_METRICS = ("P_1", "ndcg_cut_3")
#: Formulations with whose texts and rankings those of rewriters are compared.
_ENDS: tuple[Role, ...] = ("human", "original")
#: Suffix of the names of samples: ``llm_sample_2``, ``llm_seed2``.
_SAMPLE = re.compile(r"_?(?:sample|seed|draw)_?[0-9]+$")
#: Smallest number of turns to compare texts with rankings.
_FEW = 10


def guess(path: Path) -> Proposal:
    """Scan a folder and guess the role of each file."""
    made = look_through(path)
    guess_studies(made)
    qrels = choose_judgments(made)
    systems = _Systems(made, qrels)
    systems.place()
    made.turns = sorted(systems.turns, key=turn_sort_key)
    for kind in ("paraphrases", "collection"):
        files = made.of(kind)  # type: ignore[arg-type]
        if files:
            largest = max(files, key=lambda file: (path / file.path).stat().st_size)
            # a project may have several collections, but one file of paraphrases
            chosen = largest.paths if kind == "collection" else largest.paths[:1]
            made.use((kind,), chosen, "the largest file of its kind")
    guess_tasks(made)
    for file in made.files:
        used = file.path in made.taken and (
            file.is_a("texts") or file.is_a("scores") or file.is_a("answers")
        )
        if used and made.read(file, _has_fields):
            made.put(("policy", "conversation"), file.path, "conversations from its fields")
            break
    for file in made.files:
        if file.path not in made.taken and file.what is not None:
            made.leave(file.paths, f"{file.what.says}; {file.what.advice}")
    return made


def _has_fields(place: Path) -> bool:
    """Return whether fields of a file show conversations that its turn ids do not."""
    return first_with_fields(parts_of(place)) is not None


def write_config(made: Proposal, name: str) -> str:
    """Return the text of a robustcs.toml, with comments on what was guessed."""
    lines = [
        "# Inputs and settings for robustcs, guessed by robustcs init. Review them, then run robustcs check.",
        "# Paths are relative to this file. Options of a command take precedence over this file.",
    ]
    if made.aside:
        lines.append(
            f"# {counted(len(made.aside), 'file')} ignored; robustcs init --why lists them with reasons."
        )
    lines += [f"# Not used: {path}: {made.aside[path]}" for path in made.told]
    tables = {table: made.values[table] for table in _TABLES if table in made.values}
    comments = {(table,): about for table, about in _TABLES.items() if about} | made.comments
    for key in made.marks:
        first, *further = comments.get(key, "").split("\n")
        comments[key] = "\n".join([f"{first}  # {MARK}" if first else MARK, *further])
    text = "\n".join(
        [*lines, "", toml_text({"name": name} | made.values | tables, comments=comments)]
    )
    if made.grid:
        doubt = f"Only their names suggest this, not their rankings:\n# {made.doubt}."
        text += f"\n# {_TABLES['components']} {doubt}\n# [components]\n"
        text += "".join(
            f"# {toml_key(cell)} = {quoted(path)}\n" for cell, path in made.grid.items()
        )
    return text


def explanation(made: Proposal) -> str:
    """Return the key of each used file, and why others are ignored: two lines per file."""
    parts = []
    for head, files in (("Used", made.taken), ("Ignored", made.aside)):
        if files:
            parts += [head, *(f"  {path}\n    {why}" for path, why in sorted(files.items())), ""]
    return "\n".join(parts).rstrip()


class _Systems:
    """Runs, per-turn scores, answers and texts.

    turns
        The project's turns: those of the qrels, else of its systems or texts.
    placed
        Runs and scores of formulations.
    confirmed
        Texts and systems whose role their contents confirm, not only their names.
    others
        Role → further texts with this role.
    refused
        Systems that are Human by name but not by their contents → why.
    """

    def __init__(self, made: Proposal, qrels: Qrels | None):
        self.made = made
        self.qrels = qrels
        self.turns: Collection[str] = set(qrels.turns) if qrels else ()
        self.similarity: ScannedFile | None = None
        self.placed: list[System] = []
        self.confirmed: set[FormulationTexts | System] = set()
        self.others: dict[str, list[str]] = {}
        self.refused: dict[System, str] = {}
        self._ranked = cache(
            lambda file: digests_of(rank_run(read_run(made.place(file)), EvaluationPolicy()))
        )

    def place(self) -> None:
        """Assign each file to a formulation or to other systems, or ignore it."""
        runs, scored = self._runs(), self._scored()
        families, of_scores = families_of(runs), families_of(scored)
        if (
            of_scores
            and of_scores[0].formulations == 3
            and (not families or families[0].formulations < 3)
        ):
            families = of_scores
        family = next((family for family in families if family.formulations >= 2), SystemFamily())
        self.turns = self.turns or {
            turn for one in [*family.systems.values()] or runs for turn in one.turns
        }
        texts, cells = self._texts(), find_grid(runs, families)
        doubt = (
            uncrossed({cell: self._ranked(one.file) for cell, one in cells.items()})
            if cells
            else ""
        )
        shown = bool(cells) and not doubt
        if cells and not texts and "human" not in family.systems:
            # every question that these files answer knows the systems by their cells
            family = SystemFamily()
        found = choose(texts, self.turns)
        family = self._without_refused(family, found)
        self._formulations(family, texts, found)
        if self.similarity and [one.depth for one in family.rewriters.values()] == [0]:
            self.made.use(("answer_similarity",), self.similarity.paths, "by its columns")
        self._further(runs, family, cells if shown else {})
        if doubt:
            self.made.doubt = doubt
            self.made.grid = {
                "/".join(cell): list(one.file.paths) if one.file.paths[1:] else one.file.path
                for cell, one in cells.items()
            }
        known = [one.measures for one in self.placed if one.measures]
        if self.qrels or known:
            metrics = [name for name in _METRICS if all(name in one for one in known)]
            self.made.put(("metrics",), metrics or sorted(set.intersection(*map(set, known)))[:2])
            self.made.put(("thresholds",), [">0", ">=0.5", "=1"], "scores of correct answers")
        self._answers()

    # ------------------------------------------------------------ reading

    def _runs(self) -> Sequence[System]:
        files = self.made.of("run")
        # the references of answers are rankings only if there are no others
        cited = [
            file
            for file in self.made.files
            if file.is_a("run") and file.path in self.made.taken and file.is_a("answers")
        ]
        files += [
            file for file in cited if not files or (file.what and file.what.family != RAG_RUN.name)
        ]
        read: list[System] = []
        for file in files:
            tasks = tasks_of(self.made, file)
            if tasks and not any(map(mtrag.has_scores, tasks)):
                continue  # unordered passages from which answers were generated
            if run := self.made.read(file, read_run, tell=True):
                found = read_system(file, run, self.qrels)
                if isinstance(found, System):
                    read.append(found)
                else:
                    self.made.leave(file.paths, found)
        kept = [one for one in read if not one.documents]
        if read and not kept:
            about = "runs rank passages DOC-N, qrels judge documents DOC: the best passage counts"
            self.made.put(("policy", "documents"), True, about)
            kept = read
        for one in read:
            if one not in kept:
                # ids of documents may end like those of passages; one policy cannot fit both
                self.made.leave(
                    one.file.paths,
                    "a run of passages DOC-N, but other runs rank the judged documents",
                )
        return named(self.made, kept)

    def _scored(self) -> Sequence[System]:
        read = []
        for file in self.made.of("scores"):
            frame = self.made.read(file, read_scores, tell=True)
            if frame is None:
                continue
            columns, turns = tuple(map(str, frame.columns)), frozenset(map(str, frame.index))
            if any(
                word in column
                for column in columns
                for word in ("overlap", "similarity", "jaccard")
            ):
                self.similarity = self.similarity or file
            else:
                judged = len(turns & set(self.qrels.turns)) if self.qrels else len(turns)
                read.append(System(file, turns, judged, measures=columns))
        return named(self.made, read)

    # ------------------------------------------------------------ formulations

    def _texts(self) -> list[FormulationTexts]:
        """Return the texts of the project's turns; without turns, those of the file with most formulations and turns."""
        files = [
            file
            for file in self.made.of("texts")
            if not (file.is_a("nuggets") or self._are_answers(file))
        ]
        texts = [one for file in files for one in texts_in(self.made, file)]
        self.turns = (
            self.turns or max(texts, key=lambda one: (one.fields, len(one.texts))).texts.keys()
            if texts
            else self.turns
        )
        kept = [one for one in texts if not one.texts.keys().isdisjoint(self.turns)]
        for one in texts:
            if one not in kept:
                self.made.leave(
                    one.file.paths, f"texts of other turns, such as {next(iter(one.texts))!r}"
                )
        return kept

    def _without_refused(self, family: SystemFamily, found: Chosen) -> SystemFamily:
        """Return the family without its Human system, if its rankings or the Human texts show that it is not Human."""
        human, original = (family.systems.get(role) for role in _ENDS)
        if human is None:
            return family
        both = original is not None and original.depth and human.depth
        alike = (
            ranked_alike(self._ranked(human.file), self._ranked(original.file))
            if original and both
            else {}
        )
        if not (why := no_human_run(found, alike)):
            return family
        self.refused[human] = why
        if human.depth:  # it becomes another system
            self.made.offered.append(f"{human.file.path}: {why}")
        else:
            self.made.leave(human.file.paths, why, tell=True)
        return replace(
            family, systems={name: one for name, one in family.systems.items() if one is not human}
        )

    def _formulations(
        self, family: SystemFamily, texts: Sequence[FormulationTexts], found: Chosen
    ) -> None:
        chosen = found.texts
        other: Role | None = next(
            (role for role in _ENDS if role in chosen and role in family.systems), None
        )

        def fits(one: FormulationTexts, system: System) -> TextRunMatch | None:
            if other is None or not system.depth:
                return None
            made = self._fit((one, system), (chosen[other], family.systems[other]))
            return made if len(made.equal) + len(made.other) >= _FEW else None

        free = [one for one in texts if one.role in ("qr", None) and one not in chosen.values()]
        matched = match_texts(family.rewriters, free, fits)
        unknown = bool(family.words) and not any(one.role == "qr" for one in texts)
        grouped: dict[str, list[str]] = {}
        for name in family.rewriters:
            # others in a family without a name are further systems
            if (
                name in matched
                or unknown
                or WORDS["qr"] & set(words_of(name))
                or _SAMPLE.search(name)
            ):
                grouped.setdefault(_SAMPLE.sub("", name), []).append(name)
        parts = [
            ("qr" if len(grouped) == 1 or name in ("", "qr") else f"qr:{name}", names)
            for name, names in grouped.items()
        ]
        known = {role: (one, "") for role, one in chosen.items()} | matched
        self._confirm(family, found, {name: one for name, (one, _) in known.items()})
        for key, names in [("original", ["original"]), *parts, ("human", ["human"])]:
            names = sorted(names, key=lambda name: (len(name), name))
            systems = [family.systems[name] for name in names if name in family.systems]
            self._part(key, systems, [known[name] for name in names if name in known])
        if not family.systems:  # texts without runs, for diversity and retrieve
            shown = [one for one in free if are_rewrites(one, chosen.values())]
            alone = [one for one in free if one.role == "qr" or one in shown]
            self.confirmed |= {one for one in alone if one.column or one in shown}
            for name, one in zip(short_names([one.file.path for one in alone]), alone, strict=True):
                self._part("qr" if len(alone) == 1 else f"qr:{name}", [], [(one, "")])
        for one, why in found.refused:
            self.made.leave(one.named, why, tell=True)
        for one in texts:
            if one.file.path not in self.made.taken:
                why = "other texts are used, or their run is unknown"
                self.made.leave(
                    one.file.paths,
                    f"{why}; to retrieve them with robustcs retrieve, add them to [texts]",
                )

    def _fit(
        self, one: tuple[FormulationTexts, System], other: tuple[FormulationTexts, System]
    ) -> TextRunMatch:
        """Return how the texts of two systems fit their rankings."""
        alike = ranked_alike(self._ranked(one[1].file), self._ranked(other[1].file))
        return fit(one[0].texts, other[0].texts, alike)

    def _confirm(
        self, family: SystemFamily, found: Chosen, known: Mapping[str, FormulationTexts]
    ) -> None:
        """Collect the texts and runs whose roles their contents confirm.

        Texts: their fields name the role; Original and Human differ as these roles do; or those of a rewriter fit its run.
        Runs: these texts fit their rankings.
        """
        both = {
            name: (one, family.systems[name])
            for name, one in known.items()
            if name in family.systems
        }
        ranked = {name: pair for name, pair in both.items() if pair[1].depth}
        fitting = {
            name
            for name, one in ranked.items()
            if any(self._fit(one, other).confirms for than, other in ranked.items() if than != name)
        }
        ends = set(found.texts) if found.differ else set()
        sure = {
            name
            for name, one in known.items()
            if one.column or name in (ends if name in found.texts else fitting)
        }
        self.confirmed = {known[name] for name in sure} | {both[name][1] for name in sure & fitting}
        for role, others in found.offered.items():
            self.others[role] = [name for one in others for name in one.named]

    def _part(
        self, key: str, systems: Sequence[System], texts: Sequence[tuple[FormulationTexts, str]]
    ) -> None:
        """Put the runs or scores of a formulation, one for each sample, and the texts of each, with what determined them."""
        self.placed += systems
        if systems:
            first, files = systems[0], [path for one in systems for path in one.file.paths]
            about = counted(len(first.turns), "turn") + (
                f", up to {first.depth} deep" if first.depth else ""
            )
            about += "; one run per sample" if len(systems) > 1 else ""
            if first.depth and not texts and key.startswith("qr"):
                about += "\nrewrites = …  # the texts of this run are unknown"
            place = ("formulations", key, "run" if first.depth else "scores")
            self.made.use(
                place, files, "by its name", about, marked=not self.confirmed.issuperset(systems)
            )
        for what, some in (("rewrites", texts[:1]), ("samples", texts[1:])):
            values = [name for one, _ in some for name in one.named]
            for one, why in some:
                sampled = f"up to {one.samples} samples per turn" if one.samples > 1 else ""
                comment = "; ".join(filter(None, (why, sampled)))
                how = why or ("by its fields" if one.column else "by its name")
                if others := self.others.get(key):
                    comment = f"or {some_of(others)}"
                    self.made.offered.append(
                        f"[formulations.{key}] {what}: {values[0]}; also possible: {some_of(others)}"
                    )
                marked, comment = (
                    one not in self.confirmed,
                    "" if comment == "by its name" else comment,
                )
                self.made.use(
                    ("formulations", key, what), one.file.paths, how, comment, values, marked
                )

    # ------------------------------------------------------------ further runs, sets, grid, answers

    def _further(
        self, runs: Sequence[System], family: SystemFamily, cells: Mapping[Cell, System]
    ) -> None:
        sets = [one for some in family.sets.values() for one in some]
        # one name for one system; other entries refer to the names of sets and of runs with answers
        if not any(file.is_a("answers") for file in self.made.files):
            for cell, one in cells.items():
                one.name = one.name if one in sets else "/".join(cell)
        for one in runs:
            if one not in self.placed:
                why = self.refused.get(one, "")
                self.made.use(("runs", one.name), one.file.paths, why or "by its content", why)
        for cell, one in cells.items():
            self.made.use(("components", "/".join(cell)), one.file.paths, "by its name")
        for role, systems in family.sets.items():
            if role in family.systems and systems[0].depth:
                group = "raw" if role == "original" else "manual"
                self.made.put(
                    ("groups", group, "baseline"),
                    role,
                    f"paraphrases of {role.capitalize()}, by their names",
                )
                self.made.put(("groups", group, "sets"), [one.name for one in systems])
                self.made.marks.append(("groups", group, "sets"))

    @staticmethod
    def _are_answers(file: ScannedFile) -> bool:
        return file.is_a("answers") and any(
            word.startswith(("answer", "predict", "gold")) for word in file.words
        )

    def _answers(self) -> None:
        """Assign gold and predicted answers by file name."""
        for file in self.made.of("answers"):
            role = role_of(file.stem)
            if "gold" in words_of(file.stem):
                self.made.use(("gold",), file.paths, "by its name")
            elif role and self._are_answers(file):
                self.made.use(
                    ("formulations", role, "answers"), file.paths, "by its name", marked=True
                )
