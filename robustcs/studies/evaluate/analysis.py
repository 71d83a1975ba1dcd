"""Means of systems and comparisons of pairs: intervals, tests, effect sizes, power and equivalence.

The sampling unit is the conversation, because turns of one conversation depend on each other. docs/statistics.md reports the
coverage of the intervals and the error rates of the tests.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from robustcs.errors import refuse_unknown
from robustcs.evaluation.measure import TOTAL, is_averaged
from robustcs.evaluation.measures import TurnScores, score_of_run
from robustcs.evaluation.missing_scores import Bounded, MissingScores, bounded_comparisons
from robustcs.lazy import pd
from robustcs.result import (
    Evaluated,
    Result,
    computes,
    count,
    difference,
    measure,
    number,
    p_value,
    score,
    share,
    table,
    text,
)
from robustcs.slicing.estimates import against_rest, cells, keys, slices_of
from robustcs.slicing.search import FOUND, found_rows
from robustcs.slicing.table import Slicing
from robustcs.statistics.columns import (
    DETECTABLE,
    EFFECT,
    EQUIVALENT,
    EXACT,
    P_FLOOR,
    Comparisons,
    check_margin,
    comparisons,
    units_needed,
    within_margin,
)
from robustcs.statistics.estimate import Tested, joined
from robustcs.statistics.families import Family, max_t_family
from robustcs.statistics.letters import letters_of
from robustcs.statistics.means import is_binary, score_estimates
from robustcs.statistics.units import Units
from robustcs.studies.evaluate.missing import common_turns, missing_notes
from robustcs.wording import counted, system_name

if TYPE_CHECKING:
    from robustcs.evaluation.collection_fit import CollectionFit

#: Positions of two systems.
Pair = tuple[int, int]
#: Pairs whose adjusted p is at most this differ significantly.
ALPHA = 0.05
NEEDED = ["units_needed", "units_needed_low", "units_needed_high"]


@dataclass(frozen=True)
class ScoredSystems:
    """What the slow tables are computed from.

    scores
        System → scores on the same turns; ``units`` are the sampling units of the turns.
    averaged
        The same for the measures that are means over turns, on the turns in these means.
    bounded, slicings, seed
        As in :func:`evaluate`.
    tested
        Measure → the compared pairs. ``pairs`` are their comparisons.
    bounds
        Measure → the comparisons with missing scores at the ends of the range.
    """

    scores: Mapping[str, TurnScores]
    averaged: Mapping[str, TurnScores]
    bounded: Mapping[str, bool]
    slicings: Sequence[Slicing]
    units: Units
    seed: int
    tested: Mapping[str, Sequence[Pair]]
    pairs: Mapping[str, Comparisons]
    bounds: Mapping[str, Bounded]


@dataclass(frozen=True)
class Evaluation(Result):
    """Scores of systems over the same turns, and comparisons of pairs.

    scored
        What the slow tables are computed from.
    families
        Measure → the family of its pairs.
    compared
        Measure → the compared systems → the test of their difference with its adjusted p, as in the table of pairs. That table
        takes longer to compute, because of the effect sizes.
    margin
        Systems are equivalent if their difference is within ± this margin; None without a test of equivalence.
    tried
        Measure → number of rules tried in the search for slices; empty without a search.
    misfits
        In words, what of the judgments does not fit the collection; empty if they fit.
    unordered
        Whether the judgments cannot order some systems, because they differ by these misfits.
    ranked_alike
        Systems with the same ranking of every turn as the first of those with the same scores (``equal`` of the measures).
    """

    study = "evaluate"

    measures = table(
        "measures", "The mean of every system, highest first, with its 95% CI.",
        text("system", header="System"), measure(),
        *score("value", "mean over turns; a total for num_ret and the like, a geometric mean for gm_map and gm_bpref",
               "mean").between(says="95% CI: cluster-robust t interval; null if there is none (note says why)"),
        count("turns", "turns in the mean; if scores of files are missing, the turns with scores from all systems"),
        text("letters", "systems that share a letter do not differ significantly; empty unless all pairs are compared, and for"
             " systems that answer less than half of the turns", "group"),
        text("equal", "first system with the same score on every turn; empty if there is no other"),
        text("note", "caveats"),
        count("missing", "missing scores of a file"),
        score("lowest", "mean over all turns with missing scores at the lower end of the range; null if none is missing"),
        score("highest", "the same at the upper end"),
    )  # fmt: skip
    pairs = table(
        "pairs",
        "The mean difference of two systems over the turns that both answer. No rows for totals and geometric means, and for"
        " systems with the same score on every turn; for more than 50 systems on request.",
        text("first", header="First"), text("second", header="Second"), measure(),
        *difference("difference", "first − second", "diff.").rounded(3).between(
            says="95% CI, not adjusted, from the same test as p"
        ),
        p_value(says="sign-flip test on sampling units, two-sided", header="p"),
        p_value("p_corrected", "adjusted by max-T over all comparisons of the measure; if scores of files are missing, the"
                " largest p with them at either end of the range, and 1 if the sign depends on them", "p adj."),
        P_FLOOR, EXACT, EFFECT[0].rounded(2), *EFFECT[1:], DETECTABLE,
        count("units_needed", "units that detect a true difference as large as this one with 80% power at .05; null: no number"
              " of units does", "needed"),
        count("units_needed_low", "95% CI, from the interval of the effect; null without one"),
        count("units_needed_high", "null: no upper limit, because that interval includes 0, or no interval"),
        EQUIVALENT,
        text("note", "caveats"),
        difference("lowest", "over all turns with missing scores at the ends of the range; null if none is missing"),
        difference("highest"),
    )  # fmt: skip
    slices = table(
        "slices", "The mean of every system by slice; no rows without --slices.",
        text("system"), measure(), *keys(), score("value", "mean over the turns of the slice", "mean"),
        number("ci_low", "95% CI: cluster-robust t interval; null for fewer than five units"), number("ci_high"),
        *against_rest("mean"),
    )  # fmt: skip
    found_slices = table(
        "found_slices", "Slices that score lower than the other turns, lowest p first; no rows without --find-slices.",
        text("system"), measure(), *FOUND,
    )  # fmt: skip
    fit = table(
        "fit", "How far the judgments fit the collection; no rows without a collection, or if they fit.",
        text("system", "empty: all judgments", "System"),
        count("judged", "judgments, or judged passages in the top 10 of a system"),
        count("lacking", "judgments of passages that the collection does not contain", "missing"),
        count("twins", "unjudged passages of the top 10 with the text of one that is judged for the turn", "other id"),
        share("share", "missing or twins, out of judged + twins"),
    )  # fmt: skip
    turns = table(
        "turns", "Score of every turn.", text("system", header="System"), text("turn", header="Turn"), measure(),
        score("value", "a logarithm for gm_map and gm_bpref"),
    )  # fmt: skip

    scored: ScoredSystems
    families: Mapping[str, Family]
    compared: Mapping[str, Mapping[tuple[str, str], Tested]]
    baseline: str | None
    margin: float | None
    tried: Mapping[str, int] = field(default_factory=dict)
    misfits: tuple[str, ...] = ()
    unordered: bool = False
    ranked_alike: frozenset[str] = frozenset()

    @computes(pairs)
    def _pairs(self) -> list[pd.DataFrame]:
        return _pairs(self.scored, self.margin, self.evaluated)

    @computes(slices)
    def _slices(self) -> list[tuple[Any, ...]]:
        return _slice_means(self.scored)

    @computes(turns)
    def _turns(self) -> dict[str, list[Any]]:
        return _turns(self.scored.scores)


def evaluate(
    scores: Mapping[str, TurnScores],
    bounded: Mapping[str, bool],
    units: Units,
    evaluated: Evaluated,
    baseline: str | None = None,
    margin: float | None = None,
    seed: int = 0,
    slicings: Sequence[Slicing] = (),
    searched: Sequence[Slicing] = (),
    every_pair: bool = True,
    fit: CollectionFit | None = None,
) -> Evaluation:
    """Compare systems by their mean scores.

    scores
        System → scores on the same turns; NaN for a turn that the system does not answer, and for a missing score.
    bounded
        Measure → whether it lies between 0 and 1; if so, its intervals do too.
    units
        The sampling units of the turns.
    baseline
        The system that all others are compared with. None compares every pair if ``every_pair``, the earlier system first.
    margin
        Equivalence margin; None for no test of equivalence.
    seed
        Random seed of sign patterns, which are drawn if there are too many to try all.
    slicings
        How the turns are split.
    searched
        Slicings in which to search for slices with lower scores.
    fit
        How far the judgments fit the collection; systems that differ by it are not compared.

    Raises :class:`UsageError` for an unknown baseline, for a margin that is not above 0, and if there are too few units to
    search for slices.
    """
    names = list(scores)
    refuse_unknown([] if baseline is None else [baseline], names, "run")
    check_margin(margin)
    if baseline is not None:
        compared = [
            (place, names.index(baseline)) for place, name in enumerate(names) if name != baseline
        ]
    else:
        compared = list(combinations(range(len(names)), 2)) if every_pair else []
    ordered = [
        pair for pair in compared if fit is None or not fit.apart(*(names[place] for place in pair))
    ]
    unordered, compared = len(ordered) < len(compared), ordered
    means: list[tuple[Any, ...]] = []
    pairs: dict[str, Comparisons] = {}
    bounds: dict[str, Bounded] = {}
    tested: dict[str, list[Pair]] = {}
    families: dict[str, Family] = {}
    given = np.array([evaluated.basis == "scores" or name in evaluated.as_given for name in names])
    averaged = {name: one.only(filter(is_averaged, one)) for name, one in scores.items()}
    unscored = []
    for metric in next(iter(scores.values())):
        values = np.stack([scores[name][metric] for name in names])
        missing = MissingScores(values, np.isnan(values) & given[:, None])
        alike = _alike(values)
        tested[metric] = [pair for pair in compared if alike[pair[0]] != alike[pair[1]]]
        if tested[metric] and is_averaged(metric):
            pairs[metric] = comparisons(
                *_differences(values, tested[metric], units), units.kind, seed
            )
            if missing:
                bounds[metric] = bounded_comparisons(
                    pairs[metric], missing, tested[metric], units, seed
                )
                pairs[metric] = bounds[metric].comparisons
        families[metric] = (
            pairs[metric].families[0] if metric in pairs else max_t_family((), values, seed)
        )
        unscored += missing_notes(metric, names, missing)
        if not is_averaged(metric):
            means += _totals(metric, names, values, missing)
            continue
        if missing and not evaluated.own_turns:
            values = np.where(common_turns(metric, values), values, np.nan)
            for name, own in zip(names, values, strict=True):
                averaged[name][metric] = own
        corrected = (
            dict(zip(tested[metric], families[metric].p, strict=True))
            if baseline is None and not unordered
            else {}
        )
        equal = [names[first] if alike.count(first) > 1 else "" for first in alike]
        means += _means(
            metric, names, values, units, bounded[metric], corrected, equal, missing, evaluated
        )
    evaluated = replace(evaluated, notes=(*evaluated.notes, *unscored))
    found, tried = _found_slices(averaged, searched, units, seed) if searched else ([], {})
    told = {metric: _tests(names, tested[metric], one) for metric, one in pairs.items()}
    scored = ScoredSystems(scores, averaged, bounded, slicings, units, seed, tested, pairs, bounds)
    lacks = _fit(fit) if fit and not fit.fits else ()
    content = Evaluation.built(measures=means, found_slices=found, fit=lacks)
    return Evaluation(
        units.stated(evaluated),
        scored,
        families,
        told,
        baseline,
        margin,
        tried,
        unordered=unordered,
        content=content,
    )


def _fit(fit: CollectionFit) -> list[tuple[Any, ...]]:
    """Return the rows of :data:`Evaluation.fit`."""
    return [("", fit.judged, fit.lacking, None, fit.share),
            *((name, top.judged, None, top.twins, top.share) for name, top in fit.tops.items())]  # fmt: skip


def means_of(result: Evaluation) -> list[str]:
    """Return the measures that are means over turns; only they have intervals and pairs."""
    return [metric for metric in result.families if is_averaged(metric)]


def _turns(scores: Mapping[str, TurnScores]) -> dict[str, list[Any]]:
    """Return the columns of :data:`Evaluation.turns`; turns without a score are left out."""
    columns: dict[str, list[Any]] = {"system": [], "turn": [], "metric": [], "value": []}
    for name, one in scores.items():
        for metric, values in one.items():
            there = np.flatnonzero(~np.isnan(values))
            columns["system"] += [name] * len(there)
            columns["turn"] += [one.turns[place] for place in there]
            columns["metric"] += [metric] * len(there)
            columns["value"] += values[there].tolist()
    return columns


def _alike(values: np.ndarray) -> list[int]:
    """Return for each system the first one with the same score on every turn; ``values``: float[systems, turns]."""
    first: dict[bytes, int] = {}
    return [first.setdefault(row.tobytes(), place) for place, row in enumerate(values + 0.0)]


def _tests(
    names: Sequence[str], compared: Sequence[Pair], found: Comparisons
) -> dict[tuple[str, str], Tested]:
    """Return the tests of pairs by the names of their systems, with the adjusted p."""
    adjusted = zip(compared, found.tests, found.corrected, strict=True)
    return {
        (names[first], names[second]): replace(test, p=p) for (first, second), test, p in adjusted
    }


def _pairs(scored: ScoredSystems, margin: float | None, evaluated: Evaluated) -> list[pd.DataFrame]:
    """Return the rows of :data:`Evaluation.pairs` by measure."""
    names, bounds = list(scored.scores), scored.bounds
    frames, turns = [], len(scored.units.codes)
    few = {name: f"{_few_note(name, evaluated)} by {system_name(name)}" for name in evaluated.few}
    for metric, one in scored.pairs.items():
        compared = scored.tested[metric]
        limits = [joined(*(few.get(names[place], "") for place in pair)) for pair in compared]
        shared = np.broadcast_to(one.sizes, one.sums.shape).sum(axis=1).astype(int).tolist()
        over = [
            f"over the {counted(number, 'turn')} that both answer" if number < turns else ""
            for number in shared
        ]
        frame = one.frame.assign(
            first=[names[first] for first, _ in compared], second=[names[second] for _, second in compared], metric=metric,
            equivalent=pd.array([within_margin(test, margin) for test in one.tests], dtype="boolean"),
            note=[joined(*some) for some in zip(over, one.columns["note"], limits, strict=True)], lowest=np.nan, highest=np.nan,
        )  # fmt: skip
        if metric in bounds:
            low, high = bounds[metric].lowest, bounds[metric].highest
            frame = frame.assign(lowest=low, highest=high)
            if margin is not None:
                frame["equivalent"] &= (low >= -margin) & (high <= margin)
        frames.append(frame.join(pd.DataFrame(units_needed(one.effects), columns=NEEDED)))
    return frames


def _differences(
    values: np.ndarray, compared: Sequence[tuple[int, int]], units: Units
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums of differences by pair and unit, float[pairs, units], and the number of turns that both answer."""
    if np.isnan(values).any():
        gaps = np.array([values[first] - values[second] for first, second in compared])
        sums, sizes = units.sums(np.nan_to_num(gaps)), units.sums(~np.isnan(gaps))
    else:
        by_unit, sizes = units.sums(values), units.sizes
        sums = np.array([by_unit[first] - by_unit[second] for first, second in compared])
    return sums, sizes


