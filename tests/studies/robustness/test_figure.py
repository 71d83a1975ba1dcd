"""The figures of robustness: what stands where, and names that do not fit."""

from __future__ import annotations

import numpy as np

from robustcs.documents.figures import svg_text
from robustcs.studies.robustness.figure import Drop, SpreadPanel, drops_figure, spread_figure


def test_drops_keep_their_places() -> None:
    group = [Drop("one", 0.1, 0.05, 0.2), Drop("a name much longer than any axis can take", -0.1, -0.2, 0.0)]
    panels = {f"M{number}": [group, [Drop("mean", 0.0, -0.1, 0.1, mean=True)]] for number in range(4)}
    figure = drops_figure(panels)
    assert [axes.get_title() for axes in figure.axes] == list(panels)
    for axes in figure.axes:
        points = [(line.get_xdata()[0], line.get_ydata()[0]) for line in axes.lines if line.get_marker() in "oD"]
        assert [x for x, _ in points] == [0.1, -0.1, 0.0]
        assert [y for _, y in points] == sorted((y for _, y in points), reverse=True)
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names == ["one", "a name much longer than…", "mean"]
    boxes = [axes.get_position() for axes in figure.axes]
    assert min(box.y0 for box in boxes) > 0 and max(box.x1 for box in boxes) < 1
    assert "mean" in svg_text(figure, "drops", "alt")


def test_spread_shows_every_turn() -> None:
    low, mean, high = np.sort(np.random.default_rng(0).random((3, 40)), axis=0)
    figure = spread_figure([SpreadPanel("$x$", low, mean, high, mean), SpreadPanel("raw", low, mean, high, mean)], "NDCG@3")
    for axes in figure.axes:
        segments = np.array(axes.collections[0].get_segments())
        assert np.allclose(segments[:, 0, 1], low) and np.allclose(segments[:, 1, 1], high)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["$x$", "raw"]
