"""The sentences of a sweep, on tables made by hand, and the test behind them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.studies.sweep.analysis import Sweep, sweep
from robustcs.studies.sweep.findings import ahead, finding
from tests.formulations import formulations_of

GRID = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def made(names: tuple[str, ...] = ("qr",), turns: int = 40) -> Sweep:
    generator = np.random.default_rng(5)
    index = pd.Index([f"{turn // 5 + 1}_{turn % 5 + 1}" for turn in range(turns)], name="turn")
    rewriters, human = (
        {
            name: pd.DataFrame(
                {"ndcg_cut_3": np.clip(generator.normal(0.5, 0.3, turns), 0, 1)}, index=index
            )
            for name in some
        }
        for some in (names, ("human",))
    )
    scores = formulations_of(None, rewriters, human["human"])
    return sweep(scores, Evaluated(EvaluationPolicy(), "runs", turns, 0), GRID)


def blamed(result: Sweep, rewriter: str, p: list[float], difference: list[float]) -> Sweep:
    """``result`` whose rewriter has these adjusted p-values and differences along the grid; raw p-values are all small."""
    blame = result.blame.assign(p=0.001)
    rows = (blame["rewriter"] == rewriter).to_numpy()
    blame.loc[rows, "p_corrected"], blame.loc[rows, "difference"] = p, difference
    areas = {"qa": 0.44, "qr": 0.11, "correct": 0.45}
    causes = result.causes.copy()
    own = causes["rewriter"] == rewriter
    causes.loc[own, "area"] = causes["cause"][own].map(areas)
    return result.changed(blame=blame, causes=causes)


MEAN = ". Averaged over all thresholds, the ranker fails on 44% of turns and the rewriter on 11%."


@pytest.mark.parametrize(
    ("p", "difference", "said"),
    [
        ([0.01] * 2 + [0.5] * 5 + [0.02] * 4, [-0.2] * 5 + [0.2] * 6,
         "Blame depends on the threshold: the ranker fails more often at NDCG@3 ≥ 0.7 to 1, the rewriter fails more often at"
         " NDCG@3 > 0 to 0.1 (adjusted p ≤ 0.05, max-T over 11 comparisons)"),
        ([0.01] * 2 + [0.5] * 5 + [0.06] * 4, [-0.2] * 5 + [0.2] * 6,
         "The rewriter fails more often than the ranker at NDCG@3 > 0 to 0.1 (adjusted p ≤ 0.05, max-T over 11 comparisons)"),
        ([0.06] * 2 + [0.5] * 5 + [0.02] * 3 + [0.2], [-0.2] * 5 + [0.2] * 6,
         "The ranker fails more often than the rewriter at NDCG@3 ≥ 0.7 to 0.9 (adjusted p ≤ 0.05, max-T over 11 comparisons)"),
        ([0.01, 0.5, 0.01, 0.01] + [0.5] * 6 + [0.03], [0.2] * 11,
         "The ranker fails more often than the rewriter at NDCG@3 > 0, ≥ 0.2 to 0.3, ≥ 1 (adjusted p ≤ 0.05, max-T over 11"
         " comparisons)"),
        # raw p-values are all below .05
        ([0.5, 0.07] + [0.5] * 9, [0.2] * 11,
         "The data do not show at any threshold of NDCG@3 whether the ranker or the rewriter fails more often (smallest"
         " adjusted p = 0.070, max-T over 11 comparisons)"),
    ],
)  # fmt: skip
def test_the_sentence_follows_from_the_table(
    p: list[float], difference: list[float], said: str
) -> None:
    assert finding(blamed(made(), "qr", p, difference)) == (said + MEAN,)


def test_of_several_rewriters_the_best_is_named() -> None:
    result = blamed(
        blamed(made(("t5", "bert")), "t5", [0.9] * 11, [0.1] * 11), "bert", [0.01] * 11, [0.1] * 11
    )
    causes = result.causes.copy()
    causes.loc[(causes["rewriter"] == "bert") & (causes["cause"] == "correct"), "area"] = 0.46
    (said,) = finding(result.changed(causes=causes))
    assert said.startswith(
        "The ranker fails more often than the rewriter bert at NDCG@3 > 0 to 1 (adjusted p ≤ 0.05, max-T over 22"
    )
    assert finding(result, ["map"]) == ()


def test_the_best_rewriter_has_most_correct_turns_not_most_errors() -> None:
    result = made(("t5", "bert"))
    areas = {
        "t5": {"qa": 0.1, "qr": 0.8, "correct": 0.1},
        "bert": {"qa": 0.1, "qr": 0.3, "correct": 0.6},
    }
    pairs = zip(result.causes["rewriter"], result.causes["cause"], strict=True)
    (said,) = finding(
        result.changed(
            causes=result.causes.assign(area=[areas[name][cause] for name, cause in pairs])
        )
    )
    assert said.endswith(" the ranker fails on 10% of turns and the rewriter bert on 30%.")


def test_ahead_takes_the_sign() -> None:
    blame = made().blame.assign(p_corrected=0.01, difference=[-0.1] * 6 + [0.1] * 5)
    rows = made().changed(blame=blame).rows("blame")
    assert (ahead(rows, -1), ahead(rows, 1)) == ("> 0 to 0.5", "≥ 0.6 to 1")


def test_blame_counts_errors_and_adjusts_over_the_whole_grid() -> None:
    """Eight conversations: every sign pattern written out."""
    result = made(("t5", "bert"))
    units = np.arange(40) // 5
    sums = []
    generator = np.random.default_rng(5)
    scores = [np.clip(generator.normal(0.5, 0.3, 40), 0, 1) for _ in range(3)]
    for row in result.blame.itertuples():
        right = [
            (score > 1e-9) if row.threshold == 0 else (score >= row.threshold - 1e-9)
            for score in scores
        ]
        qr, human = right[("t5", "bert").index(row.rewriter)], right[2]
        assert (row.qa, row.qr) == ((~human).sum(), (human & ~qr).sum())
        assert row.difference == pytest.approx((row.qa - row.qr) / 40)
        sums.append(np.bincount(units, (~human) * 1.0 - (human & ~qr)))
    table = np.array(sums)
    norms = np.maximum(np.sqrt((table**2).sum(axis=1)), 1e-9)
    statistics = np.abs(np.array(list(product((-1, 1), repeat=8))) @ table.T) / norms
    observed = np.abs(table.sum(axis=1)) / norms
    largest = int(observed.argmax())
    expected = (statistics.max(axis=1) >= observed[largest] - 1e-9).mean()
    assert result.blame["p_corrected"][largest] == pytest.approx(
        max(expected, result.blame["p"][largest])
    )
    assert (result.blame["p_corrected"] >= result.blame["p"]).all()
