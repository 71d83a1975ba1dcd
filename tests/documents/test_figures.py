"""The figures: bytes, colours and the sweep's steps."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from robustcs.documents.figures import BIN_COLOURS, BIN_LABELS, COLUMN_WIDTH, FULL_WIDTH, save_figure, style, svg_text
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
    assert set(BIN_COLOURS) == set(BIN_LABELS) == {*STACK, *BINS_WITHOUT_ORIGINAL} and set(STACK) == BINS
    for bins in (BINS, BINS_WITHOUT_ORIGINAL):
        assert len({BIN_COLOURS[name] for name in bins}) == len({BIN_LABELS[name] for name in bins}) == len(bins)


def test_neighbours_in_the_stack_differ_in_grey() -> None:
    shades = [lightness(BIN_COLOURS[name]) for name in STACK]
    assert min(abs(a - b) for a, b in itertools.pairwise(shades)) > 15


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_the_same_bytes_every_time(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    for name in ("a", "b"):
        save_figure(sweep_figure([panel("NDCG@3")]), tmp_path / (name + suffix))
    first = (tmp_path / f"a{suffix}").read_bytes()
    assert first == (tmp_path / f"b{suffix}").read_bytes()
    assert first.startswith({".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[suffix])
    assert b"CreationDate" not in first and b"<dc:date>" not in first


def test_a_pdf_has_the_size_of_the_figure_and_letters_as_text(tmp_path: Path) -> None:
    """Fonts are TrueType, as publishers ask; links to turns, which lead nowhere in it, are gone."""
    figure = sweep_figure([panel("NDCG@3")])
    for artist in figure.findobj():
        artist.set_url("#turn-1_1")  # type: ignore[arg-type]
    save_figure(figure, tmp_path / "x.pdf")
    data = (tmp_path / "x.pdf").read_bytes()
    assert data.startswith(b"%PDF-1.4") and b"CIDFontType2" in data and b"/Type3" not in data and b"/Annot" not in data
    sizes = re.findall(rb"/MediaBox ?\[ ?0 0 ([0-9.]+) ([0-9.]+)", data)
    width, height = (72 * inches for inches in figure.get_size_inches())
    assert [list(map(float, size)) for size in sizes] == [[pytest.approx(width, abs=0.01), pytest.approx(height, abs=0.01)]]
    words = pdf_words(data, tmp_path)
    assert "NDCG@3" in words and "share of 173 turns" in words


def test_other_suffixes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"end its name in \.png, \.svg or \.pdf"):
        save_figure(sweep_figure([panel("x")]), tmp_path / "x.gif")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("panels", "width"), [(1, COLUMN_WIDTH), (2, FULL_WIDTH), (3, FULL_WIDTH), (5, FULL_WIDTH)])
def test_sizes_and_shared_axis(panels: int, width: float) -> None:
    figure = sweep_figure([panel(f"P@{n}") for n in range(panels)])
    assert figure.get_figwidth() == width
    assert len(figure.axes) == panels
    assert {axes.get_ylim() for axes in figure.axes} == {(0.0, 1.0)}
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "share of 173 turns" if number % 3 == 0 else "" for number in range(panels)
    ]


def test_a_share_is_drawn_up_to_its_threshold() -> None:
    """The first step, left of 0, is "> 0"; the value at t fills the interval from the point before it to t."""
    thresholds = np.array([0.0, 0.5, 1.0])
    shares = {name: np.zeros(3) for name in STACK}
    shares["111"] = np.array([0.8, 0.4, 0.1])
    shares["000"] = 1 - shares["111"]
    (axes,) = sweep_figure([SweepPanel("x", thresholds, shares, 10)]).axes
    bottom = axes.collections[STACK.index("111")].get_paths()[0]
    inside = {
        x: bottom.contains_point((x, y - 0.01)) and not bottom.contains_point((x, y + 0.01))
        for x, y in ((-0.25, 0.8), (0.25, 0.4), (0.49, 0.4), (0.51, 0.1), (0.99, 0.1))
    }
    assert all(inside.values()), inside


def test_the_threshold_that_a_text_speaks_of_has_a_line() -> None:
    marked, other = sweep_figure([replace(panel("NDCG@3"), marked=0.4), panel("MAP")]).axes
    lines = [{line.get_xdata()[0] for line in axes.lines if line.get_ydata()[-1] == 1} for axes in (marked, other)]
    assert 0.4 in lines[0] and 0.4 not in lines[1]


def test_all_four_regions_are_named() -> None:
    figure = sweep_figure([panel("NDCG@3")])
    words = {" ".join(text.get_text().split()) for text in figure.axes[0].texts}
    assert words == {"answered by Original", "only after rewriting", "rewriter error", "QA error"}


def test_letters_stay_inside_the_figure() -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    figure = sweep_figure([panel("P@1", 9), panel("a very long name of a rewriter " * 9), panel("x", 123_456)])
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    whole = figure.bbox
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip():
            box = text.get_window_extent(renderer)
            inside = box.x0 >= 0 and box.y0 >= 0 and box.x1 <= whole.x1 and box.y1 <= whole.y1
            assert inside, text.get_text()


def test_svg_fits_into_a_page_with_a_strict_policy() -> None:
    figures = {name: svg_text(sweep_figure([panel("P@1")]), name, "a < b & ]]>") for name in ("one", '"><two')}
    seen: set[str] = set()
    for text in figures.values():
        assert text.startswith("<svg ") and "style=" not in text and "<style" not in text and "<?xml" not in text
        root = ElementTree.fromstring(text)
        assert root.get("role") == "img"
        ids = [element.get("id") for element in root.iter() if element.get("id")]
        assert len(ids) == len(set(ids)) and not seen & set(ids)
        seen |= set(ids)
        assert set(re.findall(r'(?:url\(|xlink:href=")#([^)"]+)', text)) <= set(ids)
        assert set(root.get("aria-labelledby", "").split()) <= set(ids)
        assert ">share of 173 turns</" in text  # letters, not outlines


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_titles_are_letters(text: str) -> None:
    svg = svg_text(sweep_figure([panel(text)]), text, text)
    root = ElementTree.fromstring(svg)
    assert {element.tag.rpartition("}")[2] for element in root.iter()} <= {
        "svg", "title", "desc", "g", "path", "defs", "use", "text", "tspan", "clipPath", "rect"
    }  # fmt: skip


def test_the_style_reads_no_formulas() -> None:
    with style():
        assert Figure().text(0, 0, "$x").get_parse_math() is False
