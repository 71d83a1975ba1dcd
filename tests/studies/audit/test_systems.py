"""Rankings of systems under people and a judge: what becomes of every pair, against its definition."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import kendalltau

from robustcs.statistics.families import max_t
from robustcs.statistics.units import units_of
from robustcs.studies.audit.analysis import Audit
from robustcs.studies.audit.systems import SummedScores, mean_rows, reversal_rows, system_rows

NAMES = ("a", "b", "c", "d")


def scored(seed: int, quality: tuple[float, ...], units: int = 14) -> SummedScores:
    random = np.random.default_rng(seed)
    scores = np.array(quality)[:, None] + 0.05 * random.normal(size=(len(quality), units))
    return SummedScores(scores, units_of([f"t{place}" for place in range(units)]))


def test_every_pair_by_its_definition() -> None:
    human, model = scored(0, (0.1, 0.5, 0.52, 0.9)), scored(1, (0.1, 0.6, 0.58, 0.3))
    rows, summary = reversal_rows("j", "ndcg", NAMES, human, model, seed=0)
    found = {
        (row["first"], row["second"]): row for row in Audit.reversals.frame(rows).to_dict("records")
    }
    told = []
    for side in (human, model):
        pairs = np.array([side.sums[i] - side.sums[j] for i, j in combinations(range(4), 2)])
        told.append(max_t(pairs, 0) <= 0.05)
    counts = dict.fromkeys(("reversed", "swapped", "lost", "gained"), 0)
    for place, (i, j) in enumerate(combinations(range(4), 2)):
        own, other = (float(side.means[i] - side.means[j]) for side in (human, model))
        expected = ""
        if own * other < 0:
            expected = "reversed" if told[0][place] or told[1][place] else "swapped"
        elif told[0][place] != told[1][place]:
            expected = "lost" if told[0][place] else "gained"
        row = found[NAMES[i], NAMES[j]] if expected else {"change": ""}
        assert row["change"] == expected
        assert ((NAMES[i], NAMES[j]) in found) == bool(expected)
        if expected:
            counts[expected] += 1
            assert (row["human_difference"], row["judge_difference"]) == pytest.approx((own, other))
            assert (row["human_p"] <= 0.05) == (not row["human_low"] <= 0 <= row["human_high"])
    # d falls from the top to below b and c
    assert {("b", "d"), ("c", "d")} <= {
        pair for pair, row in found.items() if row["change"] == "reversed"
    }
    assert dict(zip([field.name for field in Audit.conclusions.fields], summary, strict=True)) == {
        "judge": "j", "metric": "ndcg", "pairs": 6, "human_apart": int(told[0].sum()), "judge_apart": int(told[1].sum()),
        **counts, "note": "",
    }  # fmt: skip


def test_a_judge_that_says_the_same_changes_nothing() -> None:
    human = scored(0, (0.1, 0.5, 0.52, 0.9))
    assert reversal_rows("j", "ndcg", NAMES, human, human, seed=0)[0] == []
    assert [row[3] for row in system_rows("j", "ndcg", human, human, True, 0)] == [
        1.0,
        1.0,
        pytest.approx(1.0),
    ]


def test_different_topics_are_resampled_apart_and_said() -> None:
    human, model = scored(0, (0.1, 0.5, 0.52, 0.9)), scored(1, (0.1, 0.6, 0.58, 0.3), units=9)
    rows = system_rows("j", "ndcg", human, model, False, 0)
    assert rows[0][3] == pytest.approx(kendalltau(human.means, model.means).statistic)
    assert rows[0][6:8] == (14, 9)
    assert all("different topics" in row[-1] for row in rows)
    assert mean_rows("j", "ndcg", NAMES, human, model)[0] == (
        "j",
        "ndcg",
        "a",
        human.means[0],
        model.means[0],
    )


def test_few_units_say_that_no_pair_can_differ_significantly() -> None:
    human = scored(0, (0.1, 0.5, 0.52, 0.9), units=5)
    _, summary = reversal_rows("j", "ndcg", NAMES, human, human, seed=0)
    assert summary[3] == 0 and "no adjusted p can reach 0.05" in summary[-1]
