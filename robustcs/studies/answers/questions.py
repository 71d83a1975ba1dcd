"""Questions that ``robustcs answers`` answers in the report."""

from __future__ import annotations

from robustcs.documents.document import Figure
from robustcs.project.model import AnswerFiles, Project, needs, only
from robustcs.project.workspace import Workspace
from robustcs.studies.answers.findings import answer_findings, turns_to_read, verdicts
from robustcs.studies.answers.show import overview, show
from robustcs.studies.answers.study import ask
from robustcs.studies.study import Question, SectionContent

_READING = (
    "How to read it: turns that have an answer should end as correct (or answered), all others as abstained or asked back."
    " Made up: an answer to a question that has none. Refused: no answer although a gold passage was given. Word matching"
    " recognises neither paraphrases nor negations."
)


def _inputs(project: Project) -> Project:
    files = project.answers or AnswerFiles()
    needs(
        files.of_systems or files.assignments,
        "no-responses",
        "no answers",
        "add them under [answers.responses]",
    )
    keys = (
        "answers",
        "collection",
        "runs",
        "policy",
        "seed",
        "qrels",
        "gold",
        "metrics",
        "thresholds",
    )
    return only(project, keys, ("run", "rewrites"))


def _content(workspace: Workspace) -> SectionContent:
    result = ask(workspace)
    opening = overview(result)
    drawn = {(one.caption, one.alt) for one in opening if isinstance(one, Figure)}
    blocks = tuple(
        # of at most two systems, the figure that opens a report shows all
        one
        for one in show(result)
        if not (isinstance(one, Figure) and (one.caption, one.alt) in drawn)
    )
    return SectionContent(
        result,
        blocks,
        answer_findings(result),
        _READING,
        turns_to_read(result),
        verdicts(result),
        opening,
    )


QUESTIONS = (
    Question("outcomes", "What are the outcomes of the turns, and which component loses them?", ("outcomes", "causes"),
             _inputs, _content),
)  # fmt: skip
