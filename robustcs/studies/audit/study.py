"""``robustcs audit``: the command, and its question in the report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from robustcs.documents.document import Figure, Table
from robustcs.evaluation.judges import OffScale
from robustcs.evaluation.measure import grade_notes
from robustcs.project.conversations import conversations_of
from robustcs.project.hole_imputation import judged_pool
from robustcs.project.model import Project, needs, of_rankings
from robustcs.project.scoring import DEFAULT_MEASURES
from robustcs.project.trust import model_of_qrels
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.studies.audit.analysis import Audit, audit, common_pairs
from robustcs.studies.audit.findings import audit_findings, verdicts
from robustcs.studies.audit.show import show
from robustcs.studies.study import SCORING, SEED, SYSTEMS, UNIT, Answer, Command, Question


def ask(workspace: Workspace, *, off_scale: Literal["refuse", "drop", "clip"] = "refuse") -> Audit:
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
_READING = (
    "How to read it: the square shows how often each pair of grades occurs. The lines show whether the judge is too generous"
    " or too strict, and where. The same bias for all runs changes scores but not conclusions; a bias in favor of some runs"
    " can reverse conclusions."
)


def _inputs(project: Project) -> Project:
    needs(project.qrels, "no-qrels", "no qrels", "name them with qrels = … or --qrels")
    return of_rankings(
        project,
        ("qrels", "qrels_source", "judges", "runs", "collection", "policy", "seed"),
        ("run", "rewrites"),
    )


def _answer(workspace: Workspace) -> Answer:
    result = ask(workspace)
    blocks = show(result)
    opening = tuple(
        one
        for one in blocks
        if isinstance(one, Table | Figure) and one.slug in ("agreement", "audit")
    )
    rest = tuple(one for one in blocks if one not in opening)
    return Answer(
        result, rest, audit_findings(result), _READING, verdicts=verdicts(result), overview=opening
    )


QUESTIONS = (
    Question("audit", "Can the judge be trusted?", ("agreement", "bias", "systems", "conclusions", "reversals"),
             _inputs, _answer),
)  # fmt: skip
