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
from robustcs.programs.outputs import OutputStore
from robustcs.programs.runner import Track
from robustcs.similarity.rouge_bleu import rouge, rouge_names
from robustcs.wording import counted

#: Number of texts per batch: limits the memory, and the work that an interruption loses.
BATCH = 256
#: Name of an encoder → the option that names its model.
ENCODERS = {"use": "--use MODEL", "sentence_transformer": "--sentence-transformer FOLDER"}

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
        """Return float32[n, d], one vector per text. Raises :class:`InputError` if the model
        returns anything else.
        """
        vectors = np.asarray(self.run(list(texts)))
        if (
            vectors.dtype.kind != "f"
            or vectors.ndim != 2
            or len(vectors) != len(texts)
            or not vectors.shape[1]
        ):
            raise _not_an_encoder(
                self.model, f"the model returns {vectors.dtype} of shape {list(vectors.shape)} for {len(texts)} texts,"
                f" not one vector per text ([{len(texts)}, 512] with USE)",
            )  # fmt: skip
        if not np.isfinite(vectors).all():
            raise _not_an_encoder(
                self.model, "the model returns vectors with values that are not finite numbers"
            )
        return vectors.astype(np.float32, copy=False)


def load_encoders(use: str | None, sentence_transformer: str | None) -> list[Encoder]:
    """Load the requested encoders."""
    asked = ((load_use, use), (load_sentence_transformer, sentence_transformer))
    return [load(model) for load, model in asked if model]


def load_use(model: str) -> Encoder:
    """Load USE, or any SavedModel that maps strings to floats of shape [n, d], from a folder or a
    TensorFlow Hub handle.

    A handle is looked up in Hub's cache (``$TFHUB_CACHE_DIR``) and downloaded if it is not there.
    The model may be callable, return a dictionary (``outputs`` or ``default``), or have only the
    signature ``serving_default``.

    Raises :class:`NotInstalledError` without TensorFlow, :class:`UsageError` for a handle that
    cannot be downloaded, and :class:`InputError` for a folder that is not a SavedModel or does not
    accept texts.
    """
    os.environ.setdefault(
        "TF_CPP_MIN_LOG_LEVEL", "3"
    )  # keeps TensorFlow's messages off the terminal
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # the same vectors on every processor
    folder = Path(model) if Path(model).exists() else _resolve(model)
    _must_hold(folder, "saved_model.pb", "a TensorFlow SavedModel")
    tensorflow = _package("tensorflow", "use")
    with _told(lambda said: _not_an_encoder(model, f"TensorFlow cannot load it ({said})")):
        loaded = tensorflow.saved_model.load(os.fspath(folder))
    signature = loaded if callable(loaded) else dict(loaded.signatures).get("serving_default")
    if signature is None:
        raise _not_an_encoder(
            model, "the model is not callable and has no signature serving_default"
        )

    def run(texts: list[str]) -> Any:
        strings = tensorflow.constant(texts)
        with _told(
            lambda said: _not_an_encoder(model, f"the model does not accept texts ({said})")
        ):
            named = (
                {}
                if signature is loaded
                else dict.fromkeys(signature.structured_input_signature[1], strings)
            )
            output = signature(**named) if named else signature(strings)
        if isinstance(output, dict):
            chosen = next((name for name in ("outputs", "default") if name in output), None)
            if chosen is None and len(output) != 1:
                raise _not_an_encoder(
                    model,
                    f"the model returns {', '.join(sorted(output))}, but no outputs or default",
                )
            output = output[chosen] if chosen else next(iter(output.values()))
        return output

    return Encoder("use", model, fingerprint(folder), run)


def load_sentence_transformer(model: str) -> Encoder:
    """Load a sentence-transformers model from a local folder; nothing is downloaded.

    Raises :class:`NotInstalledError` without the package, and :class:`InputError` for a folder
    without such a model.
    """
    folder = Path(model)
    if not folder.exists():
        raise input_error(
            model,
            None,
            "no such folder",
            "name the folder of a sentence-transformers model",
            "no-such-file",
        )
    _must_hold(folder, "modules.json", "a sentence-transformers model")
    package = _package("sentence_transformers", "sentence-transformers")
    _package("transformers.utils.logging", "sentence-transformers").disable_progress_bar()
    with _told(
        lambda said: _not_an_encoder(model, f"sentence-transformers cannot load it ({said})")
    ):
        loaded = package.SentenceTransformer(os.fspath(folder), device="cpu", local_files_only=True)
    encode = lambda texts: loaded.encode(texts, convert_to_numpy=True, show_progress_bar=False)  # noqa: E731
    return Encoder("sentence_transformer", model, fingerprint(folder), encode)