def _totals(
    metric: str, names: Sequence[str], values: np.ndarray, missing: MissingScores
) -> list[tuple[Any, ...]]:
    """Return the rows of a total or geometric mean, highest first; they have no intervals."""
    note = (
        "a total over turns: no interval"
        if metric.startswith(TOTAL)
        else "a geometric mean over turns: no interval"
    )
    own = [scores[~np.isnan(scores)] for scores in values]
    rows = [(name, metric, score_of_run(metric, one), np.nan, np.nan, len(one), "", "", note, lost, np.nan, np.nan)
            for name, one, lost in zip(names, own, missing.missing.sum(axis=1).tolist(), strict=True)]  # fmt: skip
    return sorted(rows, key=lambda row: (math.isnan(row[2]), -row[2]))


def _means(
    metric: str,
    names: Sequence[str],
    values: np.ndarray,
    units: Units,
    bounded: bool,
    corrected: Mapping[Pair, float],
    equal: Sequence[str],
    missing: MissingScores,
    evaluated: Evaluated,
) -> list[tuple[Any, ...]]:
    """Return the means of a measure, highest first.

    corrected
        Adjusted p of all its pairs, for the letters.
    equal
        For each system the first of those with the same scores, or nothing.
    """
    means, turns = score_estimates(values, units, bounded), (~np.isnan(values)).sum(axis=1).tolist()
    left_out = [place for place, name in enumerate(names) if name in evaluated.few]
    letters = letters_of([one.value for one in means], corrected, ALPHA, left_out)
    low, high = missing.means() if missing else (np.full(len(names), np.nan),) * 2
    lost = missing.missing.sum(axis=1).tolist()
    rows = [
        (
            name,
            metric,
            one.value,
            one.low,
            one.high,
            number,
            group,
            same,
            joined(one.note, _few_note(name, evaluated)),
            *more,
        )
        for name, one, number, group, same, *more in zip(
            names, means, turns, letters, equal, lost, low.tolist(), high.tolist(), strict=True
        )
    ]
    return sorted(rows, key=lambda row: (math.isnan(row[2]), -row[2]))


