"""Convert Python objects to rows: frames, dictionaries as in pytrec_eval and ranx, and records.

A record is a named tuple, a data class or a dictionary, as in ir_measures and ir_datasets.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import islice
from numbers import Real
from typing import Any

from robustcs.errors import ProblemList, input_error
from robustcs.inputs.paths import MemoryFile, memory_file
from robustcs.inputs.tables import TURN_NAMES, find_column, need_column
from robustcs.inputs.text import is_whole

#: Characters that an id must not contain, because ids are separated by white space.
_NO_WORD = re.compile("[ \t\r\v\f\0#\ud800-\udfff]")


class Rows:
    """A Python object as rows, counted from 1.

    columns
        Name → values, one for each row.
    place
        The text after the keyword in messages about a row: ``, row 3``, or the keys that lead to it.
    role
        The formulation of texts; empty for other rows.
    """

    role = ""

    def __init__(self, keyword: str, columns: dict[str, list[Any]], place: Callable[[int], str]):
        self.columns = columns
        self.file = memory_file(f"<{keyword}>", place)
        self.problems = ProblemList(self.file)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def has(self, names: Sequence[str]) -> bool:
        """Return whether one of ``names`` is a column."""
        return find_column(list(self.columns), names) is not None

    def name(self, names: Sequence[str]) -> str:
        """Return the first of ``names`` that is a column. Raises :class:`InputError` that lists the columns."""
        return need_column(self.file, list(self.columns), names, line=None)

    def ids(self, names: Sequence[str]) -> list[str]:
        """Return a column of ids, each one word; invalid ids go to ``problems``."""
        name = self.name(names)
        values = self.columns[name]
        return (
            values
            if _are_words(values)
            else [self._id(name, value, row) for row, value in enumerate(values, 1)]
        )

    def _id(self, name: str, value: Any, row: int) -> str:
        value = plain(value)
        text = str(value).strip()
        if value is None or not text:
            self.problems.add(row, f"no {name}", "complete the row or delete it", "no-id")
        elif isinstance(value, bool) or not isinstance(value, str | int) or not _is_word(text):
            self.problems.add(
                row,
                f"{name} {value!r} is not an id",
                "give ids of one word that does not begin with #",
                "not-an-id",
            )
        return text

    def numbers(self, names: Sequence[str], whole: bool = False) -> list[str]:
        """Return a column of numbers as a file would contain them, each one word; the reader checks that they are numbers.

        ``whole``: pandas turns whole numbers with a gap into floats; they become whole again, and the reader rejects the gap.
        """
        name = self.name(names)
        values = self.columns[name]
        if whole:
            values = [
                int(one) if isinstance(one, float) and one.is_integer() else one for one in values
            ]
        if set(map(type, values)) <= {int, float}:
            return list(map(repr, values))
        words = list(map(word, values))
        if not _are_words(words):
            for row, text in enumerate(words, 1):
                if len(text.encode("utf-8", "replace").split()) != 1:
                    self.problems.add(
                        row,
                        f"{name} {text[:60]!r} is not a number",
                        "write a number",
                        "not-a-number",
                    )
        return words

    def json(self, name: str) -> list[str]:
        """Return a column as JSON; values that JSON cannot represent go to ``problems``."""
        found = []
        for row, value in enumerate(self.columns[name], 1):
            try:
                found.append(json.dumps(plain(value)))
            except (TypeError, ValueError, RecursionError) as error:
                self.problems.add(
                    row,
                    f"{name}: {str(error)[:80]}",
                    "use texts, numbers and lists of them",
                    "not-a-value",
                )
        return found

    def written(self, text: str, place: Callable[[int], str] | None = None) -> MemoryFile:
        """Return the file in memory; ``place`` maps its lines to places if they are not the rows.

        Raises :class:`InputError` with all problems, or if there are no rows.
        """
        self.problems.raise_if_any()
        if not len(self):
            raise input_error(self.file, None, "no rows", "check the input", "empty")
        return self.file.holding(text.encode("utf-8", "surrogatepass"), place)

    def place(self, row: int) -> str:
        """Return the text after the keyword in messages about a row."""
        return self.file.place(row).removeprefix(str(self.file))


def _is_word(text: str) -> bool:
    return is_whole(text) and len(text.encode().split()) == 1 and not text.startswith("#")


def _are_words(values: Sequence[Any]) -> bool:
    """Return whether all values are texts of one word; faster than checking each."""
    if set(map(type, values)) != {str}:
        return False
    text = "\n".join(values)
    return text.count("\n") == len(values) - 1 and "" not in values and not _NO_WORD.search(text)


# ---------------------------------------------------------------- values
def plain(value: Any) -> Any:
    """Return a cell as a JSON value: numpy's scalars and arrays as Python's, missing values as None, 3.0 as 3.

    Pandas turns a column of whole numbers with a gap into one of floats.
    """
    if value is None or value.__class__ in (str, int, bool):
        return value
    if isinstance(value, float):
        return None if value != value else int(value) if value.is_integer() else float(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if hasattr(value, "tolist"):
        return plain(_native(value))
    return None if str(value) in ("<NA>", "NaT") else value


def word(value: Any) -> str:
    """Return a number as a file would contain it: ``0.1``, ``nan``; anything else as ``str``."""
    if value.__class__ is float:
        return repr(value)
    if hasattr(value, "tolist"):
        return word(_native(value))
    return str(value)


def _native(value: Any) -> Any:
    """Return a numpy value as a Python value; a long double becomes a float."""
    native = value.tolist()
    if native.__class__ is not value.__class__:
        return native
    return float(native) if isinstance(native, Real) else str(native)


# ---------------------------------------------------------------- kinds of objects
def is_frame(value: Any) -> bool:
    """Return whether a value is a pandas frame or series."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame | pandas.Series)


