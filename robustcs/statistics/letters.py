"""Letters that show which systems differ significantly, for a table of systems.

Two systems share a letter if and only if they do not differ significantly (after Piepho 2004, "An
algorithm for a letter-based representation of all-pairwise comparisons").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def letters_of(
    values: Sequence[float],
    corrected: Mapping[tuple[int, int], float],
    alpha: float = 0.05,
    left_out: Collection[int] = (),
) -> list[str]:
    """Return the letters of systems, in the order of ``values``, their means.

    corrected
        Pair of indices of systems → adjusted p, or nan if it was not tested.
    left_out
        Indices of systems without letters.
    """
    included = [system for system in range(len(values)) if system not in left_out]
    best_first = sorted(included, key=lambda system: -values[system])
    rank = {system: place for place, system in enumerate(best_first)}
    differ: dict[tuple[int, int], bool] = {}
    for (first, second), p in corrected.items():
        if first in rank and second in rank:
            higher, lower = sorted((rank[first], rank[second]))
            differ[higher, lower] = p <= alpha
    if not differ:
        return [""] * len(values)
    letters = compact_letters(len(best_first), differ)
    return [letters[rank[system]] if system in rank else "" for system in range(len(values))]


def compact_letters(count: int, differ: Mapping[tuple[int, int], bool]) -> tuple[str, ...]:
    """Return letters for ``count`` systems, best first.

    ``differ``: pair of indices (i, j), i < j → whether the two differ significantly; absent pairs
    were not tested and do not differ. Letters run a … z, aa, ab …; each names a group of systems
    without significant differences, and the best system has an a. Groups are grown greedily in the
    given order, and redundant ones are removed. The letters are few, but not provably the fewest.
    """
    alike = _alike(count, differ)
    groups: list[set[int]] = []
    covered: set[tuple[int, int]] = set()
    for first in range(count):
        for second in range(first, count):
            if alike[first][second] and (first, second) not in covered:
                group = _grown({first, second}, first, alike)
                groups.append(group)
                covered |= _pairs(group)
    groups = _without_redundant(groups)
    groups.sort(key=sorted)
    texts = []
    for system in range(count):
        places = [place for place, group in enumerate(groups) if system in group]
        texts.append(" ".join(_letter(place) for place in places))
    return tuple(texts)


def _alike(count: int, differ: Mapping[tuple[int, int], bool]) -> list[list[bool]]:
    """Return whether two systems do not differ significantly, by both; each is like itself."""
    alike = [[True] * count for _ in range(count)]
    for (first, second), significantly in differ.items():
        if significantly and first != second:
            alike[first][second] = alike[second][first] = False
    return alike


def _grown(group: set[int], start: int, alike: Sequence[Sequence[bool]]) -> set[int]:
    """Return ``group`` with every further system that differs from none of its members.

    The systems nearest to ``start`` are added first.
    """
    for system in sorted(range(len(alike)), key=lambda other: abs(other - start)):
        if all(alike[system][member] for member in group):
            group.add(system)
    return group


def _pairs(group: set[int]) -> set[tuple[int, int]]:
    return {(first, second) for first in group for second in group if first <= second}


def _without_redundant(groups: list[set[int]]) -> list[set[int]]:
    """Return the groups without those whose pairs are all in other groups."""
    groups_of_pair = Counter(pair for group in groups for pair in _pairs(group))
    kept = []
    for group in sorted(groups, key=len):
        pairs = _pairs(group)
        if all(groups_of_pair[pair] > 1 for pair in pairs):
            groups_of_pair.subtract(pairs)
        else:
            kept.append(group)
    return kept


def _letter(place: int) -> str:
    """Return a … z, aa, ab, … for 0, 1, 2, …"""
    letters = ""
    left = place + 1
    while left:
        left, digit = divmod(left - 1, len(_ALPHABET))
        letters = _ALPHABET[digit] + letters
    return letters
