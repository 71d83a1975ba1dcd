"""Rules that are found, and those that are not."""

from __future__ import annotations

import numpy as np
import pytest

from robustcs.errors import UsageError
from robustcs.slicing.rearrangement import rearranged
from robustcs.slicing.search import find_slices, rules_of
from robustcs.slicing.table import slicing
from robustcs.statistics.units import units_of

TURNS = [f"{topic}_{depth}" for topic in range(20) for depth in range(1, 9)]
UNITS = units_of(TURNS)
RANDOM = np.random.default_rng(2)
SLICINGS = [
    slicing("depth", TURNS, {turn: turn.partition("_")[2] for turn in TURNS}),
    slicing("pronoun", TURNS, {turn: ("no", "yes")[int(RANDOM.random() < 0.5)] for turn in TURNS}),
    slicing("shift", TURNS, {turn: "abc"[int(RANDOM.integers(3))] for turn in TURNS}),
    slicing("conversation", TURNS, {turn: turn.partition("_")[0] for turn in TURNS}),
    slicing("named", TURNS, {turn: f"n{place}" for place, turn in enumerate(TURNS)}),
]
RULES = rules_of(SLICINGS, UNITS)
SCORES = RANDOM.beta(1.2, 1.5, len(TURNS))


def test_rules_have_one_condition_or_two_and_each_set_of_turns_once() -> None:
    assert all(1 <= len(rule.conditions) <= 2 for rule in RULES)
    masks = {rule.mask.tobytes() for rule in RULES}
    assert len(masks) == len(RULES) > 30
    for rule in RULES:
        assert 0.1 <= rule.mask.mean() <= 0.9 and len(np.unique(UNITS.codes[rule.mask])) >= 5
    named = {str(rule): rule.mask for rule in RULES}
    # numbers are cut, conversations and names make no conditions
    assert {"depth ≤ 2", "depth > 4", "pronoun = yes"} <= named.keys()
    assert not any("named" in rule for rule in named)
    both = named["depth > 4 and pronoun = yes"]
    assert np.array_equal(both, named["depth > 4"] & named["pronoun = yes"])


def test_a_planted_slice_is_found_and_said_as_it_is() -> None:
    mask = {str(rule): rule.mask for rule in RULES}["depth > 4 and pronoun = yes"]
    first, *others = find_slices(SCORES - 0.4 * mask, [RULES], UNITS, 0)
    assert (first.row, first.rule, first.turns) == (0, "depth > 4 and pronoun = yes", mask.sum())
    assert first.difference == pytest.approx((SCORES - 0.4)[mask].mean() - SCORES[~mask].mean())
    assert first.difference < first.at_most < 0 and first.p <= 0.01 and first.like == ""
    assert all(one.p >= first.p for one in others)
    # what is lower elsewhere is no find
    assert not any("pronoun = no" in one.rule for one in others)


def test_higher_scores_are_no_find_and_neither_is_nothing() -> None:
    mask = {str(rule): rule.mask for rule in RULES}["pronoun = yes"]
    assert all(
        "pronoun = no" in one.rule for one in find_slices(SCORES + 0.6 * mask, [RULES], UNITS, 0)
    )
    assert find_slices(np.zeros(len(TURNS)), [RULES], UNITS, 0) == []
    assert find_slices(SCORES, [[]], UNITS, 0) == []


def test_rows_are_corrected_together_and_told_apart() -> None:
    mask = {str(rule): rule.mask for rule in RULES}["pronoun = yes"]
    finds = find_slices(np.stack([SCORES, SCORES - 0.4 * mask]), [RULES, RULES], UNITS, 0)
    assert finds and {one.row for one in finds} == {1}


def test_few_conversations_are_refused() -> None:
    few = TURNS[: 8 * 7]
    with pytest.raises(UsageError, match="requires 10 conversations: there are 7 conversations"):
        find_slices(SCORES[: len(few)], [[]], units_of(few), 0)
    with pytest.raises(
        UsageError, match="requires 10 conversations or topics: the sampling unit is the turn"
    ):
        find_slices(SCORES[:24], [[]], units_of(TURNS[:24]), 0)


def test_what_is_rearranged_stays_as_it_was_in_another_conversation() -> None:
    values = np.stack([SCORES, RANDOM.normal(size=len(TURNS))])
    blocks = list(rearranged(values, UNITS, 1, 70))
    assert sum(block.shape[1] for block in blocks) == 70
    drawn = np.concatenate(blocks, axis=1)
    whole = {
        tuple(np.roll(conversation, by))
        for conversation in SCORES.reshape(20, 8)
        for by in range(8)
    }
    assert all(
        tuple(conversation) in whole for draw in drawn[0] for conversation in draw.reshape(20, 8)
    )
    assert all(np.array_equal(np.sort(draw), np.sort(SCORES)) for draw in drawn[0])
    # the same draws for every row: a row alone gives what it gives beside another
    assert np.array_equal(
        np.concatenate(list(rearranged(values[1:], UNITS, 1, 70)), axis=1)[0], drawn[1]
    )


def test_levels_go_to_other_conversations_and_deviations_stay() -> None:
    levels = SCORES.reshape(20, 8).mean(axis=1)
    rest = SCORES.reshape(20, 8) - levels[:, None]
    for draw in np.concatenate(list(rearranged(SCORES[None], UNITS, 1, 40, levels=True)), axis=1)[
        0
    ]:
        own = draw.reshape(20, 8)
        assert np.allclose(np.sort(own.mean(axis=1)), np.sort(levels))
        turned = own - own.mean(axis=1, keepdims=True)
        assert all(
            any(np.allclose(one, np.roll(was, by)) for by in range(8))
            for one, was in zip(turned, rest, strict=True)
        )


def test_a_longer_conversation_starts_again_and_a_shorter_one_leaves_some_over() -> None:
    turns = [f"{topic}_{depth}" for topic in range(6) for depth in range(1, 3 + topic)]
    units = units_of(turns)
    values = np.array(
        [100.0 * units.codes[place] + int(turn[2:]) for place, turn in enumerate(turns)]
    )
    for draw in np.concatenate(list(rearranged(values[None], units, 0, 40)), axis=1)[0]:
        for topic in range(6):
            own = draw[units.codes == topic]
            source = int(own[0] // 100)
            assert set(own // 100) == {source}
            length = 2 + source
            assert [(one - own[0]) % length for one in own] == [
                place % length for place in range(2 + topic)
            ]
