"""Similarity of two questions by name: ROUGE, or the cosine of the vectors of a sentence encoder.

Encoders are the Universal Sentence Encoder with TensorFlow (Cer et al., 2018), or any
sentence-transformers folder (Reimers & Gurevych, 2019). Both return one vector per text. Vectors
are stored, so each text is encoded once.
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
from robustcs.messages import Message, OptionName
from robustcs.programs.outputs import OutputStore
from robustcs.programs.runner import Track
from robustcs.similarity.rouge_bleu import rouge, rouge_names
from robustcs.wording import counted

#: Number of texts per batch: limits the memory, and the work that an interruption loses.
BATCH = 256
#: Longest part of a library's message in ours.
_LONGEST_MESSAGE = 200
#: Name of an encoder → the option that names its model.
ENCODERS = {
    "use": OptionName("use", "MODEL"),
    "sentence_transformer": OptionName("sentence-transformer", "FOLDER"),
}

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Encoder:
    """A loaded model.

    name
        ``use`` or ``sentence_transformer``: the column of its similarities.
    model
        The folder or handle that the user gave.
    fingerprint
        SHA-256 over the names and contents of the model's files: the same for the same model in any
        folder.
    run
        Texts → vectors, unchecked.
    """

    name: str
    model: str
    fingerprint: str
    run: Callable[[list[str]], Any]

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return float32[n, d], one vector per text.

        Raises :class:`InputError` if the model returns anything else.
        """
        vectors = np.asarray(self.run(list(texts)))
        is_table = vectors.dtype.kind == "f" and vectors.ndim == 2
        if not is_table or len(vectors) != len(texts) or not vectors.shape[1]:
            problem = (
                f"the model returns {vectors.dtype} of shape {list(vectors.shape)} for"
                f" {len(texts)} texts, not one vector per text ([{len(texts)}, 512] with USE)"
            )
            raise _not_an_encoder(self.model, problem)
        if not np.isfinite(vectors).all():
            problem = "the model returns vectors with values that are not finite numbers"
            raise _not_an_encoder(self.model, problem)
        return vectors.astype(np.float32, copy=False)


def load_encoders(use: str | None, sentence_transformer: str | None) -> list[Encoder]:
    """Load the requested encoders."""
    encoders = []
    if use:
        encoders.append(load_use(use))
    if sentence_transformer:
        encoders.append(load_sentence_transformer(sentence_transformer))
    return encoders


def load_use(model: str) -> Encoder:
    """Load USE, or any SavedModel that maps strings to floats of shape [n, d].

    ``model``: a folder or a TensorFlow Hub handle. A handle is looked up in Hub's cache
    (``$TFHUB_CACHE_DIR``) and downloaded if it is not there. The model may be callable, return a
    dictionary (``outputs`` or ``default``), or have only the signature ``serving_default``.

    Raises :class:`NotInstalledError` without TensorFlow, :class:`UsageError` for a handle that
    cannot be downloaded, and :class:`InputError` for a folder that is not a SavedModel or does not
    accept texts.
    """
    # keeps TensorFlow's messages off the terminal
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    # the same vectors on every processor
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    folder = Path(model) if Path(model).exists() else _resolve(model)
    _must_contain(folder, "saved_model.pb", "a TensorFlow SavedModel")
    tensorflow = _package("tensorflow", "use")
    with _as_not_an_encoder(model, "TensorFlow cannot load it"):
        loaded = tensorflow.saved_model.load(os.fspath(folder))
    if callable(loaded):
        function, input_names = loaded, []
    else:
        function = dict(loaded.signatures).get("serving_default")
        if function is None:
            problem = "the model is not callable and has no signature serving_default"
            raise _not_an_encoder(model, problem)
        input_names = list(function.structured_input_signature[1])

    def run(texts: list[str]) -> Any:
        strings = tensorflow.constant(texts)
        with _as_not_an_encoder(model, "the model does not accept texts"):
            if input_names:
                output = function(**dict.fromkeys(input_names, strings))
            else:
                output = function(strings)
        return _vectors_in(output, model)

    return Encoder("use", model, fingerprint(folder), run)


