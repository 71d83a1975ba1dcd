"""``robustcs judge``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from robustcs.cli.options import MOST, Options, shared_options
from robustcs.cli.retrieved import load_project_with_runs
from robustcs.cli.terminal import tell

if TYPE_CHECKING:
    from robustcs.evaluation.measures import Measure
    from robustcs.project.model import Project
    from robustcs.project.workspace import Workspace
    from robustcs.studies.judge.analysis import Pair, Worklist
    from robustcs.studies.judge.session import Scale

#: What CAsT ranks systems by.
_DEFAULT_METRIC = "ndcg_cut_3"
#: The depth at which CAsT 2020's holes were judged, where the measures have no cut-off of their own.
_DEFAULT_TOP = 3
_JUDGMENTS = "judgments.txt"


@click.command(short_help="Grade the unjudged passages that matter.")
@click.option("--judgments", default=_JUDGMENTS, show_default=True, metavar="FILE",
              help="Qrels that the grades are added to; augment and unjudged read it as --new-judgments.")
@click.option("--collection", metavar="FILE", help="Passages: JSONL with id and contents, or id TAB text.")
@click.option("--top", type=click.IntRange(1, MOST), metavar="K",
              help="Judge the unjudged passages of every top K (default: the largest cut-off of the measures, or 3).")
@click.option("--max-grade", type=click.IntRange(1, 9), metavar="N",
              help="Highest grade of the scale (default: the highest in the qrels).")
@click.option("--list", "list_", is_flag=True, help="Show the worklist only; so do --format, --output and --table.")
@click.option("--export", metavar="FILE", help="Write what is left as a judging sheet (CSV) for a spreadsheet.")
@click.option("--import", "import_", metavar="FILE", help="Add the grades of a filled-in judging sheet.")
@shared_options
def judge(
    options: Options,
    judgments: str,
    collection: str | None,
    top: int | None,
    max_grade: int | None,
    list_: bool,
    export: str | None,
    import_: str | None,
) -> None:
    """Fill the holes that matter: grade unjudged passages, one topic at a time across all systems.

    Holes are ranked by how much their grade could change the differences between the baseline and the sets of every group
    in robustcs.toml, or between all systems where there are no groups. One key is one grade; every grade is on the disk
    before the next passage appears, and the same command goes on where you stopped. Without a terminal, keys are read as
    lines. Neither systems nor ranks are shown, so that they do not sway the judge.

    \b
    Examples:
      robustcs judge --collection collection.jsonl
      robustcs judge --list --top 5
      robustcs judge --export sheet.csv
      robustcs judge --import sheet.csv
      robustcs judge --metric P_1 --output worklist.json
    """
    from robustcs.cli.progress import track
    from robustcs.errors import UsageError
    from robustcs.project.workspace import Workspace
    from robustcs.protected import protect
    from robustcs.studies.judge.session import Scale

    listing = list_ or bool(options.format or options.output or options.table)
    if sum((listing, export is not None, import_ is not None)) > 1:
        raise UsageError("two-modes", "a list, --export and --import together", "do them one after the other")
    project = load_project_with_runs(options)
    if collection:
        project = replace(project, collection=Path(collection))
    workspace = Workspace(project, options.jobs, track)
    scale = Scale(workspace.qrels, max_grade or _highest(workspace))
    path = Path(judgments)
    protect([path], growing=True)
    protect([import_] if import_ else [])
    worklist = _worklist(workspace, top, scale.max_grade)
    if listing:
        _list(worklist, workspace, path, scale, options)
    elif export is not None:
        _export(worklist, workspace, path, scale, Path(export))
    elif import_ is not None:
        _import(worklist, project, path, scale, Path(import_))
    else:
        _sit(worklist, workspace, path, scale)


def _highest(workspace: Workspace) -> int:
    from robustcs.errors import UsageError

    highest = int(workspace.qrels.grades.max())
    if not 1 <= highest <= 9:
        raise UsageError("no-scale", f"the highest grade in the qrels is {highest}", "name the scale's with --max-grade 1 to 9")
    return highest


def _worklist(workspace: Workspace, top: int | None, max_grade: int) -> Worklist:
    from robustcs.studies.judge.analysis import find_holes, judging_worklist, reach

    project = workspace.project
    workspace.require_runs()
    names, comparisons = _comparisons(project)
    measures = _measures(project)
    top = top or max((measure.cutoff or 0 for measure in measures), default=0) or _DEFAULT_TOP
    qrels = workspace.qrels
    depth = reach(measures, top)
    files = workspace.system_files(names)
    holes = workspace.per_run(files, lambda ranking: find_holes(ranking, qrels, depth))
    turns = workspace.count_turns(names, files, [one.matrix for one in holes], holes=True)
    systems = dict(zip(names, holes, strict=True))
    return judging_worklist(systems, comparisons, measures, project.policy, top, max_grade, turns, qrels.notes)


def _measures(project: Project) -> list[Measure]:
    from robustcs.errors import UsageError
    from robustcs.evaluation.measures import ANSWER_FAMILIES
    from robustcs.project.workspace import parse_measures

    measures = parse_measures(project.metrics or (_DEFAULT_METRIC,))
    for measure in measures:
        if measure.family in ANSWER_FAMILIES:
            raise UsageError("not-a-ranking", f"{measure.name} does not score rankings", "use a measure such as ndcg_cut_3")
    return measures


def _comparisons(project: Project) -> tuple[list[str], list[tuple[str, str]]]:
    """The systems to look at, and which of them are compared: the groups' baselines with their sets, or all pairs."""
    from itertools import combinations

    systems = project.systems
    if not project.groups:
        return list(systems), list(combinations(systems, 2))
    pairs = [(group.baseline, name) for group in project.groups.values() for name in group.sets]
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    return names, list(dict.fromkeys(pairs))


