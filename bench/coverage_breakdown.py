"""Trials of ``coverage.py`` for a breakdown and a sweep: shares, the comparison of errors, gains and areas.

As in :mod:`bench.coverage_cells`, a trial draws units with replacement from a collection, which as a whole is the truth.
"""

from __future__ import annotations

import numpy as np

from bench.coverage_cells import DRAWS, Collection, Floats, Tally, Trial
from robustcs.evaluation.bins import BINS
from robustcs.statistics.means import mean_estimates, share_estimates
from robustcs.statistics.sign_flip import paired_tests
from robustcs.studies.sweep.analysis import bin_lengths


def breakdown_trial(some: Collection) -> Trial:
    """Return a trial of the numbers that ``breakdown`` and ``sweep`` print for Original, QR and Human.

    For DL 2021 these are a poor, a medium and a good run.
    """
    low, middle, high = some.pairs[0][0], some.pairs[1][0], some.pairs[0][1]
    ndcg, units = some.scores["ndcg_cut_3"], some.units
    cuts = [ndcg >= 0.5, some.scores["P_1"] > 0]
    hits = np.array([units.sums(cut[low] & cut[high]) for cut in cuts])
    answered = np.array([units.sums(cut[high]) for cut in cuts])
    moved = np.array(
        [units.sums(~cut[high]) - units.sums(cut[high] & ~cut[middle]) for cut in cuts]
    )
    ahead = ndcg[high] - ndcg[middle]
    means = {
        "gain of a perfect rewriter": units.sums(
            np.array(
                [np.where(cuts[0][high] & ~cuts[0][middle], ahead, 0.0), np.maximum(ahead, 0.0)]
            )
        ),
        "area of a bin": units.sums(bin_lengths(ndcg[low], ndcg[middle], ndcg[high]).T),
    }
    rows = {"gain of a perfect rewriter": ["≥ 0.5", "any"], "area of a bin": list(BINS)}

    def trial(drawn: np.ndarray, generator: np.random.Generator, tally: Tally) -> None:
        turns = units.sizes[drawn]
        for row, estimate in enumerate(share_estimates(hits[:, drawn], answered[:, drawn])):
            tally.interval(
                "share of answerable turns", str(row), estimate, _ratio(hits[row], answered[row])
            )
        for kind, sums in means.items():
            for row, name in enumerate(rows[kind]):
                # a draw with only zeros has no interval
                if sums[row, drawn].any():
                    (estimate,) = mean_estimates(sums[row, drawn], turns, bounds=(0.0, 1.0))
                    tally.interval(kind, name, estimate, _ratio(sums[row], units.sizes))
        signs = generator.choice([-1.0, 1.0], size=len(drawn))
        both = np.concatenate([moved[:, drawn], moved[:, drawn] * signs])
        tests = paired_tests(both, turns, int(generator.integers(2**31)), mid_p=True, draws=DRAWS)
        for row, (test, null) in enumerate(zip(tests, tests[len(moved) :], strict=False)):
            kind = "difference of QA and rewriter errors (McNemar, mid-p)"
            tally.interval(kind, str(row), test, _ratio(moved[row], units.sizes))
            tally.power(kind, str(row), test.p <= 0.05)
            tally.level(kind, str(row), null.p)

    return trial


def _ratio(sums: Floats, sizes: Floats) -> float:
    return float(sums.sum() / sizes.sum())
