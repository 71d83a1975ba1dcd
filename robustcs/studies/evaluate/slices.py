"""Where in the conversation, and on which turns, does a system score higher or lower than elsewhere?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from robustcs.lazy import pd
from robustcs.result import number, score, table, text
from robustcs.slicing.estimates import against_rest, cells, keys, slices_of
from robustcs.slicing.search import FOUND, found_rows
from robustcs.slicing.table import Slicing
from robustcs.statistics.units import Units

SLICES = table(
    "slices", "The mean of every system within slices of the turns; no rows without --slices.",
    text("run"), text("metric"), *keys(), score("value", "mean over the turns of the slice", "mean"),
    number("ci_low", "95 %, cluster-robust t over whole units; null below five"), number("ci_high"), *against_rest("mean"),
)  # fmt: skip
FOUND_SLICES = table(
    "found_slices", "Slices found to score lower than the other turns, best first; no rows without --find-slices.",
    text("run"), text("metric"), *FOUND,
)  # fmt: skip


def slice_means(
    scores: Mapping[str, pd.DataFrame], bounded: Mapping[str, bool], slicings: Sequence[Slicing], units: Units, seed: int
) -> pd.DataFrame:
    """The table :data:`SLICES` of every system and measure."""
    rows: list[tuple[Any, ...]] = []
    for name, frame in scores.items() if slicings else ():
        own = [one for one in slicings if one.concerns(name)]
        for metric in frame:
            bounds = (0.0, 1.0) if bounded[metric] else None
            rows_of = frame[metric].notna().to_numpy()
            cut = [replace(one, codes=one.codes[rows_of]) for one in own]
            for one in slices_of(frame[metric].dropna().to_numpy(), cut, units.take(rows_of), seed, bounds=bounds):
                mean = one.own
                rows.append((name, metric, one.slicing, one.name, one.turns, mean.value, mean.low, mean.high, *cells(one)))
    return SLICES.frame(rows)


def found_slices(
    scores: Mapping[str, pd.DataFrame], slicings: Sequence[Slicing], units: Units, seed: int
) -> tuple[pd.DataFrame, dict[str, int]]:
    """The table :data:`FOUND_SLICES`, and how many rules were tried of every measure, over all systems together and the turns
    that all of them have.

    Raises :class:`UsageError` where there are too few units.
    """
    measures = list(next(iter(scores.values())))
    common = np.all([frame.notna().all(axis=1) for frame in scores.values()], axis=0)
    values = {metric: np.stack([frame.loc[common, metric].to_numpy() for frame in scores.values()]) for metric in measures}
    cut = [replace(one, codes=one.codes[common]) for one in slicings]
    rows, tried = found_rows(list(scores), values, cut, units.take(common), seed)
    return FOUND_SLICES.frame(rows), tried
