"""The two sides of a comparison, each with its state: projects, reports, or runs and per-turn scores."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from robustcs.errors import UsageError
from robustcs.evaluation.holes import JudgedRun
from robustcs.evaluation.state import ProjectState
from robustcs.inputs.paths import StrPath, shown
from robustcs.overwrite_guard import CONFIG_NAME
from robustcs.policy import EvaluationPolicy
from robustcs.project.model import Project
from robustcs.project.reading import read_project
from robustcs.project.state import STATE, read_state, state_of
from robustcs.project.workspace import Workspace
from robustcs.studies.compare.cases import SCORING
from robustcs.studies.compare.files import are_projects, projects_of


@dataclass(frozen=True)
class Opened:
    """A side: its state, the files read for it (path, role, rows), and its workspace and runs if available."""

    state: ProjectState
    read: Sequence[tuple[StrPath, str, int]]
    workspace: Workspace | None = None
    runs: Mapping[str, JudgedRun] | None = None


def called_by(given: Any, keyword: str) -> str:
    """Return the name of a side: its path, or the name of its project, or ``keyword`` for a Python object."""
    if isinstance(given, Project):
        return given.name if given.name != Project.name else f"the {keyword} project"
    return shown(given) if isinstance(given, str | os.PathLike) else keyword


def opened(workspace: Workspace, old: Any, new: Any) -> list[Opened]:
    """Read both sides. The measures, thresholds and policy of ``workspace`` replace those of projects; runs use its qrels, too.

    Raises :class:`UsageError` for sides that cannot be compared, and the errors of reading them.
    """
    if are_projects(old, new):
        _refuse_scoring(workspace.project)
        return [_project(workspace, given) for given in (old, new)]
    return [
        _of(workspace.of(project), scores) for project, scores in projects_of(old, new, workspace)
    ]


def _refuse_scoring(requested: Project) -> None:
    """Raise :class:`UsageError` if qrels or a policy are given for projects, which have their own."""
    changed = [
        key for key in SCORING if getattr(requested.policy, key) != getattr(EvaluationPolicy(), key)
    ]
    for key in ["qrels"] * bool(requested.qrels) + changed:
        option = f"--{key.replace('_', '-')}"
        found = f"{option} is given, but OLD and NEW are projects"
        raise UsageError("own-settings", found, f"set {key} in both projects, or compare two runs")


def _project(workspace: Workspace, given: Any) -> Opened:
    requested = workspace.project
    if not isinstance(given, Project):
        path = Path(given)
        kept = path if path.name == Path(STATE).name else path / STATE
        project_file = path / CONFIG_NAME if path.is_dir() else path
        if path == kept or (path.is_dir() and not project_file.is_file()):
            if not kept.is_file():
                advice = f"name a folder with {CONFIG_NAME}, this file, or a report folder"
                raise UsageError(
                    "no-state", f"{path} has neither {CONFIG_NAME} nor {STATE}", advice
                )
            state = read_state(kept)
            return Opened(
                _with_requested(state, requested), [(str(kept), "state", len(state.systems))]
            )
        given = read_project(project_file)
    project = replace(
        given,
        metrics=tuple(workspace.averaged(requested.metrics or given.metrics, given=True)),
        thresholds=requested.thresholds or given.thresholds,
        policy=replace(given.policy, strict=given.policy.strict or requested.policy.strict),
    )
    return _of(workspace.of(project))


def _of(side: Workspace, scores: Mapping[str, Path] | None = None) -> Opened:
    state, runs = state_of(side, scores)
    read = [
        (side.paths.get(entry["path"], entry["path"]), entry["role"], entry["rows"])
        for entry in side.read
    ]
    return Opened(state, read, side, runs)


def _with_requested(state: ProjectState, requested: Project) -> ProjectState:
    """Return the state with the requested measures and thresholds."""
    names = [measure.name for measure in requested.metrics]
    systems = {
        name: replace(
            system,
            scores={metric: system.scores[metric] for metric in names if metric in system.scores},
        )
        for name, system in state.systems.items()
    }
    if names:
        state = replace(state, systems=systems)
    return (
        replace(state, thresholds=tuple(map(str, requested.thresholds)))
        if requested.thresholds
        else state
    )
