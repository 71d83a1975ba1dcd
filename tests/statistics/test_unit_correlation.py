"""The jackknife of correlations against one written out, scipy's values and a short simulation."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from robustcs.statistics import unit_correlation as unit_correlation_module
from robustcs.statistics.families import holm_family
from robustcs.statistics.unit_correlation import (
    _concordance,
    unit_correlation,
    unit_partial_correlation,
)
from robustcs.statistics.units import Units

SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


def units(lengths: list[int]) -> Units:
    return Units(
        "conversation",
        np.repeat(np.arange(len(lengths)), lengths),
        tuple(map(str, range(len(lengths)))),
    )


def sample(
    random: np.random.Generator, lengths: list[int], digits: int = 2
) -> tuple[np.ndarray, np.ndarray]:
    codes = np.repeat(np.arange(len(lengths)), lengths)
    common = random.normal(0, 0.7, (2, len(lengths)))[:, codes]
    x, y = random.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], len(codes)).T + common
    return x.round(digits), y.round(digits)


def written_out(
    function: Callable[[np.ndarray], float], codes: np.ndarray
) -> tuple[float, float, float, float]:
    """Value, limits and p of the jackknife, from ``function``: which turns count → correlation."""
    count = codes.max() + 1
    value = function(np.ones(len(codes), dtype=bool))
    z = np.arctanh([function(codes != g) for g in range(count)])
    error = math.sqrt((count - 1) / count * ((z - z.mean()) ** 2).sum())
    half = stats.t.ppf(0.975, count - 1) * error
    middle = math.atanh(value)
    p = 2 * stats.t.sf(abs(middle) / error, count - 1)
    return value, math.tanh(middle - half), math.tanh(middle + half), p


@pytest.mark.parametrize("method", SCIPY)
@pytest.mark.parametrize("digits", [0, 3])  # with and without ties
def test_it_is_the_jackknife_written_out(method: str, digits: int) -> None:
    lengths = [3, 7, 5, 9, 4, 6, 8, 2, 5, 6, 3]
    some = units(lengths)
    x, y = sample(np.random.default_rng(0), lengths, digits)
    found = unit_correlation(x, y, some, method)
    expected = written_out(lambda rows: SCIPY[method](x[rows], y[rows])[0], some.codes)
    assert (found.value, found.low, found.high, found.p) == pytest.approx(expected)
    assert (found.low <= 0 <= found.high) == (found.p > 0.05)
    assert holm_family([found] * 20).note == "", "p of a correlation may be as small as one likes"
    # the order of turns changes nothing
    mixed = np.random.default_rng(1).permutation(len(x))
    again = unit_correlation(
        x[mixed], y[mixed], Units("conversation", some.codes[mixed], some.labels), method
    )
    assert (again.value, again.low, again.high) == pytest.approx(
        (found.value, found.low, found.high)
    )


@pytest.mark.parametrize("method", SCIPY)
def test_similarities_that_differ_in_their_last_bits_are_tied(method: str) -> None:
    lengths = [3, 5, 4, 6, 2, 4]
    x, y = sample(np.random.default_rng(4), lengths, 0)
    noisy = x + np.resize([1e-16, -2e-16, 3e-16], len(x)) * np.abs(x)
    assert (noisy != x).any()
    found, expected = (unit_correlation(one, y, units(lengths), method) for one in (noisy, x))
    assert (found.value, found.low, found.high) == (expected.value, expected.low, expected.high)
    alike = np.resize([0.3, 0.1 + 0.2], len(x))
    assert math.isnan(unit_correlation(alike, y, units(lengths), method).value)


@given(st.integers(0, 2**32 - 1), st.integers(1, 300), st.integers(1, 40), st.integers(1, 12))
def test_concordant_pairs_are_those_of_every_two_turns(
    seed: int, turns: int, values: int, groups: int
) -> None:
    random = np.random.default_rng(seed)
    x, y = random.integers(0, values, (2, turns)) / 7
    codes = random.integers(0, groups, turns)
    signs = (
        np.sign(np.subtract.outer(x, x))
        * np.sign(np.subtract.outer(y, y))
        * np.equal.outer(codes, codes)
    )
    assert _concordance(x, y, codes).tolist() == signs.sum(axis=1).tolist()


def test_ten_thousand_turns_take_no_room_for_every_two_of_them() -> None:
    """Nor, where values come again and again, for every turn in every unit."""
    random = np.random.default_rng(0)
    lengths = [10] * 1000
    x, y = random.integers(0, 20, (2, 10_000)) / 20
    for method in ("spearman", "kendall"):
        tracemalloc.start()
        found = unit_correlation(x, y, units(lengths), method)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert found.value == pytest.approx(SCIPY[method](x, y)[0]) and peak < 30_000_000


@pytest.mark.parametrize("cells", [1, 100])
def test_units_are_left_out_in_parts(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The numbers stay the same, even if the pairs of values of one unit exceed the limit."""
    lengths = [3, 7, 5, 9, 4, 6, 8]
    x, y = sample(np.random.default_rng(3), lengths, 1)
    whole = unit_correlation(x, y, units(lengths), "spearman")
    monkeypatch.setattr(unit_correlation_module, "_CELLS", cells)
    assert unit_correlation(x, y, units(lengths), "spearman") == whole


