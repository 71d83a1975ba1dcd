"""What nobody judged, in the report."""

from __future__ import annotations

from dataclasses import replace

from robustcs.documents.order import figures_first
from robustcs.errors import UsageError
from robustcs.project.model import Project
from robustcs.project.parts import judged_runs
from robustcs.project.rewritten import comparable_groups
from robustcs.project.workspace import Workspace
from robustcs.studies.study import Answer, Question
from robustcs.studies.unjudged.ask import ask
from robustcs.studies.unjudged.findings import unjudged_findings, verdicts
from robustcs.studies.unjudged.show import show

_READING = (
    "How to read it: nobody judged every passage, and an unjudged one counts as not relevant. The dot is the score as it is"
    " computed; the line around it goes from the lowest to the highest score that any grades of the unjudged passages of all"
    " these runs would give, however improbable: bounds, not an interval. These lines do not show whether two systems"
    " differ, because a passage that both found has one grade in both: the table of pairs tries all grades for both at once."
)


def _part(project: Project) -> Project:
    return judged_runs(project, ("groups", "run_groups", "seed"))


def _answer(workspace: Workspace) -> Answer:
    try:
        result = ask(workspace, scope="pool", expected=True, tipping=False)
    except UsageError as error:
        if error.slug != "one-grade":
            raise
        result = ask(workspace, scope="pool")
        told = (*result.evaluated.notes, f"No expected values: {error.found}.")
        result = replace(result, evaluated=replace(result.evaluated, notes=told))
    roles = {part.name: part.role for part in workspace.project.formulations.values()}
    groups = comparable_groups(workspace.project)
    return Answer(
        unjudged_findings(result, roles, groups), _READING, figures_first(show(result)), result.evaluated,
        {"unjudged": result}, verdicts=verdicts(result, roles, groups),
    )  # fmt: skip


QUESTIONS = (
    Question(
        "unjudged", "How much of the drop is due to unjudged passages?",
        ("drops", "tipping", "rates", "bounds", "pairs", "grades"), _part,
        given=lambda project: bool(project.systems), answer=_answer,
    ),
)  # fmt: skip
