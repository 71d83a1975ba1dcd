"""Sentences on judges, from hand-made tables."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import robustcs
from tests.sentences import Rows, cards, made, said, spoken

#: near has the higher κ and the larger shares; far the larger difference of shares, and a significant bias; other graded no
#: passage that people graded.
AGREEMENT = [
    {
        "judge": "near",
        "pairs": 1200,
        "kappa": 0.62,
        "ci_low": 0.55,
        "ci_high": 0.71,
        "kappa_weighted": 0.1,
        "units": 8,
    },
    {"judge": "other"},
    {
        "judge": "far",
        "pairs": 900,
        "kappa": 0.21,
        "ci_low": 0.15,
        "ci_high": 0.29,
        "kappa_weighted": 0.9,
        "units": 7,
    },
]
BIAS = [
    {"judge": "near", "slice": "all", "human_share": 0.70, "judge_share": 0.63, "ratio": 0.9, "ratio_low": 0.7,
     "ratio_high": 1.1, "mean_difference": -0.12, "ci_low": -0.31, "ci_high": 0.07},
    {"judge": "near", "slice": "depth 1", "human_share": 0.1, "judge_share": 0.9, "ratio": 9.0, "ratio_low": 8.0,
     "ratio_high": 10.0, "mean_difference": 2.0},
    {"judge": "far", "slice": "all", "human_share": 0.25, "judge_share": 0.61, "ratio": 2.44, "ratio_low": 2.06,
     "ratio_high": 2.94, "mean_difference": 0.41, "ci_low": 0.33, "ci_high": 0.52},
]  # fmt: skip
#: Of 10 pairs people separate 6: two are lost, one is reversed; two more reversed pairs are significant for the judge alone,
#: one of them by people before adjustment.
CONCLUSIONS = [
    {"judge": "far", "metric": "P_1", "pairs": 10, "human_apart": 9, "judge_apart": 9, "reversed": 8, "swapped": 1},
    {"judge": "far", "metric": "ndcg_cut_3", "pairs": 10, "human_apart": 6, "judge_apart": 6, "reversed": 3, "swapped": 1,
     "lost": 2, "gained": 4},
    {"judge": "near", "metric": "ndcg_cut_3", "pairs": 10, "human_apart": 0, "judge_apart": 2, "reversed": 0, "swapped": 1,
     "lost": 3, "gained": 2},
]  # fmt: skip
REVERSALS = [
    {"judge": "far", "metric": "ndcg_cut_3", "change": "reversed", "human_p": 0.001, "human_p_corrected": 0.05, "judge_p": 0.9,
     "judge_p_corrected": 0.9},
    {"judge": "far", "metric": "ndcg_cut_3", "change": "reversed", "human_p": 0.02, "human_p_corrected": 0.08, "judge_p": 0.001,
     "judge_p_corrected": 0.01},
    {"judge": "far", "metric": "ndcg_cut_3", "change": "reversed", "human_p": 0.3, "human_p_corrected": 0.9, "judge_p": 0.001,
     "judge_p_corrected": 0.01},
    {"judge": "far", "metric": "ndcg_cut_3", "change": "swapped", "human_p": 0.01, "human_p_corrected": 0.06},
    {"judge": "far", "metric": "ndcg_cut_3", "change": "lost", "human_p": 0.001, "human_p_corrected": 0.01},
    {"judge": "far", "metric": "ndcg_cut_3", "change": "lost", "human_p": 0.001, "human_p_corrected": 0.01},
    {"judge": "far", "metric": "P_1", "change": "reversed", "human_p": 0.001, "human_p_corrected": 0.01},
    {"judge": "far", "metric": "P_1", "change": "reversed", "human_p": 0.001, "human_p_corrected": 0.01},
    {"judge": "near", "metric": "ndcg_cut_3", "change": "reversed", "human_p": 0.001, "human_p_corrected": 0.01},
]  # fmt: skip


TABLES: dict[str, Any] = {
    "agreement": AGREEMENT,
    "bias": BIAS,
    "conclusions": CONCLUSIONS,
    "reversals": REVERSALS,
}


def told(**changed: Rows) -> list[str]:
    return said("audit", TABLES | changed, turns=65)


def test_the_cards_name_the_closest_and_the_most_biased_judge() -> None:
    closest, biased, *_ = told()
    assert "0.55 to 0.71" in closest and cards(made("audit", TABLES))[0].number == "0.62"
    assert (
        "Judge near agrees with human judges at Cohen's κ = 0.62, the highest of 2 judges ("
        in closest
    )
    assert closest.endswith("; 1,200 passages, 8 conversations); far has the lowest, 0.21.")
    assert "2.06 to 2.94" in biased and cards(made("audit", TABLES))[1].number == "2.44 ×"
    assert (
        "Judge far calls 2.44 × as many passages relevant as human judges (largest bias of 2; 95% CI 2.06"
        in biased
    )
    assert biased.endswith("; by NDCG@3, 4 of 10 system pairs change order, 3 significantly.")
    assert "human judges: 25.0%, far: 61.0%" in biased


def test_what_is_at_stake_orders_the_cards() -> None:
    closest, biased = cards(made("audit", TABLES))
    assert closest.weight == (1 - 0.62) / 2 and biased.weight == 0.61 - 0.25 and biased.tone == "qr"


def test_each_judge_has_its_bias_its_agreement_and_its_pairs() -> None:
    *_, far, near, other = told()
    assert other == "other and the human judges graded different passages."
    assert far == (
        "far overrates relevance: it calls 2.44 times as many passages relevant as human judges do (95% CI 2.06 to 2.94). Its"
        " mean grade differs from theirs by +0.41 (95% CI 0.33 to 0.52). Cohen's κ with the human judges is 0.21 (95% CI 0.15"
        " to 0.29). By NDCG@3, 4 of 10 system pairs change order, 3 significantly. Of 6 pairs that differ"
        " significantly under human judgments, 3 do so under the judge."
    )
    assert near == (
        "near does not significantly over- or underrate relevance: it calls 0.90 times as many passages relevant as human"
        " judges do (95% CI 0.70 to 1.10). Its mean grade differs from theirs by −0.12 (95% CI −0.31 to 0.07). Cohen's κ with"
        " the human judges is 0.62 (95% CI 0.55 to 0.71). By NDCG@3, 1 of 10 system pairs changes order, none"
        " significantly."
    )


def test_a_bias_is_named_only_where_the_interval_excludes_1() -> None:
    ways = {
        (1.0, 1.2): "does not",
        (1.01, 1.2): "overrates",
        (0.8, 0.99): "underrates",
        (0.8, 1.0): "does not",
    }
    for (low, high), way in ways.items():
        *_, only = told(
            agreement=AGREEMENT[2:],
            bias=[{**BIAS[2], "ratio_low": low, "ratio_high": high}],
            conclusions=(),
            reversals=(),
        )
        assert only.startswith(f"far {way} "), (low, high)


def test_one_judge_is_not_the_highest_of_one() -> None:
    closest, biased, _ = told(agreement=AGREEMENT[2:], bias=BIAS[2:], conclusions=(), reversals=())
    assert "highest" not in closest and "largest" not in biased and "change order" not in biased


def test_without_relevant_passages_or_common_passages_nothing_is_divided() -> None:
    nothing = {**BIAS[2], "human_share": 0.0, "judge_share": 0.5, "ratio": float("nan"), "ratio_low": float("nan"),
               "ratio_high": float("nan"), "ci_low": float("nan")}  # fmt: skip
    closest, sentence = told(agreement=AGREEMENT[2:], bias=[nothing], conclusions=(), reversals=())
    assert closest.startswith("Judge far agrees with human judges at Cohen's κ = 0.21")
    assert (
        "it calls 50.0% of the passages relevant, human judges none. Its mean grade differs from theirs by +0.41."
        in sentence
    )
    [other] = told(agreement=[{"judge": "other"}], bias=(), conclusions=(), reversals=())
    assert other == "other and the human judges graded different passages."
    *_, pairs = told(agreement=[{"judge": "far"}], bias=())
    assert pairs.startswith(
        "far and the human judges graded different passages. By NDCG@3, 4 of 10 system pairs"
    )


def test_a_judge_that_reverses_all_confirms_nothing() -> None:
    conclusions = [{**CONCLUSIONS[1], "human_apart": 3, "reversed": 1, "swapped": 0}]
    *_, far, _, _ = told(conclusions=conclusions)
    assert far.endswith("1 of 10 system pairs changes order, 1 significantly. Of 3 pairs that differ"
                        " significantly under human judgments, none does so under the judge.")  # fmt: skip
    *_, far, _, _ = told(
        conclusions=[{**conclusions[0], "pairs": 1, "human_apart": 0, "reversed": 0}]
    )
    assert far.endswith("By NDCG@3, none of 1 system pair changes order.")


def test_the_demo_has_the_numbers_of_its_tables(demo: Path, tmp_path: Path) -> None:
    own = Path(shutil.copy(demo / "qrels.txt", tmp_path / "own.txt"))
    result = robustcs.audit(demo / "robustcs.toml", metrics="ndcg_cut_3", judges={
        "lexical": demo / "judges" / "lexical.txt", "self": own})  # fmt: skip
    *_, first, second = spoken(result)
    assert first.startswith(
        "lexical overrates relevance: it calls 2.44 times as many passages relevant as human judges do"
    )
    assert "10 of 66 system pairs change order" in first
    assert second.startswith(
        "self does not significantly over- or underrate relevance: it calls 1.00 times as many"
    )
    assert "none of 66 system pairs changes order" in second
