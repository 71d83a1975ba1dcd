"""Tests between two systems that answered the same turns."""

from __future__ import annotations


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """Two-sided p of McNemar's exact test: of the turns that only one of two answers right, is either one favoured?

    Twice the binomial tail of ``min(only_first, only_second)`` out of their sum at 1/2, at most 1 (McNemar 1947); equal
    to ``scipy.stats.binomtest(b, b + c)``, in whole numbers and without its import time.
    """
    discordant = only_first + only_second
    tail, coefficient = 0, 1
    for i in range(min(only_first, only_second) + 1):
        tail += coefficient
        coefficient = coefficient * (discordant - i) // (i + 1)
    return min(1.0, float(2 * tail / 2**discordant))
