"""A drop below a baseline: its tests, its interval, and the columns that say them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robustcs.lazy import npt
from robustcs.result import Field, difference, number, p_value, text
from robustcs.statistics.columns import EQUIVALENT, EXACT, P_FLOOR
from robustcs.statistics.effect import detectable_differences, effect_sizes, within_margin
from robustcs.statistics.estimate import Tested
from robustcs.statistics.means import cluster_t_test
from robustcs.statistics.ranks import DECIMALS
from robustcs.statistics.sign_flip import paired_tests
from robustcs.statistics.units import Units

if TYPE_CHECKING:
    Floats = npt.NDArray[np.float64]


def tests_of(of: str) -> tuple[Field, ...]:
    """Return the columns of a drop: its p-values, its interval and what the design could show; ``of``: what the family is."""
    return (
        p_value("p", "sign-flip test of whole units, two-sided"),
        p_value("p_corrected", f"adjusted by max-T over all {of} of a measure", "p adj."),
        p_value("t_p", "cluster-robust t test, two-sided, not adjusted", "p (t)"),
        difference("ci_low", "of the drop: 95 %, from the test that gives p; null where none can be given"),
        difference("ci_high"),
        P_FLOOR,
        EXACT,
        number("effect", "standardised mean drop over units"),
        difference("detectable", "the smallest true drop that such a design finds with 80 % power at .05"),
        EQUIVALENT,
        text("note", "what must be known beside the numbers"),
    )  # fmt: skip


def drops_of(
    values: Floats, base: Floats, units: Units, margin: float | None, seed: int
) -> list[tuple[dict[str, object], Tested, Floats]]:
    """Return every row of ``values`` (systems × turns) beside ``base``, its test and the sums over units behind it.

    Value, baseline and drop (baseline − value) with what :func:`tests_of` says, but for the adjusted p.
    """
    # equal scores may differ in their last bits; a test must not read them as a drop
    sums = units.sums(np.round(base - values, DECIMALS))
    tests = paired_tests(sums, units.sizes, seed, units.kind)
    more = zip(
        values.mean(axis=1).tolist(), tests, sums, cluster_t_test(sums, units.sizes).tolist(),
        effect_sizes(sums, units.sizes, units.kind), detectable_differences(sums, units.sizes, units.kind), strict=True,
    )  # fmt: skip
    baseline = float(base.mean())
    return [
        (
            {
                "value": value, "baseline": baseline, "drop": baseline - value,
                "drop_percent": 100 * (baseline - value) / baseline if baseline else np.nan,
                "p": test.p, "t_p": t_p, "ci_low": test.low, "ci_high": test.high, "p_floor": test.floor, "exact": test.exact,
                "effect": effect.value, "detectable": least.value,
                "equivalent": within_margin(test, margin), "note": test.note,
            },
            test,
            own,
        )
        for value, test, own, t_p, effect, least in more
    ]  # fmt: skip
