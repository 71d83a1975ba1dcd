"""Sizes of letters, and the user's own rcParams."""

from __future__ import annotations

from itertools import combinations

import matplotlib as mpl
import pytest

from robustcs.documents.document import Figure
from robustcs.documents.figures import plotted
from robustcs.documents.panels import add_panel, new_figure
from robustcs.documents.style import (
    COLUMN,
    PAGE,
    fitted,
    in_style,
    in_user_style,
    is_dark,
    known_characters,
    mixed,
    scaled,
    text_width,
)
from robustcs.studies.breakdown.figure import squares_figure

#: Character → its width in 2048ths of the font size: of DejaVu Sans, and of its bold letters.
_ADVANCES = (
    {"A": 1401, "i": 569, "m": 1995, "→": 1716, "✓": 1716, "−": 1716},
    {"A": 1585, "i": 702, "m": 2134, "→": 1716, "✓": 1716, "−": 1716},
)


@pytest.mark.parametrize("bold", [False, True])
def test_widths_of_letters_are_those_of_the_font(bold: bool) -> None:
    with in_style(PAGE):
        for character, units in _ADVANCES[bold].items():
            drawn = text_width(character * 20, 72.0, bold)
            assert drawn == pytest.approx(20 * units / 2048, rel=0.05), character
        assert text_width("中文", 72.0, bold) == 2.28  # not in the font
        assert text_width("abc", 14.0, bold) == pytest.approx(2 * text_width("abc", 7.0, bold))


def test_letters_in_a_column_are_larger() -> None:
    with in_style(PAGE):
        page = text_width("system"), scaled(1.0)
    with in_style(COLUMN):
        column = text_width("system"), scaled(1.0)
    assert column == pytest.approx([1.18 * one for one in page]) and page[1] == 1.0


def test_a_text_that_is_too_wide_is_shortened_in_its_middle() -> None:
    with in_style(PAGE):
        name = "a_run_with_a_long_name_" * 5 + "2"
        shown = fitted(name, 1.0)
        assert text_width(shown) <= 1.0 < text_width(name)
        assert shown.startswith("a_run_") and shown.endswith("_2") and "…" in shown
        assert fitted("short", 1.0) == "short" and fitted("a\nb", 1.0) == "a b"


def test_the_font_has_marks_and_greek_and_no_chinese() -> None:
    assert {ord("✓"), ord("×"), ord("κ"), ord("−")} <= known_characters()
    assert ord("中") not in known_characters()


def test_colours_are_mixed_and_letters_on_them_differ() -> None:
    ramp = ("#000000", "#ffffff", "#ff0000")
    shares = (0, 0.25, 0.5, 1)
    assert [mixed(ramp, share) for share in shares] == ["#000000", "#808080", "#ffffff", "#ff0000"]
    assert is_dark("#0b3a66") and not is_dark("#cadff0")


def _titled(width: object) -> object:
    figure = new_figure(2, 1)
    add_panel(figure, 0.5, 0.2, 1, 0.5).set_title("$x")
    return figure


def test_the_users_rcparams_apply_to_a_plot_and_to_no_report() -> None:
    figure = Figure("x", "caption", "alt", _titled)  # type: ignore[arg-type]
    (own,) = plotted(figure).axes
    assert (own.get_title(), own._left_title.get_fontsize()) == ("", 7.5)
    assert own.get_title(loc="left") == "$x" and not own._left_title.get_parse_math()
    assert not own.spines["top"].get_visible()
    with mpl.rc_context({"font.size": 13.0}):
        (theirs,) = plotted(figure).axes
        with in_style(PAGE):  # as in a report
            assert mpl.rcParams["font.size"] == 6.5
        assert mpl.rcParams["font.size"] == 13.0
    assert theirs._left_title.get_fontsize() == 15.0  # twice as large, as all letters
    with mpl.rc_context({"axes.titlesize": 20.0, "axes.edgecolor": "red"}):
        (theirs,) = plotted(figure).axes
    assert theirs._left_title.get_fontsize() == 20.0
    assert theirs.spines["left"].get_edgecolor() == (1.0, 0.0, 0.0, 1.0)


def test_characters_that_the_users_font_lacks_are_of_ours() -> None:
    with mpl.rc_context({"font.family": "DejaVu Serif"}), in_user_style():
        assert mpl.rcParams["font.family"] == ["DejaVu Serif", "DejaVu Sans"]


@pytest.mark.parametrize("size", [6.5, 12.0])
def test_words_beside_the_squares_of_turns_do_not_touch(size: float) -> None:
    turns = {bin_: ["1_1"] * 120 for bin_ in ("000", "110", "011")}
    with mpl.rc_context({"font.size": size}), in_user_style():
        figure = squares_figure(PAGE, turns)
        figure.draw_without_rendering()
    (axes,) = figure.axes
    boxes = [text.get_window_extent() for text in axes.texts]
    assert not any(first.overlaps(second) for first, second in combinations(boxes, 2))
    squares = axes.collections[0].get_offsets()[:, 0].min() * figure.dpi
    assert max(box.x1 for box in boxes) < squares
