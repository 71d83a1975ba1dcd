"""Decisions of the gate, on cases made by hand and on planted drops."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robustcs
from robustcs.studies.compare import gate
from robustcs.studies.compare.gate import (
    Decision,
    Evidence,
    GateCase,
    decided,
    measure_label,
    no_worse,
    parse_condition,
)

TURNS = tuple(f"{topic}_{depth}" for topic in range(1, 11) for depth in range(1, 8))
#: Differences without a mean: by turn, and of ten conversations.
WAVE = np.tile([0.3, -0.3, 0.2, -0.2, 0.1, -0.1, 0.0], 10)
TIDE = np.repeat([0.2, -0.2, 0.15, -0.15, 0.1, -0.1, 0.05, -0.05, 0.12, -0.12], 7)


def case(drop: np.ndarray, condition: str = "drop>0.02", **more: Any) -> GateCase:
    what = no_worse(float(condition)) if condition[0].isdigit() else parse_condition(condition)
    return GateCase(
        what,
        more.pop("run", "qr"),
        more.pop("metric", "ndcg_cut_3"),
        more.pop("turns", TURNS),
        drop,
        **more,
    )


def one(
    drop: np.ndarray, condition: str = "drop>0.02", evidence: Evidence = "test", **more: Any
) -> Decision:
    return decided([case(drop, condition, **more)], evidence, "conversation", 0)[0][0]


@pytest.mark.parametrize(
    ("drop", "condition", "problems", "outcome", "reason"),
    [
        (0.1 + WAVE, "drop>0.02", (), "failed", "the mean drops by 0.100, significantly more than 0.02 (adjusted p = 0.0010)"),
        (0.1 + WAVE, "drop>0.02", ("3 turns are gone",), "failed",
         "the mean drops by 0.100, significantly more than 0.02 (adjusted p = 0.0010); 3 turns are gone"),
        (0.1 + WAVE, "p<0.05", (), "failed", "the mean drops by 0.100 significantly (adjusted p = 0.0010)"),
        (0.1 + WAVE, "p<0.0005", (), "cannot tell",
         "the mean drops by 0.100, but not significantly (adjusted p = 0.0010);"
         " no p-value can reach 0.0005: the smallest possible is 0.00098"),
        (0.04 + TIDE, "drop>0.02", (), "cannot tell",
         "the mean drops by 0.040, but not significantly more than 0.02 (adjusted p = 0.336)"),
        (0.04 + TIDE, "drop>0.02", ("2 turns are gone",), "cannot tell",
         "the mean drops by 0.040, but not significantly more than 0.02 (adjusted p = 0.336); 2 turns are gone"),
        (0.01 + TIDE, "drop>0.02", (), "passed", "the mean drops by 0.010, which the condition allows"),
        (0.01 + TIDE, "drop>0", (), "cannot tell", "the mean drops by 0.010, but not significantly (adjusted p = 0.419)"),
        (0.01 + TIDE, "drop>0.02", ("1 turn is gone",), "cannot tell", "the mean drops by 0.010; 1 turn is gone"),
        (-0.1 + WAVE, "drop>0.02", (), "passed", "the mean rises by 0.100"),
        (-0.1 + WAVE, "p<0.05", (), "passed", "the mean rises by 0.100"),
        (WAVE, "drop>0.02", (), "passed", "the mean does not change"),
        (0 * WAVE, "drop>0", (), "passed", "no turn differs"),
        (0 * WAVE, "0.01", (), "passed", "no turn differs"),
        (0 * WAVE, "0.01", ("1 turn is gone",), "cannot tell", "1 turn is gone"),
        (np.full(70, 0.02), "drop>0.02", (), "passed", "the mean drops by 0.020, which the condition allows"),
        ((np.arange(70) % 2).astype(float), "qr>0.05", (), "failed",
         "the share of rewriter errors grows by 50.0 percentage points, significantly more than 5 percentage points (adjusted p"
         " = 0.0010)"),
        (-(np.arange(70) % 2).astype(float), "qa>0.05", (), "passed", "the share of QA errors falls by 50.0 percentage points"),
    ],
)  # fmt: skip
def test_order_of_decisions(
    drop: np.ndarray, condition: str, problems: tuple[str, ...], outcome: str, reason: str
) -> None:
    found = one(drop, condition, problems=problems, alike=not drop.any())
    assert (found.outcome, found.reason) == (outcome, reason)


@pytest.mark.parametrize(
    ("drop", "outcome", "reason"),
    [
        (
            0.1 + WAVE,
            "failed",
            "the mean drops by 0.100, significantly more than 0.03 (adjusted p = 0.0010)",
        ),
        (
            TIDE * 0.12,
            "passed",
            "the 95% CI of the drop, −0.013 to 0.013, excludes a drop larger than 0.03",
        ),
        (
            TIDE * 0.6,
            "cannot tell",
            "the 95% CI of the drop, −0.063 to 0.063, includes a drop larger than 0.03",
        ),
        (
            -0.05 + TIDE * 0.6,
            "passed",
            "the 95% CI of the drop, −0.113 to 0.013, excludes a drop larger than 0.03",
        ),
        (
            0.04 + TIDE / 2,
            "cannot tell",
            "the mean drops by 0.040, but not significantly more than 0.03 (adjusted p = 0.336)",
        ),
        (
            np.where(np.arange(70) < 14, 0.1, 0.0),
            "cannot tell",
            "no interval: only 2 of 10 conversations differ",
        ),
    ],
)
def test_no_worse_than(drop: np.ndarray, outcome: str, reason: str) -> None:
    """It passes only where the interval excludes a larger drop: a drop that is not significant is not enough."""
    found = one(drop, "0.03")
    assert found.outcome == outcome and found.reason.startswith(reason)


def test_a_case_that_all_signs_leave_open_says_so() -> None:
    found = one(np.full(4, 0.1), turns=tuple("abcd"))
    assert (found.outcome, found.p) == ("cannot tell", 1 / 16)
    assert found.reason.endswith("; no p-value can reach 0.05: the smallest possible is 0.062")


def test_p_is_max_t_over_all_cases_aligned_by_conversation() -> None:
    """Against all sign patterns, step down, one-sided; the second case lacks three conversations, the third differs nowhere."""
    rng = np.random.default_rng(4)
    some = tuple(turn for turn in TURNS if int(turn.split("_")[0]) > 3)
    drops = [0.06 + rng.normal(0, 0.1, 70), 0.05 + rng.normal(0, 0.1, len(some)), np.zeros(70)]
    cases = [case(drops[0]), case(drops[1], "p<0.05", turns=some), case(drops[2], alike=True)]
    found, how = decided(cases, "test", "conversation", 0)
    sums = np.zeros((2, 10))
    for row, (turns, drop) in enumerate(((TURNS, drops[0] - 0.02), (some, drops[1]))):
        for turn, value in zip(turns, drop, strict=True):
            sums[row, int(turn.split("_")[0]) - 1] += value
    signs = np.array(list(product((1, -1), repeat=10)))
    totals = signs @ (sums / np.sqrt((sums**2).sum(axis=1, keepdims=True))).T
    observed = totals[0]
    raw = [float((totals[:, row] >= observed[row] - 1e-9).mean()) for row in (0, 1)]
    first, last = np.argsort(-observed)
    joint = float((totals.max(axis=1) >= observed[first] - 1e-9).mean())
    adjusted = {first: joint, last: max(joint, raw[last])}
    assert [one.p for one in found[:2]] == pytest.approx(raw)
    assert [one.p_corrected for one in found[:2]] == pytest.approx([adjusted[0], adjusted[1]])
    assert (
        how == "p adjusted by max-T over 2 cases, 10 conversations"
        and found[2].reason == "no turn differs"
    )


def test_the_adjusted_p_decides() -> None:
    """A drop that is significant alone is not so among thirty other cases."""
    rng = np.random.default_rng(1)
    drop = 0.1 + TIDE
    others = [
        case(-0.02 + rng.normal(0, 0.1, 70) + rng.normal(0, 0.2, 10).repeat(7), run=f"r{i}")
        for i in range(30)
    ]
    alone, among = (
        one(drop, "drop>0"),
        decided([case(drop, "drop>0"), *others], "test", "conversation", 0)[0][0],
    )
    assert alone.outcome == "failed" and among.outcome == "cannot tell"
    assert alone.p == among.p < 0.05 < among.p_corrected


# ---------------------------------------------------------------- the hole model and the bounds


def test_expected_is_the_mean_over_the_draws() -> None:
    rng = np.random.default_rng(2)
    drawn = 0.05 + TIDE / 2 + rng.normal(0, 0.02, (20, 1)) + rng.normal(0, 0.05, (20, 70))
    found = one(0.04 + TIDE, "drop>0.02", "expected", drawn=drawn)
    assert found.expected == pytest.approx(float(drawn.mean())) and found.drop == pytest.approx(
        0.04
    )
    signs = np.array(list(product((1, -1), repeat=10)))
    tails = []
    for draw in drawn:
        sums = (draw - 0.02).reshape(10, 7).sum(axis=1)
        tails.append((signs @ sums >= sums.sum() - 1e-12).mean())
    assert found.p == found.p_corrected == pytest.approx(np.mean(tails))


def test_draws_that_disagree_are_no_evidence() -> None:
    """The mean of the draws is the same; half of them have no drop at all."""
    agree = np.tile(0.1 + TIDE / 4, (20, 1))
    apart = agree + np.repeat([[0.1], [-0.1]], 10, axis=0)
    first, second = (
        one(0.1 + TIDE / 4, evidence="expected", drawn=drawn) for drawn in (agree, apart)
    )
    assert (first.outcome, second.outcome) == ("failed", "cannot tell")
    assert first.expected == pytest.approx(second.expected) and second.p_corrected > 0.3
    assert first.reason.startswith(
        "the mean drops by 0.100 (0.100 expected by the hole model), significantly more than 0.02"
    )


@pytest.mark.parametrize(
    ("measured", "expected", "outcome"),
    [
        (0.04, 0.0, "cannot tell"),
        (0.0, 0.04, "cannot tell"),
        (0.01, 0.01, "passed"),
        (0.01, 0.2, "failed"),
    ],
)
def test_a_drop_may_be_measured_or_expected(measured: float, expected: float, outcome: str) -> None:
    assert (
        one(measured + TIDE, evidence="expected", drawn=np.tile(expected + TIDE, (20, 1))).outcome
        == outcome
    )


def test_without_draws_only_what_is_alike_passes() -> None:
    why = "the old state is a report"
    for drop, alike, outcome in (
        (0 * WAVE, True, "passed"),
        (0 * WAVE, False, "cannot tell"),
        (-0.1 + WAVE, False, "cannot tell"),
    ):
        found = one(drop, evidence="expected", undrawn=why, alike=alike)
        assert (found.outcome, found.reason) == (outcome, "no turn differs" if alike else why)


def test_no_worse_than_under_draws() -> None:
    """The interval takes in that the draws disagree; there is none where few conversations differ."""
    steady, apart = (
        np.tile(TIDE / 10, (20, 1)),
        TIDE / 10 + np.repeat([[0.05], [-0.05]], 10, axis=0),
    )
    few = np.tile(np.where(np.arange(70) < 14, 0.02, 0.0), (20, 1))
    found = [one(TIDE / 10, "0.03", "expected", drawn=drawn) for drawn in (steady, apart, few)]
    assert [one.outcome for one in found] == ["passed", "cannot tell", "cannot tell"]
    assert (
        found[1].ci_high > 0.05 and found[2].reason == "no interval: too few conversations differ"
    )


@pytest.mark.parametrize(
    ("low", "outcome"), [(0.03, "failed"), (0.02, "cannot tell"), (float("nan"), "cannot tell")]
)
def test_bounds_must_stand_behind_a_failure(low: float, outcome: str) -> None:
    assert one(0.1 + WAVE, evidence="bounds", low=low).outcome == outcome
    assert one(0.1 + WAVE, low=low).outcome == "failed"


@pytest.mark.parametrize(
    ("high", "outcome"), [(0.03, "passed"), (0.04, "cannot tell"), (float("nan"), "cannot tell")]
)
def test_bounds_must_stand_behind_no_worse_than(high: float, outcome: str) -> None:
    assert one(TIDE / 10, "0.03", "bounds", high=high).outcome == outcome


def test_labels() -> None:
    assert (measure_label("ndcg_cut_3 >=0.5"), measure_label("P_1"), measure_label("")) == (
        "NDCG@3 ≥ 0.5",
        "P@1",
        "",
    )


# ---------------------------------------------------------------- error rates on CAsT 2019


@pytest.fixture(scope="module")
def differences(shared_data: Path) -> tuple[tuple[str, ...], np.ndarray]:
    """173 turns, and what the raw turns and Human's rewrites lose to the rewriter in each: float64[2, 173]."""
    folder = shared_data / "cast2019"
    runs = {name: folder / "runs" / f"bert_base_{name}.trec.gz" for name in ("cv", "raw", "oracle")}
    result = robustcs.evaluate(qrels=folder / "qrels.txt.gz", runs=runs, metrics=["ndcg_cut_3"])
    scores = result.tables["turns"].pivot(index="turn", columns="system", values="value")
    return tuple(scores.index), np.array(
        [scores["cv"] - scores[name] for name in ("raw", "oracle")]
    )


