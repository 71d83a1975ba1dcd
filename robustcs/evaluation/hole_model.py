"""The hole model: grades of unjudged passages, learned from the judged ones, and draws of grades from it.

A grade is reached in stages, from each level to the next with a probability of its own (continuation ratio); see
:mod:`~robustcs.evaluation.hole_stages`. A later stage has the turn's level in the previous stage as a feature. Every draw
draws new parameters (shared coefficients from a t distribution, because their prior variances are estimated), and then a grade
for every unjudged passage, the same in all runs. Logits are recalibrated on hidden judged passages with ranks like those of the
unjudged ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.hole_features import PairFeatures, pair_features, regraded, run_groups
from robustcs.evaluation.hole_recalibration import Recalibration, recalibration
from robustcs.evaluation.hole_stages import StageFit, fit_stage
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.run_pool import NEVER, Grades, RunPool
from robustcs.statistics import Codes, Floats, Mask, logistic

#: The model learns from judged passages to this rank, or to :data:`_DEEPER` times the deepest rank to predict.
_LEARNED, _DEEPER = 20, 3
#: Share of the learned passages above the depth from which the model extrapolates, and the error beyond it (per log rank).
_WITHIN, _BEYOND = 0.98, 0.5
#: Standard deviation of the error of a run's slope that all turns share. The true curve is not a line in the log rank, and even
#: many judged passages do not show how much it deviates for unjudged ones.
_MISFIT = 0.1
#: Degrees of freedom of shared coefficients.
_FREEDOM = 5
#: Number of repetitions for the recalibration, and the share of judged passages that each hides.
_HIDINGS, _HIDDEN = 4, 0.25
#: Number of parameter draws over which grade probabilities are averaged.
_AVERAGED = 64
#: Logits processed together, and those that fit in the processor's cache.
_CELLS, _CACHED = 2_000_000, 20_000
#: Number of turns above which variances, the recalibration, the check and tipping points are computed from a part of the data:
#: this many random turns, or fewer draws. The docs page ``holes.md`` describes how far results may differ.
MANY_TURNS = 1000
#: Last ranks of the bands in which hidden passages are distributed like the unjudged ones.
_BANDS = (1, 2, 3, 5, 10, 20, 50, 100)


@dataclass(frozen=True, eq=False)
class HoleModel:
    """A fitted model and the unjudged passages that it predicts.

    levels
        int16[L]: the judged grades, ascending; grades below 0 count as 0.
    holes
        The H unjudged pairs that get grades; :attr:`pairs`.
    judged
        The judged pairs from which the model learned; ``values`` (int16[n]): their grades.
    sampled
        bool[T]: the turns from which variances and the recalibration were estimated: all, or, of those with judged pairs,
        :data:`MANY_TURNS` at random.
    stages
        L − 1 fits, from each level to the next.
    recalibration
        The correction of drawn logits.
    limit
        The log rank beyond which the model extrapolates.
    groups
        The group of every run.
    """

    levels: Grades
    holes: PairFeatures
    judged: PairFeatures
    values: Grades
    sampled: Mask
    stages: tuple[StageFit, ...]
    recalibration: Recalibration
    limit: float
    groups: tuple[int, ...]
    turns: int
    seed: int

    @property
    def pairs(self) -> Codes:
        """int64[H]: the unjudged pairs of the pool, by turn and document id."""
        return self.holes.pairs

    def enough_draws(self, most: int, least: int) -> int:
        """Return ``most``, or in proportion fewer draws if more than :data:`MANY_TURNS` turns have unjudged passages."""
        return max(least, most * MANY_TURNS // max(len(np.unique(self.holes.turns)), MANY_TURNS))

    def draws(
        self, grades: Grades, count: int, size: int, pairs: Codes | slice | None = None
    ) -> Iterator[Grades]:
        """Yield ``count`` sets of grades in batches of at most ``size``: int16[≤ size, N + 1], for :meth:`RunPool.score`.

        Draw d depends only on the seed and on d. Other passages keep their grades. ``pairs``: :attr:`pairs` in a part of the
        pool, of which ``grades`` are.
        """
        pairs = self.pairs if pairs is None else pairs
        step = max(1, _CELLS // max(len(self.holes), 1))
        for first in range(0, count, step):
            drawn = self.kept(range(first, min(first + step, count))).grades(1)
            for start in range(0, len(drawn), max(size, 1)):
                some = drawn[start : start + max(size, 1)]
                sets = np.tile(grades, (len(some), 1))
                sets[:, pairs] = some
                yield sets

    def kept(self, draws: Sequence[int]) -> KeptDraws:
        """Return the ``draws`` with these numbers in a form that allows multiplying their odds."""
        generators = [np.random.default_rng([self.seed, number]) for number in draws]
        against = self._logits(generators)
        with np.errstate(over="ignore"):
            np.exp(np.negative(against, out=against), out=against)
        return KeptDraws(
            self.levels,
            against,
            np.stack([generator.random(len(self.holes)) for generator in generators]),
        )

    def probabilities(self) -> Floats:
        """Return float64[H, L]: the probability of every level for every passage, averaged over parameter draws."""
        total = np.zeros((len(self.stages), len(self.holes)))
        step = max(1, _CELLS // max(len(self.holes), 1))
        for first in range(0, _AVERAGED, step):
            some = range(first, min(first + step, _AVERAGED))
            logits = self._logits([np.random.default_rng([self.seed, number]) for number in some])
            total += np.cumprod(logistic(logits), axis=0).sum(axis=1)
        reached = np.vstack(
            [np.ones(len(self.holes)), total / _AVERAGED, np.zeros(len(self.holes))]
        )
        # equal on all processors, so that sums of them are as well; the error of the draws is a million times larger
        return np.asarray((reached[:-1] - reached[1:]).T).round(9)

    def _logits(self, generators: Sequence[np.random.Generator]) -> Floats:
        """Return float64[L − 1, draws, H]: the logits of reaching the next level, by stage."""
        holes, draws = self.holes, len(generators)
        turns, starts, counts = np.unique(holes.turns, return_index=True, return_counts=True)
        # turns with equally many holes are computed together: their places in ``turns``, and their holes
        groups = [
            (some, starts[some][:, None] + np.arange(count))
            for count in np.unique(counts).tolist() for some in [np.flatnonzero(counts == count)]
        ]  # fmt: skip
        beyond = np.maximum(0, holes.log_best - self.limit)
        widths = np.array(
            [np.sqrt(_FREEDOM / generator.chisquare(_FREEDOM)) for generator in generators]
        )
        corrections = np.stack([self.recalibration.draw(generator) for generator in generators])
        found = np.empty((len(self.stages), draws, len(holes)))
        for number, stage in enumerate(self.stages):
            noise = (
                np.stack([generator.standard_normal(len(stage.beta)) for generator in generators])
                * widths[:, None]
            )
            off = noise @ np.linalg.inv(stage.precision)
            roots = np.linalg.cholesky(stage.turn_covariance[turns])
            drawn = np.stack(
                [
                    generator.standard_normal((len(turns), roots.shape[1]))
                    for generator in generators
                ]
            )
            # (turns, q, draws): the turns' coefficients, given the shared ones
            turn = stage.turn[turns][:, :, None] + roots @ drawn.transpose(1, 2, 0)
            turn -= (stage.pull[turns].reshape(-1, off.shape[1]) @ off.T).reshape(turn.shape)
            turn[:, 1:] += np.stack(
                [generator.normal(0, _MISFIT, drawn.shape[2] - 1) for generator in generators],
                axis=1,
            )
            deeper = np.array([[generator.normal(0, _BEYOND)] for generator in generators])
            shared, own = np.split(
                np.hstack([stage.beta + off, deeper]), [holes.fixed.shape[1]], axis=1
            )
            # as in :func:`carried`, without a copy of the features
            others = [
                *(before.turn[holes.turns, 0] for before in self.stages[:number][-1:]),
                beyond,
            ]
            logits = shared @ holes.fixed.T + own @ np.stack(others)
            by_turn = np.empty((len(holes), draws))
            for some, rows in groups:
                by_turn[rows] = holes.varying[rows] @ turn[some]
            logits += by_turn.T
            found[number] = self.recalibration.apply(corrections, logits, holes.height)
        return found


@dataclass(frozen=True, eq=False)
class KeptDraws:
    """Draws of a model whose odds can be multiplied. All factors use the same random numbers, so grades only rise with them.

    levels
        int16[L]: the grades.
    against, rolled
        float64[L − 1, D, H]: odds against reaching the next level, by stage. float64[D, H]: random numbers that are compared
        with the probabilities.
    """

    levels: Grades
    against: Floats
    rolled: Floats

    def grades(self, factor: float) -> Grades:
        """Return int16[D, H]: grades with the odds of every stage multiplied by ``factor``."""
        grades = np.full(self.rolled.shape, self.levels[0])
        step = max(1, _CACHED // max(self.rolled.shape[1], 1))
        with np.errstate(over="ignore", invalid="ignore"):
            for rows in (slice(first, first + step) for first in range(0, len(grades), step)):
                rolled = self.rolled[rows]
                for against, rise in zip(self.against[:, rows], np.diff(self.levels), strict=True):
                    # the chance of reaching a level is 1 / Π (1 + odds against it / factor)
                    rolled = rolled * (1 + against / factor)
                    grades[rows] += (rolled < 1) * rise
        return grades


def fit_hole_model(
    pool: RunPool,
    grades: Grades,
    depth: int | None = None,
    groups: Sequence[int] | None = None,
    seed: int = 0,
) -> HoleModel | None:
    """Fit the model to the judged passages of the runs, for the unjudged ones in the top ``depth`` of any run (None: all).

    ``groups`` (one number per run) states which runs come from one team, ranker or rewriter; if None, they are guessed
    (:func:`~robustcs.evaluation.hole_features.run_groups`). Returns None if there are no unjudged passages.

    Raises :class:`UsageError` if the judged passages have fewer than two grades or none has grade 0: qrels with relevant
    passages only do not show what other passages look like.
    """
    best = pool.best_ranks().min(axis=0, initial=NEVER)
    last = NEVER - 1 if depth is None else depth
    holes = np.flatnonzero((grades[:-1] == UNJUDGED) & (best <= last))
    if not len(holes):
        return None
    groups = run_groups(pool) if groups is None else tuple(groups)
    learned = min(max(_LEARNED, _DEEPER * int(best[holes].max())), NEVER - 1)
    judged = pair_features(
        pool, np.flatnonzero((grades[:-1] > UNJUDGED) & (best <= learned)), grades, groups
    )
    values = np.maximum(grades[judged.pairs], 0)
    levels = np.unique(values)
    if len(levels) < 2:
        raise UsageError(
            "one-grade",
            f"the judged passages in the top {learned} of the runs all have one grade" if len(levels) and learned < NEVER - 1
            else f"no passage in the top {learned} of the runs is judged" if learned < NEVER - 1
            else "the judged passages of the runs have fewer than two grades",
            "judge further passages",
        )  # fmt: skip
    if levels[0] > 0:
        raise UsageError(
            "one-grade", "no judged passage of the runs has grade 0: the qrels contain relevant passages only",
            "judge passages that are not relevant",
        )  # fmt: skip
    learned_from = np.unique(judged.turns)
    sampled = np.ones(len(pool.turns), dtype=bool)
    if len(learned_from) > MANY_TURNS:
        sampled[np.random.default_rng(seed).permutation(learned_from)[MANY_TURNS:]] = False
    if len(np.unique(values[sampled[judged.turns]])) < len(levels):
        sampled[:] = True  # a grade is too rare for a sample
    some = sampled[judged.turns]
    few, own = judged.take(some), values[some]
    stages = fit_stages(few, own, levels, len(pool.turns))
    unjudged = pair_features(pool, holes, grades, groups)
    logits, outcomes, heights, turns = [], [], [], []
    rng = np.random.default_rng(seed)
    for _ in range(_HIDINGS):
        hidden = hide(few, unjudged, _HIDDEN, rng)
        known, unknown = split(pool, few, hidden, grades)
        refitted = fit_stages(known, own[~hidden], levels, len(pool.turns), stages)
        for number, stage in enumerate(refitted):
            there = own[hidden] >= levels[number]
            features = carried(unknown, refitted[:number]).take(there)
            logits.append(stage.logits(features))
            outcomes.append(own[hidden][there] >= levels[number + 1])
            heights.append(features.height)
            turns.append(features.turns)
    return HoleModel(
        levels=levels,
        holes=unjudged,
        judged=judged,
        values=values,
        sampled=sampled,
        stages=stages
        if some.all()
        else fit_stages(judged, values, levels, len(pool.turns), stages),
        recalibration=recalibration(*map(np.concatenate, (logits, outcomes, heights, turns))),
        limit=float(np.quantile(judged.log_best, _WITHIN)),
        groups=groups,
        turns=len(pool.turns),
        seed=seed,
    )


def fit_stages(
    features: PairFeatures,
    values: Grades,
    levels: Grades,
    turns: int,
    starts: Sequence[StageFit] | None = None,
) -> tuple[StageFit, ...]:
    """Return a fit for each step from a level to the next, on the pairs whose grade (``values``) reaches the lower one."""
    stages: tuple[StageFit, ...] = ()
    for number, (lower, upper) in enumerate(zip(levels[:-1], levels[1:], strict=True)):
        reached = values >= lower
        start = None if starts is None else starts[number]
        known = carried(features, stages).take(reached)
        stages = (*stages, fit_stage(known, values[reached] >= upper, turns, start))
    return stages


def carried(features: PairFeatures, before: Sequence[StageFit]) -> PairFeatures:
    """Return the features of the next stage, which include the turn's level in the previous stage."""
    return features.with_column(before[-1].turn[features.turns, 0]) if before else features


