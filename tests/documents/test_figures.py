"""The figures: bytes, colours and the sweep's steps."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.path import Path as Outline

from robustcs.documents.document import Figure
from robustcs.documents.figures import BIN_COLOURS, BIN_LABELS, _fonts, save_figure
from robustcs.documents.page_svg import page_svg
from robustcs.documents.style import COLUMN, MAX_HEIGHT, PAGE, Width, in_style
from robustcs.errors import UsageError
from robustcs.evaluation.bins import BINS_WITHOUT_ORIGINAL
from robustcs.studies.sweep.figure import STACK, SweepPanel, sweep_figure
from tests.documents.conftest import panel, pdf_words
from tests.documents.test_every_figure import cut_texts, troubles

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


def swept(*panels: SweepPanel) -> Figure:
    return Figure("sweep", "caption", "alt", lambda width: sweep_figure(width, panels))


def drawn(panels: list[SweepPanel], width: Width = PAGE) -> MatplotlibFigure:
    with in_style(width):
        return sweep_figure(width, panels)


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_the_same_bytes_every_time(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    for name in ("a", "b"):
        save_figure(swept(panel("NDCG@3")), tmp_path / (name + suffix))
    first = (tmp_path / f"a{suffix}").read_bytes()
    assert first == (tmp_path / f"b{suffix}").read_bytes()
    assert first.startswith({".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[suffix])
    assert b"CreationDate" not in first and b"<dc:date>" not in first


def test_a_pdf_has_the_size_of_the_figure_and_letters_as_text(tmp_path: Path) -> None:
    """Fonts are TrueType, as publishers ask; links to turns, which lead nowhere in it, are gone."""

    def linked(width: Width) -> MatplotlibFigure:
        figure = sweep_figure(width, [panel("NDCG@3")])
        figure.axes[0].scatter([0.5], [0.5]).set_urls(["#turn-1_1"])
        return figure

    save_figure(Figure("x", "caption", "alt", linked), tmp_path / "x.pdf")
    data = (tmp_path / "x.pdf").read_bytes()
    assert data.startswith(b"%PDF-1.4") and b"CIDFontType2" in data
    assert b"/Type3" not in data and b"/Annot" not in data
    sizes = re.findall(rb"/MediaBox ?\[ ?0 0 ([0-9.]+) ([0-9.]+)", data)
    width, height = 72 * drawn([panel("NDCG@3")]).get_size_inches()
    assert [list(map(float, size)) for size in sizes] == [
        [pytest.approx(width, abs=0.01), pytest.approx(height, abs=0.01)]
    ]
    words = pdf_words(data, tmp_path)
    assert "NDCG@3" in words and "share of 173 turns" in words


def test_a_character_without_a_font_leaves_the_other_letters_of_its_text(tmp_path: Path) -> None:
    """matplotlib's Last Resort font has a box for every character, so typst would use it for the whole text."""
    families = _fonts(False).families()
    assert "DejaVu Sans" in families and not any("Last Resort" in name for name in families)
    name = "\N{CJK UNIFIED IDEOGRAPH-4E2D} bm25"

    def written(width: Width) -> MatplotlibFigure:
        return sweep_figure(width, [panel(name)])

    save_figure(Figure("x", "caption", "alt", written), tmp_path / "x.pdf")
    assert b"LastResort" not in (tmp_path / "x.pdf").read_bytes()


def test_other_suffixes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"end its name in \.png, \.svg or \.pdf"):
        save_figure(swept(panel("x")), tmp_path / "x.gif")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("panels", "inches"), [(1, 3.4), (2, 7.0), (3, 7.0), (5, 7.0)])
def test_sizes_and_shared_axis(panels: int, inches: float) -> None:
    figure = drawn([panel(f"P@{n}") for n in range(panels)])
    assert figure.get_size_inches()[0] == inches
    assert len(figure.axes) == panels
    assert {axes.get_ylim() for axes in figure.axes} == {(0.0, 1.0)}
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "share of 173 turns" if number % 3 == 0 else "" for number in range(panels)
    ]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [
        "0%", "20%", "40%", "60%", "80%", "100%"
    ]  # fmt: skip


@pytest.mark.parametrize("width", [PAGE, COLUMN])
def test_many_panels_stay_on_a_page(width: Width) -> None:
    figure = drawn([panel(f"P@{n}") for n in range(40)], width)
    assert figure.get_size_inches()[1] <= MAX_HEIGHT
    gone = 40 - len(figure.axes)
    assert f"{gone} other panels would not fit on a page; the tables have all." in [
        text.get_text() for text in figure.texts
    ]


def areas(axes: Axes, colour: str) -> list[np.ndarray]:
    """The corners of the areas of a colour."""
    return [
        path.vertices
        for some in axes.collections
        for path in some.get_paths()
        if to_hex(some.get_facecolor()[0]) == colour
    ]


def test_a_share_is_drawn_up_to_its_threshold() -> None:
    """The first step, left of 0, is "> 0"; the value at t fills the interval from the point before it to t."""
    thresholds = np.array([0.0, 0.5, 1.0])
    shares = {name: np.zeros(3) for name in STACK}
    shares["111"] = np.array([0.8, 0.4, 0.1])
    shares["000"] = 1 - shares["111"]
    (axes,) = drawn([SweepPanel("x", thresholds, shares, 10)]).axes
    (bottom,) = areas(axes, BIN_COLOURS["111"])
    outline = Outline(bottom)
    inside = {
        x: outline.contains_point((x, y - 0.01)) and not outline.contains_point((x, y + 0.01))
        for x, y in ((-0.25, 0.8), (0.25, 0.4), (0.49, 0.4), (0.51, 0.1), (0.99, 0.1))
    }
    assert all(inside.values()), inside


def test_the_threshold_that_a_text_speaks_of_has_a_line() -> None:
    marked, other = drawn([replace(panel("NDCG@3"), marked=0.4), panel("MAP")]).axes
    places = [{float(line.get_xdata()[0]) for line in axes.lines} for axes in (marked, other)]
    assert 0.4 in places[0] and 0.4 not in places[1]


def test_the_dashes_of_that_line_are_dark_on_a_dark_page() -> None:
    """The line is white and black, so it is visible on all bands; what has the colour of the text is light on a dark page."""
    with in_style(COLUMN):
        svg = page_svg(sweep_figure(COLUMN, [replace(panel("NDCG@3"), marked=0.4)]), "x", "y")
    (dashed,) = re.findall(r"<[^>]*stroke-dasharray[^>]*>", svg)
    assert 'stroke="#000000"' in dashed


def test_all_four_regions_are_named() -> None:
    (axes,) = drawn([panel("NDCG@3")]).axes
    words = {text.get_text() for text in axes.texts}
    assert words == {"answered by Original", "only after rewriting", "rewriter error", "QA error"}


@pytest.mark.parametrize("width", [PAGE, COLUMN])
def test_letters_stay_inside_the_figure(width: Width) -> None:
    long = "a very long name of a rewriter " * 9
    for panels in ([panel("P@1", 9), panel(long), panel("x", 123_456)], [panel(long)]):
        with in_style(width):
            figure = sweep_figure(width, panels)
            assert not cut_texts(page_svg(figure, "x", "y"))
            assert not troubles(figure, width)


def test_titles_are_no_formulas() -> None:
    first, _ = drawn([panel("$x"), panel("b")]).axes
    assert first.get_title(loc="left") == "$x" and not first._left_title.get_parse_math()
