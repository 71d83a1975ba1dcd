"""On which turns does the rewriter fail, and what is wrong with its rewrites there?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robustcs.evaluation.bins import CAUSES, Formulations
from robustcs.evaluation.thresholds import Threshold, distinct_thresholds
from robustcs.lazy import pd
from robustcs.result import count, difference, number, share, table, text
from robustcs.similarity.differences import ERROR_TYPES, error_types
from robustcs.slicing.estimates import against_rest, cells, keys, slices_of_rows
from robustcs.slicing.search import FOUND, found_rows
from robustcs.slicing.table import Slicing
from robustcs.statistics.estimate import Estimate, joined
from robustcs.statistics.means import share_estimates
from robustcs.statistics.sign_flip import paired_tests
from robustcs.statistics.units import Units

Texts = Mapping[str, Mapping[str, str]]

_CUT = (text("rewriter"), text("metric"), text("threshold", "what makes an answer correct"))
_WILSON = "95 %: Wilson's interval with whole units; null below five of them"

SLICES = table(
    "slices", "Turns by what is to blame, within slices of the turns; no rows without --slices.",
    *_CUT, *keys(), text("cause", "qa, qr or correct"), count("count", "turns of the slice with this cause"),
    share("share", "count of the slice's turns"), share("ci_low", _WILSON), share("ci_high"), *against_rest("share"),
)  # fmt: skip
FOUND_SLICES = table(
    "found_slices", "Slices found in which the rewriter loses more against Human than elsewhere; no rows without --find-slices."
    " Values are mean QR − mean Human.",
    text("rewriter"), text("metric"), *FOUND,
)  # fmt: skip
COSTS = table(
    "error_types", "What differs between a rewrite and the Human text, and what it costs. A turn may have several types. No"
    " rows without texts of both.",
    *_CUT, text("type", f"{', '.join(ERROR_TYPES)}; unknown: a text is missing"),
    count("turns", "that have this type"), share("share", "of all turns"),
    difference("loss", "mean Human − mean QR over these turns"),
    number("loss_low", "95 %, inverted sign-flip test of whole units; null where none can be given: note says why"),
    number("loss_high"),
    difference("points", "what these turns take off the mean over all turns: loss × share"),
    number("points_low", "95 %, as for loss"), number("points_high"),
    count("errors", "of these turns, errors of the rewriter"), share("error_share", "errors of these turns"),
    share("error_low", _WILSON), share("error_high"),
    share("of_errors", "errors out of all errors of the rewriter"), share("of_errors_low", _WILSON), share("of_errors_high"),
    count("units", "conversations (or single turns) that have such a turn"),
    text("note", "what must be known beside the numbers"),
)  # fmt: skip
UNKNOWN = "unknown"


def slice_shares(
    scores: Formulations, thresholds: Sequence[Threshold], slicings: Sequence[Slicing], units: Units, seed: int
) -> pd.DataFrame:
    """The table :data:`SLICES` of every rewriter, measure and threshold."""
    cut = list(_cuts(scores, thresholds)) if slicings else []
    rows: list[tuple[Any, ...]] = []
    for rewriter in dict.fromkeys(name for name, *_ in cut):
        hits = [
            ((name, metric, threshold, cause), mask)
            for name, metric, threshold, qr, human in cut if name == rewriter
            for cause, mask in zip(CAUSES, (~human, human & ~qr, human & qr), strict=True)
        ]  # fmt: skip
        own = [one for one in slicings if one.concerns(rewriter)]
        found = slices_of_rows([mask for _, mask in hits], own, units, seed, shares=True)
        for ((*which, cause), _), slices in zip(hits, found, strict=True):
            for one in slices:
                share_ = one.own
                counts = (one.turns, cause, round(share_.value * one.turns))
                rows.append((*which, one.slicing, one.name, *counts, share_.value, share_.low, share_.high, *cells(one)))
    return SLICES.frame(rows)


def found_losses(
    scores: Formulations, slicings: Sequence[Slicing], units: Units, seed: int
) -> tuple[pd.DataFrame, dict[str, int]]:
    """The table :data:`FOUND_SLICES`, and how many rules were tried of every measure, over all rewriters together.

    Raises :class:`UsageError` where there are too few units.
    """
    gains = {
        metric: np.stack([(frame[metric] - scores.human[metric]).to_numpy() for frame in scores.rewriters.values()])
        for metric in scores.measures
    }
    rows, tried = found_rows(list(scores.rewriters), gains, slicings, units, seed)
    return FOUND_SLICES.frame(rows), tried


def error_costs(scores: Formulations, thresholds: Sequence[Threshold], texts: Texts, units: Units, seed: int) -> pd.DataFrame:
    """The table :data:`COSTS` of every rewriter that has texts: types with any turn, in their order."""
    human = texts.get("human", {})
    masks = {}
    for name in scores.rewriters:
        qr = texts.get(name, {})
        if qr and human:
            both = qr.keys() & human.keys()
            masks[name] = _masks([error_types(qr[turn], human[turn]) if turn in both else (UNKNOWN,) for turn in scores.turns])
    losses = {
        (name, metric): _losses(masks[name], (scores.human[metric] - scores.rewriters[name][metric]).to_numpy(), units, seed)
        for name in masks for metric in scores.measures
    }  # fmt: skip
    rows: list[tuple[Any, ...]] = []
    for name, metric, threshold, correct, right in _cuts(scores, thresholds):
        if name not in masks:
            continue
        kinds, inside = masks[name]
        errors = right & ~correct
        hits, sizes = units.sums(inside & errors), units.sums(inside)
        shares = share_estimates(hits, sizes, units.kind)
        of_errors = share_estimates(hits, units.sums(errors), units.kind)
        for place, (kind, (loss, points)) in enumerate(zip(kinds, losses[name, metric], strict=True)):
            own, whole = shares[place], of_errors[place]
            rows.append((
                name, metric, threshold, kind, int(sizes[place].sum()), float(inside[place].mean()),
                loss.value, loss.low, loss.high, points.value, points.low, points.high,
                int(hits[place].sum()), own.value, own.low, own.high, whole.value, whole.low, whole.high,
                own.units, _told(loss.note, own.note),
            ))  # fmt: skip
    return COSTS.frame(rows)


def _told(*notes: str) -> str:
    """What is to be known of intervals, once; nothing of p values, which stand nowhere here."""
    parts = dict.fromkeys(part for note in notes for part in note.split("; "))
    return joined(*(part for part in parts if not part.startswith("p cannot")))


def _masks(types: Sequence[Sequence[str]]) -> tuple[list[str], np.ndarray]:
    """The types that there are, and bool[types, turns]."""
    there = [kind for kind in (*ERROR_TYPES, UNKNOWN) if any(kind in own for own in types)]
    return there, np.array([[kind in own for own in types] for kind in there])


def _losses(masks: tuple[list[str], np.ndarray], loss: np.ndarray, units: Units, seed: int) -> list[tuple[Estimate, Estimate]]:
    """Of every type its loss, and what it takes off the mean over all turns."""
    inside = masks[1]
    sums = units.sums(inside * loss)
    own = paired_tests(sums, units.sums(inside), seed, units.kind)
    whole = paired_tests(sums, units.sizes, seed, units.kind)
    return list(zip(own, whole, strict=True))


def _cuts(scores: Formulations, thresholds: Sequence[Threshold]) -> Any:
    """(rewriter, measure, threshold, whether QR is correct, whether Human is) of every cut, the rewriter first."""
    for name, frame in scores.rewriters.items():
        for metric in scores.measures:
            for threshold in distinct_thresholds(metric, thresholds):
                qr, human = (threshold.holds(own[metric].to_numpy()) for own in (frame, scores.human))
                yield name, metric, str(threshold), qr, human
