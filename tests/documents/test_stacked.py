"""Stacked bars of shares."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex

from robustcs.documents.stacked import share_figure, stacked_bars
from robustcs.documents.style import COLUMN, PAGE, in_style


def widths_and_colours(axes: Axes) -> list[tuple[float, str]]:
    """The width of every box and its colour, bar by bar from the left."""
    boxes = []
    for some in axes.collections:
        for path in some.get_paths():
            (left, _), (right, top) = path.vertices.min(axis=0), path.vertices.max(axis=0)
            boxes.append(
                (
                    round(float(top)),
                    float(left),
                    float(right - left),
                    to_hex(some.get_facecolor()[0]),
                )
            )
    return [(width, colour) for _, _, width, colour in sorted(boxes)]


def words(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_ratings_fill_each_bar() -> None:
    shares = {"a" * 60: {"1": 0.5, "2": 0.02, "3": 0.48}, "$kind$": {"x": 1.0}}
    with in_style(PAGE):
        (axes,) = stacked_bars(PAGE, shares).axes
    found = widths_and_colours(axes)
    assert [width for width, _ in found] == pytest.approx([0.5, 0.02, 0.48, 1.0])
    assert len({colour for _, colour in found[:3]}) == 3
    assert words(axes) == ["1", "3", "x"]  # no room for the 2
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "a" * 26 + "…" + "a" * 9,
        "$kind$",
    ]


@pytest.mark.parametrize("width", [PAGE, COLUMN])
def test_named_parts_have_their_colours_and_shares(width: object) -> None:
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
    figure = block.draw(width)  # type: ignore[arg-type]
    (axes,) = figure.axes
    assert sorted(words(axes)) == ["100%", "30%", "70%"]
    assert [colour for _, colour in widths_and_colours(axes)[:2]] == ["#0b3a66", "#ffffff"]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["found", "unknown"]


def test_a_share_that_is_unknown_has_no_box() -> None:
    with in_style(PAGE):
        (axes,) = stacked_bars(PAGE, {"a": {"1": np.nan, "2": 1.0}}).axes
    assert [width for width, _ in widths_and_colours(axes)] == [1.0] and words(axes) == ["2"]
