"""Which passages to annotate, from the files of a workspace."""

from __future__ import annotations

from typing import Annotated

from robustcs.errors import UsageError
from robustcs.inputs.collection import read_passages
from robustcs.inputs.paths import shown
from robustcs.project.requirements import collection, scikit_learn
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.studies.passages.analysis import PassageChoice, choose_passages
from robustcs.studies.signature import Opt
from robustcs.studies.study import SEED, command
from robustcs.wording import counted


def ask(workspace: Workspace, *, per_turn: Annotated[int, Opt("N", low=1, high=100)] = 5) -> PassageChoice:
    """Which passages of each turn should be annotated?

    The best graded passages of every turn, none below the relevance level. Of a grade that has more passages than
    there are places left, their texts are clustered (k-means over TF-IDF) and one of each cluster is drawn, by --seed: what is
    annotated is relevant and says different things. Needs scikit-learn: pip install 'robustcs[passages]'.

    per_turn
        Passages to choose.

    Raises :class:`UsageError` without qrels, a collection, or relevant passages with a text.

    Examples:
      robustcs passages --relevance-level 2 --output passages.csv
      robustcs passages --qrels qrels.txt --collection passages.jsonl.gz \\
          --per-turn 3 --seed 7
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


COMMAND = command(ask, ("qrels", "collection", "relevance_level", *SEED), retrieves=False)
