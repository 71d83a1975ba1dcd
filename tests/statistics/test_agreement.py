"""Agreement of annotators against definitions written out, statsmodels and the krippendorff package."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.errors import UsageError
from robustcs.statistics.agreement import (
    LEVELS,
    check_majority,
    chosen_characters,
    fleiss_kappa,
    jaccard_at_least,
    krippendorff_alpha,
    majority_of,
    most_similar,
    overlap_scores,
    pair_agreement,
    rating_counts,
    similarity_to_others,
)

LENGTH = 30
SPANS = st.lists(st.tuples(st.integers(0, LENGTH - 1), st.integers(1, 8)).map(lambda p: (p[0], min(LENGTH, p[0] + p[1]))),
                 max_size=4)  # fmt: skip
ANNOTATIONS = st.lists(SPANS, min_size=1, max_size=5)


def characters(spans: list[tuple[int, int]]) -> set[int]:
    return {place for start, end in spans for place in range(start, end)}


@given(ANNOTATIONS)
def test_jaccard_is_that_of_sets_of_characters(annotations: list[list[tuple[int, int]]]) -> None:
    sets = [characters(spans) for spans in annotations]
    union = set().union(*sets)
    found = jaccard_at_least(chosen_characters(annotations, LENGTH))
    assert len(found) == len(sets)
    for k in range(1, len(sets) + 1):
        at_least = {place for place in union if sum(place in some for some in sets) >= k}
        assert found[k - 1] == (len(at_least) / len(union) if union else 1)


@given(ANNOTATIONS, ANNOTATIONS)
def test_overlap_is_that_of_sets_of_characters(
    first: list[list[tuple[int, int]]], second: list[list[tuple[int, int]]]
) -> None:
    found = overlap_scores(chosen_characters(first, LENGTH), chosen_characters(second, LENGTH))
    for i, own in enumerate(map(characters, first)):
        for j, other in enumerate(map(characters, second)):
            both = len(own & other)
            precision, recall = (both / len(own), both / len(other)) if both else (0.0, 0.0)
            f1 = 2 * precision * recall / (precision + recall) if both else 0.0
            assert [scores[i, j] for scores in found] == pytest.approx([precision, recall, f1])


def test_what_is_most_similar_to_the_others() -> None:
    chosen = chosen_characters([[(0, 4)], [(2, 8)], [(3, 9)], []], 10)
    assert most_similar(chosen) == 1
    assert similarity_to_others(chosen)[3] == 0
    assert most_similar(chosen_characters([[(0, 2)], [(0, 2)]], 3)) == 0  # the first of equals
    assert similarity_to_others(
        chosen_characters([[(0, 2)], [(1, 4)]], 4)
    ).tolist() == pytest.approx([0.4, 0.4])  # of two
    assert most_similar(chosen[:1]) == 0 and math.isnan(similarity_to_others(chosen[:1])[0])


def test_a_majority_is_more_than_half_unless_said_otherwise() -> None:
    assert [majority_of(n, None) for n in (1, 2, 3, 4, 5)] == [1, 2, 2, 3, 3]
    assert majority_of(3, 3) == 3
    check_majority(None, 2, "annotators")
    check_majority(3, 3, "annotators")
    with pytest.raises(
        UsageError, match="a majority of 4 is impossible: no item has more than 3 annotators"
    ):
        check_majority(4, 3, "annotators")


# ------------------------------------------------------------------------------------------ ratings


def table(
    seed: int, items: int, raters: int, scale: int, missing: float = 0
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Raters × items with NaN for missing ratings; the raters agree to some degree."""
    draw = np.random.default_rng(seed)
    true = draw.integers(0, scale, items)
    noisy = np.clip(true + draw.integers(-1, 2, (raters, items)), 0, scale - 1).astype(float)
    noisy[draw.random(noisy.shape) < missing] = np.nan
    return noisy


