"""Columns of tables of comparisons with sign-flip tests."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from robustcs.lazy import pd
from robustcs.result import flag, number
from robustcs.statistics.effect import detectable_differences, effect_sizes
from robustcs.statistics.estimate import Estimate, Tested
from robustcs.statistics.families import Family, max_t_family
from robustcs.statistics.sign_flip import paired_tests

P_FLOOR = number("p_floor", "smallest p that this design can give")
EXACT = flag("exact", "true if all sign patterns were tried; otherwise a p at its floor is an upper bound")
EQUIVALENT = flag(
    "equivalent",
    "true if the 95% CI lies inside ± the margin and no unit accounts for more than 30% of the spread; null without a margin or"
    " an interval",
    "within margin",
)
DETECTABLE = number("detectable", "smallest true difference that this design detects with 80% power at .05")
EFFECT = (number("effect", "effect size: standardized mean difference over units"), number("effect_low"), number("effect_high"))


def columns_of(
    estimates: Sequence[Estimate], value: str, low: str = "ci_low", high: str = "ci_high", **more: str
) -> dict[str, list[Any]]:
    """Return columns with a row per estimate: value and limits under these names, and ``more`` (column=attribute)."""
    names = {value: "value", low: "low", high: "high", **more}
    return {name: [getattr(one, attribute) for one in estimates] for name, attribute in names.items()}


class Comparisons(NamedTuple):
    """A frame with a row for each comparison, and the tests, effect sizes and families it was made from."""

    frame: pd.DataFrame
    tests: Sequence[Tested]
    effects: Sequence[Estimate]
    families: Sequence[Family]


def comparisons(
    sums: np.ndarray,
    sizes: np.ndarray,
    noun: str,
    seed: int,
    families: Sequence[Hashable] | None = None,
    mid_p: bool = False,
    power: bool = True,
) -> Comparisons:
    """Test every row of ``sums`` [M, K] with :func:`~robustcs.statistics.sign_flip.paired_tests`, and adjust by max-T.

    Columns: difference, ci_low, ci_high, p, p_floor, exact, note, p_corrected; with ``power`` also effect, effect_low,
    effect_high, detectable, detectable_low and detectable_high.

    families
        A label for every row; rows with the same label form a family. By default, all rows form one.
    """
    tests = paired_tests(sums, sizes, seed, noun, mid_p=mid_p) if len(sums) else ()
    frame = pd.DataFrame(columns_of(tests, "difference", p="p", p_floor="floor", exact="exact", note="note"))
    frame["p_corrected"] = frame["p"]
    together = np.zeros(len(tests), dtype=int) if families is None else pd.factorize(pd.Series(list(families)))[0]
    read = []
    for label in np.unique(together):
        rows = np.flatnonzero(together == label)
        read.append(max_t_family([tests[row] for row in rows], sums[rows], seed))
        if len(rows) > 1:  # a single comparison needs no adjustment and keeps its mid-p
            frame.loc[rows, "p_corrected"] = read[-1].p
    effects = effect_sizes(sums, sizes, noun) if power and len(tests) else ()
    if power:
        least = detectable_differences(sums, sizes, noun) if len(tests) else ()
        shown = columns_of(effects, "effect", "effect_low", "effect_high")
        frame = frame.assign(**shown, **columns_of(least, "detectable", "detectable_low", "detectable_high"))
    return Comparisons(frame, tests, effects, read)
