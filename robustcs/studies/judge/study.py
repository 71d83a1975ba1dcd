"""The command ``robustcs judge``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from robustcs.errors import UsageError
from robustcs.studies.signature import File, Opt, at_least
from robustcs.studies.study import SCORING, SYSTEMS, Call, Command

if TYPE_CHECKING:
    from robustcs.project.workspace import Workspace
    from robustcs.studies.judge.analysis import Worklist


def ask(
    workspace: Workspace,
    *,
    top: Annotated[int, at_least(1, metavar="K")] | None = None,
    max_grade: Annotated[int, at_least(1, 9)] | None = None,
    pairs: Sequence[tuple[str, str]] = (),
) -> Worklist:
    """Judge the unjudged passages that matter most for the comparison.

    The command compares the baseline with the sets of each group in robustcs.toml, or all systems if there are no groups.
    It starts with the passages whose grades are expected to change these differences most. The hole model predicts the grades
    from the existing judgments. You judge one topic at a time.

    Press one key to assign a grade. Each grade is saved immediately, and the same command continues where you stopped.
    Without a terminal, keys are read as lines from standard input. Systems and ranks are hidden to avoid bias. Judging stops
    when the order of all compared systems is settled.

    --with asks a program instead (docs/judge.md). Its grades go to a separate file and are never mixed with human judgments.

    top
        Judge the unjudged passages in the top K of each system (default: the largest cutoff of the measures, or 3).

    max_grade
        Highest grade of the scale (default: the highest grade in the qrels).

    Raises :class:`UsageError` without qrels or runs, and for a measure of answers.

    Examples:
      robustcs judge --collection collection.jsonl
      robustcs judge --list --top 5
      robustcs judge --export sheet.csv
      robustcs judge --import sheet.csv
      robustcs judge --with 'python ask_model.py' --copies 4 --limit 200
      robustcs judge --metric P_1 --output worklist.json
    """
    from robustcs.studies.judge.outlook import find_holes, worklist_of

    return worklist_of(find_holes(workspace, top, max_grade, pairs))[0]


def _run(
    call: Call,
    top: int | None,
    max_grade: int | None,
    judgments: File = "judgments.txt",
    pair: Annotated[tuple[str, ...], Opt("A,B", rare=True)] = (),
    list_: bool = False,
    export: File | None = None,
    import_: File | None = None,
    all_: bool = False,
    command: Annotated[str, Opt("COMMAND", flag="--with")] | None = None,
    name: Annotated[str, Opt("NAME", flag="--as", needs="--with")] | None = None,
    also_judged: Annotated[int, at_least(0, needs="--with", rare=True)] = 0,
    limit: Annotated[int, at_least(1, needs="--with")] | None = None,
    batch: Annotated[int, at_least(1, needs="--with", rare=True)] = 32,
    copies: Annotated[int, at_least(1, 256, needs="--with", rare=True)] = 1,
    retries: Annotated[int, at_least(0, 100, needs="--with", rare=True)] = 2,
    timeout: Annotated[int, at_least(1, 604_800, "SECONDS", needs="--with", rare=True)] = 600,
) -> None:
    """Judge at the terminal, in a spreadsheet or with a program, or list the passages to judge.

    judgments
        Qrels file for the grades. augment and unjudged read it with --new-judgments.

    pair
        Compare only these two systems (repeatable; default: the baseline of each group with its sets, or all pairs).

    list_
        Show the passages to judge and exit. --format, --output and --table imply this option.

    export
        Write the remaining passages to a judging sheet (CSV) for a spreadsheet.

    import_
        Add the grades of a filled-in judging sheet.

    all_
        Continue after the order of the compared systems is settled.

    command
        Program that judges instead of you. It reads and writes one JSON object per line. Its grades go to judge-NAME.jsonl.

    name
        Judge name of the program (default: the name of its script). If [judges] has this name, the grades are added to the
        file of that judge.

    also_judged
        Ask also about N human-judged passages, drawn at random, so that audit can measure the agreement.

    limit
        Ask about at most N passages in this call.

    batch
        Check for convergence every N passages. The program is started once per batch.

    copies
        Run N copies of the program in parallel.

    retries
        Retry unanswered passages up to N times.

    timeout
        Stop the program after SECONDS without a useful answer.
    """
    from robustcs.overwrite_guard import protect
    from robustcs.programs.runner import ProgramCall
    from robustcs.project.requirements import highest_grade
    from robustcs.studies.judge.outlook import find_holes
    from robustcs.studies.judge.session import GradeScale
    from robustcs.studies.judge.steps import Desk, pair_of

    listing = list_ or any(call.given[name] for name in ("format", "output", "table"))
    if sum((listing, export is not None, import_ is not None, command is not None)) > 1:
        raise UsageError(
            "two-modes",
            "a list, --export, --import and --with cannot be combined",
            "use one of them per call",
        )
    if all_ and (listing or export is not None or import_ is not None):
        raise UsageError(
            "idle-option", "--all has no effect on a list, --export and --import", "leave it out"
        )
    pairs = [pair_of(text) for text in pair]
    workspace = call.with_runs()
    scale = GradeScale(workspace.qrels, max_grade or highest_grade(workspace.qrels))
    path = Path(judgments)
    protect([path], growing=True)
    protect([import_] if import_ else [])
    # read all files first: fitting the hole model takes longer, so errors in files should come before it
    desk = Desk(call, find_holes(workspace, top, scale.max_grade, pairs), workspace, path, scale)
    if listing:
        desk.list()
    elif export is not None:
        desk.export(Path(export))
    elif import_ is not None:
        desk.take(Path(import_))
    elif command is not None:
        program = ProgramCall(command, copies, retries, timeout)
        desk.call_program(program, name, also_judged, batch=batch, limit=limit, to_the_end=all_)
    else:
        desk.sit(all_)


COMMAND = Command(ask, (*SYSTEMS, "collection", *SCORING), run=_run)
