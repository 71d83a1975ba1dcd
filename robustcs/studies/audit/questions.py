"""Questions that ``robustcs audit`` answers in the report."""

from __future__ import annotations

from robustcs.documents.document import Figure, TableBlock
from robustcs.messages import Either, Message
from robustcs.project.model import Project, needs, of_rankings
from robustcs.project.workspace import Workspace
from robustcs.studies.audit.findings import audit_findings, verdicts
from robustcs.studies.audit.show import show
from robustcs.studies.audit.study import ask
from robustcs.studies.study import Question, SectionContent

_READING = (
    "How to read it: the square shows how often each pair of grades occurs. The lines show whether the judge is too generous"
    " or too strict, and where. The same bias for all runs changes scores but not conclusions; a bias in favor of some runs"
    " can reverse conclusions."
)


def _inputs(project: Project) -> Project:
    needs(
        project.qrels,
        "no-qrels",
        "no qrels",
        Message("name them with ", Either("qrels = … or --qrels", "qrels")),
    )
    return of_rankings(
        project,
        ("qrels", "qrels_source", "judges", "runs", "collection", "policy", "seed"),
        ("run", "rewrites"),
    )


def _content(workspace: Workspace) -> SectionContent:
    result = ask(workspace)
    blocks = show(result)
    opening = tuple(
        one
        for one in blocks
        if isinstance(one, TableBlock | Figure) and one.slug in ("agreement", "audit")
    )
    rest = tuple(one for one in blocks if one not in opening)
    return SectionContent(
        result, rest, audit_findings(result), _READING, verdicts=verdicts(result), overview=opening
    )


QUESTIONS = (
    Question("audit", "Can the judge be trusted?", ("agreement", "bias", "systems", "conclusions", "reversals"),
             _inputs, _content),
)  # fmt: skip
