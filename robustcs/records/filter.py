"""The filter language: which turns to list, in one line of text.

Terms are joined by spaces, and all must hold::

    cause:ranker                 a field has this value, for any system
    cause@qr:ranker,reader       for the system qr, one of two values
    ndcg_cut_3@qr<0.2            a number is below, above or equal
    first:*                      the field has a value
    -outcome:"made up"           not; values with spaces or : @ < > = , are in quotes
    shark "great white"          a word, and a phrase, in texts, answers, passages, labels and notes
    at:ndcg_cut_3>=0.2           the threshold at which cause, place and correct are meant

Values are compared whole, without case; ``_`` equals a space. In quotes, ``\\"`` is a quotation
mark and ``\\\\`` a backslash.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from robustcs.errors import UsageError

#: Operators of a term, the longer ones first.
OPERATORS = ("<=", ">=", "<", ">", "=", ":")
#: Characters that end the name of a field; a value that contains one stands in quotes.
_SPECIAL = frozenset(':@<>=,"')
#: The term that names measure and threshold: ``at:ndcg_cut_3>=0.2``.
AT = "at"
#: Operators of a threshold, the longer one first.
_PASSES = (">=", ">", "=")


def normalised(text: str) -> str:
    """Return a text as filters compare it: without case, ``_`` and white space as one space."""
    return " ".join(text.replace("_", " ").casefold().split())


@dataclass(frozen=True)
class Search:
    """A word or phrase that is searched in the texts of a turn."""

    text: str
    excludes: bool = False


@dataclass(frozen=True)
class Term:
    """A test of a field.

    field, system
        As they were written; an empty system means any.
    operator
        One of :data:`OPERATORS`.
    values
        Of ``:``, one of which must be equal; of other operators, one number.
    """

    field: str
    operator: str
    values: tuple[str, ...]
    system: str = ""
    excludes: bool = False

    def number(self, value: str) -> float:
        """Return a value as a number. Raises :class:`UsageError` if it is none."""
        try:
            return float(value)
        except ValueError:
            raise UsageError(
                "bad-filter",
                f"field {self.field} of the filter is a number, and {value!r} is none",
                f"write {self.field}<0.5 or {self.field}:3",
            ) from None


@dataclass(frozen=True)
class Filter:
    """A filter.

    terms
        All of them must hold.
    cut
        Measure and threshold of ``at:``, as written: ``("ndcg_cut_3", ">=0.2")``; None without it.
    """

    terms: tuple[Term | Search, ...]
    cut: tuple[str, str] | None = None


def parse_filter(text: str) -> Filter:
    """Return the filter that a line of text writes; the empty text selects every turn.

    Raises :class:`UsageError` with the place of the first thing that cannot be read.
    """
    reader = _Reader(text)
    terms: list[Term | Search] = []
    cut: tuple[str, str] | None = None
    while reader.skip_spaces():
        found = reader.term_or_cut()
        if isinstance(found, tuple):
            if cut is not None:
                raise UsageError("bad-filter", "the filter has at: twice", "keep one of them")
            cut = found
        else:
            terms.append(found)
    return Filter(tuple(terms), cut)


def parse_field(text: str) -> tuple[str, str]:
    """Return the field and the system of ``FIELD`` or ``FIELD@SYSTEM``; the latter may be empty.

    Raises :class:`UsageError` if the text is neither.
    """
    return _Reader(text).field()


def quoted(text: str) -> str:
    """Return a name or value as a filter writes it, in quotes if it has special characters."""
    if text and not any(c in _SPECIAL or c.isspace() for c in text) and text[0] != "-":
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def named_systems(asked: Iterable[str], systems: Sequence[str]) -> list[str]:
    """Return the systems that names mean, as filters compare them.

    Raises :class:`UsageError` for a name that none of ``systems`` has.
    """
    known = {normalised(name): name for name in systems}
    found = []
    for name in asked:
        if normalised(name) not in known:
            raise UsageError(
                "no-such-system",
                f"there is no system {name!r}",
                f"choose from {', '.join(systems)}",
            )
        found.append(known[normalised(name)])
    return found


def term(field: str, *values: str, system: str = "") -> str:
    """Return the term that selects turns whose field has one of ``values``; without any: a value.

    ``system`` names the system; empty means any.
    """
    return f"{field_name(field, system)}:{','.join(map(quoted, values)) or '*'}"


def field_name(field: str, system: str = "") -> str:
    """Return a field as filters and orders write it: ``FIELD`` or ``FIELD@SYSTEM``."""
    return f"{quoted(field)}@{quoted(system)}" if system else quoted(field)


def cut_term(measure: str, threshold: str) -> str:
    """Return the term that sets measure and threshold; ``threshold`` as in tables: ``>=0.5``."""
    return f"{AT}:{quoted(measure)}{threshold}"


class _Reader:
    """A place in the text of a filter."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0

    def skip_spaces(self) -> bool:
        """Go to the next term; return whether there is one."""
        while self.place < len(self.text) and self.text[self.place].isspace():
            self.place += 1
        return self.place < len(self.text)

    def field(self) -> tuple[str, str]:
        """Read the whole text as a field, with or without a system."""
        name = self._name()
        system = ""
        if self._next() == "@":
            self.place += 1
            system = self._name()
            if not system:
                raise self._error("a system is missing")
        if not name or self._next():
            raise self._error("this is not the name of a field")
        return name, system

    def term_or_cut(self) -> Term | Search | tuple[str, str]:
        """Read one term, or the measure and threshold of ``at:``."""
        excludes = self._next() == "-"
        if excludes:
            self.place += 1
        name = self._name()
        if name.casefold() == AT and self._next() == ":":
            if excludes:
                raise UsageError(
                    "bad-filter",
                    "at: sets a measure and threshold for all terms",
                    "leave out its -",
                )
            self.place += 1
            return self._cut()
        system = ""
        if self._next() == "@":
            self.place += 1
            system = self._name()
            if not system or not self._operator():
                raise self._error("nothing is asked of the system after @")
        operator = self._operator()
        if operator and name:
            self.place += len(operator)
            return Term(name, operator, self._values(name, operator), system, excludes)
        if self._next() and not self._next().isspace():
            raise self._error(f"{self._next()!r} is not expected here")
        if not name:
            raise self._error("a term is empty")
        return Search(name, excludes)

    def _next(self) -> str:
        return self.text[self.place : self.place + 1]

    def _operator(self) -> str:
        for operator in OPERATORS:
            if self.text.startswith(operator, self.place):
                return operator
        return ""

    def _cut(self) -> tuple[str, str]:
        """Read a measure and a threshold: ``ndcg_cut_3>=0.2``."""
        measure = self._name()
        operator = self._operator()
        if not measure or operator not in _PASSES:
            raise UsageError(
                "bad-filter",
                "the filter has no measure and threshold after at:",
                "write at:ndcg_cut_3>=0.2",
            )
        self.place += len(operator)
        return measure, f"{operator}{self._value()}"

    def _name(self) -> str:
        """Read a name, in quotes or up to a space or special character."""
        if self._next() == '"':
            return self._in_quotes()
        start = self.place
        while self._next() and not self._next().isspace() and self._next() not in ':@<>="':
            self.place += 1
        return self.text[start : self.place]

    def _values(self, field: str, operator: str) -> tuple[str, ...]:
        """Read the values of a term, separated by commas."""
        values = [self._value()]
        while self._next() == ",":
            self.place += 1
            values.append(self._value())
        if self._next() and not self._next().isspace():
            raise self._error(f"{self._next()!r} is not expected in a value")
        if operator != ":" and len(values) > 1:
            raise self._error(f"{field}{operator} has more than one number")
        return tuple(values)

    def _value(self) -> str:
        if self._next() == '"':
            return self._in_quotes()
        start = self.place
        while self._next() and not self._next().isspace() and self._next() not in _SPECIAL:
            self.place += 1
        if start == self.place:
            raise self._error("a value is missing")
        return self.text[start : self.place]

    def _in_quotes(self) -> str:
        """Read a text in quotes."""
        start = self.place
        self.place += 1
        characters = []
        while (character := self._next()) != '"':
            if not character:
                self.place = start
                raise self._error("the quotation mark has no end")
            if character == "\\" and self.text[self.place + 1 : self.place + 2] in ('"', "\\"):
                self.place += 1
                character = self._next()
            characters.append(character)
            self.place += 1
        self.place += 1
        return "".join(characters)

    def _error(self, found: str) -> UsageError:
        return UsageError(
            "bad-filter",
            f"filter {self.text!r}: {found}, at character {self.place + 1}",
            "put values with spaces or : @ < > = , in quotes",
        )
