"""Samples of a rewriter: words, rankings, scores, and what a choice would give."""

from __future__ import annotations

import math

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from rouge_score.rouge_scorer import RougeScorer

from robustcs.documents.document import Cards, Figure, TableBlock
from robustcs.documents.style import PAGE, in_style
from robustcs.errors import UsageError
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.statistics.means import mean_estimates
from robustcs.statistics.units import units_of
from robustcs.studies.samples.analysis import Sampled, Samples, compare_samples, wording_of
from robustcs.studies.samples.findings import samples_findings
from robustcs.studies.samples.show import draw, show

TURNS = [f"{conversation}_{turn}" for conversation in range(1, 9) for turn in range(1, 6)]
UNITS = units_of(TURNS)
SCORES = np.random.default_rng(5).choice([0.0, 0.25, 0.5, 1.0], (len(TURNS), 4))
BEES = "what do bees eat"
MOVING = ("2_1", "4_1", "6_1", "8_1")
TEXTS = {turn: [BEES, BEES, "what honey bees eat" if turn in MOVING else BEES] for turn in TURNS}
RANKINGS = dict(zip(TURNS, np.random.default_rng(6).random(len(TURNS)).tolist(), strict=True))
EVALUATED = Evaluated(EvaluationPolicy(), "runs", len(TURNS), 0)


def compared(scores: np.ndarray = SCORES, **settings: float) -> Samples:
    one = Sampled("llm", TEXTS, {"ndcg_cut_3": scores}, TURNS, RANKINGS, scores.shape[1])
    return compare_samples([one], EVALUATED, **settings)


def test_wording_is_the_mean_over_every_two_texts() -> None:
    texts = {"1_1": ("a b c", "a b d", "a b c"), "1_2": ("x", "x"), "1_3": ("alone",)}
    found = wording_of(texts)
    alike = RougeScorer(["rouge1"], use_stemmer=True).score("a b c", "a b d")["rouge1"].fmeasure
    assert found == {"1_1": pytest.approx((alike + 1 + alike) / 3), "1_2": 1.0}


def test_consistency_has_its_denominators() -> None:
    row = compared().samples.iloc[0]
    assert (row.texts, row.turns, row.differing, row.differ) == (3, 40, 4, 0.1)
    assert (row.runs, row.answered) == (4, 40)
    assert row.ranking == pytest.approx(np.mean(list(RANKINGS.values())))
    assert (
        row.ranking_low < row.ranking < row.ranking_high
        and row.wording_low < row.wording < row.wording_high <= 1
    )


def test_scores_of_samples() -> None:
    result = compared(within=0.05)
    row = result.sample_scores.iloc[0]
    of_samples = SCORES.mean(axis=0)
    assert (row.samples, row.turns, row["first"]) == (4, 40, of_samples[0])
    assert (row["mean"], row.lowest, row.highest) == (
        pytest.approx(SCORES.mean()),
        of_samples.min(),
        of_samples.max(),
    )
    assert (row.worst, row.best) == (SCORES.min(axis=1).mean(), SCORES.max(axis=1).mean())
    assert (
        row.gain == pytest.approx(row.best - row.highest)
        and row.gain_low < row.gain < row.gain_high
    )
    assert row.gain == pytest.approx(row.by_chance, abs=0.06)
    (alone,) = mean_estimates(UNITS.sums(SCORES.mean(axis=1)), UNITS.sizes, bounds=(0.0, 1.0))
    assert row.mean_low < alone.low < alone.high < row.mean_high
    assert (
        row.half >= 3.182 * of_samples.std(ddof=1) * (1 - 1e-4)
        and row.half_low < row.half < row.half_high
    )
    assert (
        row.needed_high == math.ceil((row.half_high / 0.05) ** 2)
        and row.needed_low <= row.needed <= row.needed_high
    )
    best = result.best_of_n
    assert list(best["n"]) == [1, 2, 3, 4]
    assert (
        best["best"].iloc[0] == pytest.approx(row["mean"]) == pytest.approx(best["worst"].iloc[0])
    )
    assert (best["best"].iloc[-1], best["worst"].iloc[-1]) == (
        pytest.approx(row.best),
        pytest.approx(row.worst),
    )
    assert best["best"].is_monotonic_increasing and best["worst"].is_monotonic_decreasing


def test_variance_is_split_into_turn_sample_and_interaction() -> None:
    shares = compared().sample_variance.set_index("component")["share"]
    assert list(shares.index) == ["turn", "sample", "interaction", "drawing"]
    assert shares["turn"] + shares["sample"] + shares["interaction"] == pytest.approx(1)
    turns = np.repeat(SCORES[:, :1], 4, axis=1)
    alone = compared(turns).sample_variance.set_index("component")["share"]
    assert alone["turn"] == 1 and alone["drawing"] == 0


def test_the_order_of_samples_changes_the_first_alone() -> None:
    one, other = compared().sample_scores, compared(SCORES[:, ::-1]).sample_scores
    same = [name for name in one if name not in ("first", "by_chance")]
    for name in same:
        assert one[name].iloc[0] == other[name].iloc[0] or one[name].iloc[0] == pytest.approx(
            other[name].iloc[0]
        )


def test_turns_say_what_was_drawn() -> None:
    frame = compared().sample_turns.set_index("turn")
    assert (
        frame.loc["2_1", "wordings"] == "what do bees eat | what honey bees eat"
        and frame.loc["2_1", "texts"] == 2
    )
    row, scores = frame.loc["3_2"], SCORES[TURNS.index("3_2")]
    assert (row.low, row.high, row["first"]) == (scores.min(), scores.max(), scores[0])
    assert row["range"] == row.high - row.low


