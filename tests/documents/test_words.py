"""Numbers as people read them."""

from __future__ import annotations

from robustcs.documents.words import signed


def test_signed() -> None:
    assert [signed(value) for value in (0.1, -0.25, 0.0, float("nan"))] == ["+0.1000", "−0.2500", "+0.0000", "–"]
