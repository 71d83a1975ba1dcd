"""The stages before and after retrieval: contexts, tables, and models that are asked over the protocol of programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robustcs.errors import InputError, NotInstalledError, UsageError
from robustcs.programs.models import SEPARATOR
from robustcs.programs.runner import Replies
from robustcs.retrieval import rewriting
from robustcs.retrieval.rewriting import history, rerank, rewrite
from robustcs.retrieval.settings import RetrievalSettings
from tests.retrieval_support import needs_transformers, save_mono_t5, save_rewriter

TEXTS = {"1_1": "bees live", "1_2": "eat honey", "2_1": "bicycle chain"}
PASSAGES = {"a": "bicycle chain", "b": "bees eat honey", "c": "bees live winter", "d": "honey"}
RANKING = {"q": (["a", "b", "d", "c"], np.array([9.0, 8.0, 7.0, 6.0]))}


def untracked(items, what, total):  # type: ignore[no-untyped-def]
    return items


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROBUSTCS_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def settings(tmp_path: Path) -> RetrievalSettings:
    """With the folder of a model for both stages, which tests fill, or answer in place of."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    return RetrievalSettings(
        Path("index"), rewriter=str(tmp_path / "model"), reranker=tmp_path / "model", device="cpu"
    )


def answering(
    monkeypatch: pytest.MonkeyPatch, answer: Callable[[Mapping[str, Any]], Any]
) -> list[dict[str, Any]]:
    """Answers every request in place of the program, and keeps answers as it does; gives what was asked."""
    asked: list[dict[str, Any]] = []

    def copies(call: Any, lines: Any, keep: Any, *, accept: Any, **more: Any) -> Replies:
        asked.extend(lines)
        answers = {line["id"]: answer(line) for line in lines}
        keep(answers)
        return Replies(answers)

    monkeypatch.setattr("robustcs.programs.runner.call_working_program", copies)
    return asked


def test_history_follows_the_conversation_and_not_the_file() -> None:
    texts = {"1_10": "ten", "2_1": "other", "1_2": "two", "1_1": "one", "alone": "?"}
    assert history(texts) == {
        "1_10": ["one", "two"],
        "2_1": [],
        "1_2": ["one"],
        "1_1": [],
        "alone": [],
    }


@needs_transformers
def test_a_rewriter_from_a_folder(
    settings: RetrievalSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_rewriter(Path(str(settings.rewriter)))
    expected = {"1_1": "bees live", "1_2": "bees eat honey", "2_1": "bicycle chain"}
    assert rewrite(settings, TEXTS, untracked) == (expected, [])
    monkeypatch.setattr("robustcs.programs.runner.start", None)  # nothing is asked again
    assert rewrite(settings, TEXTS, untracked) == (expected, [])


def test_a_turn_for_which_the_model_writes_nothing_keeps_its_question(
    settings: RetrievalSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answering(
        monkeypatch, lambda one: {"texts": ["bicycle chain" * (one["text"] == "chain ?")]}
    )
    texts = {"1_1": "bees live", "1_2": "they eat", "2_1": "chain ?"}
    for _ in range(2):
        rewritten, empty = rewrite(settings, texts, untracked)
        assert rewritten == {"1_1": "bees live", "1_2": "they eat", "2_1": "bicycle chain"}
        assert empty == ["1_1", "1_2"]
    assert [(one["stage"], one["history"]) for one in asked] == [
        ("reformulate", []), ("reformulate", ["bees live"]), ("reformulate", []),
    ]  # fmt: skip
    assert SEPARATOR == " ||| "


def order(settings: RetrievalSettings, depth: int) -> tuple[list[str], list[float]]:
    found = rerank(
        replace(settings, rerank_depth=depth),
        {"q": "bees eat"},
        RANKING,
        lambda wanted: PASSAGES,
        untracked,
    )
    return found["q"][0], found["q"][1].tolist()


@needs_transformers
def test_a_reranker_from_a_folder(
    settings: RetrievalSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_mono_t5(settings.reranker)  # type: ignore[arg-type]
    ids, scores = order(settings, 2)
    assert (
        ids == ["b", "a", "d", "c"]
        and 1 > scores[0] > 0.5 > scores[1] > 0
        and scores[2] == scores[1] - 1
    )
    monkeypatch.setattr("robustcs.programs.runner.start", None)
    assert order(settings, 2) == (ids, scores)
    with pytest.raises(TypeError):  # one more is not known
        order(settings, 3)


def test_known_scores_are_not_computed_again(
    settings: RetrievalSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answering(monkeypatch, lambda one: {"score": float(len(one["passage"]))})
    assert order(settings, 3) == (["b", "a", "d", "c"], [14.0, 13.0, 5.0, 4.0])
    assert order(settings, 2)[0] == ["b", "a", "d", "c"] and len(asked) == 3
    assert order(settings, 4)[0] == ["c", "b", "a", "d"] and len(asked) == 4
    order(replace(settings, device="cuda"), 2)  # another precision is another model
    (Path(str(settings.reranker)) / "config.json").write_text("[]")
    order(settings, 2)
    assert len(asked) == 8


def test_a_passage_without_text_is_told(settings: RetrievalSettings) -> None:
    with pytest.raises(
        UsageError, match=r"^the collection has no text of 1 passage to re-rank \(b …\)"
    ):
        rerank(
            settings,
            {"q": "x"},
            {"q": (["a", "b"], np.array([2.0, 1.0]))},
            lambda wanted: {"a": "x"},
            untracked,
        )


def test_without_transformers(settings: RetrievalSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewriting, "find_spec", lambda name: None)
    with pytest.raises(
        NotInstalledError, match=r"install them with: pip install 'robustcs\[neural\]'$"
    ):
        rewrite(settings, TEXTS, untracked)


@needs_transformers
def test_a_damaged_model(settings: RetrievalSettings) -> None:
    with pytest.raises(
        InputError, match="model: the model exited with status 1: .*; give a model that can rerank"
    ):
        order(settings, 1)


def test_not_a_model(settings: RetrievalSettings, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a model: the folder has no config.json"):
        rewrite(replace(settings, rewriter=str(tmp_path)), TEXTS, untracked)
    with pytest.raises(
        InputError, match="gone: no such folder; name the folder of a Hugging Face model"
    ):
        order(replace(settings, reranker=tmp_path / "gone"), 1)
