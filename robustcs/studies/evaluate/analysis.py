"""Means of systems, and every pair compared: intervals, tests, effect sizes, what could be found, what is equivalent.

The unit is the conversation: turns of one conversation depend on each other. docs/statistics.md says how often the intervals
hold and the tests reject.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.trec_eval import TOTAL, is_averaged, score_of_run
from robustcs.lazy import pd
from robustcs.result import Evaluated, Result, count, difference, number, p_value, score, table, text
from robustcs.slicing.table import Slicing
from robustcs.statistics.columns import DETECTABLE, EFFECT, EQUIVALENT, EXACT, P_FLOOR
from robustcs.statistics.effect import check_margin, detectable_differences, effect_sizes, units_needed, within_margin
from robustcs.statistics.estimate import joined
from robustcs.statistics.families import Family, max_t_family
from robustcs.statistics.letters import compact_letters, told_apart
from robustcs.statistics.means import mean_estimates
from robustcs.statistics.ranks import DECIMALS
from robustcs.statistics.sign_flip import paired_tests
from robustcs.statistics.units import Units
from robustcs.studies.evaluate.slices import FOUND_SLICES, SLICES, found_slices, slice_means
from robustcs.wording import counted

Pair = tuple[str, str]
#: Pairs whose adjusted p is at most this differ significantly.
ALPHA = 0.05
NEEDED = ("units_needed", "units_needed_low", "units_needed_high")

MEASURES = table(
    "measures", "The mean of every system, best first, with the 95 % interval for other conversations of this kind.",
    text("run", header="Run"), text("metric"),
    score("value", "of num_ret and the like a total, of gm_map and gm_bpref a geometric mean, over turns", "mean"),
    number("ci_low", "null where no interval can be given: note says why"), number("ci_high"),
    count("turns", "turns that the value goes over"),
    text("letters", "systems that share a letter do not differ significantly; empty where not all pairs are compared", "group"),
    text("note", "what must be known beside the interval"),
)  # fmt: skip
PAIRS = table(
    "pairs",
    "The mean difference of two systems over the turns that both have. No rows for more than 50 systems unless they are asked"
    " for, nor for totals and geometric means.",
    text("first", header="First"), text("second", header="Second"), text("metric"),
    difference("difference", "first minus second"), number("ci_low", "of this comparison alone, from the test that gives p"),
    number("ci_high"), p_value(says="sign-flip test of whole units, two-sided", header="p"),
    p_value("p_corrected", "adjusted by max-T over all comparisons of the measure", "p adj."),
    P_FLOOR,
    EXACT,
    *EFFECT,
    DETECTABLE,
    number("detectable_low", "95 %: how roughly that is known, as it rests on the same units"), number("detectable_high"),
    count("units_needed", "units that find a true difference as large as this one with 80 % power at .05; null: none would",
          "needed"),
    count("units_needed_low", "95 %, from the interval of the effect; null where that has none"),
    count("units_needed_high", "null: no upper limit, as that interval includes 0, or no interval"),
    EQUIVALENT,
    text("note", "what must be known beside the numbers"),
)  # fmt: skip
TURNS = table(
    "turns", "Every score.", text("run", header="Run"), text("turn", header="Turn"), text("metric"),
    score("value", "of gm_map and gm_bpref a logarithm"),
)  # fmt: skip


@dataclass(frozen=True)
class Evaluation(Result):
    """Systems over the same turns, and their pairs.

    families
        Measure → the family of its pairs.
    margin
        Differences up to this count as none; None where nothing is said about equivalence.
    tried
        Measure → rules that were tried to find slices; empty where none were looked for.
    """

    study = "evaluate"
    declared = (MEASURES, PAIRS, SLICES, FOUND_SLICES, TURNS)

    measures: pd.DataFrame
    pairs: pd.DataFrame
    slices: pd.DataFrame
    found_slices: pd.DataFrame
    turns: pd.DataFrame
    families: Mapping[str, Family]
    baseline: str | None
    margin: float | None
    tried: Mapping[str, int] = field(default_factory=dict)


def evaluate(
    scores: Mapping[str, pd.DataFrame],
    bounded: Mapping[str, bool],
    units: Units,
    evaluated: Evaluated,
    baseline: str | None = None,
    margin: float | None = None,
    seed: int = 0,
    slicings: Sequence[Slicing] = (),
    searched: Sequence[Slicing] = (),
    every_pair: bool = True,
) -> Evaluation:
    """Compare systems.

    scores
        System → float frame, turns × measures, over the same turns; nan where a system has none.
    bounded
        Measure → does it lie between 0 and 1? Its intervals stay inside then.
    units
        The units of the turns.
    baseline
        The system that all others are compared with; None compares every pair, the earlier system first, if ``every_pair``.
    slicings
        How the turns are split.
    searched
        Slicings in which slices are looked for that score lower.

    Raises :class:`UsageError` for an unknown baseline, for a margin that is not above 0, and where there are too few units to
    look for slices.
    """
    names = list(scores)
    if baseline is not None and baseline not in scores:
        raise UsageError("no-such-run", f"no run is named {baseline!r}", f"there are {', '.join(names)}")
    check_margin(margin)
    if baseline is not None:
        compared = [(name, baseline) for name in names if name != baseline]
    else:
        compared = list(combinations(names, 2)) if every_pair else []
    means: list[tuple[Any, ...]] = []
    pairs: list[tuple[Any, ...]] = []
    families = {}
    for metric in next(iter(scores.values())):
        values = np.stack([scores[name][metric].to_numpy() for name in names])
        if not is_averaged(metric):
            families[metric] = max_t_family((), values, seed)
            means += _totals(metric, names, values)
            continue
        rows, families[metric] = _pairs(metric, names, values, compared, units, margin, seed)
        pairs += rows
        corrected = dict(zip(compared, families[metric].p, strict=True)) if baseline is None else {}
        means += _means(metric, names, values, units, bounded[metric], corrected)
    turns = [
        (name, turn, metric, value)
        for name, frame in scores.items() for metric in frame for turn, value in frame[metric].dropna().items()
    ]  # fmt: skip
    scores = {name: frame[[metric for metric in frame if is_averaged(metric)]] for name, frame in scores.items()}
    found, tried = found_slices(scores, searched, units, seed) if searched else (FOUND_SLICES.frame([]), {})
    return Evaluation(
        units.stated(evaluated),
        MEASURES.frame(means), PAIRS.frame(pairs).astype({"equivalent": "boolean", **dict.fromkeys(NEEDED, "Int64")}),
        slice_means(scores, bounded, slicings, units, seed), found,
        TURNS.frame(turns), families, baseline, margin, tried,
    )  # fmt: skip


def _pairs(
    metric: str,
    names: Sequence[str],
    values: np.ndarray,
    compared: Sequence[Pair],
    units: Units,
    margin: float | None,
    seed: int,
) -> tuple[list[tuple[Any, ...]], Family]:
    """The rows of the pairs of a measure, and their family; ``values``: scores, float[systems, turns]."""
    if not compared:
        return [], max_t_family((), values, seed)
    sums, sizes = _differences(values, [(names.index(first), names.index(second)) for first, second in compared], units)
    tests = paired_tests(sums, sizes, seed, units.kind)
    family = max_t_family(tests, sums, seed)
    effects = effect_sizes(sums, sizes, units.kind)
    found = detectable_differences(sums, sizes, units.kind)
    needed = units_needed(effects)
    shared = np.broadcast_to(sizes, sums.shape).sum(axis=1).astype(int).tolist()
    rows = []
    for (first, second), test, corrected, effect, least, many, turns in zip(
        compared, tests, family.p.tolist(), effects, found, needed, shared, strict=True
    ):
        over = f"over the {counted(turns, 'turn')} that both answer" if turns < values.shape[1] else ""
        rows.append((
            first, second, metric, test.value, test.low, test.high, test.p, corrected, test.floor, test.exact,
            effect.value, effect.low, effect.high, least.value, least.low, least.high, *many,
            within_margin(test, margin), joined(over, test.note),
        ))  # fmt: skip
    return rows, family


def _differences(values: np.ndarray, compared: Sequence[tuple[int, int]], units: Units) -> tuple[np.ndarray, np.ndarray]:
    """The sums of the differences of every pair by unit, float[pairs, units], and the turns behind them: those of both."""
    if np.isnan(values).any():
        gaps = np.array([values[first] - values[second] for first, second in compared])
        sums, sizes = units.sums(np.nan_to_num(gaps)), units.sums(~np.isnan(gaps))
    else:
        by_unit, sizes = units.sums(values), units.sizes
        sums = np.array([by_unit[first] - by_unit[second] for first, second in compared])
    # sums that are equal may differ in their last bits
    return np.round(sums, DECIMALS), sizes


def _totals(metric: str, names: Sequence[str], values: np.ndarray) -> list[tuple[Any, ...]]:
    """The rows of a measure that is no mean, the highest first: a total or a geometric mean has no interval."""
    note = "a total over turns: no interval" if metric.startswith(TOTAL) else "a geometric mean over turns: no interval"
    rows = []
    for name, scores in zip(names, values, strict=True):
        own = scores[~np.isnan(scores)]
        rows.append((name, metric, score_of_run(metric, own), np.nan, np.nan, len(own), "", note))
    return sorted(rows, key=lambda row: -row[2])


def _means(
    metric: str, names: Sequence[str], values: np.ndarray, units: Units, bounded: bool, corrected: Mapping[Pair, float]
) -> list[tuple[Any, ...]]:
    """The rows of the means of a measure, best first; ``corrected``: p of all its pairs, for the letters."""
    by_unit, sizes = units.sums(np.nan_to_num(values)), units.sums(~np.isnan(values))
    estimates = mean_estimates(by_unit, sizes, units.kind, (0.0, 1.0) if bounded else None)
    order = sorted(range(len(names)), key=lambda place: -estimates[place].value)
    letters: Sequence[str] = [""] * len(names)
    if corrected:
        rank = {names[place]: position for position, place in enumerate(order)}
        of_ranks = {(min(rank[a], rank[b]), max(rank[a], rank[b])): p for (a, b), p in corrected.items()}
        letters = compact_letters(len(names), told_apart(of_ranks, ALPHA))
    turns = sizes.sum(axis=1).astype(int).tolist()
    return [
        (names[place], metric, one.value, one.low, one.high, turns[place], letters[position], one.note)
        for position, place in enumerate(order) for one in [estimates[place]]
    ]  # fmt: skip
