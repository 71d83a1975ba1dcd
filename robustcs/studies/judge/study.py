"""``robustcs judge``."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from robustcs.errors import UsageError
from robustcs.inputs.collection import read_passages
from robustcs.inputs.paths import shown
from robustcs.overwrite_guard import protect
from robustcs.programs.copies import Asking
from robustcs.project.workspace import Workspace
from robustcs.studies.judge.analysis import Pair, Worklist
from robustcs.studies.judge.asking import Interview, by_influence, drawn_judged, requests_for
from robustcs.studies.judge.holes import Holes, find_holes, highest_grade
from robustcs.studies.judge.judge_file import program_judge, read_judge
from robustcs.studies.judge.outlook import worklist_of
from robustcs.studies.judge.session import JudgmentFile, Scale, Session, read_judgments
from robustcs.studies.judge.sheet import read_sheet, refuse_existing, write_sheet
from robustcs.studies.judge.show import show
from robustcs.studies.judge.terminal import Sitting
from robustcs.studies.signature import Count, File, Opt, at_least
from robustcs.studies.study import SYSTEMS, Call, command


def ask(
    workspace: Workspace,
    *,
    top: Annotated[int, at_least(1, metavar="K")] | None = None,
    max_grade: Annotated[int, at_least(1, 9)] | None = None,
    pairs: Sequence[tuple[str, str]] = (),
) -> Worklist:
    """Fill the holes that matter: grade unjudged passages, one topic at a time across all systems.

    Holes are ranked by how much their grade probably changes the differences between the baseline and the sets of every
    group in robustcs.toml, or between all systems where there are no groups; what is judged already says which grades are
    probable. One key is one grade; every grade is on the disk before the next passage appears, and the same command goes on
    where you stopped. Without a terminal, keys are read as lines. Neither systems nor ranks are shown, so that they do not
    sway the judge. Judging ends when the order of all compared systems is settled.

    --with asks a program instead (docs/judge.md). Its grades go to a file of their own, never to those of people.

    top
        Judge the unjudged passages of every top K (default: the largest cut-off of the measures, or 3).

    max_grade
        Highest grade of the scale (default: the highest in the qrels).

    Raises :class:`UsageError` without qrels or runs, and for a measure of answers.

    Examples:
      robustcs judge --collection collection.jsonl
      robustcs judge --list --top 5
      robustcs judge --export sheet.csv
      robustcs judge --import sheet.csv
      robustcs judge --with 'python ask_model.py' --set copies=4 --limit 200
      robustcs judge --metric P_1 --output worklist.json
    """
    return worklist_of(find_holes(workspace, top, max_grade, pairs))[0]


def _run(
    call: Call,
    top: int | None,
    max_grade: int | None,
    judgments: File = "judgments.txt",
    pair: Annotated[tuple[str, ...], Opt("A,B")] = (),
    list_: bool = False,
    export: File | None = None,
    import_: File | None = None,
    all_: bool = False,
    command: Annotated[str, Opt("COMMAND", flag="--with")] | None = None,
    name: Annotated[str, Opt("NAME", flag="--as")] | None = None,
    also_judged: Annotated[int, at_least(0)] = 0,
    limit: Count | None = None,
    batch: Count = 32,
    copies: Annotated[int, at_least(1, 256)] = 1,
    retries: Annotated[int, at_least(0, 100)] = 2,
    timeout: Annotated[int, at_least(1, 604_800, "SECONDS")] = 600,
) -> None:
    """Judge in one of several ways.

    judgments
        Qrels that the grades are added to; augment and unjudged read it as --new-judgments.

    pair
        Compare only these two systems (repeatable; default: all of a group with its baseline, or all).

    list_
        Show the worklist only; so do --format, --output and --table.

    export
        Write what is left as a judging sheet (CSV) for a spreadsheet.

    import_
        Add the grades of a filled-in judging sheet.

    all_
        Go on when the order of the compared systems is settled.

    command
        Ask this program: JSON objects a line on stdin and stdout. Its grades go to judge-NAME.jsonl.

    name
        The program's name as a judge (default: that of its script); one of [judges] goes on in its file.

    also_judged
        Ask also about N passages that people judged, drawn at random, so that audit can compare.

    limit
        Ask about at most N passages this time.

    batch
        Passages between two looks whether the order is settled; the program is started for each.

    copies
        Copies of the program that share a batch, at the same time.

    retries
        Ask again so often what it did not answer.

    timeout
        Stop the program after SECONDS without a useful answer.
    """
    listing = list_ or any(call.given[name] for name in ("format", "output", "table"))
    if sum((listing, export is not None, import_ is not None, command is not None)) > 1:
        raise UsageError("two-modes", "a list, --export, --import and --with together", "do them one after the other")
    pairs = [_pair(text) for text in pair]
    workspace = call.answered()
    scale = Scale(workspace.qrels, max_grade or highest_grade(workspace))
    path = Path(judgments)
    protect([path], growing=True)
    protect([import_] if import_ else [])
    # all files are read before the hole model is fitted, which takes longer than the rest
    desk = _Desk(call, find_holes(workspace, top, scale.max_grade, pairs), workspace, path, scale)
    if listing:
        desk.list()
    elif export is not None:
        desk.export(Path(export))
    elif import_ is not None:
        desk.take(Path(import_))
    elif command is not None:
        asking = Asking(command, copies, retries, timeout)
        desk.ask(asking, name, also_judged, batch=batch, limit=limit, to_the_end=all_)
    else:
        desk.sit(all_)


def _pair(text: str) -> tuple[str, str]:
    first, comma, second = (part.strip() for part in text.partition(","))
    if not (first and comma and second):
        raise UsageError("bad-pair", f"--pair {text}", "write the names of two systems, such as --pair human,manual_1")
    return first, second


@dataclass(frozen=True)
class _Desk:
    """What every way of judging works on; ``path`` is where people's grades go."""

    call: Call
    holes: Holes
    workspace: Workspace
    path: Path
    scale: Scale

    def list(self) -> None:
        """Show what there is to judge."""
        grades = read_judgments(self.path, self.scale)
        if grades:
            self.workspace.remember("judgments", self.path, len(grades))
        result, _ = worklist_of(self.holes, grades)
        self.call.emit(self.workspace, result, show(result))

    def export(self, target: Path) -> None:
        """Write what is left as a sheet."""
        refuse_existing(target)
        judged, project = read_judgments(self.path, self.scale), self.workspace.project
        texts = self.workspace.texts_of(self.workspace.qrels.turns).get("human", {})
        passages = _passages(self.workspace, {document for _, document in self.holes.pairs.keys() - judged.keys()})
        worklist, _ = worklist_of(self.holes, judged)
        left = worklist.worklist[[pair not in judged for pair in worklist.pairs]]
        write_sheet(target, left, texts, passages)
        self._warn(worklist)
        self.call.tell(f"wrote {target}: {len(left)} passages to judge, {len(worklist.pairs) - len(left)} are judged")
        if without := len(left) - int(left["document"].isin(list(passages)).sum()):
            where = project.collection or "no --collection is given"
            self.call.tell(f"{without} of them have no text ({where}); they can be graded all the same")
        if without := len(set(left["turn"]) - set(texts)):
            self.call.tell(f"{without} turns have no Human text; --rewrites human=FILE gives it")

    def take(self, source: Path) -> None:
        """Take over the grades of a filled-in sheet."""
        with JudgmentFile(self.path, self.scale, self.workspace.project.qrels) as file:
            grades, blank = read_sheet(source, self.scale, self.holes.pairs.keys(), file.grades)
            new = [(pair, grade) for pair, grade in grades.items() if pair not in file.grades]
            file.append(new)
            judged = sum(pair in file.grades for pair in self.holes.pairs)
        there = f", {len(grades) - len(new)} were there already" if len(new) < len(grades) else ""
        self.call.tell(f"added {len(new)} grades to {self.path}{there}; {blank} rows have none")
        self.call.tell(f"{judged} of {len(self.holes.pairs)} passages are judged")

    def sit(self, to_the_end: bool) -> None:
        """Let somebody judge at the terminal."""
        if not self.holes.pairs:
            self.call.tell("every passage in the top of these systems is judged")
            return
        project = self.workspace.project
        texts, passages = readable(self.workspace, self.holes.pairs)
        with JudgmentFile(self.path, self.scale, project.qrels) as file:
            worklist, outlook = worklist_of(self.holes, file.grades)
            pairs = [pair for pair in worklist.pairs if passages.get(pair[1])]
            notes = list(worklist.warnings)
            if without := len(self.holes.pairs) - len(pairs):
                left_out = "and are left out here; --export has them too"
                where = shown(str(project.collection))
                notes.insert(0, f"{without} of {len(self.holes.pairs)} passages have no text in {where} {left_out}")
            Sitting(Session(pairs, file), passages, texts, self.scale, notes, outlook, to_the_end).run()

    def ask(self, asking: Asking, name: str | None, also_judged: int, **how: Any) -> None:
        """Ask a program."""
        project, tell = self.workspace.project, self.call.tell
        judge = program_judge(asking.command, name, project.judges)
        said, people = read_judge(judge, self.scale), read_judgments(self.path, self.scale)
        wanted = [*self.holes.pairs, *(self.scale.judged if also_judged else [])]
        texts, passages = readable(self.workspace, wanted)
        worklist, outlook = worklist_of(self.holes, people)
        self._warn(worklist)
        first = drawn_judged(self.scale, passages, also_judged, project.seed)
        queue = [pair for pair in by_influence(worklist) if pair not in people]
        requests = requests_for([*first, *queue], texts, passages, self.scale)
        if without := len(first) + len(queue) - len(requests):
            tell(f"{without} of {len(first) + len(queue)} passages have no text, or their turn has none: they are not asked")
        first, queue = ([pair for pair in pairs if pair in requests] for pairs in (first, queue))
        track = self.workspace.track
        interview = Interview(asking, judge, self.scale, requests, first, queue, said, people, outlook, track, **how)
        tally, state = interview.run(tell)
        for line in (*tally.warnings, *([f"{tally.known:,} of {len(requests):,} were known"] if tally.known else [])):
            tell(line)
        if ending := interview.ending(tally, state):
            tell(ending)
        elif state.settled and not interview.to_the_end:
            word = ", by this judge's word" if said.keys() & self.holes.pairs.keys() else ""
            tell(f"{state.told}{word}: nothing more is asked. --all goes on")
        if not said:
            tell("it gave no grade" if tally.asked else "nothing was asked")
            return
        if said.keys() <= self.scale.judged:
            tell("no hole was graded, only passages that people judged")
        tell(f"wrote {judge.path}: {len(said):,} grades of {judge.name}, version {judge.version}; no judgments of people")
        if judge.name not in project.judges:
            tell(f'every command knows it by [judges] {judge.name} = "{judge.path}", or --judge {judge.name}={judge.path}')

    def _warn(self, worklist: Worklist) -> None:
        """The hole model's warnings: the order of work, and what is certain, depend on it."""
        for warning in worklist.warnings:
            self.call.tell(warning)


