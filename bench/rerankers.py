"""Measure re-rankers: ``python bench/rerankers.py [--pairs N] [--batch N ...] [--threads N] [--device D]``.

The models have the shapes of well-known models but random weights, since speed depends only on the shape. robustcs loads them
from a temporary folder and scores with them. Questions have 12 words and passages 40 to 160, one token each. On a CPU, seconds
are CPU time divided by threads, so other programs do not count. On a GPU, they are wall time.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import torch
from measure import machine
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

from robustcs.programs.models import reranker

VOCABULARY = 30_522
#: The first three tokens, and the prompt and answers of monoT5.
SPECIAL = ("[PAD]", "[UNK]", "[SEP]", "Query:", "Document:", "Relevant:", "true", "false")
#: Size of a study: passages per turn, turns of CAsT 2020, systems.
STUDY = (100, 208, 8)


def bert(hidden: int, layers: int, heads: int) -> Callable[[], Any]:
    """Return a cross-encoder of this shape."""
    return lambda: BertForSequenceClassification(
        BertConfig(vocab_size=VOCABULARY, hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=heads,
                   intermediate_size=4 * hidden, num_labels=1)
    )  # fmt: skip


def t5(width: int, feed_forward: int, layers: int, heads: int) -> Callable[[], Any]:
    """Return a monoT5 of this shape."""
    return lambda: T5ForConditionalGeneration(
        T5Config(vocab_size=VOCABULARY, d_model=width, d_ff=feed_forward, num_layers=layers, num_heads=heads,
                 decoder_start_token_id=0, pad_token_id=0)
    )  # fmt: skip


SHAPES = {
    "MiniLM-L6 (6 layers of 384)": bert(384, 6, 12),
    "MiniLM-L12 (12 layers of 384)": bert(384, 12, 12),
    "BERT-base (12 layers of 768)": bert(768, 12, 12),
    "monoT5-base (12 + 12 layers of 768)": t5(768, 3072, 12, 12),
}


def save(folder: Path, build: Callable[[], Any]) -> None:
    """Save a model with random weights and a tokenizer of whole words."""
    torch.manual_seed(0)
    build().save_pretrained(folder)
    words = [*SPECIAL, *(f"w{number}" for number in range(VOCABULARY - len(SPECIAL)))]
    fast = Tokenizer(
        models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="[UNK]")
    )
    fast.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    fast.post_processor = processors.TemplateProcessing(
        single="$A", pair="$A [SEP] $B:1 [SEP]:1", special_tokens=[("[SEP]", 2)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=fast, pad_token="[PAD]", unk_token="[UNK]", sep_token="[SEP]"
    ).save_pretrained(folder)  # fmt: skip


def pairs(number: int) -> list[dict[str, str]]:
    """Return requests of one question with ``number`` passages, ordered by length."""
    source = random.Random(0)
    words = [f"w{place}" for place in range(20_000)]
    question = " ".join(source.choices(words, k=12))
    passages = [" ".join(source.choices(words, k=source.randint(40, 160))) for _ in range(number)]
    return [{"text": question, "passage": passage} for passage in sorted(passages, key=len)]


def main() -> None:
    """Print a row for every shape and batch."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--batch", type=int, nargs="+", default=[16])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    device = given.device
    clock = time.perf_counter if device == "cuda" else time.process_time
    some, asked = pairs(given.pairs), STUDY[0] * STUDY[1] * STUDY[2]
    print(
        f"{machine()} · torch {torch.__version__} on {device}, {given.threads} thread(s), {given.pairs} pairs\n"
    )
    head = f"{STUDY[0]} passages × {STUDY[1]} turns × {STUDY[2]} systems ({asked:,} pairs)"
    print(f"| shape | batch | pairs per second | {head} |\n|---|--:|--:|--:|")
    for name, build in SHAPES.items():
        with TemporaryDirectory() as temporary:
            save(Path(temporary), build)
            for batch in given.batch:
                answers = reranker(temporary, device)
                batches = [some[start : start + batch] for start in range(0, len(some), batch)]
                answers(batches[0])
                taken = []
                for _ in range(given.repeats):
                    started = clock()
                    for one in batches:
                        answers(one)
                    taken.append(clock() - started)
                threads = 1 if device == "cuda" else given.threads
                rate = len(some) * threads / statistics.median(taken)
                print(
                    f"| {name} | {batch} | {rate:.1f} | {asked / rate / 3600:.1f} h |", flush=True
                )


if __name__ == "__main__":
    main()
