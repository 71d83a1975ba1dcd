"""Files that several studies need are read once."""

from __future__ import annotations

from pathlib import Path

from robustcs.inputs.readings import keeps_readings, read_once, reading_once


def test_readings_are_kept_until_the_outer_call_ends(tmp_path: Path) -> None:
    file = tmp_path / "file"
    read: list[Path] = []

    def once() -> None:
        read_once(read.append, file)

    with reading_once():
        once()
        with reading_once():
            once()
        once()
        assert keeps_readings()
    assert len(read) == 1 and not keeps_readings()
    once()
    assert len(read) == 2
