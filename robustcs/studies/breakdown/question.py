"""The breakdown in the report: of rankings, and of predicted answers."""

from __future__ import annotations

from dataclasses import replace

from robustcs.documents.document import Block, Cards, Figure
from robustcs.documents.forms import shown_blocks
from robustcs.documents.headline import headline_cut, shown_cuts
from robustcs.errors import UsageError
from robustcs.evaluation.bins import bins_of
from robustcs.project.model import Project
from robustcs.project.parts import measures, needs, only
from robustcs.project.workspace import Workspace
from robustcs.slicing.words import TEXTS
from robustcs.studies.breakdown.analysis import Breakdown
from robustcs.studies.breakdown.ask import ask
from robustcs.studies.breakdown.findings import finding, verdicts
from robustcs.studies.breakdown.overview import overview
from robustcs.studies.breakdown.show import show, show_turns
from robustcs.studies.breakdown.show_slices import slice_findings
from robustcs.studies.study import Answer, Question

#: The bins to read first: the rewriter's errors, and turns that a rewrite answers and the Human text does not.
BINS_TO_READ = ("001", "101", "010", "-01", "-10")

#: Turns of a bin; the page has all of them in the table of turns.
_CARDS = 5

_READING = (
    "How to read it: a turn belongs to the bin that says which of its three formulations (Original, QR, Human) get a correct"
    " answer. Where even the Human question fails, the QA component is to blame; where Human succeeds and QR fails, the"
    " rewriter is. What counts as correct depends on the threshold, so look whether the picture holds at all of them. An"
    " interval is that of its own share; whether two shares differ is for the test to say, not for their intervals to overlap."
)


def _rankings(project: Project) -> Project:
    part = only(project, ("qrels", "thresholds", "policy", "seed"), ("run", "scores", "rewrites"))
    return replace(part, metrics=measures(project, of_answers=False))


def _answers(project: Project) -> Project:
    needs(project.gold, "no-gold", "no gold answers", "name them with gold = … or --gold")
    answers = any(part.answers for part in project.formulations.values())
    needs(answers, "no-answers", "no predicted answers", "name them with --answers qr=FILE and human=FILE")
    part = only(project, ("gold", "thresholds", "policy", "seed"), ("answers", "rewrites"))
    return replace(part, metrics=measures(project, of_answers=True))


def _result(workspace: Workspace) -> Breakdown:
    """With slices by depth, and by texts where there are Original ones; those found where there are enough conversations."""
    texts = any(part.role == "original" and part.rewrites for part in workspace.project.formulations.values())
    slices = ["depth", TEXTS] if texts else ["depth"]
    try:
        return ask(workspace, slices=slices, find_slices=True)
    except UsageError as error:
        if error.slug not in ("few-units", "no-slices"):
            raise
        return ask(workspace, slices=slices)


def _answer(workspace: Workspace) -> Answer:
    result = _result(workspace)
    # the overview has the figures
    blocks = tuple(block for block in shown_blocks(result, show(result), ()) if not isinstance(block, Figure))
    findings = (*finding(result), *slice_findings(result))
    return Answer(
        findings, _READING, blocks, result.evaluated, {"breakdown": result}, _to_read(result),
        verdicts=verdicts(result), overview=overview(result),
    )  # fmt: skip


def _to_read(result: Breakdown) -> tuple[Block, ...]:
    """Of the bins worth reading the turns in which QR and Human differ most."""
    cut = headline_cut(shown_cuts(result.turns))
    cards = (show_turns(result, bin_, cut, most=_CARDS) for bin_ in BINS_TO_READ if bin_ in bins_of(result.bins))
    return tuple(block for block in cards if isinstance(block, Cards) and block.cards)


def _ranked(project: Project) -> bool:
    return sum(bool(part.run or part.scores) for part in project.formulations.values()) > 1


def _answered(project: Project) -> bool:
    return bool(project.gold) or any(part.answers for part in project.formulations.values())


_TABLES = ("attribution", "rewriters", "blame", "bins", "answerable", "error_types", "found_slices")

QUESTIONS = (
    Question("breakdown", "Wrong answer or wrong question?", _TABLES, _rankings, given=_ranked, answer=_answer),
    Question("answers", "And in reading comprehension?", _TABLES, _answers, given=_answered, answer=_answer),
)
