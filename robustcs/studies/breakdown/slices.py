"""Rewriter errors by slice, and the costs of the differences between rewrites and Human texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robustcs.evaluation.bins import CAUSES, Binned, Formulations
from robustcs.lazy import pd
from robustcs.result import count, difference, measure, number, share, table, text
from robustcs.similarity.differences import ERROR_TYPES, error_types
from robustcs.slicing.estimates import against_rest, cells, keys, slices_of_rows
from robustcs.slicing.search import FOUND, found_rows
from robustcs.slicing.table import Slicing
from robustcs.statistics.columns import columns_of
from robustcs.statistics.estimate import joined
from robustcs.statistics.means import share_estimates
from robustcs.statistics.sign_flip import paired_tests
from robustcs.statistics.units import Units

#: Role of a formulation → turn → text. A rewriter's role is its name.
Texts = Mapping[str, Mapping[str, str]]

_CUT = (text("rewriter", header="Rewriter"), measure(), text("threshold", "what makes an answer correct"))
_WILSON = "95% CI: Wilson interval, clustered by sampling unit; null for fewer than five units"

SLICES = table(
    "slices", "QA errors, rewriter errors and correct turns by slice; no rows without --slices.",
    *_CUT, *keys(), text("cause", "qa, qr or correct"), count("count", "turns of the slice with this cause"),
    share("share", "count ÷ turns of the slice"), share("ci_low", _WILSON), share("ci_high"), *against_rest("share"),
)  # fmt: skip
FOUND_SLICES = table(
    "found_slices", "Slices on which the rewriter loses more to Human than on other turns; no rows without --find-slices."
    " Values are mean QR − mean Human.",
    text("rewriter"), text("metric"), *FOUND,
)  # fmt: skip
COSTS = table(
    "error_types", "Differences between rewrites and Human texts, and their cost. A turn may have several types. No rows unless"
    " both have texts.",
    *_CUT, text("type", f"{', '.join(ERROR_TYPES)}; unknown: a text is missing", "Difference"),
    count("turns", "turns of this type"), share("share", "share of all turns"),
    *difference("loss", "mean Human − mean QR over these turns").rounded(3).between(
        "loss_low", "loss_high", "95% CI: inverted sign-flip test on sampling units; null if there is none (note says why)"
    ),
    difference("points", "loss of the mean over all turns caused by these turns: loss × share"),
    number("points_low", "95% CI, as for loss"), number("points_high"),
    count("errors", "rewriter errors on these turns", "errors"),
    *share("error_share", "errors ÷ turns of this type", "share").between("error_low", "error_high", _WILSON),
    share("of_errors", "errors ÷ all rewriter errors", "of all"), share("of_errors_low", _WILSON),
    share("of_errors_high"), count("units", "conversations (or single turns) with such a turn"),
    text("note", "caveats"),
)  # fmt: skip
UNKNOWN = "unknown"


def slice_shares(binned: Binned, slicings: Sequence[Slicing], units: Units, seed: int) -> pd.DataFrame:
    """Return the table :data:`SLICES` for every rewriter, measure and threshold."""
    rows: list[tuple[Any, ...]] = []
    for rewriter, cuts in binned.keys.groupby("rewriter", sort=False) if slicings else ():
        own = [one for one in slicings if one.concerns(str(rewriter))]
        hits = binned.blamed[:, binned.places[cuts.index]].swapaxes(0, 1).reshape(-1, binned.places.shape[1])
        which = [(*cut, cause) for cut in cuts.itertuples(index=False, name=None) for cause in CAUSES]
        for (*cut, cause), slices in zip(which, slices_of_rows(hits, own, units, seed, shares=True), strict=True):
            for one in slices:
                share_ = one.own
                counts = (one.turns, cause, round(share_.value * one.turns))
                rows.append((*cut, one.slicing, one.name, *counts, share_.value, share_.low, share_.high, *cells(one)))
    return SLICES.frame(rows)


def found_losses(
    scores: Formulations, slicings: Sequence[Slicing], units: Units, seed: int
) -> tuple[pd.DataFrame, dict[str, int]]:
    """Return the table :data:`FOUND_SLICES` and, per measure, the number of rules tried over all rewriters together.

    Raises :class:`UsageError` if there are too few units.
    """
    gains = {
        metric: np.stack([one[metric] - scores.human[metric] for one in scores.rewriters.values()])
        for metric in scores.measures
    }
    rows, tried = found_rows(list(scores.rewriters), gains, slicings, units, seed)
    return FOUND_SLICES.frame(rows), tried


def error_costs(scores: Formulations, binned: Binned, texts: Texts, units: Units, seed: int) -> pd.DataFrame:
    """Return the table :data:`COSTS` for every rewriter with texts; types without turns have no row."""
    human = texts.get("human", {})
    parts = []
    for name, own_cuts in binned.keys.groupby("rewriter", sort=False):
        qr = texts.get(str(name), {})
        if not qr or not human:
            continue
        types = [error_types(qr[turn], human[turn]) if turn in qr and turn in human else (UNKNOWN,) for turn in scores.turns]
        kinds = [kind for kind in (*ERROR_TYPES, UNKNOWN) if any(kind in own for own in types)]
        inside = np.array([[kind in own for own in types] for kind in kinds])
        sizes = units.sums(inside)
        for metric, cuts in own_cuts.groupby("metric", sort=False):
            lost = units.sums(inside * (scores.human[str(metric)] - scores.rewriters[str(name)][str(metric)]))
            whole = np.concatenate([sizes, np.broadcast_to(units.sizes, sizes.shape)])
            tests = paired_tests(np.concatenate([lost, lost]), whole, seed, units.kind)
            losses, points = tests[: len(kinds)], tests[len(kinds) :]
            for place, *cut in cuts.itertuples(name=None):
                errors = binned.blamed[1][binned.places[place]]
                hits = units.sums(inside & errors)
                shares, of_errors = (share_estimates(hits, whole, units.kind) for whole in (sizes, units.sums(errors)))
                parts.append(pd.DataFrame({
                    **dict(zip(("rewriter", "metric", "threshold"), cut, strict=True)), "type": kinds,
                    "turns": sizes.sum(axis=1).astype(int), "share": inside.mean(axis=1),
                    **columns_of(losses, "loss", "loss_low", "loss_high"),
                    **columns_of(points, "points", "points_low", "points_high"), "errors": hits.sum(axis=1).astype(int),
                    **columns_of(shares, "error_share", "error_low", "error_high", units="units"),
                    **columns_of(of_errors, "of_errors", "of_errors_low", "of_errors_high"),
                    "note": [_told(loss.note, own.note) for loss, own in zip(losses, shares, strict=True)],
                }))  # fmt: skip
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _told(*notes: str) -> str:
    """Join notes on intervals, each once; notes on p-values are dropped, as the table shows none."""
    parts = dict.fromkeys(part for note in notes for part in note.split("; "))
    return joined(*(part for part in parts if not part.startswith("p cannot")))
