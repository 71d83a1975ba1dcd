"""The figure of robustness: what stands where, and names that do not fit."""

from __future__ import annotations

from robustcs.documents.drawing import Dots
from robustcs.documents.svg import svg_text
from robustcs.studies.robustness.show import Drop, drops_figure


def test_drops_keep_their_places() -> None:
    group = [
        Drop("one", 0.1, 0.05, 0.2),
        Drop("a name much longer than any axis can take", -0.1, -0.2, 0.0),
    ]
    panels = {
        f"M{number}": [group, [Drop("mean", 0.0, -0.1, 0.1, mean=True)]] for number in range(4)
    }
    figure = drops_figure(panels)
    assert [panel.title for panel in figure.panels] == list(panels)
    for panel in figure.panels:
        points = [point for mark in panel.marks if isinstance(mark, Dots) for point in mark.points]
        assert [x for x, _ in points] == [0.1, -0.1, 0.0]
        assert [y for _, y in points] == sorted((y for _, y in points), reverse=True)
    names = [label for _, label in figure.panels[0].y_ticks]
    assert names == ["one", "a name much longe…n take", "mean"]
    assert min(panel.bottom for panel in figure.panels) > 0
    assert max(panel.left + panel.width for panel in figure.panels) < figure.width
    assert "mean" in svg_text(figure, "drops", "alt")