VALUES = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0])


@settings(deadline=None, max_examples=15)
@given(
    st.lists(st.tuples(VALUES, VALUES, st.integers(0, 5)), min_size=14, max_size=30),
    st.sampled_from(sorted(SCIPY)),
)
def test_ties_and_uneven_units(turns: list[tuple[float, float, int]], method: str) -> None:
    x, y, names = (np.array(column) for column in zip(*turns, strict=True))
    labels, codes = np.unique(names, return_inverse=True)
    found = unit_correlation(x, y, Units("conversation", codes, tuple(map(str, labels))), method)
    subsets = [np.ones(len(x), dtype=bool), *(codes != g for g in range(len(labels)))]
    if len(labels) < 5 or any(np.ptp(values[rows]) == 0 for values in (x, y) for rows in subsets):
        assert math.isnan(found.low) and math.isnan(found.p)
        return
    each = [SCIPY[method](x[rows], y[rows])[0] for rows in subsets]
    assert found.value == pytest.approx(each[0], abs=1e-9)
    if max(np.abs(each)) < 0.999 and np.ptp(each[1:]) > 1e-6:
        expected = written_out(lambda rows: SCIPY[method](x[rows], y[rows])[0], codes)
        assert (found.low, found.high, found.p) == pytest.approx(expected[1:], abs=1e-6)


def residual_correlation(x: np.ndarray, y: np.ndarray, given_: np.ndarray) -> float:
    model = np.column_stack([np.ones(len(x)), given_])
    rest = [values - model @ np.linalg.lstsq(model, values, rcond=None)[0] for values in (x, y)]
    return float(np.corrcoef(*rest)[0, 1])


@pytest.mark.parametrize("columns", [1, 3])
def test_partial_correlation_is_that_of_the_residuals(columns: int) -> None:
    lengths = [6, 3, 8, 5, 7, 4, 6, 9, 2, 6, 5, 7]
    some = units(lengths)
    random = np.random.default_rng(columns)
    x, y = sample(random, lengths)
    constant = random.normal(size=(len(x), columns)) + x[:, None]
    found = unit_partial_correlation(x, y, constant, some)
    expected = written_out(
        lambda rows: residual_correlation(x[rows], y[rows], constant[rows]), some.codes
    )
    assert (found.value, found.low, found.high, found.p) == pytest.approx(expected)


def test_given_columns_that_explain_everything_or_nothing() -> None:
    some = units([5] * 6)
    x, y = np.random.default_rng(0).normal(size=(2, 30))
    plain, nothing = (
        unit_correlation(x, y, some, "pearson"),
        unit_partial_correlation(x, y, np.ones((30, 2)), some),
    )
    assert (nothing.value, nothing.low, nothing.high) == pytest.approx(
        (plain.value, plain.low, plain.high)
    )
    assert math.isnan(unit_partial_correlation(x, y, x[:, None], some).value)
    few = Units("turn", np.arange(3), ("a", "b", "c"))
    assert math.isnan(unit_partial_correlation(x[:3], y[:3], x[:3, None], few).value)
    # a column that varies within one unit alone takes no part without it
    once = np.where(np.arange(30) < 5, np.arange(30.0), 0.0)
    assert not math.isnan(unit_partial_correlation(x, y, once[:, None], some).low)


def test_a_binary_variable_gives_the_point_biserial_correlation() -> None:
    x, y = np.array([0.1, 0.4, 0.5, 0.9, 0.8, 0.2]), np.array([0, 0, 1, 1, 1, 0])
    single = Units("turn", np.arange(6), tuple("abcdef"))
    assert unit_correlation(x, y, single, "pearson").value == pytest.approx(
        stats.pointbiserialr(y, x).statistic
    )


