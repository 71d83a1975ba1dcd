"""Groups of systems that cannot be told apart: the compact letter display of pairwise tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence


def compact_letters(count: int, apart: Mapping[tuple[int, int], bool]) -> tuple[str, ...]:
    """Letters for ``count`` systems, best first: two share a letter exactly where they are not told apart.

    ``apart`` says for every pair of places (i, j), i < j, whether the tests tell the two apart; a pair that it lacks was not
    tested and is not. Letters run a … z, aa, ab …; each names a group of systems none of which is told apart from another, and
    the best system has an a. Groups are grown greedily in the given order and those that add nothing are left out (after Piepho
    2004, "An algorithm for a letter-based representation of all-pairwise comparisons"): few letters, not provably the fewest.
    """
    alike = [[i == j or not apart.get((min(i, j), max(i, j)), False) for j in range(count)] for i in range(count)]
    groups: list[set[int]] = []
    covered: set[tuple[int, int]] = set()
    for first in range(count):
        for second in range(first, count):
            if alike[first][second] and (first, second) not in covered:
                group = _grown({first, second}, first, alike)
                groups.append(group)
                covered |= _pairs(group)
    groups = _needed(groups)
    groups.sort(key=sorted)
    return tuple(" ".join(_letter(place) for place, group in enumerate(groups) if system in group) for system in range(count))


def told_apart(corrected: Mapping[tuple[int, int], float], alpha: float = 0.05) -> dict[tuple[int, int], bool]:
    """Which pairs a corrected p tells apart at ``alpha``; nan does not."""
    return {pair: p <= alpha for pair, p in corrected.items()}


def letters_of(values: Sequence[float], corrected: Mapping[tuple[int, int], float], alpha: float = 0.05) -> list[str]:
    """The letters of systems, in their order, by their means and the corrected p of every pair of places."""
    order = sorted(range(len(values)), key=lambda place: -values[place])
    rank = {place: position for position, place in enumerate(order)}
    ranked = {(min(rank[one], rank[two]), max(rank[one], rank[two])): p for (one, two), p in corrected.items()}
    letters = compact_letters(len(values), told_apart(ranked, alpha))
    return [letters[rank[place]] for place in range(len(values))]


def _grown(group: set[int], start: int, alike: Sequence[Sequence[bool]]) -> set[int]:
    """``group`` with every further system that is like all of its members, nearest to ``start`` first."""
    for system in sorted(range(len(alike)), key=lambda place: abs(place - start)):
        if all(alike[system][member] for member in group):
            group.add(system)
    return group


def _pairs(group: set[int]) -> set[tuple[int, int]]:
    return {(i, j) for i in group for j in group if i <= j}


def _needed(groups: list[set[int]]) -> list[set[int]]:
    """The groups without those all of whose pairs stand together in others."""
    times = Counter(pair for group in groups for pair in _pairs(group))
    kept = []
    for group in sorted(groups, key=len):
        pairs = _pairs(group)
        if all(times[pair] > 1 for pair in pairs):
            times.subtract(pairs)
        else:
            kept.append(group)
    return kept


def _letter(place: int) -> str:
    """a … z, aa, ab, …"""
    letters = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return letters
