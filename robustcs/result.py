"""Results of studies: tables with declared columns, the policy, and notes."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from robustcs.errors import UsageError
from robustcs.lazy import pd
from robustcs.overwrite_guard import refuse_protected
from robustcs.policy import Basis as Basis
from robustcs.policy import Evaluated as Evaluated
from robustcs.table import Field as Field
from robustcs.table import Kind as Kind
from robustcs.table import Table as Table
from robustcs.table import TableSpec as TableSpec
from robustcs.table import Unit as Unit
from robustcs.table import count as count
from robustcs.table import difference as difference
from robustcs.table import flag as flag
from robustcs.table import measure as measure
from robustcs.table import number as number
from robustcs.table import p_value as p_value
from robustcs.table import points as points
from robustcs.table import score as score
from robustcs.table import share as share
from robustcs.table import table as table
from robustcs.table import text as text
from robustcs.wording import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from robustcs.documents.document import Block

StrPath = str | os.PathLike[str]
Method = TypeVar("Method", bound=Callable[[Any], Any])
#: How the name of a table per collection ends.
BY_COLLECTION = "_by_collection"


def computes(spec: TableSpec) -> Callable[[Method], Method]:
    """Mark the method of a result that computes a slow table, once, when it is first used.

    The method returns the content in any form of :meth:`~robustcs.table.TableSpec.of`.
    """

    def marked(method: Method) -> Method:
        method.computed_table = spec.name  # type: ignore[attr-defined]
        return method

    return marked


class Frames(Mapping[str, "pd.DataFrame"]):
    """Table name → a new frame of a table of a result, the main table first."""

    def __init__(self, result: Result, names: Iterable[str]) -> None:
        self._result = result
        self._names = tuple(names)

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
    """Base of all results: a dataclass that declares its tables as attributes, read as frames.

    A result does not change: every frame that it returns is a copy. :meth:`changed` returns a
    result with another table.

    study
        The folder of :mod:`robustcs.studies` that computes and displays the result.
    declared
        Declared tables, the main one first.
    content
        Table → the table, as far as it is computed; with ``TABLE_by_collection`` → the table per
        collection, if requested. Of the declared tables, only those that a method
        :func:`computes` may be absent.
    inputs
        One entry per input file: role, path, SHA-256 and rows, as in the JSON output; filled by the
        Python functions. The path of an object is its keyword in angle brackets (``<qrels>``); its
        checksum is that of its rows.
    no_p
        Whether all p-values are missing: see :meth:`without_p`.
    select
        Returns the turns of the project that a filter selects: see :meth:`turns_where`. None in
        results that no Python function of a study returned, and in copies from another process.
    """

    study: ClassVar[str] = ""
    declared: ClassVar[tuple[TableSpec, ...]] = ()
    #: Slow table → the name of the method that computes it.
    _slow: ClassVar[Mapping[str, str]] = {}

    evaluated: Evaluated
    content: Mapping[str, Table] = dataclasses.field(
        default_factory=dict, kw_only=True, compare=False
    )
    inputs: tuple[Mapping[str, Any], ...] = dataclasses.field(
        default=(), kw_only=True, compare=False
    )
    no_p: bool = dataclasses.field(default=False, kw_only=True, compare=False)
    select: Callable[[str], list[str]] | None = dataclasses.field(
        default=None, kw_only=True, compare=False
    )

    def __init_subclass__(cls) -> None:
        # a dataclass would otherwise generate one that prints all rows of all tables
        cls.__repr__ = Result.__repr__  # type: ignore[method-assign]
        members = vars(cls)
        specs = tuple(one for one in members.values() if isinstance(one, TableSpec))
        if specs:
            cls.declared = members.get("declared", (*cls.declared, *specs))
        slow = {
            method.computed_table: name
            for name, method in members.items()
            if hasattr(method, "computed_table")
        }
        cls._slow = {**cls._slow, **slow}

    def __repr__(self) -> str:
        """Return the number of turns, and the tables with their numbers of rows, if computed."""
        told = []
        for name in self.tables:
            made = self.content.get(name)
            told.append(name if made is None else f"{name} ({counted(len(made), 'row')})")
        turns = counted(self.evaluated.turns, "turn")
        return f"<{type(self).__name__}: {turns}; {', '.join(told)}>"

    def __post_init__(self) -> None:
        """Raise :class:`TypeError` if the tables or their columns are not those declared."""
        self._keep(self.content)
        declared = {spec.name for spec in self.declared}
        given = {name for name in self.content if not name.endswith(BY_COLLECTION)}
        if given - declared or declared - given - self._slow.keys():
            kind = type(self).__name__
            raise TypeError(f"{kind} has the tables {sorted(declared)}, given are {sorted(given)}")
        for name, one in self.content.items():
            if not isinstance(one, Table):
                raise TypeError(f"table {name} is of type {type(one).__name__}: see TableSpec.of")
            if name in declared:
                self.spec(name).check(one)

    @classmethod
    def built(cls, **content: Any) -> dict[str, Table]:
        """Return table → the table of this content, in any form of :meth:`TableSpec.of`."""
        specs = {spec.name: spec for spec in cls.declared}
        return {name: specs[name].of(one) for name, one in content.items()}

    def _keep(self, content: Mapping[str, Table]) -> None:
        """Keep the tables, to which slow ones are added, where readers cannot change them."""
        vars(self)["_tables"] = dict(content)
        vars(self)["content"] = MappingProxyType(vars(self)["_tables"])

    def __getstate__(self) -> dict[str, Any]:
        """Return what is copied and pickled: not the inputs, from which turns are selected."""
        state = {name: value for name, value in vars(self).items() if name != "_tables"}
        return {**state, "content": dict(self.content), "select": None}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state)
        self._keep(state["content"])

    def _copied(self) -> Self:
        """Return a copy that selects turns as this result does."""
        made = copy(self)
        vars(made)["select"] = self.select
        return made

    def changed(self, **parts: Any) -> Self:
        """Return a copy with other ``parts`` or tables, in any form of :meth:`TableSpec.of`."""
        fields = {field.name for field in dataclasses.fields(self)}
        declared = [spec.name for spec in self.declared if spec.name not in fields]
        tables = {
            name: self.spec(name).of(parts.pop(name), exact=True)
            for name in declared
            if name in parts
        }
        made = self._copied()
        vars(made).update(parts)
        made._keep({**made.content, **tables})
        made.__post_init__()
        return made

    def with_collections(self, parts: Mapping[str, Table]) -> Self:
        """Return a copy with tables per collection: table → its rows, the collection first."""
        made = self._copied()
        named = {f"{name}{BY_COLLECTION}": one for name, one in parts.items()}
        made._keep({**made.content, **named})
        return made

    def with_notes(self, notes: Sequence[str], skipped: Sequence[str] = ()) -> Self:
        """Return a copy with additional notes and the skipped rows of the inputs."""
        more = tuple(note for note in notes if note not in self.evaluated.notes)
        evaluated = replace(
            self.evaluated, notes=(*self.evaluated.notes, *more), skipped=tuple(skipped)
        )
        return self.changed(evaluated=evaluated) if more or skipped else self

    def without_p(self) -> Self:
        """Return a copy whose p-values are all null, for systems that judgments cannot order."""
        declared = {spec.name for spec in self.declared} & self.content.keys()
        blank = {name: self._blank(name, self.content[name]) for name in declared}
        made = self.changed(no_p=True)
        made._keep({**made.content, **blank})
        return made

    def _blank(self, name: str, made: Table) -> Table:
        """Return a table without its p-values."""
        empty = [field.name for field in self.spec(name).fields if field.unit == "p"]
        return made.without(empty) if empty else made

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Table name → frame, the main table first, those per collection last."""
        declared = [spec.name for spec in self.declared]
        return Frames(self, [*declared, *self.by_collection])

    @property
    def by_collection(self) -> Mapping[str, pd.DataFrame]:
        """``TABLE_by_collection`` → the table per collection, if requested.

        Its first column has the name of the collection.
        """
        return Frames(self, [name for name in self.content if name.endswith(BY_COLLECTION)])

    def table(self, name: str) -> Table:
        """Return a table; a slow one is computed when it is first used.

        Raises :class:`KeyError` if there is none of that name.
        """
        if name not in self.content:
            made = self.spec(name).of(getattr(self, self._slow[name])())
            vars(self)["_tables"][name] = self._blank(name, made) if self.no_p else made
        return self.content[name]

    def frame(self, name: str) -> pd.DataFrame:
        """Return a table as a new frame."""
        return self.table(name).frame()

    def rows(self, name: str, **equal: object) -> list[Any]:
        """Return the rows of a table as named tuples; only those with these values, if given."""
        made = self.table(name)
        return list(made.where(**equal) if equal else made)

    def spec(self, name: str) -> TableSpec:
        """Return the declaration of a table."""
        return {spec.name: spec for spec in self.declared}[name]

    def turns_where(self, where: str) -> list[str]:
        """Return the ids of all turns of the project that a filter selects, in natural order.

        The filter is that of ``robustcs turns --where``, at the measures and thresholds that the
        function was given. The first call reads the inputs again.

        Raises :class:`UsageError` if the filter cannot be read, or names an unknown field or
        system, or if the result is not about the turns of one project.
        """
        if self.select is None:
            found = f"this result of {self.study} has no turns of a project to select"
            raise UsageError("no-turns", found, "use robustcs.turns(PROJECT, where=FILTER)")
        return self.select(where)

    # ------------------------------------------------------------ drawing and writing
    # The renderers know results, so a result imports them only when it is drawn or written: the one
    # exception to the floors (tests/test_house.py). Formats are those of --format; the figure is
    # that of --output NAME.png.

    def _blocks(self, names: Sequence[str] = ()) -> Sequence[Block]:
        """Return the displayed blocks, or those of the tables ``names``."""
        from robustcs.studies.registry import study

        return study(self.study).blocks(self, names)

    def figures(self) -> dict[str, str]:
        """Return the figures: name → caption. :meth:`plot` draws the first."""
        from robustcs.documents.document import Figure

        return {block.slug: block.caption for block in self._blocks() if isinstance(block, Figure)}

    def plot(self, figure: str | None = None) -> Figure:
        """Draw the first figure, or the one of that name, with matplotlib; save nothing.

        The rcParams that you have changed apply to it; all others are those of the report's figures.

        Raises :class:`UsageError` if the result has no figures, or none of that name.
        """
        from robustcs.documents.document import Figure
        from robustcs.documents.figures import plotted

        there = {block.slug: block for block in self._blocks() if isinstance(block, Figure)}
        if not there:
            found = f"{self.study} has no figure"
            raise UsageError("no-figure", found, "see .tables for its tables")
        if figure is not None and figure not in there:
            found = f"{self.study} has no figure {figure!r}"
            raise UsageError("no-figure", found, f"choose from {', '.join(there)}")
        return plotted(there[figure or next(iter(there))])

    def to_csv(
        self, path: StrPath | None = None, *, table: str | None = None, raw: bool = False
    ) -> str | None:
        """Return or write one table (default: the first) as CSV with 12 significant digits.

        An apostrophe precedes texts that a spreadsheet would run as formulas, unless ``raw``.
        """
        return self._written("raw-csv" if raw else "csv", path, table)

    def to_json(
        self, path: StrPath | None = None, *, table: str | Sequence[str] | None = None
    ) -> str | None:
        """Return or write all tables, or those of ``table``, as JSON with 12 significant digits.

        It also has the policy, the inputs and the notes.
        """
        return self._written("json", path, table)

    def to_latex(
        self, path: StrPath | None = None, *, table: str | Sequence[str] | None = None
    ) -> str | None:
        """Return or write all displayed tables, or those of ``table``, as LaTeX (booktabs)."""
        return self._written("latex", path, table)

    def to_markdown(
        self, path: StrPath | None = None, *, table: str | Sequence[str] | None = None
    ) -> str | None:
        """Return or write all displayed tables, or those of ``table``, as Markdown."""
        return self._written("markdown", path, table)

    def to_html(
        self, path: StrPath | None = None, *, table: str | Sequence[str] | None = None
    ) -> str | None:
        """Return or write all displayed tables and figures, or the tables of ``table``, as HTML.

        It is a fragment without styles.
        """
        return self._written("html", path, table)

    def _repr_html_(self) -> str | None:
        """Return what a notebook displays."""
        return self.to_html()

    def _written(
        self, form: str, path: StrPath | None, table: str | Sequence[str] | None
    ) -> str | None:
        """Return the result in a format, or write it and return None.

        Raises :class:`UsageError` if the path is an input.
        """
        from robustcs.documents.files import write_text
        from robustcs.documents.forms import data_of, text_of

        names = (table,) if isinstance(table, str) else table or ()
        if form in ("csv", "raw-csv", "json"):
            text = data_of(form, self.study, self, self.inputs, names)
        else:
            text = text_of(form, self, self._blocks(names), names)
        if path is None:
            return text
        refuse_protected(path)
        write_text(Path(path), text)
        return None
