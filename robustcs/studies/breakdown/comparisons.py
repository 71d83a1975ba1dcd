"""Two shares of the same turns compared: McNemar's test with whole units, its interval, and what it could have found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robustcs.result import count, number, p_value, text
from robustcs.statistics.columns import DETECTABLE, EFFECT, EXACT, P_FLOOR
from robustcs.statistics.correction import holm
from robustcs.statistics.effect import detectable_differences, effect_sizes
from robustcs.statistics.sign_flip import paired_tests
from robustcs.statistics.units import Units

if TYPE_CHECKING:
    import pandas as pd

#: The columns of a comparison.
COMPARED = (
    p_value("p", "McNemar's test, two-sided: signs of whole units flipped, mid-p"),
    p_value("p_corrected", "by Holm over the different comparisons of the measure: all thresholds, pairs and rewriters"),
    count("comparisons", "how many that are"),
    number("difference", "share of the first − share of the second, of all turns"),
    number("ci_low", "of the difference: 95 %, from the test that gives p; null where none can be given: note says why"),
    number("ci_high"),
    P_FLOOR,
    EXACT,
    *EFFECT,
    DETECTABLE,
    text("note", "what must be known beside the numbers"),
)  # fmt: skip


def compared(frame: pd.DataFrame, units: Units, seed: int) -> pd.DataFrame:
    """``frame`` with the columns :data:`COMPARED` in place of its last one, ``moved``.

    ``moved`` holds for every comparison float[units]: the turns of a unit that only the first has, less those that only the
    second has. A comparison that several rewriters share (Original against Human) counts once in the correction.
    """
    moved = np.stack(list(frame["moved"]))
    tests = paired_tests(moved, units.sizes, seed, units.kind, mid_p=True)
    effects = effect_sizes(moved, units.sizes, units.kind)
    least = detectable_differences(moved, units.sizes, units.kind)
    frame = frame.drop(columns="moved")
    frame["p"] = [test.p for test in tests]
    frame["p_corrected"], frame["comparisons"] = _corrected(frame)
    frame["difference"] = [test.value for test in tests]
    frame["ci_low"], frame["ci_high"] = [test.low for test in tests], [test.high for test in tests]
    frame["p_floor"], frame["exact"] = [test.floor for test in tests], [test.exact for test in tests]
    frame["effect"] = [effect.value for effect in effects]
    frame["effect_low"], frame["effect_high"] = [effect.low for effect in effects], [effect.high for effect in effects]
    frame["detectable"] = [one.value for one in least]
    frame["note"] = [test.note for test in tests]
    return frame


def _corrected(frame: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Holm's p over the different comparisons of every measure, and their number."""
    own = frame["rewriter"] if "rewriter" in frame else frame["first"]
    if "rewriter" in frame and "first" in frame:
        own = own.where((frame["first"] == "qr") | (frame["second"] == "qr"), "")
    different = [own, *(frame[name] for name in ("metric", "threshold", "first", "second") if name in frame)]
    key = frame.groupby(different, sort=False).ngroup()
    once = frame.assign(key=key).drop_duplicates("key").set_index("key")
    by_metric = once.groupby("metric", sort=False)["p"]
    corrected = by_metric.transform(lambda p: holm(p.to_numpy()))
    return key.map(corrected), key.map(by_metric.transform("size"))
