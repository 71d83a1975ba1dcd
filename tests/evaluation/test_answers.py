"""Token F1 and exact match against the definition of SQuAD, written here a second time."""

from __future__ import annotations

import re
import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustcs.evaluation.answers import answer_f1, answer_scores, answer_tokens, exact_match

# --- the steps of the official SQuAD 2.0 evaluation script, independent of the package ---


def squad_normalize(text: str) -> str:
    text = text.lower()
    text = "".join(character for character in text if character not in set(string.punctuation))
    text = re.sub(r"\b(a|an|the)\b", " ", text, flags=re.UNICODE)
    return " ".join(text.split())


def squad_f1(gold: str, predicted: str) -> float:
    gold_words = squad_normalize(gold).split() if gold else []
    predicted_words = squad_normalize(predicted).split() if predicted else []
    if not gold_words or not predicted_words:
        return int(gold_words == predicted_words)
    left = list(gold_words)
    common = 0
    for word in predicted_words:
        if word in left:
            left.remove(word)
            common += 1
    if common == 0:
        return 0
    precision, recall = common / len(predicted_words), common / len(gold_words)
    return 2 * precision * recall / (precision + recall)


def squad_exact(gold: str, predicted: str) -> int:
    return int(squad_normalize(gold) == squad_normalize(predicted))


WORDS = st.sampled_from(
    [
        "the",
        "A",
        "an",
        "band",
        "Band,",
        "rock-band",
        "1969",
        "“band”",
        ".",
        "theatre",
        "É",
        "ß",
        "it's",
    ]
)
ANSWERS = st.one_of(st.lists(WORDS, max_size=12).map(" ".join), st.text(max_size=30)).filter(
    lambda s: s != "CANNOTANSWER"
)


@given(ANSWERS)
def test_normalisation_is_that_of_squad(text: str) -> None:
    assert " ".join(answer_tokens(text)) == squad_normalize(text)
    assert answer_tokens(text) == squad_normalize(text).split()


@given(ANSWERS, st.lists(ANSWERS, min_size=1, max_size=4))
def test_scores_are_those_of_squad(predicted: str, golds: list[str]) -> None:
    assert answer_f1(predicted, golds) == pytest.approx(
        max(squad_f1(gold, predicted) for gold in golds), abs=1e-12
    )
    assert exact_match(predicted, golds) == max(squad_exact(gold, predicted) for gold in golds)


@given(ANSWERS, ANSWERS)
def test_range_symmetry_identity(one: str, other: str) -> None:
    f1 = answer_f1(one, [other])
    assert 0 <= f1 <= 1
    assert f1 == answer_f1(other, [one])
    assert exact_match(one, [other]) == exact_match(other, [one]) <= f1
    assert answer_f1(one, [one]) == exact_match(one, [one]) == 1
    assert answer_f1(one, [other, one]) == 1


def test_by_hand() -> None:
    assert " ".join(answer_tokens(" The  Mothers, of\tan Invention! ")) == "mothers of invention"
    assert " ".join(answer_tokens("theatre")) == "theatre"
    assert answer_f1("band band", ["band"]) == 2 * 1 / 3
    assert answer_f1("in late 1969", ["late 1969", "1970"]) == 0.8
    assert answer_f1("1969 in", ["in 1969"]) == 1
    assert exact_match("1969 in", ["in 1969"]) == 0
    assert exact_match("The band.", ["nobody", "band"]) == 1


def test_answers_without_tokens() -> None:
    assert answer_f1("", ["the"]) == exact_match("", ["the"]) == 1
    assert answer_f1("", ["band"]) == exact_match("", ["band"]) == 0
    assert answer_f1("band", ["..."]) == 0


@pytest.mark.parametrize("score", [answer_f1, exact_match])
def test_cannotanswer_matches_only_itself(score: type[float]) -> None:
    assert score("CANNOTANSWER", ["CANNOTANSWER"]) == 1
    assert score("CANNOTANSWER", ["1969", "CANNOTANSWER"]) == 1
    for other in ("cannotanswer", "CannotAnswer", "CANNOTANSWER.", "", "CANNOTANSWER 1969"):
        assert score("CANNOTANSWER", [other]) == 0
        assert score(other, ["CANNOTANSWER"]) == 0


def test_one_half_is_one_half() -> None:
    """7 common words of 8 and 20: 14/28; the script's harmonic mean gives 0.4999999999999999."""
    predicted = " ".join("abcdefg") + " x"
    gold = " ".join("abcdefg") + " y" * 13
    # "a" is an article
    predicted, gold = (
        predicted.replace("a ", "k ", 1),
        gold.replace("a ", "k ", 1),
    )
    assert squad_f1(gold, predicted) < 0.5
    assert answer_f1(predicted, [gold]) == 0.5


def test_scores_by_turn() -> None:
    gold = {"31_10": ("late 1969",), "31_9": ("a band", "rock band"), "31_2": ("CANNOTANSWER",)}
    predicted = {"31_9": "the rock band", "31_10": "1969", "7_1": "not judged", "8_1": "nor this"}
    scores, unmatched = answer_scores(predicted, gold)
    assert scores.turns == ("31_2", "31_9", "31_10")
    assert list(scores) == ["f1", "em"]
    np.testing.assert_array_equal(np.stack(list(scores.values())), [[0, 1, 2 / 3], [0, 1, 0]])
    assert [values.dtype for values in scores.values()] == [np.float64, np.float64]
    assert (unmatched.missing, unmatched.extra) == (1, 2)


def test_no_turns() -> None:
    scores, unmatched = answer_scores({}, {})
    assert [len(values) for values in scores.values()] == [0, 0]
    assert unmatched == (0, 0)
