"""The scatter of question against answer similarity."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robustcs.documents.drawing import COLUMN_WIDTH, Dots, Panel, Words
from robustcs.documents.figures import save_figure
from robustcs.documents.svg import svg_text
from robustcs.studies.correlate.figure import Scatter, ScatterCorner, scatter_figure
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


def dots(panel: Panel) -> list[Dots]:
    return [mark for mark in panel.marks if isinstance(mark, Dots)]


def test_every_turn_is_drawn_and_outliers_are_marked() -> None:
    data = scatter()
    figure = scatter_figure(data)
    panel = figure.panels[0]
    assert figure.width == COLUMN_WIDTH
    everything, below, above = (mark.points for mark in dots(panel))
    assert {tuple(point) for point in everything} == set(zip(data.x, data.y, strict=True))
    assert (len(below), len(above)) == tuple(len(corner.rows) for corner in data.corners) != (0, 0)
    legend = [mark.text for mark in figure.page.marks if isinstance(mark, Words)]
    assert f"Different questions ({len(data.corners[1].rows)})" in legend


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
    points = dots(scatter_figure(data).panels[0])[0]
    areas = {point: size**2 for point, size in zip(points.points, points.sizes, strict=True)}
    assert areas[(1.0, 1.0)] == pytest.approx(np.sqrt(3) * areas[(0.5, 0.5)])
    assert points.anchors == ["turn-1,turn-2,turn-3", "turn-4"]


def test_values_beyond_one_and_below_zero_widen_the_axes() -> None:
    nothing = np.array([], dtype=int)
    corners = (
        ScatterCorner((0.9, 1.1, -0.1, 0.4), "a", nothing),
        ScatterCorner((-0.1, 0.8, 0.8, 1.1), "b", nothing),
    )
    data = Scatter("t", "x", "y", ["1", "2"], np.array([0.2, 1.0]), np.array([-0.8, 0.1]), corners)
    panel = scatter_figure(data).panels[0]
    assert panel.y[0] < -0.8 and panel.y[1] > 1
    assert panel.x[0] < 0 < 1 < panel.x[1] < 1.1


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_the_same_bytes_every_time(tmp_path: Path, suffix: str) -> None:
    for name in ("a", "b"):
        save_figure(scatter_figure(scatter()), tmp_path / (name + suffix))
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()


def test_hostile_names_stay_text() -> None:
    data = scatter(40, [HOSTILE[n % len(HOSTILE)][:200] for n in range(40)])
    svg = svg_text(scatter_figure(data), "scatter", "alt")
    assert "<script" not in svg and "<img" not in svg
