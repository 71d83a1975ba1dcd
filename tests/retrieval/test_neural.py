"""The stages before and after retrieval, on tiny models that are built and trained here."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from robustcs.errors import InputError, NotInstalledError, UsageError
from robustcs.retrieval import models
from robustcs.retrieval.reranking import load_reranker, rerank
from robustcs.retrieval.rewriting import history, rewrite
from robustcs.retrieval.store import RankingStore, digest
from tests.retrieval_support import PAIRS, WORDS, needs_gpu, needs_transformers, save_mono_t5, t5, tokenizer, train

TEXTS = {"1_1": "bees live", "1_2": "eat honey", "2_1": "bicycle chain"}


def untracked(items, what, total):  # type: ignore[no-untyped-def]
    return items


@pytest.fixture(scope="module")
def rewriter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Learns to write down the words of the history and the turn in a fixed way."""
    folder, words, model = tmp_path_factory.mktemp("rewriter"), tokenizer(True), t5()
    inputs = words(["bees live", "bees live ||| eat honey", "bicycle chain"], return_tensors="pt", padding=True)
    targets = words(["bees live", "bees eat honey", "bicycle chain"], return_tensors="pt", padding=True)["input_ids"]
    targets[targets == 0] = -100
    train(model, 80, input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"], labels=targets)
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def mono_t5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Learns to say true and false."""
    folder = tmp_path_factory.mktemp("monot5")
    save_mono_t5(folder)
    return folder


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One logit for a pair."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(0)
    folder, words = tmp_path_factory.mktemp("cross"), tokenizer(False)
    model = BertForSequenceClassification(
        BertConfig(vocab_size=4 + len(WORDS), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
                   num_labels=1, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    )  # fmt: skip
    inputs = words([query for query, *_ in PAIRS], [text for _, text, _ in PAIRS], return_tensors="pt", padding=True)
    train(model, 60, **inputs, labels=torch.tensor([[float(relevant)] for *_, relevant in PAIRS]))
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def test_history_follows_the_conversation_and_not_the_file() -> None:
    texts = {"1_10": "ten", "2_1": "other", "1_2": "two", "1_1": "one", "alone": "?"}
    assert history(texts) == {"1_10": ["one", "two"], "2_1": [], "1_2": ["one"], "1_1": [], "alone": []}


@needs_transformers
def test_a_rewriter_from_a_folder(rewriter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = RankingStore(tmp_path / "store.sqlite")
    expected = {"1_1": "bees live", "1_2": "bees eat honey", "2_1": "bicycle chain"}
    assert rewrite(str(rewriter), TEXTS, store, untracked) == (expected, [])

    def refuse(*_: object) -> None:
        raise AssertionError("loaded again")

    monkeypatch.setattr("robustcs.retrieval.generation.load_model", refuse)
    assert rewrite(str(rewriter), TEXTS, store, untracked) == (expected, [])


def test_a_turn_for_which_the_model_writes_nothing_keeps_its_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a model that knows one conversation only; what it wrote is known the second time."""
    (tmp_path / "model").mkdir()
    module = "robustcs.retrieval.generation"
    monkeypatch.setattr(f"{module}.transformers", lambda: (SimpleNamespace(AutoModelForSeq2SeqLM=None), None))
    monkeypatch.setattr(f"{module}.load_model", lambda *_: (None, None))
    outputs = lambda *parts: ["bicycle chain" * (text == "chain ?") for text in parts[3]]  # noqa: E731
    monkeypatch.setattr(f"{module}.Generator._outputs", outputs)
    store = RankingStore(tmp_path / "store.sqlite")
    texts = {"1_1": "bees live", "1_2": "they eat", "2_1": "chain ?"}
    for _ in range(2):
        rewritten, empty = rewrite(str(tmp_path / "model"), texts, store, untracked)
        assert rewritten == {"1_1": "bees live", "1_2": "they eat", "2_1": "bicycle chain"}
        assert empty == ["1_1", "1_2"]


@needs_transformers
@pytest.mark.parametrize("kind", ["mono_t5", "cross_encoder"])
def test_a_reranker_from_a_folder(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder: Path = request.getfixturevalue(kind)
    passages = {"a": "bicycle chain", "b": "bees eat honey", "c": "bees live winter", "d": "honey"}
    key = digest("bees eat")
    ranking = {key: (["a", "b", "d", "c"], np.array([9.0, 8.0, 7.0, 6.0]))}
    store = RankingStore(tmp_path / "store.sqlite")

    def order(depth: int) -> tuple[list[str], list[float]]:
        found = rerank(folder, {key: "bees eat"}, ranking, lambda wanted: passages, depth, store, untracked)
        return found[key][0], found[key][1].tolist()

    ids, scores = order(2)
    assert ids == ["b", "a", "d", "c"] and scores == sorted(scores, reverse=True) and scores[2] == scores[1] - 1
    pairs = [("bees eat", passages["b"]), ("bees eat", passages["a"])]
    assert scores[:2] == pytest.approx(load_reranker(folder)(pairs), abs=1e-5)
    if kind == "mono_t5":
        assert scores[0] > 0.5 > scores[1] > 0 and scores[0] < 1

    def refuse(*_: object) -> None:
        raise AssertionError("loaded again")

    monkeypatch.setattr("robustcs.retrieval.reranking.load_model", refuse)
    assert order(2) == (ids, scores)
    with pytest.raises(AssertionError, match="loaded again"):
        order(3)


@needs_transformers
def test_mono_t5_is_the_softmax_of_true_and_false(mono_t5: Path) -> None:
    import torch

    model, words = models.load_model(mono_t5, models.transformers()[0].AutoModelForSeq2SeqLM)
    true, false = words.convert_tokens_to_ids(["true", "false"])
    found = load_reranker(mono_t5)([(query, text) for query, text, _ in PAIRS])
    for (query, text, relevant), score in zip(PAIRS, found, strict=True):
        ids = words(f"Query: {query} Document: {text} Relevant:", return_tensors="pt")["input_ids"]
        with torch.inference_mode():
            logits = model(input_ids=ids, decoder_input_ids=torch.tensor([[0]])).logits[0, 0]
        expected = 1 / (1 + math.exp(float(logits[false] - logits[true])))
        assert score == pytest.approx(expected, abs=1e-5) and (score > 0.5) == relevant


@needs_transformers
@pytest.mark.parametrize("kind", ["mono_t5", "cross_encoder"])
def test_a_score_depends_neither_on_the_batch_nor_on_the_order(kind: str, request: pytest.FixtureRequest) -> None:
    folder: Path = request.getfixturevalue(kind)
    pairs = [(query, text) for query, _, _ in PAIRS for text in ("bees eat honey", "chain", "bees live winter eat honey")]
    alone = [load_reranker(folder, batch=1)([pair])[0] for pair in pairs]
    assert len(set(pairs)) < len(pairs)
    for batch in (1, 2, 5, 100):
        assert load_reranker(folder, batch=batch)(pairs) == pytest.approx(alone, abs=1e-5)


@needs_gpu
def test_a_gpu_writes_what_the_processor_writes(rewriter: Path, tmp_path: Path) -> None:
    here, there = (rewrite(str(rewriter), TEXTS, RankingStore(tmp_path / name), untracked, name) for name in ("cpu", "cuda"))
    assert here == there


@needs_gpu
@pytest.mark.parametrize("kind", ["mono_t5", "cross_encoder"])
def test_a_gpu_scores_in_half_precision_as_the_processor_does(kind: str, request: pytest.FixtureRequest) -> None:
    folder: Path = request.getfixturevalue(kind)
    pairs = [(query, text) for query, text, _ in PAIRS]
    here, there = load_reranker(folder)(pairs), load_reranker(folder, "cuda")(pairs)
    assert there == pytest.approx(here, abs=0.02) and there != here


@needs_transformers
def test_scores_of_another_precision_are_not_taken(
    cross_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, store = digest("bees"), RankingStore(tmp_path / "store.sqlite")
    told = []

    def fake(folder: Path, device: str, batch: int) -> Any:
        told.append((device, batch))
        return lambda pairs: [float(len(told)) for _ in pairs]

    monkeypatch.setattr("robustcs.retrieval.reranking.load_reranker", fake)

    def scores(device: str) -> list[float]:
        monkeypatch.setattr("robustcs.retrieval.reranking.chosen_device", lambda name: device)
        ranking = {key: (["a"], np.array([9.0]))}
        found = rerank(cross_encoder, {key: "bees"}, ranking, lambda _: {"a": "x"}, 1, store, untracked, "auto", 7)
        return list(found[key][1])

    assert [scores(name) for name in ("cpu", "cuda", "cpu", "cuda")] == [[1], [2], [1], [2]]
    assert told == [("cpu", 7), ("cuda", 7)]


def test_where_models_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def torch(gpu: bool) -> tuple[None, SimpleNamespace]:
        return None, SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: gpu))

    monkeypatch.setattr(models, "find_spec", lambda name: None)
    assert (models.chosen_device("cpu"), models.chosen_device("auto")) == ("cpu", "cpu")
    monkeypatch.setattr(models, "find_spec", lambda name: name)
    for gpu, expected in ((False, "cpu"), (True, "cuda")):
        monkeypatch.setattr(models, "transformers", lambda gpu=gpu: torch(gpu))
        assert (models.chosen_device("cpu"), models.chosen_device("auto")) == ("cpu", expected)
    assert models.chosen_device("cuda") == "cuda"
    monkeypatch.setattr(models, "transformers", lambda: torch(False))
    with pytest.raises(UsageError, match=r"^--device cuda: torch finds no GPU"):
        models.chosen_device("cuda")


def test_batches_are_of_like_length_and_know_no_order() -> None:
    pairs = [("a", "long text"), ("a", "b"), ("ab", ""), ("a", "long text"), ("a", "mid")]
    expected = [[("a", "b"), ("ab", "")], [("a", "mid"), ("a", "long text")]]
    assert models.in_batches(pairs, 2) == models.in_batches(pairs[::-1], 2) == expected
    assert models.in_batches(["ccc", "b", "aa", "b"], 10) == [["b", "aa", "ccc"]]
    assert models.in_batches([], 3) == []


@needs_transformers
def test_a_long_passage_is_cut_and_the_prompt_stays(mono_t5: Path) -> None:
    score = load_reranker(mono_t5)
    long = "bees eat honey " * 600
    assert score([("bees eat", long)]) == pytest.approx(score([("bees eat", long + "bicycle " * 50)]), abs=1e-6)


@needs_transformers
def test_a_passage_without_text_is_told(mono_t5: Path, tmp_path: Path) -> None:
    ranking = {"q": (["a", "b"], np.array([2.0, 1.0]))}
    with pytest.raises(UsageError, match=r"^1 passages to re-rank have no text in the collection \(b …\)"):
        rerank(mono_t5, {"q": "x"}, ranking, lambda wanted: {"a": "x"}, 5, RankingStore(tmp_path / "s"), untracked)


def test_without_transformers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(NotInstalledError, match=r"install them with: pip install 'robustcs\[neural\]'$"):
        rewrite(str(tmp_path), TEXTS, RankingStore(tmp_path / "s"), untracked)


@needs_transformers
def test_not_a_model(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a model: the folder has no config.json"):
        rewrite(str(tmp_path), TEXTS, RankingStore(tmp_path / "s"), untracked)
