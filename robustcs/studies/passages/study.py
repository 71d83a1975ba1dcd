"""The command ``robustcs passages``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

from robustcs.studies.signature import Opt
from robustcs.studies.study import SEED, Command
from robustcs.wording import counted

if TYPE_CHECKING:
    from robustcs.project.workspace import Workspace
    from robustcs.studies.passages.analysis import PassageChoice


def ask(
    workspace: Workspace, *, number: Annotated[int, Opt("N", low=1, high=100)] = 5
) -> PassageChoice:
    """Choose relevant passages of each turn for annotation.

    Takes the passages with the highest grades, none below the relevance level. If a grade has more passages than places
    are left, clusters their texts (k-means on TF-IDF) and draws one passage per cluster, so that the chosen passages say
    different things. Requires scikit-learn: pip install 'robustcs[passages]'.

    number
            Passages per turn.

    Raises :class:`UsageError` if there are no qrels, no collection, or no relevant passages with a text.

    Examples:
      robustcs passages --relevance-level 2 --output passages.csv
      robustcs passages --qrels qrels.txt --collection passages.jsonl.gz \\
          --number 3 --seed 7
    """
    from robustcs.inputs.collection import read_passages
    from robustcs.inputs.readings import rows_of
    from robustcs.project.requirements import relevant_passages, scikit_learn
    from robustcs.result import Evaluated
    from robustcs.studies.passages.analysis import choose_passages

    project = workspace.project
    path = workspace.require("collection")
    scikit_learn(workspace)
    qrels = workspace.qrels
    wanted, texts = relevant_passages(
        qrels, project.policy.relevance_level, path, partial(read_passages, path)
    )
    workspace.remember("collection", path, rows_of(texts))
    lacking = len(wanted) - len(texts)
    notes = qrels.notes
    if lacking:
        notes = (
            *notes,
            f"{counted(lacking, 'relevant passage')} skipped: no text in the collection",
        )
    evaluated = Evaluated(project.policy, "texts", len(qrels.turns), 0, notes)
    return choose_passages(qrels, texts, evaluated, number, project.seed)


COMMAND = Command(ask, ("qrels", "collection", "relevance_level", *SEED), retrieves=False)
