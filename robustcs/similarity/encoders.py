"""Sentence encoders: the Universal Sentence Encoder through TensorFlow, or any sentence-transformers folder.

Both give one vector per text; the cosine of two vectors is the similarity of two questions. Cer et al. (2018) describe USE;
Reimers & Gurevych (2019) sentence-transformers.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from robustcs.errors import InputError, NotInstalledError, UsageError, input_error
from robustcs.inputs.files import fingerprint
from robustcs.similarity.store import EmbeddingStore, Vectors

#: Texts that are encoded at a time: bounds memory, and an interruption loses no more than these.
BATCH = 256

#: Shows progress over an iterable: (items, what is being done, total) → the same items.
Track = Callable[[Iterable[Any], str, int], Iterable[Any]]


@dataclass(frozen=True)
class Encoder:
    """A loaded model.

    name
        ``use`` or ``sentence_transformer``: the column that its similarities get.
    model
        The folder or handle as the user gave it.
    fingerprint
        SHA-256 over the names and contents of the model's files: the same for the same model, wherever it stands.
    run
        Texts → vectors, unchecked.
    """

    name: str
    model: str
    fingerprint: str
    run: Callable[[list[str]], Any]

    def encode(self, texts: Sequence[str]) -> Vectors:
        """float32[n, d], one vector per text. Raises :class:`InputError` where the model gives anything else."""
        vectors = np.asarray(self.run(list(texts)))
        if vectors.dtype.kind != "f" or vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.shape[1]:
            raise _not_an_encoder(
                self.model, f"the model gives {vectors.dtype} of shape {list(vectors.shape)} for {len(texts)} texts,"
                f" not one vector each ([{len(texts)}, 512] with USE)",
            )  # fmt: skip
        if not np.isfinite(vectors).all():
            raise _not_an_encoder(self.model, "the model gives vectors that are not numbers (nan or infinite)")
        return vectors.astype(np.float32, copy=False)


def load_use(model: str) -> Encoder:
    """USE, or any SavedModel of its signature (strings in, [n, d] floats out), from a folder or a TensorFlow Hub handle.

    A handle is looked up in Hub's cache (``$TFHUB_CACHE_DIR``) and downloaded where it is not there. The model may be
    callable, give a dictionary (``outputs`` or ``default``), or have only the signature ``serving_default``.

    Raises :class:`NotInstalledError` without TensorFlow, :class:`UsageError` for a handle that cannot be reached and
    :class:`InputError` for a folder that is no SavedModel or takes no texts.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # its messages would stand in the user's terminal
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # the same vectors on every processor
    folder = Path(model) if Path(model).exists() else _resolve(model)
    _must_hold(folder, "saved_model.pb", "a TensorFlow SavedModel")
    tensorflow = _tensorflow("tensorflow")
    try:
        loaded = tensorflow.saved_model.load(os.fspath(folder))
    except Exception as error:  # TensorFlow raises errors of many kinds for damaged models
        raise _not_an_encoder(model, f"TensorFlow cannot load it ({_first_line(error)})") from error
    signature = loaded if callable(loaded) else dict(loaded.signatures).get("serving_default")
    if signature is None:
        raise _not_an_encoder(model, "the model can neither be called nor has it the signature serving_default")

    def run(texts: list[str]) -> Any:
        strings = tensorflow.constant(texts)
        try:
            if signature is loaded:
                output = signature(strings)
            else:
                output = signature(**dict.fromkeys(signature.structured_input_signature[1], strings))
        except Exception as error:
            raise _not_an_encoder(model, f"the model does not take texts ({_first_line(error)})") from error
        if isinstance(output, dict):
            chosen = next((name for name in ("outputs", "default") if name in output), None)
            if chosen is None and len(output) != 1:
                raise _not_an_encoder(model, f"the model gives {', '.join(sorted(output))}, none named outputs or default")
            output = output[chosen] if chosen else next(iter(output.values()))
        return output

    return Encoder("use", model, fingerprint(folder), run)


