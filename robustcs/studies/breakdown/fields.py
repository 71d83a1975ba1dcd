"""Fields of turns: what makes a turn wrong, and how a rewrite differs from the Human text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from robustcs.documents.words import component
from robustcs.evaluation.bins import CAUSE_OF_BIN, Binned
from robustcs.project.turn_scores import TurnCut
from robustcs.project.turns import TurnInputs
from robustcs.records.table import Contribution, TurnField, Values, aligned_words
from robustcs.similarity.differences import Difference, text_difference

CAUSE = TurnField(
    "cause",
    "words",
    "correct, rewriter (Human is correct, the rewriter is not), or ranker or reader (Human is not"
    " correct)",
    "breakdown",
    per_system=True,
    by_cut=True,
)
BIN = TurnField(
    "bin",
    "words",
    "whether Original, the rewriter and Human are correct, as 0 or 1: 001; - for an unknown"
    " Original",
    "breakdown",
    per_system=True,
    by_cut=True,
)
TYPE = TurnField(
    "type",
    "words",
    "kinds of difference from the Human text: name lost, words dropped and others",
    "breakdown",
    per_system=True,
    several=True,
)
DROPPED = TurnField(
    "dropped",
    "words",
    "content words of the Human text that the text lacks",
    "breakdown",
    per_system=True,
    several=True,
)
ADDED = TurnField(
    "added",
    "words",
    "content words of the text that the Human text lacks",
    "breakdown",
    per_system=True,
    several=True,
)


def fields(inputs: TurnInputs, cut: TurnCut | None) -> list[Contribution]:
    """Return cause and bin if the formulations are scored, and differences if texts are known."""
    found = []
    if cut is not None and inputs.formulations_at(inputs.cuts[0].measure) is not None:
        found += [
            Contribution(CAUSE, partial(_causes, inputs, cut)),
            Contribution(BIN, partial(_bins, inputs, cut, str)),
        ]
    if "human" in inputs.texts and len(inputs.texts) > 1:
        found += [
            Contribution(TYPE, partial(_differences, inputs, lambda one: one.types)),
            Contribution(DROPPED, partial(_differences, inputs, lambda one: one.missing)),
            Contribution(ADDED, partial(_differences, inputs, lambda one: one.added)),
        ]
    return found


def _causes(inputs: TurnInputs, cut: TurnCut) -> Values:
    """Return rewriter → cause of every scored turn."""
    known = inputs.formulations_at(cut.measure)
    if known is None:
        return {}
    names = {"qa": component(known[1]), "qr": "rewriter", "correct": "correct"}
    return _bins(inputs, cut, lambda bin_: names[CAUSE_OF_BIN[bin_]])


def _bins(inputs: TurnInputs, cut: TurnCut, word: Callable[[str], str]) -> Values:
    """Return rewriter → the word for the bin of every scored turn."""
    known = inputs.formulations_at(cut.measure)
    if known is None:
        return {}
    scores, _ = known
    binned = Binned.of(scores, [cut.threshold], distinct=False)
    words = [word(bin_) for bin_ in binned.bins]
    found = {}
    for one, places in zip(binned.cuts, binned.places.tolist(), strict=True):
        if one.metric == cut.measure:
            values = {
                turn: (words[place],) for turn, place in zip(scores.turns, places, strict=True)
            }
            found[one.rewriter] = aligned_words(inputs.ids, values)
    return found


def _differences(inputs: TurnInputs, part: Callable[[Difference], Sequence[str]]) -> Values:
    """Return formulation → a part of the difference of every turn with both texts."""
    human = inputs.texts["human"]
    found = {}
    for name, texts in inputs.texts.items():
        if name != "human":
            values = {
                turn: part(text_difference(text, human[turn]))
                for turn, text in texts.items()
                if turn in human
            }
            found[name] = aligned_words(inputs.ids, values)
    return found
