"""From tables to text: what people read about a study's result, made of hand-made frames.

Tests of sentences know the tables of a study, which are a contract, and the text; not which module writes it.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import fields
from importlib import import_module
from types import ModuleType
from typing import Any

import pandas as pd

from robustcs.documents.document import Verdict
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated, Result, TableSpec

Rows = Sequence[Mapping[str, Any]]
_EMPTY: dict[str, Any] = {"text": "", "integer": 0, "number": float("nan"), "boolean": False}
_EVALUATED = ("turns", "missing", "notes", "unit", "units", "few")


def frame(spec: TableSpec, rows: Rows) -> pd.DataFrame:
    """A table as it is declared: columns that a row lacks are empty, 0, nan or False."""
    names = [field.name for field in spec.fields]
    more = [
        name for name in dict.fromkeys(name for row in rows for name in row) if name not in names
    ]
    assert spec.more or not more, f"table {spec.name} has no column {more}"
    filled = [
        {field.name: row.get(field.name, _EMPTY[field.kind]) for field in spec.fields} | dict(row)
        for row in rows
    ]
    return pd.DataFrame(filled, columns=names + more)


def made(study: str, tables: Mapping[str, Rows], **settings: Any) -> Result:
    """A result of ``study`` with these rows; tables that are not named are empty.

    ``settings``: turns, unit, units and notes of what was evaluated, and other fields of the result.
    """
    module = import_module(f"robustcs.studies.{study}.analysis")
    basis = {"turns": 10, "missing": 0, "unit": "conversation", "units": 5}
    basis |= {name: settings.pop(name) for name in _EVALUATED if name in settings}
    evaluated = Evaluated(settings.pop("policy", EvaluationPolicy()), "runs", **basis)
    if study == "augment":
        specs = {spec.name: spec for spec in module.TABLES}
        assert set(tables) <= set(specs)
        found = {name: specs[name].of(frame(specs[name], rows)) for name, rows in tables.items()}
        return module.Augmentation(evaluated, 10, None, **settings, content=found)  # type: ignore[no-any-return]
    kinds = [
        kind
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Result)
    ]
    [kind] = [kind for kind in kinds if kind.__module__ == module.__name__]
    specs = {spec.name: spec for spec in kind.declared}
    assert set(tables) <= set(specs), f"{study} has the tables {', '.join(specs)}"
    made_ = {name: spec.of(frame(spec, tables.get(name, ()))) for name, spec in specs.items()}
    rest = {
        field.name: {}
        for field in fields(kind)
        if field.name not in (*made_, *settings, "evaluated", "inputs", "content", "no_p")
    }
    return kind(evaluated, **rest, **settings, content=made_)


def cards(result: Result, **more: Any) -> list[Verdict]:
    """The verdicts on a result. ``more``: what they are told beside the result, such as roles."""
    return _called(result, "verdicts", more)


def spoken(result: Result, **more: Any) -> list[str]:
    """The verdicts on a result, and then its findings."""
    names = [name for name in vars(_module(result)) if name.endswith("_findings")]
    return [
        *(card.sentence for card in cards(result, **more)),
        *(one for name in names for one in _called(result, name, more)),
    ]


def _module(result: Result) -> ModuleType:
    return import_module(f"robustcs.studies.{result.study}.findings")


def _called(result: Result, name: str, more: Mapping[str, Any]) -> list[Any]:
    function = getattr(_module(result), name, None)
    if function is None or function.__module__ != _module(result).__name__:
        return []
    return list(
        function(
            result,
            **{key: more[key] for key in inspect.signature(function).parameters if key in more},
        )
    )


def said(
    study: str,
    tables: Mapping[str, Rows],
    *,
    told: Mapping[str, Any] | None = None,
    **settings: Any,
) -> list[str]:
    """What people read about a result with these tables, verdicts first: see :func:`made` and :func:`spoken`."""
    return spoken(made(study, tables, **settings), **(told or {}))
