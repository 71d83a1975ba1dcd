"""Expected differences with the unjudged passages filled in, with one interval for both unknowns.

The hole model draws grades for the unjudged passages in the top :data:`FILLED_DEPTH` of all runs,
the same in all of them. Each draw gives every run a score in every turn, and so every difference.
Their mean is the expected difference. Its interval for similar conversations covers both the
unknown grades and the sample of conversations (:mod:`robustcs.statistics.completed`). Also
computed: the interval of the draws for these turns, and the share of the measured difference
expected to be due to unjudged passages, 1 − expected / measured, by draws. p is adjusted for all
differences of a family.

Limits of the hole model are shown with its numbers (:mod:`~robustcs.evaluation.hole_check`):
warnings from the judgments, and a test on hidden judgments.

Shapes: D draws, R runs, M measures, K units, C contrasts, H unjudged pairs, N pairs of a pool, T
turns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from robustcs.evaluation.groups import UNKNOWN_SOURCES, Group, RunSources
from robustcs.evaluation.hole_check import (
    HoleCheck,
    check_hole_model,
    draws_interval,
    hole_warnings,
)
from robustcs.evaluation.hole_model import HoleModel, fit_hole_model
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.run_pool import Grades, RunPool
from robustcs.lazy import pd
from robustcs.policy import EvaluationPolicy
from robustcs.result import count, difference, measure, number, p_value, share, table, text
from robustcs.statistics import Floats, Mask, quotient, settled
from robustcs.statistics.completed import completed_family, completed_intervals
from robustcs.statistics.ranks import DECIMALS
from robustcs.statistics.units import Units

#: Unjudged passages down to this rank of any run get grades. This is the usual depth of a pool.
FILLED_DEPTH = 10
#: Number of draws of grades, and the least number for very many turns.
DRAWS, LEAST_DRAWS = 200, 100

#: Columns of an expected difference, in the order of :meth:`FilledHoles.differences`.
EXPECTED = (
    *difference(
        "expected",
        "mean over the hole model's draws of grades for unjudged passages in the top"
        f" {FILLED_DEPTH} of all runs; null without draws",
    ).between(
        "expected_low",
        "expected_high",
        "95% CI for similar conversations: sampling and unjudged passages; null below six units, or"
        " if few of them differ",
    ),
    difference("holes_low", "95% of the draws: unjudged passages only, on these turns"),
    difference("holes_high"),
    *share(
        "hole_share",
        "share of the measured difference expected to be due to unjudged passages, on these turns;"
        " null if its 95% CI exceeds 0 to 1",
        "unjudged",
    ).between("hole_share_low", "hole_share_high", "95% of the draws"),
    p_value(
        "expected_p",
        "p of no difference on similar conversations, by max-T over the draws, adjusted for all"
        " pairs of systems and all groups of the measure; null below five units",
    ),
)
DROPS = table(
    "drops",
    "Expected mean drop from a baseline to the sets of a group. No rows without draws.",
    text("group", "a group, or a formulation compared with Human", "Group"),
    measure(),
    text("baseline"),
    count("sets", "number of sets"),
    number("drop", "baseline − mean of the sets").rounded(4),
    *EXPECTED,
)


@dataclass(frozen=True)
class Contrast:
    """The mean of the runs ``first`` minus the mean of the runs ``second``, given by number.

    names
        The names of the two sides: a run or a group.
    """

    names: tuple[str, str]
    first: tuple[int, ...]
    second: tuple[int, ...]

    def weights(self, runs: int) -> Floats:
        """Return float64[R]: the weight of every run; a run on both sides counts on both."""
        weights = np.zeros(runs)
        np.add.at(weights, list(self.first), 1 / len(self.first))
        np.add.at(weights, list(self.second), -1 / len(self.second))
        return weights


def contrasts(
    names: Sequence[str], compared: Mapping[str, Group], pairs: bool
) -> tuple[Contrast, ...]:
    """Return every pair of the runs ``names`` (if ``pairs``), then the drop of each group.

    ``compared``: name of a group → its baseline and sets, which are among ``names``. The p-values
    of all contrasts form one family for each measure.
    """
    family = []
    if pairs:
        for first, second in combinations(range(len(names)), 2):
            family.append(Contrast((names[first], names[second]), (first,), (second,)))
    number_of = {name: number for number, name in enumerate(names)}
    for name, group in compared.items():
        baseline = number_of[group.baseline]
        sets = tuple(number_of[member] for member in group.sets)
        family.append(Contrast((group.baseline, name), (baseline,), sets))
    return tuple(family)


@dataclass(frozen=True, eq=False)
class Scoring:
    """How the runs of a pool were scored.

    pool, grades
        A part of the pool and int16[N + 1], its judgments. It lacks pairs without effect on scores;
        its first H pairs are those that the model predicts.
    measures, policy
        How runs are scored.
    counted
        bool[T]: the turns over which means are taken.
    model
        The model of the grades.
    retrieved
        bool[R, H]: which run retrieved the predicted pairs, down to the depth of the prediction.
    """

    pool: RunPool
    grades: Grades
    measures: tuple[Measure, ...]
    policy: EvaluationPolicy
    counted: Mask
    model: HoleModel
    retrieved: Mask


@dataclass(frozen=True, eq=False)
class FilledHoles:
    """Scores of all runs under drawn grades, summed by unit.

    sums
        float64[D, R, M, K]: by draw, run, measure and unit.
    now
        float64[R, M, K]: with the current judgments.
    units
        The K units.
    seed
        Seed of intervals and p-values.
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
        """Return float64[D, C, K]: Σ_r weight_r · score_r of every draw, summed by unit.

        ``weights``: float64[C, R]. ``measure``: index of the measure.
        """
        return settled(np.einsum("cr,drk->dck", weights, self.sums[:, :, measure]))

    def differences(self, contrasts: npt.ArrayLike, measure: int, first: int = 0) -> Floats:
        """Return float64[C − first, 9] with the columns :data:`EXPECTED`.

        contrasts
            float64[C, R]: the weight of every run, such as 1 and −1. They form one family.
        measure
            Index of the measure.
        first
            The first contrast that is returned; those before only belong to the family.
        """
        weights = np.asarray(contrasts, dtype=np.float64)
        drawn = self.drawn(weights, measure)
        adjusted = completed_family(drawn, self.seed)[first:]
        weights, drawn = weights[first:], drawn[:, first:]

        expected = np.round(drawn.sum(axis=-1) / self.units.sizes.sum(), DECIMALS)
        measured = np.round(self.measured(weights, measure), DECIMALS)
        low, high = completed_intervals(drawn, self.units.sizes, self.seed)
        holes_low, holes_high = draws_interval(expected)
        due_to_holes = (measured - expected) * np.sign(measured)
        shares = _summarized_shares(quotient(due_to_holes, np.abs(measured), np.nan))
        return np.column_stack(
            [expected.mean(axis=0), low, high, holes_low, holes_high, shares, adjusted]
        )

    def measured(self, weights: Floats, measure: int) -> Floats:
        """Return float64[C]: Σ_r weight_r · mean score_r with the current judgments.

        ``weights``: float64[C, R]. ``measure``: index of the measure.
        """
        sums = weights @ self.now[:, measure]
        return np.asarray(sums.sum(axis=-1) / self.units.sizes.sum())


