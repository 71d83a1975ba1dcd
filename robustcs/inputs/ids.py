"""Ids as numpy arrays: their bytes in one buffer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from robustcs.lazy import npt

#: Largest grade. Grades are stored as int16; real ones are -2 to 4.
MAX_GRADE = 1000
#: Bytes around the ids of a buffer, so that eight bytes can be read from any place of an id.
MARGIN = 16

#: Masks of the first k bytes of a word.
_FIRST = np.array([(1 << (8 * k)) - 1 for k in range(8)] + [2**64 - 1], dtype=np.uint64)

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_OTHER = np.uint64(0xC2B2AE3D27D4EB4F)
_HALF = np.uint64(32)

# glibc returns the memory of large arrays to the system and asks for it again, page by page, until it has freed a larger one
np.empty(16 << 20, dtype=np.uint8)


class Ids:
    """n ids in UTF-8.

    data
        uint8: the bytes, with :data:`MARGIN` more before and after them.
    starts, lengths
        int64[n]: the place of each id in ``data``.
    """

    def __init__(
        self,
        data: npt.NDArray[np.uint8],
        starts: npt.NDArray[np.int64],
        lengths: npt.NDArray[np.int64],
    ):
        self.data = data
        self.starts = starts
        self.lengths = lengths
        self._hashes: npt.NDArray[np.uint64] | None = None

    @classmethod
    def of(cls, texts: Iterable[str]) -> Ids:
        """Return texts as ids."""
        return cls.packed([text.encode("utf-8") for text in texts])

    @classmethod
    def packed(cls, cells: Sequence[bytes]) -> Ids:
        """Return byte strings as ids."""
        lengths = np.fromiter(map(len, cells), np.int64, len(cells))
        margin = bytes(MARGIN)
        data = np.frombuffer(b"".join([margin, *cells, margin]), dtype=np.uint8)
        return cls(data, MARGIN + np.cumsum(lengths) - lengths, lengths)

    @classmethod
    def joined(cls, parts: Sequence[Ids], compact: bool = True) -> Ids:
        """Concatenate ids; ``compact`` keeps nothing else of their buffers."""
        if not compact:
            before = np.cumsum([0, *(len(part.data) for part in parts[:-1])])
            starts = np.concatenate(
                [part.starts + shift for part, shift in zip(parts, before.tolist(), strict=True)]
            )
            return cls(
                np.concatenate([part.data for part in parts]),
                starts,
                np.concatenate([part.lengths for part in parts]),
            )
        whole = [part._compact() for part in parts]
        margin = np.zeros(MARGIN, dtype=np.uint8)
        lengths = np.concatenate([np.zeros(0, np.int64), *(part.lengths for part in parts)])
        return cls(
            np.concatenate([margin, *whole, margin]), MARGIN + np.cumsum(lengths) - lengths, lengths
        )

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, row: int) -> str:
        start = int(self.starts[row])
        return self.data[start : start + int(self.lengths[row])].tobytes().decode("utf-8")

    def take(self, rows: Any) -> Ids:
        """Return the ids at ``rows`` (any numpy index); they share the bytes."""
        some = Ids(self.data, self.starts[rows], self.lengths[rows])
        if self._hashes is not None:
            some._hashes = self._hashes[rows]
        return some

    def texts(self) -> list[str]:
        """Return all ids as Python strings."""
        raw = self._compact().tobytes()
        ends = np.cumsum(self.lengths)
        bounds = zip((ends - self.lengths).tolist(), ends.tolist(), strict=True)
        if raw.isascii():
            text = raw.decode("ascii")
            return [text[start:end] for start, end in bounds]
        return [raw[start:end].decode("utf-8") for start, end in bounds]

    def _compact(self) -> npt.NDArray[np.uint8]:
        """Return the bytes of the ids without gaps."""
        ends = self.starts + self.lengths
        if not len(self):
            return self.data[:0]
        if bool((self.starts[1:] == ends[:-1]).all()):
            return self.data[self.starts[0] : ends[-1]]
        offsets = np.cumsum(self.lengths) - self.lengths
        return self.data[
            np.repeat(self.starts - offsets, self.lengths) + np.arange(int(self.lengths.sum()))
        ]

    # ------------------------------------------------------------ comparing many ids at once

    def words(self, number: int) -> npt.NDArray[np.uint64]:
        """Return uint64[n]: eight bytes from byte ``8 · number`` on, 0 beyond the end of an id."""
        if 8 * number + 8 <= int(self.lengths.min(initial=len(self.data))):
            return eight_bytes(self.data)[self.starts + 8 * number]
        inside = np.minimum(np.maximum(self.lengths - 8 * number, 0), 8)
        found: npt.NDArray[np.uint64] = eight_bytes(self.data)[
            np.minimum(self.starts + 8 * number, len(self.data) - 8)
        ]
        found &= _FIRST.take(inside)
        return found

    def parts(self) -> Iterator[npt.NDArray[np.uint64]]:
        """Yield uint64[n]: all bytes of the ids, eight at a time; equal ids have equal parts.

        Faster than :meth:`words`, because the last part of an id overlaps the one before and needs no mask.
        """
        data, most = eight_bytes(self.data), int(self.lengths.max(initial=0))
        least = int(self.lengths.min(initial=most))
        last = self.lengths - 8
        for first in range(0, most, 8):
            place = (
                first if first + 8 <= least or not first else np.minimum(np.maximum(last, 0), first)
            )
            found: npt.NDArray[np.uint64] = data[self.starts + place]
            yield found & _FIRST.take(self.lengths, mode="clip") if least < 8 else found

    def hashes(self) -> npt.NDArray[np.uint64]:
        """Return uint64[n]: hashes, equal for equal ids and rarely for others; compare the ids if two are equal."""
        if self._hashes is not None:
            return self._hashes
        found = self.lengths.astype(np.uint64) * _OTHER
        least = int(self.lengths.min()) if len(self) else 0
        for number, part in enumerate(self.parts()):
            part ^= found
            part *= _FACTOR
            part ^= part >> _HALF
            # the hash of an id depends on its own parts only, not on the ids beside it
            found = part if least > 8 * number else np.where(self.lengths > 8 * number, part, found)
        return found

    def keep_hashes(self) -> None:
        """Compute :meth:`hashes` once, for these ids and all that are taken from them."""
        self._hashes = self.hashes()

    def equal(self, other: Ids) -> npt.NDArray[np.bool_]:
        """Return bool[n]: whether each id equals the id of ``other`` in the same place."""
        same = self.lengths == other.lengths
        for own, others in zip(self.parts(), other.parts(), strict=False):
            same &= own == others
        return np.asarray(same)

    def places(self) -> npt.NDArray[np.int64]:
        """Return int64[n]: the rank of each id in byte order (``strcmp``); equal ids have adjacent ranks."""
        place = np.empty(len(self), dtype=np.int64)
        place[self.descending(np.zeros(len(self), np.int64))[::-1]] = np.arange(len(self))
        return place

    def descending(self, groups: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return int64[n]: the order by group, and within a group by byte order of the ids, last first."""
        # a shorter id comes before those that begin with it, because no byte of an id is 0
        words = [
            ~self.words(number).byteswap()
            for number in range(-(-int(self.lengths.max(initial=0)) // 8))
        ]
        # a word that all ids have in common would only take time
        keys = [word for word in reversed(words) if not (word == word[0]).all()]
        order: npt.NDArray[np.int64] = np.lexsort((*keys, groups))
        return order

    def encoded(self) -> tuple[Ids, npt.NDArray[np.int64]]:
        """Return the ids, each once in order of first appearance, and int64[n]: the place of every id among them."""
        _, first, inverse = np.unique(self.hashes(), return_index=True, return_inverse=True)
        if not self.take(first[inverse]).equal(self).all():  # two ids have one hash
            known: dict[str, int] = {}
            codes = [known.setdefault(text, len(known)) for text in self.texts()]
            return Ids.of(known), np.array(codes, dtype=np.int64)
        order = np.argsort(first)
        places = np.empty(len(order), dtype=np.int64)
        places[order] = np.arange(len(order))
        return Ids.joined([self.take(first[order])]), places[inverse]

    def codes_in(self, known: Ids) -> npt.NDArray[np.int64]:
        """Return int64[n]: the place of every id among ``known``, which are distinct; -1 for an unknown id."""
        _, codes = Ids.joined([known, self]).encoded()
        found = codes[len(known) :]
        return np.where(found < len(known), found, -1)


def eight_bytes(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """Return uint64[len − 7]: the eight bytes from each place on, the first one lowest."""
    return np.ndarray((len(data) - 7,), dtype="<u8", buffer=data, strides=(1,))


def first_of_pairs(turns: npt.NDArray[np.int32], ids: Ids) -> npt.NDArray[np.int64] | None:
    """Return int64[n]: the first row with the same turn and id as each row; None if all rows differ."""
    keys = pair_keys(turns, ids)
    ordered = np.sort(keys)
    if not (ordered[1:] == ordered[:-1]).any():
        return None
    again = np.flatnonzero(np.isin(keys, ordered[1:][ordered[1:] == ordered[:-1]]))
    first = np.arange(len(keys))
    seen: dict[tuple[int, str], int] = {}
    # different pairs can share a key by chance
    for row, turn, text in zip(
        again.tolist(), turns[again].tolist(), ids.take(again).texts(), strict=True
    ):
        first[row] = seen.setdefault((turn, text), row)
    return first if bool((first != np.arange(len(first))).any()) else None


def pair_keys(turns: npt.NDArray[Any], ids: Ids) -> npt.NDArray[np.uint64]:
    """Return uint64[n]: keys, equal for the same turn and id, and rarely for others."""
    return ids.hashes() ^ (turns.astype(np.uint64) + np.uint64(1)) * np.uint64(0xD6E8FEB86659FD93)


def document_ids(passages: Ids) -> Ids:
    """Return the document of every passage id; an id without ``-N`` at its end is unchanged."""
    return Ids(passages.data, passages.starts, passages.lengths - _numbers(passages))


def are_passage_ids(ids: Ids) -> bool:
    """Return whether every id ends in ``-N``, as passages of documents do; False without ids."""
    return len(ids) > 0 and bool((_numbers(ids) > 0).all())


def _numbers(ids: Ids) -> npt.NDArray[np.int64]:
    """Return int64[n]: the bytes of the hyphen and the digits at the end of every id; 0 if it does not end in them."""
    digits = np.zeros(len(ids), dtype=np.int64)
    rows = np.arange(len(ids))
    while len(rows):
        rows = rows[digits[rows] < ids.lengths[rows]]
        last = ids.data[ids.starts[rows] + ids.lengths[rows] - 1 - digits[rows]]
        rows = rows[(last >= ord("0")) & (last <= ord("9"))]
        digits[rows] += 1
    hyphen = ids.data[ids.starts + ids.lengths - 1 - digits] == ord("-")
    return np.where((digits > 0) & (digits < ids.lengths) & hyphen, digits + 1, 0)
