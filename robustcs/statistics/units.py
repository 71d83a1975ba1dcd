"""The sampling unit: the conversation or topic of a turn, or the turn itself.

Turns of one conversation are correlated. Intervals that treat them as independent are too narrow,
and tests reject too often. So this package works on sums over units.
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
    """Return float64[B, K]: how often each of K units is in each of B = ``count`` resamples.

    A resample draws K units with replacement.
    """
    weights = generator.multinomial(units, np.full(units, 1 / units), size=count)
    return weights.astype(np.float64)


@dataclass(frozen=True, eq=False)
class Units:
    """T turns in K units.

    kind
        The name of the unit: ``conversation``, ``topic`` (if ids contain both), ``turn``, or
        another part of turns, such as ``text``. A turn id without a conversation forms its own
        unit.
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
        """Return the units of the turns selected by ``rows``, without empty units.

        ``rows``: bool[T] or indices.
        """
        different, codes = np.unique(self.codes[np.asarray(rows)], return_inverse=True)
        return Units(
            self.kind,
            codes.astype(np.int64),
            tuple(self.labels[code] for code in different),
            self.note,
        )

    def stated(self, evaluated: Evaluated) -> Evaluated:
        """Return ``evaluated`` with these units in its policy line.

        Notes say why they are smaller than conversations, and which groups of turn ids could be
        larger units.
        """
        notes = list(evaluated.notes)
        if self.note:
            notes.append(self.note)
        turns_not_requested = self.kind == "turn" and evaluated.policy.unit != "turn"
        if turns_not_requested and evaluated.conversations and evaluated.conversations.note:
            notes.append(evaluated.conversations.note)
        return replace(
            evaluated,
            notes=tuple(notes),
            unit=self.kind,
            units=self.count,
            unit_note=self.note,
        )


def units_of(turns: Sequence[str], by: Grouping = "conversation") -> Units:
    """Return the units of ``turns``: conversations (or topics) if there are at least five.

    Otherwise the units are the turns, with a ``note``. ``by``: the conversations of the project,
    ``turn`` to ignore conversations, or ``conversation`` for those that the ids of ``turns`` show.
    """
    if by == "turn":
        return _one_per_turn(turns)
    conversations = _conversations_of(turns, by)
    units = _named(conversations.kind(turns), [conversations.unit(turn) for turn in turns])
    if units.count == len(turns):
        return _one_per_turn(turns)
    if units.count < LEAST_UNITS:
        return _one_per_turn(turns, _too_few("turn", counted(units.count, units.kind)))
    return units


def units_of_items(turns: Sequence[str], noun: str, by: Grouping = "conversation") -> Units:
    """Return the units of items that belong to ``turns``.

    ``turns``: one turn id per item, which may repeat or be empty if unknown. Units are
    conversations (or topics) if there are at least five, otherwise turns, otherwise the items,
    named ``noun``; ``note`` states why they are not conversations. Items of one turn are
    correlated, as turns of one conversation are. ``by``: see :func:`units_of`.
    """
    # candidates, largest units first, each with the number of the next smaller units
    candidates: list[tuple[Units, int]] = []
    if any(turns):
        if by != "turn":
            conversations = _conversations_of(turns, by)
            of_items = [conversations.unit(turn) for turn in turns]
            candidates.append((_named(conversations.kind(turns), of_items), len(set(turns))))
        candidates.append((_named("turn", turns), len(turns)))
    few = ""
    for units, smaller_units in candidates:
        # ids without conversations, and turns with one item each, give no larger units
        if units.count >= smaller_units:
            continue
        if units.count >= LEAST_UNITS:
            return replace(units, note=_too_few(units.kind, few))
        few = few or counted(units.count, units.kind)
    items = [str(item) for item in range(len(turns))]
    return _named(noun, items, _too_few(noun, few))


def _conversations_of(turns: Sequence[str], by: Grouping) -> Conversations:
    return by if isinstance(by, Conversations) else Conversations.from_ids(filter(None, turns))


def _too_few(kind: str, few: str) -> str:
    """Return why the unit is ``kind`` and not larger: there are only ``few`` larger ones.

    ``few`` is a number with its noun, such as ``3 conversations``; if it is empty, so is the note.
    """
    if not few:
        return ""
    verb = "is" if few.startswith("1 ") else "are"
    return (
        f"the sampling unit is the {kind}, because there {verb} only {few}: intervals may be too"
        " narrow and p too small"
    )


def _one_per_turn(turns: Sequence[str], note: str = "") -> Units:
    return Units("turn", np.arange(len(turns), dtype=np.int64), tuple(turns), note)


def _named(kind: str, names: Sequence[str], note: str = "") -> Units:
    """Return the units with these names, one for each turn, in order of first appearance."""
    labels = tuple(dict.fromkeys(names))
    code_of = {label: code for code, label in enumerate(labels)}
    codes = np.array([code_of[name] for name in names], dtype=np.int64)
    return Units(kind, codes, labels, note)
