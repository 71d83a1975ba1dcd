from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from robustcs.statistics.ranks import RANK_CORRELATIONS, kendall, ranks, system_rbo, tau_ap

# The test vectors of ircor, the package of Urbano & Marrero (2017), and the values that it prints.
X1 = [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992]
Y1 = [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988]
X2 = [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38]
Y2 = [0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644]
X3 = [0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445]
Y3 = [0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25]

two_rankings = st.integers(2, 9).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 6), min_size=n, max_size=n) for _ in range(2)])
)


def plain_tau_ap(reference: list[float], estimate: list[float]) -> float:
    """Yilmaz et al. (2008), equation 4, word for word: the list goes down the estimate."""
    order = sorted(range(len(estimate)), key=lambda i: -estimate[i])
    total = sum(
        sum(reference[above] > reference[order[i]] for above in order[:i]) / i
        for i in range(1, len(order))
    )
    return 2 / (len(order) - 1) * total - 1


def plain_rbo(first: list[float], second: list[float], p: float) -> float:
    """Webber et al. (2010): agreement of the sets at every depth, then the same agreement for ever."""
    value = agreement = 0.0
    for depth in range(1, len(first) + 1):
        one = {i for i in range(len(first)) if sum(x > first[i] for x in first) < depth}
        two = {i for i in range(len(second)) if sum(y > second[i] for y in second) < depth}
        agreement = 2 * len(one & two) / (len(one) + len(two))
        value += (1 - p) * p ** (depth - 1) * agreement
    return value + p ** len(first) * agreement


@pytest.mark.parametrize(("x", "y", "one_way", "both_ways", "both_ways_tied"), [
    (X1, Y1, 0.8519, 0.8333, 0.7321), (X2, Y2, 0.2504, 0.2880, 0.297), (X3, Y3, -0.6971, -0.668, -0.7047),
])  # fmt: skip
def test_tau_ap_equals_published_values(
    x: list[float], y: list[float], one_way: float, both_ways: float, both_ways_tied: float
) -> None:
    assert tau_ap(x, y) == pytest.approx(one_way, abs=5e-5)
    for (one, other), expected in (
        ((x, y), both_ways),
        ((np.round(x, 1), np.round(y, 1)), both_ways_tied),
    ):
        assert (tau_ap(one, other) + tau_ap(other, one)) / 2 == pytest.approx(expected, abs=5e-5)


@given(two_rankings)
def test_kendall_is_scipys(pair: tuple[list[int], list[int]]) -> None:
    expected = scipy.stats.kendalltau(*pair).statistic
    assert kendall(*pair) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(st.permutations(range(8)), st.permutations(range(8)))
def test_tau_ap_is_its_definition(first: list[float], second: list[float]) -> None:
    assert tau_ap(first, second) == pytest.approx(plain_tau_ap(first, second), abs=1e-12)


@given(two_rankings, st.sampled_from([0.5, 0.9, 0.98]))
def test_rbo_is_its_definition(pair: tuple[list[float], list[float]], p: float) -> None:
    assert system_rbo(*pair, p) == pytest.approx(plain_rbo(*pair, p), abs=1e-12)


@given(two_rankings)
def test_bounds_and_identity(pair: tuple[list[int], list[int]]) -> None:
    for name, method in RANK_CORRELATIONS.items():
        value, same = float(method(*pair)), float(method(pair[0], pair[0]))
        assert np.isnan(value) or (0 if name == "rbo" else -1) - 1e-9 <= value <= 1 + 1e-9
        assert same == pytest.approx(1) or (len(set(pair[0])) == 1 and np.isnan(same))


def test_an_exchange_at_the_top_costs_more() -> None:
    order = [5, 4, 3, 2, 1]
    top, bottom = [4, 5, 3, 2, 1], [5, 4, 3, 1, 2]
    assert kendall(order, top) == kendall(order, bottom) == pytest.approx(0.8)
    for method in (tau_ap, system_rbo):
        assert method(order, top) < method(order, bottom) < 1


def test_differences_in_the_last_bits_are_ties() -> None:
    assert ranks([0.1 + 0.2, 0.3, 0.5]).tolist() == [2, 2, 1]
    assert ranks([0.1, 0.1 + 3e-10]).tolist() == [1, 1] and ranks([0.1, 0.1 + 3e-9]).tolist() == [
        2,
        1,
    ]


def test_many_rankings_at_once() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 5, size=(2, 3, 4, 6))
    for method in RANK_CORRELATIONS.values():
        together = method(first, second)
        assert together.shape == (3, 4)
        assert together[2, 1] == method(first[2, 1], second[2, 1])