def load_sentence_transformer(model: str) -> Encoder:
    """A sentence-transformers model from a local folder; nothing is downloaded.

    Raises :class:`NotInstalledError` without the package and :class:`InputError` for a folder that is no such model.
    """
    folder = Path(model)
    if not folder.exists():
        raise input_error(model, None, "no such folder", "name the folder of a sentence-transformers model", "no-such-file")
    _must_hold(folder, "modules.json", "a sentence-transformers model")
    try:
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging
    except ImportError as error:
        raise NotInstalledError(
            "no-sentence-transformers", f"sentence-transformers cannot be imported ({error})",
            "install it with: pip install 'robustcs[sentence-transformers]'",
        ) from error  # fmt: skip
    logging.disable_progress_bar()
    try:
        loaded = SentenceTransformer(os.fspath(folder), device="cpu", local_files_only=True)
    except Exception as error:  # transformers raises errors of many kinds for damaged models
        raise _not_an_encoder(model, f"sentence-transformers cannot load it ({_first_line(error)})") from error

    def run(texts: list[str]) -> Any:
        return loaded.encode(texts, convert_to_numpy=True, show_progress_bar=False)

    return Encoder("sentence_transformer", model, fingerprint(folder), run)


def embed(
    encoder: Encoder, texts: Iterable[str], store: EmbeddingStore, track: Track = lambda items, what, total: items
) -> dict[str, Vectors]:
    """Text → vector, for every different text; those that ``store`` knows are not encoded again, new ones are kept there."""
    wanted = list(dict.fromkeys(texts))
    known = store.get(encoder.fingerprint, wanted)
    new = [text for text in wanted if text not in known]
    batches = [new[start : start + BATCH] for start in range(0, len(new), BATCH)]
    for batch in track(batches, f"encoding {len(new)} texts", len(batches)):
        vectors = encoder.encode(batch)
        store.put(encoder.fingerprint, batch, vectors)
        known |= dict(zip(batch, vectors, strict=True))
    return known


def cosine(first: Sequence[Vectors], second: Sequence[Vectors]) -> npt.NDArray[np.float64]:
    """Cosine of every pair of vectors, float64[n] in [-1, 1]; 0 where a vector is zero."""
    if not len(first):
        return np.zeros(0)
    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1)
    products = (one * two).sum(axis=1)
    return np.asarray(np.clip(np.divide(products, lengths, out=np.zeros(len(products)), where=lengths > 0), -1.0, 1.0))


def _resolve(handle: str) -> Path:
    """The folder of a Hub handle, downloaded into Hub's cache where it is not there yet."""
    if "://" not in handle:
        found = f"{handle}: no such folder, and not a TensorFlow Hub handle"
        raise UsageError("no-such-model", found, "name a SavedModel folder, or a handle that starts with https://")
    hub = _tensorflow("tensorflow_hub")
    try:
        return Path(hub.resolve(handle))
    except Exception as error:  # urllib, tarfile and TensorFlow errors
        raise UsageError(
            "model-not-reached", f"{handle}: the model cannot be downloaded ({_first_line(error)})",
            "check the handle and the connection, or name the folder of a model that was downloaded elsewhere",
        ) from error  # fmt: skip


def _tensorflow(package: str) -> Any:
    from importlib import import_module

    try:
        with warnings.catch_warnings(), _silent():
            warnings.simplefilter("ignore")  # pkg_resources, which Hub imports, announces its own end
            return import_module(package)
    except ImportError as error:
        raise NotInstalledError(
            "no-tensorflow", f"{package.replace('_', '-')} cannot be imported ({error})",
            "install it with: pip install 'robustcs[use]'",
        ) from error  # fmt: skip


@contextmanager
def _silent() -> Iterator[None]:
    """Keep off the terminal what TensorFlow's libraries write to stderr while they start, before any setting reaches them."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _must_hold(folder: Path, name: str, what: str) -> None:
    if not (folder / name).is_file():
        found = "this is a file" if folder.is_file() else f"not {what}: the folder has no {name}"
        raise input_error(folder, None, found, f"name the folder that holds {name}", "not-a-model")


def _not_an_encoder(model: str, found: str) -> InputError:
    return input_error(model, None, found, "name a sentence encoder, such as the Universal Sentence Encoder", "not-an-encoder")


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0][:200] or type(error).__name__
