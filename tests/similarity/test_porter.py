"""The stemmer beside NLTK's."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import example, given, settings

from robustcs.similarity import porter

_ENDINGS = (
    *("", "s", "es", "sses", "ed", "ied", "eed", "ing", "y", "ly", "e", "ee", "ll", "alli", "logi", "sion", "tion"),
    *(suffix for rules in (porter._DOUBLE, porter._SINGLE, porter._LAST) for suffix, _ in rules),
)


@pytest.fixture(scope="module")
def nltk_stem():  # type: ignore[no-untyped-def]
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer().stem


def test_every_word_of_real_questions_and_of_the_irregular_ones(nltk_stem, shared_data: Path) -> None:  # type: ignore[no-untyped-def]
    texts = (shared_data / "cast2019" / "runs" / "rewrites_cv.jsonl").read_text(encoding="utf-8")
    texts += json.dumps([json.loads(line)["contents"] for line in _lines(shared_data / "cast2020" / "passages.jsonl.gz")])
    found = {*re.findall(r"[A-Za-z0-9]+", texts), *porter._IRREGULAR}
    assert len(found) > 10_000
    assert {word: porter.stem(word) for word in found} == {word: nltk_stem(word) for word in found}


def _lines(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return list(file)


@given(st.text("abceilmnosty", max_size=6), st.lists(st.sampled_from(_ENDINGS), max_size=3))
@settings(max_examples=2_000)
@example("y" * 2_000, [])
def test_any_letters_and_endings(nltk_stem, start: str, endings: list[str]) -> None:  # type: ignore[no-untyped-def]
    word = start + "".join(endings)
    assert porter.stem(word) == nltk_stem(word)


@given(st.text(max_size=8))
def test_any_text(nltk_stem, text: str) -> None:  # type: ignore[no-untyped-def]
    assert porter.stem(text) == nltk_stem(text)


def test_rouge_and_coverage_do_without_nltk() -> None:
    code = (
        "import sys; from robustcs.similarity import coverage, rouge; rouge.rouge(['stems'], ['stemming']);"
        " assert coverage.reader()('stems') and 'nltk' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
