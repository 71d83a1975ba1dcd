"""The figures: bytes, colours and the sweep's steps."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from matplotlib.path import Path as Outline

from robustcs.documents.drawing import (
    COLUMN_WIDTH,
    FULL_WIDTH,
    INK,
    Area,
    Drawing,
    Lines,
    Words,
    advances,
    font_folder,
    is_dark,
    mixed,
    round_ticks,
    text_width,
)
from robustcs.documents.figures import BIN_COLOURS, BIN_LABELS, save_figure
from robustcs.documents.plots import matplotlib_figure
from robustcs.documents.svg import svg_text
from robustcs.errors import UsageError
from robustcs.evaluation.bins import BINS_WITHOUT_ORIGINAL
from robustcs.studies.sweep.figure import STACK, SweepPanel, sweep_figure
from tests.documents.conftest import HOSTILE, panel, pdf_words

BINS = {"".join(marks) for marks in itertools.product("01", repeat=3)}


def lightness(colour: str) -> float:
    """CIE L* of an sRGB colour: what is left of it on a grey printer."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    y = float(np.dot(linear, (0.2126, 0.7152, 0.0722)))
    return 116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y


def test_every_bin_has_a_colour_and_a_name() -> None:
    assert (
        set(BIN_COLOURS) == set(BIN_LABELS) == {*STACK, *BINS_WITHOUT_ORIGINAL}
        and set(STACK) == BINS
    )
    for bins in (BINS, BINS_WITHOUT_ORIGINAL):
        assert (
            len({BIN_COLOURS[name] for name in bins})
            == len({BIN_LABELS[name] for name in bins})
            == len(bins)
        )