def _list(worklist: Worklist, workspace: Workspace, path: Path, scale: Scale, options: Options) -> None:
    from robustcs.cli.output import emit
    from robustcs.inputs.files import sha256
    from robustcs.studies.judge.analysis import with_grades
    from robustcs.studies.judge.session import read_judgments
    from robustcs.studies.judge.show import present_worklist

    grades = read_judgments(path, scale)
    if grades:
        entry = {"role": "judgments", "path": str(path), "sha256": sha256(path), "rows": len(grades)}
        workspace.inputs.append(entry)
    result = with_grades(worklist, grades)
    emit("judge", result, present_worklist(result), workspace.inputs, options)


def _export(worklist: Worklist, workspace: Workspace, path: Path, scale: Scale, target: Path) -> None:
    from robustcs.studies.judge.session import read_judgments
    from robustcs.studies.judge.sheet import write_sheet

    judged = read_judgments(path, scale)
    left = worklist.worklist[[pair not in judged for pair in worklist.pairs]]
    texts = workspace.texts_of(workspace.qrels.turns).get("human", {})
    passages = _passages(workspace.project, set(left["document"]))
    write_sheet(target, left, texts, passages)
    tell(f"wrote {target}: {len(left)} passages to judge, {len(worklist.pairs) - len(left)} are judged")
    without = len(left) - int(left["document"].isin(list(passages)).sum())
    if without:
        where = workspace.project.collection or "no --collection is given"
        tell(f"{without} of them have no text ({where}); they can be graded all the same")
    without = len(set(left["turn"]) - set(texts))
    if without:
        tell(f"{without} turns have no Human text; --rewrites human=FILE gives it")


def _import(worklist: Worklist, project: Project, path: Path, scale: Scale, source: Path) -> None:
    from robustcs.studies.judge.session import JudgmentFile
    from robustcs.studies.judge.sheet import read_sheet

    with JudgmentFile(path, scale, project.qrels) as file:
        grades, blank = read_sheet(source, scale, frozenset(worklist.pairs), file.grades)
        new = [(pair, grade) for pair, grade in grades.items() if pair not in file.grades]
        if new:
            file.append(new)
        judged = sum(pair in file.grades for pair in worklist.pairs)
    there = f", {len(grades) - len(new)} were there already" if len(new) < len(grades) else ""
    tell(f"added {len(new)} grades to {path}{there}; {blank} rows have none")
    tell(f"{judged} of {len(worklist.pairs)} passages are judged")


def _sit(worklist: Worklist, workspace: Workspace, path: Path, scale: Scale) -> None:
    from robustcs.errors import UsageError
    from robustcs.studies.judge.session import JudgmentFile, Session
    from robustcs.studies.judge.terminal import Sitting

    project = workspace.project
    if not worklist.pairs:
        tell("every passage in the top of these systems is judged")
        return
    texts = workspace.texts_of(workspace.qrels.turns)
    turns = set(worklist.worklist["turn"])
    if not turns & {*texts.get("human", {}), *texts.get("original", {})}:
        raise UsageError("no-texts", "no turn to judge has a text", "name the texts with --rewrites human=FILE")
    if project.collection is None:
        raise UsageError(
            "no-collection", "no passages to read are given", "name them with --collection FILE (--list and --export need none)"
        )
    passages = _passages(project, set(worklist.worklist["document"]))
    # what cannot be read is not asked for: a blind grade would look like any other
    readable: list[Pair] = [pair for pair in worklist.pairs if passages.get(pair[1])]
    without = len(worklist.pairs) - len(readable)
    if not readable:
        raise UsageError(
            "no-passages", f"{project.collection} has none of the {without} passages to judge",
            "check the passage ids, or judge elsewhere with --export FILE",
        )  # fmt: skip
    with JudgmentFile(path, scale, project.qrels) as file:
        notes = [f"{without} of {len(worklist.pairs)} passages have no text in {project.collection} and are left out here;"
                 " --export has them too"] if without else []  # fmt: skip
        Sitting(Session(readable, file), passages, texts, scale.max_grade, notes).run()


def _passages(project: Project, wanted: set[str]) -> dict[str, str]:
    from robustcs.inputs.collection import read_passages

    return read_passages(project.collection, wanted) if project.collection and wanted else {}
