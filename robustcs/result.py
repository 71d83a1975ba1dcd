"""What every study returns: tables whose columns are declared once, the policy that made them, and notes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from robustcs.lazy import Drawing, pd
from robustcs.policy import BY_DOCUMENT, EvaluationPolicy, Missing
from robustcs.wording import counted

#: Where the scores come from: runs joined with qrels, per-turn score files, or predicted answers; ``coverage``
#: of gold information by answers; ``texts`` has no scores.
Basis = Literal["runs", "scores", "answers", "texts", "coverage"]


@dataclass(frozen=True)
class Evaluated:
    """Which turns a result is about and how they were scored.

    turns
        Turns evaluated.
    missing
        Turns that at least one run (or file) lacks: scored 0 or dropped, as the policy says.
    unit, units
        What intervals and tests take as independent, and how many of them; empty where the result has none by units.
    unit_note
        Why the unit is not the conversation, where that was not asked for; also among ``notes``.
    as_given
        Systems whose per-turn scores stand beside runs.
    own_turns
        Where each run is averaged over its own turns: run → how many it answers.
    skipped
        Rows of inputs that were skipped, such as ``human: 1 of 332 texts empty``.
    collections
        How many collections the turns are of, where judgments of several were read; else 0.
    """

    policy: EvaluationPolicy
    basis: Basis
    turns: int
    missing: int
    notes: tuple[str, ...] = ()
    _: KW_ONLY
    unit: str = ""
    units: int = 0
    unit_note: str = ""
    as_given: tuple[str, ...] = ()
    own_turns: Mapping[str, int] = dataclasses.field(default_factory=dict)
    skipped: tuple[str, ...] = ()
    collections: int = 0

    @property
    def missing_rule(self) -> Missing:
        """What became of missing turns: ``drop`` for ``own`` where all runs are looked at on the same turns."""
        return "drop" if self.policy.missing == "own" and not self.own_turns else self.policy.missing

    @property
    def policy_line(self) -> str:
        """The line that closes every table and report."""
        return " · ".join([self._scored, *self.skipped])

    @property
    def about(self) -> str:
        """``208 turns in 29 conversations``, the beginning of the policy line."""
        turns = counted(self.turns, "turn")
        if self.unit == "conversation":
            turns += f" in {counted(self.units, 'conversation')}"
        return f"{turns} of {counted(self.collections, 'collection')}" if self.collections else turns

    @property
    def _scored(self) -> str:
        turns = self.about
        if self.basis == "texts":
            return f"{turns} · texts only, nothing is scored"
        missing = "missing turns score 0" if self.policy.missing == "zero" else "missing turns dropped"
        parts = [turns, f"{missing} ({self.missing})"]
        if self.own_turns:
            span = " to ".join(f"{turns:,}" for turns in sorted({min(self.own_turns.values()), max(self.own_turns.values())}))
            parts[1] = f"each run over the turns that it answers ({span}), as trec_eval without -c"
        if self.basis == "runs":
            parts.append(self.policy.describe())
            if self.as_given:
                parts.append(f"{', '.join(self.as_given)}: scores as given, their own relevance level and order")
        elif self.basis == "scores":
            parts.append("scores as given, their own relevance level and order")
        elif self.basis == "coverage":
            parts.append("what answers hold of gold snippets and nuggets")
            parts += [BY_DOCUMENT] if self.policy.documents else []
        else:
            parts.append("best gold answer counts · SQuAD normalisation")
        return " · ".join(parts)

    def as_dict(self) -> dict[str, Any]:
        """The ``policy`` of the JSON output."""
        more: dict[str, Any] = {"unit": self.unit, "units": self.units} if self.unit else {}
        if self.as_given:
            more["as_given"] = list(self.as_given)
        if self.skipped:
            more["skipped"] = list(self.skipped)
        if self.collections:
            more["collections"] = self.collections
        policy = {key: value for key, value in self.policy.as_dict().items() if key != "unit"}
        return {
            **policy, **more, "missing": self.missing_rule, "basis": self.basis, "turns": self.turns,
            "missing_turns": self.missing, "line": self.policy_line,
        }  # fmt: skip


#: What the cells of a column are: texts, whole numbers, numbers, true or false.
Kind = Literal["text", "integer", "number", "boolean"]
#: How people read them: a share (0 to 1) in per cent, a difference of shares in points of per cent, and so on.
Unit = Literal["", "count", "share", "points", "score", "difference", "p", "measure"]

#: The dtype kinds of numpy and pandas that hold each kind; an integer may be missing.
_DTYPES: dict[Kind, str] = {"text": "OTU", "integer": "iu", "number": "fiu", "boolean": "b"}


@dataclass(frozen=True)
class Field:
    """A column of a table, as JSON and CSV have it.

    says
        What it holds, for the reference.
    header
        What stands above it for people; its name where this is empty.
    group
        The head that it shares with its neighbours of the same group, for people.
    digits
        Decimals for people; None for those of the unit.
    limits
        The columns of its 95% interval, which people read in the same cell; empty where it has none.
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
        """The same column under another header for people."""
        return replace(self, header=header, group=group)

    def rounded(self, digits: int) -> Field:
        """The same column with so many decimals for people."""
        return replace(self, digits=digits)

    @property
    def bare(self) -> Field:
        """The same column without its interval, for people."""
        return replace(self, limits=(), header=self.header.removesuffix(" (95% CI)"))

    def between(self, low: str = "ci_low", high: str = "ci_high", says: str = "") -> tuple[Field, Field, Field]:
        """The column and those of the limits of its 95% interval: one cell for people, three columns in CSV and JSON.

        A row may have an estimate (with ``value``, ``low`` and ``high``) in place of the three: see :meth:`TableSpec.frame`.
        """
        header = f"{self.header or self.name} (95% CI)"
        return replace(self, header=header, limits=(low, high)), number(low, says or f"95% CI of {self.name}"), number(high)