def counted(ratings: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Items × values, counted without the function under test."""
    values = range(int(np.nanmax(ratings)) + 1)
    return np.array([[int((some == value).sum()) for value in values] for some in ratings.T])


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=30))
def test_counts(pairs: list[tuple[int, int]]) -> None:
    counts = rating_counts(*zip(*pairs, strict=True))
    assert counts.shape == tuple(max(codes) + 1 for codes in zip(*pairs, strict=True))
    assert all(counts[place] == pairs.count(place) for place in np.ndindex(counts.shape))


@pytest.mark.parametrize("seed", range(8))
def test_kappa_equals_statsmodels(seed: int) -> None:
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")
    counts = counted(table(seed, items=20 + seed, raters=2 + seed % 4, scale=2 + seed % 4))
    assert fleiss_kappa(counts) == pytest.approx(inter_rater.fleiss_kappa(counts), abs=1e-12)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(8))
def test_alpha_equals_the_krippendorff_package(seed: int, level: Any) -> None:
    package = pytest.importorskip("krippendorff")
    ratings = table(
        seed, items=25, raters=3 + seed % 3, scale=3 + seed % 3, missing=0.1 * (seed % 5)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = package.alpha(ratings, level_of_measurement=level)
    counts = counted(ratings)
    assert krippendorff_alpha(counts, range(counts.shape[1]), level) == pytest.approx(
        expected, abs=1e-12
    )


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.integers(0, 4), max_size=5), min_size=1, max_size=12))
def test_alpha_equals_its_definition_with_missing_ratings(items: list[list[int]]) -> None:
    counts = np.array([np.bincount(values, minlength=5) for values in items])
    pairable = [values for values in items if len(values) >= 2]
    pooled = [value for values in pairable for value in values]
    if len(set(pooled)) < 2:
        assert all(math.isnan(krippendorff_alpha(counts, range(5), level)) for level in LEVELS)
        return
    distances: dict[str, Callable[[int, int], float]] = {
        "nominal": lambda a, b: float(a != b),
        "interval": lambda a, b: float((a - b) ** 2),
        "ordinal": lambda a, b: (
            sum(pooled.count(value) for value in range(min(a, b), max(a, b) + 1)) - (pooled.count(a) + pooled.count(b)) / 2
        ) ** 2,
    }  # fmt: skip
    for level in LEVELS:
        distance = distances[level]
        observed = sum(
            distance(a, b) / (len(some) - 1) for some in pairable for a in some for b in some
        ) / len(pooled)
        expected = sum(distance(a, b) for a in pooled for b in pooled) / (
            len(pooled) * (len(pooled) - 1)
        )
        assert krippendorff_alpha(counts, range(5), level) == pytest.approx(
            1 - observed / expected, abs=1e-9
        )


def test_raw_agreement_is_that_of_pairs() -> None:
    counts = np.array([[5, 0, 0], [3, 2, 0], [3, 1, 1], [2, 2, 1], [1, 0, 0]])
    assert pair_agreement(counts)[:4] == pytest.approx([1, 0.4, 0.3, 0.2])
    assert math.isnan(pair_agreement(counts)[4])


def test_fleiss_example_of_1971() -> None:
    """Ten subjects, fourteen raters, five categories: kappa 0.210."""
    counts = np.array([
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ])  # fmt: skip
    assert fleiss_kappa(counts) == pytest.approx(0.2099, abs=5e-5)


def test_equal_ratings_have_no_kappa() -> None:
    counts = np.array([[3, 0], [3, 0]])
    assert math.isnan(fleiss_kappa(counts)) and math.isnan(
        krippendorff_alpha(counts, [0, 1], "interval")
    )


def test_no_ratings_have_no_counts_and_a_selection_may_end_with_the_text() -> None:
    assert rating_counts([], []).shape == (0, 0)
    assert chosen_characters([[(1, 3)], [(0, 1), (2, 3)], []], 3).tolist() == [
        [False, True, True],
        [True, False, True],
        [False] * 3,
    ]
