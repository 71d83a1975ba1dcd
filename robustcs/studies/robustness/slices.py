"""Where in the conversation, and for which turns, do scores drop?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from robustcs.inputs.turns import turn_depth, turn_sort_key
from robustcs.result import count, difference, number, score, text
from robustcs.statistics.means import mean_estimates
from robustcs.statistics.units import Units

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    Floats = npt.NDArray[np.float64]

#: Column of a user's file → turn → value.
Slices = Mapping[str, Mapping[str, str]]

#: A column with more different values than this makes no slices worth reading.
MAX_SLICES = 20

#: Columns of the drops within slices.
SLICES = (
    text("slicing", "first, depth (the place in the conversation), or a column of --slices"), text("slice"), count("turns"),
    score("value", "mean over the sets", "mean"), score("baseline"), difference("drop", "baseline − value"),
    number("drop_percent", "of the baseline; null where that is 0", "in %"),
    difference("ci_low", "of the drop: 95 %, cluster-robust t over units; null for fewer than five"), difference("ci_high"),
    count("units", "conversations or turns that are independent"), text("note", "what must be known beside the interval"),
)  # fmt: skip


def slice_drops(
    turns: pd.Index, baseline: Floats, scores: Floats, slices: Slices, units: Units
) -> tuple[pd.DataFrame, list[str]]:
    """Drops of the mean over the sets (``scores``: turns × sets) within slices of the turns, and notes on what is left out.

    ``units`` are those of the turns. Slicings: ``first`` (first, later), ``depth`` (the place in the conversation), and the
    columns of ``slices``. The columns are :data:`SLICES`.
    """
    import pandas as pd

    depths = {turn: depth for turn in turns if (depth := turn_depth(turn)) is not None}
    slicings: dict[str, Mapping[str, str]] = {
        "first": {turn: "first" if depth == 1 else "later" for turn, depth in depths.items()},
        "depth": {turn: str(depth) for turn, depth in depths.items()},
    }
    notes = [] if depths else ["the turn ids do not say their place in the conversation: no slices by depth"]
    for column, values in slices.items():
        known = {turn: values[turn] for turn in turns if turn in values}
        different = len(set(known.values()))
        if different > MAX_SLICES:
            notes.append(f"slices: column {column} has {different} different values (more than {MAX_SLICES}) and is left out")
            continue
        if len(known) < len(turns):
            notes.append(f"slices: column {column} says nothing of {len(turns) - len(known)} of the {len(turns)} turns")
        slicings[column] = known
    value = scores.mean(axis=1)
    rows = []
    for slicing, of_turn in slicings.items():
        labels = np.array([of_turn.get(turn) for turn in turns], dtype=object)
        for label in sorted(set(of_turn.values()), key=turn_sort_key):
            inside = labels == label
            mean, base = float(value[inside].mean()), float(baseline[inside].mean())
            percent = 100 * (base - mean) / base if base else np.nan
            own = units.take(inside)
            (drop,) = mean_estimates(own.sums((baseline - value)[inside]), own.sizes, own.kind)
            rows.append(
                (slicing, label, int(inside.sum()), mean, base, base - mean, percent, drop.low, drop.high, own.count, drop.note)
            )
    return pd.DataFrame(rows, columns=[field.name for field in SLICES]), notes