def test_what_cannot_be_said() -> None:
    some = units([4] * 6)
    x = np.arange(24.0)
    assert math.isnan(unit_correlation(x, np.ones(24), some, "pearson").value)
    perfect = unit_correlation(x, 2 * x, some, "pearson")
    assert (
        perfect.value == pytest.approx(1)
        and math.isnan(perfect.low)
        and "all conversations are alike" in perfect.note
    )
    once = unit_correlation(x, (x == 3) * 1.0, some, "spearman")
    assert math.isnan(once.low) and "without one conversation" in once.note
    few = unit_correlation(x[:16], np.sin(x[:16]), units([4] * 4), "kendall")
    assert (
        math.isnan(few.low)
        and few.note == "no interval: only 4 conversations (at least 5 required)"
    )


def test_coverage() -> None:
    random = np.random.default_rng(2)
    lengths = [5, 9, 12, 3, 7, 8, 10, 6, 9, 11, 4, 7]
    some = units(lengths)
    truth = 0.5 / (1 + 0.49)
    held = [unit_correlation(*sample(random, lengths, 6), some, "pearson") for _ in range(300)]
    assert 0.89 <= np.mean([one.low <= truth <= one.high for one in held]) <= 0.98


def test_partial_correlation_of_two_values_and_of_too_few_turns() -> None:
    lengths = [4] * 6
    some, (x, y) = units(lengths), sample(np.random.default_rng(3), lengths)
    binary, given_ = (x > 0).astype(float), np.column_stack([np.cos(np.arange(24.0))])
    found = unit_partial_correlation(binary, y, given_, some)
    assert found.value == pytest.approx(residual_correlation(binary, y, given_))
    for one, other in ((np.ones(24), y), (x, np.ones(24))):
        constant = unit_partial_correlation(one, other, given_, some)
        assert math.isnan(constant.value) and constant.note == "a variable does not vary"
    few = unit_partial_correlation(x[:3], y[:3], given_[:3], units([1] * 3))
    assert math.isnan(few.value) and few.note == "a variable does not vary"
    enough = unit_partial_correlation(x[:4], y[:4], given_[:4], units([1] * 4))
    assert enough.value == pytest.approx(residual_correlation(x[:4], y[:4], given_[:4]))


@pytest.mark.parametrize("method", SCIPY)
def test_large_values_lose_no_digits(method: str) -> None:
    some, (x, y) = units([4] * 6), sample(np.random.default_rng(3), [4] * 6)
    found, far = (
        unit_correlation(x, y, some, method),
        unit_correlation(x + 1e5, y - 1e5, some, method),
    )
    assert (far.value, far.low, far.high) == pytest.approx(
        (found.value, found.low, found.high), rel=1e-6
    )


@pytest.mark.parametrize("method", ["pearson", "spearman"])
def test_a_few_units_at_a_time_give_the_same(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = [3, 7, 5, 9, 4, 6, 8, 2]
    some, (x, y) = units(lengths), sample(np.random.default_rng(4), lengths)
    whole = unit_correlation(x, y, some, method)
    monkeypatch.setattr("robustcs.statistics.unit_correlation._CELLS", 2 * len(x))
    parts = unit_correlation(x, y, some, method)
    assert (parts.value, parts.low, parts.high) == pytest.approx(
        (whole.value, whole.low, whole.high)
    )


@pytest.mark.parametrize("method", SCIPY)
def test_a_variable_that_does_not_vary_is_named(method: str) -> None:
    some, x, same = units([4] * 6), np.arange(24.0), np.full(24, 0.3)
    for one, other in ((x, same), (same, x), (same, same)):
        found = unit_correlation(one, other, some, method)
        assert math.isnan(found.value) and found.note == "a variable does not vary"
    assert (
        unit_correlation([1.0, 2], [2.0, 1], units([1, 1]), method).note
        == "a variable does not vary"
    )
    assert not math.isnan(unit_correlation([1.0, 2, 4], [2.0, 1, 5], units([1] * 3), method).value)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("method", SCIPY)
def test_a_variable_that_varies_in_one_conversation_alone_has_no_interval(method: str) -> None:
    some, (x, y) = units([4] * 6), sample(np.random.default_rng(6), [4] * 6)
    once = np.where(some.codes == 2, x, 0.1)
    for one, other in ((once, y), (y, once)):
        found = unit_correlation(one, other, some, method)
        assert (
            found.value == pytest.approx(SCIPY[method](one, other)[0])
            and math.isnan(found.low)
            and math.isnan(found.p)
        )
        assert (
            found.note
            == "no interval: without one conversation, a variable does not vary; unstable: only 6 conversations"
        )
