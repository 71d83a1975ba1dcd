"""Steps of ``robustcs judge``: the ways to judge passages."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robustcs.errors import UsageError
from robustcs.inputs.collection import read_passages
from robustcs.inputs.paths import shown
from robustcs.programs.runner import ProgramCall
from robustcs.project.workspace import Workspace
from robustcs.studies.judge.analysis import Pair, Worklist
from robustcs.studies.judge.outlook import Holes, worklist_of
from robustcs.studies.judge.program import (
    Interview,
    by_influence,
    drawn_judged,
    program_judge,
    read_judge,
    requests_for,
)
from robustcs.studies.judge.session import GradeScale, JudgmentFile, Session, read_judgments
from robustcs.studies.judge.sheet import read_sheet, refuse_existing, write_sheet
from robustcs.studies.judge.terminal import Sitting
from robustcs.studies.study import Call
from robustcs.wording import counted, verb


def pair_of(text: str) -> tuple[str, str]:
    """Return the two systems of ``A,B``. Raises :class:`UsageError` for any other text."""
    first, comma, second = (part.strip() for part in text.partition(","))
    if not (first and comma and second):
        advice = "separate two names by a comma, such as --pair human,manual_1"
        raise UsageError("bad-pair", f"pair={text} does not name two systems", advice)
    return first, second


@dataclass(frozen=True)
class Desk:
    """The inputs of all ways of judging; ``path`` is the file of human grades."""

    call: Call
    holes: Holes
    workspace: Workspace
    path: Path
    scale: GradeScale

    def list(self) -> None:
        """Show the passages to judge."""
        grades = read_judgments(self.path, self.scale)
        if grades:
            self.workspace.remember("judgments", self.path, len(grades))
        result, _ = worklist_of(self.holes, grades)
        self.call.emit(self.workspace, result)

    def export(self, target: Path) -> None:
        """Write the remaining passages to a sheet."""
        refuse_existing(target)
        judged, project = read_judgments(self.path, self.scale), self.workspace.project
        texts = self.workspace.texts_of(self.workspace.qrels.turns)
        questions = texts.get("original", {}) | texts.get("human", {})
        passages = _passages(
            self.workspace, {document for _, document in self.holes.pairs.keys() - judged.keys()}
        )
        worklist, _ = worklist_of(self.holes, judged)
        left = [pair for pair in worklist.pairs if pair not in judged]
        write_sheet(target, left, questions, passages, self.holes.conversations)
        self._warn(worklist)
        done = len(worklist.pairs) - len(left)
        self.call.tell(
            f"wrote {target}: {counted(len(left), 'passage')} to judge, {done} already judged"
        )
        if without := sum(document not in passages for _, document in left):
            where = (
                f"not in {project.collection}" if project.collection else "no --collection given"
            )
            self.call.tell(
                f"{without} of them {verb(without, 'has', 'have')} no text ({where}) but can still be graded"
            )

    def take(self, source: Path) -> None:
        """Add the grades of a filled-in sheet."""
        with JudgmentFile(self.path, self.scale, self.workspace.project.qrels) as file:
            grades, blank = read_sheet(source, self.scale, self.holes.pairs.keys(), file.grades)
            new = [(pair, grade) for pair, grade in grades.items() if pair not in file.grades]
            file.append(new)
            judged = sum(pair in file.grades for pair in self.holes.pairs)
        there = f" ({len(grades) - len(new)} already there)" if len(new) < len(grades) else ""
        empty = f"{counted(blank, 'row')} {verb(blank, 'has', 'have')} no grade"
        self.call.tell(f"added {counted(len(new), 'grade')} to {self.path}{there}; {empty}")
        self.call.tell(f"{judged} of {len(self.holes.pairs)} passages are judged")

    def sit(self, to_the_end: bool) -> None:
        """Judge at the terminal."""
        if not self.holes.pairs:
            self.call.tell(
                f"nothing to judge: all passages in the top {self.holes.contest.top} of these systems are judged"
            )
            return
        project = self.workspace.project
        texts, passages = readable(self.workspace, self.holes.pairs)
        with JudgmentFile(self.path, self.scale, project.qrels) as file:
            worklist, outlook = worklist_of(self.holes, file.grades)
            pairs = [pair for pair in worklist.pairs if passages.get(pair[1])]
            notes = list(worklist.warnings)
            if without := len(self.holes.pairs) - len(pairs):
                skipped = f"Skipped {without} of {counted(len(self.holes.pairs), 'passage')} without a text in"
                notes.insert(
                    0, f"{skipped} {shown(str(project.collection))}; --export includes them."
                )
            session = Session(pairs, file)
            Sitting(session, passages, texts, self.scale, notes, outlook, to_the_end).run()

    def call_program(
        self, program: ProgramCall, name: str | None, also_judged: int, **how: Any
    ) -> None:
        """Let a program judge."""
        project, tell = self.workspace.project, self.call.tell
        judge = program_judge(program.command, name, project.judges)
        said, people = read_judge(judge, self.scale), read_judgments(self.path, self.scale)
        wanted = [*self.holes.pairs, *(self.scale.judged if also_judged else [])]
        texts, passages = readable(self.workspace, wanted)
        worklist, outlook = worklist_of(self.holes, people)
        self._warn(worklist)
        first = drawn_judged(self.scale, passages, also_judged, project.seed)
        queue = [pair for pair in by_influence(worklist) if pair not in people]
        requests = requests_for(
            [*first, *queue], texts, passages, self.scale, self.holes.conversations
        )
        if without := len(first) + len(queue) - len(requests):
            tell(
                f"skipped {without} of {counted(len(first) + len(queue), 'passage')}: the passage or its turn has no text"
            )
        first, queue = ([pair for pair in pairs if pair in requests] for pairs in (first, queue))
        track = self.workspace.track
        interview = Interview(
            program, judge, self.scale, requests, first, queue, said, people, outlook, track, **how
        )
        tally, state = interview.run(tell)
        for line in tally.warnings:
            tell(line)
        if tally.known:
            tell(f"{tally.known:,} of {len(requests):,} passages were graded in an earlier call")
        if ending := interview.ending(tally, state):
            tell(ending)
        elif state.settled and not interview.to_the_end:
            tell(f"{state.told}; stopped (--all continues)")
        if not said:
            tell(
                "the program gave no valid grade"
                if tally.sent
                else "the program was not asked about any passage"
            )
            return
        grades = f"{counted(len(said), 'grade')} by {judge.name}, version {judge.version}"
        tell(f"wrote {judge.path}: {grades} (model grades, not human judgments)")
        if judge.name not in project.judges:
            use = f'add {judge.name} = "{judge.path}" under [judges], or pass --judge {judge.name}={judge.path}'
            tell(f"to use this judge in other commands, {use}")

    def _warn(self, worklist: Worklist) -> None:
        """Report the warnings of the hole model, on which the order of judging and the certain orders depend."""
        for warning in worklist.warnings:
            self.call.tell(warning)


def readable(
    workspace: Workspace, pairs: Collection[Pair]
) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    """Return the texts of the turns by formulation, and the texts of the passages of ``pairs``.

    Raises :class:`UsageError` if no turn of the ``pairs`` has a text, or no passage.
    """
    collection = workspace.project.collection
    texts = workspace.texts_of(workspace.qrels.turns)
    if not {turn for turn, _ in pairs} & {*texts.get("human", {}), *texts.get("original", {})}:
        raise UsageError(
            "no-texts", "no turn to judge has a text", "add texts with --rewrites human=FILE"
        )
    if collection is None:
        advice = "name their file with --collection FILE (--list and --export work without it)"
        raise UsageError("no-collection", "no passage texts are given", advice)
    passages = _passages(workspace, {document for _, document in pairs})
    if not any(passages.values()):
        found = (
            f"{shown(collection)} contains none of the {counted(len(pairs), 'passage')} to judge"
        )
        raise UsageError(
            "no-passages", found, "check the passage ids, or use --export FILE to judge elsewhere"
        )
    return texts, passages


def _passages(workspace: Workspace, wanted: set[str]) -> dict[str, str]:
    collection = workspace.project.collection
    return read_passages(collection, wanted) if collection and wanted else {}
