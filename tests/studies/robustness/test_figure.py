"""The figure of robustness: what stands where, and names that do not fit."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection

from robustcs.documents.document import Figure
from robustcs.documents.figures import drawn
from robustcs.documents.forest import LEFT_OUT
from robustcs.documents.style import COLUMN, MAX_HEIGHT, PAGE, Width, in_style
from robustcs.evaluation.groups import Group
from robustcs.evaluation.measures import TurnScores
from robustcs.lazy import pd
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.studies.robustness.analysis import Robustness, robustness
from robustcs.studies.robustness.show import draw_drops, show

LONG = "a name much longer than any axis can take"
METRICS = ("ndcg_cut_3", "map", "P_1", "recip_rank")


def result(groups: dict[str, list[str]]) -> Robustness:
    """Random scores of four measures for all sets and their baseline."""
    names = ["base", *(name for sets in groups.values() for name in sets)]
    rng = np.random.default_rng(0)
    index = pd.Index([f"{i // 5}_{1 + i % 5}" for i in range(30)], name="turn")
    frames = {
        name: TurnScores(index, dict(zip(METRICS, rng.random((4, 30)), strict=True)))
        for name in names
    }
    evaluated = Evaluated(EvaluationPolicy(), "runs", 30, 0)
    of = {name: Group("base", tuple(sets)) for name, sets in groups.items()}
    return robustness(of, frames, evaluated)


def dots(axes: Axes) -> tuple[np.ndarray, np.ndarray]:
    """The places of the dots and of the diamonds; those of other rows are masked."""
    marks = [one for one in axes.collections if isinstance(one, PathCollection)]
    places = [np.ma.filled(one.get_offsets(), np.nan) for one in marks]
    first, second = (one[np.isfinite(one).all(axis=1)] for one in places)
    return first, second


@pytest.mark.parametrize("width", [PAGE, COLUMN])
def test_drops_keep_their_places(width: Width) -> None:
    found = result({"manual": ["one", LONG], "raw": ["two"]})
    with in_style(width):
        figure = draw_drops(width, found)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["NDCG@3", "MAP", "P@1", "MRR"]
    for axes, metric in zip(figure.axes, METRICS, strict=True):
        sets, means = dots(axes)
        rows = found.measures[found.measures["metric"] == metric]
        groups = found.groups[found.groups["metric"] == metric]
        assert sets[:, 0].tolist() == rows["drop"].tolist()
        assert means[:, 0].tolist() == groups["mean_drop"].tolist()
        assert sets[:, 1].tolist() == [0, 1, 4]  # the mean is below its group, then a gap
        assert means[:, 1].tolist() == [2, 5]
        assert axes.get_ylim()[0] > axes.get_ylim()[1], "the first is on top"
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names == ["one", "a name much long… take", "mean of manual", "", "two", "mean of raw"]
    for axes in figure.axes:
        place = axes.get_position()
        assert place.y0 > 0 and place.x1 < 1
    figures = [block for block in show(found) if isinstance(block, Figure)]
    assert "mean of raw" in drawn(figures[0], width)[0]


@pytest.mark.parametrize("width", [PAGE, COLUMN])
def test_of_many_sets_the_smallest_and_the_largest_drops_are_shown(width: Width) -> None:
    found = result({name: [f"{name}_{n}" for n in range(30)] for name in ("manual", "raw")})
    [figure] = [block for block in show(found) if isinstance(block, Figure)]
    assert figure.caption.endswith(
        " Shown: the sets with the smallest and the largest drops in NDCG@3."
    )
    drawn_figure = figure.draw(width)
    assert drawn_figure.get_size_inches()[1] <= MAX_HEIGHT
    names = [label.get_text() for label in drawn_figure.axes[0].get_yticklabels()]
    assert names.count(LEFT_OUT) == 2
    rows = found.measures[(found.measures["metric"] == METRICS[0])]
    manual = rows[rows["group"] == "manual"].sort_values("drop")["set"]
    assert (
        names[0] == manual.iloc[0] and names[names.index("mean of manual") - 1] == manual.iloc[-1]
    )
