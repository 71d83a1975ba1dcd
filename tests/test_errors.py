"""Messages: one line each and short, whatever stands in the input files that they quote."""

from __future__ import annotations

from robustcs.errors import UsageError, input_error


def test_line_ends_in_what_was_found_are_shown_and_not_written() -> None:
    error = input_error("a.json", None, "turn 'x\ny': empty text", "write\r\nit", "empty-text")
    assert str(error) == "a.json: turn 'x\\ny': empty text; write\\r\\nit"
    assert str(UsageError("bad-role", "role 'a\nb'", "write qr")) == "role 'a\\nb'; write qr"


def test_the_middle_of_what_nobody_reads_is_left_out() -> None:
    text = str(
        input_error(
            "a.trec",
            7,
            f"score {'9' * 5000!r} is not a number",
            "write a decimal number",
            "not-a-number",
        )
    )
    assert text.startswith("a.trec:7: score '9999") and text.endswith(
        "9999' is not a number; write a decimal number"
    )
    assert "9 … (4424 characters) … 9" in text and len(text) < 700
