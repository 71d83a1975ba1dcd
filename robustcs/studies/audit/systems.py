"""Compare rankings of systems and conclusions under human judgments and under a judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from robustcs.statistics import Floats
from robustcs.statistics.estimate import joined
from robustcs.statistics.families import max_t_family
from robustcs.statistics.ranks import DECIMALS, RANK_CORRELATIONS, rank_stability
from robustcs.statistics.sign_flip import paired_tests
from robustcs.statistics.units import Units

#: Pairs whose adjusted p is at most this differ significantly.
ALPHA = 0.05
#: The kinds of change of a pair of systems: see :data:`REVERSALS`.
CHANGES = ("reversed", "swapped", "lost", "gained")


@dataclass(frozen=True, eq=False)
class SummedScores:
    """Scores of R systems under one side's judgments: sums over K units (float64[R, K]), and the units."""

    sums: Floats
    units: Units

    @property
    def means(self) -> Floats:
        """float64[R]: the mean scores."""
        return np.asarray(self.sums.sum(axis=1) / self.units.sizes.sum())


def system_rows(
    judge: str, metric: str, human: SummedScores, model: SummedScores, common: bool, seed: int
) -> list[tuple[Any, ...]]:
    """Return the rank correlations with their lower limits; ``common``: both sides have the same turns."""
    apart, note = (
        (None, "")
        if common
        else (model.units.sizes, "the human judgments and the judge have different topics")
    )
    turns = [int(side.units.sizes.sum()) for side in (human, model)]
    rows = []
    for method in RANK_CORRELATIONS:
        found = rank_stability(
            human.sums, model.sums, human.units.sizes, seed, method, apart, human.units.kind
        )
        rows.append(
            (
                judge,
                metric,
                method,
                found.value,
                found.low,
                found.high,
                *turns,
                joined(note, found.note),
            )
        )
    return rows


def mean_rows(
    judge: str, metric: str, names: Sequence[str], human: SummedScores, model: SummedScores
) -> list[tuple[Any, ...]]:
    """Return the mean scores of each system."""
    return [
        (judge, metric, *row)
        for row in zip(names, human.means.tolist(), model.means.tolist(), strict=True)
    ]


def reversal_rows(
    judge: str,
    metric: str,
    names: Sequence[str],
    human: SummedScores,
    model: SummedScores,
    seed: int,
) -> tuple[list[tuple[Any, ...]], tuple[Any, ...]]:
    """Return the pairs of systems whose comparison changes, reversed ones first, and the row of their numbers."""
    first, second = np.array(list(combinations(range(len(names)), 2))).T
    tests, families = [], []
    for side in (human, model):
        differences = side.sums[first] - side.sums[second]
        tests.append(paired_tests(differences, side.units.sizes, seed, side.units.kind))
        families.append(max_t_family(tests[-1], differences, seed))
    significant = [family.p <= ALPHA for family in families]
    rows: list[tuple[Any, ...]] = []
    for place, (own, other) in enumerate(zip(*tests, strict=True)):
        change = _change(own.value, other.value, *(bool(side[place]) for side in significant))
        if change:
            ps = [
                p
                for test, family in zip((own, other), families, strict=True)
                for p in (test.p, family.p[place])
            ]
            rows.append(
                (judge, metric, names[first[place]], names[second[place]], own, other, change, *ps)
            )
    rows.sort(key=lambda row: (CHANGES.index(row[6]), -abs(row[4].value - row[5].value)))
    number_of = [sum(row[6] == change for row in rows) for change in CHANGES]
    note = "; ".join(dict.fromkeys(family.note for family in families if family.note))
    return rows, (
        judge,
        metric,
        len(tests[0]),
        *(int(side.sum()) for side in significant),
        *number_of,
        note,
    )


def _change(human: float, model: float, human_significant: bool, model_significant: bool) -> str:
    """Return one of :data:`CHANGES`; empty if both sides agree."""
    if round(human, DECIMALS) * round(model, DECIMALS) < 0:
        return "reversed" if human_significant or model_significant else "swapped"
    if human_significant != model_significant:
        return "lost" if human_significant else "gained"
    return ""
