"""``robustcs check``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robustcs.errors import InputError, Problem, UsageError
from robustcs.evaluation.measure import ANSWER_FAMILIES, averaged, parse_measure
from robustcs.evaluation.measures import evaluate
from robustcs.evaluation.turns import expected_of, notes_on
from robustcs.inputs.turns import turn_sort_key
from robustcs.overwrite_guard import CONFIG_NAME
from robustcs.policy import Grouping
from robustcs.project.marks import told, without_marks
from robustcs.project.model import Formulation, Project
from robustcs.project.open_questions import retrievable, with_run
from robustcs.project.text_run_match import FEW, fit, ranked_alike
from robustcs.project.trust import (
    customary_level,
    fit_of,
    limits_of_qrels,
    limits_of_rows,
    limits_of_sources,
    limits_of_turns,
    misfits,
)
from robustcs.project.workspace import Workspace
from robustcs.result import Basis, Evaluated
from robustcs.studies.check.analysis import Check, run_row, text_rows
from robustcs.studies.check.readiness import Readiness
from robustcs.studies.check.survey import Survey
from robustcs.studies.study import FORMULATIONS, Call, Command
from robustcs.wording import counted, some_of, told_once, verb

if TYPE_CHECKING:
    from robustcs.evaluation.collection_fit import CollectionFit

#: Measure by which Human and Original are compared.
_MEASURE = parse_measure("ndcg_cut_3")
#: Human rewrites are usually longer than Original questions; the reverse ratio above this raises a doubt.
_LONGER = 1.05


def doubts(project: Project, survey: Survey) -> list[str]:
    """Return notes on inputs to verify before relying on any number."""
    return [
        *_levels(project, survey),
        *_depths(project, survey),
        *_swapped(project, survey),
        *_texts(project, survey),
    ]


def _levels(project: Project, survey: Survey) -> list[str]:
    qrels, level = survey.qrels, project.policy.relevance_level
    if qrels is None or not len(qrels):
        return []
    highest = int(qrels.grades.max())
    usual, collection = customary_level(qrels.documents.take(slice(100)).texts(), highest)
    if highest < level:
        return [
            f"relevance_level is {level}, but no passage has a grade of {level} or more: all binary measures are 0"
        ]
    if collection and level < usual:
        return [f"relevance_level is {level}; {collection} uses {usual} for binary measures"]
    return []


def _depths(project: Project, survey: Survey) -> list[str]:
    notes = []
    deepest = {matrix.name: int(matrix.retrieved.max(initial=0)) for matrix in survey.matrices}
    for measure in averaged(project.metrics, totals=True):
        short = [
            f"{name} ({depth})"
            for name, depth in deepest.items()
            if 0 < depth < (measure.cutoff or 0)
        ]
        if short and measure.family not in ANSWER_FAMILIES:
            runs = verb(len(short), "this run contains", "these runs contain")
            notes.append(
                f"{measure.name} needs more passages per turn than {runs}: {', '.join(short)}"
            )
    own = {
        part.name: deepest[part.name]
        for part in project.formulations.values()
        if deepest.get(part.name)
    }
    if own and max(own.values()) > 2 * min(own.values()):
        depths = ", ".join(f"{name} {depth}" for name, depth in own.items())
        notes.append(
            f"formulations differ in depth ({depths} passages), which affects overlap, recall and MAP"
        )
    return notes


def _swapped(project: Project, survey: Survey) -> list[str]:
    """Return notes if Human has lower scores or shorter texts than Original."""
    notes = []
    means = {
        matrix.name: float(np.mean(evaluate(matrix, [_MEASURE], project.policy)[_MEASURE.name]))
        for matrix in survey.matrices
        if matrix.name in ("original", "human") and not matrix.missing.all()
    }
    if len(means) == 2 and means["human"] < means["original"]:
        notes.append(
            f"Human scores below Original ({_MEASURE.label} {means['human']:.3f} and {means['original']:.3f}); check that the"
            " two files are not swapped"
        )
    words = {
        name: float(np.mean([len(text.split()) for text in survey.texts[name].values()]))
        for name in ("original", "human")
        if survey.texts.get(name)
    }
    if len(words) == 2 and words["original"] > _LONGER * words["human"]:
        notes.append(
            f"Original texts are longer than Human texts ({words['original']:.1f} and {words['human']:.1f} words on average);"
            " check that the two files are not swapped"
        )
    return notes


def _texts(project: Project, survey: Survey) -> list[str]:
    """Return notes on judged turns without a text, and on runs that were made for other texts."""
    judged = survey.qrels.turns if survey.qrels else ()
    without = []
    for part in project.formulations.values():
        texts = survey.texts.get(part.name)
        lacking = [turn for turn in judged if turn not in texts] if texts else []
        if lacking and len(lacking) < len(judged):
            without.append(
                (
                    "no text of ",
                    part.name,
                    f" for {counted(len(lacking), 'judged turn')} ({some_of(lacking)})",
                )
            )
    notes = told_once(without)
    order = ("human", "qr", "original")
    parts = sorted(project.formulations.values(), key=lambda part: order.index(part.role))
    for one, other in combinations(parts, 2):
        notes += _apart(survey, other, one)
    return notes


def _apart(survey: Survey, part: Formulation, other: Formulation) -> list[str]:
    """Return notes if equal questions have different rankings: then one of the runs was made for other texts."""
    name, than = part.name, "Human" if other.role == "human" else other.name
    orders, theirs = survey.orders.get(part.name), survey.orders.get(other.name)
    if not orders or not theirs:
        return []
    alike = ranked_alike(orders, theirs)
    if len(alike) >= FEW and all(alike.values()):
        return [
            f"{name} and {other.name} have the same ranking for every turn; check that they are not the same run"
        ]
    return fit(survey.texts.get(part.name, {}), survey.texts.get(other.name, {}), alike).doubts(
        name, than
    )


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
    if fit := _fit(workspace, survey):
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
        "texts": text_rows(survey.texts, survey.answered, turns), "commands": readiness.rows(),
        "skipped": survey.skipped,
    }  # fmt: skip
    made = Check(
        evaluated,
        problems,
        readiness.without_input(),
        content=Check.built(**content),
    )
    return made.with_notes(workspace.notes)


def _fit(workspace: Workspace, survey: Survey) -> CollectionFit | None:
    """Return how far the judgments fit the collection and the runs; None if one of these files is broken."""
    runs = workspace.project.systems
    if (
        survey.qrels is None
        or survey.passages is None
        or survey.broken.keys() & {f"{name} run" for name in runs}
    ):
        return None
    try:
        return fit_of(workspace, {name: (name, path) for name, path in runs.items()})
    except InputError as error:  # a line of the collection behind the judged passages
        survey.refuse("collection", error)
        return None


def _accept(call: Call) -> None:
    """Delete the marks of the project file."""
    from robustcs.documents.files import replace_project

    path = call.given["config"] or CONFIG_NAME
    if not os.path.isfile(path):
        raise UsageError(
            "no-project",
            f"{path}: no such project file",
            "create one with robustcs init, or use --config FILE",
        )
    project = call.project  # a project that cannot be read is not changed
    text, count = without_marks(Path(path).read_bytes().decode("utf-8", "surrogateescape"))
    if count:
        replace_project(path, text)
    whose = told(project.marks)
    call.tell(f"deleted {counted(count, 'mark')} from {path}" + (f": {whose}" if whose else ""))


def _run(call: Call, *, accept: bool = False) -> None:
    """Run the command.

    accept
        Confirm the roles that init guessed from file names: delete the marks "# by name" from the project file. No
        input is checked.
    """
    if accept:
        _accept(call)
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
