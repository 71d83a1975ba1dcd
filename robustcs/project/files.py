"""The files that a project names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from robustcs.inputs.paths import PooledFile
from robustcs.overwrite_guard import protect
from robustcs.project.model import Project
from robustcs.retrieval.settings import CONTEXT


def input_files(project: Project) -> list[Path]:
    """Every file and folder that the project reads from, whatever a command needs of them, but for its new judgments.

    Where retrieval writes (its runs, its store) is not among them.
    """
    found = list(_paths(replace(project, retrieval=None, new_judgments=())))
    if project.retrieval is not None:
        found.append(project.retrieval.index)
        if project.retrieval.reranker is not None:
            found.append(project.retrieval.reranker)
        rewriter = project.retrieval.rewriter
        if rewriter is not None and rewriter not in CONTEXT:
            whole = Path(rewriter)
            found.append(whole if whole.exists() else Path(rewriter.rpartition(":")[0] or rewriter))
    return found


def protect_inputs(project: Project) -> None:
    """Keep everything that writes from the project's inputs; judging may add to the new judgments."""
    protect(input_files(project))
    protect((path for path in project.new_judgments if isinstance(path, Path)), growing=True)


def _paths(value: Any) -> Iterator[Path]:
    """Every path inside a value."""
    if isinstance(value, PooledFile):
        yield from _paths(value.files)
    elif isinstance(value, Path):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _paths(part)
    elif isinstance(value, tuple):
        for part in value:
            yield from _paths(part)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _paths(getattr(value, field.name))