def readable(workspace: Workspace, pairs: Collection[Pair]) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    """The texts of the turns by formulation, and those of the passages: what cannot be read is not asked for.

    Raises :class:`UsageError` where no turn of the ``pairs`` has a text, or none of their passages.
    """
    collection = workspace.project.collection
    texts = workspace.texts_of(workspace.qrels.turns)
    if not {turn for turn, _ in pairs} & {*texts.get("human", {}), *texts.get("original", {})}:
        raise UsageError("no-texts", "no turn to judge has a text", "name the texts with --rewrites human=FILE")
    if collection is None:
        raise UsageError(
            "no-collection", "no passages to read are given", "name them with --collection FILE (--list and --export need none)"
        )
    passages = _passages(workspace, {document for _, document in pairs})
    if not any(passages.values()):
        raise UsageError(
            "no-passages", f"{shown(collection)} has none of the {len(pairs)} passages to judge",
            "check the passage ids, or judge elsewhere with --export FILE",
        )  # fmt: skip
    return texts, passages


def _passages(workspace: Workspace, wanted: set[str]) -> dict[str, str]:
    collection = workspace.project.collection
    return read_passages(collection, wanted) if collection and wanted else {}


COMMAND = command(ask, (*SYSTEMS, "collection", "metric", "relevance_level", "missing", "order", "depth", "documents", "jobs",
    "dask"), run=_run,
)  # fmt: skip
