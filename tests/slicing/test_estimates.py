"""Slices against written-out formulas, and what few conversations cannot say."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.slicing import contrasts
from robustcs.slicing.estimates import Slice, slices_of
from robustcs.slicing.rearrangement import rearranged
from robustcs.slicing.table import slicing
from robustcs.statistics.units import units_of

TURNS = [f"{topic}_{depth}" for topic in range(12) for depth in range(1, 6)]
UNITS = units_of(TURNS)
RANDOM = np.random.default_rng(4)
SCORES = RANDOM.beta(1, 1.5, len(TURNS)) + np.repeat(RANDOM.normal(0, 0.1, 12), 5)


def by(values: dict[str, str], name: str = "kind"):  # type: ignore[no-untyped-def]
    return slicing(name, TURNS, values)


def one_row(values: np.ndarray, *rest: Any, **look: Any) -> list[Slice]:
    return slices_of([values], *rest, **look)[0]


KIND = by({turn: "ab"[int(RANDOM.random() < 0.4)] for turn in TURNS})
DEPTH = by({turn: turn.partition("_")[2] for turn in TURNS}, "depth")


def test_means_are_means_and_differences_differences() -> None:
    found = one_row(SCORES, [KIND, DEPTH], UNITS, 0)
    assert [(one.slicing, one.name) for one in found] == [
        ("kind", "a"),
        ("kind", "b"),
        *(("depth", str(d)) for d in range(1, 6)),
    ]
    for one in found:
        slicing_ = {"kind": KIND, "depth": DEPTH}[one.slicing]
        inside = slicing_.codes == slicing_.slices.index(one.name)
        assert one.turns == inside.sum() == one.weight
        assert one.estimate.value == pytest.approx(SCORES[inside].mean())
        assert one.contrast.rest == pytest.approx(SCORES[~inside].mean())
        assert one.contrast.difference == pytest.approx(
            SCORES[inside].mean() - SCORES[~inside].mean()
        )
        assert one.contrast.low < one.contrast.difference < one.contrast.high


def test_a_p_and_its_interval_never_contradict_each_other() -> None:
    for shift in (0.0, 0.1, 0.2, 0.4):
        for one in one_row(SCORES + shift * (KIND.codes == 1), [KIND, DEPTH], UNITS, 3, draws=499):
            outside = one.contrast.low > 0 or one.contrast.high < 0
            assert outside == (one.contrast.p <= 0.05)


def test_the_standard_error_is_that_of_leaving_conversations_out() -> None:
    """The t behind two intervals of the same slice at other values is the same; their widths are the jackknife's."""
    widths, errors = [], []
    for scores in (SCORES, SCORES * 3 + 1):
        (first, _) = one_row(scores, [KIND], UNITS, 0)
        widths.append(first.contrast.high - first.contrast.low)
        inside = KIND.codes == 0
        without = [
            scores[inside & (UNITS.codes != unit)].mean()
            - scores[~inside & (UNITS.codes != unit)].mean()
            for unit in range(12)
        ]
        errors.append(math.sqrt(11 / 12 * np.sum((np.array(without) - np.mean(without)) ** 2)))
    assert widths[1] / widths[0] == pytest.approx(3) == errors[1] / errors[0]
    # the t is near Student's on 11 degrees of freedom, 2.2
    assert 1.7 < widths[0] / 2 / errors[0] < 2.8


def test_slices_that_are_each_others_rest_are_one_comparison() -> None:
    lower = SCORES - 0.5 * (KIND.codes == 1)
    found = one_row(lower, [KIND, DEPTH], UNITS, 0)
    p, adjusted = zip(*((one.contrast.p, one.contrast.p_corrected) for one in found), strict=True)
    assert (
        p[0] == p[1]
        and adjusted[0] == adjusted[1]
        and {one.contrast.comparisons for one in found} == {6}
    )
    assert all(one <= other for one, other in zip(p, adjusted, strict=True)) and adjusted[
        0
    ] <= 0.05 < max(adjusted)
    # a slicing that says the same again costs nothing; one slice alone keeps its p
    again = one_row(lower, [KIND, replace(KIND, name="again")], UNITS, 0)
    assert {one.contrast.p_corrected for one in again} == {again[0].contrast.p} == {p[0]}


def test_adjusted_p_is_step_down_max_t_over_the_same_draws() -> None:
    """Written from the definition: of every draw the largest statistic of the slices that are not further out."""
    random = np.random.default_rng(8)
    drawn, reached = np.abs(random.standard_t(3, (99, 4))), np.array([0.3, 4.0, 2.0, 2.5])
    drawn[:, 1] *= 10
    reached[1] *= 10
    scale = np.sort(np.vstack([drawn, reached]), axis=0)[math.ceil(0.99 * 99)]
    order = np.argsort(-reached / scale)
    expected, least = np.empty(4), 0.0
    for step, place in enumerate(order):
        largest = (drawn / scale)[:, order[step:]].max(axis=1)
        least = expected[place] = max(
            least, (1 + (largest >= reached[place] / scale[place]).sum()) / 100
        )
    assert contrasts._stepped(drawn, reached).tolist() == pytest.approx(expected.tolist())
    # a slice whose scores vary ten times as much is treated like the others
    drawn[:, 1] /= 10
    reached[1] /= 10
    assert contrasts._stepped(drawn, reached).tolist() == pytest.approx(expected.tolist())


