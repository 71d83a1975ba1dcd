"""Two shares of the same turns compared: McNemar's test with whole units, its interval, and what it could have found."""

from __future__ import annotations

import numpy as np

from robustcs.lazy import pd
from robustcs.result import count, number, p_value, text
from robustcs.statistics.columns import DETECTABLE, EFFECT, EXACT, P_FLOOR
from robustcs.statistics.effect import detectable_differences, effect_sizes
from robustcs.statistics.families import max_t_family
from robustcs.statistics.sign_flip import paired_tests
from robustcs.statistics.units import Units

#: The columns of a comparison.
COMPARED = (
    p_value("p", "McNemar's test, two-sided: signs of whole units flipped, mid-p"),
    p_value("p_corrected", "adjusted by step-down max-T over the family: all thresholds, pairs and rewriters of the measure; in"
            " blame of all measures", "p adj."),
    count("comparisons", "different comparisons in the family"),
    number("difference", "share of the first − share of the second, of all turns"),
    number("ci_low", "of the difference: 95 %, from the test that gives p; null where none can be given: note says why"),
    number("ci_high"),
    P_FLOOR,
    EXACT,
    *EFFECT,
    DETECTABLE,
    text("note", "what must be known beside the numbers"),
)  # fmt: skip


def compared(frame: pd.DataFrame, units: Units, seed: int, family: str | None = "metric") -> pd.DataFrame:
    """``frame`` with the columns :data:`COMPARED` in place of its last one, ``moved``.

    ``moved`` holds for every comparison float[units]: the turns of a unit that only the first has, less those that only the
    second has. Rows with the same value in the column ``family`` are read together, without one all rows are. A comparison
    that several rewriters share (Original against Human) counts once.
    """
    moved = np.stack(list(frame["moved"]))
    tests = paired_tests(moved, units.sizes, seed, units.kind, mid_p=True)
    effects = effect_sizes(moved, units.sizes, units.kind)
    least = detectable_differences(moved, units.sizes, units.kind)
    frame = frame.drop(columns="moved")
    frame["p"] = [test.p for test in tests]
    keys = frame[[name for name in ("rewriter", "metric", "threshold", "first", "second") if name in frame]]
    if {"rewriter", "first"} <= set(keys):
        keys = keys.assign(rewriter=keys["rewriter"].where((keys["first"] == "qr") | (keys["second"] == "qr"), ""))
    different = ~keys.duplicated().to_numpy()
    adjusted, comparisons = np.empty(len(frame)), np.empty(len(frame), dtype=np.int64)
    for rows in frame.groupby(family, sort=False).indices.values() if family else [np.arange(len(frame))]:
        comparisons[rows] = different[rows].sum()
        several = comparisons[rows[0]] > 1  # one comparison alone needs no adjustment, and keeps its mid-p
        adjusted[rows] = max_t_family([tests[row] for row in rows], moved[rows], seed).p if several else frame["p"].iloc[rows]
    frame["p_corrected"], frame["comparisons"] = adjusted, comparisons
    frame["difference"] = [test.value for test in tests]
    frame["ci_low"], frame["ci_high"] = [test.low for test in tests], [test.high for test in tests]
    frame["p_floor"], frame["exact"] = [test.floor for test in tests], [test.exact for test in tests]
    frame["effect"] = [effect.value for effect in effects]
    frame["effect_low"], frame["effect_high"] = [effect.low for effect in effects], [effect.high for effect in effects]
    frame["detectable"] = [one.value for one in least]
    frame["note"] = [test.note for test in tests]
    return frame
