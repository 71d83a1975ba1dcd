"""Questions that ``robustcs augment`` answers in the report."""

from __future__ import annotations

from robustcs.project.model import Project
from robustcs.project.requirements import judged_runs
from robustcs.project.workspace import Workspace
from robustcs.studies.augment.analysis import without_folders
from robustcs.studies.augment.findings import augment_findings, verdicts
from robustcs.studies.augment.show import show
from robustcs.studies.augment.study import ask
from robustcs.studies.study import Question, SectionContent

_READING = (
    "How to read it: a score rises if new passages of the run are relevant, and falls if relevant passages of other runs"
    " improve the ideal ranking. Check whether the order of the runs changes, not only their scores."
)


def _inputs(project: Project) -> Project:
    return judged_runs(project, ("seed",))


def _content(workspace: Workspace) -> SectionContent:
    result = without_folders(ask(workspace))
    return SectionContent(
        result, show(result), augment_findings(result), _READING, verdicts=verdicts(result)
    )


QUESTIONS = (
    Question("augment", "What do new judgments change?", ("measures", "ranking", "conflicts"), _inputs, _content),
)  # fmt: skip
