"""Variations of whole topic files: what stands in a row, what is counted, what is left out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from robustcs.inputs.texts import read_texts
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.similarity.paraphrases import text_key
from robustcs.studies.paraphrase.analysis import RULES, Variations, vary

RAW = {"1_1": "What is honey?", "1_2": "Why doesn't it spoil?", "1_10": "Is there a market for it?"}
MANUAL = {
    "1_1": "What is honey?",
    "1_2": "Why doesn't honey spoil?",
    "1_10": "Is there a big market for honey?",
}


def varied(original: dict[str, str], human: dict[str, str], seed: int = 0) -> Variations:
    return vary(
        original, human, Evaluated(EvaluationPolicy(), "texts", 0, 0, (f"seed {seed}",)), seed
    )


def test_rows_of_a_conversation() -> None:
    found = varied(RAW, MANUAL).variations.set_index(["turn", "category"])
    # with a pronoun for honey the second turn is its raw text again, so there is no such row
    assert {
        turn: list(part)
        for turn, part in found.reset_index().groupby("turn", sort=False)["category"]
    } == {
        "1_1": ["typo"],
        "1_2": ["typo", "word order", "function words"],
        "1_10": ["antecedent", "pronoun", "typo", "word order", "function words", "ellipsis"],
    }
    assert tuple(found.loc[("1_10", "antecedent")]) == (
        "Is there a big market for honey?",
        "Is there a big market?",
    )
    assert tuple(found.loc[("1_10", "pronoun")]) == (
        "Is there a big market for honey?",
        "Is there a big market for it?",
    )
    assert tuple(found.loc[("1_2", "function words")]) == (
        "doesn't honey spoil",
        "doesn't it spoil",
    )


def test_a_turn_with_one_text_takes_it_for_both() -> None:
    result = varied({}, MANUAL)
    assert result.evaluated.notes == (
        "seed 0",
        "3 turns without the Original text: Human is used instead",
    )
    rows = result.variations
    same = rows[~rows["category"].isin(["antecedent", "pronoun"])]
    assert (same["manual"] == same["raw"]).all() and len(same) > 5
    assert varied(RAW, {}).evaluated.notes == (
        "seed 0",
        "3 turns without the Human text: Original is used instead",
    )


def test_a_turn_without_a_place_is_its_own_conversation() -> None:
    result = varied({"alone": "What is bread made of here?"}, MANUAL)
    assert result.evaluated.turns == 4 and "alone" in set(result.variations["turn"])


@pytest.mark.parametrize("form", ["q{}", "billing-{:02d}", "2024_{:04d}"])
def test_questions_outside_conversations_are_varied_without_each_other(form: str) -> None:
    """Of 3,237 questions, 2,324 were left out, because their ids have no place in a conversation."""
    asked = "Who founded the Lotus company in {}?", "Why did the Lotus company build cars in {}?"
    questions = {form.format(place): asked[place % 2].format(place) for place in range(801, 841)}
    result = varied({}, questions)
    assert result.evaluated.turns == 40 and set(result.variations["turn"]) == set(questions)
    assert not {"antecedent", "pronoun", "ellipsis"} & set(result.variations["category"])
    assert not any(
        word in text.split()
        for text in result.variations["raw"]
        for word in ("it", "they", "them", "It")
    )
    # the same questions in conversations refer to each other
    linked = {
        f"{place // 8 + 1}_{place % 8 + 1}": text for place, text in enumerate(questions.values())
    }
    assert "pronoun" in set(varied({}, linked).variations["category"])


@pytest.fixture(scope="module")
def cast2020(shared_data: Path) -> tuple[dict[str, str], dict[str, str], Variations]:
    path = shared_data / "cast2020" / "topics_manual.json"
    raw, manual = read_texts(path, "original"), read_texts(path, "human")
    return raw, manual, varied(raw, manual)


def test_cast_2020(cast2020: tuple[dict[str, str], dict[str, str], Variations]) -> None:
    raw, manual, result = cast2020
    rows = result.variations
    assert list(result.categories["category"]) == [rule.category for rule in RULES]
    assert dict(
        zip(result.categories["category"], result.categories["valid"], strict=True)
    ) == Counter(rows["category"])
    assert result.evaluated.turns == 216 and not rows.duplicated(["turn", "category"]).any()
    rules = {rule.category: rule for rule in RULES}
    for row in rows.itertuples():
        assert (row.manual, row.raw) != (manual[row.turn], raw[row.turn])
        if rules[row.category].leans:
            assert row.manual == manual[row.turn]
        if rules[row.category].later:
            assert not row.turn.endswith("_1")
    keys = [(row.turn, text_key(row.manual), text_key(row.raw)) for row in rows.itertuples()]
    assert len(set(keys)) == len(keys)


def test_a_seed_changes_what_is_drawn_and_nothing_else(
    cast2020: tuple[dict[str, str], dict[str, str], Variations],
) -> None:
    raw, manual, result = cast2020
    other, again = varied(raw, manual, 1).variations, varied(raw, manual).variations
    assert again.equals(result.variations)
    drawn = ["typo", "word order"]
    for name, part in result.variations.groupby("category"):
        same = part.reset_index(drop=True).equals(
            other[other["category"] == name].reset_index(drop=True)
        )
        assert same == (name not in drawn)
    turned = {turn: manual[turn] for turn in reversed(manual)}
    assert varied(raw, turned).variations.equals(result.variations)
