"""Clarifying questions in the report."""

from __future__ import annotations

from robustcs.documents.order import figures_first
from robustcs.project.model import Project
from robustcs.project.parts import needs, only
from robustcs.project.workspace import Workspace
from robustcs.studies.clariq.ask import ask
from robustcs.studies.clariq.findings import clariq_findings, verdicts
from robustcs.studies.clariq.show import show
from robustcs.studies.study import Answer, Question

_READING = (
    "How to read it: a system asks its best question, the answer joins the query, and the documents that are then found are"
    " scored. Compare a system with asking nothing, and with the worst and the best question that could be asked, where these"
    " baselines are known. Facets of a topic share their question, so topics are taken as independent in intervals and tests,"
    " not facets."
)


def _has_systems(project: Project) -> bool:
    files = project.clariq
    return files is not None and any((files.runs, files.evaluations, files.performance, files.needs, files.preferences))


def _part(project: Project) -> Project:
    needs(project.clariq, "no-clariq", "no clarifying questions", "name their files with [clariq] in robustcs.toml")
    return only(project, ("clariq", "policy", "seed"))


def _answer(workspace: Workspace) -> Answer:
    result = ask(workspace)
    blocks = figures_first(show(result))
    return Answer(clariq_findings(result), _READING, blocks, result.evaluated, {"clariq": result}, verdicts=verdicts(result))


QUESTIONS = (
    Question(
        "clariq", "Do clarifying questions help?",
        ("document_relevance", "question_relevance", "clarification_need", "preference"), _part,
        given=_has_systems, answer=_answer,
    ),
)  # fmt: skip
