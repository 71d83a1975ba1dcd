"""Turn a table of a result into a table for people: declared columns become heads and cells."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from robustcs.documents import words
from robustcs.documents.document import Column, Paragraph, TableBlock
from robustcs.evaluation.measure import is_averaged
from robustcs.lazy import pd
from robustcs.result import Field
from robustcs.wording import system_name

if TYPE_CHECKING:
    from robustcs.result import Result, TableSpec


#: The largest number of rows of a table by collection that is shown without ``--table``.
_SHORT = 30


def cell(field: Field, line: Any) -> str:
    """Return a formatted cell by the kind and unit of its column, with its interval if it has one; ``–`` if missing."""
    value = getattr(line, field.name)
    if _missing(value):
        return "–"
    low, high = [getattr(line, name) for name in field.limits] or [math.nan, math.nan]
    whole = field.limits and field.unit == "share"
    shown = words.whole_percent(value) if whole else _FORMS.get(field.unit, _plain)(field, value)
    if _missing(low):
        return shown
    if field.unit == "share":
        return f"{shown} ({words.percent_interval(low, high)}%)"
    if field.unit == "points":
        return f"{shown} ({words.points_interval(low, high)})"
    between = words.signed_interval if field.unit == "difference" else words.number_interval
    return f"{shown} ({between(low, high, 3 if field.digits is None else field.digits)})"


def _plain(field: Field, value: Any) -> str:
    if isinstance(value, list):
        return " / ".join(map(str, value)) or "–"
    if field.kind == "text":
        return words.threshold_label(value) if field.name == "threshold" else str(value)
    if field.kind == "boolean":
        return "yes" if value else "no"
    if field.kind == "integer":
        return f"{int(value):,}"
    return words.number(float(value), 3 if field.digits is None else field.digits)


#: Unit → format of a value.
_FORMS: Mapping[str, Callable[[Field, Any], str]] = {
    "share": lambda field, value: words.percent(float(value)),
    "points": lambda field, value: words.points(float(value)),
    "score": lambda field, value: words.number(
        float(value), 4 if field.digits is None else field.digits
    ),
    "difference": lambda field, value: words.signed(
        float(value), 4 if field.digits is None else field.digits
    ),
    "p": lambda field, value: words.p_value(float(value)),
    "measure": lambda field, value: words.measure_label(str(value)),
}


def _missing(value: Any) -> bool:
    return value is None or type(value).__name__ == "NAType" or bool(value != value)


def head(field: Field) -> Column:
    """Return the head of a column: texts are left-aligned, numbers right-aligned."""
    return Column(
        field.header or field.name, "left" if field.kind == "text" else "right", field.group
    )


#: A shown column: the name of a declared column, a field with another header, or a field and a function from a row to its
#: cell.
Shown = str | Field | tuple[Field, Callable[[Any], str]]


def ready(*fields: Field) -> list[Shown]:
    """Return columns for rows that are tuples of cells, such as those of a pivoted table."""
    return [(field, itemgetter(place)) for place, field in enumerate(fields)]


def result_table(
    result: Result,
    name: str,
    caption: str,
    columns: Sequence[Shown],
    note: str = "",
    *,
    rows: pd.DataFrame | Sequence[Any] | None = None,
    by: str | None = None,
    rules: Iterable[int] = (),
    most: int | None = None,
    slug: str = "",
    hint: str = "",
) -> TableBlock:
    """Return a table of ``result`` for people.

    rows
        Some rows of the table, or the arguments of the functions in ``columns``, such as rows of a pivoted table (default: all
        rows of the table). A row of a frame is a named tuple.
    by
        A column whose equal values stand together, with a thin rule between different ones.
    rules
        Further rows with a thin rule above them.
    most
        Largest number of rows; the note tells if there are more.
    slug
        For labels and file names (default: the table's name).
    hint
        How to see more of it at the terminal.
    """
    rows = result.rows(name) if rows is None else rows
    lines: list[Any] = (
        list(rows) if isinstance(rows, Sequence) else list(rows.itertuples(index=False))
    )
    if most is not None and len(lines) > most:
        note, lines = f"The first {most:,} of {len(lines):,} rows. {note}".strip(), lines[:most]
    if by:
        keys = list(dict.fromkeys(getattr(line, by) for line in lines))
        lines.sort(key=lambda line: keys.index(getattr(line, by)))
    shown = [_shown(result, name, column) for column in columns]
    cells = tuple(
        # a role is the key of a file in the project, and a cause is an error, not the name of a system
        tuple(
            system_name(make(line))
            if field.kind == "text" and field.name not in ("role", "cause")
            else make(line)
            for field, make in shown
        )
        for line in lines
    )
    changes = rules_between([getattr(line, by) for line in lines] if by else [])
    heads = tuple(head(field) for field, _ in shown)
    return TableBlock(
        slug or name,
        caption,
        heads,
        cells,
        note,
        frozenset(changes.union(rules)),
        of=name,
        hint=hint,
    )


def _shown(result: Result, name: str, column: Shown) -> tuple[Field, Callable[[Any], str]]:
    if isinstance(column, tuple):
        return column
    field = result.spec(name).field(column) if isinstance(column, str) else column
    return field, lambda line: cell(field, line)


def rules_between(keys: Sequence[Any]) -> frozenset[int]:
    """Return the rows with a thin rule above them, at each change of the rows' keys; none if all keys differ."""
    if len(set(keys)) == len(keys):
        return frozenset()
    return frozenset(place for place in range(1, len(keys)) if keys[place] != keys[place - 1])


def wide_table(
    result: Result,
    name: str,
    caption: str,
    index: Sequence[str | Field],
    across: str,
    values: Sequence[str | Field],
    note: str = "",
    *,
    rows: pd.DataFrame | None = None,
    heads: Mapping[Any, str] | None = None,
    group: str = "",
    by: str | None = None,
    slug: str = "",
    hint: str = "",
) -> TableBlock:
    """Return a pivoted table of ``result``: one row per ``index``, and columns of ``values`` for every value of ``across``.

    heads
        Value of ``across`` → head of its columns, in the order shown (default: all values, under their own names).
    group
        The shared head if each value has one column (default: a remark that the cells have intervals).
    by
        A column of the rows whose equal values stand together, with a thin rule between different ones.
    """
    spec = result.spec(name)
    frame = result.tables[name] if rows is None else rows
    frame = (
        frame.sort_values(by, key=lambda column: pd.factorize(column)[0], kind="stable")
        if by
        else frame
    )
    heads = (
        heads
        if heads is not None
        else {key: system_name(str(key)) for key in dict.fromkeys(frame[across])}
    )
    keys, fields = (
        [spec.field(one) if isinstance(one, str) else one for one in some]
        for some in (index, values)
    )
    group = group or ("with 95% CI" if fields[0].limits else "")
    columns, lines, marks = list(keys), [], []
    for title in heads.values():
        columns += [
            one.called(*((title, group) if len(fields) == 1 else (one.header or one.name, title)))
            for one in fields
        ]
    for _, part in frame.groupby([field.name for field in keys], sort=False):
        found = {getattr(line, across): line for line in part.itertuples(index=False)}
        first = next(iter(found.values()))
        shown = [cell(one, found[key]) if key in found else "–" for key in heads for one in fields]
        lines.append((*(cell(one, first) for one in keys), *shown))
        marks.append(getattr(first, by) if by else None)
    return result_table(
        result,
        name,
        caption,
        ready(*columns),
        note,
        rows=lines,
        rules=rules_between(marks),
        slug=slug,
        hint=hint,
    )


def notes_of(rows: pd.DataFrame) -> str:
    """Return the different notes of ``rows``, each once."""
    return words.noted(("", note) for note in rows["note"])


def group_columns(
    result: Result, name: str, group: str, lines: Mapping[Any, Any], *columns: Shown
) -> list[Shown]:
    """Return columns under one head of a pivoted table; each row is a key of ``lines``, the rows with the values."""
    shown = [_shown(result, name, column) for column in columns]
    return [
        (field.called(field.header or field.name, group), lambda row, make=make: make(lines[row]))  # type: ignore[misc]
        for field, make in shown
    ]


def collection_tables(result: Result, name: str = "") -> list[TableBlock]:
    """Return the table ``name`` of each collection, or the first short one; only CSV and JSON have its notes."""
    every = result.by_collection
    if not every:
        return []
    is_named = bool(name)
    name = name or next(
        (name for name in every if len(result.table(name)) <= _SHORT), next(iter(every))
    )
    shown = result.table(name)
    declared = _declared(result.spec(name.removesuffix("_by_collection")), shown.names)
    fields: list[Shown] = [field for field in declared if field.name != "note"]
    measures = set(shown.values("metric")) if "metric" in shown.names else set()
    if not all(map(is_averaged, measures)):  # a total is not a mean
        fields = [
            replace(one, header="value")
            if isinstance(one, Field) and one.header.startswith("mean")
            else one
            for one in fields
        ]
    others = "" if is_named else ", ".join(other for other in every if other != name)
    note = f"--table NAME shows another: {others}." if others else ""
    return [
        result_table(result, name, "Each collection separately", fields, by="collection", hint=note)
    ]


def plain_tables(result: Result, names: Iterable[str]) -> list[TableBlock | Paragraph]:
    """Return tables that no block shows, with all their columns."""
    shown: list[TableBlock | Paragraph] = []
    for name in names:
        spec, made = result.spec(name), result.table(name)
        columns = _declared(spec, made.names)
        # names such as ``ndcg_cut_3>=0.5`` are no attributes of named tuples
        rows = [SimpleNamespace(**dict(zip(made.names, row, strict=True))) for row in made]
        table = result_table(result, name, spec.says.partition(".")[0], columns, rows=rows)
        shown.append(table if len(made) else Paragraph(f"Table {name} has no rows."))
    return shown


def _declared(spec: TableSpec, names: Iterable[str]) -> list[Field]:
    """Return all columns of a table, with intervals in the cells of their estimates."""
    known = {field.name: field for field in spec.fields}
    limits = {limit for field in spec.fields for limit in field.limits}
    fields = [
        known.get(name, Field(name, spec.more or "text")) for name in names if name not in limits
    ]
    return [one.called(one.header or _in_words(one), one.group) for one in fields]


def _in_words(field: Field) -> str:
    """Return the head of a column that declares none: its name in words, capitalized above texts."""
    name = " ".join(map(system_name, field.name.split("_")))
    return name[:1].upper() + name[1:] if field.kind == "text" else name
