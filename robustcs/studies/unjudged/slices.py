"""On which turns did nobody judge what a run finds?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robustcs.evaluation.holes import JudgedRun, counts_of
from robustcs.lazy import pd
from robustcs.result import count, share, table, text
from robustcs.slicing.estimates import against_rest, cells, keys, slices_of
from robustcs.slicing.table import Slicing
from robustcs.statistics.units import Units

SLICES = table(
    "slices", "The unjudged share of the top k of every run within slices of the turns; no rows without --slices.",
    text("run"), *keys(), count("retrieved"), count("unjudged"), share("share", "unjudged of retrieved"),
    share("ci_low", "95 %: Wilson's interval with whole units; null below five of them"), share("ci_high"),
    *against_rest("share"),
)  # fmt: skip


def unjudged_slices(
    runs: Sequence[JudgedRun], depth: int, slicings: Sequence[Slicing], units: Units | None, seed: int
) -> pd.DataFrame:
    """The table :data:`SLICES`, without rows where ``units`` are None; turns without passages count for nothing."""
    rows: list[tuple[Any, ...]] = []
    for run in runs if units is not None else ():
        assert units is not None
        retrieved, unjudged = counts_of(run.matrix.grades[:, :depth])
        own = [one for one in slicings if one.concerns(run.name)]
        for one in slices_of(unjudged, own, units, seed, shares=True, weights=retrieved):
            hits = round(one.own.value * one.weight) if one.weight else 0
            found = (int(one.weight), hits, one.own.value, one.own.low, one.own.high)
            rows.append((run.name, one.slicing, one.name, one.turns, *found, *cells(one)))
    return SLICES.frame(rows)
