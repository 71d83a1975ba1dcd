"""Questions that ``robustcs clariq`` answers in the report."""

from __future__ import annotations

from robustcs.project.model import Project, needs, only
from robustcs.project.workspace import Workspace
from robustcs.studies.clariq.findings import clariq_findings, verdicts
from robustcs.studies.clariq.show import show
from robustcs.studies.clariq.study import ask
from robustcs.studies.study import Question, SectionContent

_READING = (
    "How to read it: each system asks its best question, the answer is added to the query, and the documents retrieved with"
    " this query are scored. Compare a system with the available baselines: no question, the worst question and the best"
    " question. The sampling unit is the topic, because facets of a topic share their question."
)


def _has_systems(project: Project) -> bool:
    files = project.clariq
    return files is not None and any(
        (files.runs, files.evaluations, files.performance, files.needs, files.preferences)
    )


def _inputs(project: Project) -> Project:
    needs(
        project.clariq,
        "no-clariq",
        "no clarifying questions",
        "add their files under [clariq] in robustcs.toml",
    )
    return only(project, ("clariq", "policy", "seed"))


def _content(workspace: Workspace) -> SectionContent:
    result = ask(workspace)
    return SectionContent(
        result, show(result), clariq_findings(result), _READING, verdicts=verdicts(result)
    )


QUESTIONS = (
    Question(
        "clariq", "Do clarifying questions help?",
        ("document_relevance", "question_relevance", "clarification_need", "preference"), _inputs, _content,
        given=_has_systems
    ),
)  # fmt: skip
