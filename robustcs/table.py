"""Computed tables: the declaration of their columns, and their values as numpy columns."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Protocol, overload

import numpy as np

from robustcs.lazy import pd

if TYPE_CHECKING:
    import numpy.typing as npt

#: Kind of the cells of a column.
Kind = Literal["text", "integer", "number", "boolean"]
#: Display of the cells: a share (0 to 1) in percent, a difference of shares in percentage points,
#: and so on.
Unit = Literal["", "count", "share", "points", "score", "difference", "p", "measure"]


@dataclass(frozen=True)
class Field:
    """A column of a table in JSON and CSV, and its display.

    says
        Description for the reference.
    header
        Displayed head; the name if empty.
    group
        Displayed head above adjacent columns of the same group.
    digits
        Displayed decimals; None for those of the unit.
    limits
        Columns with the ends of its 95% interval, which are displayed in the same cell; empty if it
        has no interval.
    """

    name: str
    kind: Kind
    unit: Unit = ""
    says: str = ""
    header: str = ""
    group: str = ""
    digits: int | None = None
    limits: tuple[str, ...] = ()

    def called(self, header: str, group: str = "") -> Field:
        """Return the column with another displayed head."""
        return replace(self, header=header, group=group)

    def rounded(self, digits: int) -> Field:
        """Return the column with this number of displayed decimals."""
        return replace(self, digits=digits)

    @property
    def bare(self) -> Field:
        """The column without its interval."""
        return replace(self, limits=(), header=self.header.removesuffix(" (95% CI)"))

    def between(
        self, low: str = "ci_low", high: str = "ci_high", says: str = ""
    ) -> tuple[Field, Field, Field]:
        """Return the column and the columns of its 95% interval.

        They are displayed in one cell, and are three columns in CSV and JSON.

        A row may have one estimate (with ``value``, ``low`` and ``high``) in place of the three;
        see :meth:`TableSpec.of`.
        """
        header = f"{self.header or self.name} (95% CI)"
        return (
            replace(self, header=header, limits=(low, high)),
            number(low, says or f"95% CI of {self.name}"),
            number(high),
        )


def text(name: str, says: str = "", header: str = "") -> Field:
    """Return a column of names, ids or other texts."""
    return Field(name, "text", "", says, header)


def measure(name: str = "metric", says: str = "") -> Field:
    """Return a column of measures, named as in trec_eval, displayed as labels: ``NDCG@3``."""
    return Field(name, "text", "measure", says, "Measure")


def count(name: str, says: str = "", header: str = "", group: str = "") -> Field:
    """Return a column of whole numbers."""
    return Field(name, "integer", "count", says, header, group)


def share(name: str, says: str = "", header: str = "", group: str = "") -> Field:
    """Return a column of shares (0 to 1), displayed in percent."""
    return Field(name, "number", "share", says, header, group)


def points(name: str, says: str = "", header: str = "", group: str = "") -> Field:
    """Return a column of differences between shares, in percentage points with their sign."""
    return Field(name, "number", "points", says, header, group)


def score(name: str, says: str = "", header: str = "", group: str = "") -> Field:
    """Return a column of scores."""
    return Field(name, "number", "score", says, header, group)


def difference(name: str, says: str = "", header: str = "", group: str = "") -> Field:
    """Return a column of differences between scores, displayed with their sign."""
    return Field(name, "number", "difference", says, header, group)


def number(name: str, says: str = "", header: str = "", group: str = "") -> Field:
    """Return a column of other numbers."""
    return Field(name, "number", "", says, header, group)


def p_value(
    name: str = "p", says: str = "two-sided p-value", header: str = "", group: str = ""
) -> Field:
    """Return a column of p-values."""
    return Field(name, "number", "p", says, header, group)


def flag(name: str, says: str = "", header: str = "") -> Field:
    """Return a column of true and false."""
    return Field(name, "boolean", "", says, header)


@cache
def _row_type(names: tuple[str, ...]) -> Any:
    """Return the class of the rows of a table with these columns."""
    return namedtuple("Row", names, rename=True)  # type: ignore[misc]


class Table:
    """A computed table: numpy columns of equal length in declared order.

    It does not change; its columns are read-only. Each kind of column has one form, and one way to
    say that a value is missing:

    ========  ==============================================  ==================  ================
    kind      column                                          missing in a column  missing in a row
    ========  ==============================================  ==================  ================
    text      objects                                         None                None
    integer   int64; float64 if values are missing            nan                 None
    number    float64; int64 if all values are whole numbers  nan                 nan
    boolean   bool; objects if values are missing             None                None
    ========  ==============================================  ==================  ================

    Iteration gives the rows as named tuples of Python values. In a column with missing
    values, whole numbers are exact up to 2**53.
    """

    __slots__ = ("_columns", "_frame", "fields")

    def __init__(self, fields: Sequence[Field], columns: Mapping[str, Any]) -> None:
        """Take the values of each field, in any form.

        Raises :class:`TypeError` if they are not of its kind; :class:`ValueError` if the lengths
        differ.
        """
        self.fields = tuple(fields)
        self._columns: dict[str, np.ndarray] = {}
        self._frame: pd.DataFrame | None = None
        for field in self.fields:
            column = _CONVERTERS[field.kind](field.name, columns[field.name])
            column.flags.writeable = False
            self._columns[field.name] = column
        lengths = {name: len(column) for name, column in self._columns.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns of different lengths: {lengths}")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._columns)

    def __getitem__(self, name: str) -> np.ndarray:
        """Return a column, read-only. Raises :class:`KeyError` if there is none of that name."""
        return self._columns[name].view()  # of a view, a reader cannot allow writing

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the rows."""
        columns = [self._values(field) for field in self.fields]
        return map(_row_type(self.names)._make, zip(*columns, strict=True))

    def __repr__(self) -> str:
        return f"<Table: {len(self)} rows of {', '.join(self.names)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Table, (self.fields, self._columns)  # so that unpickled columns are read-only too

    def values(self, name: str) -> list[Any]:
        """Return a column as Python values, as rows have them.

        Raises :class:`KeyError` if there is none of that name.
        """
        return self._values({field.name: field for field in self.fields}[name])

    def _values(self, field: Field) -> list[Any]:
        column = self._columns[field.name]
        listed: list[Any] = column.tolist()
        if field.kind == "integer" and column.dtype.kind == "f":
            return [None if value != value else int(value) for value in listed]
        return listed

    def take(self, rows: npt.ArrayLike) -> Table:
        """Return the table of these rows: their places from 0, or one truth value per row."""
        chosen = np.asarray(rows)
        return Table(self.fields, {name: one[chosen] for name, one in self._columns.items()})

    def where(self, **equal: object) -> Table:
        """Return the table of the rows with these values in these columns."""
        chosen = np.ones(len(self), dtype=bool)
        for name, value in equal.items():
            wanted = _objects([value])  # as an array of texts, it would lose final NUL characters
            chosen &= np.asarray(self._columns[name] == wanted, dtype=bool)
        return self.take(chosen)

    def without(self, names: Iterable[str]) -> Table:
        """Return the table in which all numbers of these columns are missing."""
        missing = np.full(len(self), np.nan)
        return Table(self.fields, {**self._columns, **dict.fromkeys(names, missing)})

    def frame(self) -> pd.DataFrame:
        """Return a new frame: missing integers as ``Int64``, missing booleans as ``boolean``."""
        if self._frame is None:  # pandas takes long to find out which columns are strings
            self._frame = pd.DataFrame({field.name: self._series(field) for field in self.fields})
        return self._frame.copy()

    def _series(self, field: Field) -> Any:
        column = self._columns[field.name]
        if field.kind == "integer" and column.dtype.kind == "f":
            return pd.array(column, dtype="Int64")  # type: ignore[call-overload]
        if field.kind == "boolean" and column.dtype.kind == "O" and len(column):
            return pd.array(column.tolist(), dtype="boolean")  # type: ignore[call-overload]
        return column.copy()


