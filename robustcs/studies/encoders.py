"""The sentence encoders that a study can use: their options, and loading those that are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from robustcs.similarity.encoders import Encoder

ENCODERS = (
    click.Option(["--use"], metavar="MODEL",
                 help="The Universal Sentence Encoder: a SavedModel folder or a TensorFlow Hub handle; needs pip install"
                 " 'robustcs[use]'."),
    click.Option(["--sentence-transformer"], metavar="FOLDER",
                 help="A sentence-transformers model on disk; needs pip install 'robustcs[sentence-transformers]'."),
)  # fmt: skip


def load_encoders(use: str | None, sentence_transformer: str | None) -> list[Encoder]:
    """The encoders asked for, loaded."""
    from robustcs.similarity.encoders import load_sentence_transformer, load_use

    encoders = [load_use(use)] if use else []
    return encoders + ([load_sentence_transformer(sentence_transformer)] if sentence_transformer else [])
