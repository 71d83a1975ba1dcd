"""Build docs/tables.md from the declared tables of every study; docs/update.py writes the page."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from robustcs.result import Field, Result, TableSpec  # noqa: E402
from robustcs.studies.registry import STUDIES  # noqa: E402
from robustcs.studies.study import Study  # noqa: E402

TABLES = ROOT / "docs" / "tables.md"
_FOLDER = ROOT / "robustcs" / "studies"
_HEAD = """# Tables of results

Made from the program by `python docs/update.py`. These tables are the `tables` of [JSON](policy.md#json), the names that
`--table NAME` accepts, and the attributes of a result in [Python](python.md). Numbers have 12 significant digits.
Undefined values are `null`. A share is a number from 0 to 1.
"""


def tables_reference() -> str:
    """Return the page with the tables of every study, each once, with their columns."""
    parts = [_HEAD]
    for study in STUDIES:
        told: list[TableSpec] = []
        results = results_of(study)
        for result in results:
            new = [spec for spec in declared_by(result) if spec not in told]
            if new and not told:
                parts.append(f"## robustcs {study.name}\n\n{study.short}\n")
            if new and len(results) > 1:
                parts.append(f"**{result.__name__}.** {_gist(result)}\n")
            parts += map(_section, new)
            told += new
    return "\n".join(parts)


def results_of(study: Study) -> list[type[Result]]:
    """Return the result classes of a study, those of its ``analysis`` first."""
    for path in sorted((_FOLDER / study.name).glob("[a-z]*.py")):
        study.part(path.stem)  # a class is known to its base class once its module is imported
    classes: list[type[Result]] = [Result]
    for one in classes:
        classes += one.__subclasses__()

    def place(one: type[Result]) -> tuple[bool, str, int]:
        module = one.__module__
        return (
            not module.endswith(".analysis"),
            module,
            list(vars(import_module(module))).index(one.__name__),
        )

    return sorted(
        (
            one
            for one in classes
            if one.study == study.name and one.__module__.startswith("robustcs.")
        ),
        key=place,
    )


def declared_by(result: type[Result]) -> list[TableSpec]:
    """Return the tables of a result; if they depend on the call, those that its module declares outside the class.

    Raises :class:`TypeError` for a result without tables.
    """
    if isinstance(result.declared, tuple):
        declared = list(result.declared)
    else:
        module = import_module(result.__module__)
        own = [
            module,
            *(
                one
                for one in vars(module).values()
                if getattr(one, "__package__", "") == module.__package__
            ),
        ]
        there = [
            value for one in own if isinstance(one, ModuleType) for value in vars(one).values()
        ]
        parts = [part for value in there if isinstance(value, tuple) for part in value]
        declared = list(
            dict.fromkeys(part for part in (*parts, *there) if isinstance(part, TableSpec))
        )
    if not declared:
        raise TypeError(f"{result.__module__} declares no tables for {result.__name__}")
    return declared


def _gist(result: type[Result]) -> str:
    """Return the first paragraph of its docstring as Markdown."""
    first = " ".join((result.__doc__ or "").partition("\n\n")[0].split())
    return re.sub(r":\w+:`~?([^`]*)`", r"`\1`", first).replace("``", "`")


def _section(spec: TableSpec) -> str:
    fields = [
        *spec.fields,
        *([Field("…", spec.more, says="further columns, as described above")] if spec.more else []),
    ]
    rows = [
        f"| `{field.name}` | {_kind(field)} | {_escaped(field.says)}".rstrip() + " |"
        for field in fields
    ]
    return (
        "\n".join(
            [
                f"### {spec.name}\n\n{_escaped(spec.says)}\n\n| Column | Kind | |\n|---|---|---|",
                *rows,
            ]
        )
        + "\n"
    )


def _kind(field: Field) -> str:
    return {"share": "share", "score": "score", "difference": "difference", "p": "p value"}.get(
        field.unit, field.kind
    )


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
