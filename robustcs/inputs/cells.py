"""Parse regular pieces of a file, with the same columns on every line, and their numbers, using only numpy."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from robustcs.inputs.ids import MARGIN, Ids, eight_bytes
from robustcs.lazy import npt

#: Longest regular number in bytes.
_LONGEST = 16

_WHOLE = re.compile(rb"[+-]?[0-9]{1,18}")

#: Bytes around a piece; none of them ends a cell.
_MARGIN = b"~" * MARGIN

_ZEROS = np.uint64(0x3030303030303030)
#: A point XOR the digit 0, in every byte.
_POINTS = np.uint64(0x1E1E1E1E1E1E1E1E)
_ONES = np.uint64(0x0101010101010101)
_TOPS = np.uint64(0x8080808080808080)

#: Masks of the last k bytes of a word.
_LAST = np.array([(2**64 - 1) ^ ((1 << (8 * (8 - k))) - 1) for k in range(9)], dtype=np.uint64)

_POWERS = 10 ** np.arange(18, dtype=np.uint64)
_TENS = _POWERS.astype(np.float64)

#: All whole numbers up to this one are exact in 64-bit floats.
_EXACT = np.uint64(2**53)


class Cells:
    """The cells of a piece: n rows with the same number of columns."""

    def __init__(self, data: npt.NDArray[np.uint8], ends: npt.NDArray[np.int64]):
        self.data = data
        self._ends = ends

    @property
    def width(self) -> int:
        """The number of columns."""
        return int(self._ends.shape[1])

    def column(self, number: int) -> Ids:
        """Return the cells of a column as ids."""
        ends = self._ends[:, number]
        starts = np.empty(len(ends), dtype=np.int64)
        if number:
            np.add(self._ends[:, number - 1], 1, out=starts)
        else:
            starts[:1] = MARGIN
            np.add(self._ends[:-1, -1], 1, out=starts[1:])
        return Ids(self.data, starts, ends - starts)


def cells_of(chunk: bytes) -> Cells | None:
    """Split a piece at single spaces; return None if lines differ in their number of columns or contain other blanks."""
    end = b"" if chunk.endswith(b"\n") else b"\n"
    data = np.frombuffer(b"".join([_MARGIN, chunk, end, _MARGIN]), dtype=np.uint8)
    places = (data <= ord(" ")).nonzero()[0]
    found = data[places]
    breaks = found == ord("\n")
    lines = int(np.count_nonzero(breaks))
    width = int(breaks.argmax()) + 1
    # the only character below a space is the line feed, all lines have equally many cells, and no cell is empty
    if (
        int(np.count_nonzero(found < ord(" "))) != lines
        or lines * width != len(places)
        or not breaks[width - 1 :: width].all()
    ):
        return None
    if places[0] == MARGIN or bool((places[1:] - places[:-1] == 1).any()):
        return None
    return Cells(data, places.reshape(-1, width))


def labels_of(cells: Ids, codes: dict[bytes, int]) -> npt.NDArray[np.int32]:
    """Return int32[n]: the code of every cell; new cells get new codes in order of first appearance."""
    changed = np.zeros(len(cells), dtype=bool)
    changed[:1] = True
    changed[1:] = cells.lengths[1:] != cells.lengths[:-1]
    for part in cells.parts():
        changed[1:] |= part[1:] != part[:-1]
    first = np.flatnonzero(changed)
    raw = cells.data.data
    starts = cells.starts[first]
    spans = zip(starts.tolist(), (starts + cells.lengths[first]).tolist(), strict=True)
    found = np.array(
        [codes.setdefault(bytes(raw[start:end]), len(codes)) for start, end in spans],
        dtype=np.int32,
    )
    return np.repeat(found, np.diff(np.append(first, len(cells))))


def _exact(cells: Ids) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return exact numbers, and which cells are regular."""
    digits, shift, negative, regular = _decimals(cells)
    # both the whole number and the power of ten are exact, so their quotient is rounded only once
    values = digits.astype(np.float64)
    values /= _TENS.take(shift)
    np.negative(values, out=values, where=negative)
    return values, regular & (digits < _EXACT)


def _read_others(cells: Ids, regular: npt.NDArray[np.bool_], values: npt.NDArray[Any]) -> bool:
    """Write the numbers that are not regular into ``values``; return whether all are numbers."""
    for row, cell in _others(cells, regular):
        try:
            value = float(cell)
        except ValueError:
            return False
        if b"_" in cell or np.isnan(value):
            return False
        values[row] = value
    return True


