"""Changes of a run: its scores in both states, if possible under the same judgments, and the bounds of the change."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from robustcs.evaluation.thresholds import Threshold
from robustcs.inputs.turns import turn_sort_key
from robustcs.policy import Grouping
from robustcs.statistics import Floats
from robustcs.statistics.units import units_of
from robustcs.studies.compare.states import ByTurn, SystemState

#: Smaller changes are rounding errors, for example from another order of summation.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Rescored:
    """A run of the old state under the new judgments.

    scores
        Measure → turn → score of the old run.
    low, high
        Measure → turn → bounds of new − old over all grades of the unjudged passages. A passage in both runs gets the same
        grade in both.
    grades
        Turn → new grades of the old run's best passages; None for unjudged passages.
    """

    scores: ByTurn
    low: ByTurn
    high: ByTurn
    grades: Mapping[str, Sequence[int | None]] = field(default_factory=dict)

    def judged_share(self, turns: Iterable[str], depth: int) -> float:
        """Return the share of the old run's top ``depth`` passages of ``turns`` that is judged now; nan without passages."""
        known = [grade is not None for turn in turns for grade in self.grades.get(turn, ())[:depth]]
        return sum(known) / len(known) if known else math.nan

    def only_added(self, old: SystemState) -> bool:
        """Return whether every judged passage among the best of ``old`` kept its grade; False if unknown."""
        both = [
            (old.heads[turn], grades) for turn, grades in self.grades.items() if turn in old.heads
        ]
        return bool(both) and all(
            was in (None, now)
            for head, grades in both
            for (_, was), now in zip(head, grades, strict=False)
        )


@dataclass(frozen=True)
class Change:
    """Scores of one run and measure on the turns that both states score; ``low`` and ``high`` bound new − old.

    ``rescored``, ``low`` and ``high`` are nan if they are unknown for any of the turns.
    """

    run: str
    metric: str
    turns: tuple[str, ...]
    old: np.ndarray
    new: np.ndarray
    rescored: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def on(self, turns: Set[str]) -> Change:
        """Return the change restricted to these turns."""
        rows = [place for place, turn in enumerate(self.turns) if turn in turns]
        kept: dict[str, Any] = {
            name: getattr(self, name)[rows] for name in ("old", "new", "rescored", "low", "high")
        }
        return replace(self, turns=tuple(self.turns[row] for row in rows), **kept)

    @property
    def fair(self) -> np.ndarray:
        """The old scores, under the new judgments if known."""
        return np.where(np.isnan(self.rescored), self.old, self.rescored)


def changes_of(
    name: str, old: SystemState, new: SystemState, rescored: Rescored | None
) -> Iterable[Change]:
    """Yield the change of a run for every measure that both states have, over the turns that both score."""
    for metric in new.scores:
        turns = tuple(
            sorted(old.scores.get(metric, {}).keys() & new.scores[metric].keys(), key=turn_sort_key)
        )
        if not turns:
            continue

        def of(values: ByTurn, turns: tuple[str, ...] = turns, metric: str = metric) -> np.ndarray:
            known = values.get(metric, {})
            found = np.array([known.get(turn, np.nan) for turn in turns])
            return found * np.nan if np.isnan(found).any() else found

        low, high = of(new.low) - of(old.high), of(new.high) - of(old.low)
        if rescored is not None:
            low, high = of(rescored.low), of(rescored.high)
        again = of(rescored.scores if rescored else {})
        yield Change(name, metric, turns, of(old.scores), of(new.scores), again, low, high)


class Aligned:
    """Comparisons over different turns as sums over the same units; 0 if a comparison has no turns in a unit."""

    def __init__(self, turns: Sequence[Sequence[str]], by: Grouping):
        every = sorted({turn for own in turns for turn in own}, key=turn_sort_key)
        place = {turn: number for number, turn in enumerate(every)}
        self.units = units_of(every, by)
        self._rows = [np.array([place[turn] for turn in own], dtype=np.int64) for own in turns]
        self.sizes = self.sums([np.ones(len(own)) for own in turns])

    def sums(self, values: Sequence[np.ndarray]) -> np.ndarray:
        """Return the sums float64[M, ..., K] of M arrays [..., T] by turn; rounding errors count as 0."""
        found = []
        for rows, own in zip(self._rows, values, strict=True):
            spread = np.zeros((*own.shape[:-1], len(self.units.codes)))
            spread[..., rows] = np.where(np.abs(own) < ROUNDING, 0.0, own)
            found.append(self.units.sums(spread))
        return np.array(found).reshape(
            len(values), *(found[0].shape if found else (self.units.count,))
        )


def wrong_by(cause: str, threshold: Threshold) -> Callable[[Floats, Floats], npt.NDArray[Any]]:
    """Return the function of QR and Human scores that is 1 for turns with this error, ``qa`` or ``qr``."""

    def wrong(qr: Floats, human: Floats) -> npt.NDArray[Any]:
        correct = threshold.holds(human)
        return (~correct if cause == "qa" else correct & ~threshold.holds(qr)).astype(float)

    return wrong
