"""Who is to blame, from the files of a workspace."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from robustcs.evaluation.thresholds import reachable_thresholds
from robustcs.project.slices import searched, slicings
from robustcs.project.workspace import Workspace
from robustcs.studies.breakdown.analysis import Breakdown, breakdown
from robustcs.studies.study import MOST_COMPARED


def ask(workspace: Workspace, *, slices: Any = None, find_slices: bool = False, pairs: bool | None = None) -> Breakdown:
    """The bins of Original, QR and Human, and who is to blame, for every rewriter, measure and threshold.

    slices
        What the turns are split by, one or several: ``first``, ``depth``, ``conversation``, ``pronoun``, ``ellipsis``,
        ``length``, ``shift``, ``name``, ``texts`` for all that texts say, or a TSV (or frame, or records) of properties of
        turns.
    find_slices
        Look for slices in which a rewriter loses more against Human than elsewhere, by ``slices`` or else by depth and texts.
    pairs
        Compare every two rewriters (default: up to 50 rewriters).

    Raises :class:`UsageError` for texts that are not given, and where there are too few conversations to look for slices or
    nothing to look for them in.
    """
    scores, evaluated = workspace.formulation_scores()
    project = workspace.project
    thresholds = reachable_thresholds(project.thresholds, project.metrics)
    texts = workspace.texts_of(scores.turns, evaluated.basis)
    turns = list(scores.turns)
    cut, told = slicings(workspace, turns, slices, evaluated.basis)
    search = searched(workspace, turns, cut, evaluated.basis) if find_slices else ()
    many = len(scores.rewriters)
    if pairs is None and many > MOST_COMPARED:
        left = f"pairs of {many} rewriters left out, since they are more than {MOST_COMPARED}"
        told = (*told, f"{left}: --table rewriter_tests and --table rewriter_scores have them")
        pairs = False
    evaluated = replace(evaluated, notes=(*evaluated.notes, *told))
    return breakdown(scores, evaluated, thresholds, texts, project.seed, cut, search, pairs is not False)
