"""Questions that ``robustcs breakdown`` answers in the report."""

from __future__ import annotations

from robustcs.documents.document import Figure
from robustcs.documents.forms import shown_blocks
from robustcs.errors import UsageError
from robustcs.project.model import Project
from robustcs.project.requirements import formulations_by_answers, formulations_by_rankings
from robustcs.project.workspace import Workspace
from robustcs.slicing import TEXTS
from robustcs.studies.breakdown.analysis import Breakdown
from robustcs.studies.breakdown.findings import finding, turns_to_read, verdicts
from robustcs.studies.breakdown.show import show
from robustcs.studies.breakdown.show_rewriters import overview, slice_findings
from robustcs.studies.breakdown.study import ask
from robustcs.studies.study import Question, SectionContent

_READING = (
    "How to read it: the bin of a turn shows which of its formulations (Original, QR, Human) get a correct answer. If even"
    " Human is not correct, the QA component caused the error. If Human is correct and QR is not, the rewriter caused it. The"
    " threshold decides what counts as correct, so check that the result holds at every threshold. Each interval belongs to"
    " one share. To compare two shares, use the test: overlapping intervals do not show that shares are equal."
)


def _result(workspace: Workspace) -> Breakdown:
    """Return the breakdown with slices by depth and, if Original has texts, by texts; search them if there are enough units."""
    texts = any(
        part.role == "original" and part.rewrites
        for part in workspace.project.formulations.values()
    )
    slices = ["depth", TEXTS] if texts else ["depth"]
    try:
        return ask(workspace, slices=slices, find_slices=True)
    except UsageError as error:
        if error.slug not in ("few-units", "no-slices"):
            raise
        return ask(workspace, slices=slices)


def _content(workspace: Workspace) -> SectionContent:
    result = _result(workspace)
    findings = (*finding(result), *slice_findings(result))
    blocks = tuple(
        block
        for block in shown_blocks(result, show(result, names=tuple(result.tables)), ())
        if not isinstance(block, Figure)
    )
    return SectionContent(
        result,
        blocks,
        findings,
        _READING,
        turns_to_read(result),
        verdicts(result),
        overview(result),
    )


def _ranked(project: Project) -> bool:
    return sum(bool(part.run or part.scores) for part in project.formulations.values()) > 1


def _has_answers(project: Project) -> bool:
    # gold answers may also be the references of generated answers
    return bool(project.gold and not project.answers) or any(
        part.answers for part in project.formulations.values()
    )


_TABLES = ("attribution", "rewriters", "blame", "bins", "answerable", "error_types", "found_slices")

QUESTIONS = (
    Question(
        "breakdown",
        "Wrong answer or wrong question?",
        _TABLES,
        formulations_by_rankings,
        _content,
        given=_ranked,
    ),
    Question(
        "answers",
        "And in reading comprehension?",
        _TABLES,
        formulations_by_answers,
        _content,
        given=_has_answers,
    ),
)
