"""Scores of any systems, from runs or from per-turn scores, and their comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from robustcs.errors import UsageError
from robustcs.evaluation.measures import ANSWER_FAMILIES, NATIVE, parse_measure
from robustcs.project import readers
from robustcs.project.given import named_files
from robustcs.project.slices import searched, slicings
from robustcs.project.workspace import Workspace
from robustcs.statistics.units import units_of
from robustcs.studies.evaluate.analysis import Evaluation, evaluate
from robustcs.studies.study import MOST_COMPARED

if TYPE_CHECKING:
    import pandas as pd


def ask(
    workspace: Workspace,
    *,
    scores: Mapping[str, Any] | None = None,
    baseline: str | None = None,
    margin: float | None = None,
    slices: Any = None,
    find_slices: bool = False,
    pairs: bool | None = None,
) -> Evaluation:
    """Means of systems with intervals, and their pairs with tests, effect sizes and what could have been found.

    scores
        Name → per-turn scores (trec_eval -q, or what Python has in place of such a file): further systems, or in place of
        those of the same name.
    baseline
        The system that all others are compared with; by default every pair is compared.
    margin
        Say which pairs differ by less than this: their whole 95 % interval lies inside ± ``margin``.
    slices
        What the turns are split by, one or several: ``first``, ``depth``, ``conversation``, ``pronoun``, ``ellipsis``,
        ``length``, ``shift``, ``name``, ``texts`` for all that texts say, or a TSV (or frame, or records) of properties of
        turns.
    find_slices
        Look for slices that score lower than the other turns, by ``slices`` or else by depth and texts.
    pairs
        Without a baseline: compare every two systems (default: up to 50 systems).

    Raises :class:`UsageError` for texts that are not given, and where there are too few conversations to look for slices or
    nothing to look for them in.
    """
    files = workspace.scored_systems(named_files(readers.scores, "scores", scores or {}))
    measures, notes = workspace.ranking_measures((), totals=True)
    frames, evaluated = workspace.scores_of(files, measures, alone=True)
    evaluated = replace(evaluated, notes=(*evaluated.notes, *notes))
    first = next(iter(frames.values()))
    bounded = {metric: _is_share(metric, [frame[metric] for frame in frames.values()]) for metric in first}
    turns = list(first.index)
    units = units_of(turns, workspace.project.policy.unit)
    cut, told = slicings(workspace, turns, slices, evaluated.basis)
    search = searched(workspace, turns, cut, evaluated.basis) if find_slices else ()
    if pairs is None and baseline is None and len(frames) > MOST_COMPARED:
        left = f"pairs of {len(frames)} systems left out, since they are more than {MOST_COMPARED}: --table pairs has them"
        told = (*told, left)
        pairs = False
    evaluated = replace(evaluated, notes=(*evaluated.notes, *told))
    seed = workspace.project.seed
    return evaluate(frames, bounded, units, evaluated, baseline, margin, seed, cut, search, pairs is not False)


def _is_share(metric: str, scores: Sequence[pd.Series]) -> bool:
    """Does the measure lie between 0 and 1? Of those that robustcs does not compute itself nobody says where they end."""
    try:
        family = parse_measure(metric).family
    except UsageError:
        return False
    known = family in NATIVE or family in ANSWER_FAMILIES
    return known and all(values.dropna().between(0, 1).all() for values in scores)
