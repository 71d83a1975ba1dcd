"""Ids in one buffer: the same as Python's texts, whatever is done with them; equal keys by chance change nothing."""

from __future__ import annotations

from unittest import mock

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from robustcs.inputs.cells import integers_of, singles_of
from robustcs.inputs.ids import Ids, first_of_pairs

texts = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20), max_size=12
)


@given(texts=texts, data=st.data())
def test_ids_are_what_their_texts_are(texts: list[str], data: st.DataObject) -> None:
    ids = Ids.of(texts)
    rows = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=9) if texts else st.just([]))
    some, chosen = ids.take(np.array(rows, dtype=int)), [texts[row] for row in rows]
    assert ids.texts() == texts and some.texts() == chosen
    assert [some[place] for place in range(len(some))] == chosen
    for compact in (True, False):
        assert Ids.joined([some, ids, some], compact).texts() == [*chosen, *texts, *chosen]
    assert [texts[place] for place in np.argsort(ids.places())] == sorted(texts, key=str.encode)
    if texts:
        rolled = ids.take(np.roll(np.arange(len(texts)), 1))
        assert ids.equal(rolled).tolist() == [
            a == b for a, b in zip(texts, rolled.texts(), strict=True)
        ]
    known, codes = ids.encoded()
    assert known.texts() == list(dict.fromkeys(texts)) and known.take(codes).texts() == texts
    assert some.codes_in(known).tolist() == [known.texts().index(text) for text in chosen]
    assert known.codes_in(Ids.of([*dict.fromkeys(chosen)])).tolist() == [
        list(dict.fromkeys(chosen)).index(text) if text in chosen else -1 for text in known.texts()
    ]
    hashes = ids.hashes().tolist()
    assert len(set(hashes)) == len(set(texts))
    assert hashes == [Ids.of([text]).hashes()[0] for text in texts], "whatever ids stand beside it"


@given(
    pairs=st.lists(
        st.tuples(st.integers(0, 2), st.sampled_from(["a", "b", "a longer id", "a longer ie"]))
    ),
    same=st.booleans(),
)
def test_repeated_pairs_are_found_also_where_keys_are_equal_by_chance(
    pairs: list[tuple[int, str]], same: bool
) -> None:
    ids, turns = (
        Ids.of(text for _, text in pairs),
        np.array([turn for turn, _ in pairs], dtype=np.int32),
    )
    with (
        mock.patch.object(Ids, "hashes", lambda self: np.zeros(len(self), np.uint64))
        if same
        else mock.MagicMock()
    ):
        first = first_of_pairs(turns, ids)
        known, codes = ids.encoded()
    assert (
        known.texts() == list(dict.fromkeys(ids.texts()))
        and known.take(codes).texts() == ids.texts()
    )
    expected = [pairs.index(pair) for pair in pairs]
    assert (expected == [*range(len(pairs))]) if first is None else (first.tolist() == expected)


cells = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(-1000, 1000, allow_nan=False, places=5).map(str),
    st.integers(-(10**18) + 1, 10**18 - 1).map(str),
    st.text("0123456789.-+e_", min_size=1, max_size=20),
    st.text("0123456789.-/:;\x2f\x3a", min_size=1, max_size=9),
)


@given(cells=st.lists(cells, min_size=1, max_size=8))
def test_numbers_are_those_of_python_to_the_last_bit(cells: list[str]) -> None:
    """As bits, since −0 and 0 are equal."""
    try:
        expected = (
            None
            if any("_" in cell for cell in cells)
            else np.array([float(cell) for cell in cells])
        )
    except ValueError:
        expected = None
    found = singles_of(Ids.of(cells))
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        with np.errstate(over="ignore"):
            assert found.tobytes() == expected.astype(np.float32).tobytes()
    digits = [cell.removeprefix(cell[0]) if cell[0] in "+-" else cell for cell in cells]
    whole = all(part.isascii() and part.isdigit() and len(part) <= 18 for part in digits)
    numbers = integers_of(Ids.of(cells))
    assert (None if numbers is None else numbers.tolist()) == (
        [int(cell) for cell in cells] if whole else None
    )
