"""The command ``robustcs audit``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Literal

from robustcs.studies.signature import Opt
from robustcs.studies.study import SCORING, SEED, SYSTEMS, UNIT, Command

if TYPE_CHECKING:
    from robustcs.evaluation.judges import OffScale
    from robustcs.project.workspace import Workspace
    from robustcs.studies.audit.analysis import Audit


def ask(
    workspace: Workspace,
    *,
    off_scale: Annotated[Literal["refuse", "drop", "clip"], Opt(rare=True)] = "refuse",
) -> Audit:
    """Compare a judge with human judgments to find out whether it can be trusted.

    The output contains the agreement on the same passages, the bias by the depth of the turn and by the runs that found a
    passage, and the changes in the ranking of systems. A judge may be a model, a second person, or the same people at another
    time. If the human judgments and the judge cover different topics, only the rankings of systems are compared. Without runs,
    the output contains only agreement and bias.

    off_scale
        Handling of labels off the scale of the human judgments: reject the file, drop these labels, or clip them to the nearest
        grade.

    Examples:
      robustcs audit
      robustcs audit --qrels people.txt --judge gpt=gpt.txt --relevance-level 2
      robustcs audit --judge u=umbrela.jsonl --rewrites human=manual.tsv \\
          --collection passages.jsonl
    """
    return prepare(workspace, off_scale)()


def prepare(workspace: Workspace, off_scale: OffScale = "refuse") -> Callable[[], Audit]:
    """Read and check the inputs. Return the function that computes the result."""
    from robustcs.evaluation.measure import grade_notes
    from robustcs.project.conversations import conversations_of
    from robustcs.project.hole_imputation import judged_pool
    from robustcs.project.scoring import DEFAULT_MEASURES
    from robustcs.project.trust import model_of_qrels
    from robustcs.result import Evaluated
    from robustcs.studies.audit.analysis import audit, common_pairs

    human = workspace.qrels
    measures, notes = workspace.ranking_measures(DEFAULT_MEASURES)
    judged = judged_pool(workspace, human, off_scale)
    common_pairs(judged)
    workspace.note_names("judges")
    notes += [
        *grade_notes(measures, human.grades, workspace.project.policy.relevance_level),
        *human.notes,
        *judged.pool.notes,
        *judged.turns.notes,
    ]
    notes += judged.notes(off_scale)
    evaluated = Evaluated(
        workspace.project.policy, "runs", 0, int(judged.turns.lacking.sum()), tuple(notes),
        conversations=conversations_of(workspace, human.turns),
    )  # fmt: skip
    reference, _ = model_of_qrels(workspace.project)
    return lambda: audit(
        judged, off_scale == "clip", measures, evaluated, workspace.project.seed, reference
    )


COMMAND = Command(ask, ("qrels", "judges", *SYSTEMS[1:], "collection", *SCORING, *UNIT, *SEED))
