"""The command ``robustcs breakdown`` and the report sections that attribute failures."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Annotated, Any

from robustcs.documents.document import Block, Cards, Figure
from robustcs.documents.forms import shown_blocks
from robustcs.documents.headline import headline_cut, shown_cuts
from robustcs.errors import UsageError
from robustcs.evaluation.bins import bins_of
from robustcs.evaluation.thresholds import reachable_thresholds
from robustcs.project.model import Project
from robustcs.project.requirements import formulations_by_answers, formulations_by_rankings
from robustcs.project.slices import searched, slicings
from robustcs.project.trust import claim_of_misfits
from robustcs.project.workspace import Workspace
from robustcs.slicing import TEXTS
from robustcs.studies.breakdown.analysis import Breakdown, breakdown
from robustcs.studies.breakdown.findings import finding, verdicts
from robustcs.studies.breakdown.show import show, show_turns
from robustcs.studies.breakdown.show_rewriters import overview, slice_findings
from robustcs.studies.signature import Opt, Slices
from robustcs.studies.study import (
    BY,
    FORMULATIONS,
    SCORING,
    SEED,
    UNIT,
    Answer,
    Call,
    Command,
    Question,
)


def ask(workspace: Workspace, *, slices: Slices = None, find_slices: bool = False) -> Breakdown:
    """Wrong answer or wrong question? Attribute each failure to the rewriter or to the ranker (or reader).

    The command counts the turns on which Original, QR and Human get a correct answer. A turn is a QA error if even Human is
    not correct, and a rewriter error if Human is correct and QR is not.

    slices
        Split the turns by first, depth, conversation, pronoun, ellipsis, length, shift or name; by texts (all properties of
        the texts); or by the columns of a TSV file with a header and a column of turn ids. Repeatable.

    find_slices
        Search for slices with a large loss to Human. Each is a rule of one or two conditions on --slices (default: depth and
        texts). p is adjusted for the number of rules tried.

    Raises :class:`UsageError` if a slice needs texts that are missing, or if a search for slices has too few conversations
    or no slices.

    Examples:
      robustcs breakdown
      robustcs breakdown --show 001 --metric ndcg_cut_3 --threshold 0.5
      robustcs breakdown --slices depth --slices pronoun --find-slices
      robustcs breakdown --original raw.trec --qr t5.trec --human manual.trec \\
          --qrels qrels.txt --relevance-level 2
      robustcs breakdown --metric f1 --gold gold.json --answers original=a.json \\
          --answers qr=b.json --answers human=c.json
    """
    scores, evaluated = workspace.formulation_scores()
    project = workspace.project
    thresholds = reachable_thresholds(project.thresholds, project.metrics)
    texts = workspace.texts_of(scores.turns, evaluated.basis)
    turns = list(scores.turns)
    cut, told = slicings(workspace, turns, slices, evaluated)
    search = searched(workspace, turns, cut, evaluated) if find_slices else ()
    evaluated = replace(evaluated, notes=(*evaluated.notes, *told))
    result = breakdown(scores, evaluated, thresholds, texts, project.seed, cut, search)
    pairs = combinations((part.name for part in project.formulations.values()), 2)
    misfit, unordered = claim_of_misfits(workspace.fit, pairs, "blame")
    result = result.changed(misfit=misfit, unordered=unordered)
    return result.without_p() if unordered else result


def _run(call: Call, show: Annotated[str, Opt("BIN")] | None, **split: Any) -> None:
    """Run the study for the command line.

    show
        Also list the turns of a bin with their texts. BIN gives Original, QR and Human as 0 or 1: 001.
    """
    from robustcs.studies.breakdown import show as shown

    workspace = call.answered()
    result = call.ask(workspace, **split)
    cards = () if show is None else (shown.show_turns(result, show),)
    call.emit(workspace, result, lambda: (*shown.show(result, call.tables), *cards))


COMMAND = Command(ask, (*FORMULATIONS, "threshold", *SCORING, *BY, *UNIT, *SEED), run=_run)


#: The bins to read first: rewriter errors, and turns that a rewrite answers and Human does not.
BINS_TO_READ = ("001", "101", "010", "-01", "-10")

#: Turns shown per bin; the table of turns on the same page lists all.
_CARDS = 5

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


def _answer(workspace: Workspace) -> Answer:
    result = _result(workspace)
    findings = (*finding(result), *slice_findings(result))
    blocks = tuple(
        block
        for block in shown_blocks(result, show(result, names=tuple(result.tables)), ())
        if not isinstance(block, Figure)
    )
    return Answer(
        result, blocks, findings, _READING, _to_read(result), verdicts(result), overview(result)
    )


def _to_read(result: Breakdown) -> tuple[Block, ...]:
    """Return the turns to read: of each bin in :data:`BINS_TO_READ` those on which QR and Human differ most."""
    cut = headline_cut(shown_cuts(result.table("bins")))
    cards = (
        show_turns(result, bin_, cut, most=_CARDS)
        for bin_ in BINS_TO_READ
        if bin_ in bins_of(result.rows("bins"))
    )
    return tuple(block for block in cards if isinstance(block, Cards) and block.cards)


def _ranked(project: Project) -> bool:
    return sum(bool(part.run or part.scores) for part in project.formulations.values()) > 1


def _answered(project: Project) -> bool:
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
        _answer,
        given=_ranked,
    ),
    Question(
        "answers",
        "And in reading comprehension?",
        _TABLES,
        formulations_by_answers,
        _answer,
        given=_answered,
    ),
)
