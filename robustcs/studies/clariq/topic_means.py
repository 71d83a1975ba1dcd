"""Means of several systems over units that belong to topics, and the differences between them; topics are what varies."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robustcs.result import count, difference, p_value, table, text
from robustcs.statistics.clusters import bootstrap_grouped_mean
from robustcs.statistics.correction import holm
from robustcs.statistics.mean_difference import randomisation_test

#: The table of :meth:`TopicMeans.compare`.
COMPARISONS = table(
    "comparisons", "Differences between runs: means over topics; those of document relevance over facets, or contexts.",
    text("task"), text("metric", header="Measure"), text("first"), text("second"), difference("difference", "first − second"),
    difference("ci_low", "bootstrap over topics"), difference("ci_high"), p_value("p", "paired randomisation test, two-sided"),
    p_value("p_corrected", "Holm, over pairs", "Holm"), count("topics"),
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

    def means(self, seed: int) -> list[tuple[str, float, float, float]]:
        """(name, mean over units, and its interval over resampled topics) of every system."""
        rows = zip(self.names, self.values, strict=True)
        return [(name, float(row.mean()), *self._interval(row, seed)) for name, row in rows]

    def compare(self, pairs: Sequence[tuple[int, int]], seed: int) -> list[tuple[Any, ...]]:
        """A row of :data:`COMPARISONS` per pair of systems: the paired randomisation test gives a topic's differences one sign.

        Holm's correction is over ``pairs``.
        """
        differences = [self.values[first] - self.values[second] for first, second in pairs]
        tested = [randomisation_test(self._by_topic(row), seed) for row in differences]
        topics = len(np.unique(self.groups))
        return [
            (self.task, self.metric, self.names[first], self.names[second], float(row.mean()), *self._interval(row, seed),
             p, corrected, topics)
            for (first, second), row, p, corrected in zip(pairs, differences, tested, holm(tested), strict=True)
        ]  # fmt: skip

    def _by_topic(self, row: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.bincount(self.groups, weights=row).astype(np.float64)

    def _interval(self, row: npt.NDArray[np.float64], seed: int) -> tuple[float, float]:
        return bootstrap_grouped_mean(self._by_topic(row), np.bincount(self.groups), seed)


def common_units(
    units: Iterable[str], have: Mapping[str, Container[str]], drop: bool
) -> tuple[list[str], dict[str, list[str]]]:
    """The units that count, and those that every system lacks; ``drop`` leaves out what any system lacks."""
    wanted = list(units)
    missing = {name: [unit for unit in wanted if unit not in own] for name, own in have.items()}
    if drop:
        gone = set().union(*missing.values())
        wanted = [unit for unit in wanted if unit not in gone]
    return wanted, missing
