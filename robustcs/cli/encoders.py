"""The sentence encoders that a command can use, and their options."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from robustcs.similarity.encoders import Encoder


def encoder_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command ``--use`` and ``--sentence-transformer``; it receives ``use`` and ``sentence_transformer``."""
    for option in (
        click.option("--sentence-transformer", metavar="FOLDER",
                     help="A sentence-transformers model on disk; needs pip install 'robustcs[sentence-transformers]'."),
        click.option("--use", metavar="MODEL",
                     help="The Universal Sentence Encoder: a SavedModel folder or a TensorFlow Hub handle; needs pip install"
                     " 'robustcs[use]'."),
    ):  # fmt: skip
        option(command)
    return command


def load_encoders(use: str | None, sentence_transformer: str | None) -> list[Encoder]:
    """The encoders asked for, loaded."""
    from robustcs.similarity.encoders import load_sentence_transformer, load_use

    encoders = [load_use(use)] if use else []
    return encoders + ([load_sentence_transformer(sentence_transformer)] if sentence_transformer else [])