TRIALS = 200


def outcomes(
    differences: tuple[tuple[str, ...], np.ndarray],
    planted: float,
    condition: str,
    monkeypatch: pytest.MonkeyPatch,
) -> list[set[str]]:
    """The outcomes of 200 trials: real differences of two systems whose signs are random by conversation, and a drop."""
    monkeypatch.setattr(gate, "DRAWS", 1_999)
    turns, drops = differences
    topics, codes = np.unique([turn.split("_")[0] for turn in turns], return_inverse=True)
    rng = np.random.default_rng(11)
    found = []
    for _ in range(TRIALS):
        signs = rng.choice([-1.0, 1.0], len(topics))[codes]
        cases = [
            case(signs * drop + planted, condition, run=f"r{row}", turns=turns)
            for row, drop in enumerate(drops)
        ]
        found.append({one.outcome for one in decided(cases, "test", "conversation", 0)[0]})
    return found


@pytest.mark.long
@pytest.mark.parametrize(
    ("planted", "condition", "most"),
    # half the limit, and the limit itself, with two standard errors of 200 trials
    [(0.01, "drop>0.02", 0.05), (0.02, "drop>0.02", 0.08), (0.0, "p<0.05", 0.08)],
)
def test_drops_up_to_the_limit_hardly_ever_fail(
    differences: Any, planted: float, condition: str, most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (
        sum("failed" in one for one in outcomes(differences, planted, condition, monkeypatch))
        <= most * TRIALS
    )


def test_large_drops_fail(differences: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (
        sum("failed" in one for one in outcomes(differences, 0.15, "drop>0.02", monkeypatch))
        >= 0.9 * TRIALS
    )


@pytest.mark.long
def test_drops_at_the_margin_hardly_ever_pass(
    differences: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A 95% interval excludes the margin from below in 2.5%, for either case; all cases have to pass."""
    assert (
        sum(one == {"passed"} for one in outcomes(differences, 0.1, "0.1", monkeypatch))
        <= 0.05 * TRIALS
    )
    assert (
        sum(one == {"passed"} for one in outcomes(differences, 0.0, "0.2", monkeypatch))
        >= 0.5 * TRIALS
    )
