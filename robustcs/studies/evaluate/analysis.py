"""Means of systems, and every pair compared: intervals, tests, effect sizes, what could be found, what is equivalent.

The unit is the conversation: turns of one conversation depend on each other. docs/statistics.md says how often the intervals
hold and the tests reject.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.measure import TOTAL, is_averaged
from robustcs.evaluation.measures import score_of_run
from robustcs.lazy import pd
from robustcs.result import Evaluated, Result, count, difference, measure, number, p_value, score, table, text
from robustcs.slicing.estimates import against_rest, cells, keys, slices_of
from robustcs.slicing.search import FOUND, found_rows
from robustcs.slicing.table import Slicing
from robustcs.statistics.columns import DETECTABLE, EFFECT, EQUIVALENT, EXACT, P_FLOOR, columns_of, comparisons
from robustcs.statistics.effect import check_margin, units_needed, within_margin
from robustcs.statistics.estimate import joined
from robustcs.statistics.families import Family, letters_of, max_t_family
from robustcs.statistics.means import mean_estimates
from robustcs.statistics.ranks import DECIMALS
from robustcs.statistics.units import Units
from robustcs.wording import counted

#: Places of two systems.
Pair = tuple[int, int]
#: Pairs whose adjusted p is at most this differ significantly.
ALPHA = 0.05
NEEDED = ["units_needed", "units_needed_low", "units_needed_high"]

MEASURES = table(
    "measures", "The mean of every system, best first, with the 95 % interval for other conversations of this kind.",
    text("run", header="Run"), measure(),
    *score("value", "of num_ret and the like a total, of gm_map and gm_bpref a geometric mean, over turns", "mean").between(
        says="null where no interval can be given: note says why"
    ),
    count("turns", "turns that the value goes over"),
    text("letters", "systems that share a letter do not differ significantly; empty where not all pairs are compared", "group"),
    text("note", "what must be known beside the interval"),
)  # fmt: skip
PAIRS = table(
    "pairs",
    "The mean difference of two systems over the turns that both have. No rows for more than 50 systems unless they are asked"
    " for, nor for totals and geometric means.",
    text("first", header="First"), text("second", header="Second"), measure(),
    *difference("difference", "first minus second", "diff.").rounded(3).between(
        says="of this comparison alone, from the test that gives p"
    ),
    p_value(says="sign-flip test of whole units, two-sided", header="p"),
    p_value("p_corrected", "adjusted by max-T over all comparisons of the measure", "p adj."),
    P_FLOOR, EXACT, EFFECT[0].rounded(2), *EFFECT[1:], DETECTABLE,
    number("detectable_low", "95 %: how roughly that is known, as it rests on the same units"), number("detectable_high"),
    count("units_needed", "units that find a true difference as large as this one with 80 % power at .05; null: none would",
          "needed"),
    count("units_needed_low", "95 %, from the interval of the effect; null where that has none"),
    count("units_needed_high", "null: no upper limit, as that interval includes 0, or no interval"),
    EQUIVALENT,
    text("note", "what must be known beside the numbers"),
)  # fmt: skip
TURNS = table(
    "turns", "Every score.", text("run", header="Run"), text("turn", header="Turn"), measure(),
    score("value", "of gm_map and gm_bpref a logarithm"),
)  # fmt: skip


SLICES = table(
    "slices", "The mean of every system within slices of the turns; no rows without --slices.",
    text("run"), measure(), *keys(), score("value", "mean over the turns of the slice", "mean"),
    number("ci_low", "95 %, cluster-robust t over whole units; null below five"), number("ci_high"), *against_rest("mean"),
)  # fmt: skip
FOUND_SLICES = table(
    "found_slices", "Slices found to score lower than the other turns, best first; no rows without --find-slices.",
    text("run"), measure(), *FOUND,
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
        compared = [(place, names.index(baseline)) for place, name in enumerate(names) if name != baseline]
    else:
        compared = list(combinations(range(len(names)), 2)) if every_pair else []
    means, pairs, families = [], [], {}
    for metric in next(iter(scores.values())):
        values = np.stack([scores[name][metric].to_numpy() for name in names])
        if not is_averaged(metric):
            families[metric] = max_t_family((), values, seed)
            means.append(_totals(metric, names, values))
            continue
        rows, families[metric] = _pairs(names, values, compared, units, margin, seed)
        pairs.append(rows.assign(metric=metric))
        corrected = dict(zip(compared, families[metric].p, strict=True)) if baseline is None else {}
        means.append(_means(metric, names, values, units, bounded[metric], corrected))
    turns = [
        frame.rename_axis("turn").melt(var_name="metric", ignore_index=False).reset_index().assign(run=name)
        for name, frame in scores.items()
    ]
    scores = {name: frame[[metric for metric in frame if is_averaged(metric)]] for name, frame in scores.items()}
    found, tried = _found_slices(scores, searched, units, seed) if searched else (FOUND_SLICES.frame([]), {})
    return Evaluation(
        units.stated(evaluated),
        MEASURES.frame(pd.concat(means, ignore_index=True)),
        PAIRS.frame(pd.concat(pairs, ignore_index=True) if pairs else []),
        _slice_means(scores, bounded, slicings, units, seed), found,
        TURNS.frame(pd.concat(turns, ignore_index=True).dropna(subset="value", ignore_index=True)),
        families, baseline, margin, tried,
    )  # fmt: skip


def _pairs(
    names: Sequence[str], values: np.ndarray, compared: Sequence[Pair], units: Units, margin: float | None, seed: int
) -> tuple[pd.DataFrame, Family]:
    """The rows of the pairs of a measure, and their family; ``values``: scores, float[systems, turns]."""
    if not compared:
        return pd.DataFrame(), max_t_family((), values, seed)
    sums, sizes = _differences(values, compared, units)
    frame, tests, effects, (family,) = comparisons(sums, sizes, units.kind, seed)
    shared = np.broadcast_to(sizes, sums.shape).sum(axis=1).astype(int).tolist()
    over = [f"over the {counted(turns, 'turn')} that both answer" if turns < values.shape[1] else "" for turns in shared]
    frame = frame.assign(
        first=[names[first] for first, _ in compared], second=[names[second] for _, second in compared],
        equivalent=pd.array([within_margin(test, margin) for test in tests], dtype="boolean"),
        note=[joined(*notes) for notes in zip(over, frame["note"], strict=True)],
    )  # fmt: skip
    return frame.join(pd.DataFrame(units_needed(effects), columns=NEEDED, dtype="Int64")), family


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


def _totals(metric: str, names: Sequence[str], values: np.ndarray) -> pd.DataFrame:
    """The rows of a measure that is no mean, the highest first: a total or a geometric mean has no interval."""
    note = "a total over turns: no interval" if metric.startswith(TOTAL) else "a geometric mean over turns: no interval"
    own = [scores[~np.isnan(scores)] for scores in values]
    found = [score_of_run(metric, scores) for scores in own]
    frame = pd.DataFrame({"run": names, "metric": metric, "value": found, "turns": list(map(len, own))})
    return frame.assign(ci_low=np.nan, ci_high=np.nan, letters="", note=note).sort_values(
        "value", ascending=False, kind="stable"
    )


def _means(
    metric: str,
    names: Sequence[str],
    values: np.ndarray,
    units: Units,
    bounded: bool,
    corrected: Mapping[tuple[int, int], float],
) -> pd.DataFrame:
    """The rows of the means of a measure, best first; ``corrected``: p of all its pairs, for the letters."""
    by_unit, sizes = units.sums(np.nan_to_num(values)), units.sums(~np.isnan(values))
    means = columns_of(mean_estimates(by_unit, sizes, units.kind, (0.0, 1.0) if bounded else None), "value", note="note")
    letters = letters_of(means["value"], corrected, ALPHA) if corrected else ""
    frame = pd.DataFrame({"run": names, "metric": metric, **means, "turns": sizes.sum(axis=1).astype(int), "letters": letters})
    return frame.sort_values("value", ascending=False, kind="stable")


def _slice_means(
    scores: Mapping[str, pd.DataFrame], bounded: Mapping[str, bool], slicings: Sequence[Slicing], units: Units, seed: int
) -> pd.DataFrame:
    """The table :data:`SLICES` of every system and measure."""
    rows: list[tuple[Any, ...]] = []
    for name, frame in scores.items() if slicings else ():
        own = [one for one in slicings if one.concerns(name)]
        for metric in frame:
            bounds = (0.0, 1.0) if bounded[metric] else None
            rows_of = frame[metric].notna().to_numpy()
            cut = [replace(one, codes=one.codes[rows_of]) for one in own]
            for one in slices_of(frame[metric].dropna().to_numpy(), cut, units.take(rows_of), seed, bounds=bounds):
                mean = one.own
                rows.append((name, metric, one.slicing, one.name, one.turns, mean.value, mean.low, mean.high, *cells(one)))
    return SLICES.frame(rows)


def _found_slices(
    scores: Mapping[str, pd.DataFrame], slicings: Sequence[Slicing], units: Units, seed: int
) -> tuple[pd.DataFrame, dict[str, int]]:
    """The table :data:`FOUND_SLICES`, and how many rules were tried of every measure, over all systems together and the turns
    that all of them have.

    Raises :class:`UsageError` where there are too few units.
    """
    measures = list(next(iter(scores.values())))
    common = np.all([frame.notna().all(axis=1) for frame in scores.values()], axis=0)
    values = {metric: np.stack([frame.loc[common, metric].to_numpy() for frame in scores.values()]) for metric in measures}
    cut = [replace(one, codes=one.codes[common]) for one in slicings]
    rows, tried = found_rows(list(scores), values, cut, units.take(common), seed)
    return FOUND_SLICES.frame(rows), tried
