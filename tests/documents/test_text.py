"""Untrusted text made harmless."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustcs.documents.document import Column
from robustcs.documents.text import (
    anchor,
    beginning,
    breakable,
    column_batches,
    head_groups,
    one_line,
    panel_titles,
    shortened,
    shortened_names,
    visible,
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x00b\x1b[2J\x07", "a␀b␛[2J␇"),
        ("\x7f\x9b", "␡⟨U+009B⟩"),
        ("\u202eabc\u2066", "⟨U+202E⟩abc⟨U+2066⟩"),
        ("\udcff\ufffe", "\ufffd\ufffd"),
        ("a\r\nb\rc\td", "a\nb␍c\td"),
        # joiners at work
        ("שלום 👩‍👩‍👧 ✓", "שלום 👩‍👩‍👧 ✓"),
        (
            "می\u200cخواهم क्\u200dष 1\ufe0f\u20e3 ❤\ufe0f",
            "می\u200cخواهم क्\u200dष 1\ufe0f\u20e3 ❤\ufe0f",
        ),
        ("MARCO_1\u200b2", "MARCO_1⟨U+200B⟩2"),
        (
            "31_1\u200d \ufeff31_1\ufe0f 31\u2060_1\u200e",
            "31_1⟨U+200D⟩ ⟨U+FEFF⟩31_1⟨U+FE0F⟩ 31⟨U+2060⟩_1⟨U+200E⟩",
        ),
        ("a\u200cب", "a⟨U+200C⟩ب"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text())
def test_what_is_shown_holds_no_control_and_encodes(text: str) -> None:
    for shown in (visible(text), one_line(text)):
        shown.encode()
        assert not re.search(
            "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]", shown
        )
    assert visible(visible(text)) == visible(text)
    assert "\n" not in one_line(text)


@given(st.text())
def test_anchors_are_safe(text: str) -> None:
    assert re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,58}[a-z0-9])?-?", anchor(text))


def test_breakable_adds_break_points_to_long_words_only() -> None:
    assert breakable("Is it treatable? MARCO_955948") == "Is it treatable? MARCO_955948"
    assert max(map(len, breakable("x" * 10_000).split("\u200b"))) <= 13
    assert breakable("x" * 10_000).replace("\u200b", "") == "x" * 10_000


def test_head_groups() -> None:
    columns = [
        Column("a"),
        Column("b", group="g"),
        Column("c", group="g"),
        Column("d", group="h"),
        Column("e"),
    ]
    assert head_groups(columns) == [("", 1), ("g", 2), ("h", 1), ("", 1)]


def test_batches_repeat_the_row_names_and_keep_every_column() -> None:
    columns = [Column("turn", "left"), Column("run", "left"), *(Column(str(n)) for n in range(10))]
    widths = [5, 5, *([6] * 10)]
    assert column_batches(columns, widths, 2, 200) == [list(range(12))]
    batches = column_batches(columns, widths, 2, 40)
    assert all(batch[:2] == [0, 1] for batch in batches)
    assert [index for batch in batches for index in batch[2:]] == list(range(2, 12))
    assert all(sum(widths[i] + 2 for i in batch) - 2 <= 40 for batch in batches)
    assert column_batches([Column("only", "left")], [500], 2, 80) == [[0]]


def test_shortened_names_differ_at_the_end() -> None:
    assert [shortened(f"a rewriter with a long name {number}", 12) for number in (1, 2)] == [
        "a rewrit…e 1",
        "a rewrit…e 2",
    ]
    assert (
        shortened("twelve chars", 12) == "twelve chars"
        and beginning("twelve or more", 8) == "twelve…"
    )


@given(st.lists(st.text("ab (1)", max_size=40), unique=True), st.integers(12, 22))
def test_shortened_names_stay_different(names: list[str], most: int) -> None:
    lines = {one_line(name) for name in names}
    shown = shortened_names(names, most)
    assert all(len(name) <= most for name in shown)
    assert len(set(shown)) == len(lines)
    short = [name for name in names if len(one_line(name)) <= most]
    if len(short) == len(names):
        assert shown == [one_line(name) for name in names]


def test_names_that_would_look_alike_show_where_they_differ() -> None:
    names = [f"meta-llama/Llama-3.1-{size}B-Instruct-with-passages" for size in (8, 405)]
    assert shortened_names([*names, "bm25"], 22) == [
        "meta-…8B-Instruct-with",
        "meta-…405B-Instruct-wi",
        "bm25",
    ]


def test_titles_of_panels_drop_what_all_share_if_one_is_too_long() -> None:
    assert panel_titles(["NDCG@3, cv", "NDCG@3, t5"], 12) == ["NDCG@3, cv", "NDCG@3, t5"]
    assert panel_titles(["NDCG@3, manual_bm25", "NDCG@3, t5"], 12) == ["manual_bm25", "t5"]
    assert panel_titles(["NDCG@3, manual_bm25", "P@1, t5"], 12) == ["NDCG@3, …m25", "P@1, t5"]
    assert panel_titles(["NDCG@3, manual_bm25"], 12) == ["NDCG@3, …m25"]
