"""The figure of unjudged passages: a line for each of a few runs, a row of dots for each of many."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection

from robustcs.documents.document import Figure
from robustcs.documents.forest import LEFT_OUT, MOST_ROWS
from robustcs.documents.style import COLUMN, MAX_HEIGHT, PAGE, Width, in_style
from robustcs.evaluation.holes import judged_run
from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.ranking import rank_run
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.runs import read_run
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.studies.unjudged.analysis import Gaps, Settings, Unjudged, unjudged
from robustcs.studies.unjudged.figure import MOST_LINES
from robustcs.studies.unjudged.show import draw_unjudged, show
from tests.studies.unjudged.test_analysis import FIRST, QRELS, SECOND


def result(folder: Path, count: int, measures: tuple[str, ...] = ("P_1", "ndcg_cut_3")) -> Unjudged:
    """Runs that alternate between two rankings."""
    (folder / "qrels").write_text(QRELS)
    qrels, policy, runs = read_qrels(folder / "qrels"), EvaluationPolicy(), []
    for number in range(count):
        path = folder / f"run_{number}"
        path.write_text((FIRST, SECOND)[number % 2])
        runs.append(judged_run(rank_run(read_run(path), policy), qrels, 2))
    gaps = Gaps(
        runs,
        qrels,
        [parse_measure(name) for name in measures],
        policy,
        Settings(2, "cutoff", 2, {}),
    )
    return unjudged(gaps, Evaluated(policy, "runs", 3, 1))


def dots(axes: Axes) -> np.ndarray:
    marks = [one for one in axes.collections if isinstance(one, PathCollection)]
    return np.concatenate([np.ma.filled(one.get_offsets(), np.nan) for one in marks])


def figure_of(found: Unjudged) -> Figure:
    [figure] = [block for block in show(found) if isinstance(block, Figure)]
    return figure


@pytest.mark.parametrize("width", [PAGE, COLUMN])
def test_few_runs_have_a_line_each(tmp_path: Path, width: Width) -> None:
    found = result(tmp_path, MOST_LINES)
    with in_style(width):
        figure = draw_unjudged(width, found)
    assert figure.get_size_inches()[1] <= MAX_HEIGHT
    titles = {axes.get_title(loc="left"): axes for axes in figure.axes}
    assert set(titles) == {"Judged share of passages by rank", "P@1", "NDCG@3"}
    ranks = titles["Judged share of passages by rank"]
    [lines] = [one for one in ranks.collections if isinstance(one, LineCollection)]
    assert len(lines.get_segments()) == MOST_LINES
    # rank 1: both turns of the first have an unjudged or judged passage; all points have a dot
    assert len(dots(ranks)) == sum(len(path) for path in lines.get_segments())
    assert lines.get_segments()[0][0].tolist() == [1, 0.5]
    looks = {
        (colour.tobytes(), str(line))
        for colour, line in zip(lines.get_colors(), lines.get_linestyles(), strict=True)
    }
    assert len(looks) == MOST_LINES
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert sorted(names) == sorted(found.rates["system"])
    bounds = found.bounds[found.bounds["metric"] == "ndcg_cut_3"]
    assert dots(titles["NDCG@3"])[:, 0].tolist() == bounds["score"].tolist()
    assert dots(titles["NDCG@3"])[:, 1].tolist() == list(range(MOST_LINES))
    ends, caps = (one.get_segments() for one in titles["NDCG@3"].collections[:2])
    assert [line[:, 0].tolist() for line in ends] == bounds[["low", "high"]].to_numpy().tolist()
    assert len(caps) == 2 * (bounds["low"] < bounds["high"]).sum() > 0
    assert figure_of(found).caption.startswith("Top: judged share by rank.")


@pytest.mark.parametrize("width", [PAGE, COLUMN])
def test_many_runs_are_rows_sorted_by_score(tmp_path: Path, width: Width) -> None:
    found = result(tmp_path, MOST_LINES + 1)
    with in_style(width):
        figure = draw_unjudged(width, found)
    assert figure.get_size_inches()[1] <= MAX_HEIGHT
    share, first, second = figure.axes
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["Judged in the top 2", "P@1", "NDCG@3"]
    names = [label.get_text() for label in share.get_yticklabels()]
    of = found.bounds[found.bounds["metric"] == "P_1"].set_index("system")["score"]
    assert sorted(names) == sorted(of.index) and dots(first)[:, 0].tolist() == of[names].tolist()
    assert of[names].is_monotonic_decreasing and of.nunique() > 1
    judged = 1 - found.rates.set_index("system")["share"]
    assert dots(share)[:, 0].tolist() == judged[names].tolist()
    bounds = found.bounds[found.bounds["metric"] == "ndcg_cut_3"].set_index("system")
    ends = next(one for one in second.collections if isinstance(one, LineCollection))
    limits = [line[:, 0].tolist() for line in ends.get_segments()]
    assert limits == bounds.loc[names, ["low", "high"]].to_numpy().tolist()
    caption = figure_of(found).caption
    assert caption.startswith("First: judged share of the top 2. Others: each score (dot)")
    assert "Shown:" not in caption


@pytest.mark.parametrize("width", [PAGE, COLUMN])
def test_of_very_many_runs_the_best_and_the_worst_are_shown(tmp_path: Path, width: Width) -> None:
    figure = figure_of(result(tmp_path, MOST_ROWS + 5))
    assert figure.caption.endswith(f" worst of {MOST_ROWS + 5} systems by P@1.")
    with in_style(width):
        drawn = figure.draw(width)
    assert drawn.get_size_inches()[1] <= MAX_HEIGHT
    names = [label.get_text() for label in drawn.axes[0].get_yticklabels()]
    assert len(names) == MOST_ROWS and names.count(LEFT_OUT) == 1


@pytest.mark.parametrize("width", [PAGE, COLUMN])
@pytest.mark.parametrize("count", [2, MOST_LINES + 1])
def test_without_bounds_the_shares_remain(tmp_path: Path, count: int, width: Width) -> None:
    found = result(tmp_path, count, ("bpref",))
    with in_style(width):
        figure = draw_unjudged(width, found)
    assert len(figure.axes) == 1 and len(dots(figure.axes[0])) >= count
