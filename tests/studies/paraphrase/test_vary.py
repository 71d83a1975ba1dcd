"""Rules that vary a question: golden texts, what makes them invalid, and properties over any text."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustcs.inputs.texts import read_texts
from robustcs.retrieval.rewriting import history
from robustcs.similarity.function_words import words_of
from robustcs.studies.paraphrase.analysis import (
    RULES,
    drop_antecedent,
    drop_function_words,
    elide,
    misspell,
    reorder,
    use_pronoun,
)
from tests.conftest import ROOT

GARAGE = ["How do you know when your garage door opener is going bad?"]
KEYS = {
    "q": "wa",
    "w": "qeas",
    "p": "ol",
    "a": "qwsz",
    "s": "weadzx",
    "l": "opk",
    "z": "asx",
    "m": "jkn",
    "h": "yugjbn",
}


@pytest.mark.parametrize(
    ("text", "earlier", "expected"),
    [
        ("What licenses are needed for a garage door opener?", GARAGE, "What licenses are needed?"),
        ("What are the symptoms of anemia?", ["What is anemia?"], "What are the symptoms?"),
        (
            "What came after the Bronze Age collapse there?",
            ["Tell me about the Bronze Age collapse."],
            "What came there?",
        ),
        # a subject or an object cannot be left out, nor what nobody named before
        ("Why doesn't honey spoil?", ["Does honey spoil?"], None),
        ("How do I choose a garage door opener?", GARAGE, None),
        ("What licenses are needed for a food truck?", GARAGE, None),
        # nothing would be left, or a name would be cut
        ("What about the garage door opener?", GARAGE, None),
        ("What is it like in Washington D.C. today?", ["Tell me about Washington."], None),
    ],
)
def test_dropping_the_antecedent(text: str, earlier: list[str], expected: str | None) -> None:
    assert drop_antecedent(text, earlier) == expected


@pytest.mark.parametrize(
    ("text", "earlier", "expected"),
    [
        ("How do I choose a garage door opener?", GARAGE, "How do I choose it?"),
        ("Why doesn't honey spoil?", ["Bees make honey."], "Why doesn't it spoil?"),
        # two words after it: which is the verb?
        ("Why did bees die out?", ["Tell me about bees."], "Why did they die out?"),
        (
            "Why did bees suddenly die?",
            ["Tell me about bees."],
            None,
        ),
        ("Why do bees die?", ["Tell me about bees."], "Why do they die?"),
        ("How do I keep the bees warm?", ["Tell me about bees."], None),
        (
            "What is the role of the bees in this?",
            ["Tell me about bees."],
            "What is the role of them in this?",
        ),
        (
            "How did Michael Jackson’s medicine work?",
            ["Who was Michael Jackson?"],
            "How did its medicine work?",
        ),
        ("The dog barks, why?", ["I have a dog."], None),
        ("The dog, why does it bark?", ["I have a dog."], "It, why does it bark?"),
        # a part of a longer name, a list, a verb, and a text of two words
        ("Where is the Venus flytrap native to?", ["Tell me about Venus."], None),
        ("Do the bees and wasps fight?", ["Tell me about bees."], None),
        ("What does it cost to replace?", ["Why replace it?"], None),
        ("How about bees?", ["Tell me about bees."], None),
    ],
)
def test_a_pronoun_for_it(text: str, earlier: list[str], expected: str | None) -> None:
    assert use_pronoun(text, earlier) == expected


def test_the_longest_antecedent_counts() -> None:
    earlier = ["What is milk?", "Is almond milk healthy?"]
    assert use_pronoun("What can replace milk in the almond milk recipe?", earlier) is None
    assert use_pronoun("Which vitamins does the milk have in the almond milk?", earlier) == (
        "Which vitamins does the milk have in it?"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "How much does it cost to replace a garage door opener?",
            "it cost replace garage door opener",
        ),
        ("Why is Batman not a member?", "Batman not member"),
        ("Why doesn't honey spoil?", "doesn't honey spoil"),
        ("cheap driveway", None),
        ("What is it?", None),
        ("What about the dog?", None),
    ],
)
def test_function_words_go(text: str, expected: str | None) -> None:
    assert drop_function_words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What are common treatments for it?", "Common treatments for it?"),
        ("Can you tell me more about the bees there?", "The bees there?"),
        ("What are my cat's desires?", "My cat's desires?"),
        ("Why doesn't honey spoil?", None),
        ("Tell me about bees.", None),
        ("Bees are what?", None),
        ("What is honey?", None),
    ],
)
def test_the_opening_goes(text: str, expected: str | None) -> None:
    assert elide(text) == expected


def test_typos_hit_a_neighbouring_key() -> None:
    texts = {seed: misspell("Haze shall swamp", seed) for seed in range(300)}
    assert {len(text or "") for text in texts.values()} == {16}
    for text in texts.values():
        assert text
        ((right, wrong),) = [
            pair for pair in zip("Haze shall swamp", text, strict=True) if pair[0] != pair[1]
        ]
        assert right.lower() not in KEYS or wrong in KEYS[right.lower()]
    assert all(text and text[0] == "H" for text in texts.values())
    assert misspell("Is it so?", 0) is None and misspell("naïve 1234", 0) is None
    assert (
        "LONDON"[:1] == (misspell("LONDON", 1) or "")[:1]
        and (misspell("LONDON", 1) or "").isupper()
    )


def test_words_change_places() -> None:
    found = {reorder("What does a smart opener do?", seed) for seed in range(20)}
    assert found == {"What does a opener smart do?"}
    assert reorder("What is honey?", 0) is None and reorder("honey, honey!", 0) is None
    # pairs of five content words
    assert len({reorder("one big red dog ran home", seed) for seed in range(200)}) == 10


TEXT = st.text(
    st.sampled_from("abz What is the of dog's O'Hara doesn't it, é? .-’\t(1)日"), max_size=60
)


@given(TEXT, st.lists(TEXT, max_size=3), st.integers(0, 5))
def test_any_text_is_varied_or_left(text: str, earlier: list[str], seed: int) -> None:
    for rule in RULES:
        varied = rule.make(text, earlier, seed)
        assert varied == rule.make(text, earlier, seed)
        if varied is None:
            continue
        assert varied != text and varied.strip()
        before, after = (Counter(word.plain for word in words_of(one)) for one in (text, varied))
        if rule.category == "word order":
            assert before == after
        if rule.category in ("function words", "ellipsis", "antecedent"):
            assert after <= before and after != before
        if rule.category == "typo":
            assert (
                len(varied) == len(text)
                and sum(a != b for a, b in zip(text, varied, strict=True)) == 1
            )


def test_the_same_on_every_start(shared_data: Path) -> None:
    texts = read_texts(shared_data / "cast2020" / "topics_manual.json", "human")
    earlier = history(texts)
    code = "from robustcs.studies.paraphrase.analysis import *; import json, sys; t = json.load(sys.stdin)"
    code += "; print(json.dumps([[r.make(x, e, 7) for r in RULES] for x, e in t]))"
    given_ = json.dumps([[texts[turn], earlier[turn]] for turn in texts])
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=given_,
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert json.loads(done.stdout) == [
        [rule.make(texts[turn], earlier[turn], 7) for rule in RULES] for turn in texts
    ]


def test_names_of_the_categories() -> None:
    assert [rule.category for rule in RULES] == [
        "antecedent",
        "pronoun",
        "typo",
        "word order",
        "function words",
        "ellipsis",
    ]
