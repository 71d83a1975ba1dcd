"""The sweep: an exact grid, counts of the breakdown at every threshold, areas without a grid."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from robustcs.documents.document import Figure, TableBlock
from robustcs.errors import UsageError
from robustcs.evaluation.bins import BINS
from robustcs.evaluation.thresholds import Threshold
from robustcs.inputs.scores import read_scores
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.studies.breakdown.analysis import breakdown
from robustcs.studies.sweep.analysis import bin_lengths, sweep, threshold_grid
from robustcs.studies.sweep.show import show
from tests.formulations import formulations_of
from tests.studies.breakdown.test_analysis import TABLE_1, formulations


def evaluated(turns: int) -> Evaluated:
    return Evaluated(EvaluationPolicy(), "scores", turns, 0)


def test_the_grid_holds_the_decimal_numbers_themselves() -> None:
    grid = threshold_grid()
    assert grid == tuple(float(f"{hundredths / 100:.2f}") for hundredths in range(0, 101, 2))
    assert grid[29] == float("0.58")
    *_, added = accumulate([0.02] * 29)  # Python 3.12 and newer make sum() exact
    assert added != 0.58, "what adding up would give"
    assert [repr(point) for point in threshold_grid(0.1)] == [
        "0.0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1.0",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("step", "grid"),
    [
        (0.3, (0.0, 0.3, 0.6, 0.9, 1.0)),
        (1, (0.0, 1.0)),
        (5e-1, (0.0, 0.5, 1.0)),
        (0.7, (0.0, 0.7, 1.0)),
    ],
)
def test_a_grid_ends_at_1(step: float, grid: tuple[float, ...]) -> None:
    assert threshold_grid(step) == grid


@pytest.mark.parametrize("step", [0, -0.1, 1.1, 0.00001, float("nan"), float("inf")])
def test_what_is_not_a_step(step: float) -> None:
    with pytest.raises(UsageError) as error:
        threshold_grid(step)
    assert (
        str(error.value)
        == f"step {step:g} is not possible; write a number from 0.0001 to 1, such as 0.02"
    )


hundredths = st.integers(0, 100).map(lambda number: number / 100)
triples_ = st.lists(st.tuples(hundredths, hundredths, hundredths), min_size=1, max_size=15)


@settings(max_examples=12, deadline=None)
@given(triples=triples_)
def test_counts_equal_the_breakdown_at_every_threshold(
    triples: list[tuple[float, float, float]],
) -> None:
    scores = formulations(*triples)
    grid = threshold_grid(0.2)
    result = sweep(scores, evaluated(len(triples)), grid)
    thresholds = [Threshold(">" if point == 0 else ">=", point) for point in grid]
    expected = breakdown(scores, evaluated(len(triples)), thresholds).bins
    assert result.bins["count"].tolist() == expected["count"].tolist()
    assert result.bins[["original", "qr", "human"]].to_numpy().tolist() == (
        expected[["original", "qr", "human"]].to_numpy().tolist()
    )
    assert result.bins["threshold"].tolist() == [point for point in grid for _ in BINS]
    assert np.allclose(result.bins["share"] * len(triples), result.bins["count"])


@settings(deadline=None)
@given(triples=triples_)
def test_areas_equal_the_mean_over_a_fine_grid(triples: list[tuple[float, float, float]]) -> None:
    """Scores are hundredths, so the midpoints of a grid of hundredths integrate without error."""
    original, qr, human = np.array(triples).T
    areas = bin_lengths(original, qr, human).mean(axis=0)
    expected = np.zeros(8)
    for point in (np.arange(100) + 0.5) / 100:
        for triple in triples:
            expected[BINS.index("".join(str(int(score >= point)) for score in triple))] += (
                1 / 100 / len(triples)
            )
    assert areas == pytest.approx(expected, abs=1e-9)


@settings(deadline=None)
@given(triples=st.lists(st.tuples(*[st.floats(0, 1)] * 3), min_size=1, max_size=20))
def test_areas_add_up(triples: list[tuple[float, float, float]]) -> None:
    original, qr, human = np.array(triples).T
    areas = dict(zip(BINS, bin_lengths(original, qr, human).mean(axis=0), strict=True))
    assert sum(areas.values()) == pytest.approx(1)
    assert min(areas.values()) >= 0
    for place, scores in enumerate((original, qr, human)):
        correct = sum(area for bin_, area in areas.items() if bin_[place] == "1")
        assert correct == pytest.approx(scores.mean()), (
            "a formulation is correct on a stretch as long as its mean score"
        )


def test_a_turn_worked_out_by_hand() -> None:
    areas = dict(
        zip(BINS, bin_lengths(np.array([0.25]), np.array([0.5]), np.array([1.0]))[0], strict=True)
    )
    assert areas == {
        "111": 0.25,
        "011": 0.25,
        "001": 0.5,
        "000": 0,
        "100": 0,
        "010": 0,
        "110": 0,
        "101": 0,
    }


def test_rewriters_and_measures_stand_side_by_side() -> None:
    one = formulations((0, 0, 1), (0, 1, 1))
    rewriters = {name: one.rewriters["qr"].frame().assign(n=1.0) for name in ("t5", "bart")}
    scores = formulations_of(
        one.original.frame().assign(n=0.0), rewriters, one.human.frame().assign(n=1.0)
    )
    result = sweep(scores, evaluated(2), (0.0, 1.0))
    assert list(result.bins.columns) == [
        "rewriter", "metric", "threshold", "original", "qr", "human", "count", "share", "ci_low", "ci_high",
    ]  # fmt: skip
    assert list(result.areas.columns) == [
        "rewriter",
        "metric",
        "bin",
        "area",
        "ci_low",
        "ci_high",
        "note",
    ]
    keys = list(
        result.areas[["rewriter", "metric"]].drop_duplicates().itertuples(index=False, name=None)
    )
    assert keys == [("t5", "m"), ("t5", "n"), ("bart", "m"), ("bart", "n")]
    assert len(result.bins) == 4 * 2 * 8 and len(result.areas) == 4 * 8
    assert result.areas.groupby(["rewriter", "metric"])["area"].sum().tolist() == pytest.approx(
        [1, 1, 1, 1]
    )


@pytest.mark.parametrize("score", [-0.1, 1.5])
def test_scores_outside_0_to_1_cannot_be_swept(score: float) -> None:
    with pytest.raises(UsageError) as error:
        sweep(formulations((0, score, 1)), evaluated(1))
    assert (
        str(error.value)
        == "m has scores outside the range 0 to 1; choose a measure such as ndcg_cut_3"
    )


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("score", [-0.1, 1.5])
def test_one_score_of_one_formulation_outside_is_enough(score: float, place: int) -> None:
    odd = [0.5, 0.5, 0.5]
    odd[place] = score
    with pytest.raises(UsageError, match="m has scores outside the range 0 to 1"):
        sweep(formulations((0, 0.5, 1), tuple(odd), (1, 0, 0.5)), evaluated(3))


def test_sweep_passes_through_table_1(shared_data: Path) -> None:
    folder = shared_data / "cast2019" / "qrqa"
    original, qr, human = (
        read_scores(folder / f"{name}_query_metrics.txt")[["ndcg_cut_3"]]
        for name in ("original", "Transformer_Plus_Plus_Q", "human")
    )
    result = sweep(formulations_of(original, {"qr": qr}, human), evaluated(173))
    for point, threshold in ((0.0, ">0"), (0.5, ">=0.5"), (1.0, "=1")):
        counts = result.bins[result.bins["threshold"] == point]["count"].tolist()
        assert counts == TABLE_1["ndcg_cut_3", threshold]
    # the printed scores are ten-thousandths: the midpoints of that grid integrate them exactly
    points = (np.arange(10_000) + 0.5) / 10_000
    answered = [
        (frame["ndcg_cut_3"].to_numpy()[:, None] >= points) for frame in (original, qr, human)
    ]
    expected = pd.Series([
        np.mean(np.all([held == (mark == "1") for held, mark in zip(answered, bin_, strict=True)], axis=0)) for bin_ in BINS
    ])  # fmt: skip
    assert result.areas["area"].tolist() == pytest.approx(expected.tolist(), abs=1e-9)


@given(st.lists(st.tuples(*[st.sampled_from([0.0, 0.2, 0.7, 1.0])] * 3), min_size=1, max_size=20))
@settings(max_examples=20, deadline=None)
def test_without_original_every_pair_of_bins_is_one(
    triples: list[tuple[float, float, float]],
) -> None:
    known = formulations(*triples, metric="ndcg_cut_3")
    whole = sweep(known, evaluated(len(triples)), [0.0, 0.3, 1.0])
    part = sweep(
        formulations_of(None, known.rewriters, known.human),
        evaluated(len(triples)),
        [0.0, 0.3, 1.0],
    )
    keys = ["threshold", "qr", "human"]
    merged = whole.bins.groupby(keys)["count"].sum()
    pd.testing.assert_series_equal(
        part.bins.set_index(keys)["count"].sort_index(), merged.sort_index()
    )
    areas = whole.areas.assign(bin="-" + whole.areas["bin"].str[1:]).groupby("bin")["area"].sum()
    assert part.areas.set_index("bin")["area"].to_dict() == pytest.approx(areas.to_dict())
    assert show(part)


def test_intervals_take_the_conversation_as_unit(shared_data: Path) -> None:
    folder = shared_data / "cast2019" / "qrqa"
    frames = [
        read_scores(folder / f"{name}_query_metrics.txt")[["ndcg_cut_3"]]
        for name in ("original", "Transformer_Plus_Plus_Q", "human")
    ]
    scores = formulations_of(frames[0], {"qr": frames[1]}, frames[2])
    result = sweep(scores, evaluated(173), (0.0, 0.5, 1.0))
    assert (result.evaluated.unit, result.evaluated.units) == ("conversation", 20)
    # the shares of a threshold are those of the breakdown: of the rewriter's errors 001 alone here, for 101 has next to none
    rows = result.bins[result.bins["threshold"] == 0.5]
    same = (
        breakdown(scores, evaluated(173), [Threshold(">=", 0.5)])
        .attribution.set_index("cause")
        .loc["qr"]
    )
    row = rows[(rows["original"] == 0) & (rows["qr"] == 0) & (rows["human"] == 1)].iloc[0]
    assert row["count"] == same["count"] == 25
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((same["ci_low"], same["ci_high"]))
    # statsmodels: the mean stretch of a turn on a constant, clustered by conversation
    lengths = bin_lengths(*(frame["ndcg_cut_3"].to_numpy() for frame in frames))
    conversations = frames[0].index.str.split("_").str[0]
    for place, area in enumerate(result.areas.itertuples()):
        model = sm.OLS(lengths[:, place], np.ones(173)).fit(
            cov_type="cluster", cov_kwds={"groups": pd.factorize(conversations)[0]}
        )
        assert area.area == pytest.approx(model.params[0])
        if not np.isnan(area.ci_low):
            # of a logit interval, the half width in logits is that of the mean by its slope
            half = (
                np.log(area.ci_high / (1 - area.ci_high)) - np.log(area.ci_low / (1 - area.ci_low))
            ) / 2
            error = half * area.area * (1 - area.area) / stats.t.ppf(0.975, 19)
            assert error == pytest.approx(model.bse[0], rel=0.06), "CR2 against CR1"


def test_a_line_is_announced_where_one_is_drawn() -> None:
    result = sweep(formulations((0, 0.5, 1), (0.25, 0.5, 1), metric="ndcg_cut_3"), evaluated(2))
    captions = {
        cut: next(block.caption for block in show(result, marked=cut) if isinstance(block, Figure))
        for cut in (("ndcg_cut_3", ">=0.5"), ("ndcg_cut_3", "=1"), ("map", ">=0.5"), None)
    }
    assert [cut for cut, caption in captions.items() if "Dashed" in caption] == [
        ("ndcg_cut_3", ">=0.5")
    ]
    assert captions["ndcg_cut_3", ">=0.5"].endswith(" Dashed line: NDCG@3 ≥ 0.5, as in the text.")


def test_the_note_says_where_units_are_too_few() -> None:
    result = sweep(
        formulations((0, 0.5, 1), (0.25, 0.5, 1), (0, 0, 0.5), metric="map"),
        evaluated(3),
        (0.0, 0.5),
    )
    assert result.areas[["ci_low", "ci_high"]].isna().all(axis=None) and result.bins[
        ["ci_low", "ci_high"]
    ].isna().all(axis=None)
    table = next(
        block for block in show(result) if isinstance(block, TableBlock) and block.of == "areas"
    )
    assert not any("to" in row[-1] for row in table.rows) and "at least 5 required" in table.note
