"""Sentences about unjudged passages, on hand-made tables."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from robustcs.evaluation.groups import Group
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated, Table
from robustcs.studies.unjudged.analysis import (
    ONLY_RELEVANT,
    Gaps,
    Settings,
    Unjudged,
    measured_drops,
)
from robustcs.studies.unjudged.findings import unjudged_findings, verdicts
from tests.evaluation.test_augmentation import as_qrels

ROLES = {"human": "human", "t5": "qr", "bart": "qr"}
GROUPS = {"manual": Group("human", ("m1", "m2"))}
NAN = float("nan")
UNJUDGED = {"human": 0, "t5": 30, "bart": 60, "m1": 90, "m2": 120}
SCORES = {"human": 0.8, "t5": 0.6, "bart": 0.5, "m1": 0.7, "m2": 0.66}
#: group → drop, expected with its interval, share of unjudged passages with its interval, adjusted p
DROPS = {
    "t5": (0.2, 0.17, 0.1, 0.25, 0.15, 0.05, 0.3, 0.01),
    "bart": (0.3, 0.33, 0.2, 0.46, NAN, NAN, NAN, 0.02),
    "manual": (0.12, 0.06, -0.02, 0.14, 0.5, 0.1, 0.9, 0.3),
}


def filled(name: str, rows: list[dict[str, Any]]) -> Table:
    spec = next(spec for spec in Unjudged.declared if spec.name == name)
    return spec.of(rows)


def frame(name: str, rows: list[dict[str, Any]]) -> pd.DataFrame:
    return filled(name, rows).frame()


def expected(value: float, low: float, high: float, *share: float) -> dict[str, float]:
    names = ("hole_share", "hole_share_low", "hole_share_high", "expected_p")
    return {"expected": value, "expected_low": low, "expected_high": high, "holes_low": low, "holes_high": high,
            **dict(zip(names, share, strict=True))}  # fmt: skip


def made(**options: Any) -> Unjudged:
    """Drops of two rewriters and a group; pairs human–bart and human–t5 differ after adjustment, human–m1 only before."""
    settings = Settings(3, "pool", 4, {}, **options)
    rates = [
        {"system": run, "depth": 3, "retrieved": 300, "judged": 300 - number, "unjudged": number, "share": number / 300,
         "judged_share": 1 - number / 300, "short": 0, "missing": 0, "judged_later": None}
        for run, number in UNJUDGED.items()
    ]  # fmt: skip
    metrics = ("P_1", "ndcg_cut_3")
    bounds = [
        {"system": run, "metric": metric, "low": score - 0.1, "score": score, "high": score + 0.1, "condensed": score,
         "unjudged": 1, "turns": 1, "scope": "pool", "max_grade": 4, "exact": True}
        for metric in metrics for run, score in SCORES.items()
    ]  # fmt: skip
    p = {
        "t5": (0.1, 0.25, 0.01),
        "bart": (0.2, 0.46, 0.02),
        "m1": (0.01, 0.2, 0.06),
        "m2": (-0.05, 0.2, 0.4),
    }
    pairs = [
        {"metric": metric, "first": "human", "second": run, "difference": SCORES["human"] - SCORES[run],
         "low": -0.01 if run == "m1" else 0.02, "high": 0.5, "separable": run != "m1", "exact": True,
         **expected(0.1, low, high, NAN, NAN, NAN, adjusted)}
        for metric in metrics for run, (low, high, adjusted) in p.items()
    ]  # fmt: skip
    drops = [
        {"group": group, "metric": metric, "baseline": "human", "sets": 1, "drop": drop, **expected(*values)}
        for metric in metrics for group, (drop, *values) in DROPS.items()
    ]  # fmt: skip
    words = {"order": "first > second expected", "differ": "differ on other conversations"}
    tips = [
        {"first": "human", "second": group, "metric": metric, "conclusion": words[kind] if group != "manual" or kind == "order"
         else "no difference shown on other conversations", "scope": scope, "factor_below": below, "factor_above": above}
        for metric in metrics
        for group, kind, scope, below, above in (
            ("t5", "order", "all", 0.1, NAN), ("t5", "order", "unique", 0.05, NAN),
            ("t5", "differ", "all", 0.42, NAN), ("t5", "differ", "unique", 0.31, 7.0),
            ("bart", "differ", "all", NAN, NAN), ("bart", "differ", "unique", NAN, NAN),
            ("manual", "order", "all", NAN, 2.5), ("manual", "order", "unique", NAN, NAN),
            ("manual", "differ", "all", 0.9, 1.1), ("manual", "differ", "unique", 0.9, 1.1),
        )
    ]  # fmt: skip
    found = {"rates": rates, "bounds": bounds, "pairs": pairs, "drops": drops, "tipping": tips}
    content = {spec.name: filled(spec.name, found.get(spec.name, [])) for spec in Unjudged.declared}
    gaps = Gaps([], as_qrels({}), [], EvaluationPolicy(), settings)
    return measured(
        Unjudged(Evaluated(EvaluationPolicy(), "runs", 100, 0), settings, gaps, content=content)
    )


def measured(result: Unjudged) -> Unjudged:
    compared = {"t5": Group("human", ("t5",)), "bart": Group("human", ("bart",)), **GROUPS}
    return result.changed(
        measured=measured_drops(result.bounds, result.rates, result.pairs, compared)
    )


def drop_of(name: str, result: Unjudged) -> str:
    return next(
        text
        for text in unjudged_findings(result, GROUPS)
        if text.startswith(f"From Human to {name}, ")
    )


def test_a_drop_is_measured_expected_and_tipped() -> None:
    said = drop_of("t5", made())
    assert said.startswith(
        "From Human to t5, NDCG@3 drops by 0.200, from 0.800 to 0.600, if unjudged passages count as not relevant. Of the top"
        " 3 passages, 10% of t5 and 0% of Human are unjudged. With the unjudged passages in the top 10 graded by the hole"
        " model, the expected drop is 0.170 (95% CI 0.100 to 0.250). Unjudged passages account for"
        " 15% of the measured drop (95% CI 5% to 30%). The difference stays significant unless the odds of relevance of"
        " unjudged passages are less than 0.42 times as high as predicted (for those that only one of the two retrieved: unless"
        " less than 0.31 times or more than 7 times)."
    )
    assert (
        "Whatever grades the unjudged passages of all runs have, the drop lies between 0.020 and 0.500: a loss"
        in said
    )


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.001, 0.5, "a loss on these turns is proven"), (0.0, 0.5, "these turns may show a loss or a gain"),
        (-0.5, 0.001, "these turns may show a loss or a gain"), (-0.5, 0.0, "there is no loss on these turns"),
    ],
)  # fmt: skip
def test_bounds_prove_a_drop_if_both_have_its_sign(low: float, high: float, words: str) -> None:
    whole = made()
    assert words in drop_of(
        "t5", measured(whole.changed(pairs=whole.pairs.assign(low=low, high=high)))
    )


def test_a_share_outside_0_to_1_is_never_printed() -> None:
    whole = made()
    said = drop_of("bart", whole)
    assert "does not show that unjudged passages account for any of the measured drop" in said
    wide = whole.changed(
        drops=whole.drops.assign(holes_high=whole.drops["holes_low"] + whole.drops["drop"] + 0.01)
    )
    tiny = drop_of("bart", wide)
    assert (
        "too small to estimate the share due to unjudged passages" in tiny
        and "account for" not in tiny
    )
    assert (
        "significant if the odds of relevance of unjudged passages are multiplied by any factor from 1/50 to 50"
        in said
    )


def test_what_is_not_significant_is_tipped_by_its_sign() -> None:
    said = drop_of("the sets of manual", made())
    assert "Of the top 3 passages, 35% of the sets of manual and 0% of Human are unjudged." in said
    assert (
        "The sign of the expected difference holds unless the odds of relevance of unjudged passages are more than 2.5"
        in said
    )
    assert "stays significant" not in said


def test_pairs_that_differ_are_counted_by_the_adjusted_p() -> None:
    """Three intervals leave out 0; two adjusted p are at most .05."""
    [orders] = [text for text in unjudged_findings(made(), GROUPS) if "pairs of systems" in text]
    assert orders.startswith(
        "With unjudged passages graded by the hole model, 2 of 4 pairs of systems differ significantly in NDCG@3 (max-T over"
        " the draws, adjusted for all pairs and groups). Whatever grades the unjudged passages of all runs have, the order by"
        " NDCG@3 on these turns is the same for 3 of 4 pairs of systems. Some grades change the order of Human and m1."
    )
    assert "each pair on its own" not in orders


def test_verdicts_start_with_who_loses_what() -> None:
    best, worst = verdicts(made(), ROLES, GROUPS)
    assert (
        best.text
        == "t5 loses an estimated 0.170 NDCG@3 to Human if a model grades the unjudged passages"
    )
    assert (
        best.basis
        == "adjusted p = 0.010; measured drop 0.200, if they count as not relevant; mean over 100 turns"
    )
    assert (best.number, best.interval, best.weight) == ("0.170", "0.100 to 0.250", 0.17)
    assert worst.text.endswith(
        "do not show whether manual or Human has the higher mean NDCG@3 (they differ by 0.060)"
    )
    assert worst.interval == "−0.020 to 0.140"
    assert all(len(verdict.text.split()) <= 25 for verdict in (best, worst))


def test_what_is_expected_to_gain_turns_sign_and_interval() -> None:
    drops = made().drops
    drops.loc[drops["group"] == "t5", ["expected", "expected_low", "expected_high"]] = (
        -0.05,
        -0.11,
        0.01,
    )
    verdict = verdicts(made().changed(drops=drops), ROLES, GROUPS)[0]
    assert (
        verdict.text.startswith("t5 gains an estimated 0.050 NDCG@3 over Human")
        and verdict.interval == "−0.010 to 0.110"
    )


@pytest.mark.parametrize("selection", ["filtered", "clicks"])
def test_selected_judgments_leave_no_verdict_of_the_model(selection: str) -> None:
    [verdict] = verdicts(made(selection=selection), ROLES, GROUPS)
    assert (
        verdict.text
        == "40% of the top 3 passages of m2 are unjudged (Human: 0%); their grades can change 1 of 4 orders by NDCG@3"
    )
    assert (verdict.number, verdict.basis, verdict.weight) == ("40%", "120 of 300 passages", 0.4)
    assert "less than 0.42 times" in drop_of("t5", made(selection=selection))


@pytest.mark.parametrize("options", [{"positives": True}, {"selection": "positives"}])
def test_no_headline_where_only_relevant_passages_are_listed(options: dict[str, Any]) -> None:
    """93.1% of the top 3 was unjudged: the precision of the run, in disguise."""
    assert verdicts(made(**options), ROLES, GROUPS) == ()


def test_no_sentence_has_a_judged_share_where_only_relevant_passages_are_listed() -> None:
    result = made(positives=True)
    assert not any("of the top 3" in text for text in unjudged_findings(result, GROUPS))
    result = result.changed(bounds=result.bounds.assign(low=NAN, high=NAN))
    assert unjudged_findings(result, GROUPS) == (ONLY_RELEVANT,)
    whole = made()
    plain = whole.changed(bounds=whole.bounds.assign(low=NAN), pairs=whole.pairs[:0])
    [said] = unjudged_findings(plain, GROUPS)
    assert said == "40% of the top 3 passages of m2 are unjudged (Human: 0%)."


def test_model_is_meant_where_the_model_is_used() -> None:
    result = made()
    said = " ".join(
        [
            *unjudged_findings(result, GROUPS),
            *(verdict.text for verdict in verdicts(result, ROLES, GROUPS)),
        ]
    )
    assert "are judged" not in said and "nobody" not in said and "been judged" not in said


def test_without_pairs_nothing_is_said_of_bounds() -> None:
    """More than 50 runs are not compared with each other: that is no proof that no grade could change a drop."""
    whole = made()
    result = measured(whole.changed(pairs=whole.pairs[:0]))
    said = unjudged_findings(result, GROUPS)
    assert len(said) >= 3 and all(sentence.startswith("From Human to ") for sentence in said[:3])
    assert not any("the drop lies between" in sentence for sentence in said)
    assert "the drop lies between" in unjudged_findings(whole, GROUPS)[0]


def test_a_measured_drop_is_that_of_its_own_baseline_and_sets() -> None:
    whole = made()
    compared = {
        "t5": Group("human", ("t5",)),
        "manual": GROUPS["manual"],
        "gone": Group("human", ("nobody",)),
    }
    rows = Unjudged.measured.frame(
        measured_drops(whole.bounds, whole.rates, whole.pairs, compared)
    ).set_index(["metric", "group"])
    assert list(rows.loc["P_1"].index) == ["t5", "manual"]
    manual = rows.loc["P_1", "manual"]
    assert (manual.sets, manual.baseline_score) == (2, 0.8)
    assert (manual.score, manual["drop"]) == (pytest.approx(0.68), pytest.approx(0.12))
    assert (manual.baseline_unjudged, manual.unjudged) == (0, pytest.approx(0.35))
    assert (manual.low, manual.high) == (pytest.approx((-0.01 + 0.02) / 2), pytest.approx(0.5))
