"""Models in local Hugging Face folders, for the stages before and after retrieval. Nothing is ever downloaded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from robustcs.errors import NotInstalledError, input_error


def transformers() -> tuple[Any, Any]:
    """The modules transformers and torch. Raises :class:`NotInstalledError` without them."""
    try:
        import torch
        import transformers as library
    except ImportError as error:
        raise NotInstalledError(
            "no-transformers", f"a rewriter or re-ranker needs torch and transformers ({error})",
            "install them with: pip install 'robustcs[neural]'",
        ) from error  # fmt: skip
    library.utils.logging.set_verbosity_error()
    library.utils.logging.disable_progress_bar()
    return library, torch


def load_model(folder: Path, kind: Any) -> tuple[Any, Any]:
    """Model (on the processor, for inference) and tokenizer of a folder.

    Raises :class:`InputError` where they cannot be loaded.
    """
    if not (folder / "config.json").is_file():
        found = "no such folder" if not folder.exists() else "not a model: the folder has no config.json"
        raise input_error(folder, None, found, "name the folder of a Hugging Face model", "not-a-model")
    library, _ = transformers()
    try:
        tokenizer = library.AutoTokenizer.from_pretrained(os.fspath(folder), local_files_only=True)
        model = kind.from_pretrained(os.fspath(folder), local_files_only=True)
    except Exception as error:  # transformers raises errors of many kinds for damaged models
        said = str(error).strip().split("\n")[0][:200] or type(error).__name__
        found = f"transformers cannot load it ({said})"
        raise input_error(folder, None, found, "name the folder of a Hugging Face model", "not-a-model") from error
    return model.eval(), tokenizer
