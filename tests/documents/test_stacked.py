"""Stacked bars of shares."""

from __future__ import annotations

import pandas as pd
import pytest

from robustcs.documents.drawing import Area, Panel, Words
from robustcs.documents.stacked import share_figure, stacked_bars


def bars(panel: Panel) -> list[Area]:
    return [mark for mark in panel.marks if isinstance(mark, Area)]


def words(panel: Panel) -> list[str]:
    return [mark.text for mark in panel.marks if isinstance(mark, Words)]


def test_ratings_fill_each_bar() -> None:
    figure = stacked_bars({"a" * 60: {"1": 0.5, "2": 0.02, "3": 0.48}, "$kind$": {"x": 1.0}})
    (panel,) = figure.panels
    assert [bar.points[1][0] - bar.points[0][0] for bar in bars(panel)] == pytest.approx(
        [0.5, 0.02, 0.48, 1.0]
    )
    assert words(panel) == ["1", "3", "x"]  # no room for the 2
    assert [label for _, label in panel.y_ticks] == ["a" * 26 + "…" + "a" * 9, "$kind$"]
    assert len({bar.colour for bar in bars(panel)[:3]}) == 3


def test_named_parts_have_their_colours_and_shares() -> None:
    rows = pd.DataFrame(
        {
            "system": ["a", "a", "b"],
            "cause": ["found", "unknown", "found"],
            "share": [0.7, 0.3, 1.0],
        }
    )
    block = share_figure(
        "missed",
        "What became.",
        rows,
        "system",
        "cause",
        {"found": "#0b3a66", "unknown": "#ffffff"},
    )
    assert block.alt == "a: found 70.0%, unknown 30.0%; b: found 100.0%."
    figure = block.draw()
    (panel,) = figure.panels
    assert words(panel) == ["70%", "30%", "100%"]
    assert [bar.colour for bar in bars(panel)[:2]] == ["#0b3a66", "#ffffff"]
    assert words(figure.page) == ["found", "unknown"]
