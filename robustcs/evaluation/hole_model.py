"""The hole model: grades of unjudged passages, learned from the judged ones, and draws of them.

A grade is reached in stages, from each level to the next with a probability of its own
(continuation ratio); see :mod:`~robustcs.evaluation.hole_stages`. A later stage has the turn's
level in the previous stage as a feature. Every draw draws new parameters (shared coefficients from
a t distribution, because their prior variances are estimated), and then a grade for every unjudged
passage, the same in all runs. Logits are recalibrated on hidden judged passages with ranks like
those of the unjudged ones.

Shapes: L levels, T turns, N pairs of the pool, and H unjudged pairs (holes) that get grades.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.hole_features import PairFeatures, pair_features, regraded, run_groups
from robustcs.evaluation.hole_recalibration import Recalibration, recalibration
from robustcs.evaluation.hole_stages import StageFit, fit_stage
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.run_pool import NEVER, Grades, RunPool
from robustcs.statistics import Codes, Floats, Mask, logistic

#: The deepest rank that a passage can have.
_DEEPEST_RANK = NEVER - 1
#: The model learns from judged passages to this rank, or to :data:`_DEEPER` times the deepest rank
#: to predict.
_LEARNED, _DEEPER = 20, 3
#: Share of the learned passages above the depth from which the model extrapolates.
_WITHIN = 0.98
#: Standard deviation of the error of a logit beyond that depth, per log rank.
_BEYOND = 0.5
#: Standard deviation of the error of a run's slope that all turns share. The true curve is not a
#: line in the log rank, and even many judged passages do not show how much it deviates for unjudged
#: ones.
_MISFIT = 0.1
#: Degrees of freedom of shared coefficients.
_FREEDOM = 5
#: Number of repetitions for the recalibration, and the share of judged passages that each hides.
_HIDINGS, _HIDDEN = 4, 0.25
#: Number of parameter draws over which grade probabilities are averaged.
_AVERAGED = 64
#: Decimals of these probabilities, which are then equal on all processors, as are sums of them. The
#: error of the draws is a million times larger.
_DECIMALS = 9
#: Logits processed together, which limits the memory.
_CELLS = 2_000_000
#: Grades processed together: few enough for the processor's cache.
_CACHED = 20_000
#: Number of turns above which variances, the recalibration, the check and tipping points are
#: computed from a part of the data: this many random turns, or fewer draws. The docs page
#: ``holes.md`` describes how far results may differ.
MANY_TURNS = 1000
#: Last ranks of the bands in which hidden passages are distributed like the unjudged ones.
_BANDS = (1, 2, 3, 5, 10, 20, 50, 100)
#: Stands for a weight of 0 as a divisor.
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class HoleModel:
    """A fitted model and the unjudged passages that it predicts.

    levels
        int16[L]: the judged grades, ascending; grades below 0 count as 0.
    holes
        The H unjudged pairs that get grades; :attr:`pairs`.
    judged
        The judged pairs from which the model learned.
    values
        int16[n]: their grades.
    sampled
        bool[T]: the turns from which variances and the recalibration were estimated: all, or, of
        those with judged pairs, :data:`MANY_TURNS` at random.
    stages
        L − 1 fits, from each level to the next.
    recalibration
        The correction of drawn logits.
    limit
        The log rank beyond which the model extrapolates.
    groups
        The group of every run.
    turns
        T.
    seed
        Seed of the draws.
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
        """Return ``most``, or fewer draws if more than :data:`MANY_TURNS` turns have holes.

        The number then falls in proportion to these turns, down to ``least``.
        """
        turns = len(np.unique(self.holes.turns))
        return max(least, most * MANY_TURNS // max(turns, MANY_TURNS))

    def draws(
        self, grades: Grades, count: int, size: int, pairs: Codes | slice | None = None
    ) -> Iterator[Grades]:
        """Yield ``count`` sets of grades in batches of at most ``size``, for :meth:`RunPool.score`.

        A batch is int16[≤ size, N + 1]. Draw d depends only on the seed and on d. Other passages
        keep their ``grades``. ``pairs``: the places of :attr:`pairs` in a part of the pool, if
        ``grades`` are those of the part.
        """
        pairs = self.pairs if pairs is None else pairs
        size = max(size, 1)
        for numbers in self._together(count):
            drawn = self.kept(numbers).grades(1)
            for start in range(0, len(drawn), size):
                batch = drawn[start : start + size]
                sets = np.tile(grades, (len(batch), 1))
                sets[:, pairs] = batch
                yield sets

    def kept(self, draws: Sequence[int]) -> KeptDraws:
        """Return the draws with these numbers in a form that allows multiplying their odds."""
        generators = [np.random.default_rng([self.seed, number]) for number in draws]
        logits = self._logits(generators)
        # odds against are exp(−logit); in place, because these are the largest arrays
        against = np.negative(logits, out=logits)
        with np.errstate(over="ignore"):
            np.exp(against, out=against)
        rolled = np.stack([generator.random(len(self.holes)) for generator in generators])
        return KeptDraws(self.levels, against, rolled)

    def probabilities(self) -> Floats:
        """Return float64[H, L]: the probability of every level, averaged over parameter draws."""
        total = np.zeros((len(self.stages), len(self.holes)))
        for numbers in self._together(_AVERAGED):
            generators = [np.random.default_rng([self.seed, number]) for number in numbers]
            # a passage reaches a level if it goes on in this stage and in all before
            reaching = np.cumprod(logistic(self._logits(generators)), axis=0)
            total += reaching.sum(axis=1)
        certain, impossible = np.ones(len(self.holes)), np.zeros(len(self.holes))
        reaching = np.vstack([certain, total / _AVERAGED, impossible])
        return np.asarray((reaching[:-1] - reaching[1:]).T).round(_DECIMALS)

    def _together(self, count: int) -> Iterator[range]:
        """Yield the numbers of ``count`` draws, as many at a time as fit in memory."""
        step = max(1, _CELLS // max(len(self.holes), 1))
        for first in range(0, count, step):
            yield range(first, min(first + step, count))

    def _logits(self, generators: Sequence[np.random.Generator]) -> Floats:
        """Return float64[L − 1, draws, H]: the logits of reaching the next level, by stage.

        Every draw has its own generator, which is left where the next numbers of the draw start.
        """
        holes = self.holes
        turns, of_equal_size = _turns_of(holes)
        # the divisors of a t distribution, the same for the coefficients of all stages
        scales = np.array([np.sqrt(_FREEDOM / draw.chisquare(_FREEDOM)) for draw in generators])
        corrections = np.stack([self.recalibration.draw(draw) for draw in generators])
        beyond = np.maximum(0, holes.log_best - self.limit)
        logits = np.empty((len(self.stages), len(generators), len(holes)))
        for number, stage in enumerate(self.stages):
            drawn = _drawn_stage(stage, turns, scales, generators)
            # features that are no columns of the holes, which would have to be copied to add them
            further = [beyond]
            if number:
                # see carried()
                further.insert(0, self.stages[number - 1].turn[holes.turns, 0])
            columns = holes.fixed.shape[1]
            of_further = np.hstack([drawn.beta[:, columns:], drawn.beyond])
            shared = drawn.beta[:, :columns] @ holes.fixed.T + of_further @ np.stack(further)

            by_turn = np.empty((len(holes), len(generators)))
            for places, rows in of_equal_size:
                by_turn[rows] = holes.varying[rows] @ drawn.turn[places]
            shared += by_turn.T
            logits[number] = self.recalibration.apply(corrections, shared, holes.height)
        return logits


class _EqualTurns(NamedTuple):
    """Turns with equally many holes, which are computed together.

    places
        int64[t]: their places among the turns with holes.
    rows
        int64[t, m]: the m holes of each.
    """

    places: Codes
    rows: Codes


def _turns_of(holes: PairFeatures) -> tuple[Codes, list[_EqualTurns]]:
    """Return the turns with holes, ascending, and these turns by their number of holes."""
    turns, starts, counts = np.unique(holes.turns, return_index=True, return_counts=True)
    of_equal_size = []
    for count in np.unique(counts).tolist():
        places = np.flatnonzero(counts == count)
        of_equal_size.append(_EqualTurns(places, starts[places][:, None] + np.arange(count)))
    return turns, of_equal_size


class _DrawnStage(NamedTuple):
    """Coefficients of a stage in D draws.

    beta
        float64[D, p]: shared ones.
    turn
        float64[t, q, D]: those of the turns with holes.
    beyond
        float64[D, 1]: change of the logit per log rank beyond the limit of the model.
    """

    beta: Floats
    turn: Floats
    beyond: Floats


def _drawn_stage(
    stage: StageFit, turns: Codes, scales: Floats, generators: Sequence[np.random.Generator]
) -> _DrawnStage:
    """Draw the coefficients of a stage; ``scales``: float64[D], the factors of the shared ones.

    Numbers depend on the order in which they are taken from a generator: shared coefficients,
    those of turns, the misfit of slopes, and the error beyond the limit.
    """
    p, q = len(stage.beta), stage.turn.shape[1]
    normal = np.stack([draw.standard_normal(p) for draw in generators])
    beta_change = (normal * scales[:, None]) @ np.linalg.inv(stage.precision)

    normal = np.stack([draw.standard_normal((len(turns), q)) for draw in generators])
    roots = np.linalg.cholesky(stage.turn_covariance[turns])
    turn = stage.turn[turns][:, :, None] + roots @ normal.transpose(1, 2, 0)
    # coefficients of turns follow the shared ones
    turn -= (stage.pull[turns].reshape(-1, p) @ beta_change.T).reshape(turn.shape)
    misfits = [draw.normal(0, _MISFIT, q - 1) for draw in generators]
    turn[:, 1:] += np.stack(misfits, axis=1)

    beyond = np.array([[draw.normal(0, _BEYOND)] for draw in generators])
    return _DrawnStage(stage.beta + beta_change, turn, beyond)


@dataclass(frozen=True, eq=False)
class KeptDraws:
    """D draws of a model whose odds can be multiplied.

    All factors use the same random numbers, so grades only rise with them.

    levels
        int16[L]: the grades.
    against
        float64[L − 1, D, H]: odds against reaching the next level, by stage.
    rolled
        float64[D, H]: uniform random numbers that are compared with the probabilities. One number
        serves all stages: a passage reaches a level if its number is below the product of the
        probabilities so far.
    """

    levels: Grades
    against: Floats
    rolled: Floats

    def grades(self, factor: float) -> Grades:
        """Return int16[D, H]: grades with the odds of every stage multiplied by ``factor``."""
        grades = np.full(self.rolled.shape, self.levels[0])
        rises = np.diff(self.levels)
        step = max(1, _CACHED // max(self.rolled.shape[1], 1))
        with np.errstate(over="ignore", invalid="ignore"):
            for first in range(0, len(grades), step):
                rows = slice(first, first + step)
                # the chance of reaching a level is 1 / Π (1 + odds against it / factor)
                rolled = self.rolled[rows]
                for against, rise in zip(self.against[:, rows], rises, strict=True):
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
    """Fit the model to the judged passages of the runs. None if there are no unjudged passages.

    grades
        int16[N + 1]: the judgments.
    depth
        The model predicts the unjudged passages in the top ``depth`` of any run (None: all).
    groups
        One number per run states which runs come from one team, ranker or rewriter; if None, they
        are guessed (:func:`~robustcs.evaluation.hole_features.run_groups`).

    Raises :class:`UsageError` if the judged passages have fewer than two grades or none has grade
    0: qrels with relevant passages only do not show what other passages look like.
    """
    best = pool.best_ranks().min(axis=0, initial=NEVER)
    deepest = _DEEPEST_RANK if depth is None else depth
    unjudged = np.flatnonzero((grades[:-1] == UNJUDGED) & (best <= deepest))
    if not len(unjudged):
        return None
    groups = run_groups(pool) if groups is None else tuple(groups)
    learned_depth = min(max(_LEARNED, _DEEPER * int(best[unjudged].max())), _DEEPEST_RANK)
    learned = np.flatnonzero((grades[:-1] > UNJUDGED) & (best <= learned_depth))
    judged = pair_features(pool, learned, grades, groups)
    values = np.maximum(grades[judged.pairs], 0)
    levels = np.unique(values)
    _check_levels(levels, learned_depth)

    turns = len(pool.turns)
    sampled = _sampled_turns(judged.turns, values, turns, seed)
    in_sample = sampled[judged.turns]
    sample, sample_values = judged.take(in_sample), values[in_sample]
    stages = fit_stages(sample, sample_values, levels, turns)
    holes = pair_features(pool, unjudged, grades, groups)
    correction = _recalibrated(
        pool, grades, sample, sample_values, holes, levels, stages, np.random.default_rng(seed)
    )
    if not in_sample.all():
        stages = fit_stages(judged, values, levels, turns, stages)
    return HoleModel(
        levels=levels,
        holes=holes,
        judged=judged,
        values=values,
        sampled=sampled,
        stages=stages,
        recalibration=correction,
        limit=float(np.quantile(judged.log_best, _WITHIN)),
        groups=groups,
        turns=turns,
        seed=seed,
    )


def _check_levels(levels: Grades, learned_depth: int) -> None:
    """Raise :class:`UsageError` if there is nothing to learn from; ``levels``: judged grades."""
    if len(levels) < 2:
        if learned_depth == _DEEPEST_RANK:
            problem = "the judged passages of the runs have fewer than two grades"
        elif len(levels):
            problem = (
                f"the judged passages in the top {learned_depth} of the runs all have one grade"
            )
        else:
            problem = f"no passage in the top {learned_depth} of the runs is judged"
        raise UsageError("one-grade", problem, "judge further passages")
    if levels[0] > 0:
        raise UsageError(
            "one-grade",
            "no judged passage of the runs has grade 0: the qrels contain relevant passages only",
            "judge passages that are not relevant",
        )


def _sampled_turns(judged_turns: Codes, values: Grades, turns: int, seed: int) -> Mask:
    """Return bool[T]: the turns from which variances and the recalibration are estimated.

    ``judged_turns``, ``values``: the turns and grades of the judged pairs.
    """
    sampled = np.ones(turns, dtype=bool)
    with_judged = np.unique(judged_turns)
    if len(with_judged) <= MANY_TURNS:
        return sampled
    sampled[np.random.default_rng(seed).permutation(with_judged)[MANY_TURNS:]] = False
    if len(np.unique(values[sampled[judged_turns]])) < len(np.unique(values)):
        sampled[:] = True  # a grade is too rare for a sample
    return sampled


class _Predictions(NamedTuple):
    """Hidden pairs that reached a stage, with the arguments of :func:`recalibration`."""

    logits: Floats
    went_on: Mask
    height: Floats
    turns: Codes


def _recalibrated(
    pool: RunPool,
    grades: Grades,
    judged: PairFeatures,
    values: Grades,
    holes: PairFeatures,
    levels: Grades,
    stages: Sequence[StageFit],
    rng: np.random.Generator,
) -> Recalibration:
    """Hide a part of the ``judged`` pairs several times and compare predictions with ``values``.

    ``stages``: the fit to all of them, whose variances are kept.
    """
    predictions = []
    for _ in range(_HIDINGS):
        hidden = hide(judged, holes, _HIDDEN, rng)
        known, unknown = split(pool, judged, hidden, grades)
        refitted = fit_stages(known, values[~hidden], levels, len(pool.turns), stages)
        truth = values[hidden]
        for number, stage in enumerate(refitted):
            reached = truth >= levels[number]
            went_on = truth[reached] >= levels[number + 1]
            features = carried(unknown, refitted[:number]).take(reached)
            predictions.append(
                _Predictions(stage.logits(features), went_on, features.height, features.turns)
            )
    return recalibration(
        logits=np.concatenate([of_stage.logits for of_stage in predictions]),
        went_on=np.concatenate([of_stage.went_on for of_stage in predictions]),
        height=np.concatenate([of_stage.height for of_stage in predictions]),
        turns=np.concatenate([of_stage.turns for of_stage in predictions]),
    )


def fit_stages(
    features: PairFeatures,
    values: Grades,
    levels: Grades,
    turns: int,
    starts: Sequence[StageFit] | None = None,
) -> tuple[StageFit, ...]:
    """Return a fit for each step from a level to the next, on the pairs that reach the lower one.

    values
        int16[n]: the grades of the pairs.
    levels
        int16[L].
    turns
        T.
    starts
        Fits to nearly the same pairs: see :func:`~robustcs.evaluation.hole_stages.fit_stage`.
    """
    stages: tuple[StageFit, ...] = ()
    for number, (lower, upper) in enumerate(zip(levels[:-1], levels[1:], strict=True)):
        reached = values >= lower
        start = None if starts is None else starts[number]
        known = carried(features, stages).take(reached)
        stages = (*stages, fit_stage(known, values[reached] >= upper, turns, start))
    return stages


def carried(features: PairFeatures, before: Sequence[StageFit]) -> PairFeatures:
    """Return the features of the next stage, which include the turn's level in the previous stage.

    ``before``: the stages so far; none for the first stage.
    """
    return features.with_column(before[-1].turn[features.turns, 0]) if before else features


def hide(judged: PairFeatures, holes: PairFeatures, share: float, rng: np.random.Generator) -> Mask:
    """Return a mask of a random ``share`` of the judged pairs, bool[n].

    Their best ranks are distributed like those of ``holes``.
    """
    judged_bands = np.searchsorted(_BANDS, judged.best)
    hole_bands = np.searchsorted(_BANDS, holes.best)
    bands = len(_BANDS) + 1
    judged_counts = np.bincount(judged_bands, minlength=bands)
    weights = np.bincount(hole_bands, minlength=bands) / np.maximum(judged_counts, 1)
    weight = weights[judged_bands]
    # exponential waiting times by weight: the shortest are a weighted sample without replacement
    waiting = rng.exponential(size=len(judged)) / np.maximum(weight, _TINY)
    size = min(int(share * len(judged)), int((weight > 0).sum()))
    hidden = np.zeros(len(judged), dtype=bool)
    hidden[np.argsort(waiting, kind="stable")[:size]] = True
    return hidden


def split(
    pool: RunPool, judged: PairFeatures, hidden: Mask, grades: Grades
) -> tuple[PairFeatures, PairFeatures]:
    """Return the features of the known and of the hidden judged pairs.

    Both are computed without the grades of the ``hidden`` ones (bool[n]). ``grades``: int16[N + 1],
    all judgments.
    """
    known_grades = grades.copy()
    known_grades[judged.pairs[hidden]] = UNJUDGED
    features = regraded(pool, judged, known_grades)
    return features.take(~hidden), features.take(hidden)
