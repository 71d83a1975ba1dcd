"""Stacked bars of shares."""

from __future__ import annotations

import pandas as pd
import pytest

from robustcs.documents.stacked import share_figure, stacked_bars


def test_ratings_fill_each_bar() -> None:
    figure = stacked_bars({"a" * 60: {"1": 0.5, "2": 0.02, "3": 0.48}, "$kind$": {"x": 1.0}})
    (axes,) = figure.axes
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([0.5, 0.02, 0.48, 1.0])
    assert [text.get_text() for text in axes.texts] == ["1", "3", "x"]  # no room for the 2
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a" * 35 + "…", "$kind$"]
    assert len({bar.get_facecolor() for bar in axes.patches[:3]}) == 3


def test_named_parts_have_their_colours_and_the_unknown_is_hatched() -> None:
    rows = pd.DataFrame({"system": ["a", "a", "b"], "cause": ["found", "unknown", "found"], "share": [0.7, 0.3, 1.0]})
    block = share_figure("missed", "What became.", rows, "system", "cause", {"found": "#0b3a66", "unknown": "#ffffff"})
    assert block.alt == "a: found 70.0%, unknown 30.0%; b: found 100.0%."
    figure = block.draw()
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.texts] == ["70%", "100%"]
    assert [bar.get_hatch() for bar in axes.patches[:2]] == [None, "////"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["found", "unknown"]
