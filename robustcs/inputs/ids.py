"""Ids as numpy has them: their bytes in one buffer. What Arrow's strings are, without importing Arrow to read a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from robustcs.lazy import npt

if TYPE_CHECKING:
    import pyarrow as pa


def as_numpy(array: pa.Array) -> npt.NDArray[Any]:
    """The numbers of an Arrow array without nulls: no copy, not to be written to."""
    return np.from_dlpack(array)


def as_arrow(codes: npt.NDArray[np.int32]) -> pa.Int32Array:
    """Codes as Arrow numbers, for its ``take``: no copy."""
    import pyarrow as pa

    return pa.Array.from_buffers(pa.int32(), len(codes), [None, pa.py_buffer(codes)])


#: Grades are kept as int16; real ones are -2 to 4.
MAX_GRADE = 1000
#: Bytes around the ids of a buffer, so that eight can be read at once wherever an id begins or ends.
MARGIN = 16


#: The first k bytes of a word.
_FIRST = np.array([(1 << (8 * k)) - 1 for k in range(8)] + [2**64 - 1], dtype=np.uint64)


_FACTOR = np.uint64(0x9E3779B97F4A7C15)


_OTHER = np.uint64(0xC2B2AE3D27D4EB4F)


_HALF = np.uint64(32)


#: Ids that fill at least this part of their buffer are cut out of it by a mask of its bytes.
_DENSE = 8


class Ids:
    """n ids in UTF-8.

    data
        uint8: the bytes, with :data:`MARGIN` further ones before and after them.
    starts, lengths
        int64[n]: where each id stands in ``data``.
    """

    def __init__(self, data: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]):
        self.data = data
        self.starts = starts
        self.lengths = lengths
        self._hashes: npt.NDArray[np.uint64] | None = None

    @classmethod
    def of(cls, texts: Iterable[str]) -> Ids:
        """The ids that texts are."""
        return cls.packed([text.encode("utf-8") for text in texts])

    @classmethod
    def packed(cls, cells: Sequence[bytes]) -> Ids:
        """The ids that bytes are."""
        lengths = np.fromiter(map(len, cells), np.int64, len(cells))
        margin = bytes(MARGIN)
        data = np.frombuffer(b"".join([margin, *cells, margin]), dtype=np.uint8)
        return cls(data, MARGIN + np.cumsum(lengths) - lengths, lengths)

    @classmethod
    def from_arrow(cls, array: pa.StringArray) -> Ids:
        """The ids that Arrow strings are; none of them is null."""
        if not len(array):
            return cls.packed([])
        _, ends, data = array.buffers()
        # Arrow's large strings have offsets of eight bytes
        offsets = np.frombuffer(ends, np.int64 if str(array.type) == "large_string" else np.int32)[
            array.offset : array.offset + len(array) + 1
        ]
        margin = np.zeros(MARGIN, dtype=np.uint8)
        held = np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]]
        starts = (offsets[:-1] - offsets[0]).astype(np.int64) + MARGIN
        return cls(np.concatenate([margin, held, margin]), starts, np.diff(offsets).astype(np.int64))

    @classmethod
    def joined(cls, parts: Sequence[Ids], compact: bool = True) -> Ids:
        """Several one after the other; ``compact``: nothing else that stood in their buffers is kept."""
        if not compact:
            before = np.cumsum([0, *(len(part.data) for part in parts[:-1])])
            starts = np.concatenate([part.starts + shift for part, shift in zip(parts, before.tolist(), strict=True)])
            return cls(np.concatenate([part.data for part in parts]), starts, np.concatenate([part.lengths for part in parts]))
        whole = [part._compact() for part in parts]
        margin = np.zeros(MARGIN, dtype=np.uint8)
        lengths = np.concatenate([np.zeros(0, np.int64), *(part.lengths for part in parts)])
        return cls(np.concatenate([margin, *whole, margin]), MARGIN + np.cumsum(lengths) - lengths, lengths)

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, row: int) -> str:
        start = int(self.starts[row])
        return self.data[start : start + int(self.lengths[row])].tobytes().decode("utf-8")

    def take(self, rows: Any) -> Ids:
        """Some of them, in another order; ``rows`` as numpy indexes. The bytes are shared."""
        some = Ids(self.data, self.starts[rows], self.lengths[rows])
        if self._hashes is not None:
            some._hashes = self._hashes[rows]
        return some

    def texts(self) -> list[str]:
        """All as Python has them."""
        raw = self._compact().tobytes()
        ends = np.cumsum(self.lengths)
        return [
            raw[start:end].decode("utf-8") for start, end in zip((ends - self.lengths).tolist(), ends.tolist(), strict=True)
        ]

    @cached_property
    def arrow(self) -> pa.StringArray:
        """The same as Arrow strings."""
        import pyarrow as pa

        offsets = np.zeros(len(self) + 1, dtype=np.int64)
        np.cumsum(self.lengths, out=offsets[1:])
        data = pa.py_buffer(self._compact())
        if offsets[-1] < 2**31:
            return pa.Array.from_buffers(pa.string(), len(self), [None, pa.py_buffer(offsets.astype(np.int32)), data])
        return pa.Array.from_buffers(pa.large_string(), len(self), [None, pa.py_buffer(offsets), data])

    def _compact(self) -> npt.NDArray[np.uint8]:
        """The bytes end to end."""
        ends = self.starts + self.lengths
        if not len(self):
            return self.data[:0]
        if bool((self.starts[1:] == ends[:-1]).all()):
            return self.data[self.starts[0] : ends[-1]]
        if bool((self.starts[1:] >= ends[:-1]).all()) and len(self.data) < _DENSE * int(self.lengths.sum()):
            inside = np.zeros(len(self.data) + 1, dtype=np.int8)
            filled = self.lengths > 0
            inside[self.starts[filled]] = 1
            inside[ends[filled]] -= 1
            kept: npt.NDArray[np.uint8] = self.data[np.cumsum(inside[:-1], dtype=np.int8).view(bool)]
            return kept
        offsets = np.cumsum(self.lengths) - self.lengths
        return self.data[np.repeat(self.starts - offsets, self.lengths) + np.arange(int(self.lengths.sum()))]

    # ------------------------------------------------------------ comparing many at once

    def words(self, number: int) -> npt.NDArray[np.uint64]:
        """uint64[n]: bytes ``8 · number`` and the seven after it, 0 beyond the end of an id."""
        inside = np.minimum(self.lengths - 8 * number, 8)
        starts = self.starts
        if number:
            inside = np.maximum(inside, 0)
            starts = np.minimum(starts + 8 * number, len(self.data) - 8)
        found: npt.NDArray[np.uint64] = eight_bytes(self.data)[starts]
        found &= _FIRST[inside]
        return found

    def hashes(self) -> npt.NDArray[np.uint64]:
        """uint64[n]: equal for equal ids, and hardly ever for others: whoever finds two equal compares the ids."""
        if self._hashes is not None:
            return self._hashes
        found = self.lengths.astype(np.uint64) * _OTHER
        for number in range(-(-int(self.lengths.max(initial=0)) // 8)):
            mixed = (found ^ self.words(number)) * _FACTOR
            mixed ^= mixed >> _HALF
            # what stands beside an id must not change its hash: a shorter one is done
            longer = self.lengths > 8 * number
            found = mixed if longer.all() else np.where(longer, mixed, found)
        return found

    def keep_hashes(self) -> None:
        """Have :meth:`hashes` computed once for these ids and all that are taken of them."""
        self._hashes = self.hashes()

    def equal(self, other: Ids) -> npt.NDArray[np.bool_]:
        """bool[n]: whether the n ids are those of ``other``, each beside each."""
        same = self.lengths == other.lengths
        for number in range(-(-int(self.lengths[same].max(initial=0)) // 8)):
            same &= self.words(number) == other.words(number)
        return np.asarray(same)

    def places(self) -> npt.NDArray[np.int64]:
        """int64[n]: the place of each in the order of their bytes, which is that of ``strcmp``; equal ones stand together."""
        words = [self.words(number).byteswap() for number in range(-(-int(self.lengths.max(initial=0)) // 8))]
        place = np.empty(len(self), dtype=np.int64)
        # a shorter one goes before those that begin with it, because no byte of an id is 0
        place[np.lexsort(words[::-1]) if words else slice(None)] = np.arange(len(self))
        return place


def eight_bytes(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """uint64[len − 7]: the eight bytes from every place on, the first one lowest."""
    return np.ndarray((len(data) - 7,), dtype="<u8", buffer=data, strides=(1,))


def first_of_pairs(turns: npt.NDArray[np.int32], ids: Ids) -> npt.NDArray[np.int64] | None:
    """int64[n]: the first row with the turn and the id of each row; None where no two rows have the same."""
    keys = pair_keys(turns, ids)
    ordered = np.sort(keys)
    if not (ordered[1:] == ordered[:-1]).any():
        return None
    again = np.flatnonzero(np.isin(keys, ordered[1:][ordered[1:] == ordered[:-1]]))
    first = np.arange(len(keys))
    seen: dict[tuple[int, str], int] = {}
    # two pairs can have one key by chance
    for row, turn, text in zip(again.tolist(), turns[again].tolist(), ids.take(again).texts(), strict=True):
        first[row] = seen.setdefault((turn, text), row)
    return first if bool((first != np.arange(len(first))).any()) else None


def pair_keys(turns: npt.NDArray[Any], ids: Ids) -> npt.NDArray[np.uint64]:
    """uint64[n]: equal for the same turn and id, and hardly ever for others."""
    return ids.hashes() ^ (turns.astype(np.uint64) + np.uint64(1)) * np.uint64(0xD6E8FEB86659FD93)
