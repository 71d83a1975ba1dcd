"""Test sets, from the paraphrases of a workspace."""

from __future__ import annotations

from robustcs.project.workspace import Workspace
from robustcs.similarity.near_duplicates import clean_turns, cleaning_note
from robustcs.studies.testsets.analysis import ParaphraseSets, draw_testsets


def ask(workspace: Workspace, *, sets: int = 3, clean: bool = False) -> ParaphraseSets:
    """``sets`` disjoint test sets, one paraphrase of every turn in each, by the seed of the project.

    ``clean`` leaves out paraphrases that differ from another one of their turn by one word or a few characters.
    """
    paraphrases, seed = workspace.paraphrases, workspace.project.seed
    if not clean:
        return draw_testsets(paraphrases, sets, seed, paraphrases.notes)
    kept, dropped = clean_turns(paraphrases)
    notes = (*paraphrases.notes, cleaning_note(len(dropped), sum(map(len, paraphrases.values()))))
    return draw_testsets(kept, sets, seed, notes, dropped)
