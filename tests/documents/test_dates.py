"""The date from outside."""

from __future__ import annotations

import pytest

from robustcs.cli.main import run
from robustcs.documents.dates import source_date
from robustcs.errors import UsageError


@pytest.mark.parametrize("text", ["abc", "²", "-1", "1.5", "9" * 5000, "253402300800"])
def test_what_is_no_date_is_told(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", text)
    with pytest.raises(UsageError, match="^SOURCE_DATE_EPOCH is .{1,50}; write seconds since 1970, or unset it$"):
        source_date()


@pytest.mark.parametrize(("text", "seconds"), [("", None), ("0", 0), ("253402300799", 253402300799)])
def test_dates(monkeypatch: pytest.MonkeyPatch, text: str, seconds: int | None) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", text)
    assert source_date() == seconds


def test_a_figure_and_a_report_say_it_before_they_write(demo, tmp_path, monkeypatch, capfd) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.chdir(demo)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "abc")
    for command in (f"sweep --step 0.5 --output {tmp_path}/x.pdf", f"report --output {tmp_path}/made"):
        assert run(command.split()) == 2
        assert capfd.readouterr().err == "robustcs: SOURCE_DATE_EPOCH is 'abc'; write seconds since 1970, or unset it\n"
    assert list(tmp_path.iterdir()) == []
