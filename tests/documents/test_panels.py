"""Parts of figures: ticks, titles, legends, forests."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.lines import Line2D

from robustcs.documents.forest import (
    LEFT_OUT,
    MOST_ROWS,
    MeanPanel,
    best_and_worst,
    forest,
    told_left_out,
)
from robustcs.documents.panels import (
    add_legend,
    add_panel,
    fit_x,
    keys_across,
    new_figure,
    panel_title,
    round_ticks,
)
from robustcs.documents.style import COLUMN, MAX_HEIGHT, PAGE, Width, in_style


@given(st.floats(-1e3, 1e3), st.floats(1e-4, 1e4), st.integers(2, 9))
def test_ticks_are_round_and_few(low: float, span: float, most: int) -> None:
    ticks = round_ticks(low, low + span, most)
    assert 1 <= len(ticks) <= most + 1
    assert all(low - 1e-6 * span <= place <= low + span * (1 + 1e-6) for place, _ in ticks)
    assert all(
        float(label.replace("−", "-")) == pytest.approx(place, rel=1e-6, abs=1e-9)
        for place, label in ticks
    )
    assert len({label for _, label in ticks}) == len(ticks)


def test_ticks_have_the_digits_that_they_need() -> None:
    shares = [label for _, label in round_ticks(-0.03, 1.03, 5)]
    assert shares == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
    assert [label for _, label in round_ticks(-12, 31, 5)] == ["−10", "0", "10", "20", "30"]


@pytest.mark.parametrize("values", [[], [np.nan], [0.3, 0.3], [0.1, np.nan, 0.9, np.inf]])
def test_axes_show_all_known_values(values: list[float]) -> None:
    with in_style(PAGE):
        axes = add_panel(new_figure(3, 1), 0.5, 0.2, 2, 0.5)
        fit_x(axes, values)
    low, high = axes.get_xlim()
    assert low < high and all(low < value < high for value in values if np.isfinite(value))


@pytest.mark.parametrize(("title", "left"), [("MAP", 0.0), ("Agreement with human judges", -1.0)])
def test_a_title_ends_at_the_edge_of_its_panel_at_most(title: str, left: float) -> None:
    with in_style(PAGE):
        figure = new_figure(3, 2)
        axes = add_panel(figure, 1.5, 0.2, 1.2, 1)
        panel_title(axes, title, 1.4)
    assert axes.get_title(loc="left") == title
    figure.draw_without_rendering()
    box = axes._left_title.get_window_extent()
    assert np.sign(round(box.x0 - axes.bbox.x0)) == left
    assert box.x1 <= axes.bbox.x1 + 2


def test_keys_of_a_legend_run_along_lines() -> None:
    with in_style(PAGE):
        figure = new_figure(3, 1)
        keys = [(name, Line2D([], [])) for name in "abcde"]
        add_legend(figure, keys, 0.1, 0.9, 2)
        figure.draw_without_rendering()
        assert keys_across(["a"] * 5, 3.0) == 5 and keys_across(["a" * 40] * 5, 3.0) == 1
    (legend,) = figure.legends
    boxes = {text.get_text(): text.get_window_extent() for text in legend.get_texts()}
    assert boxes["a"].y0 == pytest.approx(boxes["b"].y0) and boxes["a"].x1 < boxes["b"].x0
    assert boxes["c"].x0 == pytest.approx(boxes["a"].x0) and boxes["c"].y1 < boxes["a"].y0


def panel(title: str, count: int) -> MeanPanel:
    value = np.linspace(0.2, 0.8, count)
    return MeanPanel(title, value - 0.1, value, value + 0.1)


def test_a_forest_has_a_dot_and_an_interval_for_each_name() -> None:
    one = MeanPanel("MAP", np.array([0.1, np.nan]), np.array([0.2, 0.5]), np.array([0.4, np.nan]))
    with in_style(PAGE):
        figure = forest(PAGE, ["a", "human"], [one, panel("P@1", 2)], marked=["a"], zero=True)
    first, second = figure.axes
    assert [label.get_text() for label in first.get_yticklabels()] == ["a", "Human"]
    assert not second.get_yticklabels()  # the names are on the left
    (dots,) = (some for some in first.collections if isinstance(some, PathCollection))
    assert dots.get_offsets().tolist() == [[0.2, 0.0], [0.5, 1.0]]
    assert len({tuple(colour) for colour in dots.get_facecolors()}) == 2  # one is marked
    (lines,) = (some for some in first.collections if isinstance(some, LineCollection))
    assert [line.tolist() for line in lines.get_segments()] == [[[0.1, 0.0], [0.4, 0.0]]]
    assert [list(line.get_xdata()) for line in first.lines] == [[0, 0]]
    assert first.get_ylim()[0] > first.get_ylim()[1]  # the first name is on top


@pytest.mark.parametrize("width", [PAGE, COLUMN])
@pytest.mark.parametrize(("names", "panels"), [(MOST_ROWS, 3), (9, 12), (20, 6), (1, 40)])
def test_a_forest_is_never_higher_than_a_page(width: Width, names: int, panels: int) -> None:
    with in_style(width):
        figure = forest(width, [f"s{n}" for n in range(names)], [panel("m", names)] * panels)
    assert figure.get_size_inches()[1] <= MAX_HEIGHT
    notes = [text.get_text() for text in figure.texts]
    gone = panels - len(figure.axes)
    assert len(notes) == (gone > 0) and all(
        note.startswith(f"{gone} other panel") for note in notes
    )


def test_of_very_many_systems_the_best_and_the_worst_are_shown_and_the_caption_says_so() -> None:
    names = [f"s{n}" for n in range(60)]
    shown = best_and_worst(names, 2)
    assert len(shown) == MOST_ROWS and shown[0] == "s0" and shown[-1] == "s59"
    assert shown[MOST_ROWS // 2] == LEFT_OUT
    said = told_left_out(names, 2, "MAP")
    assert said == " Shown: the 18 best and the 17 worst of 60 systems by MAP."
    assert best_and_worst(names[:9], 2) == names[:9] and told_left_out(names[:9], 2, "MAP") == ""


@pytest.mark.parametrize("label", ["score", "mean and 95% CI"])
def test_labels_below_narrow_panels_do_not_touch(label: str) -> None:
    """A label that is wider than a panel stands once, below all panels of the line."""
    with in_style(COLUMN):
        figure = forest(
            COLUMN, ["a" * 22] * MOST_ROWS, [panel("m", MOST_ROWS), panel("n", MOST_ROWS)], label
        )
        figure.draw_without_rendering()
    first, second = figure.axes
    boxes = [
        axes.xaxis.label.get_window_extent()
        for axes in (first, second)
        if axes.get_xlabel() == label
    ]
    assert len(boxes) == (2 if label == "score" else 1)
    assert boxes[0].x1 < (boxes[1].x0 if len(boxes) == 2 else second.bbox.x1)
    assert boxes[-1].x1 <= figure.bbox.x1
