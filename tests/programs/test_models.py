"""The program of local models, on tiny ones that are built and trained here."""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from robustcs.programs import models
from robustcs.programs.models import load, replies_to, reranker, writer
from tests.retrieval_support import (
    PAIRS,
    WORDS,
    needs_gpu,
    needs_transformers,
    save_mono_t5,
    save_rewriter,
    tokenizer,
    train,
)

pytestmark = needs_transformers


@pytest.fixture(scope="module")
def rewriter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rewriter")
    save_rewriter(folder)
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
    inputs = words(
        [query for query, *_ in PAIRS],
        [text for _, text, _ in PAIRS],
        return_tensors="pt",
        padding=True,
    )
    train(model, 60, **inputs, labels=torch.tensor([[float(relevant)] for *_, relevant in PAIRS]))
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def given(**settings: Any) -> argparse.Namespace:
    stages = dict.fromkeys(models.STAGES)
    return argparse.Namespace(
        **{**stages, "device": "cpu", "batch": 16, "decoding": "sampling", "prompt": [], **settings}
    )


def scores(
    folder: Path, pairs: list[tuple[str, str]], batch: int = 16, device: str = "cpu"
) -> list[float]:
    asked = [
        {"id": place, "stage": "rerank", "text": one, "passage": two}
        for place, (one, two) in enumerate(pairs)
    ]
    found = {
        one["id"]: one["score"]
        for one in replies_to(asked, given(rerank=str(folder), batch=batch, device=device))
    }
    return [found[place] for place in range(len(pairs))]


def written(folder: Path, stage: str, number: int = 1, **settings: Any) -> dict[str, list[str]]:
    asked = [{"id": "a", "text": "bees live", "history": []}, {"id": "b", "text": "eat honey", "history": ["bees live"]},
             {"id": "c", "text": "bicycle chain", "history": []}]  # fmt: skip
    asked = [{**one, "stage": stage, "n": number, "seed": 3} for one in asked]
    return {
        one["id"]: one["texts"]
        for one in replies_to(asked, given(**{stage: str(folder)}, **settings))
    }


def test_a_model_reformulates_with_its_history(rewriter: Path) -> None:
    assert written(rewriter, "reformulate") == {
        "a": ["bees live"],
        "b": ["bees eat honey"],
        "c": ["bicycle chain"],
    }
    assert written(rewriter, "reformulate", prompt=["reformulate={text}"])["b"] != [
        "bees eat honey"
    ]


def test_several_texts_are_drawn_by_the_seed_or_beamed(rewriter: Path) -> None:
    drawn = written(rewriter, "paraphrase", 6)
    assert drawn == written(rewriter, "paraphrase", 6) and [
        len(texts) for texts in drawn.values()
    ] == [6, 6, 6]
    beam = written(rewriter, "paraphrase", 2, decoding="beam")
    assert beam["c"][0] == "bicycle chain" and beam == written(
        rewriter, "paraphrase", 2, decoding="beam", batch=1
    )


def test_mono_t5_is_the_softmax_of_true_and_false(mono_t5: Path) -> None:
    import torch

    model, words = load(str(mono_t5), "AutoModelForSeq2SeqLM", "cpu")
    true, false = words.convert_tokens_to_ids(["true", "false"])
    found = scores(mono_t5, [(query, text) for query, text, _ in PAIRS])
    for (query, text, relevant), score in zip(PAIRS, found, strict=True):
        ids = words(f"Query: {query} Document: {text} Relevant:", return_tensors="pt")["input_ids"]
        with torch.inference_mode():
            logits = model(input_ids=ids, decoder_input_ids=torch.tensor([[0]])).logits[0, 0]
        expected = 1 / (1 + math.exp(float(logits[false] - logits[true])))
        assert score == pytest.approx(expected, abs=1e-5) and (score > 0.5) == relevant


@pytest.mark.parametrize("kind", ["mono_t5", "cross_encoder"])
def test_a_score_depends_neither_on_the_batch_nor_on_the_order(
    kind: str, request: pytest.FixtureRequest
) -> None:
    folder: Path = request.getfixturevalue(kind)
    pairs = [
        (query, text)
        for query, _, _ in PAIRS
        for text in ("bees eat honey", "chain", "bees live winter eat honey")
    ]
    alone = scores(folder, pairs, batch=1)
    for batch in (2, 5, 100):
        assert scores(folder, pairs, batch) == pytest.approx(alone, abs=1e-5)


def test_a_long_passage_is_cut_and_the_prompt_stays(mono_t5: Path) -> None:
    long = "bees eat honey " * 600
    first, second = scores(mono_t5, [("bees eat", long), ("bees eat", long + "bicycle " * 50)])
    assert first == pytest.approx(second, abs=1e-6)


def test_what_goes_wrong_is_one_line(rewriter: Path, cross_encoder: Path, tmp_path: Path) -> None:
    def said(*words: str, stage: str = "paraphrase") -> str:
        request = (
            json.dumps({"id": "0", "stage": stage, "text": "bees", "passage": "bees", "n": 1})
            + "\n"
        )
        command = [sys.executable, "-m", "robustcs.programs.models", *words]
        done = subprocess.run(command, input=request, capture_output=True, text=True)
        assert done.returncode == 1 and not done.stdout
        return done.stderr.strip().splitlines()[-1]

    assert (
        said("--reformulate", str(rewriter))
        == "no model for paraphrase: give its folder with --paraphrase"
    )
    (tmp_path / "config.json").write_text("{}")
    assert "Unrecognized model" in said("--rerank", str(tmp_path), stage="rerank")


@needs_gpu
def test_a_gpu_works_in_half_precision_as_the_processor_does(
    rewriter: Path, mono_t5: Path, cross_encoder: Path
) -> None:
    assert written(rewriter, "reformulate", device="cuda") == written(rewriter, "reformulate")
    pairs = [(query, text) for query, text, _ in PAIRS]
    for folder in (mono_t5, cross_encoder):
        here, there = scores(folder, pairs), scores(folder, pairs, device="cuda")
        assert there == pytest.approx(here, abs=0.02) and there != here


def test_words_that_begin_alike_are_no_mono_t5(rewriter: Path, mono_t5: Path) -> None:
    assert callable(writer(str(rewriter), "cpu", "{text}", "beam")) and callable(
        reranker(str(mono_t5), "cpu")
    )