def embed(
    encoder: Encoder,
    texts: Iterable[str],
    store: OutputStore | None = None,
    track: Track = lambda items, what, total: items,
) -> dict[str, Vectors]:
    """Return text → vector for every distinct text. Vectors in ``store`` are reused, and new ones
    are added to it.
    """
    store, maker = store or OutputStore(), f"encoder {encoder.fingerprint}"
    wanted = {text: text for text in texts}
    kept = store.get(maker, wanted)
    known = {
        text: np.frombuffer(b64decode(vector), "<f4").astype(np.float32)
        for text, vector in kept.items()
    }
    new = [text for text in wanted if text not in known]
    batches = [new[start : start + BATCH] for start in range(0, len(new), BATCH)]
    for batch in track(batches, f"encoding {counted(len(new), 'text')}", len(batches)):
        made = dict(zip(batch, encoder.encode(batch), strict=True))
        store.put(
            maker,
            {
                text: b64encode(vector.astype("<f4").tobytes()).decode()
                for text, vector in made.items()
            },
            wanted,
        )
        known |= made
    return known


def cosine(first: Sequence[Vectors], second: Sequence[Vectors]) -> npt.NDArray[np.float64]:
    """Return the cosine of every pair of vectors, float64[n] in [-1, 1]; 0 if a vector is zero."""
    if not len(first):
        return np.zeros(0)
    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1)
    products = (one * two).sum(axis=1)
    return np.asarray(
        np.clip(
            np.divide(products, lengths, out=np.zeros(len(products)), where=lengths > 0), -1.0, 1.0
        )
    )


def check_similarities(names: Sequence[str], encoders: Sequence[str]) -> None:
    """Raise :class:`UsageError` for an unknown similarity, and for an encoder that is only in one
    of the two.
    """
    for name in names:
        if name in ENCODERS and name not in encoders:
            raise UsageError(
                "no-model", f"{name} requires a model", f"name it with {ENCODERS[name]}"
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
            found = f"{ENCODERS[name].split()[0]} has no effect without --x {name}"
            raise UsageError("idle-option", found, f"add --x {name}, or leave the model out")


def question_similarities(
    qr: Sequence[str],
    human: Sequence[str],
    names: Sequence[str],
    encoders: Sequence[Encoder],
    stem: bool,
    track: Track,
) -> dict[str, npt.NDArray[np.float64]]:
    """Return name → similarity of each QR text to the Human text at the same position, float64[n],
    for all ``names``.
    """
    known = rouge(qr, human, stem) if any(name in rouge_names() for name in names) else {}
    for encoder in encoders:
        vectors = embed(encoder, [*qr, *human], track=track)
        known[encoder.name] = cosine(
            [vectors[text] for text in qr], [vectors[text] for text in human]
        )
    return {name: known[name] for name in names}


def _resolve(handle: str) -> Path:
    """Return the folder of a Hub handle; download the model into Hub's cache if it is not there."""
    if "://" not in handle:
        found = f"{handle}: not a folder and not a TensorFlow Hub handle"
        raise UsageError(
            "no-such-model",
            found,
            "name a SavedModel folder, or a handle that starts with https://",
        )
    hub = _package("tensorflow_hub", "use")
    advice = "check the handle and the connection, or name the folder of a model that was downloaded elsewhere"
    unreached = f"{handle}: the model cannot be downloaded"
    with _told(lambda said: UsageError("model-not-reached", f"{unreached} ({said})", advice)):
        return Path(hub.resolve(handle))


def _package(name: str, extra: str) -> Any:
    """Import a package of an optional extra, without the messages that its libraries write to
    stderr at import.
    """
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # Hub imports pkg_resources, which warns that it is deprecated
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
    """Convert any exception to ours, with the first line of its message: libraries raise many types
    for damaged models.
    """
    try:
        yield
    except Exception as error:
        raise as_ours(str(error).strip().split("\n")[0][:200] or type(error).__name__) from error


def _must_hold(folder: Path, name: str, what: str) -> None:
    if not (folder / name).is_file():
        found = "this is a file" if folder.is_file() else f"not {what}: the folder has no {name}"
        raise input_error(
            folder, None, found, f"name the folder that contains {name}", "not-a-model"
        )


def _not_an_encoder(model: str, found: str) -> InputError:
    return input_error(
        model,
        None,
        found,
        "name a sentence encoder, such as the Universal Sentence Encoder",
        "not-an-encoder",
    )
