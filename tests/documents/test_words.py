"""Numbers as people read them."""

from __future__ import annotations

from robustcs.documents.words import noted, number, signed


def test_signed() -> None:
    assert [signed(value) for value in (0.1, -0.25, 0.0, float("nan"))] == [
        "+0.1000",
        "−0.2500",
        "+0.0000",
        "–",
    ]


def test_noise_of_a_sum_has_no_sign_but_a_small_loss_has() -> None:
    assert (number(-1e-17, 3), signed(-1e-17, 3)) == ("0.000", "+0.000")
    assert (number(-0.0002, 3), signed(-0.0002, 3)) == ("−0.000", "−0.000")


def test_notes_are_told_once() -> None:
    assert noted([("a", ""), ("b", "few"), ("c", "few"), ("d", "many")]) == " Few (b; c). Many (d)."


def test_notes_that_differ_in_the_number_of_units_or_their_share_are_one() -> None:
    notes = [
        ("a", "one topic accounts for 94% of the spread"),
        ("b", "one topic accounts for 51% of the spread"),
        ("c", ""),
    ]
    assert noted(notes) == " One topic accounts for most of the spread (a; b)."
    assert (
        noted(
            [(f"x{place}", f"unstable: only {place} turns") for place in range(7)] + [("all", "")]
        )
        == " Unstable: fewer than 10 turns (x0; x1; x2; x3; x4 and 2 more)."
    )


def test_a_note_on_all_needs_no_labels_and_a_label_stands_once() -> None:
    assert noted([("a", "few"), ("b", "few")]) == " Few." == noted([("a", "few")])
    assert noted([("a", "few"), ("a", "few"), ("b", "")]) == " Few (a)."
    # the caveat of an interval, and a further note on some rows
    notes = [
        ("a", "unstable: only 8 topics"),
        ("b", "unstable: only 8 topics; all alike"),
        ("c", "unstable: only 7 topics"),
    ]
    assert noted(notes) == " Unstable: fewer than 10 topics. All alike (b)."


def test_notes_that_differ_in_other_numbers_are_not_one() -> None:
    assert (
        noted([("a", "7 of 20 units"), ("b", "8 of 30 units")])
        == " 7 of 20 units (a). 8 of 30 units (b)."
    )
    assert (
        noted([("a", "t5 is short"), ("b", "t6 is short")]) == " t5 is short (a). t6 is short (b)."
    )
