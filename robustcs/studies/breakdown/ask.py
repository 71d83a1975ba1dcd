"""Who is to blame, from the files of a workspace."""

from __future__ import annotations

from robustcs.evaluation.thresholds import reachable_thresholds
from robustcs.project.workspace import Workspace
from robustcs.studies.breakdown.analysis import Breakdown, breakdown


def ask(workspace: Workspace) -> Breakdown:
    """The bins of Original, QR and Human, and who is to blame, for every rewriter, measure and threshold."""
    scores, evaluated = workspace.formulation_scores()
    project = workspace.project
    thresholds = reachable_thresholds(project.thresholds, project.metrics)
    texts = workspace.texts_of(scores.turns, evaluated.basis)
    return breakdown(scores, evaluated, thresholds, texts, project.seed)
