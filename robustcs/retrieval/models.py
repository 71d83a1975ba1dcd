"""Models in local Hugging Face folders, for the stages before and after retrieval. Nothing is ever downloaded."""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from robustcs.errors import NotInstalledError, UsageError, input_error


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


DEVICES = ("auto", "cpu", "cuda")
#: A text, or a tuple of texts.
T = TypeVar("T", str, tuple[str, str])


def chosen_device(name: str) -> str:
    """``cpu`` or ``cuda``: what ``name`` asks for; ``auto`` is a GPU where there is one, and without torch there is none.

    Raises :class:`UsageError` for ``cuda`` where torch finds no GPU, :class:`NotInstalledError` for ``cuda`` without torch.
    """
    if name == "cpu" or (name == "auto" and find_spec("torch") is None):
        return "cpu"
    _, torch = transformers()
    there = bool(torch.cuda.is_available())
    if name == "cuda" and not there:
        raise UsageError("no-gpu", "--device cuda: torch finds no GPU", "write --device cpu, or install torch with CUDA")
    return "cuda" if there else "cpu"


def in_batches(items: Iterable[T], size: int) -> list[list[T]]:
    """The different items in batches of like length, ``size`` each; the same items make the same batches in any order."""
    ordered = sorted(set(items), key=lambda item: (len("".join(item)), item))
    return [ordered[start : start + size] for start in range(0, len(ordered), size)]


def load_model(folder: Path, kind: Any, device: str = "cpu") -> tuple[Any, Any]:
    """Model (for inference, on ``device``; in half precision on a GPU) and tokenizer of a folder.

    Raises :class:`InputError` where they cannot be loaded.
    """
    if not (folder / "config.json").is_file():
        found = "no such folder" if not folder.exists() else "not a model: the folder has no config.json"
        raise input_error(folder, None, found, "name the folder of a Hugging Face model", "not-a-model")
    library, _ = transformers()
    try:
        # a folder may hold code of its own, which is never run
        local = {"local_files_only": True, "trust_remote_code": False}
        tokenizer = library.AutoTokenizer.from_pretrained(os.fspath(folder), **local)
        model = kind.from_pretrained(os.fspath(folder), **local)
    except Exception as error:  # transformers raises errors of many kinds for damaged models
        said = str(error).strip().split("\n")[0][:200] or type(error).__name__
        found = f"transformers cannot load it ({said})"
        raise input_error(folder, None, found, "name the folder of a Hugging Face model", "not-a-model") from error
    # what half a number can hold; on the processor it would be slower
    return (model.half() if device == "cuda" else model).to(device).eval(), tokenizer