def _vectors_in(output: Any, model: str) -> Any:
    """Return the vectors in the output of a SavedModel, which may be a dictionary."""
    if not isinstance(output, dict):
        return output
    for name in ("outputs", "default"):
        if name in output:
            return output[name]
    if len(output) == 1:
        return next(iter(output.values()))
    names = ", ".join(sorted(output))
    raise _not_an_encoder(model, f"the model returns {names}, but no outputs or default")


def load_sentence_transformer(model: str) -> Encoder:
    """Load a sentence-transformers model from a local folder; nothing is downloaded.

    Raises :class:`NotInstalledError` without the package, and :class:`InputError` for a folder
    without such a model.
    """
    folder = Path(model)
    if not folder.exists():
        advice = "name the folder of a sentence-transformers model"
        raise input_error(model, None, "no such folder", advice, "no-such-file")
    _must_contain(folder, "modules.json", "a sentence-transformers model")
    package = _package("sentence_transformers", "sentence-transformers")
    _package("transformers.utils.logging", "sentence-transformers").disable_progress_bar()
    with _as_not_an_encoder(model, "sentence-transformers cannot load it"):
        loaded = package.SentenceTransformer(os.fspath(folder), device="cpu", local_files_only=True)

    def run(texts: list[str]) -> Any:
        return loaded.encode(texts, convert_to_numpy=True, show_progress_bar=False)

    return Encoder("sentence_transformer", model, fingerprint(folder), run)


def embed(
    encoder: Encoder,
    texts: Iterable[str],
    store: OutputStore | None = None,
    track: Track = lambda items, what, total: items,
) -> dict[str, Vectors]:
    """Return text → vector for every distinct text.

    Vectors in ``store`` are reused, and new ones are added to it. ``track`` shows the progress of
    new batches.
    """
    store = store or OutputStore()
    maker = f"encoder {encoder.fingerprint}"
    by_text = {text: text for text in texts}
    vectors = {text: _decoded(stored) for text, stored in store.get(maker, by_text).items()}
    new = [text for text in by_text if text not in vectors]
    batches = [new[start : start + BATCH] for start in range(0, len(new), BATCH)]
    for batch in track(batches, f"encoding {counted(len(new), 'text')}", len(batches)):
        encoded = dict(zip(batch, encoder.encode(batch), strict=True))
        store.put(maker, {text: _encoded(vector) for text, vector in encoded.items()}, by_text)
        vectors |= encoded
    return vectors


def _encoded(vector: Vectors) -> str:
    """Return a vector as text for the store: its bytes as little-endian float32 in base 64."""
    return b64encode(vector.astype("<f4").tobytes()).decode()


def _decoded(stored: str) -> Vectors:
    return np.frombuffer(b64decode(stored), "<f4").astype(np.float32)


def cosine(first: Sequence[Vectors], second: Sequence[Vectors]) -> npt.NDArray[np.float64]:
    """Return the cosine of every pair of vectors at the same position, float64[n] in [-1, 1].

    0 if a vector is zero.
    """
    if not len(first):
        return np.zeros(0)
    first_rows = np.asarray(first, dtype=np.float64)
    second_rows = np.asarray(second, dtype=np.float64)
    lengths = np.linalg.norm(first_rows, axis=1) * np.linalg.norm(second_rows, axis=1)
    products = (first_rows * second_rows).sum(axis=1)
    cosines = np.divide(products, lengths, out=np.zeros(len(products)), where=lengths > 0)
    return np.asarray(np.clip(cosines, -1.0, 1.0))


def check_similarities(names: Sequence[str], encoders: Sequence[str]) -> None:
    """Raise :class:`UsageError` unless ``names`` and ``encoders`` fit each other.

    names
        The requested similarities; each is one of ROUGE or the name of an encoder.
    encoders
        The names of the encoders with a model; each must be among ``names``.
    """
    for name in names:
        if name in ENCODERS and name not in encoders:
            raise UsageError(
                "no-model", f"{name} requires a model", Message("name it with ", ENCODERS[name])
            )
        if name not in ENCODERS and name not in rouge_names():
            known = ", ".join((*rouge_names(), *ENCODERS))
            raise UsageError(
                "unknown-similarity",
                f"no similarity of questions is named {name!r}",
                f"choose one of {known}",
            )
    for name in encoders:
        if name not in names:
            problem = Message(
                OptionName(ENCODERS[name].name), " has no effect without ", OptionName("x", name)
            )
            raise UsageError(
                "idle-option",
                problem,
                Message("add ", OptionName("x", name), ", or leave the model out"),
            )


