"""Numbers of many cells at once are those that Python reads one by one."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from robustcs.inputs.cells import singles_of
from robustcs.inputs.ids import Ids

DIGITS = st.text("0123456789", max_size=20)
WRITTEN = st.builds("{}{}.{}".format, st.sampled_from(["", "-", "+"]), DIGITS, DIGITS).filter(
    lambda cell: any(map(str.isdigit, cell))
)
#: A 32-bit float, the number half way to the next one, and what stands beside that.
SINGLE = st.floats(width=32, allow_nan=False, allow_infinity=False)
HALF_WAY = SINGLE.map(
    lambda value: (value + float(np.nextafter(np.float32(value), np.float32(np.inf)))) / 2
)
BESIDE = st.builds(
    lambda value, end: float(np.nextafter(value, end)), HALF_WAY, st.sampled_from([-np.inf, np.inf])
)
NUMBERS = st.one_of(
    WRITTEN,
    DIGITS.filter(bool),
    st.one_of(SINGLE, HALF_WAY, BESIDE, st.floats(allow_nan=False)).map(repr),
)


@example(["3.7593464851379395", "-0.00012345678901234567", "1" * 24, "1" * 25, ".5", "5."])
@given(st.lists(NUMBERS, min_size=1, max_size=20))
def test_numbers_are_those_of_float(cells: list[str]) -> None:
    expected = np.array([float(cell) for cell in cells])
    ids = Ids.of(cells)
    singles = singles_of(ids)
    assert singles is not None
    with np.errstate(over="ignore"):
        assert singles.tobytes() == expected.astype(np.float32).tobytes()


@pytest.mark.parametrize(
    "cell",
    [
        "",
        "-",
        ".",
        "nan",
        "1_0",
        "1_0.123456789012345",
        "1.2.3",
        "1.2.345678901234567890",
        "0x10",
        "٣",
        "12a",
    ],
)
def test_what_is_no_number(cell: str) -> None:
    ids = Ids.of(["1.5", cell])
    assert singles_of(ids) is None


def test_scores_of_rankers_are_not_read_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted: real runs print 32-bit floats with all the digits that they have as 64-bit floats."""
    patterns = np.random.default_rng(1).integers(0x30000000, 0x45000000, 500).tolist()
    cells = [repr(struct.unpack("f", struct.pack("I", pattern))[0]) for pattern in patterns]
    one_by_one: list[int] = []

    def count(_: Ids, regular: np.ndarray, __: np.ndarray) -> bool:
        one_by_one.append(int((~regular).sum()))
        return True

    monkeypatch.setattr("robustcs.inputs.cells._read_others", count)
    assert singles_of(Ids.of([cell for cell in cells if "e" not in cell])) is not None
    assert one_by_one == [0]