def is_ranx(value: Any) -> bool:
    """Return whether a value is a Qrels or Run of ranx; ``to_dict`` converts their compiled dictionaries."""
    return (
        hasattr(value, "to_dict")
        and (hasattr(value, "qrels") or hasattr(value, "run"))
        and not is_frame(value)
    )


def is_iterable(value: Any) -> bool:
    """Return whether a value may contain records; an array without dimensions looks like one and does not."""
    return (
        isinstance(value, Iterable)
        and not isinstance(value, str | bytes | type)
        and getattr(value, "ndim", 1) != 0
    )


def fields_of(record: Any) -> Mapping[str, Any] | None:
    """Return the fields of a record; None for anything else."""
    if isinstance(record, Mapping):
        return record
    if isinstance(record, tuple) and hasattr(record, "_asdict"):
        return dict(record._asdict())
    if is_dataclass(record) and not isinstance(record, type):
        return {field.name: getattr(record, field.name) for field in fields(record)}
    return None


def is_nested(value: Any) -> bool:
    """Return whether a value is {turn: {document: number}} rather than inputs by name."""
    inner = (
        [part for part in value.values() if isinstance(part, Mapping)]
        if isinstance(value, Mapping)
        else []
    )
    return bool(inner) and not any(
        isinstance(part, Mapping) for one in inner for part in one.values()
    )


def is_records(value: Any, by_turn: bool) -> bool:
    """Return whether a list contains records rather than inputs; ``by_turn``: a dictionary may be {turn: text}."""
    if not isinstance(value, list | tuple) or not value:
        return False
    first = fields_of(value[0])
    if first is None or not isinstance(value[0], Mapping):
        return first is not None
    if by_turn:
        return find_column([str(key) for key in first], TURN_NAMES) is not None
    return not all(isinstance(part, Mapping) for part in first.values())


# ---------------------------------------------------------------- objects to rows
def rows_of(keyword: str, value: Any, levels: Sequence[str]) -> Rows | None:
    """Return the rows of the value of ``keyword``; None for a value without rows.

    ``levels`` are the columns of a dictionary: one for the keys of each level, and the last one for the values.

    Raises :class:`InputError` for a frame with two columns of the same name, for a dictionary with fewer levels, and for a list
    that contains something other than records.
    """
    if is_frame(value):
        return _of_frame(keyword, value)
    if isinstance(value, Mapping):
        return _of_mapping(keyword, value, levels) if levels else None
    return _of_records(keyword, value) if is_iterable(value) else None


def _row(row: int) -> str:
    return f", row {row}"


def _of_frame(keyword: str, frame: Any) -> Rows:
    if not hasattr(frame, "columns"):
        frame = frame.to_frame()
    names = [
        str(name)
        for name in (*(name for name in frame.index.names if name is not None), *frame.columns)
    ]
    rows = Rows(keyword, {}, _row)
    if len(set(names)) < len(names):
        raise input_error(
            rows.file,
            None,
            "two columns have the same name",
            "give every column its own name",
            "wrong-columns",
        )
    if len(names) > len(frame.columns):
        frame = frame.reset_index([name for name in frame.index.names if name is not None])
    rows.columns = {name: frame.iloc[:, place].tolist() for place, name in enumerate(names)}
    return rows


def _of_records(keyword: str, records: Iterable[Any]) -> Rows:
    rows = Rows(keyword, {}, _row)
    found: list[Mapping[str, Any]] = []
    for row, record in enumerate(records, 1):
        named = fields_of(record)
        if named is None:
            advice = "give named tuples, data classes or dictionaries"
            rows.problems.add(row, f"{str(record)[:60]!r} is not a record", advice, "not-a-record")
        else:
            found.append(named)
    rows.problems.raise_if_any()
    names = dict.fromkeys(name for named in found for name in named)
    rows.columns = {str(name): [named.get(name) for named in found] for name in names}
    return rows


def _of_mapping(keyword: str, value: Mapping[Any, Any], levels: Sequence[str]) -> Rows:
    deep = len(levels) > 2

    def keys() -> Iterator[tuple[Any, ...]]:
        return (
            ((key, name) for key, inner in value.items() for name in inner)
            if deep
            else ((key,) for key in value)
        )

    def place(row: int) -> str:
        return "".join(
            f"[{json.dumps(str(key), ensure_ascii=False)}]"
            for key in next(islice(keys(), row - 1, None))
        )

    rows = Rows(keyword, {}, place)
    for key, inner in value.items() if deep else ():
        if not isinstance(inner, Mapping):
            found, wanted = (
                f"{str(inner)[:60]!r} under {str(key)[:60]!r}",
                f"{{{levels[1]}: {levels[2]}}}",
            )
            raise input_error(rows.file, None, found, f"write {wanted} there", "not-a-dictionary")
    values = (
        [entry for inner in value.values() for entry in inner.values()]
        if deep
        else list(value.values())
    )
    rows.columns = {
        **{name: [key[depth] for key in keys()] for depth, name in enumerate(levels[:-1])},
        levels[-1]: values,
    }
    return rows