def stacked(name: str, parts: Mapping[str, Table]) -> Table:
    """Return the rows of all parts; the first column, ``name``, has the key of the part."""
    fields = {field.name: field for part in parts.values() for field in part.fields}
    columns: dict[str, list[Any]] = {one: [] for one in (name, *fields)}
    for key, part in parts.items():
        columns[name] += [key] * len(part)
        for one in fields:
            columns[one] += part.values(one) if one in part.names else [None] * len(part)
    return Table((text(name), *fields.values()), columns)


def _array(values: Any) -> np.ndarray:
    """Return the values of a list, an array or a series as an array."""
    if hasattr(values, "to_numpy"):  # a series, or an array of pandas
        values = values.to_numpy()
    if isinstance(values, np.ndarray):
        return values
    found = np.array(values) if len(values) else np.empty(0)
    return found if found.ndim == 1 else _objects(values)


def _objects(values: Sequence[Any]) -> np.ndarray:
    """Return the values as an array of objects; lists in it stay lists."""
    return np.fromiter(values, dtype=object, count=len(values))


def _missing(value: Any) -> bool:
    """Return whether a value is None, nan, or NA of pandas."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def _wrong_kind(name: str, found: object, kind: Kind) -> TypeError:
    return TypeError(f"column {name} is {found}, declared is {kind}")


def _texts(name: str, values: Any) -> np.ndarray:
    """Return the column of a text. Values that are not strings, such as lists, stay as they are."""
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if isinstance(values, np.ndarray):
        if values.dtype.kind not in "OTU" and len(values) and not _all_missing(values):
            raise _wrong_kind(name, values.dtype, "text")
        values = values.tolist()
    if not {*map(type, values)} <= {str, type(None)}:
        values = [None if _missing(value) else value for value in values]
    return _objects(values)


def _all_missing(values: np.ndarray) -> bool:
    return values.dtype.kind == "f" and bool(np.isnan(values).all())


def _numbers(name: str, values: Any, kind: Kind = "number") -> np.ndarray:
    """Return the column of a number."""
    found = _array(values)
    if found.dtype.kind == "O":
        if any(isinstance(value, str) for value in found):
            raise _wrong_kind(name, "str", kind)
        found = np.array([np.nan if _missing(value) else value for value in found])
    if not len(found):
        return np.empty(0, dtype=np.int64 if kind == "integer" else np.float64)
    if found.dtype.kind in "iu":
        return found.astype(np.int64)
    if found.dtype.kind == "f":
        return found.astype(np.float64)
    raise _wrong_kind(name, found.dtype, kind)


def _integers(name: str, values: Any) -> np.ndarray:
    """Return the column of an integer."""
    found = _numbers(name, values, "integer")
    if found.dtype.kind == "i":
        return found
    there = ~np.isnan(found)
    if (found[there] % 1 != 0).any():
        raise _wrong_kind(name, found.dtype, "integer")
    return found.astype(np.int64) if there.all() else found


def _booleans(name: str, values: Any) -> np.ndarray:
    """Return the column of a boolean."""
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if isinstance(values, np.ndarray):
        if values.dtype.kind == "b":
            return values.copy()
        values = values.tolist()
    listed = [None if _missing(value) else value for value in values]
    if wrong := {*map(type, listed)} - {bool, np.bool_, type(None)}:
        raise _wrong_kind(name, wrong.pop().__name__, "boolean")
    truth = [None if value is None else bool(value) for value in listed]
    return _objects(truth) if None in truth else np.array(truth, dtype=bool)


_CONVERTERS = {
    "text": _texts,
    "integer": _integers,
    "number": _numbers,
    "boolean": _booleans,
}


class _Framed(Protocol):
    """A result, whose tables are read as frames."""

    def frame(self, name: str) -> pd.DataFrame: ...


@dataclass(frozen=True)
class TableSpec:
    """The declaration of a table: name, description, and columns.

    As an attribute of a result, it is read as its frame.

    more
        Kind of further columns whose names depend on the settings; None if there are none.
    """

    name: str
    says: str
    fields: tuple[Field, ...]
    more: Kind | None = None

    @overload
    def __get__(self, result: None, owner: type[Any]) -> TableSpec: ...

    @overload
    def __get__(self, result: _Framed, owner: type[Any]) -> pd.DataFrame: ...

    def __get__(self, result: _Framed | None, owner: type[Any]) -> TableSpec | pd.DataFrame:
        return self if result is None else result.frame(self.name)

    def field(self, name: str) -> Field:
        """Return the column of that name. Raises :class:`KeyError` if there is none."""
        return {field.name: field for field in self.fields}[name]

    def of(
        self,
        content: Table | pd.DataFrame | Mapping[str, Any] | Iterable[Any],
        exact: bool = False,
    ) -> Table:
        """Return the table of rows, columns or a frame.

        content
            Rows: tuples in declared order, or dictionaries by column. An estimate (an object with
            ``value``, ``low`` and ``high``) fills its column and the columns of its interval. Or
            columns by name: lists, arrays or series. Or a frame, or several, one after the other.
            Columns may be in any order; those not declared are left out, unless there are ``more``.
            None, nan and NA are missing values.
        exact
            Refuse columns that are not declared.

        Raises :class:`TypeError` if declared columns are absent, or values are not of the declared
        kind.
        """
        columns = self._columns(content)
        names = [field.name for field in self.fields]
        further = [name for name in columns if name not in names]
        refused = exact and not self.more and further
        if not columns.keys() >= {*names} or refused:
            raise TypeError(f"table {self.name} has columns {list(columns)}, declared are {names}")
        fields = [*self.fields, *(Field(name, self.more) for name in further if self.more)]
        try:
            return Table(fields, columns)
        except TypeError as error:
            raise TypeError(f"table {self.name}: {error}") from None

    def frame(self, content: Any) -> pd.DataFrame:
        """Return :meth:`of` as a frame, for computations."""
        return self.of(content).frame()

    def check(self, made: Table) -> None:
        """Raise :class:`TypeError` if a table does not have the declared columns."""
        declared = tuple(field.name for field in self.fields)
        named = made.names[: len(declared)] if self.more else made.names
        if named != declared:
            raise TypeError(f"table {self.name} has columns {made.names}, declared are {declared}")

    def _columns(self, content: Any) -> Mapping[str, Any]:
        """Return the columns of ``content`` in one of the forms of :meth:`of`."""
        if isinstance(content, Table):
            return {name: content[name] for name in content.names}
        if isinstance(content, Mapping):
            return content
        rows: Any = content if _is_frame(content) else list(content)
        if not len(rows) and not (_is_frame(rows) and len(rows.columns)):
            return {field.name: () for field in self.fields}
        if not _is_frame(content) and _is_frame(rows[0]):
            rows = pd.concat(rows, ignore_index=True)
        if _is_frame(rows):
            return {str(name): rows[name] for name in rows.columns}
        limits = {field.name: field.limits for field in self.fields if field.limits}
        if limits:
            rows = [_spread(row, limits) for row in rows]
        names = [field.name for field in self.fields]
        if isinstance(rows[0], Mapping):
            return {name: [row.get(name) for row in rows] for name in names}
        return dict(zip(names, zip(*rows, strict=True), strict=True))


def _is_frame(content: object) -> bool:
    """Return whether this is a frame, without the import of pandas."""
    return hasattr(content, "iloc")


def _spread(row: Any, limits: Mapping[str, tuple[str, ...]]) -> Any:
    """Replace each estimate of a row by its three values."""
    if not isinstance(row, Mapping):
        return [
            part
            for cell in row
            for part in ((cell.value, cell.low, cell.high) if hasattr(cell, "high") else (cell,))
        ]
    spread = dict(row)
    for name, ends in limits.items():
        cell: Any = row.get(name)
        if hasattr(cell, "high"):
            spread |= zip((name, *ends), (cell.value, cell.low, cell.high), strict=True)
    return spread


def table(name: str, says: str, *fields: Field, more: Kind | None = None) -> TableSpec:
    """Declare a table."""
    return TableSpec(name, says, fields, more)
