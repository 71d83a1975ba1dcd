"""What scores look like where they have nothing to do with slices: every conversation has the scores of another one.

They come in their order, from a random turn on, and from the first again after the last; of a longer conversation some are left
over, those of a shorter one come again. So whatever turns of one conversation have in common stays in common, and so does what
neighbouring turns have; what a turn says, and where it stands, is as it was, and has nothing to do with its score any more.

Where conversations differ in length some scores come more often than they were. A test of one slice, which is studentised,
does not mind, and wants scores of as few values as they had. The largest of many differences does mind: for it ``levels``
alone go to another conversation, and the deviations of its turns are rotated around the new one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from robustcs.statistics.units import Units

Floats = npt.NDArray[np.float64]

#: Draws at a time: always as many, so that whoever asks gets the same ones.
BLOCK = 32


def rearranged(table: Floats, units: Units, seed: int, draws: int, levels: bool = False) -> Iterator[Floats]:
    """``draws`` arrangements of the rows of ``table`` [M, T], float64[M, ≤ draws, T] at a time; the same for every row."""
    generator = np.random.default_rng(seed)
    turns = table.shape[1]
    order = np.argsort(units.codes, kind="stable")
    by_unit = table[:, order]
    means = units.sums(table) / units.sizes
    sizes = units.sizes.astype(np.int64)
    starts = np.cumsum(sizes) - sizes
    codes = units.codes
    place = np.empty(turns, dtype=np.int64)
    place[order] = np.arange(turns) - starts[codes[order]]
    for start in range(0, draws, BLOCK):
        number = min(BLOCK, draws - start)
        source = generator.permuted(np.tile(np.arange(units.count), (number, 1)), axis=1)
        taken = np.broadcast_to(codes, (number, turns)) if levels else source[:, codes]
        lengths = sizes[taken]
        first = generator.random((number, units.count))[:, codes] * lengths
        scores = np.take(by_unit, starts[taken] + (place + first.astype(np.int64)) % lengths, axis=1)
        yield scores + (means[:, source[:, codes]] - means[:, taken]) if levels else scores