def text(name: str, says: str = "", header: str = "") -> Field:
    """A column of names, ids or other words."""
    return Field(name, "text", "", says, header)


def measure(name: str = "metric", says: str = "") -> Field:
    """A column of measures by their names of trec_eval, which people read as labels: ``NDCG@3``."""
    return Field(name, "text", "measure", says, "Measure")


def count(name: str, says: str = "", header: str = "", group: str = "") -> Field:
    """A column of whole numbers."""
    return Field(name, "integer", "count", says, header, group)


def share(name: str, says: str = "", header: str = "", group: str = "") -> Field:
    """A column of shares, 0 to 1, that people read in per cent."""
    return Field(name, "number", "share", says, header, group)


def points(name: str, says: str = "", header: str = "", group: str = "") -> Field:
    """A column of differences between shares, read in points of per cent with their sign."""
    return Field(name, "number", "points", says, header, group)


def score(name: str, says: str = "", header: str = "", group: str = "") -> Field:
    """A column of scores."""
    return Field(name, "number", "score", says, header, group)


def difference(name: str, says: str = "", header: str = "", group: str = "") -> Field:
    """A column of differences between scores, read with their sign."""
    return Field(name, "number", "difference", says, header, group)


def number(name: str, says: str = "", header: str = "", group: str = "") -> Field:
    """A column of other numbers."""
    return Field(name, "number", "", says, header, group)


def p_value(name: str = "p", says: str = "p value, two-sided", header: str = "", group: str = "") -> Field:
    """A column of p values."""
    return Field(name, "number", "p", says, header, group)


def flag(name: str, says: str = "", header: str = "") -> Field:
    """A column of true and false."""
    return Field(name, "boolean", "", says, header)


@dataclass(frozen=True)
class TableSpec:
    """A table of a result: its name, what one row of it is, and its columns.

    more
        The kind of further columns, whose names depend on what is asked; None where there are none.
    """

    name: str
    says: str
    fields: tuple[Field, ...]
    more: Kind | None = None

    def field(self, name: str) -> Field:
        """One of its columns. Raises :class:`KeyError` for a name that it does not have."""
        return {field.name: field for field in self.fields}[name]

    def frame(self, rows: Sequence[Any] | pd.DataFrame) -> pd.DataFrame:
        """Rows (tuples, or dictionaries by column) as a frame with its columns.

        An estimate (anything with ``value``, ``low`` and ``high``) stands for its column and those of its limits.
        """
        limits = {} if isinstance(rows, pd.DataFrame) else {field.name: field.limits for field in self.fields if field.limits}
        rows = [_spread(row, limits) for row in rows] if limits else rows
        return pd.DataFrame(rows, columns=[field.name for field in self.fields])

    def check(self, frame: pd.DataFrame) -> None:
        """Raise :class:`TypeError` for a frame that has other columns, or values of another kind, than are declared."""
        columns, declared = list(frame.columns), [field.name for field in self.fields]
        further = columns[len(declared) :] if self.more else []
        if columns != declared + further:
            raise TypeError(f"table {self.name} has columns {columns}, declared are {declared}")
        for field in (*self.fields, *(Field(name, self.more) for name in further if self.more)):
            values = frame[field.name]
            empty = not len(values) or values.isna().all()
            if not empty and values.dtype.kind not in _DTYPES[field.kind] + "O" * (field.kind != "text"):
                raise TypeError(f"table {self.name}: column {field.name} is {values.dtype}, declared is {field.kind}")


def _spread(row: Any, limits: Mapping[str, tuple[str, ...]]) -> Any:
    """A row with three values in place of every estimate."""
    if not isinstance(row, Mapping):
        return [part for cell in row for part in ((cell.value, cell.low, cell.high) if hasattr(cell, "high") else (cell,))]
    spread = dict(row)
    for name, ends in limits.items():
        if hasattr(cell := row[name], "high"):
            spread |= zip((name, *ends), (cell.value, cell.low, cell.high), strict=True)
    return spread


