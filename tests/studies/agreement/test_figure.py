"""Figures of agreement."""

from __future__ import annotations

import numpy as np
import pytest

from robustcs.documents.figures import svg_text
from robustcs.documents.rating_figure import RatingRow, rating_figure
from robustcs.studies.agreement.figure import OverlapRow, overlap_figure


def test_overlap_draws_one_row_per_k() -> None:
    values = np.linspace(0, 1, 21)
    figure = overlap_figure([OverlapRow("J3", values, 0.5, 0.4, 0.6), OverlapRow("J2", values, 0.6, 0.5, 0.7)])
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["J3", "J2"]
    boxes = [(box.get_x(), box.get_width()) for box in axes.patches]
    assert np.allclose(boxes, [(0.25, 0.5)] * 2)
    assert ">J2<" in svg_text(figure, "overlap", "words")


def test_ratings_fill_each_bar() -> None:
    rows = [RatingRow("a" * 60, ("1", "2", "3"), (0.5, 0.02, 0.48)), RatingRow("$kind$", ("x",), (1.0,))]
    figure = rating_figure(rows)
    (axes,) = figure.axes
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([0.5, 0.02, 0.48, 1.0])
    assert [text.get_text() for text in axes.texts] == ["1", "3", "x"]  # no room for the 2
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a" * 35 + "…", "$kind$"]
    assert len({bar.get_facecolor() for bar in axes.patches[:3]}) == 3
