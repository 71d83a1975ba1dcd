"""The command ``robustcs breakdown``."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any

from robustcs.errors import UsageError
from robustcs.studies.signature import Opt, Slices
from robustcs.studies.study import BY, FORMULATIONS, SCORING, SEED, UNIT, Call, Command

if TYPE_CHECKING:
    from robustcs.project.workspace import Workspace
    from robustcs.studies.breakdown.analysis import Breakdown


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
    from robustcs.evaluation.thresholds import reachable_thresholds
    from robustcs.project.slices import searched, slicings
    from robustcs.project.trust import claim_of_misfits
    from robustcs.studies.breakdown.analysis import breakdown

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


def _run(call: Call, slices: Slices, show: Annotated[str, Opt("BIN")] | None, **split: Any) -> None:
    """Run the study for the command line.

    show
        List the turns of a bin, as robustcs turns --where bin:BIN does. BIN gives Original, QR and Human as 0 or 1: 001.
    """
    workspace = call.with_runs()
    if show is None:
        call.emit(workspace, call.ask(workspace, slices=slices, **split))
        return
    from robustcs.evaluation.bins import BINS, BINS_WITHOUT_ORIGINAL
    from robustcs.records.filter import quoted
    from robustcs.studies.registry import study

    known = ("original", "original") in workspace.formulation_files()
    names = BINS if known else BINS_WITHOUT_ORIGINAL
    if show not in names:
        advice = f"write Original, QR, Human as 0 or 1: {', '.join(names)}"
        raise UsageError("bad-bin", f"there is no bin {show!r}", advice)
    turns = study("turns")
    result = turns.part("study").ask(workspace, where=f"bin:{quoted(show)}", slices=slices)
    call.emit(workspace, result, lambda: turns.blocks(result))


COMMAND = Command(ask, (*FORMULATIONS, "threshold", *SCORING, *BY, *UNIT, *SEED), run=_run)
