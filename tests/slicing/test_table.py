"""Which turn is in which slice."""

from __future__ import annotations

import numpy as np
import pytest

from robustcs.errors import UsageError
from robustcs.slicing import TEXTS
from robustcs.slicing.table import slicing, turn_slicings

TURNS = ["1_1", "1_2", "2_1", "2_10"]
TEXT = {
    "original": {"1_1": "What are sharks?", "1_2": "Where do they live?", "2_1": "Who is Bach?"},
    "human": {
        "1_1": "What are sharks?",
        "1_2": "Where do sharks live?",
        "2_1": "Who is Bach?",
        "2_10": "Who was Bach?",
    },
    "t5": {"1_1": "What are sharks?", "2_10": "Who was he?"},
}


def test_ids_say_place_and_conversation() -> None:
    found, notes = turn_slicings(("first", "depth", "conversation"), TURNS, {}, {})
    assert [one.slices for one in found] == [("first", "later"), ("1", "2", "10"), ("1", "2")]
    assert found[1].codes.tolist() == [0, 1, 0, 2] and found[1].numbers == (1.0, 2.0, 10.0)
    assert notes == ()
    # iKAT: topic 9 has two conversations
    (ikat,), _ = turn_slicings(("conversation",), ["9-1_1", "9-1_2", "9-2_1"], {}, {})
    assert ikat.slices == ("9-1", "9-2")


def test_texts_say_more_and_a_rewriter_its_own() -> None:
    found, notes = turn_slicings((TEXTS,), TURNS, TEXT, {})
    named = {(one.name, one.system): one for one in found}
    assert list(named) == [("pronoun", ""), ("ellipsis", ""), ("length", ""), ("shift", ""), ("name", ""),
                           ("name in rewrite", "t5")]  # fmt: skip
    assert named["pronoun", ""].codes.tolist() == [0, 1, 0, -1]
    own = named["name in rewrite", "t5"]
    assert [own.slices[code] if code >= 0 else None for code in own.codes] == [
        "none",
        None,
        None,
        "lost",
    ]
    assert (
        own.concerns("t5") and not own.concerns("other") and named["length", ""].concerns("other")
    )
    assert "slices: pronoun has no value for 1 of the 4 turns" in notes


def test_columns_of_a_user_win() -> None:
    columns = {"depth": {"1_1": "early", "2_10": "late"}, "wide": {turn: turn for turn in TURNS}}
    found, notes = turn_slicings(("depth",), TURNS, {}, columns)
    assert [(one.name, one.slices) for one in found] == [
        ("depth", ("early", "late")),
        ("wide", tuple(TURNS)),
    ]
    assert notes == ("slices: column depth has no value for 2 of the 4 turns",)


def test_what_nothing_tells() -> None:
    with pytest.raises(UsageError, match="no slices by pronoun: there are no Original texts"):
        turn_slicings(("pronoun",), TURNS, {}, {})
    with pytest.raises(UsageError, match="no slices by texts"):
        turn_slicings((TEXTS,), TURNS, {}, {})
    # offered is not asked for
    assert turn_slicings((), TURNS, {}, {}, offered=(TEXTS,)) == ((), ())
    found, notes = turn_slicings(("depth", "conversation"), ["a", "b"], {}, {})
    assert found == () and len(notes) == 2
    # some of what texts say is enough for all of it
    some, notes = turn_slicings((TEXTS,), TURNS, {"human": TEXT["human"]}, {})
    assert [one.name for one in some] == ["shift"] and any(
        "no slices by pronoun" in note for note in notes
    )


def test_values_that_are_no_numbers_stay_words() -> None:
    assert slicing("x", TURNS, {"1_1": "1", "1_2": "nan"}).numbers is None
    assert slicing("x", TURNS, {"1_1": "-1.5", "1_2": "2"}).numbers == (-1.5, 2.0)
    assert np.array_equal(slicing("x", TURNS, {}).codes, [-1] * 4)
