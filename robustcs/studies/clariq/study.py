"""The command ``robustcs clariq``: read the files of the tasks, collect each system's output, and evaluate it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from robustcs.studies.study import SEED, Command

if TYPE_CHECKING:
    from robustcs.project.workspace import Workspace
    from robustcs.studies.clariq.analysis import Clariq


def ask(workspace: Workspace) -> Clariq:
    """Evaluate systems that ask clarifying questions, as the ClariQ challenge does.

    The command evaluates the files that you give, or those of [clariq] in robustcs.toml if you give none. Topics or questions
    alone give statistics of the data.

    --run ranks questions, one per line: topic_id 0 question_id rank score tag. The system asks the best-ranked question of each
    topic. A question that is not a candidate for the facet scores the facet's worst value; a topic without output scores 0.
    --qrels contains judgments of facets.

    In a multi-turn run, the lines are: context_id 0 "question" rank score tag. Only its document relevance is evaluated.

    robustcs never loads pickles, because loading one can run any code. If you trust a file, convert it to JSON:

    python -c "import json, pickle, sys;
      json.dump(pickle.load(open(sys.argv[1], 'rb')), open(sys.argv[2], 'w'))"
      single_turn_train_eval.pkl single_turn_train_eval.json

    Raises :class:`UsageError` if files are missing, and :class:`InputError` for a broken file.

    Examples:
      robustcs clariq
      robustcs clariq --topics dev.tsv
      robustcs clariq --topics dev.tsv --run bm25=dev_bm25 --run bert=dev_bert
      robustcs clariq --topics dev.tsv --run bm25=dev_bm25 --performance eval.json
      robustcs clariq --topics dev.tsv --evaluations no=dev_no_q.eval
        --evaluations worst=dev_worst_q.eval --evaluations bm25=dev_bm25.eval
      robustcs clariq --topics dev.tsv --need bm25=dev_need.txt
      robustcs clariq --preferences judgments.tsv
    """
    return prepare(workspace)()


def prepare(workspace: Workspace) -> Callable[[], Clariq]:
    """Read and check the inputs. Return the function that computes the result."""
    from robustcs.studies.clariq.analysis import clariq
    from robustcs.studies.clariq.steps import ClariqInputs
    from robustcs.studies.clariq.tasks import tasks_of

    inputs = ClariqInputs(workspace)
    outputs, seed = inputs.outputs(), workspace.project.seed
    tasks_of(outputs, inputs.topics, inputs.policy.missing != "zero")
    return lambda: clariq(
        outputs, inputs.topics, inputs.conversations, inputs.preferences, inputs.policy, seed, inputs.rankings, inputs.notes,
        inputs.bank,
    )  # fmt: skip


COMMAND = Command(ask, ("clariq.topics", "clariq.questions", "clariq.runs", "clariq.qrels", "clariq.performance",
    "clariq.evaluations", "clariq.needs", "clariq.preferences", "clariq.conversations", "missing", "order", *SEED),
    retrieves=False,
)  # fmt: skip
