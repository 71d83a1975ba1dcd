"""Scores of any systems, from runs or from per-turn scores, and their comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from robustcs.errors import UsageError
from robustcs.evaluation.measures import ANSWER_FAMILIES, NATIVE, parse_measure
from robustcs.project.scoring import ScoredFile, file_of
from robustcs.project.workspace import Workspace
from robustcs.statistics.units import units_of
from robustcs.studies.evaluate.analysis import Evaluation, evaluate

if TYPE_CHECKING:
    import pandas as pd


def ask(
    workspace: Workspace,
    *,
    scores: Mapping[str, str | Path] | None = None,
    baseline: str | None = None,
    margin: float | None = None,
) -> Evaluation:
    """Means of systems with intervals, and their pairs with tests, effect sizes and what could have been found.

    scores
        Name → per-turn scores (trec_eval -q): further systems, or in place of those of the same name.
    baseline
        The system that all others are compared with; by default every pair is compared.
    margin
        Say which pairs differ by less than this: their whole 95 % interval lies inside ± ``margin``.
    """
    files = _systems(workspace, scores or {})
    measures, notes = workspace.ranking_measures(())
    frames, evaluated = workspace.scores_of(files, measures)
    evaluated = replace(evaluated, notes=(*evaluated.notes, *notes))
    first = next(iter(frames.values()))
    bounded = {metric: _is_share(metric, [frame[metric] for frame in frames.values()]) for metric in first}
    units = units_of(list(first.index), workspace.project.policy.unit)
    return evaluate(frames, bounded, units, evaluated, baseline, margin, workspace.project.seed)


def _systems(workspace: Workspace, scores: Mapping[str, str | Path]) -> list[ScoredFile]:
    """Every run, the formulations that have per-turn scores instead, and the files of ``scores``, which win."""
    files = [ScoredFile(name, name, path, "runs") for name, path in workspace.project.systems.items()]
    parts = workspace.project.formulations.values()
    files += [file for part in parts if not part.run and (file := file_of(part, answers=False))]
    files += [ScoredFile(name, f"{name} scores", Path(path), "scores") for name, path in scores.items()]
    if not files:
        workspace.require_runs()
    return list({file.name: file for file in files}.values())


def _is_share(metric: str, scores: Sequence[pd.Series]) -> bool:
    """Does the measure lie between 0 and 1? Of those that robustcs does not compute itself nobody says where they end."""
    try:
        family = parse_measure(metric).family
    except UsageError:
        return False
    known = family in NATIVE or family in ANSWER_FAMILIES
    return known and all(values.between(0, 1).all() for values in scores)
