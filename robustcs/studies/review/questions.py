"""Questions that ``robustcs review`` answers in the report."""

from __future__ import annotations

from robustcs.project.model import Project, needs
from robustcs.project.workspace import Workspace
from robustcs.studies.review.findings import findings, verdicts
from robustcs.studies.review.show import show
from robustcs.studies.review.study import ask
from robustcs.studies.study import Question, SectionContent

_READING = (
    "How to read it: each reviewed turn may have several categories, or none. The intervals are for all turns from which the"
    " sample was drawn, not for other conversations, and each belongs to one share. κ is 1 for full agreement of two coders and"
    " 0 for agreement expected by chance; report only categories on which the coders agree."
)


def _inputs(project: Project) -> Project:
    needs(
        project.review and project.review.files,
        "no-reviews",
        "no reviews",
        "add files = … under [review]",
    )
    return project


def _content(workspace: Workspace) -> SectionContent:
    result = ask(workspace)
    return SectionContent(
        result, show(result), findings(result), _READING, verdicts=verdicts(result)
    )


QUESTIONS = (
    Question("review", "Which failures did coders find?", ("categories", "differences", "coders"), _inputs, _content),
)  # fmt: skip
