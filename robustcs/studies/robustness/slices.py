"""Where in the conversation, and for which turns, do scores drop?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from robustcs.lazy import npt, pd
from robustcs.result import difference, number, score
from robustcs.slicing.estimates import against_rest, cells, keys, slices_of
from robustcs.slicing.table import Slicing
from robustcs.statistics.units import Units

if TYPE_CHECKING:
    Floats = npt.NDArray[np.float64]

#: Columns of the drops within slices.
SLICES = (
    *keys(), score("value", "mean over the sets", "mean"), score("baseline"), difference("drop", "baseline − value"),
    number("drop_percent", "of the baseline; null where that is 0", "in %"),
    difference("ci_low", "of the drop: 95 %, cluster-robust t over units; null for fewer than five"), difference("ci_high"),
    *against_rest("drop"),
)  # fmt: skip


def slice_drops(baseline: Floats, scores: Floats, slicings: Sequence[Slicing], units: Units, seed: int) -> pd.DataFrame:
    """Drops of the mean over the sets (``scores``: turns × sets) within slices of the turns; the columns are :data:`SLICES`."""
    rows = []
    places = {(one.name, name): one.codes == code for one in slicings for code, name in enumerate(one.slices)}
    for found in slices_of(baseline - scores.mean(axis=1), slicings, units, seed):
        base = float(baseline[places[found.slicing, found.name]].mean())
        drop = found.own
        percent = 100 * drop.value / base if base else np.nan
        own = (base - drop.value, base, drop.value, percent, drop.low, drop.high)
        rows.append((found.slicing, found.name, found.turns, *own, *cells(found)))
    return pd.DataFrame(rows, columns=[field.name for field in SLICES])