def table(name: str, says: str, *fields: Field, more: Kind | None = None) -> TableSpec:
    """The declaration of a table."""
    return TableSpec(name, says, fields, more)


class Later:
    """A table of a result that is made when it is looked at: a field that is filled with a frame, or with what makes it."""

    def __set_name__(self, owner: type[Result], name: str) -> None:
        self._name = name

    def __get__(self, result: Result | None, owner: type[Result]) -> pd.DataFrame:
        if result is None:
            raise AttributeError(self._name)  # it has no default
        made: pd.DataFrame = result.__dict__[self._name]
        if callable(made):
            made = result.__dict__[self._name] = made()
            result.spec(self._name).check(made)
        return made

    def __set__(self, result: Result, made: pd.DataFrame | Callable[[], pd.DataFrame]) -> None:
        result.__dict__[self._name] = made


class Tables(Mapping[str, "pd.DataFrame"]):
    """Table name → frame of a result, the main table first; each is made when it is looked up."""

    def __init__(self, result: Result) -> None:
        self._result = result
        self._names = (*(spec.name for spec in result.declared), *result.by_collection)

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in self._names:
            raise KeyError(name)
        found = self._result.by_collection.get(name)
        return getattr(self._result, name) if found is None else found  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@dataclass(frozen=True)
class Result:
    """Base of all results: a dataclass with a frame under the name of every table that it declares.

    A table that takes long is a :class:`Later`: it is computed for those who look at it.

    study
        The folder of :mod:`robustcs.studies` that made it and shows it.
    declared
        Its tables, the main one first; every frame is checked against them.
    inputs
        What it was made of, one entry for every file: role, path, SHA-256 and rows, as in the JSON output; filled for results
        of the Python functions. What was given as an object has its keyword in angle brackets for a path (``<qrels>``), and
        the checksum of its rows as they were read.
    by_collection
        ``TABLE_by_collection`` → the rows of the table for each collection alone, its name in the first column; where it was
        asked for.
    """

    study: ClassVar[str] = ""
    declared: ClassVar[tuple[TableSpec, ...]] = ()

    evaluated: Evaluated
    inputs: tuple[Mapping[str, Any], ...] = dataclasses.field(default=(), kw_only=True, compare=False)
    by_collection: Mapping[str, pd.DataFrame] = dataclasses.field(default_factory=dict, kw_only=True, compare=False)

    if TYPE_CHECKING:  # robustcs.presentation, which knows the renderers, gives them to every result

        def plot(self, figure: str | None = None) -> Drawing:
            """See :func:`robustcs.presentation.plot`."""

        def figures(self) -> dict[str, str]:
            """See :func:`robustcs.presentation.figures`."""

        def to_csv(self, path: Any = None, *, table: str | None = None, raw: bool = False) -> str | None:
            """See :func:`robustcs.presentation.to_csv`."""

        def to_json(self, path: Any = None, *, table: str | Sequence[str] | None = None) -> str | None:
            """See :func:`robustcs.presentation.to_json`."""

        def to_latex(self, path: Any = None, *, table: str | Sequence[str] | None = None) -> str | None:
            """See :func:`robustcs.presentation.to_latex`."""

        def to_markdown(self, path: Any = None, *, table: str | Sequence[str] | None = None) -> str | None:
            """See :func:`robustcs.presentation.to_markdown`."""

    def __init_subclass__(cls) -> None:
        # else every dataclass would write one of its own, with all rows of all tables
        cls.__repr__ = Result.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        """What it is about, and its tables with their numbers of rows, as far as they are computed."""
        made = self.tables
        rows = {name: "" if callable(self.__dict__.get(name)) else f" ({counted(len(made[name]), 'row')})" for name in made}
        tables = ", ".join(f"{name}{number}" for name, number in rows.items())
        return f"<{type(self).__name__}: {counted(self.evaluated.turns, 'turn')}; {tables}>"

    def __post_init__(self) -> None:
        for spec in self.declared:
            if not callable(self.__dict__.get(spec.name)):
                spec.check(self.tables[spec.name])

    def changed(self, **parts: Any) -> Self:
        """The same with other ``parts``; unlike :func:`dataclasses.replace` it computes no table."""
        made = copy(self)
        made.__dict__.update(parts)
        return made

    def with_notes(self, notes: Sequence[str], skipped: Sequence[str] = ()) -> Self:
        """The same with further notes after its own, and with what was skipped of its inputs."""
        more = tuple(note for note in notes if note not in self.evaluated.notes)
        evaluated = replace(self.evaluated, notes=(*self.evaluated.notes, *more), skipped=tuple(skipped))
        return self.changed(evaluated=evaluated) if more or skipped else self

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Table name → frame, the main table first."""
        return Tables(self)

    def spec(self, name: str) -> TableSpec:
        """The declaration of one of its tables."""
        return {spec.name: spec for spec in self.declared}[name]
