"""How often the intervals of ``robustcs review`` contain the value of all turns: 1,000 random samples of simulated coders.

python bench/coverage_review.py
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from robustcs.statistics.finite import finite_difference, finite_share

#: Turns reviewed, and all turns: the demo, CAsT 2019, and a larger collection.
DESIGNS = ((30, 70), (30, 173), (50, 500))
SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
#: Shares of turns with the category in the first system only, and in the second only.
APART = ((0.05, 0.05), (0.1, 0.05), (0.2, 0.1), (0.3, 0.1), (0.3, 0.3))
SAMPLES = 1000


class Row(NamedTuple):
    """One cell: how many of the samples have an interval with the true value."""

    drawn: int
    population: int
    truth: str
    coverage: float


def shares(seed: int = 29) -> Iterator[Row]:
    """Yield the coverage of a category's share."""
    rng = np.random.default_rng(seed)
    for drawn, population in DESIGNS:
        for share in SHARES:
            turns = np.arange(population) < round(share * population)
            seen = [int(rng.choice(turns, drawn, replace=False).sum()) for _ in range(SAMPLES)]
            limits = {count: finite_share(count, drawn, population) for count in set(seen)}
            inside = np.mean(
                [limits[count].low <= turns.mean() <= limits[count].high for count in seen]
            )
            yield Row(drawn, population, f"{share:.0%}", float(inside))


def differences(seed: int = 29) -> Iterator[Row]:
    """Yield the coverage of the difference of two systems."""
    rng = np.random.default_rng(seed)
    for drawn, population in DESIGNS:
        for first, second in APART:
            one, other = round(first * population), round(second * population)
            turns = np.repeat([1, -1, 0], [one, other, population - one - other])
            held = []
            for _ in range(SAMPLES):
                sample = rng.choice(turns, drawn, replace=False)
                found = finite_difference(
                    int((sample == 1).sum()), int((sample == -1).sum()), drawn, population
                )
                held.append(found.low <= turns.mean() <= found.high)
            yield Row(drawn, population, f"{first:.0%} against {second:.0%}", float(np.mean(held)))


if __name__ == "__main__":
    for name, rows in (("share", list(shares())), ("difference", list(differences()))):
        held = [row.coverage for row in rows]
        print(f"{name}: {np.mean(held):.1%} on average, {min(held):.1%} at least")
        for row in rows:
            print(f"  {row.drawn} of {row.population}, {row.truth}: {row.coverage:.1%}")