def test_no_interval_below_five_conversations() -> None:
    few = by({turn: "few" if int(turn.partition("_")[0]) < 4 else "many" for turn in TURNS})
    one = by({turn: turn.partition("_")[0] for turn in TURNS}, "conversation")
    rare, many, *alone = one_row(SCORES, [few, one], UNITS, 0)
    assert (
        math.isnan(rare.estimate.low)
        and rare.estimate.note == "no interval: only 4 conversations (at least 5 required)"
    )
    assert math.isnan(rare.contrast.p) and math.isnan(rare.contrast.low)
    assert (
        not math.isnan(many.estimate.low)
        and many.contrast.note
        == "no interval: only 4 conversations (at least 5 required) in the rest"
    )
    assert len(alone) == 12 and all(
        math.isnan(slice_.estimate.low) and math.isnan(slice_.contrast.p) for slice_ in alone
    )
    assert {slice_.contrast.comparisons for slice_ in alone} == {0}
    assert all(
        slice_.contrast.difference == pytest.approx(slice_.estimate.value - slice_.contrast.rest)
        for slice_ in alone
    )


def test_unknown_turns_are_neither_in_a_slice_nor_in_the_rest() -> None:
    known = {
        turn: "x" if turn.endswith(("1", "2")) else "y" for turn in TURNS if not turn.endswith("5")
    }
    x, y = one_row(SCORES, [by(known)], UNITS, 0)
    assert (x.turns, y.turns) == (24, 24)
    assert x.contrast.rest == pytest.approx(y.estimate.value) and y.contrast.rest == pytest.approx(
        x.estimate.value
    )


def test_a_single_slice_has_no_rest() -> None:
    (all_,) = one_row(SCORES, [by(dict.fromkeys(TURNS, "all"))], UNITS, 0)
    assert (
        math.isnan(all_.contrast.rest) and math.isnan(all_.contrast.p) and all_.contrast.note == ""
    )
    assert all_.estimate.value == pytest.approx(SCORES.mean())


def test_shares_with_weights() -> None:
    retrieved = RANDOM.integers(1, 4, len(TURNS)).astype(float)
    unjudged = RANDOM.binomial(retrieved.astype(int), 0.3).astype(float)
    a, b = one_row(unjudged, [KIND], UNITS, 0, shares=True, weights=retrieved)
    inside = KIND.codes == 0
    assert a.weight == retrieved[inside].sum() and a.estimate.value == pytest.approx(
        unjudged[inside].sum() / a.weight
    )
    assert (
        b.contrast.rest == pytest.approx(a.estimate.value)
        and 0 <= a.estimate.low <= a.estimate.value <= a.estimate.high <= 1
    )


def test_all_alike_has_no_interval() -> None:
    a, _ = one_row(np.full(len(TURNS), 0.5), [KIND], UNITS, 0)
    assert math.isnan(a.contrast.p) and "all conversations are alike" in a.contrast.note


def test_single_turns_as_units() -> None:
    alone = units_of(TURNS, "turn")
    a, _ = one_row(SCORES, [KIND], alone, 0)
    assert a.estimate.units == a.turns and not math.isnan(a.contrast.p)


@settings(max_examples=20)
@given(st.integers(0, 2**31 - 1), st.permutations(range(len(TURNS))))
def test_the_order_of_turns_does_not_change_what_is_estimated(seed: int, order: list[int]) -> None:
    moved = replace(KIND, codes=KIND.codes[order])
    units = units_of([TURNS[place] for place in order])
    for one, other in zip(
        one_row(SCORES, [KIND], UNITS, seed, draws=99),
        one_row(SCORES[order], [moved], units, seed, draws=99),
        strict=True,
    ):
        assert one.estimate.value == pytest.approx(
            other.estimate.value
        ) and one.estimate.low == pytest.approx(other.estimate.low)
        assert one.contrast.difference == pytest.approx(other.contrast.difference)


def test_no_slicing_no_slices() -> None:
    assert one_row(SCORES, [], UNITS, 0) == []


def test_rows_share_their_draws_and_are_what_each_is_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many rows there are, scores are rearranged once."""
    rows = np.stack([SCORES, SCORES**2, SCORES > 0.4])
    alone = [one_row(row, [KIND, DEPTH], UNITS, 5, draws=99) for row in rows]
    calls = []
    monkeypatch.setattr(
        contrasts, "rearranged", lambda *given: calls.append(given) or rearranged(*given)
    )
    assert repr(slices_of(rows, [KIND, DEPTH], UNITS, 5, draws=99)) == repr(alone)
    assert len(calls) == 1
    monkeypatch.setattr(contrasts, "_CELLS", 1)  # one row at a time where they are long
    assert repr(slices_of(rows, [KIND, DEPTH], UNITS, 5, draws=99)) == repr(alone)
    assert len(calls) == 4
