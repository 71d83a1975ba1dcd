"""Means of several systems over units that belong to topics, and the differences between them; topics are what varies."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robustcs.inputs.turns import turn_sort_key
from robustcs.result import Field, count, difference, number, p_value, table, text
from robustcs.statistics.columns import EXACT, P_FLOOR
from robustcs.statistics.effect import detectable_differences, effect_sizes
from robustcs.statistics.estimate import Estimate
from robustcs.statistics.families import max_t_family
from robustcs.statistics.means import mean_estimates
from robustcs.statistics.sign_flip import paired_tests

NOUN = "topic"
#: The interval of a mean, and what belongs beside it.
INTERVAL = (number("ci_low", "95 %, cluster-robust t over topics; null for fewer than five"), number("ci_high"))
NOTE: Field = text("note", "what must be known beside the interval")
#: The table of :meth:`TopicMeans.compare`.
COMPARISONS = table(
    "comparisons", "Differences between runs: means over topics; those of document relevance over facets, or contexts.",
    text("task"), text("metric", header="Measure"), text("first", header="First"), text("second", header="Second"),
    difference("difference", "first − second"),
    difference("ci_low", "of this comparison alone, from the test that gives p; null where none can be given"),
    difference("ci_high"), p_value("p", "sign-flip test of whole topics, two-sided"),
    p_value("p_corrected", "adjusted by max-T over the pairs of runs of a task and measure", "p adj."), count("topics"),
    P_FLOOR,
    EXACT,
    number("effect", "standardised mean difference over topics"),
    difference("detectable", "the smallest true difference that such a design finds with 80 % power at .05"),
    text("note", "what must be known beside the numbers"),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class TopicMeans:
    """One measure of several systems over the same units.

    values
        float64[systems, units].
    groups
        int64[units]: the number of the unit's topic, from 0 without gaps.
    """

    task: str
    metric: str
    names: Sequence[str]
    values: npt.NDArray[np.float64]
    groups: npt.NDArray[np.int64]

    def means(self) -> tuple[Estimate, ...]:
        """The mean over units of every system, with its interval by topic; inside 0 and 1 where all values are."""
        inside = bool(((self.values >= 0) & (self.values <= 1)).all())
        return mean_estimates(self._by_topic(self.values), self._sizes, NOUN, (0.0, 1.0) if inside else None)

    def compare(self, pairs: Sequence[tuple[int, int]], seed: int) -> tuple[list[tuple[Any, ...]], str]:
        """A row of :data:`COMPARISONS` per pair of systems, and what their family cannot show.

        The test gives all units of a topic one sign. The family is ``pairs``.
        """
        if not pairs:
            return [], ""
        sums = self._by_topic(np.array([self.values[first] - self.values[second] for first, second in pairs]))
        tests = paired_tests(sums, self._sizes, seed, NOUN)
        family = max_t_family(tests, sums, seed)
        effects, least = effect_sizes(sums, self._sizes, NOUN), detectable_differences(sums, self._sizes, NOUN)
        rows = [
            (self.task, self.metric, self.names[first], self.names[second], test.value, test.low, test.high, test.p, corrected,
             len(self._sizes), test.floor, test.exact, effect.value, found.value, test.note)
            for (first, second), test, corrected, effect, found
            in zip(pairs, tests, family.p.tolist(), effects, least, strict=True)
        ]  # fmt: skip
        return rows, family.note

    @property
    def _sizes(self) -> npt.NDArray[np.float64]:
        """float64[topics]: units of each."""
        return np.bincount(self.groups).astype(np.float64)

    def _by_topic(self, table: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """float64[rows, topics]: sums over the units of each topic; exact zeros stay, whatever the order of units."""
        return np.array([np.bincount(self.groups, weights=row) for row in table])


def common_units(
    units: Iterable[str], have: Mapping[str, Container[str]], drop: bool
) -> tuple[list[str], dict[str, list[str]]]:
    """The units that count, in natural order, and those that every system lacks; ``drop`` leaves out what any system lacks."""
    wanted = sorted(units, key=turn_sort_key)
    missing = {name: [unit for unit in wanted if unit not in own] for name, own in have.items()}
    if drop:
        gone = set().union(*missing.values())
        wanted = [unit for unit in wanted if unit not in gone]
    return wanted, missing
