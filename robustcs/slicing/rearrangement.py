"""Random rearrangements of scores among units, which keep what scores within a unit share."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robustcs.statistics import Floats, places_within
from robustcs.statistics.units import Units

#: Draws per block: constant, so that every caller gets the same draws.
BLOCK = 32


def rearranged(
    table: Floats, units: Units, seed: int, draws: int, levels: bool = False
) -> Iterator[Floats]:
    """Yield rearrangements of the rows of ``table`` [M, T] in blocks, float64[M, ≤ BLOCK, T].

    Each of the ``draws`` is the same for every row. Units exchange their scores, rotated at random:
    the turns of a unit get the successive scores of another one, from a random turn on and again
    from its first turn after its last. With ``levels``, each unit keeps its own rotated scores and
    units exchange only their means.
    """
    generator = np.random.default_rng(seed)
    order = np.argsort(units.codes, kind="stable")
    # [T, M], unit by unit; by turn first, because the scores of a turn are taken together
    scores_by_unit = np.ascontiguousarray(table[:, order].T)
    means = (units.sums(table) / units.sizes).T
    codes, numbers = units.codes, np.arange(units.count)
    sizes = units.sizes.astype(np.int64)
    starts = np.cumsum(sizes) - sizes
    # [T, 1]: from 0, so that it can be added to those of all draws
    place_in_unit = np.empty((len(codes), 1), dtype=np.int64)
    place_in_unit[order, 0] = places_within(sizes)
    for start in range(0, draws, BLOCK):
        count = min(BLOCK, draws - start)
        # by unit and draw: the unit with which it exchanges, and the unit whose scores it gets
        partner = generator.permuted(np.tile(numbers, (count, 1)), axis=1).T
        source = np.tile(numbers[:, None], count) if levels else partner
        lengths = sizes[source]
        rotation = (generator.random((count, units.count)).T * lengths).astype(np.int64)
        place_in_source = (place_in_unit + rotation[codes]) % lengths[codes]
        scores = np.take(scores_by_unit, starts[source][codes] + place_in_source, axis=0)
        if levels:
            scores += (means[partner] - means[source])[codes]
        yield scores.transpose(2, 1, 0)
