"""The crowd's judgments in the report."""

from __future__ import annotations

from robustcs.documents.order import figures_first
from robustcs.project.model import Project
from robustcs.project.parts import needs, only
from robustcs.project.workspace import Workspace
from robustcs.studies.crowd.ask import ask
from robustcs.studies.crowd.findings import crowd_findings
from robustcs.studies.crowd.show import show
from robustcs.studies.study import Answer, Question

_READING = (
    "How to read it: workers who contradict what is known about an item lose their grades of that topic; agreement before and"
    " after says what that does. Scores of the runs are only as good as these judgments: a run whose questions nobody graded"
    " scores low."
)


def _part(project: Project) -> Project:
    needs(project.crowd, "no-crowd", "no crowd judgments", "name their files with [crowd] in robustcs.toml")
    return only(project, ("crowd", "policy", "seed"))


def _answer(workspace: Workspace) -> Answer:
    result = ask(workspace)
    return Answer(crowd_findings(result), _READING, figures_first(show(result)), result.evaluated, {"crowd": result})


QUESTIONS = (
    Question(
        "crowd",
        "What do the crowd's judgments say?",
        ("qrels", "agreement", "measures"),
        _part,
        given=lambda project: project.crowd is not None,
        answer=_answer,
    ),
)
