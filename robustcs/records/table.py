"""The table of turns: one row per turn, and a column for each field that a study contributes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from robustcs.errors import UsageError
from robustcs.records.filter import Filter, Search, Term, normalised, parse_field, parse_filter
from robustcs.statistics import Mask
from robustcs.wording import nearest

#: Values of a field: words, of which a turn may have several, or numbers.
FieldKind = Literal["words", "number"]
#: Where the record of a turn has a field: under its own name, among the scores or slices, or not.
Place = Literal["own", "scores", "slices", "none"]

#: The column of a field that is not per system.
NO_SYSTEM = ""
#: What stands between two texts of a turn that are searched, so that no phrase spans both.
BETWEEN_TEXTS = "\n\0\n"
#: Significant digits of numbers in every output; a filter compares the same numbers everywhere.
_DIGITS = 12
#: Orders that are neither fields nor measures.
ID, RANDOM, DISAGREEMENT = "id", "random", "disagreement"


@dataclass(frozen=True)
class TurnField:
    """A field of a turn.

    name
        As in filters: ``cause``, ``first``, ``ndcg_cut_3``.
    kind
        ``words``: the values of a turn are compared whole, without case. ``number``: they are
        ordered.
    says
        What it is, in one sentence without its end, for the reference.
    study
        The study that contributes it.
    per_system
        Whether it has a value for each system (``cause@qr``).
    by_cut
        Whether it depends on the measure and threshold of correct answers (``at:``).
    several
        Whether a turn may have several words.
    place
        Where the record has it.
    on_request
        Whether it is left out of lists of turns, because it takes time to compute; filters and
        complete records have it.
    aliases
        Other names of the same field: ``NDCG@3``.
    """

    name: str
    kind: FieldKind
    says: str
    study: str = ""
    per_system: bool = False
    by_cut: bool = False
    several: bool = False
    place: Place = "own"
    on_request: bool = False
    aliases: tuple[str, ...] = ()


#: System → the values of every turn: of a field of words, a tuple of words for each turn; of a
#: field of numbers, float[turns] with NaN for turns without one.
Values = Mapping[str, Sequence[Sequence[str]] | np.ndarray]


@dataclass(frozen=True)
class FieldColumn:
    """The values of a field; the only system of a field that is not per system is empty."""

    field: TurnField
    values: Values

    @cached_property
    def normalised(self) -> Mapping[str, Sequence[frozenset[str]]]:
        """System → the words of every turn as filters compare them."""
        return {
            system: [frozenset(map(normalised, words)) for words in values]
            for system, values in self.values.items()
        }

    @cached_property
    def numbers(self) -> Mapping[str, np.ndarray]:
        """System → float[turns], with as many digits as outputs have."""
        return {system: rounded(values) for system, values in self.values.items()}


def rounded(values: Sequence[Sequence[str]] | np.ndarray) -> np.ndarray:
    """Return numbers with as many digits as outputs have."""
    numbers = np.asarray(values, float).tolist()
    return np.array([float(f"{value:.{_DIGITS}g}") for value in numbers], float)


class Contribution(NamedTuple):
    """A field, and the function that computes its values."""

    field: TurnField
    compute: Callable[[], Values]


class FieldColumns(Mapping[str, FieldColumn]):
    """Name of a field → its column, which is computed when it is first used.

    Raises :class:`UsageError` if two contributions have fields of one name.
    """

    def __init__(self, contributions: Iterable[Contribution]) -> None:
        self._contributed: dict[str, Contribution] = {}
        self._computed: dict[str, FieldColumn] = {}
        owners: dict[str, TurnField] = {}
        for one in contributions:
            for name in (one.field.name, *one.field.aliases):
                known = owners.setdefault(normalised(name), one.field)
                if known is not one.field:
                    raise UsageError(
                        "repeated-field",
                        f"turns have two fields named {name!r}: of {known.study} and of"
                        f" {one.field.study}",
                        "rename the column of the file, or the field of the study",
                    )
            self._contributed[one.field.name] = one

    def __getitem__(self, name: str) -> FieldColumn:
        if name not in self._computed:
            contributed = self._contributed[name]
            self._computed[name] = FieldColumn(contributed.field, contributed.compute())
        return self._computed[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._contributed)

    def __len__(self) -> int:
        return len(self._contributed)

    @property
    def fields(self) -> list[TurnField]:
        """The fields, none of which is computed for this."""
        return [one.field for one in self._contributed.values()]


@dataclass(frozen=True)
class TurnTable:
    """Turns with their fields, and the text in which filters search.

    ids
        The turns, in their order.
    columns
        The fields with their values.
    searched
        Returns the text of every turn in which words of a filter are searched: texts, answers,
        passages, labels and notes, with :data:`BETWEEN_TEXTS` between them.
    at
        Returns the same table for another measure and threshold, both as a filter writes them.
    headline
        The measure of the order ``disagreement``; empty without scores.
    """

    ids: Sequence[str]
    columns: FieldColumns
    searched: Callable[[], Sequence[str]]
    at: Callable[[str, str], TurnTable] | None = field(default=None, repr=False)
    headline: str = ""

    @cached_property
    def _searched(self) -> list[str]:
        return [normalised(text) for text in self.searched()]

    # ------------------------------------------------------------ selection

    def where(self, text: str) -> list[str]:
        """Return the turns that a filter selects, in their order.

        Raises :class:`UsageError` if the filter cannot be read, or names a field, system, measure
        or threshold that the table does not have.
        """
        asked = parse_filter(text)
        selected = self.asked_at(asked).selects(asked)
        return [turn for turn, chosen in zip(self.ids, selected, strict=True) if chosen]

    def asked_at(self, asked: Filter) -> TurnTable:
        """Return the table at the measure and threshold of a filter, this one if it has none."""
        if asked.cut is None:
            return self
        if self.at is None:
            raise UsageError(
                "bad-filter",
                "these turns have no threshold of correct answers",
                "leave out at:",
            )
        return self.at(*asked.cut)

    def selects(self, asked: Filter) -> Mask:
        """Return bool[turns]: whether all terms of a filter hold for the turn."""
        selected = np.ones(len(self.ids), bool)
        for term in asked.terms:
            selected &= self._holds(term) ^ term.excludes
        return selected

    def _holds(self, term: Term | Search) -> Mask:
        if isinstance(term, Search):
            phrase = normalised(term.text)
            return np.array([phrase in text for text in self._searched], bool)
        column = self.column(term.field)
        systems = self._systems_of(column, term.field, term.system)
        if term.operator == ":":
            return self._has_value(column, systems, term)
        if column.field.kind == "words":
            raise UsageError(
                "bad-filter",
                f"field {term.field} of the filter is not a number",
                f"write {term.field}:VALUE",
            )
        return self._compares(column, systems, term)

    def column(self, name: str) -> FieldColumn:
        """Return the column of a field, by its name or an alias.

        Raises :class:`UsageError`, which tells the nearest name, if there is none.
        """
        names = {}
        for one in self.columns.fields:
            for known in (one.name, *one.aliases):
                names[normalised(known)] = one.name
        found = names.get(normalised(name))
        if found is not None:
            return self.columns[found]
        near = nearest(normalised(name), names)
        meant = f"fields are {', '.join(self.columns)}."
        if near:
            meant = f"did you mean {names[near]}?"
        raise UsageError(
            "no-such-field",
            f"no turn has a field {name!r}",
            f'{meant} To search for a text with such characters, write it in quotes ("{name}")',
        )

    def _systems_of(self, column: FieldColumn, name: str, system: str) -> list[str]:
        """Return the systems whose values a term tests; without a system, any may hold."""
        if not system:
            return list(column.values)
        wanted = normalised(system)
        systems = [one for one in column.values if one and normalised(one) == wanted]
        if not systems:
            names = [one for one in column.values if one]
            raise UsageError(
                "no-such-system",
                f"field {name} has no system {system!r}",
                f"its systems are {', '.join(names)}" if names else f"write {name}:VALUE",
            )
        return systems

    def _has_value(self, column: FieldColumn, systems: list[str], term: Term) -> Mask:
        holds = np.zeros(len(self.ids), bool)
        any_value = term.values == ("*",)
        if column.field.kind == "number":
            numbers = [] if any_value else [term.number(value) for value in term.values]
            for system in systems:
                values = column.numbers[system]
                holds |= ~np.isnan(values) if any_value else np.isin(values, numbers)
            return holds
        wanted = frozenset(map(normalised, term.values))
        for system in systems:
            words_of_turns = column.normalised[system]
            if any_value:
                holds |= np.array([bool(words) for words in words_of_turns], bool)
            else:
                holds |= np.array([not wanted.isdisjoint(words) for words in words_of_turns], bool)
        return holds

    def _compares(self, column: FieldColumn, systems: list[str], term: Term) -> Mask:
        limit = term.number(term.values[0])
        compare = {
            "<": np.less,
            "<=": np.less_equal,
            ">": np.greater,
            ">=": np.greater_equal,
            "=": np.equal,
        }[term.operator]
        holds = np.zeros(len(self.ids), bool)
        for system in systems:
            # a turn without a value is NaN, for which no comparison holds
            holds |= compare(column.numbers[system], limit)
        return holds

    # ------------------------------------------------------------ order

    def ordered(self, turns: Iterable[str], by: str = ID, seed: int = 0) -> list[str]:
        """Return ``turns`` in an order; those with equal values are in the order of the table.

        by
            - ``id``: the order of the table.
            - ``random``: with the random ``seed``.
            - ``disagreement``: the largest difference between two systems in the headline measure
              first.
            - ``first``: the deepest first relevant passage first.
            - ``loss`` or ``change``: the largest first, of ``change`` whatever its sign.
            - any other number, such as a measure: the lowest first.

            ``FIELD@SYSTEM`` takes the values of one system; without it, those of the system that
            comes first in this order count.

        Turns without a value come last. Raises :class:`UsageError` for any other order.
        """
        chosen = set(turns)
        places = [place for place, turn in enumerate(self.ids) if turn in chosen]
        if by == RANDOM:
            places = [places[one] for one in np.random.default_rng(seed).permutation(len(places))]
        elif by != ID:
            keys = self._keys(by)
            places.sort(key=lambda place: (np.isnan(keys[place]), keys[place]))
        return [self.ids[place] for place in places]

    def _keys(self, by: str) -> np.ndarray:
        """Return float[turns]: the lowest comes first; NaN for turns without a value."""
        name, system = parse_field(by)
        disagreement = normalised(name) == DISAGREEMENT and bool(self.headline)
        column = self.column(self.headline if disagreement else name)
        if column.field.kind != "number":
            raise UsageError(
                "bad-order",
                f"turns cannot be ordered by {name}, which is not a number",
                "order by id, loss, change, first, disagreement, random or a measure",
            )
        systems = self._systems_of(column, name, system)
        values = np.stack([column.numbers[one] for one in systems])
        if disagreement:
            highest, lowest = -_least(-values), _least(values)
            return np.asarray(lowest - highest)
        if column.field.name == "change":
            return _least(-np.abs(values))
        if column.field.name in ("loss", "first"):
            return _least(-values)
        return _least(values)


def _least(values: np.ndarray) -> np.ndarray:
    """Return float[turns]: the least of float[systems, turns], NaN where no system has a value."""
    known = np.where(np.isnan(values), np.inf, values).min(axis=0)
    return np.asarray(np.where(np.isinf(known), np.nan, known))


# ---------------------------------------------------------------- values of columns


def aligned_words(ids: Sequence[str], values: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    """Return the words of every turn from turn → words; turns that are not in it have none."""
    return [tuple(values.get(turn, ())) for turn in ids]


def aligned_numbers(ids: Sequence[str], values: Mapping[str, float]) -> np.ndarray:
    """Return float[turns] from turn → number; NaN for turns that are not in it."""
    return np.array([values.get(turn, np.nan) for turn in ids], float)
