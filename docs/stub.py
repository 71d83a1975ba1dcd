"""Build robustcs/__init__.pyi, the functions of ``import robustcs`` for editors and type checkers."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from docs.tables import results_of
from robustcs.api import signature_of
from robustcs.project.model import STUDY_TABLES
from robustcs.project.overrides import SINGULARS
from robustcs.project.sources import SOURCES
from robustcs.studies.registry import STUDIES
from robustcs.studies.signature import hints_of
from robustcs.studies.study import Study

STUB = Path(__file__).resolve().parent.parent / "robustcs" / "__init__.pyi"
#: Types of parameters that several studies share; the types of inputs follow from their declaration.
_SETTINGS = {
    "project": "Project | StrPath | None", "metrics": "str | Sequence[str] | None",
    "thresholds": "str | float | Sequence[str | float] | None", "relevance_level": "int | None",
    "missing": 'Literal["zero", "drop", "own"] | None', "order": 'Literal["score", "rank"] | None', "depth": "int | None",
    "jobs": "int",    "dask": "str | None", "unit": 'Literal["conversation", "turn"] | None',
    "conversation": "StrPath | None",
    "documents": "bool | None", "by": 'Literal["collection"] | None', "seed": "int | None",
    "original": "Input | Mapping[str, Input] | None", "qr": "Input | Mapping[str, Input] | None", "human": "Input | None",
    "runs": "Input | Sequence[StrPath] | Mapping[str, Input] | None",
    "old": "Input", "new": "Project | Input",
}  # fmt: skip
_SHAPES = {"one": "Input | None", "several": "Input | Sequence[Input] | None"}
_INPUTS = {source.key: _SHAPES.get(source.shape, "Mapping[str, Any] | None") for source in SOURCES}
_HEAD = '''"""Robustness and error analysis for conversational search.

Made from the signatures of the studies by `python docs/update.py`.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import pandas as pd

from robustcs.api import open_project as open_project
from robustcs.api import report as report
from robustcs.project.model import Project
'''
_ALIASES = """
StrPath = str | os.PathLike[str]
#: A file, or what Python has in place of one: a frame, a dictionary, or records.
Input = StrPath | pd.DataFrame | Mapping[str, Any] | Iterable[Any]
__version__: str
"""


def stub() -> str:
    """Return the text of the stub."""
    imports, functions = [], []
    for one in STUDIES:
        signature = signature_of(one)
        name = str(signature.return_annotation)
        modules = {result.__name__: result.__module__ for result in results_of(one)}
        for result in name.split(" | "):
            imports.append(f"from {modules[result]} import {result}")
        functions.append(_function(one, signature))
    return "\n".join([_HEAD + "\n".join(sorted(set(imports))), _ALIASES, *functions])


def _function(one: Study, signature: inspect.Signature) -> str:
    lines, keyword = [], False
    hints = hints_of(one.part("study").ask)
    table = get_type_hints(STUDY_TABLES[one.name]) if one.name in STUDY_TABLES else {}
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword:
            lines.append("    *,")
            keyword = True
        said = _named(hints.get(parameter.name, Any))
        if said == "Any":  # an input, or a setting that several studies share
            of_table = _named(table[parameter.name] | None) if parameter.name in table else "Any"
            said = _SETTINGS.get(parameter.name) or _INPUTS.get(parameter.name, of_table)
        said = said if lines else f"Project | {said}"
        default = "" if parameter.default is parameter.empty else " = ..."
        others = [other for other, name in SINGULARS.items() if name == parameter.name]
        lines += [f"    {name}: {said}{default}," for name in (parameter.name, *others)]
    short = (inspect.getdoc(one.part("study").ask) or "").partition("\n\n")[0].replace("\n", " ")
    return "\n".join(
        [f"def {one.name}(", *lines, f") -> {signature.return_annotation}:", f'    """{short}"""\n']
    )


def _named(kind: Any) -> str:
    """Return a type in the form of a stub, without ``Annotated``."""
    if isinstance(kind, list):
        return f"[{', '.join(map(_named, kind))}]"
    kind = getattr(kind, "__origin__", kind) if hasattr(kind, "__metadata__") else kind
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return " | ".join(map(_named, parts))
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, parts))}]".replace("'", '"')
    if origin is tuple and parts[-1] is Ellipsis:
        return f"Sequence[{_named(parts[0])}]"
    if origin is not None:
        return f"{_named(origin)}[{', '.join('...' if part is Ellipsis else _named(part) for part in parts)}]"
    return "None" if kind in (None, NoneType) else "Any" if kind is Any else kind.__name__
