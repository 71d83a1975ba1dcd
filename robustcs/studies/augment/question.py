"""New judgments in the report."""

from __future__ import annotations

from robustcs.documents.order import figures_first
from robustcs.project.model import Project
from robustcs.project.parts import judged_runs, needs
from robustcs.project.workspace import Workspace
from robustcs.studies.augment.analysis import without_folders
from robustcs.studies.augment.ask import ask
from robustcs.studies.augment.findings import augment_findings, verdicts
from robustcs.studies.augment.show import show
from robustcs.studies.study import Answer, Question

_READING = (
    "How to read it: open marks are scores under the old judgments, filled ones after the new ones joined. A score rises where"
    " passages of the run turn out relevant, and falls where others' do, because the ideal ranking gets better. Watch whether"
    " the order of the runs changes, not only whether the scores do."
)


def _part(project: Project) -> Project:
    needs(project.new_judgments, "no-new-judgments", "no new judgments", "name them with new_judgments = …")
    return judged_runs(project, ("seed",))


def _answer(workspace: Workspace) -> Answer:
    result = without_folders(ask(workspace))
    return Answer(
        augment_findings(result), _READING, figures_first(show(result)), result.evaluated, {"augment": result},
        verdicts=verdicts(result),
    )  # fmt: skip


QUESTIONS = (
    Question(
        "augment",
        "What do new judgments change?",
        ("measures", "ranking", "conflicts"),
        _part,
        given=lambda project: bool(project.new_judgments),
        answer=_answer,
    ),
)
