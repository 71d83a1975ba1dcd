"""The bins at every threshold, from the files of a workspace."""

from __future__ import annotations

from robustcs.project.workspace import Workspace
from robustcs.studies.sweep.analysis import Sweep, sweep, threshold_grid


def ask(workspace: Workspace, *, step: str = "0.02") -> Sweep:
    """The bins at every threshold from 0 to 1 in steps of ``step``.

    Measures that are 0 or 1, such as P_1, are swept only where the project names measures.
    """
    grid = threshold_grid(step)
    scores, evaluated = workspace.formulation_scores()
    return sweep(scores if workspace.project.metrics else scores.graded(), evaluated, grid, workspace.project.seed)
