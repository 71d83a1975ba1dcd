"""Answers in the report: what they hold, and why they miss the rest."""

from __future__ import annotations

from robustcs.project.model import AnswerFiles, Project
from robustcs.project.parts import needs, only
from robustcs.project.workspace import Workspace
from robustcs.studies.answers.ask import ask
from robustcs.studies.answers.findings import coverage_findings
from robustcs.studies.answers.show import show
from robustcs.studies.study import Answer, Question

_READING = (
    "How to read it: an item counts as covered where the answer has enough of its words, or where a judge said so. Words alone"
    " neither see a paraphrase nor a denial. The cause of a miss is told from the passages that the answer was made of and from"
    " those that the human question finds."
)


def _part(project: Project) -> Project:
    files = project.answers or AnswerFiles()
    needs(files.responses or files.assignments, "no-responses", "no answers", "name them with [answers.responses]")
    return only(project, ("answers", "collection", "runs", "policy", "seed"), ("run",))


def _answer(workspace: Workspace) -> Answer:
    result = ask(workspace)
    return Answer(coverage_findings(result), _READING, show(result), result.evaluated, {"answers": result})


QUESTIONS = (Question("answers", "Do answers say what they should?", ("measures", "causes"), _part, answer=_answer),)
