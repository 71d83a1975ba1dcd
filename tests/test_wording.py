"""Numbers of things and lists of them in words."""

from __future__ import annotations

from robustcs.wording import told_once


def test_notes_that_differ_in_the_name_are_one() -> None:
    notes = [
        ("no text of ", "t5", " for 2 turns"),
        ("no text of ", "gpt", " for 3 turns"),
        ("no text of ", "cv", " for 2 turns"),
    ]
    assert told_once(notes) == ["no text of t5, cv for 2 turns", "no text of gpt for 3 turns"]
    assert told_once([*notes, notes[0]])[0] == "no text of t5, cv for 2 turns"
