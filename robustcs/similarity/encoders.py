"""The similarity of two questions by name: ROUGE, or the cosine of a sentence encoder.

Encoders are the Universal Sentence Encoder through TensorFlow (Cer et al., 2018), or any sentence-transformers folder
(Reimers & Gurevych, 2019). Both give one vector per text; what was encoded once is kept.
"""

from __future__ import annotations

import importlib
import os
import warnings
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robustcs.errors import InputError, NotInstalledError, UsageError, input_error
from robustcs.inputs.files import fingerprint
from robustcs.lazy import npt
from robustcs.programs.outputs import OutputStore
from robustcs.programs.runner import Track
from robustcs.similarity.rouge import rouge, rouge_names

#: Texts that are encoded at a time: bounds memory, and an interruption loses no more than these.
BATCH = 256
#: Names of the encoders, and the option that names the model.
ENCODERS = {"use": "--use MODEL", "sentence_transformer": "--sentence-transformer FOLDER"}

Vectors = npt.NDArray[np.float32]


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


def load_encoders(use: str | None, sentence_transformer: str | None) -> list[Encoder]:
    """The encoders asked for, loaded."""
    asked = ((load_use, use), (load_sentence_transformer, sentence_transformer))
    return [load(model) for load, model in asked if model]


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
    tensorflow = _package("tensorflow", "use")
    with _told(lambda said: _not_an_encoder(model, f"TensorFlow cannot load it ({said})")):
        loaded = tensorflow.saved_model.load(os.fspath(folder))
    signature = loaded if callable(loaded) else dict(loaded.signatures).get("serving_default")
    if signature is None:
        raise _not_an_encoder(model, "the model can neither be called nor has it the signature serving_default")

    def run(texts: list[str]) -> Any:
        strings = tensorflow.constant(texts)
        with _told(lambda said: _not_an_encoder(model, f"the model does not take texts ({said})")):
            named = {} if signature is loaded else dict.fromkeys(signature.structured_input_signature[1], strings)
            output = signature(**named) if named else signature(strings)
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
    package = _package("sentence_transformers", "sentence-transformers")
    _package("transformers.utils.logging", "sentence-transformers").disable_progress_bar()
    with _told(lambda said: _not_an_encoder(model, f"sentence-transformers cannot load it ({said})")):
        loaded = package.SentenceTransformer(os.fspath(folder), device="cpu", local_files_only=True)
    encode = lambda texts: loaded.encode(texts, convert_to_numpy=True, show_progress_bar=False)  # noqa: E731
    return Encoder("sentence_transformer", model, fingerprint(folder), encode)


def embed(
    encoder: Encoder, texts: Iterable[str], store: OutputStore | None = None, track: Track = lambda items, what, total: items
) -> dict[str, Vectors]:
    """Text → vector, for every different text; those that ``store`` knows are not encoded again, new ones are kept there."""
    store, maker = store or OutputStore(), f"encoder {encoder.fingerprint}"
    wanted = {text: text for text in texts}
    kept = store.get(maker, wanted)
    known = {text: np.frombuffer(b64decode(vector), "<f4").astype(np.float32) for text, vector in kept.items()}
    new = [text for text in wanted if text not in known]
    batches = [new[start : start + BATCH] for start in range(0, len(new), BATCH)]
    for batch in track(batches, f"encoding {len(new)} texts", len(batches)):
        made = dict(zip(batch, encoder.encode(batch), strict=True))
        store.put(maker, {text: b64encode(vector.astype("<f4").tobytes()).decode() for text, vector in made.items()}, wanted)
        known |= made
    return known


def cosine(first: Sequence[Vectors], second: Sequence[Vectors]) -> npt.NDArray[np.float64]:
    """Cosine of every pair of vectors, float64[n] in [-1, 1]; 0 where a vector is zero."""
    if not len(first):
        return np.zeros(0)
    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1)
    products = (one * two).sum(axis=1)
    return np.asarray(np.clip(np.divide(products, lengths, out=np.zeros(len(products)), where=lengths > 0), -1.0, 1.0))


def check_similarities(names: Sequence[str], encoders: Sequence[str]) -> None:
    """Raise :class:`UsageError` for a name that is no similarity, or that of an encoder that is not among ``encoders``."""
    for name in names:
        if name in ENCODERS and name not in encoders:
            raise UsageError("no-model", f"{name} needs a model", f"name it with {ENCODERS[name]}")
        if name not in ENCODERS and name not in rouge_names():
            known = ", ".join((*rouge_names(), *ENCODERS))
            raise UsageError("unknown-similarity", f"no similarity of questions is named {name!r}", f"there are {known}")


def question_similarities(
    qr: Sequence[str], human: Sequence[str], names: Sequence[str], encoders: Sequence[Encoder], stem: bool, track: Track
) -> dict[str, npt.NDArray[np.float64]]:
    """Name → similarity of each QR text to the Human text of the same place, float64[n], for every one of ``names``."""
    known = rouge(qr, human, stem) if any(name in rouge_names() for name in names) else {}
    for encoder in encoders:
        vectors = embed(encoder, [*qr, *human], track=track)
        known[encoder.name] = cosine([vectors[text] for text in qr], [vectors[text] for text in human])
    return {name: known[name] for name in names}


def _resolve(handle: str) -> Path:
    """The folder of a Hub handle, downloaded into Hub's cache where it is not there yet."""
    if "://" not in handle:
        found = f"{handle}: no such folder, and not a TensorFlow Hub handle"
        raise UsageError("no-such-model", found, "name a SavedModel folder, or a handle that starts with https://")
    hub = _package("tensorflow_hub", "use")
    advice = "check the handle and the connection, or name the folder of a model that was downloaded elsewhere"
    unreached = f"{handle}: the model cannot be downloaded"
    with _told(lambda said: UsageError("model-not-reached", f"{unreached} ({said})", advice)):
        return Path(hub.resolve(handle))


def _package(name: str, extra: str) -> Any:
    """A package that an extra installs; what its libraries write to stderr while they start is kept off the terminal."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pkg_resources, which Hub imports, announces its own end
            return importlib.import_module(name)
    except ImportError as error:
        raise NotInstalledError(
            f"no-{extra}", f"{name.replace('_', '-')} cannot be imported ({error})",
            f"install it with: pip install 'robustcs[{extra}]'",
        ) from error  # fmt: skip
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


@contextmanager
def _told(as_ours: Callable[[str], Exception]) -> Iterator[None]:
    """Raise an error of ours with the first line of theirs: libraries raise errors of many kinds for damaged models."""
    try:
        yield
    except Exception as error:
        raise as_ours(str(error).strip().split("\n")[0][:200] or type(error).__name__) from error


def _must_hold(folder: Path, name: str, what: str) -> None:
    if not (folder / name).is_file():
        found = "this is a file" if folder.is_file() else f"not {what}: the folder has no {name}"
        raise input_error(folder, None, found, f"name the folder that holds {name}", "not-a-model")


def _not_an_encoder(model: str, found: str) -> InputError:
    return input_error(model, None, found, "name a sentence encoder, such as the Universal Sentence Encoder", "not-an-encoder")
