"""Expected differences with the unjudged passages filled in, with one interval for sampling and unjudged passages.

The hole model draws grades for the unjudged passages in the top :data:`FILLED_DEPTH` of all runs, the same in all of them. Each
draw gives every run a score in every turn, and so every difference. Their mean is the expected difference. Its interval for
similar conversations covers both the unknown grades and the sample of conversations (:mod:`robustcs.statistics.families`). Also
computed: the interval of the draws for these turns, and the share of the measured difference expected to be due to unjudged
passages, 1 − expected / measured, by draws. p is adjusted for all differences of a family.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from robustcs.evaluation.hole_check import HoleCheck, check_hole_model, draws_interval, hole_warnings
from robustcs.evaluation.hole_model import HoleModel, fit_hole_model
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.run_pool import Grades, RunPool
from robustcs.evaluation.state import UNKNOWN_SOURCES, Group, RunSources
from robustcs.lazy import pd
from robustcs.policy import EvaluationPolicy
from robustcs.result import count, difference, measure, number, p_value, share, table, text
from robustcs.statistics import Floats, quotient, settled
from robustcs.statistics.families import completed_family, completed_intervals
from robustcs.statistics.ranks import DECIMALS
from robustcs.statistics.units import Units

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


def contrasts(names: Sequence[str], compared: Mapping[str, Group], pairs: bool) -> tuple[Contrast, ...]:
    """Return every pair of the runs ``names`` (if ``pairs``), then the drop of each group in ``compared``.

    Their p-values form one family for each measure.
    """
    every = [Contrast((names[a], names[b]), (a,), (b,)) for a, b in combinations(range(len(names)), 2)] if pairs else []
    place = {name: at for at, name in enumerate(names)}
    drops = [
        Contrast((group.baseline, name), (place[group.baseline],), tuple(place[one] for one in group.sets))
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
    counted: npt.NDArray[np.bool_]
    model: HoleModel
    found: npt.NDArray[np.bool_]


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
        return np.column_stack([means.mean(axis=0), low, high, *draws_interval(means), shares, adjusted])


def fill_holes(
    pool: RunPool,
    grades: Grades,
    measures: Sequence[Measure],
    policy: EvaluationPolicy,
    counted: npt.NDArray[np.bool_],
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
    sums = np.concatenate([units.sums(small.score(sets, measures, policy)[..., counted]) for sets in batches])
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
            for (name, group), drop, expected in zip(compared.items(), measured[family:], drops, strict=True):
                rows.append((name, one.name, group.baseline, len(group.sets), drop, *expected))
    return found, DROPS.frame(rows)
