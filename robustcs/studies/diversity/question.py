"""How different the texts are, in the report."""

from __future__ import annotations

from robustcs.documents.order import figures_first
from robustcs.project.model import Project
from robustcs.project.parts import needs, only
from robustcs.project.workspace import Workspace
from robustcs.studies.diversity.ask import ask
from robustcs.studies.diversity.findings import diversity_findings
from robustcs.studies.diversity.show import show
from robustcs.studies.study import Answer, Question

_READING = (
    "How to read it: BLEU says how much of its source's wording a text repeats (100: all of it), self-BLEU how alike the texts"
    " of one turn are; low is diverse. Copies and duplicates add nothing to a test set."
)


def _part(project: Project) -> Project:
    needs(project.paraphrases, "no-paraphrases", "no paraphrases", "name them with paraphrases = …")
    return only(project, ("paraphrases", "policy", "seed"), ("rewrites", "samples"))


def _answer(workspace: Workspace) -> Answer:
    result = ask(workspace)
    return Answer(diversity_findings(result), _READING, figures_first(show(result)), result.evaluated, {"diversity": result})


QUESTIONS = (
    Question(
        "diversity",
        "How different are the texts?",
        ("bleu", "diversity"),
        _part,
        given=lambda project: bool(project.paraphrases),
        answer=_answer,
    ),
)