def test_texts_alone() -> None:
    result = compare_samples(
        [Sampled("llm", TEXTS, {}, [], {}, 0)], Evaluated(EvaluationPolicy(), "texts", 40, 0)
    )
    assert not len(result.sample_scores) and not len(result.best_of_n)
    assert (
        set(result.sample_turns["turn"]) == set(TURNS)
        and result.sample_turns["metric"].isna().all()
    )
    table, cards = show(result)
    assert isinstance(table, TableBlock) and isinstance(cards, Cards)
    assert [column.group for column in table.columns][1:] == ["texts differ"] * 4 + [""]
    assert [card.title for card in cards.cards] == list(MOVING)
    (said,) = samples_findings(result)
    assert said.startswith("The sampled texts of llm differ on 10.0% of 40 turns (95% CI ")


def test_what_is_shown() -> None:
    result = compared()
    blocks = show(result)
    assert isinstance(blocks[0], Figure) and "with 4 samples" in blocks[0].alt
    assert [block.of for block in blocks if isinstance(block, TableBlock)] == [
        "samples", "sample_scores", "sample_scores", "sample_variance",
    ]  # fmt: skip
    with in_style(PAGE):
        (axes,) = draw(PAGE, result).axes
    dots = [marks for marks in axes.collections if isinstance(marks, PathCollection)]
    assert [len(marks.get_offsets()) for marks in dots] == [4, 4]
    (said,) = samples_findings(result)
    assert (
        "A perfect choice among 4 samples in every turn would gain" in said and "by chance" in said
    )


@pytest.mark.parametrize("within", [0, -1, math.nan])
def test_within_is_above_0(within: float) -> None:
    with pytest.raises(UsageError, match="write a number above 0"):
        compared(within=within)


def test_captions_count_the_turns_that_are_scored() -> None:
    some = [
        Sampled(name, {}, {"ndcg_cut_3": SCORES[:n]}, TURNS[:n], {}, 4)
        for name, n in (("a", 40), ("b", 30))
    ]
    result = compare_samples(some, EVALUATED)
    (figure,) = (block for block in show(result) if isinstance(block, Figure))
    assert (
        figure.caption.startswith("Best and worst of n samples, mean over 30 to 40 turns:")
        and result.evaluated.turns == 40
    )
    result = compare_samples(some[1:], EVALUATED)
    (figure,) = (block for block in show(result) if isinstance(block, Figure))
    assert (
        figure.caption.startswith("Best and worst of n samples, mean over 30 turns:")
        and result.evaluated.turns == 30
    )


def test_whole_samples_that_differ_widen_every_interval_of_the_mean() -> None:
    apart = compared(np.clip(SCORES + np.array([0.3, 0.1, -0.1, -0.3]), 0, 1)).sample_scores.iloc[0]
    same = compared().sample_scores.iloc[0]
    assert (
        apart.mean_high - apart.mean_low > 1.2 * (same.mean_high - same.mean_low)
        and apart.half > 1.5 * same.half
    )


def test_one_definition_of_texts_that_differ() -> None:
    """Case, punctuation and the order of words make another text, with which ROUGE-1 F stays 1."""
    texts = {
        turn: [BEES, f"{BEES.capitalize()}?" if turn in MOVING else BEES] for turn in TURNS[:30]
    }
    texts |= {turn: [BEES] for turn in TURNS[30:]}
    result = compare_samples(
        [Sampled("llm", texts, {}, [], {}, 0)], Evaluated(EvaluationPolicy(), "texts", 40, 0)
    )
    moving = [turn for turn in MOVING if turn in TURNS[:30]]
    row = result.samples.iloc[0]
    assert (row.differing, row.turns, row.wording) == (3, 30, 1.0) and len(moving) == 3
    (cards,) = (block for block in show(result) if isinstance(block, Cards))
    assert (
        cards.caption == "Turns of llm whose texts differ (3 of 30 turns with at least two texts)"
    )
    assert [card.title for card in cards.cards] == moving
    assert set(result.sample_turns.loc[result.sample_turns["texts"] > 1, "turn"]) == set(moving)


def test_turns_that_differ_name_what_they_are_counted_among() -> None:
    rankings = {turn: 1.0 if place < 30 else 0.5 for place, turn in enumerate(TURNS[:35])}
    some = Sampled(
        "llm", TEXTS, {"P_1": np.repeat([[0.0, 1.0], [1.0, 1.0]], 20, axis=0)}, TURNS, rankings, 2
    )
    cards = [
        block for block in show(compare_samples([some], EVALUATED)) if isinstance(block, Cards)
    ][0]
    assert cards.caption.startswith(
        "Turns of llm whose samples differ in P@1 (20 of 40 turns with scores"
    )


def test_one_turn_tells_nothing_of_whole_samples() -> None:
    result = compare_samples(
        [Sampled("a", {}, {"ndcg_cut_3": SCORES[:1]}, TURNS[:1], {}, 4)], EVALUATED
    )
    row = result.sample_scores.iloc[0]
    assert (
        math.isnan(row.half)
        and "draw: at least two turns are required" in row.note
        and "whole samples differ" not in row.note
    )
    assert not len(result.sample_variance)
    assert "sample_variance" not in {
        block.of for block in show(result) if isinstance(block, TableBlock)
    }
    assert (
        "±" not in samples_findings(result)[0]
        and "A perfect choice among 4" in samples_findings(result)[0]
    )
