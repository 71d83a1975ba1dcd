"""Questions that ``robustcs diversity`` answers in the report."""

from __future__ import annotations

from robustcs.project.model import Project, only
from robustcs.project.workspace import Workspace
from robustcs.studies.diversity.findings import diversity_findings
from robustcs.studies.diversity.show import show
from robustcs.studies.diversity.study import ask
from robustcs.studies.study import Question, SectionContent

_READING = (
    "How to read it: BLEU measures how much of the source's wording a text repeats (100: all of it); self-BLEU measures how"
    " similar the texts of one turn are. Low values mean diverse texts. Copies and duplicates add nothing to a test set."
)


def _inputs(project: Project) -> Project:
    return only(project, ("paraphrases", "policy", "seed"), ("rewrites", "samples"))


def _content(workspace: Workspace) -> SectionContent:
    result = ask(workspace)
    return SectionContent(result, show(result), diversity_findings(result), _READING)


QUESTIONS = (
    Question("diversity", "How different are the texts?", ("bleu", "diversity"), _inputs, _content),
)  # fmt: skip
