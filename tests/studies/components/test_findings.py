"""Sentences on a grid, from hand-made tables."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from robustcs.evaluation.grid import Grid
from robustcs.statistics.families import Family
from tests.sentences import cards, made, said

GRID = Grid((("raw", "x"), ("raw", "y"), ("t5", "x"), ("t5", "y")))
CUT = {"metric": "ndcg_cut_3", "threshold": ">=0.5"}


def row(**more: Any) -> dict[str, Any]:
    """A row of ``factors``."""
    found = {"wording": 0.25, "wording_low": 0.2, "wording_high": 0.31, "ranker": 0.1, "ranker_low": 0.05, "ranker_high": 0.16,
             "difference": 0.15, "p": 0.001, "p_corrected": 0.012, "exact": True, "systems": 4}  # fmt: skip
    return CUT | found | more


BLAME = [
    CUT | {"wording": wording, "ranker": ranker, "cause": cause, "count": count, "share": count / 10, "ci_low": 0.1,
           "ci_high": 0.4, "average": 1.5}
    for wording, ranker in GRID.cells for cause, count in (("correct", 6), ("wording", 1), ("ranker", 1), ("none", 2))
]  # fmt: skip
MEANS = [
    {"wording": wording, "ranker": ranker, "metric": "ndcg_cut_3", "value": value}
    for (wording, ranker), value in zip(GRID.cells, (0.2, 0.3, 0.4, 0.5), strict=True)
]
EFFECTS = [
    {
        "metric": "ndcg_cut_3",
        "factor": factor,
        "omega2": value,
        "ci_low": value - 0.1,
        "ci_high": value + 0.1,
    }
    for factor, value in (("turn", 0.7), ("wording", 0.3641), ("ranker", 0.262))
]
CHOICE = {
    "metric": "ndcg_cut_3", "wording": "t5", "ranker": "y", "value": 0.5, "second_wording": "t5", "second_ranker": "x",
    "lead": 0.1, "chosen": 0.87, "half": 0.52, "other_half": 0.48, "half_lead": 0.12, "other_lead": 0.064,
    "other_lead_low": -0.01, "other_lead_high": 0.14, "upper": 0.61, "gain": 0.11, "gain_low": 0.05, "gain_high": 0.2,
    "by_chance": 0.07,
    "splits": 1000,
}  # fmt: skip


def swap(
    wording: str, ranker: str, changed: str, to: str, difference: float, p: float
) -> dict[str, Any]:
    return {"wording": wording, "ranker": ranker, "changed": changed, "to": to, "metric": "ndcg_cut_3",
            "difference": difference, "ci_low": difference - 0.05, "ci_high": difference + 0.05, "p": p, "p_corrected": p,
            "exact": True}  # fmt: skip


SWAPS = [
    swap("raw", "x", "wording", "t5", 0.2, 0.01), swap("raw", "x", "ranker", "y", 0.1, 0.2),
    swap("t5", "y", "ranker", "x", -0.1, 0.2), swap("t5", "y", "wording", "raw", -0.2, 0.01),
]  # fmt: skip
TABLES = {
    "blame": BLAME,
    "means": MEANS,
    "effects": EFFECTS,
    "choice": [CHOICE],
    "swaps": SWAPS,
    "factors": [row()],
}
SETTINGS: dict[str, Any] = {
    "grid": GRID,
    "scored": SimpleNamespace(
        compared=(None, {"ndcg_cut_3": Family(np.array([0.01, 0.2]), 0.001, "")})
    ),
}


def test_every_sentence() -> None:
    assert said("components", TABLES, **SETTINGS) == [
        "The average system of the grid loses 25% of the turns to the wording alone, more than to the ranker (10%, adjusted p ="
        " 0.012; 95% CI 20% to 31%; mean over 4 systems; correct if NDCG@3 ≥ 0.5).",
        "No system of the grid answers 20% of the turns (95% CI 10% to 40%; 2 of 10 turns; correct if NDCG@3 ≥ 0.5).",
        "t5/y leads t5/x by 0.100 NDCG@3 with the highest mean, 0.500; on conversations that did not choose them, the best"
        " system leads the second best by 0.064 (95% CI −0.010 to 0.140; means over 1,000 random halves; t5/y is best in 87%).",
        "The single change with the largest gain is from raw to t5 with x: 0.200 NDCG@3 (95% CI 0.150 to 0.250; adjusted p ="
        " 0.010, max-T over 2 pairs).",
        "The effect size ω² on NDCG@3 is 0.364 (95% CI 0.264 to 0.464) for the wording and 0.262 (95% CI 0.162 to 0.362) for"
        " the ranker.",
        "The best system of every turn would reach 0.610 NDCG@3, 0.110 more than t5/y, 95% CI +0.050 to +0.200. This is an"
        " upper limit; if systems were exchanged at random in every turn, so that none is better, the same choice would gain"
        " 0.070.",
    ]


def blamed(*rows: dict[str, Any], grid: Grid = GRID) -> Any:
    return cards(made("components", TABLES | {"factors": rows}, **SETTINGS | {"grid": grid}))[0]


def test_the_component_that_loses_more_is_named_only_if_the_test_shows_it() -> None:
    open_ = blamed(row(difference=-0.02, wording=0.1, ranker=0.12, p_corrected=0.3))
    assert open_.text == (
        "The average system of the grid loses 12% of the turns to the ranker alone and 10% to the wording; the data do not show"
        " which loses more (adjusted p = 0.300)"
    )
    assert (open_.number, open_.tone, open_.interval, open_.caveat) == (
        "12%",
        "qa",
        "5% to 16%",
        "",
    )
    even = blamed(row(difference=0.0, wording=0.1, ranker=0.1, p_corrected=1.0)).text
    assert even.startswith(
        "The average system of the grid loses 10% of the turns to the wording alone and 10% to the ranker;"
    )
    wide = Grid((*GRID.cells, ("manual", "x"), ("manual", "y")))
    assert blamed(row(), grid=wide).caveat == (
        "The grid has 3 wordings and 2 rankers, and the component with more alternatives has more chances to help."
    )
    assert blamed(row(difference=-0.1, wording=0.1, ranker=0.2), grid=wide).caveat == ""


def test_an_answer_that_depends_on_the_threshold_comes_first() -> None:
    rows = [row(), row(threshold="=1", difference=-0.1, wording=0.1, ranker=0.2)]
    findings = said("components", TABLES | {"factors": rows}, **SETTINGS)
    assert findings[4] == (
        "Which component loses more turns depends on the threshold: the wording loses more at NDCG@3 ≥ 0.5; the ranker loses"
        " more at NDCG@3 = 1 (adjusted p ≤ 0.05)."
    )
    rows[1]["p_corrected"] = 0.06
    assert not any(
        "depends on" in one for one in said("components", TABLES | {"factors": rows}, **SETTINGS)
    )


def test_what_is_not_known_is_not_said() -> None:
    part = Grid((("raw", "x"), ("t5", "x")))
    none = [
        {
            "metric": "ndcg_cut_3",
            "factor": "turn",
            "omega2": math.nan,
            "note": "two rankers are required",
        }
    ]
    tables = {"blame": BLAME[:4], "means": MEANS[:1], "effects": none}
    sentences = said("components", tables, **SETTINGS | {"grid": part})
    assert [one[:12] for one in sentences] == ["No system of"]
    few = CHOICE | {
        "splits": 0,
        "other_lead": math.nan,
        "other_lead_low": math.nan,
        "gain_low": math.nan,
    }
    (lead,) = [
        one for one in said("components", TABLES | {"choice": [few]}, **SETTINGS) if "leads" in one
    ]
    assert (
        lead == "t5/y leads t5/x by 0.100 NDCG@3 with the highest mean, 0.500 (mean over 10 turns)."
    )
    (even,) = [
        one
        for one in said("components", TABLES | {"choice": [few | {"lead": 0.0}]}, **SETTINGS)
        if "same mean" in one
    ]
    assert even.startswith(
        "t5/y and t5/x have the same mean NDCG@3, the highest of the grid (0.000 apart"
    )


def test_a_cell_that_answers_less_than_half_is_named_in_the_first_clause() -> None:
    few = {"t5/y": 4}
    sentences = said("components", TABLES, few=few, **SETTINGS)
    assert sentences[0].startswith(
        "The average system of the grid (t5/y answers 4 of 10 turns) loses 25% of the turns"
    )
    assert sentences[1].startswith("No system of the grid (t5/y answers 4 of 10 turns) answers 20%")
    assert sentences[2].startswith(
        "t5/y leads t5/x by 0.100 NDCG@3 (t5/y answers 4 of 10 turns) with the highest mean"
    )
    assert (
        "few" not in " ".join(said("components", TABLES, **SETTINGS))
        and "where" not in sentences[3]
    )


def test_a_lead_that_is_lost_on_the_other_half_is_no_lead() -> None:
    lost = CHOICE | {"other_lead": -0.02, "other_lead_low": -0.07, "other_lead_high": 0.03}
    card = cards(made("components", TABLES | {"choice": [lost]}, **SETTINGS))[2]
    assert card.text.endswith(
        "on conversations that did not choose them, the best system trails the second best by 0.020"
    )
    assert (card.number, card.interval, card.weight) == ("0.020", "−0.030 to 0.070", 0.02)


def test_a_gain_that_is_not_significant_says_so() -> None:
    rows = [swap("raw", "x", "ranker", "y", 0.1, 0.2)]
    change = cards(made("components", TABLES | {"swaps": rows}, **SETTINGS))[-1]
    assert (
        change.text
        == "The single change with the largest gain is from x to y with raw: 0.100 NDCG@3, which is not significant"
    )


def test_the_missing_cell_that_could_show_most() -> None:
    rows = [
        CUT | {"wording": one, "ranker": "z", "turns": turns, "share": turns / 10}
        for one, turns in (("raw", 3), ("t5", 7))
    ]
    assert said("components", TABLES | {"missing": rows}, **SETTINGS)[-1] == (
        "Of 2 missing cells, t5/z could show most: if correct, it would change the cause of some system on 7 of 10 turns."
    )


def test_the_level_itself_is_significant_and_swaps_that_change_nothing_are_not_named() -> None:
    at_the_level = said("components", TABLES | {"factors": [row(p_corrected=0.05)]}, **SETTINGS)[0]
    assert "more than to the ranker (10%, adjusted p = 0.050;" in at_the_level
    drawn = said("components", TABLES | {"factors": [row(p_corrected=0.00002)]}, **SETTINGS)[0]
    assert "adjusted p < 0.0001" in drawn
    nothing = [
        swap("raw", "x", "wording", "t5", 0.0, 1.0),
        swap("raw", "x", "ranker", "y", 0.0, 1.0),
    ]
    assert not any(
        "from raw to t5" in one
        for one in said("components", TABLES | {"swaps": nothing}, **SETTINGS)
    )


def test_small_p_of_exact_tests_are_below_the_last_digit() -> None:
    certain = [one | {"p": 1e-5, "p_corrected": 1e-5} for one in SWAPS]
    told = " ".join(
        said(
            "components",
            TABLES | {"swaps": certain, "factors": [row(p_corrected=1e-5)]},
            **SETTINGS,
        )
    )
    assert told.count("adjusted p < 0.0001") >= 2 and "p < 1" not in told
