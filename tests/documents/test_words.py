"""Numbers as people read them."""

from __future__ import annotations

from robustcs.documents.words import noted, signed


def test_signed() -> None:
    assert [signed(value) for value in (0.1, -0.25, 0.0, float("nan"))] == ["+0.1000", "−0.2500", "+0.0000", "–"]


def test_notes_are_told_once() -> None:
    assert noted([("a", ""), ("b", "few"), ("c", "few"), ("d", "many")]) == " Few (b; c). Many (d)."


def test_notes_that_differ_in_one_number_are_one() -> None:
    notes = [("a", "one unit carries 94 % of it"), ("b", "one unit carries 51 % of it"), ("c", "one unit carries 78 % of it")]
    assert noted(notes) == " One unit carries 51–94 % of it (a; b; c)."
    assert (
        noted([(f"x{place}", f"{place + 20} units") for place in range(7)]) == " 20–26 units (x0; x1; x2; x3; x4 and 2 more)."
    )


def test_notes_that_differ_in_more_are_not() -> None:
    assert noted([("a", "7 of 20 units"), ("b", "8 of 30 units")]) == " 7 of 20 units (a). 8 of 30 units (b)."
    assert noted([("a", "t5 is short"), ("b", "t6 is short")]) == " t5 is short (a). t6 is short (b)."
