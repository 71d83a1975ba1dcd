"""Steps of ``robustcs check``: look for inputs that are complete but probably wrong."""

from __future__ import annotations

import os
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robustcs.errors import InputError, UsageError
from robustcs.evaluation.measure import ANSWER_FAMILIES, averaged, parse_measure
from robustcs.evaluation.measures import evaluate
from robustcs.overwrite_guard import CONFIG_NAME
from robustcs.project.marks import told, without_marks
from robustcs.project.model import Formulation, Project
from robustcs.project.text_run_match import FEW, fit, ranked_alike
from robustcs.project.trust import customary_level, fit_of
from robustcs.project.workspace import Workspace
from robustcs.studies.check.survey import Survey
from robustcs.studies.study import Call
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


def collection_fit(workspace: Workspace, survey: Survey) -> CollectionFit | None:
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


def accept_marks(call: Call) -> None:
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
