"""The command ``robustcs check``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from robustcs.errors import InputError, Problem, UsageError
from robustcs.studies.study import FORMULATIONS, Call, Command

if TYPE_CHECKING:
    from robustcs.policy import Grouping
    from robustcs.project.workspace import Workspace
    from robustcs.result import Basis
    from robustcs.studies.check.analysis import Check


def ask(workspace: Workspace) -> Check:
    """Check that the input files fit together. All inputs are read and none is changed.

    The output lists unusable files with reasons, missing turns, depth and share of judged passages of each run, texts that are
    missing or have no run, and the commands that can run. Exit code 3: a file is unusable, because it cannot be read or has no
    judged turn.

    Examples:
      robustcs check
      robustcs check --accept
      robustcs check --qrels qrels.txt --run bm25=bm25.trec --table runs
    """
    from robustcs.evaluation.turns import expected_of, notes_on
    from robustcs.inputs.turns import turn_sort_key
    from robustcs.project.marks import told
    from robustcs.project.open_questions import retrievable, with_run
    from robustcs.project.trust import (
        limits_of_qrels,
        limits_of_rows,
        limits_of_sources,
        limits_of_turns,
        misfits,
    )
    from robustcs.result import Evaluated
    from robustcs.studies.check.analysis import Check, run_row, text_rows
    from robustcs.studies.check.readiness import Readiness
    from robustcs.studies.check.steps import collection_fit, doubts
    from robustcs.studies.check.survey import Survey

    waiting: dict[str, Sequence[str]] = {}
    notes: list[str] = []
    changed: list[Problem] = []
    if workspace.project.retrieval is not None:
        try:
            systems = retrievable(workspace, samples=True)
        except InputError as error:
            changed += error.problems  # an edited run; the survey reports other problems
        except UsageError:
            pass  # two systems with the same name; the survey reports them
        else:
            waiting = {system.name: system.open for system in systems}
            for system in systems:
                if system.run and not system.given:
                    workspace = workspace.of(with_run(workspace.project, system, system.run))
    survey = Survey(workspace, waiting)
    survey.problems += [problem for problem in changed if problem not in survey.problems]
    if not survey.files:
        raise UsageError(
            "no-inputs",
            "no inputs are given",
            "add options, or create a robustcs.toml with robustcs init",
        )
    turns = survey.qrels.turns if survey.qrels else sorted(survey.scored, key=turn_sort_key)
    notes += (
        []
        if turns
        else ["no qrels or scores could be read, so the turns of other files cannot be checked"]
    )
    notes += [note for read in (survey.qrels, *survey.matrices) if read for note in read.notes]
    notes += (
        notes_on(expected_of(survey.qrels, workspace.project.policy.documents), survey.runs)
        if survey.qrels
        else []
    )
    notes += [*survey.notes, *doubts(workspace.project, survey)]
    limits = [
        *limits_of_rows(workspace.skipped),
        *limits_of_sources(workspace.project),
        *(limits_of_qrels(survey.qrels) if survey.qrels else []),
    ]
    if fit := collection_fit(workspace, survey):
        notes += misfits(fit)
    by: Grouping = (
        "turn" if workspace.project.policy.unit == "turn" else survey.conversations(turns)
    )
    notes += [limit.reason.rstrip(".") for limit in (*limits, *limits_of_turns(turns, by))]
    if marked := told(workspace.project.marks):
        confirm = "to confirm one, delete its mark; to confirm all, run robustcs check --accept"
        notes.append(f"Roles by file name: {marked}; {confirm}")
    lacking = sum(map(any, zip(*(run.missing for run in survey.runs), strict=True)))
    basis: Basis = "runs" if survey.qrels else "scores" if turns else "texts"
    evaluated = Evaluated(
        workspace.project.policy, basis, len(turns), lacking, tuple(dict.fromkeys(notes))
    )
    problems = (tuple(survey.problems), len(survey.problems) + survey.uncounted)
    readiness = Readiness(workspace, survey)
    content: dict[str, Any] = {
        "files": survey.files, "runs": map(run_row, survey.matrices),
        "texts": text_rows(survey.texts, survey.covered, turns), "commands": readiness.rows(),
        "skipped": survey.skipped,
    }  # fmt: skip
    made = Check(
        evaluated,
        problems,
        readiness.without_input(),
        content=Check.built(**content),
    )
    return made.with_notes(workspace.notes)


def _run(call: Call, *, accept: bool = False) -> None:
    """Run the command.

    accept
        Confirm the roles that init guessed from file names: delete the marks "# by name" from the project file. No
        input is checked.
    """
    from robustcs.studies.check.steps import accept_marks

    if accept:
        accept_marks(call)
        return
    workspace = call.workspace()
    result = ask(workspace)
    call.emit(workspace, result)
    problems, total = result.problems
    if problems:
        raise InputError(problems, total)


COMMAND = Command(ask, (*FORMULATIONS, "runs", "components", "new_judgments", "judges", "paraphrases", "collection",
    "texts", "raw_texts", "relevance_level", "missing", "order", "depth", "documents", "jobs",
    "dask"), retrieves=False, run=_run,
)  # fmt: skip
