"""How far a mean moves with the draw: against the truth of simulated samples."""

from __future__ import annotations

import math

import numpy as np
import pytest

from robustcs.statistics.draws import NORMAL, draws_needed, sampling_error
from robustcs.statistics.units import Units, units_of

SPREAD = 0.2


def drawn(generator: np.random.Generator, whole: float = 0.0, samples: int = 5) -> tuple[np.ndarray, Units]:
    """Scores of samples that differ in half of the turns; ``whole``: the spread of whole samples."""
    turns = [f"{conversation}_{turn}" for conversation in range(20) for turn in range(8)]
    moving = generator.random(len(turns)) < 0.5
    noise = SPREAD * generator.normal(size=(len(turns), samples)) * moving[:, None]
    return generator.random(len(turns))[:, None] + noise + whole * generator.normal(size=samples), units_of(turns)


def test_the_interval_holds_the_true_half_width() -> None:
    generator = np.random.default_rng(0)
    truth = NORMAL * SPREAD * math.sqrt(0.5 / 160)
    found = [sampling_error(*drawn(generator)) for _ in range(200)]
    alone = [one for one in found if not one.note.startswith("whole")]
    # the F test takes one in twenty for samples that differ as wholes
    assert 0.9 < len(alone) / len(found) < 0.99
    held = np.mean([one.low < truth < one.high for one in alone])
    assert held > 0.88
    assert np.mean([one.value for one in alone]) == pytest.approx(truth, rel=0.05)


def test_whole_samples_that_differ_are_seen() -> None:
    scores, units = drawn(np.random.default_rng(1), whole=0.1)
    found = sampling_error(scores, units)
    assert found.note.startswith("whole samples differ")
    assert found.value == pytest.approx(NORMAL * scores.mean(axis=0).std(ddof=1))
    assert found.low < found.value < found.high and found.units == 5


def test_samples_that_are_all_alike_need_one() -> None:
    scores, units = drawn(np.random.default_rng(2))
    found = sampling_error(np.repeat(scores[:, :1], 3, axis=1), units)
    assert found.value == 0 and math.isnan(found.low)
    assert draws_needed(found.value, 0.01) == 1


@pytest.mark.parametrize(("half", "within", "needed"), [(0.02, 0.01, 4), (0.02, 0.02, 1), (0.0201, 0.01, 5), (0.005, 0.01, 1)])
def test_an_average_needs_the_square_of_the_ratio(half: float, within: float, needed: int) -> None:
    assert draws_needed(half, within) == needed
    assert half / math.sqrt(needed) <= within * (1 + 1e-9)
    assert math.isnan(draws_needed(math.nan, within))
