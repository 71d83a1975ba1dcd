"""Discriminative power: of how many pairs of runs do the judgments tell the order, before and after new ones?

Sakai (2006), "Evaluating evaluation metrics based on the bootstrap", with the sign-flip test of whole conversations in place of
the bootstrap over turns.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from robustcs.evaluation.measure import Measure
from robustcs.lazy import pd
from robustcs.result import count, number, share, table, text
from robustcs.statistics.families import max_t_family
from robustcs.statistics.ranks import DECIMALS
from robustcs.statistics.sign_flip import paired_tests
from robustcs.statistics.units import Units

#: Pairs whose p is at most this differ significantly.
ALPHA = 0.05

POWER = table(
    "power", f"How many pairs of runs differ significantly at {ALPHA:g}, before and after. No rows for fewer than two runs.",
    text("metric"), count("pairs", "of runs"),
    count("before", "sign-flip test of whole units, each pair on its own"), count("after"),
    share("share_before", "of the pairs"), share("share_after"),
    count("adjusted_before", "p adjusted by max-T over all pairs of the measure"), count("adjusted_after"),
    share("adjusted_share_before", "of the pairs"), share("adjusted_share_after"),
    number("adjusted_floor", "the smallest adjusted p that this design could have shown"),
    count("reversed", "pairs with an adjusted p at most that before and after, in opposite order"),
)  # fmt: skip

Floats = npt.NDArray[np.float64]


def discriminative_power(before: Floats, after: Floats, measures: Sequence[Measure], units: Units, seed: int) -> pd.DataFrame:
    """:data:`POWER` of two sets of scores, float64[R, M, T] each, over the same turns, whose ``units`` are given."""
    first, second = np.triu_indices(len(before), 1)
    rows = []
    for column, measure in enumerate(measures if len(first) else ()):
        found = []
        for scores in (before[:, column], after[:, column]):
            sums = units.sums(np.round(scores[first] - scores[second], DECIMALS))
            tests = paired_tests(sums, units.sizes, seed, units.kind)
            raw = np.array([test.p for test in tests]) <= ALPHA
            family = max_t_family(tests, sums, seed)
            found.append((raw, family.p <= ALPHA, np.sign([test.value for test in tests]), family.floor))
        (raw, corrected, sign, floor), (raw_after, corrected_after, sign_after, floor_after) = found
        pairs = len(first)
        told = int(raw.sum()), int(raw_after.sum()), int(corrected.sum()), int(corrected_after.sum())
        rows.append((
            measure.name, pairs, *told[:2], told[0] / pairs, told[1] / pairs, *told[2:], told[2] / pairs, told[3] / pairs,
            max(floor, floor_after),
            int((corrected & corrected_after & (sign * sign_after < 0)).sum()),
        ))  # fmt: skip
    return POWER.frame(rows)
