"""Sentences on the samples of rewriters, from hand-made tables."""

from __future__ import annotations

import math

from tests.sentences import said

ALIKE = [
    {"rewriter": "llm", "texts": 5, "turns": 40, "differing": 6, "differ": 0.15, "differ_low": 0.06, "differ_high": 0.31,
     "answered": 38, "ranking": 0.9},
    {"rewriter": "t5", "turns": 1, "differ": 1.0, "answered": 1_000, "ranking": 0.8127, "ranking_low": 0.7, "wording": 0.5},
]  # fmt: skip
SCORES = [
    {"rewriter": rewriter, "metric": metric, "samples": 5, "turns": 30, "mean": 0.401 + more, "mean_low": 0.352,
     "mean_high": 0.449 + more, "half": 0.012, "half_low": 0.009,
     "gain": 0.055, "by_chance": 0.031, "first": 0.1, "lowest": 0.2, "highest": 0.3, "best": 0.5, "worst": 0.6}
    for rewriter, more in (("other", 0.4), ("llm", 0.0))
    for metric, more in (("P_1", more + 0.2), ("ndcg_cut_3", more))
]  # fmt: skip


def test_texts_draws_and_choices() -> None:
    llm, t5 = said("samples", {"samples": ALIKE, "sample_scores": SCORES})
    assert llm == (
        "The sampled texts of llm differ on 15.0% of 40 turns (95% CI 6% to 31%). The mean NDCG@3 of llm over 5 samples is"
        " 0.401 (95% CI 0.352 to 0.449 for other conversations and other samples); the mean of one sample has a 95% CI of"
        " ±0.012 for other samples on these turns. A perfect choice among 5 samples in every turn would gain 0.055 NDCG@3 over"
        " the best single sample; 0.031 is expected by chance."
    )
    assert t5 == (
        "The sampled texts of t5 differ on 100.0% of 1 turn."
        " Rankings of t5 for the same turn have a mean rank-biased overlap of 0.813."
    )


def test_what_is_not_known_is_not_said() -> None:
    few = [{**SCORES[3], "mean_low": math.nan, "half": math.nan}]
    [one] = said("samples", {"samples": [{**ALIKE[0], "turns": 0}], "sample_scores": few})
    assert one.startswith(
        "The mean NDCG@3 of llm over 5 samples is 0.401. A perfect choice among 5 samples"
    )
    [texts] = said("samples", {"samples": [{**ALIKE[0], "answered": 0}]})
    assert texts == "The sampled texts of llm differ on 15.0% of 40 turns (95% CI 6% to 31%)."
