"""The similarity of a rewrite (QR) and the manual one (Human), by name: ROUGE, or the cosine of a sentence encoder."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from robustcs.errors import UsageError
from robustcs.similarity.encoders import Encoder, Track, cosine, embed
from robustcs.similarity.rouge import rouge, rouge_names
from robustcs.similarity.store import EmbeddingStore

#: Names of the encoders, and the option that names the model.
ENCODERS = {"use": "--use MODEL", "sentence_transformer": "--sentence-transformer FOLDER"}


def check_similarities(names: Sequence[str], encoders: Sequence[str]) -> None:
    """Raise :class:`UsageError` for a name that is no similarity, or that of an encoder that is not among ``encoders``."""
    for name in names:
        if name in ENCODERS and name not in encoders:
            raise UsageError("no-model", f"{name} needs a model", f"name it with {ENCODERS[name]}")
        if name not in ENCODERS and name not in rouge_names():
            known = ", ".join((*rouge_names(), *ENCODERS))
            raise UsageError("unknown-similarity", f"no similarity of questions is named {name!r}", f"there are {known}")


def question_similarities(
    qr: Sequence[str],
    human: Sequence[str],
    names: Sequence[str],
    encoders: Sequence[Encoder] = (),
    stem: bool = True,
    store: EmbeddingStore | None = None,
    track: Track = lambda items, what, total: items,
) -> dict[str, npt.NDArray[np.float64]]:
    """Name → similarity of each QR text to the Human text of the same place, float64[n], for every one of ``names``."""
    known: dict[str, npt.NDArray[np.float64]] = {}
    if any(name in rouge_names() for name in names):
        known |= rouge(qr, human, stem)
    for encoder in encoders:
        vectors = embed(encoder, [*qr, *human], store or EmbeddingStore(), track)
        known[encoder.name] = cosine([vectors[text] for text in qr], [vectors[text] for text in human])
    return {name: known[name] for name in names}
