"""Columns of tables of comparisons with sign-flip tests."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from robustcs.lazy import pd
from robustcs.result import flag, number
from robustcs.statistics import settled
from robustcs.statistics.effect import detectable_differences, effect_sizes
from robustcs.statistics.estimate import Estimate, Tested
from robustcs.statistics.families import Family, max_t_family
from robustcs.statistics.sign_flip import paired_tests

P_FLOOR = number("p_floor", "smallest p that this design can give")
EXACT = flag("exact", "true if all sign patterns of the units that differ were tried, false if 99,999 random ones")
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


@dataclass(frozen=True)
class Comparisons:
    """M comparisons: their tests, adjusted p-values and families. Effect sizes are computed when they are first used.

    sums, sizes, noun
        What was tested: see :func:`comparisons`.
    """

    tests: Sequence[Tested]
    corrected: Sequence[float]
    families: Sequence[Family]
    sums: np.ndarray
    sizes: np.ndarray
    noun: str
    power: bool

    @cached_property
    def effects(self) -> Sequence[Estimate]:
        """The effect sizes."""
        return effect_sizes(self.sums, self.sizes, self.noun) if len(self.tests) else ()

    @cached_property
    def columns(self) -> dict[str, list[Any]]:
        """The columns: difference, ci_low, ci_high, p, p_floor, exact, note, p_corrected.

        With ``power`` also effect, effect_low, effect_high and detectable.
        """
        found = columns_of(self.tests, "difference", p="p", p_floor="floor", exact="exact", note="note")
        found["p_corrected"] = list(self.corrected)
        if self.power:
            found |= columns_of(self.effects, "effect", "effect_low", "effect_high")
            found["detectable"] = detectable_differences(self.sums, self.sizes) if len(self.tests) else []
        return found

    @property
    def frame(self) -> pd.DataFrame:
        """The columns as a frame."""
        return pd.DataFrame(self.columns)


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

    families
        A label for every row; rows with the same label form a family. By default, all rows form one.
    """
    sums = settled(sums)
    tests = paired_tests(sums, sizes, seed, noun, mid_p=mid_p) if len(sums) else ()
    together: dict[Hashable, list[int]] = {}
    for row, label in enumerate([None] * len(tests) if families is None else families):
        together.setdefault(label, []).append(row)
    corrected, read = [test.p for test in tests], []
    for rows in together.values():
        read.append(max_t_family([tests[row] for row in rows], sums[rows], seed))
        if len(rows) > 1:  # a single comparison needs no adjustment and keeps its mid-p
            for row, p in zip(rows, read[-1].p.tolist(), strict=True):
                corrected[row] = p
    return Comparisons(tests, corrected, read, sums, sizes, noun, power)
