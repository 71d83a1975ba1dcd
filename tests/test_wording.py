"""Numbers of things and lists of them in words."""

from __future__ import annotations

import re
from pathlib import Path

from robustcs.wording import told_once
from tests.conftest import Command


def test_one_is_not_plural(in_copy: Command) -> None:
    for file in map(Path, ("qrels.txt", "new_judgments.txt")):
        file.write_text(
            "".join(line for line in file.read_text().splitlines(True) if line.startswith("1_1 "))
        )
    for command in (
        "check",
        "breakdown",
        "sweep",
        "evaluate --metric P_1",
        "unjudged",
        "augment",
        "correlate",
    ):
        shown = " ".join(in_copy(command).out.split())
        found = re.findall(
            r"(?<![0-9.,–−+-])1 (?:[a-z]+ )?(?:turn|topic|passage|judgment)s\b", shown
        )
        assert "1 turn" in shown and not found, command


def test_notes_that_differ_in_the_name_are_one() -> None:
    notes = [
        ("no text of ", "t5", " for 2 turns"),
        ("no text of ", "gpt", " for 3 turns"),
        ("no text of ", "cv", " for 2 turns"),
    ]
    assert told_once(notes) == ["no text of t5, cv for 2 turns", "no text of gpt for 3 turns"]
    assert told_once([*notes, notes[0]])[0] == "no text of t5, cv for 2 turns"
