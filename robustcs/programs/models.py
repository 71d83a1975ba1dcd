"""Run local Hugging Face models as a program with JSON lines (docs/programs.md).

``python -m robustcs.programs.models --reformulate t5-cqr --paraphrase t5-para`` is for ``robustcs paraphrase --with``.
``robustcs retrieve`` runs it for the folders of ``rewriter`` and ``reranker``. Nothing is downloaded, and code in a model
folder is never run. The module is short; copy and change it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

SEPARATOR = " ||| "  # between the turns of a conversation, as in the training of T5-CQR
STAGES = {
    "reformulate": "{conversation}",
    "paraphrase": "{text}",
    "remove_context": "{text}",
    "rerank": "",
}
MAX_INPUT, MAX_OUTPUT = 512, 64
#: Sampling parameters of Fan et al. (2018) and Holtzman et al. (2019).
TOP_K, TOP_P = 50, 0.95

Requests = Sequence[dict[str, Any]]
#: Returns answers without ids for a batch of requests.
BatchModel = Callable[[Requests], Sequence[dict[str, Any]]]


def load(folder: str, kind: str, device: str) -> tuple[Any, Any]:
    """Return a model (half precision on a GPU) and its tokenizer."""
    import transformers

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    local = {"local_files_only": True, "trust_remote_code": False}
    model = getattr(transformers, kind).from_pretrained(folder, **local)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **local)
    return (model.half() if device == "cuda" else model).to(device).eval(), tokenizer


def writer(folder: str, device: str, template: str, decoding: str) -> BatchModel:
    """Return a sequence-to-sequence model: greedy for one text, else ``sampling`` of likely words or ``beam`` search."""
    import torch

    model, tokenizer = load(folder, "AutoModelForSeq2SeqLM", device)
    tokenizer.truncation_side = "left"  # a turn depends most on the end of a long history

    def reply(batch: Requests) -> list[dict[str, Any]]:
        inputs, number = [_input(template, one) for one in batch], batch[0].get("n", 1)
        if number > 1 and decoding == "sampling":
            digest = hashlib.sha256(
                "\0".join([str(batch[0].get("seed", 0)), *inputs]).encode("utf-8", "replace")
            ).digest()
            # the same batch gives the same texts
            torch.manual_seed(int.from_bytes(digest[:4], "big"))
            how: dict[str, Any] = {
                "do_sample": True,
                "top_k": TOP_K,
                "top_p": TOP_P,
                "num_beams": 1,
            }
        else:
            how = {"do_sample": False, "num_beams": number}
        encoded = tokenizer(
            inputs, return_tensors="pt", padding=True, truncation=True, max_length=MAX_INPUT
        ).to(device)
        with torch.inference_mode():
            ids = model.generate(
                input_ids=encoded["input_ids"], attention_mask=encoded["attention_mask"], max_new_tokens=MAX_OUTPUT,
                num_return_sequences=number, **how,
            )  # fmt: skip
        texts = [
            " ".join(text.split()) for text in tokenizer.batch_decode(ids, skip_special_tokens=True)
        ]
        return [
            {"texts": texts[place * number : (place + 1) * number]} for place in range(len(batch))
        ]

    return reply


def _input(template: str, request: dict[str, Any]) -> str:
    conversation = SEPARATOR.join([*request.get("history", ()), request["text"]])
    # not str.format: a template is data and may contain other braces
    return " ".join(
        template.replace("{conversation}", conversation).replace("{text}", request["text"]).split()
    )


def reranker(folder: str, device: str) -> BatchModel:
    """Return a scorer of ``text`` and ``passage``: monoT5 for an encoder-decoder model, else a cross-encoder.

    monoT5 (Nogueira et al. 2020): the probability of ``true`` against ``false`` as the first generated word after
    ``Query: … Document: … Relevant:``. A cross-encoder: its single logit, or the log-probability of the last class.
    """
    import torch
    import transformers

    config = transformers.AutoConfig.from_pretrained(
        folder, local_files_only=True, trust_remote_code=False
    )
    mono_t5 = config.is_encoder_decoder
    model, tokenizer = load(
        folder, f"AutoModelFor{'Seq2SeqLM' if mono_t5 else 'SequenceClassification'}", device
    )
    plain = {"add_special_tokens": False}
    true, false = (tokenizer.encode(word, **plain)[:1] for word in ("true", "false"))
    tail = tokenizer.encode(" Relevant:", **plain) + [
        one for one in [tokenizer.eos_token_id] if one is not None
    ]
    if mono_t5 and true == false:
        raise ValueError("its tokens for true and false are the same: give a monoT5 model")

    def scores(batch: Requests) -> Any:
        if not mono_t5:
            encoded = tokenizer(
                [one["text"] for one in batch], [one["passage"] for one in batch], return_tensors="pt", padding=True,
                truncation="only_second", max_length=MAX_INPUT,
            ).to(device)  # fmt: skip
            logits = model(**encoded).logits.double()
            return logits[:, 0] if logits.shape[1] == 1 else torch.log_softmax(logits, dim=1)[:, -1]
        # only the passage is truncated, never the question or the end of the prompt
        heads = [
            tokenizer.encode(f"Query: {one['text']} Document: {one['passage']}", **plain)
            for one in batch
        ]
        encoded = tokenizer.pad(
            {"input_ids": [head[: MAX_INPUT - len(tail)] + tail for head in heads]},
            return_tensors="pt",
        )
        start = torch.full((len(batch), 1), model.config.decoder_start_token_id, dtype=torch.long)
        inputs = {
            "input_ids": encoded["input_ids"],
            "attention_mask": encoded["attention_mask"],
            "decoder_input_ids": start,
        }
        logits = model(**{name: values.to(device) for name, values in inputs.items()}).logits[
            :, 0, [*false, *true]
        ]
        return torch.log_softmax(logits.double(), dim=1)[:, 1].exp()

    def reply(batch: Requests) -> list[dict[str, Any]]:
        with torch.inference_mode():
            return [{"score": score} for score in scores(batch).tolist()]

    return reply


def replies_to(requests: Requests, given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the answers to all requests, in batches of texts with similar length."""
    import torch

    device = (
        given.device if given.device != "auto" else "cuda" if torch.cuda.is_available() else "cpu"
    )
    templates = STAGES | dict(prompt.split("=", 1) for prompt in given.prompt)

    def order(one: dict[str, Any]) -> tuple[Any, ...]:
        texts = [one["text"], one.get("passage", ""), *one.get("history", ())]
        return one["stage"], one.get("n", 1), len("".join(texts)), texts

    for (stage, _), some in groupby(sorted(requests, key=order), lambda one: order(one)[:2]):
        folder, queue = getattr(given, stage, None), list(some)
        if folder is None:
            raise ValueError(
                f"no model for {stage}: give its folder with --{stage.replace('_', '-')}"
            )
        model = (
            reranker(folder, device)
            if stage == "rerank"
            else writer(folder, device, templates[stage], given.decoding)
        )
        for start in range(0, len(queue), given.batch):
            batch = queue[start : start + given.batch]
            yield from (
                {"id": one["id"], **reply} for one, reply in zip(batch, model(batch), strict=True)
            )


def main() -> None:
    """Answer the requests on stdin; an error is printed as the last line on stderr."""
    parser = argparse.ArgumentParser("python -m robustcs.programs.models", description=main.__doc__)
    for stage in STAGES:
        parser.add_argument(
            f"--{stage.replace('_', '-')}", metavar="FOLDER", help="model of this stage"
        )
    parser.add_argument(
        "--device", default="auto", choices=["auto", "cpu", "cuda"], help="auto: a GPU if available"
    )
    parser.add_argument("--batch", default=16, type=int, metavar="N", help="texts per batch")
    parser.add_argument(
        "--decoding",
        default="sampling",
        choices=["sampling", "beam"],
        help="how several texts are generated",
    )
    parser.add_argument(
        "--prompt",
        default=[],
        action="append",
        metavar="STAGE=TEMPLATE",
        help="template with {text} or {conversation}",
    )
    given = parser.parse_args()
    try:
        for reply in replies_to([json.loads(line) for line in sys.stdin], given):
            print(json.dumps(reply), flush=True)
    except Exception as error:  # transformers raises many kinds of errors for damaged models
        sys.exit(str(error).strip().split("\n")[0][:300] or type(error).__name__)


if __name__ == "__main__":
    main()
