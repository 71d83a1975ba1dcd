"""The report: every analysis that the inputs allow, as one document that answers the user's questions in order."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from robustcs import __version__
from robustcs.analyses.breakdown import Breakdown, breakdown
from robustcs.analyses.result import Evaluated
from robustcs.analyses.sweep import sweep
from robustcs.errors import UsageError
from robustcs.evaluation.thresholds import Threshold
from robustcs.reports.document import Block, Cards, Document, Figure, Heading, Paragraph, Table
from robustcs.reports.present.breakdown import finding, present_breakdown, present_turns, shown_cuts
from robustcs.reports.present.sweep import present_sweep
from robustcs.workspace import Workspace

#: The bins to read first: the rewriter's errors, and turns that a rewrite answers and the Human text does not.
BINS_TO_READ = ("001", "101", "010")


@dataclass(frozen=True)
class Section:
    """One question, what was found in a sentence or two, and the blocks that show it."""

    question: str
    findings: tuple[str, ...]
    blocks: tuple[Block, ...]
    evaluated: Evaluated


#: A question of the report: takes the inputs, raises :class:`UsageError` where they do not suffice.
Question = Callable[[Workspace, Sequence[Threshold]], Section]


def wrong_answer_or_wrong_question(workspace: Workspace, thresholds: Sequence[Threshold]) -> Section:
    """Breakdown and sweep of the ranking, or of per-turn scores."""
    return _formulations(workspace, thresholds, "Wrong answer or wrong question?", ())


def wrong_answer_to_be_read(workspace: Workspace, thresholds: Sequence[Threshold]) -> Section:
    """Breakdown and sweep of predicted answers."""
    project = workspace.project
    if not project.gold:
        raise UsageError("no-gold", "no gold answers", "name them with gold = … or --gold")
    return _formulations(workspace, thresholds, "And in reading comprehension?", ("f1",))


QUESTIONS: tuple[Question, ...] = (wrong_answer_or_wrong_question, wrong_answer_to_be_read)


def _formulations(
    workspace: Workspace, thresholds: Sequence[Threshold], question: str, metrics: Sequence[str]
) -> Section:
    scores, evaluated = workspace.formulation_scores(metrics)
    result = breakdown(scores, evaluated, thresholds, workspace.texts, workspace.project.seed)
    blocks = (*present_breakdown(result), *present_sweep(sweep(scores.graded(), evaluated)))
    return Section(question, finding(result), (*blocks, *_turns_to_read(result)), evaluated)


def _turns_to_read(result: Breakdown) -> tuple[Block, ...]:
    """The turns of the bins worth reading, at the last measure and the middle of its thresholds."""
    cuts = shown_cuts(result.turns)
    cut = cuts[len(cuts) // 2]
    cards = [present_turns(result, bin_, cut) for bin_ in BINS_TO_READ]
    return (Heading("Turns to read", 2), *(block for block in cards if block.cards))


def make_report(workspace: Workspace, thresholds: Sequence[Threshold]) -> Document:
    """Ask every question of :data:`QUESTIONS` and put the answers into one document.

    What could not be asked is named with what it would need. Raises :class:`UsageError` where nothing could be asked.
    """
    sections, left_out = [], []
    for question in QUESTIONS:
        try:
            sections.append(question(workspace, thresholds))
        except UsageError as error:
            left_out.append(f"Left out: {question.__name__.replace('_', ' ')} ({error})")
    if not sections:
        raise UsageError("nothing-to-report", "no analysis has the inputs it needs", "; ".join(left_out))
    blocks: list[Block] = [Heading("Findings")]
    blocks += [Paragraph(sentence) for section in sections for sentence in section.findings]
    for section in sections:
        blocks += [Heading(section.question), *section.blocks]
        blocks.append(Paragraph(f"Evaluated: {section.evaluated.policy_line}."))
    blocks = _with_unique_slugs(blocks)
    notes = [note for section in sections for note in section.evaluated.notes] + left_out
    return Document(
        title=f"{workspace.project.name}: a robustcs report",
        blocks=tuple(blocks),
        policy=sections[0].evaluated.policy_line,
        notes=tuple(dict.fromkeys(notes)),
        provenance=_provenance(workspace),
    )


def _with_unique_slugs(blocks: Sequence[Block]) -> list[Block]:
    """Sections on rankings and on answers have the same tables; the later ones get a number."""
    taken: dict[str, int] = {}
    unique: list[Block] = []
    for block in blocks:
        if isinstance(block, Table | Figure | Cards):
            taken[block.slug] = taken.get(block.slug, 0) + 1
            if taken[block.slug] > 1:
                block = replace(block, slug=f"{block.slug}-{taken[block.slug]}")
        unique.append(block)
    return unique


def _provenance(workspace: Workspace) -> tuple[tuple[str, str], ...]:
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    day = time.strftime("%Y-%m-%d", time.gmtime(int(epoch) if epoch else None))
    rows = [("Program", f"robustcs {__version__}"), ("Date", day), ("Seed", str(workspace.project.seed))]
    for entry in workspace.inputs:
        digest = f" · SHA-256 {entry['sha256'][:16]}…" if entry["sha256"] else ""
        name = os.path.basename(entry["path"])
        rows.append((f"Input: {entry['role']}", f"{name} · {entry['rows']} rows{digest}"))
    return tuple(rows)
