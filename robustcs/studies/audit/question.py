"""Judges in the report."""

from __future__ import annotations

from dataclasses import replace

from robustcs.documents.order import figures_first
from robustcs.project.model import Project
from robustcs.project.parts import measures, needs, only
from robustcs.project.workspace import Workspace
from robustcs.studies.audit.ask import ask
from robustcs.studies.audit.findings import audit_findings, verdicts
from robustcs.studies.audit.overview import overview
from robustcs.studies.audit.show import show
from robustcs.studies.study import Answer, Question

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
