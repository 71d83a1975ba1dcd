"""The scatter of question against answer similarity."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure as MatplotlibFigure

from robustcs.documents.document import Figure
from robustcs.documents.figures import drawn, save_figure
from robustcs.documents.style import COLUMN, MAX_HEIGHT, PAGE, Width, in_style
from robustcs.studies.correlate.figure import (
    Scatter,
    ScatterCorner,
    scatter_figure,
    scatter_panels,
)
from tests.documents.conftest import HOSTILE


def scatter(turns: int = 40, names: list[str] | None = None) -> Scatter:
    rng = np.random.default_rng(0)
    x, y = rng.random(turns), rng.random(turns)
    below = np.flatnonzero((x > 0.9) & (y < 0.4))
    above = np.flatnonzero((x < 0.8) & (y > 0.8))
    corners = (
        ScatterCorner((0.9, 1.1, -0.1, 0.4), "Similar questions", below),
        ScatterCorner((-0.1, 0.8, 0.8, 1.1), "Different questions", above),
    )
    return Scatter(
        "Pearson 0.751",
        "questions",
        "answers",
        names or [f"1_{n}" for n in range(turns)],
        x,
        y,
        corners,
    )


def draw(data: Scatter, width: Width = PAGE) -> MatplotlibFigure:
    with in_style(width):
        return scatter_figure(data)


def as_block(data: Scatter) -> Figure:
    return Figure("scatter", "caption", "alt", lambda width: scatter_figure(data))


def dots(axes: Axes) -> list[PathCollection]:
    return [marks for marks in axes.collections if isinstance(marks, PathCollection)]


def test_every_turn_is_drawn_and_outliers_are_marked() -> None:
    data = scatter()
    figure = draw(data)
    axes = figure.axes[0]
    assert figure.get_size_inches()[0] == COLUMN.inches
    everything, below, above = (np.asarray(mark.get_offsets()) for mark in dots(axes))
    assert {tuple(point) for point in everything} == set(zip(data.x, data.y, strict=True))
    assert (len(below), len(above)) == tuple(len(corner.rows) for corner in data.corners) != (0, 0)
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert f"Different questions ({len(data.corners[1].rows)})" in legend


def test_margins_show_both_distributions() -> None:
    """A bar for each twentieth with turns; its length is the number of turns, the highest 1."""
    data = scatter()
    _, above, right = draw(data).axes
    for axes, values, end in ((above, data.x, 1), (right, data.y, 0)):
        (bars,) = axes.collections
        counts, _ = np.histogram(values, 20, (0, 1))
        lengths = [path.vertices[:, end].max() for path in bars.get_paths()]
        assert lengths == pytest.approx(counts[counts > 0] / counts.max())


def test_coinciding_turns_make_one_larger_point() -> None:
    nothing = np.array([], dtype=int)
    corners = (
        ScatterCorner((0.9, 1.1, -0.1, 0.4), "a", nothing),
        ScatterCorner((-0.1, 0.8, 0.8, 1.1), "b", nothing),
    )
    data = Scatter(
        "t",
        "x",
        "y",
        ["1", "2", "3", "4"],
        np.array([1.0, 1, 1, 0.5]),
        np.array([1.0, 1, 1, 0.5]),
        corners,
    )
    points = dots(draw(data).axes[0])[0]
    places = map(tuple, np.asarray(points.get_offsets()))
    areas = dict(zip(places, points.get_sizes(), strict=True))
    assert areas[(1.0, 1.0)] == pytest.approx(np.sqrt(3) * areas[(0.5, 0.5)])
    assert points.get_urls() == ["#turn-1,turn-2,turn-3", "#turn-4"]


def test_values_beyond_one_and_below_zero_widen_the_axes() -> None:
    nothing = np.array([], dtype=int)
    corners = (
        ScatterCorner((0.9, 1.1, -0.1, 0.4), "a", nothing),
        ScatterCorner((-0.1, 0.8, 0.8, 1.1), "b", nothing),
    )
    data = Scatter("t", "x", "y", ["1", "2"], np.array([0.2, 1.0]), np.array([-0.8, 0.1]), corners)
    axes = draw(data).axes[0]
    x, y = axes.get_xlim(), axes.get_ylim()
    assert y[0] < -0.8 and y[1] > 1
    assert x[0] < 0 < 1 < x[1] < 1.1


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_the_same_bytes_every_time(tmp_path: Path, suffix: str) -> None:
    for name in ("a", "b"):
        save_figure(as_block(scatter()), tmp_path / (name + suffix))
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()


def test_hostile_names_stay_text() -> None:
    data = scatter(40, [HOSTILE[n % len(HOSTILE)][:200] for n in range(40)])
    svg, _ = drawn(as_block(data), PAGE)
    assert "<script" not in svg and "<img" not in svg


@pytest.mark.parametrize("width", [PAGE, COLUMN])
def test_rewriters_that_do_not_fit_on_a_page_are_left_out(width: Width) -> None:
    many = [
        replace(scatter(), title=f"rewriter with a long name {n}: r = 0.751") for n in range(30)
    ]
    with in_style(width):
        figure = scatter_panels(width, many)
    assert figure.get_size_inches()[1] <= MAX_HEIGHT
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert 6 <= len(titles) < 30 and all(title.endswith(": r = 0.751") for title in titles)
    told = f"{30 - len(titles)} other panels would not fit on a page; the tables have all."
    assert told in [text.get_text() for text in figure.texts]
    limits = {(axes.get_xlim(), axes.get_ylim()) for axes in figure.axes}
    assert len(limits) == 1
