"""What texts say of turns, on real questions of CAsT and on the cases that rules get wrong most easily."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.inputs.texts import read_texts
from robustcs.similarity.function_words import names, referring
from robustcs.slicing.properties import ellipsis, length, name_kept, pronoun, topic_shifts


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Why did it replace PB?", ["it"]),
        ("What are examples of these predators?", ["these"]),
        ("What are foods that help?", []),
        ("Is that expensive?", ["that"]),
        ("How do they protect their young?", ["they", "their"]),
        ("Which one is cheaper?", ["one"]),
        ("What about the other one?", ["one"]),
        ("Tell me about your day", []),
        ("What’s its tuition?", ["its"]),
    ],
)
def test_pronouns_that_stand_for_something(text: str, found: list[str]) -> None:
    assert referring(text) == found
    assert pronoun(text) == ("yes" if found else "no")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("What about Ivanka?", "yes"), ("And Jared?", "yes"), ("Why?", "yes"), ("common treatments", "yes"), ("", "yes"),
        ("How about his pick-6?", "yes"), ("What are the EU rules?", "no"), ("Tell me more about traceability tools.", "no"),
        ("Doesn't honey spoil?", "no"), ("How did it govern?", "no"),
    ],
)  # fmt: skip
def test_questions_that_leave_something_out(text: str, answer: str) -> None:
    assert ellipsis(text) == answer


def test_lengths_are_whole() -> None:
    assert [length("word " * words) for words in (0, 1, 5, 6, 8, 9, 40)] == ["1–5"] * 3 + [
        "6–8"
    ] * 2 + ["9+"] * 2


def test_names_are_capitals_inside_a_sentence() -> None:
    assert names("What does NASA say of the Lotus Elise? It is Colin Chapman's, I think.") == {
        "nasa", "lotus", "elise", "colin", "chapman",
    }  # fmt: skip
    assert names("Sharks are fish") == set() and names("GMO foods") == {"gmo"}
    assert name_kept("What are the pros?", "What are the pros of GMO foods?") == "lost"
    assert name_kept("What are the pros of gmo foods?", "What are the pros of GMO foods?") == "kept"
    assert name_kept("What are they?", "what are sharks?") == "none"


def test_topics_shift_by_words_in_common() -> None:
    texts = {
        "1_1": "What is throat cancer?",
        "1_2": "Is it treatable?",
        "1_3": "What causes cancers?",
        "1_4": "Tell me about lung disease",
        "1_5": "Is lung disease common?",
        "alone": "What is throat cancer?",
    }
    assert topic_shifts(texts) == {
        "1_1": "first",
        "1_2": "shifts",
        "1_3": "returns",
        "1_4": "shifts",
        "1_5": "stays",
    }
    # the order of the file says nothing
    assert topic_shifts(dict(reversed(texts.items()))) == topic_shifts(texts)


@settings(max_examples=30)
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_has_properties(text: str, human: str) -> None:
    assert (
        pronoun(text) in ("yes", "no")
        and ellipsis(text) in ("yes", "no")
        and length(text) in ("1–5", "6–8", "9+")
    )
    assert name_kept(human, human) in ("kept", "none") and name_kept(text, human) in (
        "kept",
        "none",
        "lost",
    )
    assert topic_shifts({"1_1": text, "1_2": human}).keys() == {"1_1", "1_2"}


def test_raw_questions_of_cast_2020_lean_on_their_conversations(shared_data: Path) -> None:
    """People wrote out what the raw turns refer to: manual texts have hardly a pronoun left, and lose no name."""
    topics = shared_data / "cast2020" / "topics_manual.json"
    raw, human = read_texts(topics, "original"), read_texts(topics, "human")
    pronouns = Counter(map(pronoun, raw.values())), Counter(map(pronoun, human.values()))
    assert pronouns[0]["yes"] > 70 and pronouns[1]["yes"] < 0.4 * pronouns[0]["yes"]
    assert Counter(name_kept(raw[turn], human[turn]) for turn in raw)["lost"] > 80
    shifts = Counter(topic_shifts(human).values())
    assert shifts["first"] == 25 and shifts["stays"] > shifts["shifts"] + shifts["returns"]