def hide(judged: PairFeatures, holes: PairFeatures, share: float, rng: np.random.Generator) -> Mask:
    """Return a mask of a random ``share`` of the judged pairs, with best ranks distributed like those of ``holes``."""
    bands, wanted = (np.searchsorted(_BANDS, features.best) for features in (judged, holes))
    size = len(_BANDS) + 1
    weights = np.bincount(wanted, minlength=size) / np.maximum(
        np.bincount(bands, minlength=size), 1
    )
    # exponential variates by weight: the smallest are a weighted sample without replacement
    clocks = rng.exponential(size=len(judged)) / np.maximum(weights[bands], 1e-300)
    possible = int((weights[bands] > 0).sum())
    hidden = np.zeros(len(judged), dtype=bool)
    hidden[np.argsort(clocks, kind="stable")[: min(int(share * len(judged)), possible)]] = True
    return hidden


def split(
    pool: RunPool, judged: PairFeatures, hidden: Mask, grades: Grades
) -> tuple[PairFeatures, PairFeatures]:
    """Return the features of the known and of the hidden judged pairs, without the grades of the ``hidden`` ones."""
    left = grades.copy()
    left[judged.pairs[hidden]] = UNJUDGED
    features = regraded(pool, judged, left)
    return features.take(~hidden), features.take(hidden)
