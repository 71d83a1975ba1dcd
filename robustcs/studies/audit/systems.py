"""Do systems stand in the same order under people and under a judge, and which conclusions survive?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from robustcs.lazy import npt
from robustcs.result import count, difference, measure, number, p_value, score, table, text
from robustcs.statistics.estimate import joined
from robustcs.statistics.families import max_t_family
from robustcs.statistics.ranks import DECIMALS, rank_stability
from robustcs.statistics.sign_flip import paired_tests
from robustcs.statistics.units import Units

Floats = npt.NDArray[np.float64]
#: Pairs whose adjusted p is at most this differ significantly.
ALPHA = 0.05
#: How rankings are compared, as :data:`robustcs.statistics.ranks.METHODS` has it.
METHODS = ("kendall", "tau_ap", "rbo")
#: What becomes of a pair of systems: see :data:`REVERSALS`.
CHANGES = ("reversed", "swapped", "lost", "gained")

SYSTEMS = table(
    "systems", "How far the judge orders the systems as people do, on these topics.",
    text("judge", header="Judge"), measure(), text("method", "kendall, tau_ap (people's order is the true one) or rbo"),
    number("value", "1 is the same order; null where all systems are tied"),
    number("ci_low", "one-sided 95 % limit for as many other topics: at least this", "at least"),
    number("ci_high", "null: no upper limit holds what it says"),
    count("turns", "of the people", "people", "turns"), count("judge_turns", "of the judge", "judge", "turns"),
    text("note", "what must be known beside the numbers"),
)  # fmt: skip
MEANS = table(
    "means", "Mean scores of every system under people and under the judge, on the pairs that both judged.",
    text("judge", header="Judge"), measure(), text("run", header="Run"), score("human", header="people"),
    score("model", header="judge"),
)  # fmt: skip
CONCLUSIONS = table(
    "conclusions", "What becomes of the pairs of systems.",
    text("judge", header="Judge"), measure(), count("pairs", "of systems"),
    count("human_apart", "that differ significantly under people (adjusted p ≤ .05)", "people", "significant under"),
    count("judge_apart", "that differ significantly under the judge", "judge", "significant under"),
    count("reversed", "in opposite order, and significant under at least one of them", "significant", "opposite order"),
    count("swapped", "in opposite order, and significant under neither", "neither", "opposite order"),
    count("lost", "significant under people alone", "people", "under one alone"),
    count("gained", "significant under the judge alone", "judge", "under one alone"),
    text("note", "why no pair can differ significantly; empty where pairs can"),
)  # fmt: skip
REVERSALS = table(
    "reversals", "Pairs of systems of which the judge says something else than people.",
    text("judge", header="Judge"), measure(), text("first", header="First"), text("second", header="Second"),
    *difference("human_difference", "first minus second under people", "people").rounded(3).between("human_low", "human_high"),
    *difference("judge_difference", "under the judge", "judge").rounded(3).between("judge_low", "judge_high"),
    text("change", "reversed (opposite order, significant under at least one), swapped (under neither), lost (significant under"
         " people alone), gained (under the judge alone)"),
    p_value("human_p", "sign-flip test of whole units, two-sided", "people", "p"),
    p_value("human_p_corrected", "adjusted by max-T over all pairs of the measure", "people", "p adj."),
    p_value("judge_p", "", "judge", "p"), p_value("judge_p_corrected", "", "judge", "p adj."),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores of all systems by one side: sums over units, float64[R, K], and the units."""

    sums: Floats
    units: Units

    @property
    def means(self) -> Floats:
        """float64[R]."""
        return np.asarray(self.sums.sum(axis=1) / self.units.sizes.sum())


def system_rows(judge: str, metric: str, human: Scored, model: Scored, common: bool, seed: int) -> list[tuple[Any, ...]]:
    """Rank correlations with their lower limits; ``common``: both stand on the same turns."""
    apart, note = (None, "") if common else (model.units.sizes, "people and the judge judged different topics")
    turns = [int(side.units.sizes.sum()) for side in (human, model)]
    rows = []
    for method in METHODS:
        found = rank_stability(human.sums, model.sums, human.units.sizes, seed, method, apart, human.units.kind)
        rows.append((judge, metric, method, found.value, found.low, found.high, *turns, joined(note, found.note)))
    return rows


def mean_rows(judge: str, metric: str, names: Sequence[str], human: Scored, model: Scored) -> list[tuple[Any, ...]]:
    """Every system's means."""
    return [(judge, metric, *row) for row in zip(names, human.means.tolist(), model.means.tolist(), strict=True)]


def reversal_rows(
    judge: str, metric: str, names: Sequence[str], human: Scored, model: Scored, seed: int
) -> tuple[list[tuple[Any, ...]], tuple[Any, ...]]:
    """The pairs of systems of which the two say something else, reversed ones first, and the row of what became of all."""
    first, second = np.array(list(combinations(range(len(names)), 2))).T
    tests, families = [], []
    for side in (human, model):
        differences = side.sums[first] - side.sums[second]
        tests.append(paired_tests(differences, side.units.sizes, seed, side.units.kind))
        families.append(max_t_family(tests[-1], differences, seed))
    told = [family.p <= ALPHA for family in families]
    rows: list[tuple[Any, ...]] = []
    for place, (own, other) in enumerate(zip(*tests, strict=True)):
        change = _change(own.value, other.value, *(bool(side[place]) for side in told))
        if change:
            ps = [p for test, family in zip((own, other), families, strict=True) for p in (test.p, family.p[place])]
            rows.append((judge, metric, names[first[place]], names[second[place]], own, other, change, *ps))
    rows.sort(key=lambda row: (CHANGES.index(row[6]), -abs(row[4].value - row[5].value)))
    number_of = [sum(row[6] == change for row in rows) for change in CHANGES]
    note = "; ".join(dict.fromkeys(family.note for family in families if family.note))
    return rows, (judge, metric, len(tests[0]), *(int(side.sum()) for side in told), *number_of, note)


def _change(human: float, model: float, told_by_human: bool, told_by_model: bool) -> str:
    """One of :data:`CHANGES`; empty where the two agree."""
    if round(human, DECIMALS) * round(model, DECIMALS) < 0:
        return "reversed" if told_by_human or told_by_model else "swapped"
    if told_by_human != told_by_model:
        return "lost" if told_by_human else "gained"
    return ""
