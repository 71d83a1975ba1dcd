"""The two sides of a comparison, each with its state: projects, reports, or runs and per-turn scores."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from robustcs.errors import UsageError, input_error
from robustcs.evaluation.holes import JudgedRun
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.inputs.files import sha256
from robustcs.inputs.paths import StrPath, shown
from robustcs.inputs.readings import reading_once
from robustcs.overwrite_guard import CONFIG_NAME
from robustcs.policy import EvaluationPolicy
from robustcs.project.judged_runs import judged_runs
from robustcs.project.model import Project
from robustcs.project.reading import read_project
from robustcs.project.report_files import files_of_report
from robustcs.project.turns import TurnInputs
from robustcs.project.workspace import Workspace
from robustcs.records.reading import read_turns
from robustcs.records.record import TURNS, TurnRecords
from robustcs.records.schema import Graded
from robustcs.studies.compare.cases import SCORING
from robustcs.studies.compare.files import are_projects, projects_of
from robustcs.studies.compare.from_records import (
    digests_of_kept,
    kept_matrix,
    kept_rankings,
    state_of,
    with_bounds,
    with_rankings,
    with_rest,
)
from robustcs.studies.compare.states import ProjectState
from robustcs.studies.fields import turns_of, turns_of_file

#: What a report of an earlier version has in place of :data:`TURNS`.
_EARLIER = "state.json"


@dataclass(frozen=True)
class Opened:
    """A side.

    turns
        The records of its turns.
    read
        The files read for it: path, role, rows.
    workspace, runs, files
        Of a project, its inputs, its runs on the turns that count, and their files.
    rankings
        Of a report, run → turn → the passages that its records keep.
    kept
        Of a report that does not keep whole rankings, the rank to which it keeps them.
    """

    state: ProjectState
    turns: TurnRecords
    read: Sequence[tuple[StrPath, str, int]]
    workspace: Workspace | None = None
    runs: Mapping[str, JudgedRun] = field(default_factory=dict)
    files: Mapping[str, Path] = field(default_factory=dict)
    rankings: Mapping[str, Mapping[str, Sequence[Graded]]] = field(default_factory=dict)
    kept: int | None = None


def called_by(given: Any, keyword: str) -> str:
    """Return the name of a side: its path, or the name of its project, or ``keyword`` for a Python object."""
    if isinstance(given, Project):
        return given.name if given.name != Project.name else f"the {keyword} project"
    return shown(given) if isinstance(given, str | os.PathLike) else keyword


@reading_once()
def opened(workspace: Workspace, old: Any, new: Any, outcomes: bool = False) -> list[Opened]:
    """Read both sides. The measures, thresholds and policy of ``workspace`` replace those of projects; runs use its qrels, too.

    Rankings are compared down to the rank to which the reports among them keep them. ``outcomes``: also read the outcomes of
    answers where these have rankings or other scores, too.

    Raises :class:`UsageError` for sides that cannot be compared, and the errors of reading them.
    """
    if not are_projects(old, new):
        return [
            _of(workspace.of(project), outcomes, scores=scores)
            for project, scores in projects_of(old, new, workspace)
        ]
    _refuse_scoring(workspace.project)
    files = [_turns_file(given) for given in (old, new)]
    recorded = [None if path is None else turns_of_file(read_turns(path)) for path in files]
    kept = [None if turns is None else _kept(turns) for turns in recorded]
    depth = min((rank for rank in kept if rank is not None), default=None)
    sides = []
    for given, path, turns, rank in zip((old, new), files, recorded, kept, strict=True):
        if path is None or turns is None:
            sides.append(_project(workspace, given, outcomes, depth))
        else:
            side = _report(workspace, path, turns, outcomes, depth)
            sides.append(replace(side, kept=rank))
    return sides


def _refuse_scoring(requested: Project) -> None:
    """Raise :class:`UsageError` if qrels or a policy are given for projects, which have their own."""
    changed = [
        key for key in SCORING if getattr(requested.policy, key) != getattr(EvaluationPolicy(), key)
    ]
    for key in ["qrels"] * bool(requested.qrels) + changed:
        option = f"--{key.replace('_', '-')}"
        found = f"{option} is given, but OLD and NEW are projects"
        raise UsageError("own-settings", found, f"set {key} in both projects, or compare two runs")


def _turns_file(given: Any) -> Path | None:
    """Return the file of records that stands for a side; None for a project.

    Raises :class:`UsageError` for a folder with neither, and :class:`InputError` for a file that
    was changed since its report was written, or a report of an earlier version.
    """
    if isinstance(given, Project):
        return None
    path = Path(given)
    if path.name == TURNS:
        return path
    if not path.is_dir() and path.name != _EARLIER:
        return None
    folder = path if path.is_dir() else path.parent
    if path.is_dir() and (folder / CONFIG_NAME).is_file():
        return None
    if (folder / TURNS).is_file():
        return folder / TURNS
    if (folder / _EARLIER).is_file():
        raise input_error(
            folder / _EARLIER,
            None,
            f"the report was written by an earlier version, which kept no {TURNS}",
            "run robustcs report again, or name the project file",
            "bad-turns",
        )
    advice = f"name a folder with {CONFIG_NAME}, this file, or a report folder"
    raise UsageError("no-state", f"{path} has neither {CONFIG_NAME} nor {TURNS}", advice)


def _kept(turns: TurnRecords) -> int | None:
    """Return the rank to which records keep rankings; None if they keep them to their end."""
    details = turns.details
    for turn in turns.table.ids:
        for name in details.systems:
            ranking = details.ranking(name, turn)
            if ranking is not None and details.retrieved(name, turn)[0] > len(ranking):
                return details.longest
    return None


def _report(
    workspace: Workspace, path: Path, turns: TurnRecords, outcomes: bool, depth: int | None
) -> Opened:
    """Return the side of a report. Raises :class:`InputError` if its file was changed since."""
    checksum = files_of_report(path.parent).get(TURNS)
    if checksum is not None and checksum != sha256(path):
        raise input_error(
            path,
            None,
            "it was changed since the report was written",
            "run robustcs report again, or name the project file",
            "bad-turns",
        )
    details, requested = turns.details, workspace.project
    measures = [measure.name for measure in requested.metrics]
    state = state_of(turns, measures, list(map(str, requested.thresholds)), outcomes)
    rankings = kept_rankings(details, state)
    state = with_rest(with_rankings(state, digests_of_kept(rankings, depth)), rankings, details)
    matrices = {name: kept_matrix(name, own, details) for name, own in rankings.items()}
    grades = [grade for turn in turns.table.ids for grade in details.judged(turn)]
    state = with_bounds(state, matrices, max([0, *grades]))
    return Opened(
        replace(state, depth=depth),
        turns,
        [(str(path), "turns", len(turns.table.ids))],
        rankings=rankings,
    )


def _project(workspace: Workspace, given: Any, outcomes: bool, depth: int | None) -> Opened:
    requested = workspace.project
    if not isinstance(given, Project):
        path = Path(given)
        given = read_project(path / CONFIG_NAME if path.is_dir() else path)
    project = replace(
        given,
        metrics=tuple(workspace.averaged(requested.metrics or given.metrics, given=True)),
        thresholds=requested.thresholds or given.thresholds,
        policy=replace(given.policy, strict=given.policy.strict or requested.policy.strict),
    )
    return _of(workspace.of(project), outcomes, depth)


def _of(
    side: Workspace,
    outcomes: bool,
    depth: int | None = None,
    scores: Mapping[str, Path] | None = None,
) -> Opened:
    """Return the side of a project; ``scores``: name → per-turn scores of further systems."""
    inputs = TurnInputs(side, further=scores, apart=True)
    files = inputs.runs
    if not inputs.files and inputs.answer_inputs is None:
        side.require_runs()
    read = judged_runs(side, files, depth) if files else {}
    inputs.tops = {name: run.top for name, run in read.items()}
    turns = turns_of(inputs)
    state = state_of(turns, outcomes=outcomes)
    state = with_rankings(state, {name: run.digests for name, run in read.items()})
    matrices = {name: run.judged.matrix for name, run in read.items()}
    unjudged = {
        name: np.asarray((matrix.grades == UNJUDGED).sum(axis=1))
        for name, matrix in matrices.items()
    }
    highest = max(int(side.qrels.grades.max()), 0) if read else 0
    state = with_bounds(
        state, {name: (matrices[name], unjudged[name]) for name in matrices}, highest
    )
    return Opened(
        replace(state, depth=depth),
        turns,
        [
            (side.paths.get(entry["path"], entry["path"]), entry["role"], entry["rows"])
            for entry in side.read
        ],
        side,
        {name: run.judged for name, run in read.items()},
        files,
    )
