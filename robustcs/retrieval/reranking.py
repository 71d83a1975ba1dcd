"""The stage after retrieval: the top of a ranking ordered anew by a model that reads question and passage together."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from robustcs.errors import UsageError, input_error
from robustcs.inputs.files import fingerprint
from robustcs.retrieval.index import Track
from robustcs.retrieval.models import chosen_device, in_batches, load_model, transformers
from robustcs.retrieval.search import Ranking
from robustcs.retrieval.store import RankingStore, digest

_MAX_LENGTH = 512

#: (question, passage) pairs → one score each, higher is better.
Score = Callable[[Sequence[tuple[str, str]]], list[float]]


def rerank(
    folder: Path,
    questions: Mapping[str, str],
    rankings: Mapping[str, Ranking],
    passages: Callable[[set[str]], Mapping[str, str]],
    depth: int,
    store: RankingStore,
    track: Track,
    device: str = "auto",
    batch: int = 16,
) -> dict[str, Ranking]:
    """The rankings (by the digest of their question) with the top ``depth`` in the model's order, the rest below as it was.

    ``passages`` gives the texts of passage ids. Scores are kept by model, precision, question and the passage's id and text;
    known ones are not computed again. The rest gets scores that go down by one from the lowest of the top. The model works on
    ``device`` (see :func:`~robustcs.retrieval.models.chosen_device`), on ``batch`` pairs at a time.

    Raises :class:`UsageError` where a passage has no text, :class:`InputError` where the folder is no re-ranker,
    :class:`NotInstalledError` where something is to be computed without torch and transformers.
    """
    wanted = {passage for found, _ in rankings.values() for passage in found[:depth]}
    texts = passages(wanted)
    if wanted - texts.keys():
        lacking = sorted(wanted - texts.keys())
        raise UsageError(
            "no-passage-text", f"{len(lacking)} passages to re-rank have no text in the collection ({lacking[0]} …)",
            "name the collection of this index with --collection",
        )  # fmt: skip
    device = chosen_device(device)
    model = hashlib.sha256(f"reranker {fingerprint(folder)} {_MAX_LENGTH} {device}".encode()).hexdigest()
    score: Score | None = None
    done = {}
    for key in track(list(rankings), f"re-ranking {len(rankings)} questions", len(rankings)):
        ids, scores = rankings[key]
        top = ids[:depth]
        # with the text in the key, another collection under equal ids gets scores of its own
        keys = {passage: f"{passage} {digest(texts[passage])}" for passage in top}
        known = store.scores(model, key, list(keys.values()))
        new = [passage for passage in top if keys[passage] not in known]
        if new:
            score = score or load_reranker(folder, device, batch)
            found = score([(questions[key], texts[passage]) for passage in new])
            computed = {keys[passage]: value for passage, value in zip(new, found, strict=True)}
            store.put_scores(model, key, computed)
            known |= computed
        done[key] = _ordered(ids, scores, [known[keys[passage]] for passage in top])
    return done


def _ordered(ids: list[str], scores: Iterable[float], top: list[float]) -> Ranking:
    # equal scores keep the first ranker's order
    order = sorted(range(len(top)), key=lambda place: -top[place])
    low = min(top, default=0.0)
    rest = [low - 1.0 - place for place in range(len(ids) - len(top))]
    return [*(ids[place] for place in order), *ids[len(top) :]], np.array([*(top[place] for place in order), *rest])


def load_reranker(folder: Path, device: str = "cpu", batch: int = 16) -> Score:
    """The model as a function: monoT5 where it is an encoder with decoder, a cross-encoder where it classifies pairs.

    It works on ``device``, ``cpu`` or ``cuda``, on ``batch`` different pairs of like length at a time.
    monoT5 (Nogueira et al. 2020): the probability of ``true`` against ``false`` as the first word that the model writes after
    ``Query: … Document: … Relevant:``. A cross-encoder gives its single logit, or the last class's log-probability.
    """
    library, _ = transformers()
    if not (folder / "config.json").is_file():
        raise input_error(folder, None, "not a model: no config.json", "name the folder of a Hugging Face model", "not-a-model")
    config = library.AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    of_batch = _mono_t5(folder, device) if config.is_encoder_decoder else _cross_encoder(folder, device)

    def score(pairs: Sequence[tuple[str, str]]) -> list[float]:
        found: dict[tuple[str, str], float] = {}
        for some in in_batches(pairs, batch):
            found |= zip(some, of_batch(some), strict=True)
        return [found[pair] for pair in pairs]

    return score


def _mono_t5(folder: Path, device: str) -> Score:
    library, torch = transformers()
    model, tokenizer = load_model(folder, library.AutoModelForSeq2SeqLM, device)
    true, false = (tokenizer.encode(word, add_special_tokens=False) for word in ("true", "false"))
    if not true or not false or true[0] == false[0]:
        raise input_error(folder, None, "its words true and false begin alike", "name a monoT5 model", "not-a-reranker")
    tail = tokenizer.encode(" Relevant:", add_special_tokens=False)

    def score(pairs: Sequence[tuple[str, str]]) -> list[float]:
        # the passage is cut, never the question or the prompt's end
        ids = []
        for question, passage in pairs:
            head = tokenizer.encode(f"Query: {question} Document: {passage}", add_special_tokens=False)
            end = [] if tokenizer.eos_token_id is None else [tokenizer.eos_token_id]
            ids.append(head[: _MAX_LENGTH - len(tail) - len(end)] + tail + end)
        encoded = tokenizer.pad({"input_ids": ids}, return_tensors="pt").to(device)
        start = torch.full((len(pairs), 1), model.config.decoder_start_token_id, dtype=torch.long, device=device)
        with torch.inference_mode():
            logits = model(
                input_ids=encoded["input_ids"], attention_mask=encoded["attention_mask"], decoder_input_ids=start
            ).logits[:, 0, [false[0], true[0]]]
        probabilities: list[float] = torch.log_softmax(logits.double(), dim=1)[:, 1].exp().tolist()
        return probabilities

    return score


def _cross_encoder(folder: Path, device: str) -> Score:
    library, torch = transformers()
    model, tokenizer = load_model(folder, library.AutoModelForSequenceClassification, device)

    def score(pairs: Sequence[tuple[str, str]]) -> list[float]:
        encoded = tokenizer(
            [question for question, _ in pairs], [passage for _, passage in pairs], return_tensors="pt", padding=True,
            truncation="only_second", max_length=_MAX_LENGTH,
        ).to(device)  # fmt: skip
        with torch.inference_mode():
            logits = model(**encoded).logits.double()
        scores: list[float] = (logits[:, 0] if logits.shape[1] == 1 else torch.log_softmax(logits, dim=1)[:, -1]).tolist()
        return scores

    return score
