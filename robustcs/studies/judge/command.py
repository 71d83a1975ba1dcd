"""``robustcs judge``."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import click

from robustcs.studies.study import MOST, SYSTEMS, Call, Command

if TYPE_CHECKING:
    from robustcs.project.model import Project
    from robustcs.project.workspace import Workspace
    from robustcs.studies.judge.analysis import Pair
    from robustcs.studies.judge.ask import Holes
    from robustcs.studies.judge.session import Scale

_JUDGMENTS = "judgments.txt"


def _run(
    call: Call,
    judgments: str,
    top: int | None,
    max_grade: int | None,
    pair: tuple[str, ...],
    list_: bool,
    export: str | None,
    import_: str | None,
    all_: bool,
) -> None:
    from robustcs.errors import UsageError
    from robustcs.protected import protect
    from robustcs.studies.judge.ask import find_holes, highest_grade
    from robustcs.studies.judge.session import Scale

    listing = list_ or any(call.given[name] for name in ("format", "output", "table"))
    if sum((listing, export is not None, import_ is not None)) > 1:
        raise UsageError("two-modes", "a list, --export and --import together", "do them one after the other")
    pairs = [_pair(text) for text in pair]
    workspace = call.answered()
    scale = Scale(workspace.qrels, max_grade or highest_grade(workspace))
    path = Path(judgments)
    protect([path], growing=True)
    protect([import_] if import_ else [])
    # all files are read before the hole model is fitted, which takes longer than the rest
    holes = find_holes(workspace, top, scale.max_grade, pairs)
    if listing:
        _list(call, holes, workspace, path, scale)
    elif export is not None:
        _export(call, holes, workspace, path, scale, Path(export))
    elif import_ is not None:
        _import(call, holes, workspace.project, path, scale, Path(import_))
    else:
        _sit(call, holes, workspace, path, scale, all_)


def _pair(text: str) -> tuple[str, str]:
    from robustcs.errors import UsageError

    first, comma, second = (part.strip() for part in text.partition(","))
    if not (first and comma and second):
        raise UsageError("bad-pair", f"--pair {text}", "write the names of two systems, such as --pair human,manual_1")
    return first, second


def _list(call: Call, holes: Holes, workspace: Workspace, path: Path, scale: Scale) -> None:
    from robustcs.studies.judge.ask import worklist_of
    from robustcs.studies.judge.session import read_judgments
    from robustcs.studies.judge.show import show

    grades = read_judgments(path, scale)
    if grades:
        workspace.remember("judgments", path, len(grades))
    result, _ = worklist_of(holes, grades)
    call.emit(workspace, result, show(result))


def _export(call: Call, holes: Holes, workspace: Workspace, path: Path, scale: Scale, target: Path) -> None:
    from robustcs.studies.judge.ask import worklist_of
    from robustcs.studies.judge.session import read_judgments
    from robustcs.studies.judge.sheet import refuse_existing, write_sheet

    refuse_existing(target)
    judged = read_judgments(path, scale)
    texts = workspace.texts_of(workspace.qrels.turns).get("human", {})
    passages = _passages(workspace.project, {document for _, document in holes.pairs.keys() - judged.keys()})
    worklist, _ = worklist_of(holes, judged)
    left = worklist.worklist[[pair not in judged for pair in worklist.pairs]]
    write_sheet(target, left, texts, passages)
    call.tell(f"wrote {target}: {len(left)} passages to judge, {len(worklist.pairs) - len(left)} are judged")
    without = len(left) - int(left["document"].isin(list(passages)).sum())
    if without:
        where = workspace.project.collection or "no --collection is given"
        call.tell(f"{without} of them have no text ({where}); they can be graded all the same")
    without = len(set(left["turn"]) - set(texts))
    if without:
        call.tell(f"{without} turns have no Human text; --rewrites human=FILE gives it")


def _import(call: Call, holes: Holes, project: Project, path: Path, scale: Scale, source: Path) -> None:
    from robustcs.studies.judge.session import JudgmentFile
    from robustcs.studies.judge.sheet import read_sheet

    with JudgmentFile(path, scale, project.qrels) as file:
        grades, blank = read_sheet(source, scale, holes.pairs.keys(), file.grades)
        new = [(pair, grade) for pair, grade in grades.items() if pair not in file.grades]
        if new:
            file.append(new)
        judged = sum(pair in file.grades for pair in holes.pairs)
    there = f", {len(grades) - len(new)} were there already" if len(new) < len(grades) else ""
    call.tell(f"added {len(new)} grades to {path}{there}; {blank} rows have none")
    call.tell(f"{judged} of {len(holes.pairs)} passages are judged")


def _sit(call: Call, holes: Holes, workspace: Workspace, path: Path, scale: Scale, all_: bool) -> None:
    from robustcs.studies.judge.ask import worklist_of
    from robustcs.studies.judge.session import JudgmentFile, Session
    from robustcs.studies.judge.terminal import Sitting

    project = workspace.project
    if not holes.pairs:
        call.tell("every passage in the top of these systems is judged")
        return
    texts, passages = readable(workspace, holes.pairs)
    with JudgmentFile(path, scale, project.qrels) as file:
        worklist, outlook = worklist_of(holes, file.grades)
        pairs: list[Pair] = [pair for pair in worklist.pairs if passages.get(pair[1])]
        without = len(holes.pairs) - len(pairs)
        notes = [f"{without} of {len(holes.pairs)} passages have no text in {project.collection} and are left out here;"
                 " --export has them too"] if without else []  # fmt: skip
        Sitting(Session(pairs, file), passages, texts, scale.max_grade, notes, outlook, all_).run()


def readable(workspace: Workspace, pairs: Collection[Pair]) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    """The texts of the turns by formulation, and those of the passages: what cannot be read is not asked for.

    Raises :class:`UsageError` where no turn of the ``pairs`` has a text, or none of their passages.
    """
    from robustcs.errors import UsageError

    project = workspace.project
    texts = workspace.texts_of(workspace.qrels.turns)
    if not {turn for turn, _ in pairs} & {*texts.get("human", {}), *texts.get("original", {})}:
        raise UsageError("no-texts", "no turn to judge has a text", "name the texts with --rewrites human=FILE")
    if project.collection is None:
        raise UsageError(
            "no-collection", "no passages to read are given", "name them with --collection FILE (--list and --export need none)"
        )
    passages = _passages(project, {document for _, document in pairs})
    if not any(passages.values()):
        raise UsageError(
            "no-passages", f"{project.collection} has none of the {len(pairs)} passages to judge",
            "check the passage ids, or judge elsewhere with --export FILE",
        )  # fmt: skip
    return texts, passages


def _passages(project: Project, wanted: set[str]) -> dict[str, str]:
    from robustcs.inputs.collection import read_passages

    return read_passages(project.collection, wanted) if project.collection and wanted else {}


COMMAND = Command(
    """Fill the holes that matter: grade unjudged passages, one topic at a time across all systems.

    Holes are ranked by how much their grade probably changes the differences between the baseline and the sets of every
    group in robustcs.toml, or between all systems where there are no groups; what is judged already says which grades are
    probable. One key is one grade; every grade is on the disk before the next passage appears, and the same command goes on
    where you stopped. Without a terminal, keys are read as lines. Neither systems nor ranks are shown, so that they do not
    sway the judge.

    \b
    Examples:
      robustcs judge --collection collection.jsonl
      robustcs judge --list --top 5
      robustcs judge --export sheet.csv
      robustcs judge --import sheet.csv
      robustcs judge --metric P_1 --output worklist.json
    """,
    uses=(*SYSTEMS, "collection", "metric", "relevance_level", "missing", "order", "depth", "jobs"),
    parameters=(
        click.Option(["--judgments"], default=_JUDGMENTS, show_default=True, metavar="FILE",
                     help="Qrels that the grades are added to; augment and unjudged read it as --new-judgments."),
        click.Option(["--top"], type=click.IntRange(1, MOST), metavar="K",
                     help="Judge the unjudged passages of every top K (default: the largest cut-off of the measures, or 3)."),
        click.Option(["--max-grade"], type=click.IntRange(1, 9), metavar="N",
                     help="Highest grade of the scale (default: the highest in the qrels)."),
        click.Option(["--pair"], multiple=True, metavar="A,B",
                     help="Compare only these two systems (repeatable; default: all of a group with its baseline, or all)."),
        click.Option(["--list", "list_"], is_flag=True,
                     help="Show the worklist only; so do --format, --output and --table."),
        click.Option(["--export"], metavar="FILE", help="Write what is left as a judging sheet (CSV) for a spreadsheet."),
        click.Option(["--import", "import_"], metavar="FILE", help="Add the grades of a filled-in judging sheet."),
        click.Option(["--all", "all_"], is_flag=True, help="Go on when the order of the compared systems is settled."),
    ),
    run=_run,
)  # fmt: skip
