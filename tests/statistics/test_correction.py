"""Holm's correction."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustcs.statistics.families import holm


def by_definition(p: list[float]) -> list[float]:
    """Each p becomes the largest (m − rank + 1) · p of those that are not larger."""
    m = len(p)
    ranked = sorted(p)
    return [
        min(1.0, max((m - i) * ranked[i] for i in range(m) if ranked[i] <= value)) for value in p
    ]


@given(st.lists(st.floats(0, 1), max_size=12))
def test_equals_its_definition(p: list[float]) -> None:
    assert holm(p).tolist() == pytest.approx(by_definition(p))


def test_a_known_case_and_missing_values() -> None:
    # statsmodels 0.15: multipletests([0.01, 0.04, 0.03, 0.005], method="holm")
    assert holm([0.01, 0.04, 0.03, 0.005]).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    with_gap = holm([0.01, np.nan, 0.04])
    assert np.isnan(with_gap[1])
    assert with_gap[[0, 2]].tolist() == pytest.approx([0.02, 0.04])
    assert holm([]).tolist() == []
