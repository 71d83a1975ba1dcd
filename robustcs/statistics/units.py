"""The sampling unit: the conversation or topic of a turn, or the turn itself.

Turns of one conversation are correlated. Intervals that treat them as independent are too narrow, and tests reject too
often. So this package works on sums over units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from robustcs.conversations import Conversations
from robustcs.policy import Grouping
from robustcs.result import Evaluated
from robustcs.statistics import Codes, Floats
from robustcs.statistics.estimate import LEAST_UNITS
from robustcs.wording import counted


def resampled(generator: np.random.Generator, units: int, count: int) -> Floats:
    """Return float64[B, K]: how often each of K units is in each of B = ``count`` resamples of K units with replacement."""
    return generator.multinomial(units, np.full(units, 1 / units), size=count).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Units:
    """T turns in K units.

    kind
        The name of the unit: ``conversation``, ``topic`` (if ids contain both), ``turn``, or another part of turns, such as
        ``text``. A turn id without a conversation forms its own unit.
    codes
        int64[T]: the unit of every turn, 0 … K − 1.
    labels
        The names of the K units, in the order of their codes.
    note
        Why the unit is not the conversation or topic, unless that was requested.
    """

    kind: str
    codes: Codes
    labels: tuple[str, ...]
    note: str = ""

    @property
    def count(self) -> int:
        """K, the number of units."""
        return len(self.labels)

    @cached_property
    def sizes(self) -> Floats:
        """float64[K]: the number of turns of every unit."""
        return np.bincount(self.codes, minlength=self.count).astype(np.float64)

    def sums(self, values: npt.ArrayLike) -> Floats:
        """Return float64[..., K]: the sums of ``values`` [..., T] over the turns of every unit."""
        table = np.asarray(values, dtype=np.float64)
        if not self.count:
            return np.zeros((*table.shape[:-1], 0))
        order = np.argsort(self.codes, kind="stable")
        starts = np.searchsorted(self.codes[order], np.arange(self.count))
        return np.add.reduceat(table[..., order], starts, axis=-1)

    def take(self, rows: npt.ArrayLike) -> Units:
        """Return the units of the turns selected by ``rows`` (bool[T] or indices), without empty units."""
        different, codes = np.unique(self.codes[np.asarray(rows)], return_inverse=True)
        return Units(
            self.kind,
            codes.astype(np.int64),
            tuple(self.labels[code] for code in different),
            self.note,
        )

    def stated(self, evaluated: Evaluated) -> Evaluated:
        """Return ``evaluated`` with these units in its policy line.

        Notes say why they are smaller than conversations, and which groups of turn ids could be larger units.
        """
        known = (
            evaluated.conversations
            if evaluated.policy.unit != "turn" and self.kind == "turn"
            else None
        )
        notes = (*evaluated.notes, *filter(None, [self.note, known.note if known else ""]))
        return replace(
            evaluated, notes=notes, unit=self.kind, units=self.count, unit_note=self.note
        )


def units_of(turns: Sequence[str], by: Grouping = "conversation") -> Units:
    """Return the units of ``turns``: conversations (or topics) if there are at least five, otherwise turns, with a ``note``.

    ``by``: the conversations of the project, ``turn`` to ignore conversations, or ``conversation`` for those that the ids of
    ``turns`` show.
    """
    if by == "turn":
        return _single(turns)
    conversations = _decided(turns, by)
    found = _named(conversations.kind(turns), [conversations.unit(turn) for turn in turns])
    if found.count == len(turns):
        return _single(turns)
    return (
        found
        if found.count >= LEAST_UNITS
        else _single(turns, _too_few("turn", counted(found.count, found.kind)))
    )


def units_of_items(turns: Sequence[str], noun: str, by: Grouping = "conversation") -> Units:
    """Return the units of items that belong to ``turns``: one turn id per item, which may repeat or be empty if unknown.

    Units are conversations (or topics) if there are at least five, otherwise turns, otherwise the items, named ``noun``;
    ``note`` states why they are not conversations. Items of one turn are correlated, as turns of one conversation are.
    ``by``: see :func:`units_of`.
    """
    few = ""
    conversations = _decided(turns, by)
    names = (
        {conversations.kind(turns): list(map(conversations.unit, turns)), "turn": list(turns)}
        if any(turns)
        else {}
    )
    for kind, of_item in names.items():
        found = _named(kind, of_item)
        # ids without conversations, and turns with one item each, give no larger units
        told = found.count < (len(turns) if kind == "turn" else len(set(turns)))
        if (kind != "turn" and by == "turn") or not told:
            continue
        if found.count >= LEAST_UNITS:
            return replace(found, note=_too_few(kind, few))
        few = few or counted(found.count, kind)
    return _named(noun, list(map(str, range(len(turns)))), _too_few(noun, few))


def _decided(turns: Sequence[str], by: Grouping) -> Conversations:
    return by if isinstance(by, Conversations) else Conversations.from_ids(filter(None, turns))


def _too_few(kind: str, few: str) -> str:
    """Return why the unit is ``kind`` and not larger: there are only ``few`` larger ones; empty if ``few`` is."""
    verb = "is" if few.startswith("1 ") else "are"
    if not few:
        return ""
    return f"the sampling unit is the {kind}, because there {verb} only {few}: intervals may be too narrow and p too small"


def _single(turns: Sequence[str], note: str = "") -> Units:
    return Units("turn", np.arange(len(turns), dtype=np.int64), tuple(turns), note)


def _named(kind: str, names: Sequence[str], note: str = "") -> Units:
    """Return the units with these names, one for each turn, in order of first appearance."""
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return Units(
        kind, np.array([places[name] for name in names], dtype=np.int64), tuple(places), note
    )
