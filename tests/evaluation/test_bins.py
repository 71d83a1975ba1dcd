"""Bins of three formulations; the counts of whole tables are in the tests of breakdown and sweep."""

from __future__ import annotations

import pandas as pd

from robustcs.evaluation.bins import Binned
from robustcs.evaluation.thresholds import parse_threshold
from tests.formulations import formulations_of

TURNS = ["1_1", "1_2", "1_3"]
SCORES = pd.DataFrame({"P_1": [0.0, 1.0, 1.0], "ndcg_cut_3": [0.0, 0.5, 1.0]}, index=TURNS)


def test_measures_of_other_values_than_0_and_1_are_graded() -> None:
    assert list(formulations_of(SCORES, {"qr": SCORES}, SCORES).graded().measures) == ["ndcg_cut_3"]
    whole = SCORES.drop(columns="ndcg_cut_3")
    assert list(formulations_of(None, {"qr": whole}, whole).graded().measures) == ["P_1"]


def test_graded_measures_keep_the_original_or_its_absence() -> None:
    other = 1 - SCORES
    graded = formulations_of(SCORES, {"qr": other}, other).graded()
    assert graded.original is not None and list(graded.original) == ["ndcg_cut_3"]
    assert graded.original["ndcg_cut_3"].tolist() == [0, 0.5, 1]
    unknown = formulations_of(None, {"qr": SCORES}, SCORES).graded()
    assert unknown.original is None and list(unknown.measures) == ["ndcg_cut_3"]


def test_thresholds_that_mean_the_same_for_a_measure_stand_once() -> None:
    scores, thresholds = (
        formulations_of(None, {"qr": SCORES}, SCORES),
        [*map(parse_threshold, (">0", ">=0.5", "=1"))],
    )
    binned = Binned.of(scores, thresholds)
    assert [cut.metric for cut in binned.cuts] == ["P_1", *["ndcg_cut_3"] * 3]
    assert len(Binned.of(scores, thresholds, distinct=False).cuts) == 6
    # every turn of two equal formulations is in the first or the last bin
    assert binned.counts().tolist() == [[1, 0, 0, 2], [1, 0, 0, 2], [1, 0, 0, 2], [2, 0, 0, 1]]
