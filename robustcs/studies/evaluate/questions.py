"""Questions that ``robustcs evaluate`` answers in the report."""

from __future__ import annotations

from robustcs.documents.document import Paragraph
from robustcs.documents.headline import headline_measure
from robustcs.messages import Either, Message
from robustcs.project.model import Project, needs, of_rankings
from robustcs.project.trust import limits_of_fit
from robustcs.project.workspace import Workspace
from robustcs.studies.evaluate.analysis import means_of
from robustcs.studies.evaluate.findings import evaluate_findings, verdicts
from robustcs.studies.evaluate.show import overview, show
from robustcs.studies.evaluate.study import ask
from robustcs.studies.study import Question, SectionContent

_READING = (
    "How to read it: each dot is the mean of a system over all turns, and the line is its 95% CI. Overlapping intervals do not"
    " show that two systems are equal; each pair is tested on the same turns. Systems that share a letter do not differ"
    " significantly. That does not show that they are equal: more turns may show a difference."
)


def _inputs(project: Project) -> Project:
    needs(
        project.qrels,
        "no-qrels",
        "no qrels",
        Message("name them with ", Either("qrels = … or --qrels", "qrels")),
    )
    keys = ["qrels", "runs", "collection", "policy", "seed"]
    if project.groups:  # texts determine which turns a set asks
        keys += ["groups", "texts", "raw_texts"]
    return of_rankings(project, keys, ("run", "scores"))


def _content(workspace: Workspace) -> SectionContent:
    result = ask(workspace)
    metrics = means_of(result)
    family = result.families[headline_measure(metrics)] if metrics else None
    # the claim is a verdict
    blocks = tuple(block for block in show(result) if not isinstance(block, Paragraph))
    limits = limits_of_fit(workspace.fit, workspace.project)
    return SectionContent(
        result, blocks, evaluate_findings(result), _READING, (), verdicts(result), overview(result), family, limits
    )  # fmt: skip


QUESTIONS = (
    Question("evaluate", "Which systems differ significantly?", ("measures",), _inputs, _content),
)  # fmt: skip
