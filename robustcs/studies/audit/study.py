"""A judge beside people: what is read, the command, and its question in the report."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from robustcs.documents.order import figures_first
from robustcs.evaluation.measures import sampling_notes
from robustcs.project.hole_imputation import judged_pool
from robustcs.project.model import Project, measures, needs, only
from robustcs.project.scoring import DEFAULT_MEASURES
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.studies.audit.analysis import Audit, audit
from robustcs.studies.audit.findings import audit_findings, verdicts
from robustcs.studies.audit.show import overview, show
from robustcs.studies.study import SCORING, SEED, SYSTEMS, UNIT, Answer, Question, command


def ask(workspace: Workspace, *, off_scale: Literal["refuse", "drop", "clip"] = "refuse") -> Audit:
    """Can this judge be trusted? A model's judgments beside those of people, on the same passages.

    Agreement on grades, the direction of the errors, by the depth of the turn and by the runs that found a passage, and what
    becomes of the ranking of systems. A judge may also be a second person, or the same people at another time. Where people
    and judge judged different topics, only the rankings of systems are compared. Without runs, agreement and bias alone.

    off_scale
        What becomes of grades that people do not use: the file is refused, the labels are dropped, or they are clipped to the
        nearest grade.

    Examples:
      robustcs audit
      robustcs audit --qrels people.txt --judge gpt=gpt.txt --relevance-level 2
      robustcs audit --judge u=umbrela.jsonl --rewrites human=manual.tsv \\
          --collection passages.jsonl
    """
    human = workspace.qrels
    measures, notes = workspace.ranking_measures(DEFAULT_MEASURES)
    judged = judged_pool(workspace, human, off_scale)
    notes += [*sampling_notes(measures, human.grades), *human.notes, *judged.pool.notes, *judged.turns.notes]
    notes += judged.notes(off_scale)
    evaluated = Evaluated(workspace.project.policy, "runs", 0, int(judged.turns.lacking.sum()), tuple(notes))
    return audit(judged, off_scale == "clip", measures, evaluated, workspace.project.seed)


COMMAND = command(ask, ("qrels", "judges", *SYSTEMS[1:], "collection", *SCORING, *UNIT, *SEED))
_READING = (
    "How to read it: the judge graded passages that people graded too. The square shows which grades it gives where people"
    " give another; the lines show by how much it is too kind or too strict, and whether that depends on the turn or on the"
    " runs that found the passage. A judge that errs alike everywhere moves scores and leaves conclusions; one that is kinder"
    " to some runs turns them round."
)


def _part(project: Project) -> Project:
    needs(project.qrels, "no-qrels", "no qrels", "name them with qrels = … or --qrels")
    needs(project.judges, "no-judges", "no judges", "name them under [judges] or with --judge NAME=FILE")
    part = only(project, ("qrels", "judges", "runs", "collection", "policy", "seed"), ("run", "rewrites"))
    return replace(part, metrics=measures(project, of_answers=False))


def _answer(workspace: Workspace) -> Answer:
    result = ask(workspace)
    blocks = figures_first(show(result))
    return Answer(
        audit_findings(result), _READING, blocks, result.evaluated, {"audit": result}, verdicts=verdicts(result),
        overview=overview(result),
    )  # fmt: skip


QUESTIONS = (
    Question(
        "audit",
        "Can the judge be trusted?",
        ("agreement", "bias", "systems", "conclusions", "reversals"),
        _part,
        given=lambda project: bool(project.judges),
        answer=_answer,
    ),
)