def _few_note(name: str, evaluated: Evaluated) -> str:
    """Return how many turns a system answers if they are less than half."""
    if name not in evaluated.few:
        return ""
    return f"only {evaluated.few[name]} of {counted(evaluated.turns, 'turn')} answered"


def _slice_means(scored: ScoredSystems) -> list[tuple[Any, ...]]:
    """Return the rows of :data:`Evaluation.slices` for every system and measure."""
    units, seed = scored.units, scored.seed
    rows: list[tuple[Any, ...]] = []
    for name, by_metric in scored.averaged.items() if scored.slicings else ():
        own = [one for one in scored.slicings if one.concerns(name)]
        for metric, values in by_metric.items():
            bounds = (0.0, 1.0) if scored.bounded[metric] else None
            rows_of = ~np.isnan(values)
            cut = [replace(one, codes=one.codes[rows_of]) for one in own]
            shares = bounds is None and is_binary(values)
            for one in slices_of(
                [values[rows_of]], cut, units.take(rows_of), seed, shares=shares, bounds=bounds
            )[0]:
                mean = one.estimate
                rows.append(
                    (
                        name,
                        metric,
                        one.slicing,
                        one.name,
                        one.turns,
                        mean.value,
                        mean.low,
                        mean.high,
                        *cells(one),
                    )
                )
    return rows


def _found_slices(
    scores: Mapping[str, TurnScores], slicings: Sequence[Slicing], units: Units, seed: int
) -> tuple[list[Any], dict[str, int]]:
    """Return the rows of :data:`Evaluation.found_slices` and, per measure, the number of rules tried over all systems together.

    The search covers the turns that all systems answer. Raises :class:`UsageError` if there are too few units.
    """
    measures = list(next(iter(scores.values())))
    every = {metric: np.stack([one[metric] for one in scores.values()]) for metric in measures}
    common = np.all(
        [
            np.ones(len(units.codes), bool),
            *(~np.isnan(table).any(axis=0) for table in every.values()),
        ],
        axis=0,
    )
    values = {metric: table[:, common] for metric, table in every.items()}
    cut = [replace(one, codes=one.codes[common]) for one in slicings]
    return found_rows(list(scores), values, cut, units.take(common), seed)
