"""Questions that ``robustcs crowd`` answers in the report."""

from __future__ import annotations

from robustcs.project.model import Project, only
from robustcs.project.workspace import Workspace
from robustcs.studies.crowd.findings import crowd_findings
from robustcs.studies.crowd.show import show
from robustcs.studies.crowd.study import ask
from robustcs.studies.study import Question, SectionContent

_READING = (
    "How to read it: workers who contradict gold checks lose their grades for that topic. Compare the agreement before and"
    " after this exclusion. The scores of the runs depend on these judgments: a run with many unjudged questions scores low."
)


def _inputs(project: Project) -> Project:
    return only(project, ("crowd", "policy", "seed"))


def _content(workspace: Workspace) -> SectionContent:
    result = ask(workspace)
    return SectionContent(result, show(result), crowd_findings(result), _READING)


QUESTIONS = (
    Question("crowd", "What do the crowd judgments show?", ("qrels", "agreement", "measures"), _inputs, _content),
)  # fmt: skip
