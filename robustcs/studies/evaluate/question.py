"""Systems in the report: means, intervals, and which of them differ significantly."""

from __future__ import annotations

from dataclasses import replace

from robustcs.documents.order import figures_first
from robustcs.project.model import Project
from robustcs.project.parts import measures, needs, only
from robustcs.project.workspace import Workspace
from robustcs.studies.evaluate.ask import ask
from robustcs.studies.evaluate.findings import verdicts
from robustcs.studies.evaluate.show import overview, show
from robustcs.studies.study import Answer, Question

_READING = (
    "How to read it: a dot is the mean of a system over all turns, the line its 95 % interval for other conversations of this"
    " kind. Intervals that overlap do not make two systems equal: every pair was tested on the same turns. Systems"
    " that share a letter do not differ significantly, which says that more turns are needed, not that they are the same."
)


def _part(project: Project) -> Project:
    needs(project.qrels, "no-qrels", "no qrels", "name them with qrels = … or --qrels")
    needs(project.runs, "no-runs", "no further runs", "name them in [runs] or with --run NAME=FILE")
    part = only(project, ("qrels", "runs", "policy", "seed"), ("run", "scores"))
    return replace(part, metrics=measures(project, of_answers=False))


def _answer(workspace: Workspace) -> Answer:
    result = ask(workspace)
    return Answer(
        (), _READING, figures_first(show(result)), result.evaluated, {"evaluate": result},
        verdicts=verdicts(result), overview=overview(result),
    )  # fmt: skip


QUESTIONS = (
    Question(
        "evaluate", "Which systems differ significantly?", ("measures",), _part, given=lambda project: bool(project.runs),
        answer=_answer,
    ),
)  # fmt: skip
