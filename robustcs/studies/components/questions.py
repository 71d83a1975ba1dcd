"""Questions that ``robustcs components`` answers in the report."""

from __future__ import annotations

from robustcs.documents.forms import shown_blocks
from robustcs.messages import Message, OptionName
from robustcs.project.model import Project, needs, of_rankings
from robustcs.project.workspace import Workspace
from robustcs.studies.components.findings import components_findings, verdicts
from robustcs.studies.components.show import cut_of, overview, show, turns_to_read
from robustcs.studies.components.study import ask
from robustcs.studies.study import Question, SectionContent

_READING = (
    "How to read it: each system is one wording of the questions with one ranker. The cause of a turn that it does not answer"
    " is the change that would have answered it; none if no system of the grid answers it."
)


def _inputs(project: Project) -> Project:
    needs(
        project.qrels,
        "no-qrels",
        "no qrels",
        Message("add qrels = … to robustcs.toml or use ", OptionName("qrels")),
    )
    keys = ("qrels", "components", "thresholds", "policy", "seed")
    return of_rankings(project, keys, ("rewrites",))


def _content(workspace: Workspace) -> SectionContent:
    result = ask(workspace)
    opening = overview(result)
    shown = {block.slug for block in opening}
    rest = tuple(
        block
        for block in shown_blocks(result, show(result), ())
        if getattr(block, "slug", "") not in shown
    )
    family = result.families.get(cut_of(result)[0])
    return SectionContent(
        result,
        rest,
        components_findings(result),
        _READING,
        turns_to_read(result),
        verdicts(result),
        opening,
        family,
    )


_TABLES = ("blame", "means", "factors", "effects", "swaps", "choice", "missing")

QUESTIONS = (
    Question("components", "Which component loses the answer?", _TABLES, _inputs, _content),
)  # fmt: skip
