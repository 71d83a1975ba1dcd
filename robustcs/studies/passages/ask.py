"""Which passages to annotate, from the files of a workspace."""

from __future__ import annotations

from robustcs.errors import UsageError
from robustcs.inputs.collection import read_passages
from robustcs.inputs.urls import shown
from robustcs.project.requirements import collection, scikit_learn
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.studies.passages.analysis import PassageChoice, choose_passages
from robustcs.wording import counted


def ask(workspace: Workspace, *, per_turn: int = 5) -> PassageChoice:
    """At most ``per_turn`` passages of every turn, the best graded, none below the relevance level.

    Raises :class:`UsageError` without qrels, a collection, or relevant passages with a text.
    """
    project = workspace.project
    path = collection(workspace)
    scikit_learn(workspace)
    qrels = workspace.qrels
    level = project.policy.relevance_level
    documents = qrels.documents.to_pylist()
    wanted = {documents[code] for code in qrels.document_codes[qrels.grades >= level].tolist()}
    if not wanted:
        raise UsageError("nothing-relevant", f"no passage has a grade of at least {level}", "give a lower --relevance-level")
    texts = read_passages(path, wanted)
    if not texts:
        raise UsageError("no-common-passages", f"{shown(path)} has none of the judged passages", "check that their ids agree")
    workspace.remember("collection", path, len(texts))
    lacking = len(wanted) - len(texts)
    notes = qrels.notes
    if lacking:
        notes = (*notes, f"{counted(lacking, 'relevant passage')} without a text in the collection left out")
    evaluated = Evaluated(project.policy, "texts", len(qrels.turns), 0, notes)
    return choose_passages(qrels, texts, evaluated, per_turn, project.seed)
