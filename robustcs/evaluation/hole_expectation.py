"""Expected differences with the unjudged passages filled in, with one interval for sampling and unjudged passages.

The hole model draws grades for the unjudged passages in the top :data:`FILLED_DEPTH` of all runs, the same in all of them. Each
draw gives every run a score in every turn, and so every difference. Their mean is the expected difference. Its interval for
similar conversations covers both the unknown grades and the sample of conversations (:mod:`robustcs.statistics.completed`). Also
computed: the interval of the draws for these turns, and the share of the measured difference expected to be due to unjudged
passages, 1 − expected / measured, by draws. p is adjusted for all differences of a family.

Limits of the hole model are shown with its numbers: warnings from the judgments, and a test on hidden judgments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from robustcs.evaluation.groups import UNKNOWN_SOURCES, Group, RunSources
from robustcs.evaluation.hole_features import found_alone
from robustcs.evaluation.hole_model import HoleModel, fit_hole_model, fit_stages, hide, split
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.run_pool import Grades, RunPool
from robustcs.lazy import pd
from robustcs.policy import EvaluationPolicy
from robustcs.result import count, difference, measure, number, p_value, share, table, text
from robustcs.statistics import Floats, Mask, quotient, settled
from robustcs.statistics.completed import completed_family, completed_intervals
from robustcs.statistics.estimate import CONFIDENCE
from robustcs.statistics.ranks import DECIMALS
from robustcs.statistics.units import Units
from robustcs.wording import counted, verb

#: Unjudged passages down to this rank of any run get grades. This is the usual depth of a pool.
FILLED_DEPTH = 10
#: Number of draws of grades, and the least number for very many turns.
DRAWS, LEAST_DRAWS = 200, 100

#: Columns of an expected difference, in the order of :meth:`FilledHoles.differences`.
EXPECTED = (
    *difference("expected", f"mean over the hole model's draws of grades for unjudged passages in the top {FILLED_DEPTH} of all"
                " runs; null without draws").between(
        "expected_low", "expected_high",
        "95% CI for similar conversations: sampling and unjudged passages; null below six units, or if few of them differ",
    ),
    difference("holes_low", "95% of the draws: unjudged passages only, on these turns"),
    difference("holes_high"),
    *share("hole_share", "share of the measured difference expected to be due to unjudged passages, on these turns; null"
           " if its 95% CI exceeds 0 to 1", "unjudged").between("hole_share_low", "hole_share_high", "95% of the draws"),
    p_value("expected_p", "p of no difference on similar conversations, by max-T over the draws, adjusted for all pairs of"
            " systems and all groups of the measure; null below five units"),
)  # fmt: skip


DROPS = table(
    "drops", "Expected mean drop from a baseline to the sets of a group. No rows without draws.",
    text("group", "a group, or a formulation compared with Human", "Group"), measure(),
    text("baseline"), count("sets", "number of sets"), number("drop", "baseline − mean of the sets").rounded(4), *EXPECTED,
)  # fmt: skip


@dataclass(frozen=True)
class Contrast:
    """A difference between the mean of the runs ``first`` and the mean of the runs ``second``, given by number."""

    names: tuple[str, str]
    first: tuple[int, ...]
    second: tuple[int, ...]

    def weights(self, runs: int) -> Floats:
        """Return float64[R]: the weight of every run; a run on both sides counts on both."""
        found = np.zeros(runs)
        np.add.at(found, list(self.first), 1 / len(self.first))
        np.add.at(found, list(self.second), -1 / len(self.second))
        return found


def contrasts(
    names: Sequence[str], compared: Mapping[str, Group], pairs: bool
) -> tuple[Contrast, ...]:
    """Return every pair of the runs ``names`` (if ``pairs``), then the drop of each group in ``compared``.

    Their p-values form one family for each measure.
    """
    every = (
        [Contrast((names[a], names[b]), (a,), (b,)) for a, b in combinations(range(len(names)), 2)]
        if pairs
        else []
    )
    place = {name: at for at, name in enumerate(names)}
    drops = [
        Contrast(
            (group.baseline, name),
            (place[group.baseline],),
            tuple(place[one] for one in group.sets),
        )
        for name, group in compared.items()
    ]
    return (*every, *drops)


@dataclass(frozen=True, eq=False)
class Scoring:
    """How the runs of a pool were scored.

    ``pool`` and ``grades`` lack pairs without effect on scores; the first H are those that the model predicts. ``found``
    (bool[R, H]): which run retrieved them. ``counted`` (bool[T]): the turns over which means are taken.
    """

    pool: RunPool
    grades: Grades
    measures: tuple[Measure, ...]
    policy: EvaluationPolicy
    counted: Mask
    model: HoleModel
    found: Mask


#: Share of the judged passages that the test hides at a time, and the least acceptable coverage.
_HIDDEN, _COVERED = 0.1, 0.85
#: Largest acceptable deviation of the recalibration's slope from 1 and of its level from 0.
_SLOPE, _LEVEL = 0.25, 0.4
#: Fewer judged passages are too few to learn from.
_FEW = 100
#: Least judged share of a group's exclusive passages; shares of unjudged passages from which warnings are given.
_JUDGED, _ALONE, _DEEP, _MANY = 0.1, 0.05, 0.1, 0.3


@dataclass(frozen=True)
class HoleCheck:
    """Test of the model on the user's own judgments.

    level, slope
        a and b of truth ≈ a + b · prediction (logits) on hidden judged passages; 0 and 1 if the model is calibrated.
    coverage
        Share of the true means and differences of means inside their 95% intervals, over ``hidings`` repetitions that each hide
        a tenth of the judged passages. NaN if no hidden passage affects a score.
    warning
        Warning to show with the model's numbers; None if the test succeeded.
    """

    level: float
    slope: float
    coverage: float
    hidings: int
    warning: str | None


def draws_interval(values: Floats) -> tuple[Floats, Floats]:
    """Return the 95% interval of draws (first axis): a further draw lies outside with exactly 5% probability."""
    tails = [0.5 - CONFIDENCE / 2, 0.5 + CONFIDENCE / 2]
    low, high = np.quantile(values, tails, axis=0, method="weibull")
    return low, high


def check_hole_model(
    model: HoleModel,
    pool: RunPool,
    grades: Grades,
    measures: Sequence[Measure],
    policy: EvaluationPolicy,
    counted: Mask | None = None,
    hidings: int = 10,
    draws: int = 100,
) -> HoleCheck:
    """Hide a tenth of the judged passages ``hidings`` times, distributed like the unjudged ones, and predict the scores.

    The model keeps its variances and recalibration; its coefficients are fitted again. ``counted`` (bool[T]): the turns over
    which means are taken, if they are among those that the model ``sampled``.
    """
    chosen = model.sampled
    there = chosen[model.judged.turns]
    judged, own = model.judged.take(there), model.values[there]
    counted = np.ones(len(chosen), dtype=bool) if counted is None else counted
    rng = np.random.default_rng([model.seed, hidings])
    first, second = np.triu_indices(len(pool.names), 1)
    truth = pool.score(grades[None], measures, policy)[..., counted & chosen].mean(axis=-1)
    inside: list[Mask] = []
    for place in range(hidings):
        hidden = hide(judged, model.holes, _HIDDEN, rng)
        if not hidden.any():
            continue
        left = grades.copy()
        left[judged.pairs[hidden]] = UNJUDGED
        known, unknown = split(pool, judged, hidden, grades)
        stages = fit_stages(known, own[~hidden], model.levels, model.turns, model.stages)
        trial = replace(model, holes=unknown, stages=stages, seed=model.seed + place + 1)
        small, given = pool.scored(left, measures, trial.pairs, chosen)
        batches = trial.draws(given, draws, small.batch(measures), slice(len(trial.pairs)))
        drawn = np.concatenate(
            [
                small.score(sets, measures, policy)[..., counted[chosen]].mean(axis=-1)
                for sets in batches
            ]
        )
        for values, true in (
            (drawn, truth[0]),
            (drawn[:, first] - drawn[:, second], truth[0, first] - truth[0, second]),
        ):
            low, high = draws_interval(values)
            touched = high - low > 1e-12
            inside.append(((low - 1e-9 <= true) & (true <= high + 1e-9))[touched])
    cells = np.concatenate([np.zeros(0, dtype=bool), *inside])
    coverage = float(cells.mean()) if len(cells) else float("nan")
    level, slope = (float(value) for value in model.recalibration.mean[:2])
    return HoleCheck(
        level, slope, coverage, hidings, _trial_warning(level, slope, coverage, hidings)
    )


def hole_warnings(
    model: HoleModel,
    pool: RunPool,
    grades: Grades,
    measures: Sequence[Measure],
    sources: RunSources = UNKNOWN_SOURCES,
    check: HoleCheck | None = None,
) -> tuple[str, ...]:
    """Return the warnings to show with the model's numbers: the result of its test, and what the judgments do not show.

    ``sources``: the sources whose exclusive passages are examined; by default the groups of the model, named after their runs.
    """
    found = [check.warning] if check and check.warning else []
    holes, judged = model.holes, model.judged
    total = len(holes)
    if len(judged) < _FEW:
        found.append(f"The hole model learned from only {counted(len(judged), 'judged passage')}.")
    groups = model.groups if sources.warned is None else sources.warned
    numbers, alone = found_alone(pool, groups, int(holes.best.max()))
    lonely = []
    for group, own in zip(numbers.tolist(), alone, strict=True):
        unjudged, known = int(own[holes.pairs].sum()), int(own[judged.pairs].sum())
        if unjudged >= _ALONE * total and known < _JUDGED * (known + unjudged):
            runs = [
                name for name, number in zip(pool.names, groups, strict=True) if number == group
            ]
            name = sources.names.get(
                group, runs[0] if len(runs) == 1 else f"the group of {runs[0]}"
            )
            lonely.append((name, known, known + unjudged))
    if lonely:
        (name, known, all_), *others = lonely
        rest = "; ".join(f"{other}: {theirs} of {every}" for other, theirs, every in others)
        more = f" ({rest})" if rest else ""
        found.append(
            f"Of the {all_} passages at these ranks that only {name} retrieved, {known} {verb(known, 'is', 'are')}"
            f" judged{more}."
            " The judgments do not show whether these passages are more or less relevant than those of other runs; the 95%"
            " intervals may cover less than 95%."
        )
    deep = int((holes.log_best > model.limit).sum())
    if deep >= _DEEP * total:
        found.append(
            f"{deep} of {total} unjudged passages are deeper than nearly all judged ones; their grades are extrapolated."
        )
    if total >= _MANY * (total + len(judged)) and any(
        measure.family == "map" for measure in measures
    ):
        found.append(
            f"{total} of {total + len(judged)} passages are unjudged. With so many, the intervals of MAP may be too narrow."
        )
    return tuple(found)


def _trial_warning(level: float, slope: float, coverage: float, hidings: int) -> str | None:
    reasons = []
    if coverage < _COVERED:
        reasons.append(
            f"the 95% intervals covered only {coverage:.0%} of the scores and differences"
        )
    if abs(slope - 1) > _SLOPE:
        reasons.append(
            f"the predictions were too {'cautious' if slope > 1 else 'confident'} (slope {slope:.2f} instead of 1)"
        )
    if abs(level) > _LEVEL:
        reasons.append(
            f"the predicted grades were too {'low' if level > 0 else 'high'} (level {level:+.2f} instead of 0)"
        )
    if not reasons:
        return None
    return (
        f"Do not rely on the predicted grades. In a test with a tenth of the judged passages hidden ({hidings} repetitions),"
        f" {' and '.join(reasons)}."
    )


@dataclass(frozen=True, eq=False)
class FilledHoles:
    """Scores of all runs under drawn grades, summed by unit.

    sums
        float64[D, R, M, K]: by draw, run, measure and unit. ``now`` (float64[R, M, K]): with the current judgments.
    units
        The K units.
    holes
        Number of unjudged passages that got grades.
    check
        Test of the model on hidden judgments; None without unjudged passages or without a test.
    warnings
        Limits of the numbers, shown with them.
    scoring
        How the sums were computed; None without unjudged passages.
    """

    sums: Floats
    now: Floats
    units: Units
    seed: int
    holes: int
    check: HoleCheck | None
    warnings: tuple[str, ...]
    scoring: Scoring | None = None

    def drawn(self, weights: Floats, measure: int) -> Floats:
        """Return float64[D, C, K]: Σ_r weight_r · score_r of every draw, summed by unit; ``weights``: [C, R]."""
        return settled(np.einsum("cr,drk->dck", weights, self.sums[:, :, measure]))

    def differences(self, contrasts: npt.ArrayLike, measure: int, first: int = 0) -> Floats:
        """Return float64[C − first, 9] with the columns :data:`EXPECTED`, for the differences Σ_r weight_r · score_r.

        ``contrasts``: float64[C, R], the weight of every run, such as 1 and −1; they form one family. ``measure``: index of the
        measure. ``first``: contrasts before this one only belong to the family.
        """
        weights = np.asarray(contrasts, dtype=np.float64)
        drawn = self.drawn(weights, measure)
        adjusted = completed_family(drawn, self.seed)[first:]
        weights, drawn = weights[first:], drawn[:, first:]
        total = self.units.sizes.sum()
        means = np.round(drawn.sum(axis=-1) / total, DECIMALS)
        measured = np.round((weights @ self.now[:, measure]).sum(axis=-1) / total, DECIMALS)
        low, high = completed_intervals(drawn, self.units.sizes, self.seed)
        holes = quotient((measured - means) * np.sign(measured), np.abs(measured), np.nan)
        shares = np.column_stack([holes.mean(axis=0), *draws_interval(holes)])
        shares[~((shares[:, 1] >= 0) & (shares[:, 2] <= 1))] = np.nan
        return np.column_stack(
            [means.mean(axis=0), low, high, *draws_interval(means), shares, adjusted]
        )


def fill_holes(
    pool: RunPool,
    grades: Grades,
    measures: Sequence[Measure],
    policy: EvaluationPolicy,
    counted: Mask,
    units: Units,
    seed: int,
    sources: RunSources = UNKNOWN_SOURCES,
    check: bool = True,
    depth: int = FILLED_DEPTH,
    draws: int | None = None,
) -> FilledHoles:
    """Draw grades for the unjudged passages of ``pool`` and score all runs with them.

    ``counted`` (bool[T]): the turns over which means are taken; ``units``: their sampling units. ``sources``: those of the
    runs. ``check``: whether to test the model on hidden judgments. ``depth``: the rank to which passages get grades. ``draws``:
    by default :data:`DRAWS`, fewer for many turns. The result does not depend on the number of draws scored together.

    Raises :class:`UsageError` if the judgments do not suffice to fit the model.
    """
    now = units.sums(pool.score(grades[None], measures, policy)[0][..., counted])
    model = fit_hole_model(pool, grades, depth, sources.learned, seed)
    if model is None:
        return FilledHoles(now[None], now, units, seed, 0, None, ())
    small, known = pool.scored(grades, measures, model.pairs)
    draws = draws or model.enough_draws(DRAWS, LEAST_DRAWS)
    batches = model.draws(known, draws, small.batch(measures), slice(len(model.pairs)))
    sums = np.concatenate(
        [units.sums(small.score(sets, measures, policy)[..., counted]) for sets in batches]
    )
    tried = check_hole_model(model, pool, grades, measures, policy, counted) if check else None
    warnings = hole_warnings(model, pool, grades, measures, sources, tried)
    found = pool.best_ranks()[:, model.pairs] <= int(model.holes.best.max())
    scoring = Scoring(small, known, tuple(measures), policy, counted, model, found)
    return FilledHoles(sums, now, units, seed, len(model.pairs), tried, warnings, scoring)


def expected_drops(
    names: Sequence[str],
    measures: Sequence[Measure],
    compared: Mapping[str, Group],
    filled: FilledHoles | None,
    pairs: bool = True,
    shown: bool = True,
) -> tuple[dict[str, Floats], pd.DataFrame]:
    """Return the expected differences of all ``pairs`` of the runs ``names``, and :data:`DROPS` of ``compared``.

    The pairs by measure: float64[P, 9] with the columns :data:`EXPECTED`; P is 0 unless they are ``shown``. Pairs and drops
    form one family. Empty without ``filled``.
    """
    asked = contrasts(names, compared, pairs)
    rows, found = [], dict[str, Floats]()
    if filled is not None and asked:
        weights = np.array([one.weights(len(names)) for one in asked])
        family = len(asked) - len(compared)
        for place, one in enumerate(measures):
            measured = (weights @ filled.now[:, place]).sum(axis=-1) / filled.units.sizes.sum()
            values = filled.differences(weights, place, 0 if shown else family)
            found[one.name], drops = np.split(values, [len(values) - len(compared)])
            for (name, group), drop, expected in zip(
                compared.items(), measured[family:], drops, strict=True
            ):
                rows.append((name, one.name, group.baseline, len(group.sets), drop, *expected))
    return found, DROPS.frame(rows)
