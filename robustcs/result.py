"""Results of studies: tables with declared columns, the policy, and notes."""

from __future__ import annotations

import dataclasses
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias, overload

from robustcs.lazy import Copies, own, pd
from robustcs.policy import Basis as Basis
from robustcs.policy import Evaluated as Evaluated
from robustcs.wording import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Kind of the cells of a column.
Kind = Literal["text", "integer", "number", "boolean"]
#: Display of the cells: a share (0 to 1) in percent, a difference of shares in percentage points, and so on.
Unit = Literal["", "count", "share", "points", "score", "difference", "p", "measure"]

#: Kind → dtype kinds of numpy and pandas; integers may be missing.
_DTYPES: dict[Kind, str] = {"text": "OTU", "integer": "iu", "number": "fiu", "boolean": "b"}


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
        Columns with the ends of its 95% interval, which are displayed in the same cell; empty if it has no interval.
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
        """Return the column and the columns of its 95% interval: displayed in one cell, three columns in CSV and JSON.

        A row may have one estimate (with ``value``, ``low`` and ``high``) in place of the three; see :meth:`TableSpec.frame`.
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
    """Return a column of measures, named as in trec_eval and displayed as labels such as ``NDCG@3``."""
    return Field(name, "text", "measure", says, "Measure")


def count(name: str, says: str = "", header: str = "", group: str = "") -> Field:
    """Return a column of whole numbers."""
    return Field(name, "integer", "count", says, header, group)


def share(name: str, says: str = "", header: str = "", group: str = "") -> Field:
    """Return a column of shares (0 to 1), displayed in percent."""
    return Field(name, "number", "share", says, header, group)


def points(name: str, says: str = "", header: str = "", group: str = "") -> Field:
    """Return a column of differences between shares, displayed in percentage points with their sign."""
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


class Rows(list[Any]):
    """A table as named tuples, which are computed and displayed without the import time of pandas; ``names``: its columns."""

    def __init__(self, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        self.names = tuple(names)
        super().__init__(map(namedtuple("Row", names, rename=True)._make, rows))  # type: ignore[misc, attr-defined]

    @classmethod
    def of(cls, frame: pd.DataFrame) -> Rows:
        """Return the rows of a frame; a missing integer or boolean is None."""
        columns = [frame.iloc[:, place] for place in range(frame.shape[1])]
        lacks = [one.dtype.kind in "iub" and one.hasnans for one in columns]
        plain = (
            one.astype(object).where(one.notna(), None) if lack else one
            for one, lack in zip(columns, lacks, strict=True)
        )
        return cls(
            list(map(str, frame.columns)), zip(*(one.tolist() for one in plain), strict=True)
        )


@dataclass(frozen=True)
class TableSpec:
    """The declaration of a table: name, description, and columns. As an attribute of a result, it is read as its frame.

    more
        Kind of further columns whose names depend on the settings; None if there are none.
    """

    name: str
    says: str
    fields: tuple[Field, ...]
    more: Kind | None = None

    @overload
    def __get__(self, result: None, owner: type[Result]) -> TableSpec: ...

    @overload
    def __get__(self, result: Result, owner: type[Result]) -> pd.DataFrame: ...

    def __get__(self, result: Result | None, owner: type[Result]) -> TableSpec | pd.DataFrame:
        return self if result is None else result.frame(self.name)

    def field(self, name: str) -> Field:
        """Return the column of that name. Raises :class:`KeyError` if there is none."""
        return {field.name: field for field in self.fields}[name]

    def rows(self, rows: Iterable[Any] | Mapping[str, Any]) -> Rows:
        """Return tuples or dictionaries by column, or columns (lists or arrays), as rows; None is a missing value."""
        names = [field.name for field in self.fields]
        if isinstance(rows, Mapping):
            values = (rows[name] for name in names)
            rows = zip(
                *(column.tolist() if hasattr(column, "tolist") else column for column in values),
                strict=True,
            )
        return Rows(
            names,
            ([row[name] for name in names] if isinstance(row, Mapping) else row for row in rows),
        )

    def frame(self, rows: Sequence[Any] | pd.DataFrame) -> pd.DataFrame:
        """Convert rows (tuples, or dictionaries by column) or frames of rows to one frame, in which integers may be missing.

        An estimate (an object with ``value``, ``low`` and ``high``) fills its column and the columns of its interval.
        """
        kinds = {"integer": "Int64"}
        if isinstance(rows, Rows):
            kinds["boolean"] = "boolean"
        elif not isinstance(rows, pd.DataFrame) and rows and isinstance(rows[0], pd.DataFrame):
            rows = pd.concat(rows, ignore_index=True)
        elif not isinstance(rows, pd.DataFrame):
            limits = {field.name: field.limits for field in self.fields if field.limits}
            rows = [_spread(row, limits) for row in rows] if limits else rows
        frame = pd.DataFrame(rows, columns=[field.name for field in self.fields])
        known = {field.name: kinds[field.kind] for field in self.fields if field.kind in kinds}
        lacks = {
            name: kind
            for name, kind in known.items()
            if frame[name].dtype.kind in "fO" and len(frame)
        }
        return frame.astype(lacks) if lacks else frame

    def lacks(self, frame: pd.DataFrame) -> list[str]:
        """Return the declared columns that a frame does not have."""
        return [field.name for field in self.fields if field.name not in frame]

    def check(self, frame: pd.DataFrame) -> None:
        """Raise :class:`TypeError` if a frame does not have the declared columns and kinds."""
        columns, declared = list(frame.columns), [field.name for field in self.fields]
        further = columns[len(declared) :] if self.more else []
        if columns != declared + further:
            raise TypeError(f"table {self.name} has columns {columns}, declared are {declared}")
        for field in (*self.fields, *(Field(name, self.more) for name in further if self.more)):
            values = frame[field.name]
            empty = not len(values) or values.isna().all()
            if not empty and values.dtype.kind not in _DTYPES[field.kind] + "O" * (
                field.kind != "text"
            ):
                raise TypeError(
                    f"table {self.name}: column {field.name} is {values.dtype}, declared is {field.kind}"
                )


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
        if hasattr(cell := row[name], "high"):
            spread |= zip((name, *ends), (cell.value, cell.low, cell.high), strict=True)
    return spread


def table(name: str, says: str, *fields: Field, more: Kind | None = None) -> TableSpec:
    """Declare a table."""
    return TableSpec(name, says, fields, more)


#: A computed table.
Table: TypeAlias = "pd.DataFrame | Rows"
#: The content of a table: computed, or rows for :meth:`TableSpec.frame`, or the function that returns one of them; its frame
#: may have the columns in another order, and further columns.
Content: TypeAlias = "Table | list[Any] | Callable[[], Table | list[Any]]"


class Tables(Mapping[str, "pd.DataFrame"]):
    """Table name → a copy of the frame of a result, the main table first; each frame is computed when it is first used."""

    def __init__(self, result: Result) -> None:
        self._result = result
        self._names = (*(spec.name for spec in result.declared), *result.by_collection.stored)  # type: ignore[attr-defined]

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in self._names:
            raise KeyError(name)
        return self._result.frame(name)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@dataclass(frozen=True)
class Result:
    """Base of all results: a dataclass that declares its tables as attributes, which are read as frames.

    A result does not change: every frame that it returns is a copy. :meth:`changed` returns a result with another table.

    study
        The folder of :mod:`robustcs.studies` that computes and displays the result.
    declared
        Declared tables, the main one first; frames are checked against them.
    content
        Table → its content. A function is called when the table is first used.
    inputs
        One entry per input file: role, path, SHA-256 and rows, as in the JSON output; filled by the Python functions. The path
        of an object is its keyword in angle brackets (``<qrels>``); its checksum is that of its rows.
    by_collection
        ``TABLE_by_collection`` → the table per collection, with the collection's name in the first column; if requested.
    """

    study: ClassVar[str] = ""
    declared: ClassVar[tuple[TableSpec, ...]] = ()

    evaluated: Evaluated
    content: Mapping[str, Content] = dataclasses.field(
        default_factory=dict, kw_only=True, compare=False
    )
    inputs: tuple[Mapping[str, Any], ...] = dataclasses.field(
        default=(), kw_only=True, compare=False
    )
    by_collection: Mapping[str, pd.DataFrame] = dataclasses.field(
        default_factory=dict, kw_only=True, compare=False
    )

    if TYPE_CHECKING:  # robustcs.api adds these methods

        def plot(self, figure: str | None = None) -> Figure:
            """See :func:`robustcs.api.plot`."""

        def figures(self) -> dict[str, str]:
            """See :func:`robustcs.api.figures`."""

        def to_csv(
            self, path: Any = None, *, table: str | None = None, raw: bool = False
        ) -> str | None:
            """See :func:`robustcs.api.to_csv`."""

        def to_json(
            self, path: Any = None, *, table: str | Sequence[str] | None = None
        ) -> str | None:
            """See :func:`robustcs.api.to_json`."""

        def to_latex(
            self, path: Any = None, *, table: str | Sequence[str] | None = None
        ) -> str | None:
            """See :func:`robustcs.api.to_latex`."""

        def to_markdown(
            self, path: Any = None, *, table: str | Sequence[str] | None = None
        ) -> str | None:
            """See :func:`robustcs.api.to_markdown`."""

    def __init_subclass__(cls) -> None:
        # a dataclass would otherwise generate one that prints all rows of all tables
        cls.__repr__ = Result.__repr__  # type: ignore[method-assign]
        if specs := tuple(one for one in vars(cls).values() if isinstance(one, TableSpec)):
            cls.declared = vars(cls).get("declared", (*cls.declared, *specs))

    def __repr__(self) -> str:
        """Return the number of turns, and the tables with their numbers of rows, if computed."""
        made = [name for name in self.tables if not callable(self._stored.get(name))]
        rows = {name: f" ({counted(len(self._computed(name)), 'row')})" for name in made}
        tables = ", ".join(f"{name}{rows.get(name, '')}" for name in self.tables)
        return f"<{type(self).__name__}: {counted(self.evaluated.turns, 'turn')}; {tables}>"

    def __post_init__(self) -> None:
        """Raise :class:`TypeError` if a table has no content, or a frame does not have the declared columns and kinds."""
        for name in ("content", "by_collection"):
            given = vars(self)[name]
            vars(self)[name] = Copies(dict(given.stored if isinstance(given, Copies) else given))
        names = {spec.name for spec in self.declared}
        if names ^ self._stored.keys():
            raise TypeError(
                f"{type(self).__name__} has the tables {sorted(names)}, given are {sorted(self.content)}"
            )
        for name, one in self._stored.items():
            if not callable(one) and not isinstance(one, list):
                self.spec(name).check(one)

    def changed(self, **parts: Any) -> Self:
        """Return a copy with other ``parts`` or tables; unlike :func:`dataclasses.replace`, it computes no table."""
        made = copy(self)
        tables = {
            name: own(parts.pop(name))
            for name in self._stored
            if name in parts and name not in vars(self)
        }
        made.__dict__.update(parts, content={**self._stored, **tables})
        made.__post_init__()
        return made

    def with_notes(self, notes: Sequence[str], skipped: Sequence[str] = ()) -> Self:
        """Return a copy with additional notes and the skipped rows of the inputs."""
        more = tuple(note for note in notes if note not in self.evaluated.notes)
        evaluated = replace(
            self.evaluated, notes=(*self.evaluated.notes, *more), skipped=tuple(skipped)
        )
        return self.changed(evaluated=evaluated) if more or skipped else self

    def without_p(self) -> Self:
        """Return a copy whose p-values are all null, for systems that the judgments cannot order."""
        empty = {
            spec.name: {one.name: float("nan") for one in spec.fields if one.unit == "p"}
            for spec in self.declared
        }
        tables = {
            name: lambda name=name, some=some: self.frame(name).assign(**some)
            for name, some in empty.items()
            if some
        }
        return self.changed(**tables)

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Table name → frame, the main table first."""
        return Tables(self)

    @property
    def _stored(self) -> dict[str, Any]:
        """Table → its content itself, not a copy."""
        return self.content.stored  # type: ignore[attr-defined, no-any-return]

    def table(self, name: str) -> Table:
        """Return a copy of a table as it was computed, a frame or rows. Raises :class:`KeyError` if there is none."""
        made = self._computed(name)
        return copy(made) if isinstance(made, Rows) else made.copy()

    def frame(self, name: str) -> pd.DataFrame:
        """Return a copy of a table as a frame."""
        made = self._computed(name)
        if isinstance(made, Rows):
            made = self._stored[name] = self.spec(name).frame(made)
            self.spec(name).check(made)
        return made.copy()

    def rows(self, name: str, **equal: object) -> Rows:
        """Return the rows of a table, or those with these values in these columns."""
        made = self._computed(name)
        rows = made if isinstance(made, Rows) else Rows.of(made)
        return Rows(
            rows.names,
            (row for row in rows if all(getattr(row, key) == one for key, one in equal.items())),
        )

    def _computed(self, name: str) -> Table:
        """Return a table, a frame or rows, itself; it is computed when it is first used."""
        if name in self.by_collection.stored:  # type: ignore[attr-defined]
            return self.by_collection.stored[name]  # type: ignore[attr-defined, no-any-return]
        spec, found = self.spec(name), self._stored[name]
        if not callable(found) and type(found) is not list:  # computed and checked
            return found  # type: ignore[no-any-return]
        found = found() if callable(found) else found
        if not isinstance(found, Rows):
            if isinstance(found, list) or not (spec.more or (len(found) and spec.lacks(found))):
                found = spec.frame(found)
            spec.check(found)
        self._stored[name] = found
        return found  # type: ignore[no-any-return]

    def spec(self, name: str) -> TableSpec:
        """Return the declaration of a table."""
        return {spec.name: spec for spec in self.declared}[name]
