"""Wrong answer or wrong question? Of rankings, and of predicted answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from robustcs.documents.document import Block, Figure, Heading, Table
from robustcs.documents.headline import headline_cut
from robustcs.evaluation.thresholds import parse_thresholds
from robustcs.project.model import Project
from robustcs.project.parts import measures, needs, only
from robustcs.project.workspace import DEFAULT_ANSWER_METRICS, Workspace
from robustcs.reporting.question import Answer, Question
from robustcs.studies.breakdown.analysis import Breakdown, breakdown
from robustcs.studies.breakdown.show import finding, present_breakdown, present_turns, shown_cuts
from robustcs.studies.breakdown.squares import present_squares
from robustcs.studies.sweep.analysis import sweep
from robustcs.studies.sweep.show import present_sweep

#: The bins to read first: the rewriter's errors, and turns that a rewrite answers and the Human text does not.
BINS_TO_READ = ("001", "101", "010")

_READING = (
    "How to read it: a turn belongs to the bin that says which of its three formulations (Original, QR, Human) get a correct"
    " answer. Where even the Human question fails, the QA component is to blame; where Human succeeds and QR fails, the"
    " rewriter is. What counts as correct depends on the threshold, so look whether the picture holds at all of them. Small"
    " counts have wide intervals: two shares whose intervals overlap may well be equal."
)


def _rankings(project: Project) -> Project:
    part = only(project, ("qrels", "thresholds", "policy", "seed"), ("run", "scores", "rewrites"))
    return replace(part, metrics=measures(project, of_answers=False))


def _answers(project: Project) -> Project:
    needs(project.gold, "no-gold", "no gold answers", "name them with gold = … or --gold")
    part = only(project, ("gold", "thresholds", "policy", "seed"), ("answers", "rewrites"))
    return replace(part, metrics=measures(project, of_answers=True))


def _blame(workspace: Workspace, metrics: Sequence[str] = ()) -> Answer:
    scores, evaluated = workspace.formulation_scores(metrics)
    thresholds = parse_thresholds(workspace.project.thresholds, workspace.project.metrics)
    texts = workspace.texts_of(scores.turns, evaluated.basis)
    result = breakdown(scores, evaluated, thresholds, texts, workspace.project.seed)
    swept = sweep(scores.graded(), evaluated)
    shown = present_sweep(swept)
    blocks: list[Block] = [*present_squares(result)]
    blocks += [block for block in shown if isinstance(block, Figure)]
    blocks += present_breakdown(result)
    blocks += [replace(block, slug=f"sweep-{block.slug}") for block in shown if isinstance(block, Table)]
    blocks += _turns_to_read(result)
    return Answer(finding(result), _READING, tuple(blocks), result.evaluated, {"breakdown": result, "sweep": swept})


def _turns_to_read(result: Breakdown) -> list[Block]:
    """The turns of the bins worth reading."""
    cut = headline_cut(shown_cuts(result.turns))
    cards = [present_turns(result, bin_, cut) for bin_ in BINS_TO_READ]
    return [Heading("Turns to read", 2), *(block for block in cards if block.cards)]


_TABLES = ("attribution", "bins", "answerable")

RANKINGS = Question("breakdown", "Wrong answer or wrong question?", _TABLES, _rankings, _blame)
READING = Question(
    "answers", "And in reading comprehension?", _TABLES, _answers,
    lambda workspace: _blame(workspace, workspace.project.metrics or DEFAULT_ANSWER_METRICS),
)  # fmt: skip
