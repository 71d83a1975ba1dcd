"""Compute unjudged shares (Tables 12 and 13 of the ECAsT paper) and how much scores could change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from robustcs.evaluation import holes
from robustcs.evaluation.bounds import (
    ROUNDING,
    PairMeasure,
    Scope,
    condensed,
    measure_bounds,
    rbp_residual,
    run_pairs,
)
from robustcs.evaluation.extremes import BOUNDED, LARGEST
from robustcs.evaluation.grade_sources import SOURCES, sources_of_runs
from robustcs.evaluation.groups import Group
from robustcs.evaluation.hole_expectation import (
    DROPS,
    EXPECTED,
    FilledHoles,
    contrasts,
    expected_drops,
)
from robustcs.evaluation.hole_tipping import TIPPING, tipping
from robustcs.evaluation.holes import GradesByPair, JudgedRun
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.measures import Scores, score_columns
from robustcs.inputs.qrels import Qrels
from robustcs.lazy import npt, pd
from robustcs.policy import EvaluationPolicy
from robustcs.result import (
    Evaluated,
    Result,
    Table,
    computes,
    count,
    difference,
    flag,
    measure,
    score,
    share,
    table,
    text,
)
from robustcs.slicing.estimates import against_rest, cells, keys, slices_of
from robustcs.slicing.table import Slicing
from robustcs.statistics import Floats
from robustcs.statistics.units import Units

#: Note on qrels in which no judged passage is below the relevance level.
ONLY_RELEVANT = (
    "The qrels contain relevant passages only. The judged share of a top k is therefore its precision; it does not measure how"
    " complete the judgments are."
)


@dataclass(frozen=True)
class Settings:
    """Settings of the analysis.

    depth
        k of the unjudged shares. Measures use their own cutoffs.
    scope
        Unjudged passages that get grades for the bounds; see :mod:`robustcs.evaluation.bounds`.
    max_grade
        The highest grade that an unjudged passage could get.
    groups
        Group → names of its runs. A passage is unique if only one of them retrieves it.
    compared
        Returns group → the baseline and the runs whose mean is compared with it; few tables need it.
    pairs
        Whether all pairs of runs are compared. Their number grows with the square of the number of runs.
    tipped
        Whether tipping points are computed for all pairs and not only for ``compared``.
    selection
        How passages were selected for judging; see :attr:`robustcs.project.model.Project.qrels_selection`.
    positives
        Whether the qrels contain relevant passages only. A judged share is then a precision.
    """

    depth: int
    scope: Scope
    max_grade: int
    groups: Mapping[str, Sequence[str]]
    compared: Callable[[], Mapping[str, Group]] = dict
    pairs: bool = True
    tipped: bool = False
    selection: str = "pool"
    positives: bool = False


@dataclass(frozen=True)
class Unjudged(Result):
    """Unjudged passages and their effect on scores.

    gaps
        What the tables are computed from.

    In tables with ``unjudged`` and ``retrieved``, ``share`` is the unjudged share of the retrieved passages.

    warnings
        Limits of the expected differences, shown with them.
    """

    study = "unjudged"
    rates = holes.RATES
    bounds = table(
        "bounds", "Lowest and highest score that grades of unjudged passages could give.",
        text("system", header="System"), measure(),
        score("low", "null for bpref, the judged share, and measures that only trec_eval computes", "lowest"), score("score"),
        score("high", header="highest"),
        score("condensed", "score after unjudged passages are removed from the ranking"),
        score("residual", "weight of the unjudged ranks and of those after the end of the lists; null for other measures than"
              " RBP"),
        count("unjudged", "unjudged passages in the scope, over all turns"), count("turns", "turns with unjudged passages"),
        text("scope", "unjudged passages that get grades: cutoff (within the cutoff of the measure), run or pool"),
        count("max_grade", "highest grade that an unjudged passage could get"),
        flag("exact", "true if some grades reach low and high; false without bounds"),
    )  # fmt: skip
    pairs = table(
        "pairs", "Lowest and highest difference of two runs; a passage that both retrieve has one grade in both."
        " No rows for measures without bounds, nor for more than 50 runs unless requested.",
        measure(), text("first", header="First"), text("second", header="Second"),
        difference("difference", "first − second"),
        difference("low", "lower bound over all grades of the unjudged passages in the scope: of the two runs (pool: of all"
                   " runs)"),
        difference("high", "upper bound"),
        flag("separable", "true if the bounds exclude 0: the same run is better under all these grades"),
        flag("exact", "false for MAP: the true bounds may be narrower, and more pairs may be separable"),
        *EXPECTED,
    )  # fmt: skip
    measured = table(
        "measured", "Measured drop from a baseline to the sets of a group; unjudged passages count as not relevant.",
        text("group", "a group, or a formulation compared with Human", "Group"), measure(),
        text("baseline"), count("sets", "number of sets"), score("baseline_score"), score("score", "mean of the sets"),
        difference("drop", "baseline − mean of the sets"), share("baseline_unjudged", "unjudged share of the baseline's top k"),
        share("unjudged", "mean unjudged share of the top k of the sets"),
        difference("low", "lower bound of the drop over all grades of the unjudged passages in the scope: mean over the sets,"
                   " each compared with the baseline separately; null if pairs were not compared"),
        difference("high", "upper bound of the drop"),
    )  # fmt: skip
    drops = DROPS
    tipping = TIPPING
    unique = holes.UNIQUE
    grades = holes.LATER_GRADES
    qrels = holes.GRADES
    sources = SOURCES
    ranks = table(
        "ranks",
        "Unjudged passages by rank, 1 to 100.",
        text("system", header="System"),
        count("rank"),
        *holes.SHARES,
    )
    slices = table(
        "slices", "Unjudged share of the top k of every run by slice of the turns; no rows without --slices.",
        text("system"), *keys(), count("retrieved"), count("unjudged"),
        *share("share", "unjudged of retrieved", "unjudged").between(
            says="95% Wilson interval, clustered by unit; null for fewer than five units"
        ),
        *against_rest("share"),
    )  # fmt: skip

    settings: Settings
    gaps: Gaps
    warnings: tuple[str, ...] = ()

    @computes(rates)
    def _rates(self) -> Table:
        return holes.rates(self.gaps.runs, self.settings.depth, self.gaps.later)

    @computes(bounds)
    def _bounds(self) -> list[tuple[Any, ...]]:
        return self.gaps.bounds()

    @computes(pairs)
    def _pairs(self) -> list[pd.DataFrame]:
        return self.gaps.pairs()

    @computes(measured)
    def _measured(self) -> list[tuple[Any, ...]]:
        return measured_drops(self.bounds, self.rates, self.pairs, self.settings.compared())

    @computes(drops)
    def _drops(self) -> pd.DataFrame:
        return self.gaps.expected[1]

    @computes(tipping)
    def _tipping(self) -> pd.DataFrame:
        return self.gaps.tipping()

    @computes(unique)
    def _unique(self) -> Table:
        return holes.unique_holes(self.gaps.runs, self.settings.groups)

    @computes(grades)
    def _grades(self) -> pd.DataFrame:
        return holes.later_grades(self.gaps.runs, self.gaps.later)

    @computes(qrels)
    def _qrels(self) -> pd.DataFrame:
        return holes.grades_of(self.gaps.qrels)

    @computes(sources)
    def _sources(self) -> list[tuple[Any, ...]]:
        own = self.gaps
        level = own.policy.relevance_level
        files = own.qrels.name, own.new, own.judges
        return [*sources_of_runs(own.runs, self.settings.depth, level, *files)]

    @computes(ranks)
    def _ranks(self) -> pd.DataFrame:
        return holes.rates_by_rank(self.gaps.runs)

    @computes(slices)
    def _slices(self) -> list[tuple[Any, ...]]:
        return self.gaps.slices()


@dataclass
class Gaps:
    """Inputs of the tables. Each table is computed when it is first used.

    runs
        The runs, all on the same turns. Document ids are known to the depth :func:`ranks_of_pairs`.
    later
        Grades of new judgments. Only those of unjudged passages are used.
    filled
        The same runs and measures with drawn grades for unjudged passages.
    slicings
        How the turns are split. ``units`` are their sampling units.
    new, judges
        Name → grades, of every file of new judgments and of every judge.
    """

    runs: Sequence[JudgedRun]
    qrels: Qrels
    measures: Sequence[Measure]
    policy: EvaluationPolicy
    settings: Settings
    later: GradesByPair | None = None
    filled: FilledHoles | None = None
    slicings: Sequence[Slicing] = ()
    units: Units | None = None
    seed: int = 0
    new: Mapping[str, GradesByPair] = field(default_factory=dict)
    judges: Mapping[str, GradesByPair] = field(default_factory=dict)

    @cached_property
    def _bounded(self) -> list[Measure]:
        return [measure for measure in self.measures if measure.family in BOUNDED]

    def bounds(self) -> list[tuple[Any, ...]]:
        """Return the rows of the table ``bounds``."""
        settings = self.settings
        pool = self._side_by_side[1] if settings.scope == "pool" else None
        rows: list[tuple[Any, ...]] = []
        for run in self.runs:
            dense = score_columns(condensed(run.matrix), self.measures, self.policy)
            for metric in self.measures:
                low = high = residual = np.nan
                unjudged = turns = None
                bounded = metric.family in BOUNDED
                if bounded:
                    found = measure_bounds(
                        run.matrix, metric, self.policy, settings.max_grade, settings.scope, pool
                    )
                    low, high, now = found.low.mean(), found.high.mean(), found.score
                    unjudged, turns = int(found.unjudged.sum()), int((found.unjudged > 0).sum())
                    if metric.family == "rbp":
                        residual = rbp_residual(run.matrix, metric, self.policy).mean()
                else:
                    now = score_columns(run.matrix, [metric], self.policy)[metric.name]
                rows.append((
                    run.name, metric.name, low, now.mean(), high, dense[metric.name].mean(), residual, unjudged, turns,
                    settings.scope, settings.max_grade, bounded,
                ))  # fmt: skip
        return rows

    @cached_property
    def _side_by_side(self) -> tuple[Scores | None, npt.NDArray[np.int64] | None]:
        """Mean low, difference and high of every pair and measure with bounds, and the unjudged passages of the pool by turn.

        The first is float64[M, 3, P], or None if pairs are not compared. The second is int64[T] if the scope is pool, else
        None.
        """
        settings, measures = self.settings, self._bounded
        needed = ranks_of_pairs(measures, settings.scope)
        compared, pooled = settings.pairs and bool(measures), settings.scope == "pool"
        widths = [run.matrix.grades.shape[1] for run in self.runs]
        assert not compared or all(
            one.ranks >= min(wide, needed or wide)
            for one, wide in zip(self.runs, widths, strict=True)
        )
        pools, means, turns = [], [], len(self.runs[0].matrix.turns)
        for some in holes.stretches(self.runs) if compared or pooled else ():
            numbers, tops = holes.passage_numbers(some), [run.top for run in some]
            pool = holes.pool_holes(some, numbers) if pooled else None
            pools += [pool] if pool is not None else []
            if compared:
                scored = [
                    PairMeasure(tops, measure, self.policy, settings.max_grade, settings.scope)
                    for measure in measures
                ]
                found = [
                    np.stack([one.means(pairs) for one in scored])
                    for pairs in run_pairs(tops, numbers, pool)
                ]
                means.append(
                    np.concatenate([np.zeros((len(scored), 3, 0)), *found], axis=2)
                    * (len(tops[0].turns) / turns)
                )
        return np.sum(means, axis=0) if compared else None, np.concatenate(
            pools
        ) if pooled else None

    @cached_property
    def expected(self) -> tuple[dict[str, Floats], pd.DataFrame]:
        """The expected differences of all pairs by measure, and the table ``drops``."""
        names = [run.name for run in self.runs]
        return expected_drops(
            names, self.measures, self.settings.compared(), self.filled, self.settings.pairs
        )

    def pairs(self) -> list[pd.DataFrame]:
        """Return frames of the table ``pairs``."""
        names, means = (
            np.array([run.name for run in self.runs], dtype=object),
            self._side_by_side[0],
        )
        first, second = (names[places] for places in np.triu_indices(len(names), 1))
        # the model assumes pooling; with another selection it estimates pairs only on request
        expected = (
            self.expected[0] if self.settings.selection == "pool" or self.settings.tipped else {}
        )
        nothing = np.full((len(first), len(EXPECTED)), np.nan)
        frames = []
        for metric, (low, middle, high) in zip(
            self._bounded, () if means is None else means, strict=means is not None
        ):
            parts = {"metric": metric.name, "first": first, "second": second, "difference": middle, "low": low, "high": high,
                     "separable": (low > ROUNDING) | (high < -ROUNDING), "exact": metric.family in LARGEST}  # fmt: skip
            probably = expected.get(metric.name, nothing).T
            frames.append(
                pd.DataFrame(
                    parts | dict(zip((one.name for one in EXPECTED), probably, strict=True))
                )
            )
        return frames

    def tipping(self) -> pd.DataFrame:
        """Return the table ``tipping``."""
        settings = self.settings
        family = contrasts([run.name for run in self.runs], settings.compared(), settings.pairs)
        tipped = (
            family[: None if settings.tipped else 0]
            or family[len(family) - len(settings.compared()) :]
        )
        return tipping(self.filled, {measure.name: tipped for measure in self.measures}, family)

    def slices(self) -> list[tuple[Any, ...]]:
        """Return the rows of the table ``slices``. Turns without passages have weight 0."""
        rows: list[tuple[Any, ...]] = []
        for run in self.runs if self.units is not None else ():
            assert self.units is not None
            retrieved, unjudged = holes.counts_of(run.matrix.grades[:, : self.settings.depth])
            own = [one for one in self.slicings if one.concerns(run.name)]
            for one in slices_of(
                [unjudged], own, self.units, self.seed, shares=True, weights=retrieved
            )[0]:
                hits = round(one.estimate.value * one.weight) if one.weight else 0
                found = (
                    int(one.weight),
                    hits,
                    one.estimate.value,
                    one.estimate.low,
                    one.estimate.high,
                )
                rows.append((run.name, one.slicing, one.name, one.turns, *found, *cells(one)))
        return rows


def unjudged(gaps: Gaps, evaluated: Evaluated) -> Unjudged:
    """Return the unjudged passages of the runs, how much they could change scores, and how much they probably do."""
    warnings = gaps.filled.warnings if gaps.filled else ()
    return Unjudged(evaluated, gaps.settings, gaps, warnings)


def ranks_of_pairs(measures: Sequence[Measure], scope: Scope) -> int | None:
    """Return the depth to which ids of unjudged passages are needed to bound pairs of runs; None for all ranks."""
    bounded = [measure for measure in measures if measure.family in BOUNDED]
    if scope == "cutoff" and all(measure.cutoff for measure in bounded):
        return max((measure.cutoff or 0 for measure in bounded), default=0)
    return None


def measured_drops(
    bounds: pd.DataFrame, rates: pd.DataFrame, pairs: pd.DataFrame, compared: Mapping[str, Group]
) -> list[tuple[Any, ...]]:
    """Return the rows of the table ``measured``, from the other tables, for the groups in ``compared`` whose runs all have"
    " bounds."""
    shares = rates.set_index("system")["share"]
    rows: list[tuple[Any, ...]] = []
    for metric, part in bounds[bounds["low"].notna()].groupby("metric", sort=False):
        scores = part.set_index("system")["score"]
        ends = {
            (row.first, row.second): (row.low, row.high)
            for row in pairs[pairs["metric"] == metric].itertuples()
        }
        ends |= {(second, first): (-high, -low) for (first, second), (low, high) in ends.items()}
        # a baseline may be one of its own sets
        ends |= {(run, run): (0.0, 0.0) for run in scores.index}
        for name, group in compared.items():
            runs, baseline = list(group.sets), group.baseline
            if {baseline, *runs} <= set(scores.index):
                low, high = np.mean(
                    [ends.get((baseline, run), (np.nan, np.nan)) for run in runs], axis=0
                ).tolist()
                mean = float(scores[runs].mean())
                rows.append((
                    name, metric, baseline, len(runs), scores[baseline], mean, scores[baseline] - mean, shares[baseline],
                    float(shares[runs].mean()), low, high,
                ))  # fmt: skip
    return rows