def question_similarities(
    qr: Sequence[str],
    human: Sequence[str],
    names: Sequence[str],
    encoders: Sequence[Encoder],
    stem: bool,
    track: Track,
) -> dict[str, npt.NDArray[np.float64]]:
    """Return name → similarity, float64[n], for all ``names``.

    Each QR text is compared with the Human text at the same position. ``stem``: whether ROUGE
    compares stems. ``track``: see :func:`embed`.
    """
    similarities: dict[str, npt.NDArray[np.float64]] = {}
    if not set(names).isdisjoint(rouge_names()):
        similarities |= rouge(qr, human, stem)
    for encoder in encoders:
        vectors = embed(encoder, [*qr, *human], track=track)
        qr_vectors = [vectors[text] for text in qr]
        human_vectors = [vectors[text] for text in human]
        similarities[encoder.name] = cosine(qr_vectors, human_vectors)
    return {name: similarities[name] for name in names}


def _resolve(handle: str) -> Path:
    """Return the folder of a Hub handle; download the model into Hub's cache if it is not there."""
    if "://" not in handle:
        problem = f"{handle}: not a folder and not a TensorFlow Hub handle"
        advice = "name a SavedModel folder, or a handle that starts with https://"
        raise UsageError("no-such-model", problem, advice)
    hub = _package("tensorflow_hub", "use")
    try:
        return Path(hub.resolve(handle))
    except Exception as error:  # libraries raise many types
        advice = (
            "check the handle and the connection, or name the folder of a model that was downloaded"
            " elsewhere"
        )
        problem = f"{handle}: the model cannot be downloaded ({_first_line(error)})"
        raise UsageError("model-not-reached", problem, advice) from error


def _package(name: str, extra: str) -> Any:
    """Import a package of an optional extra.

    The messages that its libraries write to stderr at import are dropped. Raises
    :class:`NotInstalledError` if it cannot be imported.
    """
    stderr = 2
    stderr_copy, null = os.dup(stderr), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stderr)
    try:
        with warnings.catch_warnings():
            # Hub imports pkg_resources, which warns that it is deprecated
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ImportError as error:
        raise NotInstalledError(
            f"no-{extra}",
            f"{name.replace('_', '-')} cannot be imported ({error})",
            f"install it with: pip install 'robustcs[{extra}]'",
        ) from error
    finally:
        os.dup2(stderr_copy, stderr)
        os.close(stderr_copy)
        os.close(null)


@contextmanager
def _as_not_an_encoder(model: str, problem: str) -> Iterator[None]:
    """Convert any exception to ours: libraries raise many types for damaged models."""
    try:
        yield
    except Exception as error:
        raise _not_an_encoder(model, f"{problem} ({_first_line(error)})") from error


def _first_line(error: Exception) -> str:
    """Return the first line of the message of a library's error; the name of its type if empty."""
    first_line = str(error).strip().split("\n")[0][:_LONGEST_MESSAGE]
    return first_line or type(error).__name__


def _must_contain(folder: Path, name: str, what: str) -> None:
    """Raise :class:`InputError` if ``folder`` does not contain the file ``name`` of ``what``."""
    if (folder / name).is_file():
        return
    if folder.is_file():
        problem = "this is a file"
    else:
        problem = f"not {what}: the folder has no {name}"
    advice = f"name the folder that contains {name}"
    raise input_error(folder, None, problem, advice, "not-a-model")


def _not_an_encoder(model: str, problem: str) -> InputError:
    advice = "name a sentence encoder, such as the Universal Sentence Encoder"
    return input_error(model, None, problem, advice, "not-an-encoder")