def test_neighbours_in_the_stack_differ_in_grey() -> None:
    shades = [lightness(BIN_COLOURS[name]) for name in STACK]
    assert min(abs(a - b) for a, b in itertools.pairwise(shades)) > 15


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_the_same_bytes_every_time(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    for name in ("a", "b"):
        save_figure(sweep_figure([panel("NDCG@3")]), tmp_path / (name + suffix))
    first = (tmp_path / f"a{suffix}").read_bytes()
    assert first == (tmp_path / f"b{suffix}").read_bytes()
    assert first.startswith({".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[suffix])
    assert b"CreationDate" not in first and b"<dc:date>" not in first


@pytest.mark.parametrize(("title", "left"), [("MAP", 0.0), ("Agreement with human judges", -1.0)])
def test_a_title_ends_at_the_edge_of_its_panel_at_most(title: str, left: float) -> None:
    one = Drawing(3.0, 2.0).panel(1.5, 0.2, 1.2, 1.0, title=title)
    (words,) = (mark for mark in one.furniture() if isinstance(mark, Words) and mark.text == title)
    assert np.sign(words.at[0]) == left
    assert words.at[0] / 72 + text_width(title, words.size, bold=True) <= one.width + 1e-9


def test_a_pdf_has_the_size_of_the_figure_and_letters_as_text(tmp_path: Path) -> None:
    """Fonts are TrueType, as publishers ask; links to turns, which lead nowhere in it, are gone."""
    figure = sweep_figure([panel("NDCG@3")])
    figure.page.dots([1.0], [1.0], INK, anchors=["turn-1_1"])
    save_figure(figure, tmp_path / "x.pdf")
    data = (tmp_path / "x.pdf").read_bytes()
    assert (
        data.startswith(b"%PDF-1.4")
        and b"CIDFontType2" in data
        and b"/Type3" not in data
        and b"/Annot" not in data
    )
    sizes = re.findall(rb"/MediaBox ?\[ ?0 0 ([0-9.]+) ([0-9.]+)", data)
    width, height = 72 * figure.width, 72 * figure.height
    assert [list(map(float, size)) for size in sizes] == [
        [pytest.approx(width, abs=0.01), pytest.approx(height, abs=0.01)]
    ]
    words = pdf_words(data, tmp_path)
    assert "NDCG@3" in words and "share of 173 turns" in words


def test_other_suffixes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"end its name in \.png, \.svg or \.pdf"):
        save_figure(sweep_figure([panel("x")]), tmp_path / "x.gif")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("panels", "width"), [(1, COLUMN_WIDTH), (2, FULL_WIDTH), (3, FULL_WIDTH), (5, FULL_WIDTH)]
)
def test_sizes_and_shared_axis(panels: int, width: float) -> None:
    figure = sweep_figure([panel(f"P@{n}") for n in range(panels)])
    assert figure.width == width
    assert len(figure.panels) == panels
    assert {one.y for one in figure.panels} == {(0.0, 1.0)}
    assert [one.y_label for one in figure.panels] == [
        "share of 173 turns" if number % 3 == 0 else "" for number in range(panels)
    ]


def test_a_share_is_drawn_up_to_its_threshold() -> None:
    """The first step, left of 0, is "> 0"; the value at t fills the interval from the point before it to t."""
    thresholds = np.array([0.0, 0.5, 1.0])
    shares = {name: np.zeros(3) for name in STACK}
    shares["111"] = np.array([0.8, 0.4, 0.1])
    shares["000"] = 1 - shares["111"]
    (one,) = sweep_figure([SweepPanel("x", thresholds, shares, 10)]).panels
    (area,) = (
        mark for mark in one.marks if isinstance(mark, Area) and mark.colour == BIN_COLOURS["111"]
    )
    bottom = Outline(np.array(area.points))
    inside = {
        x: bottom.contains_point((x, y - 0.01)) and not bottom.contains_point((x, y + 0.01))
        for x, y in ((-0.25, 0.8), (0.25, 0.4), (0.49, 0.4), (0.51, 0.1), (0.99, 0.1))
    }
    assert all(inside.values()), inside


def test_the_threshold_that_a_text_speaks_of_has_a_line() -> None:
    marked, other = sweep_figure([replace(panel("NDCG@3"), marked=0.4), panel("MAP")]).panels
    places = [
        {mark.paths[0][0][0] for mark in one.marks if isinstance(mark, Lines)}
        for one in (marked, other)
    ]
    assert 0.4 in places[0] and 0.4 not in places[1]


def test_all_four_regions_are_named() -> None:
    (one,) = sweep_figure([panel("NDCG@3")]).panels
    words = {" ".join(mark.text.split()) for mark in one.marks if isinstance(mark, Words)}
    assert words == {"answered by Original", "only after rewriting", "rewriter error", "QA error"}


def outside(drawing: Drawing) -> list[str]:
    """The texts of a drawing that do not fit on its page, with the sizes of matplotlib."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    figure = matplotlib_figure(drawing)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer, whole, found = canvas.get_renderer(), figure.bbox, []
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip():
            box = text.get_window_extent(renderer)
            if not (
                box.x0 >= -0.5 and box.y0 >= 0 and box.x1 <= whole.x1 + 0.5 and box.y1 <= whole.y1
            ):
                found.append(text.get_text())
    return found


def test_letters_stay_inside_the_figure() -> None:
    figure = sweep_figure(
        [panel("P@1", 9), panel("a very long name of a rewriter " * 9), panel("x", 123_456)]
    )
    assert not outside(figure)


@pytest.mark.parametrize("bold", [False, True])
def test_widths_of_letters_are_those_of_the_font(bold: bool) -> None:
    from matplotlib import ft2font

    # matplotlib 3.8 has the flag under another name
    flags = getattr(ft2font, "LoadFlags", None)
    unscaled = flags.NO_SCALE if flags else ft2font.LOAD_NO_SCALE
    font = ft2font.FT2Font(str(font_folder() / f"DejaVuSans{'-Bold' if bold else ''}.ttf"))
    assert set(advances(bold)) == set(font.get_charmap())
    for character in "Aé→中✓ i−":
        if ord(character) in advances(bold):
            width = font.load_char(ord(character), unscaled).horiAdvance
            assert text_width(character, 72.0, bold) == pytest.approx(width / 2048)


@given(st.floats(-1e3, 1e3), st.floats(1e-4, 1e4), st.integers(2, 9))
def test_ticks_are_round_and_few(low: float, span: float, most: int) -> None:
    ticks = round_ticks(low, low + span, most)
    assert 1 <= len(ticks) <= most + 1
    assert all(low - 1e-6 * span <= place <= low + span * (1 + 1e-6) for place, _ in ticks)
    assert all(
        float(label.replace("−", "-")) == pytest.approx(place, rel=1e-6, abs=1e-9)
        for place, label in ticks
    )
    assert len({label for _, label in ticks}) == len(ticks)


def test_ticks_have_the_digits_that_they_need() -> None:
    assert [label for _, label in round_ticks(-0.03, 1.03, 5)] == [
        "0.0",
        "0.2",
        "0.4",
        "0.6",
        "0.8",
        "1.0",
    ]
    assert [label for _, label in round_ticks(-12, 31, 5)] == ["−10", "0", "10", "20", "30"]


def test_colours_are_mixed_and_letters_on_them_differ() -> None:
    ramp = ("#000000", "#ffffff", "#ff0000")
    assert [mixed(ramp, share) for share in (0, 0.25, 0.5, 1)] == [
        "#000000",
        "#808080",
        "#ffffff",
        "#ff0000",
    ]
    assert is_dark("#0b3a66") and not is_dark("#cadff0")


def test_unknown_places_are_left_out_and_infinite_ones_are_at_the_edge() -> None:
    drawing = Drawing(1, 1)
    one = drawing.panel(0, 0, 1, 1, (0, 1), (0, 1), frame="", marked="")
    one.intervals([np.nan, 0.25], [np.nan, 0.75], [0.5, 0.5], "#000001")
    one.dots([np.nan, 0.5], [0.5, 0.5], "#000002", 4.0)
    one.vertical(0.5, "#000003")
    svg = svg_text(drawing, "x", "y")
    assert 'd="M18 36L54 36" fill="none" stroke="#000001"' in svg and "nan" not in svg
    assert svg.count("<circle") == 1 and 'd="M36 72L36 0" fill="none" stroke="#000003"' in svg


def test_svg_fits_into_a_page_with_a_strict_policy() -> None:
    figures = {
        name: svg_text(sweep_figure([panel("P@1")]), name, "a < b & ]]>")
        for name in ("one", '"><two')
    }
    seen: set[str] = set()
    for text in figures.values():
        assert (
            text.startswith("<svg ")
            and "style=" not in text
            and "<style" not in text
            and "<?xml" not in text
        )
        root = ElementTree.fromstring(text)
        assert root.get("role") == "img"
        ids = [element.get("id") for element in root.iter() if element.get("id")]
        assert len(ids) == len(set(ids)) and not seen & set(ids)
        seen |= set(ids)
        assert set(root.get("aria-labelledby", "").split()) <= set(ids)
        assert ">share of 173 turns</" in text  # letters, not outlines


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_titles_are_letters(text: str) -> None:
    svg = svg_text(sweep_figure([panel(text)]), text, text)
    root = ElementTree.fromstring(svg)
    assert {element.tag.rpartition("}")[2] for element in root.iter()} <= {
        "svg", "desc", "g", "path", "circle", "text"
    }  # fmt: skip


def test_a_plot_has_the_data_of_the_drawing_and_reads_no_formulas() -> None:
    drawing = sweep_figure([panel("$x"), panel("b")])
    figure = matplotlib_figure(drawing)
    assert list(figure.get_size_inches()) == [drawing.width, drawing.height]
    first, *_ = figure.axes
    assert (first.get_xlim(), first.get_title(loc="left")) == (drawing.panels[0].x, "$x")
    assert not first.title.get_parse_math()
    assert len(first.patches) == sum(isinstance(mark, Area) for mark in drawing.panels[0].marks)
    assert [label.get_text() for label in first.get_yticklabels()] == [
        "0%",
        "20%",
        "40%",
        "60%",
        "80%",
        "100%",
    ]
