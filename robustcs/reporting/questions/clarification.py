"""Clarifying questions: which are asked, what they do for the documents, when they are needed, whom people prefer."""

from __future__ import annotations

from robustcs.documents.order import figures_first
from robustcs.project.model import Project
from robustcs.project.parts import needs, only
from robustcs.project.workspace import Workspace
from robustcs.reporting.question import Answer, Question
from robustcs.studies.clariq.ask import evaluate_clariq
from robustcs.studies.clariq.findings import clariq_findings
from robustcs.studies.clariq.show import present_clariq

_READING = (
    "How to read it: a system asks its best question, the answer joins the query, and the documents that are then found are"
    " scored. Compare a system with asking nothing, and with the worst and the best question that could be asked, where these"
    " baselines are known. Facets of a topic share their question, so intervals and tests resample topics."
)


def _part(project: Project) -> Project:
    needs(project.clariq, "no-clariq", "no clarifying questions", "name their files with [clariq] in robustcs.toml")
    return only(project, ("clariq", "policy", "seed"))


def _answer(workspace: Workspace) -> Answer:
    result = evaluate_clariq(workspace)
    blocks = figures_first(present_clariq(result))
    return Answer(clariq_findings(result), _READING, blocks, result.evaluated, {"clariq": result})


CLARIQ = Question(
    "clariq", "Do clarifying questions help?",
    ("document_relevance", "question_relevance", "clarification_need", "preference"), _part, _answer,
)  # fmt: skip