def _summarized_shares(shares: Floats) -> Floats:
    """Return mean, low and high of the ``shares`` [D, C] of the draws, float64[C, 3].

    NaN if they are not all known, or if the interval exceeds 0 to 1.
    """
    low, high = draws_interval(shares)
    summarized = np.column_stack([shares.mean(axis=0), low, high])
    # false for NaN as well
    is_share = (low >= 0) & (high <= 1)
    summarized[~is_share] = np.nan
    return summarized


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

    The result does not depend on the number of draws scored together.

    grades
        int16[N + 1]: the judgments.
    counted, units
        bool[T]: the turns over which means are taken; and their sampling units.
    sources
        The sources of the runs.
    check
        Whether to test the model on hidden judgments.
    depth
        The rank to which passages get grades.
    draws
        Number of draws; by default :data:`DRAWS`, fewer for many turns.

    Raises :class:`UsageError` if the judgments do not suffice to fit the model.
    """
    now = units.sums(pool.score(grades[None], measures, policy)[0][..., counted])
    model = fit_hole_model(pool, grades, depth, sources.learned, seed)
    if model is None:
        return FilledHoles(now[None], now, units, seed, 0, None, ())
    # the part of the pool whose scores vary: its first pairs are those of the model
    part, part_grades = pool.scored(grades, measures, model.pairs)
    draws = draws or model.enough_draws(DRAWS, LEAST_DRAWS)
    sums = []
    for sets in model.draws(part_grades, draws, part.batch(measures), slice(len(model.pairs))):
        sums.append(units.sums(part.score(sets, measures, policy)[..., counted]))
    test = check_hole_model(model, pool, grades, measures, policy, counted) if check else None
    retrieved = pool.best_ranks()[:, model.pairs] <= int(model.holes.best.max())
    return FilledHoles(
        np.concatenate(sums),
        now,
        units,
        seed,
        len(model.pairs),
        test,
        hole_warnings(model, pool, grades, measures, sources, test),
        Scoring(part, part_grades, tuple(measures), policy, counted, model, retrieved),
    )


def expected_drops(
    names: Sequence[str],
    measures: Sequence[Measure],
    compared: Mapping[str, Group],
    filled: FilledHoles | None,
    pairs: bool = True,
    shown: bool = True,
) -> tuple[dict[str, Floats], pd.DataFrame]:
    """Return the expected differences of all pairs of runs, and :data:`DROPS` of the groups.

    The pairs by measure: float64[P, 9] with the columns :data:`EXPECTED`. Pairs and drops form one
    family. Empty without ``filled``.

    names
        The runs of ``filled``.
    compared
        See :func:`contrasts`.
    pairs
        Whether the pairs belong to the family.
    shown
        Whether they are returned; if not, P is 0.
    """
    family = contrasts(names, compared, pairs)
    of_pairs: dict[str, Floats] = {}
    rows: list[tuple[object, ...]] = []
    if filled is None or not family:
        return of_pairs, DROPS.frame(rows)
    weights = np.array([contrast.weights(len(names)) for contrast in family])
    first_drop = len(family) - len(compared)
    first_shown = 0 if shown else first_drop
    for place, scored in enumerate(measures):
        differences = filled.differences(weights, place, first_shown)
        of_pairs[scored.name] = differences[: first_drop - first_shown]
        of_drops = differences[first_drop - first_shown :]
        measured = filled.measured(weights, place)[first_drop:]
        for (name, group), drop, expected in zip(compared.items(), measured, of_drops, strict=True):
            rows.append((name, scored.name, group.baseline, len(group.sets), drop, *expected))
    return of_pairs, DROPS.frame(rows)
