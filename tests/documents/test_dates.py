"""The date from outside."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from robustcs.cli.main import run
from robustcs.documents.dates import source_date
from robustcs.errors import UsageError


@pytest.mark.parametrize("text", ["abc", "²", "-1", "1.5", "9" * 5000, "253402300800"])
def test_what_is_no_date_is_told(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", text)
    with pytest.raises(
        UsageError, match="^SOURCE_DATE_EPOCH is .{1,50}; write seconds since 1970, or unset it$"
    ):
        source_date()


@pytest.mark.parametrize(
    ("text", "seconds"), [("", None), ("0", 0), ("253402300799", 253402300799)]
)
def test_dates(monkeypatch: pytest.MonkeyPatch, text: str, seconds: int | None) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", text)
    assert source_date() == seconds


def test_a_wrong_date_is_told_before_anything_is_imported(demo: Path) -> None:
    """In a process of its own: numpy reads the variable too, when scipy is imported."""
    program = "from robustcs.cli.main import main; main()"
    given = dict(os.environ, SOURCE_DATE_EPOCH="abc")
    done = subprocess.run(
        [sys.executable, "-c", program, "breakdown"],
        cwd=demo,
        env=given,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert (
        done.stderr
        == "robustcs: SOURCE_DATE_EPOCH is 'abc'; write seconds since 1970, or unset it\n"
    )


def test_a_figure_and_a_report_say_it_before_they_write(demo, tmp_path, monkeypatch, capfd) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.chdir(demo)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "abc")
    for command in (
        f"sweep --step 0.5 --output {tmp_path}/x.pdf",
        f"report --output {tmp_path}/made",
    ):
        assert run(command.split()) == 2
        assert (
            capfd.readouterr().err
            == "robustcs: SOURCE_DATE_EPOCH is 'abc'; write seconds since 1970, or unset it\n"
        )
    assert list(tmp_path.iterdir()) == []
