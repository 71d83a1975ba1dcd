"""Which unit a turn counts with, and sums over units."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t

from robustcs.conversations import Conversations
from robustcs.evaluation.matrix import grade_matrix
from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.ranking import rank_run
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.runs import read_run
from robustcs.policy import Evaluated, EvaluationPolicy
from robustcs.statistics.means import mean_estimates
from robustcs.statistics.units import units_of, units_of_items
from tests.formulations import score_frame


def test_conversations_are_the_unit_from_five_on() -> None:
    turns = [f"{c}_{t}" for c in range(5) for t in range(1, c + 2)]
    units = units_of(turns)
    assert (units.kind, units.count, units.note) == ("conversation", 5, "")
    assert units.sizes.tolist() == [1, 2, 3, 4, 5]
    few = units_of(turns[:10])
    assert (few.kind, few.count) == ("turn", 10)
    assert "only 4 conversations" in few.note


def test_conversations_that_share_a_topic_are_counted_as_topics() -> None:
    """iKAT's ``9-1_3`` and CAsT 2022's ``132_1-3`` are turns of several conversations on one topic."""
    ikat = [f"{topic}-{c}_{t}" for topic in range(5) for c in (1, 2) for t in (1, 2)]
    evaluated = units_of(ikat).stated(Evaluated(EvaluationPolicy(), "runs", len(ikat), 0))
    assert (evaluated.unit, evaluated.units, evaluated.about) == (
        "topic",
        5,
        "20 turns in 5 topics",
    )
    assert (
        units_of([f"{topic}_{c}-{t}" for topic in range(5) for c in (1, 2) for t in (1, 2)]).kind
        == "topic"
    )
    assert (
        "there are only 3 topics" in units_of(ikat[:12]).note
        and units_of(ikat, "turn").kind == "turn"
    )
    assert units_of([*ikat, "77_1"]).kind == "topic"
    by_items = units_of_items(ikat * 2, "text")
    assert (by_items.kind, by_items.count, units_of_items(ikat * 2, "text", "turn").kind) == (
        "topic",
        5,
        "turn",
    )


def test_ids_without_conversations_are_units_without_a_word() -> None:
    units = units_of(["2082", "2083", "2084"])
    assert (units.kind, units.count, units.note) == ("turn", 3, "")


def test_turns_and_conversations_on_request() -> None:
    turns = [f"{c}_{t}" for c in range(6) for t in (1, 2)]
    assert (units_of(turns, "turn").kind, units_of(turns, "turn").count) == ("turn", 12)
    places = {turn: (str(place % 5), None) for place, turn in enumerate(turns)}
    given = Conversations.from_fields(places, turns, "t.tsv")
    assert units_of(turns, given).labels == ("0", "1", "2", "3", "4")
    assert units_of([*turns, "9_9"], given).labels[5:] == ("9_9",)


def test_sums_and_slices() -> None:
    turns = [f"{t % 7}_{t // 7 + 1}" for t in range(39)]
    units, known = units_of(turns), Conversations.from_ids(turns)
    values = np.random.default_rng(0).normal(size=(2, 3, len(turns)))
    expected = np.stack(
        [
            values[..., [known.unit(turn) == label for turn in turns]].sum(-1)
            for label in units.labels
        ],
        axis=-1,
    )
    np.testing.assert_allclose(units.sums(values), expected)
    rows = np.array([turn.startswith(("1_", "3_")) for turn in turns])
    part = units.take(rows)
    assert (part.kind, part.count, set(part.labels)) == ("conversation", 2, {"1", "3"})
    np.testing.assert_allclose(part.sums(values[..., rows]), units.sums(values)[..., [1, 3]])
    assert units.take(np.zeros(39, dtype=bool)).sums(np.zeros((4, 0))).shape == (4, 0)


def test_units_of_items_are_the_largest_of_which_there_are_five() -> None:
    texts = [f"{c}_{t}" for c in range(5) for t in range(2) for _ in range(3)]
    found = units_of_items(texts, "text")
    assert (found.kind, found.count, found.note) == (
        "conversation",
        5,
        "",
    ) and found.sizes.tolist() == [6] * 5
    by_turn = units_of_items(texts, "text", "turn")
    assert (by_turn.kind, by_turn.count, by_turn.note) == ("turn", 10, "")
    few = units_of_items(texts[:18], "text")
    assert (few.kind, few.count) == ("turn", 6)
    assert few.note.startswith(
        "the sampling unit is the turn, because there are only 3 conversations:"
    )
    single = units_of_items(texts[:6], "text")
    assert (single.kind, single.count, single.codes.tolist()) == ("text", 6, list(range(6)))
    assert single.note.startswith(
        "the sampling unit is the text, because there is only 1 conversation:"
    )


def test_items_whose_turns_say_nothing_stand_alone() -> None:
    assert (
        units_of_items([""] * 7, "item").kind == "item"
        and not units_of_items([""] * 7, "item").note
    )
    # one item a turn, and ids that tell no conversation
    alone = units_of_items([f"q{i}x" for i in range(8)], "item")
    assert (alone.kind, alone.count, alone.note) == ("item", 8, "")
    shared = units_of_items([f"q{i}x" for i in range(8)] * 2, "item")
    assert (shared.kind, shared.count) == ("turn", 8)
    assert units_of_items([], "item").count == 0


@pytest.mark.parametrize(
    ("year", "run", "other", "correlation", "of_difference"),
    [
        ("cast2019", "bert_base_oracle", "bert_base_cv", 0.101, 0.088),
        ("cast2020", "bert_manual", "bert_raw", 0.106, 0.073),
    ],
)
def test_turns_of_a_conversation_depend_on_each_other(
    shared_data: Path, year: str, run: str, other: str, correlation: float, of_difference: float
) -> None:
    """NDCG@3 of manual turns. SPEC 8: intraclass correlations up to 0.21, design effects of 1.1 to 2.7."""
    policy, measure, folder = (
        EvaluationPolicy(relevance_level=2),
        parse_measure("ndcg_cut_3"),
        shared_data / year,
    )
    qrels = read_qrels(folder / "qrels.txt.gz")
    manual, raw = (
        score_frame(
            grade_matrix(rank_run(read_run(folder / "runs" / f"{name}.trec.gz"), policy), qrels),
            [measure],
            policy,
        )[measure.name]
        for name in (run, other)
    )
    conversations = [turn.rpartition("_")[0] for turn in manual.index]
    assert round(intraclass(manual.to_numpy(), conversations), 3) == correlation < 0.21
    assert round(intraclass((manual - raw).to_numpy(), conversations), 3) == of_difference < 0.21
    units, values = units_of(list(manual.index), "conversation"), manual.to_numpy()
    (found,) = mean_estimates(units.sums(values), units.sizes, units.kind, None)
    error = (found.high - found.low) / 2 / t.ppf(0.975, units.count - 1)
    assert 1.1 < error**2 / (values.var(ddof=1) / len(values)) < 2.7


def intraclass(values: np.ndarray, groups: list[str]) -> float:
    """By one-way analysis of variance, groups of unequal size (Donner and Koval, 1980)."""
    parts = [values[[group == one for group in groups]] for one in dict.fromkeys(groups)]
    sizes = np.array([len(part) for part in parts])
    between = sum(len(part) * (part.mean() - values.mean()) ** 2 for part in parts) / (
        len(parts) - 1
    )
    within = sum(((part - part.mean()) ** 2).sum() for part in parts) / (len(values) - len(parts))
    size = (len(values) - (sizes**2).sum() / len(values)) / (len(parts) - 1)
    return float((between - within) / (between + (size - 1) * within))