def singles_of(cells: Ids) -> npt.NDArray[np.float32] | None:
    """Return float32[n]: the numbers as 32-bit floats, equal to the rounded ``float``; None if a cell is not a number.

    Rankers print 32-bit scores with 16 or 17 digits. The first of them suffice, unless the largest number that begins with
    these digits rounds to another 32-bit float.
    """
    more = cells.lengths - (cells.data[cells.starts] == ord("-")) - _LONGEST
    with np.errstate(over="ignore"):
        if int(more.max(initial=0)) <= 0:
            numbers, regular = _exact(cells)
            values = numbers.astype(np.float32)
        else:
            more = np.minimum(np.maximum(more, 0), 8)
            first = Ids(cells.data, cells.starts, cells.lengths - more)
            digits, shift, negative, regular = _decimals(first)
            rest = _padded(cells.data, cells.starts + cells.lengths, more)
            power = _TENS.take(shift)
            values, above = (
                ((digits + end).astype(np.float64) / power).astype(np.float32)
                for end in (np.uint64(0), more > 0)
            )
            regular &= (digits < _EXACT) & _are_digits(rest) & (values == above)
            regular &= (more == 0) | (shift > 0) | _with_point(first)
            np.negative(values, out=values, where=negative)
        return values if _read_others(cells, regular, values) else None


def integers_of(cells: Ids) -> npt.NDArray[np.int64] | None:
    """Return int64[n]: the whole numbers; None if a cell is not a whole number of at most 18 digits."""
    digits, shift, negative, regular = _decimals(cells)
    values = digits.astype(np.int64)
    np.negative(values, out=values, where=negative)
    for row, cell in _others(cells, regular & (shift == 0) & ~_with_point(cells)):
        if not _WHOLE.fullmatch(cell):
            return None
        values[row] = int(cell)
    return values


def _others(cells: Ids, regular: npt.NDArray[np.bool_]) -> list[tuple[int, bytes]]:
    """Return (row, cell) of the cells that are not regular."""
    if regular.all():
        return []
    raw = cells.data.tobytes()
    rows = np.flatnonzero(~regular)
    starts = cells.starts[rows]
    spans = zip(
        rows.tolist(), starts.tolist(), (starts + cells.lengths[rows]).tolist(), strict=True
    )
    return [(row, raw[start:end]) for row, start, end in spans]


def _with_point(cells: Ids) -> npt.NDArray[np.bool_]:
    """Return bool[n]: whether the cell ends with a point, which :func:`_decimals` ignores."""
    return np.asarray(cells.data[cells.starts + cells.lengths - 1] == ord("."))


def _decimals(
    cells: Ids,
) -> tuple[
    npt.NDArray[np.uint64], npt.NDArray[np.int64], npt.NDArray[np.bool_], npt.NDArray[np.bool_]
]:
    """Return digits (12345 for ``-12.345``), decimal places (3), sign, and which cells are such numbers.

    Processes eight characters at a time as the bytes of one integer.
    """
    negative = cells.data[cells.starts] == ord("-")
    size = cells.lengths - negative
    regular = (size > 0) & (size <= _LONGEST)
    size = np.where(regular, size, 1)
    ends = cells.starts + cells.lengths
    low, places, points, fine = _eight(cells.data, ends, np.minimum(size, 8))
    regular &= fine
    if int(size.max(initial=0)) > 8:
        high, above, more, fine = _eight(cells.data, ends - 8, np.maximum(size - 8, 0))
        regular &= fine
        low = low + high * _POWERS.take(8 - points)
        places = np.where(more > 0, above + 8, places)
        points = points + more
    regular &= (points <= 1) & (size > points)
    return low, places, negative, regular


def _eight(
    data: npt.NDArray[np.uint8], ends: npt.NDArray[np.int64], size: npt.NDArray[np.int64]
) -> tuple[
    npt.NDArray[np.uint64], npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.bool_]
]:
    """Parse the ``size`` ≤ 8 bytes before ``ends``: return the number without its point, the number of digits after the point,
    the number of points (0 or 1), and whether there are only digits and this point.
    """
    word = _padded(data, ends, size)
    # the lowest set top bit marks the first point
    differ = word ^ _POINTS
    marks = (differ - _ONES) & ~differ & _TOPS
    mark = (marks & np.negative(marks)) >> np.uint64(7)
    # bytes 0 to 7 contain the number of digits after a point in that place
    places = ((mark * np.uint64(0x0706050403020100)) >> np.uint64(56)).astype(np.int64)
    points = (mark > 0).astype(np.uint64)
    word ^= mark * np.uint64(ord(".") ^ ord("0"))
    # move the digits before the point one byte up, over the point
    word += (word & (mark - points)) * np.uint64(255)
    fine = _are_digits(word)
    word = word * np.uint64(10) + (word >> np.uint64(8))
    pairs = np.uint64(0x000000FF000000FF)
    first = (word & pairs) * np.uint64(100 + (1000000 << 32))
    second = ((word >> np.uint64(16)) & pairs) * np.uint64(1 + (10000 << 32))
    return (first + second) >> np.uint64(32), places, points.view(np.int64), fine


def _padded(
    data: npt.NDArray[np.uint8], ends: npt.NDArray[np.int64], size: npt.NDArray[np.int64]
) -> npt.NDArray[np.uint64]:
    """Return the ``size`` ≤ 8 bytes before ``ends``, with zeros before them. Digits are bytes of 0 to 9, all else is above."""
    word: npt.NDArray[np.uint64] = eight_bytes(data)[ends - 8]
    word ^= _ZEROS
    word &= _LAST.take(size)
    return word


def _are_digits(word: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    """Return whether all eight bytes are digits."""
    return np.asarray(((word + np.uint64(0x7676767676767676)) | word) & _TOPS == 0)
