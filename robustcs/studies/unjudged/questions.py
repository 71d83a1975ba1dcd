"""Questions that ``robustcs unjudged`` answers in the report."""

from __future__ import annotations

from dataclasses import replace

from robustcs.errors import UsageError
from robustcs.project.model import Project
from robustcs.project.open_questions import comparable_groups
from robustcs.project.requirements import judged_runs
from robustcs.project.workspace import Workspace
from robustcs.studies.study import Question, SectionContent
from robustcs.studies.unjudged.findings import unjudged_findings, verdicts
from robustcs.studies.unjudged.show import show
from robustcs.studies.unjudged.study import ask

_READING = (
    "How to read it: the hole model predicts the grades of unjudged passages from the judged ones; it reads no text. The"
    " bounds of a score cover all grades, however unlikely; they are not a confidence interval. They do not show whether two"
    " systems differ, because a passage retrieved by both has the same grade in both; the table of pairs does."
)


def _inputs(project: Project) -> Project:
    return judged_runs(project, ("groups", "run_groups", "seed"))


def _content(workspace: Workspace) -> SectionContent:
    try:
        result = ask(workspace, scope="pool", expected=True, tipping=False)
    except UsageError as error:
        if error.slug != "one-grade":
            raise
        result = ask(workspace, scope="pool")
        told = (*result.evaluated.notes, f"No expected values: {error.found}.")
        result = result.changed(evaluated=replace(result.evaluated, notes=told))
    roles = {part.name: part.role for part in workspace.project.formulations.values()}
    groups = comparable_groups(workspace.project)
    findings = unjudged_findings(result, groups)
    return SectionContent(
        result, show(result), findings, _READING, verdicts=verdicts(result, roles, groups)
    )


QUESTIONS = (
    Question(
        "unjudged", "How much do unjudged passages matter?",
        ("drops", "tipping", "rates", "bounds", "pairs", "grades"), _inputs, _content
    ),
)  # fmt: skip
