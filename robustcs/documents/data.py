"""Write results for programs: JSON and CSV, with 12 significant digits.

Processors add in different orders, which changes the last digits of a double. With 12 digits, the same inputs give the same
bytes everywhere.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from robustcs.table import Table

#: Column name → its values as str, int, float, bool or None.
Columns: TypeAlias = dict[str, list[Any]]

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_SURROGATE = re.compile("[\ud800-\udfff]")
_QUOTED = re.compile('[,"\r\n]')
_FORMULA = re.compile("'*[=+\\-@\t\r]")
_SIGNED_NUMBER = re.compile(r"[=+-]?[0-9]*\.?[0-9]+([eE][+-]?[0-9]+)?")


def to_json(
    command: str,
    version: str,
    policy: Mapping[str, Any],
    inputs: Sequence[Mapping[str, Any]],
    tables: Mapping[str, Table | Columns | str],
    notes: Iterable[str] = (),
) -> str:
    """Return one JSON object ``{"command", "version", "policy", "inputs", "tables": {name: [{column: value}]}, "notes"}``.

    Strict JSON: missing values, NaN and infinities are null, and numpy scalars are plain numbers.
    Each row is one line, and the text ends with a line feed. Bytes of file names that are not UTF-8
    become U+FFFD. A table that is a text is written as it is.
    """
    bodies = [
        f"\n{_encode(name)}: {one if isinstance(one, str) else rows_as_json(one)}"
        for name, one in tables.items()
    ]
    parts = [
        f'"command": {_encode(command)}',
        f'"version": {_encode(version)}',
        f'"policy": {_encode(policy)}',
        f'"inputs": {_lines(_encode(entry) for entry in inputs)}',
        '"tables": {' + ",".join(bodies) + "}",
        f'"notes": {_lines(_encode(note) for note in notes)}',
    ]
    return _SURROGATE.sub("\ufffd", "{\n" + ",\n".join(parts) + "\n}\n")


def to_csv(table: Table | Columns, raw: bool = False) -> str:
    """Return the table as CSV with a header line, line feeds as line ends, and RFC 4180 quoting.

    Numbers have 12 significant digits; missing values are empty. Unless ``raw``, a text that a spreadsheet would run as a
    formula (it starts with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return, and is not a number such as ``-3`` or
    ``=1``) gets an apostrophe in front. A text with apostrophes before such a character gets one more, so removing one
    apostrophe restores every text.
    """
    cell = _quoted if raw else _guarded
    columns = columns_of(table)
    lines = [",".join(map(cell, columns))]
    lines += map(
        ",".join,
        zip(*(_each(column, partial(_field, cell)) for column in columns.values()), strict=True),
    )
    # Readers skip an empty line, so the row would be lost.
    return "".join(f"{line}\n" if line else '""\n' for line in lines)


def rows_as_json(table: Table | Columns) -> str:
    """Return the rows of a table as a JSON list of objects."""
    columns = [
        _each(column, partial(_entry, _ENCODER.encode(name)))
        for name, column in columns_of(table).items()
    ]
    return _lines(f"{{{', '.join(row)}}}" for row in zip(*columns, strict=True))


def columns_of(table: Table | Columns) -> Columns:
    """Return the columns with values of JSON, numbers with 12 digits; several formats of a table can use them."""
    if isinstance(table, dict):
        return table
    return {name: _each(table.values(name), _plain) for name in table.names}


def _each(column: Sequence[Any], convert: Callable[[Any], Any]) -> list[Any]:
    """Apply ``convert`` to all values of a column, once per distinct value: most texts and many scores are repeated."""
    kinds = {*map(type, column)}
    if kinds <= {str, NoneType} and convert is _plain:
        return list(column)
    # equal numbers of two types are one key
    if (
        not kinds <= {str, NoneType, float}
        and not kinds <= {str, NoneType, int}
        and not kinds <= {str, NoneType, bool}
    ):
        return list(map(convert, column))
    return list(map({value: convert(value) for value in {*column}}.__getitem__, column))


def _plain(value: Any) -> Any:
    """Return ``value`` as a value of JSON; containers are converted recursively, unknown types become text."""
    if type(value) is float:
        # + 0.0: zero has no sign
        return float(f"{value:.12g}") + 0.0 if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return _plain(float(value))
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [
            _plain(entry)
            for entry in (sorted(value) if isinstance(value, set | frozenset) else value)
        ]
    if hasattr(value, "tolist"):  # numpy scalars and arrays
        return _plain(value.tolist())
    text = str(value)
    return None if text in ("<NA>", "NaT") else text


def _encode(value: Any) -> str:
    return _ENCODER.encode(_plain(value))


def _lines(entries: Iterable[str]) -> str:
    text = ",\n".join(entries)
    return f"[\n{text}\n]" if text else "[]"


def _entry(name: str, value: Any) -> str:
    """Return a value of JSON after its name. Most are numbers, and need no encoder."""
    plain = type(value) is int or (type(value) is float and math.isfinite(value))
    return f"{name}: {value!r}" if plain else f"{name}: {_ENCODER.encode(value)}"


def _field(cell: Callable[[str], str], value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, dict):
        return cell(_ENCODER.encode(value))
    return repr(value) if isinstance(value, bool | int | float) else cell(str(value))


def _guarded(text: str) -> str:
    return _quoted(
        f"'{text}" if _FORMULA.match(text) and not _SIGNED_NUMBER.fullmatch(text) else text
    )


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text
