"""Test sets, from the paraphrases of a workspace."""

from __future__ import annotations

from robustcs.project.workspace import Workspace
from robustcs.studies.testsets.analysis import ParaphraseSets, draw_testsets


def ask(workspace: Workspace, *, sets: int = 3) -> ParaphraseSets:
    """``sets`` disjoint test sets, one paraphrase of every turn in each, by the seed of the project."""
    return draw_testsets(workspace.paraphrases, sets, workspace.project.seed, workspace.paraphrases.notes)
