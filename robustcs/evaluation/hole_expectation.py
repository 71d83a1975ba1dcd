"""Is a difference real? What it probably is once the holes are filled, with one interval for sampling and holes together.

The hole model draws grades for the unjudged passages in the top :data:`FILLED_DEPTH` of all runs, the same in all of them. Each
draw gives every run a score in every turn, and so every difference. Their mean is what is expected; its interval for other
conversations takes in both what is not known of the holes and what the sample of conversations leaves open
(:mod:`robustcs.statistics.families`). Beside it stands what the holes alone leave open on these turns, and the share of the
measured difference that is expected to be holes: 1 − expected / measured, by draws. Differences that are read together have p
adjusted over all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from robustcs.evaluation.hole_check import HoleCheck, check_hole_model, draws_interval, model_warnings
from robustcs.evaluation.hole_model import HoleModel, fit_hole_model
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.run_pool import Grades, RunPool
from robustcs.evaluation.state import UNKNOWN_SOURCES, Group, RunSources
from robustcs.lazy import pd
from robustcs.policy import EvaluationPolicy
from robustcs.result import count, difference, measure, number, p_value, share, table, text
from robustcs.statistics import Floats, quotient
from robustcs.statistics.families import completed_family, completed_intervals
from robustcs.statistics.ranks import DECIMALS
from robustcs.statistics.units import Units

#: Holes down to this rank of any run get grades: the usual depth of a pool.
FILLED_DEPTH = 10
#: Draws of grades.
DRAWS = 200

#: Columns that say what a difference probably is, in the order of :meth:`FilledHoles.differences`.
EXPECTED = (
    *difference("expected", f"mean over grades that the hole model draws for the holes in the top {FILLED_DEPTH} of all runs;"
                " null where none were drawn").between(
        "expected_low", "expected_high",
        "95 % for other conversations: sampling and holes together; null below six units, or where few of them differ",
    ),
    difference("holes_low", "95 % of the draws: holes alone, on these turns"),
    difference("holes_high"),
    *share("hole_share", "of the measured difference that is expected to be due to unjudged passages, on these turns; null"
           " if its 95% CI exceeds 0 to 1", "unjudged").between("hole_share_low", "hole_share_high", "95% of the draws"),
    p_value("expected_p", "of no difference on other conversations, by max-T over the draws, adjusted over all pairs of systems"
            " and all groups of the measure; null below five units"),
)  # fmt: skip


DROPS = table(
    "drops", "What the mean drop from a baseline to the sets of a group probably is. No rows where no grades were drawn.",
    text("group", "a group, or a formulation that is compared with Human", "Group"), measure(),
    text("baseline"), count("sets", "their number"), number("drop", "baseline − mean of the sets").rounded(4), *EXPECTED,
)  # fmt: skip


@dataclass(frozen=True)
class Contrast:
    """A difference between two sides of a pool's runs: the mean of ``first`` − the mean of ``second``, numbers of runs."""

    names: tuple[str, str]
    first: tuple[int, ...]
    second: tuple[int, ...]

    def weights(self, runs: int) -> Floats:
        """float64[R]; a run on both sides counts on both."""
        found = np.zeros(runs)
        np.add.at(found, list(self.first), 1 / len(self.first))
        np.add.at(found, list(self.second), -1 / len(self.second))
        return found


def contrasts(names: Sequence[str], compared: Mapping[str, Group], pairs: bool) -> tuple[Contrast, ...]:
    """Return every pair of the runs ``names``, where ``pairs`` are wanted, then the drop of each group of ``compared``.

    Their p-values make one family for each measure.
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
    """How the runs of a pool were scored: ``counted`` (bool[T]) are the turns that means go over."""

    pool: RunPool
    grades: Grades
    measures: tuple[Measure, ...]
    policy: EvaluationPolicy
    counted: npt.NDArray[np.bool_]
    model: HoleModel


@dataclass(frozen=True, eq=False)
class FilledHoles:
    """All runs' scores under drawn grades, added up over units.

    sums
        float64[D, R, M, K]: of every draw, run, measure and unit; ``now`` (float64[R, M, K]) as the judgments stand.
    units
        The K units.
    holes
        Unjudged passages that got grades.
    check
        How the model did on hidden judgments; None without holes, or where it was not tried.
    warnings
        What must stand beside the numbers.
    scoring
        What made the sums; None without holes.
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
        """float64[D, C, K]: the differences Σ_r weight_r · score_r of every draw, added up over units; ``weights``: [C, R]."""
        return np.asarray(np.round(np.einsum("cr,drk->dck", weights, self.sums[:, :, measure]), DECIMALS))

    def differences(self, contrasts: npt.ArrayLike, measure: int) -> Floats:
        """float64[C, 9], columns as :data:`EXPECTED`, of differences Σ_r weight_r · score_r.

        ``contrasts``: float64[C, R], the weight of every run, such as 1 and −1; they are one family. ``measure`` numbers the
        measure.
        """
        weights = np.asarray(contrasts, dtype=np.float64)
        drawn = self.drawn(weights, measure)
        total = self.units.sizes.sum()
        means = np.round(drawn.sum(axis=-1) / total, DECIMALS)
        measured = np.round((weights @ self.now[:, measure]).sum(axis=-1) / total, DECIMALS)
        low, high = completed_intervals(drawn, self.units.sizes, self.seed)
        holes = quotient((measured - means) * np.sign(measured), np.abs(measured), np.nan)
        shares = np.column_stack([holes.mean(axis=0), *draws_interval(holes)])
        shares[~((shares[:, 1] >= 0) & (shares[:, 2] <= 1))] = np.nan
        adjusted = completed_family(drawn, self.seed)
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
) -> FilledHoles:
    """Draw grades for the holes of ``pool`` and score all runs under them.

    ``counted`` (bool[T]): the turns that means go over, whose ``units`` are given. ``sources``: those of the runs. ``check``:
    is the model tried on hidden judgments as well?

    Raises :class:`UsageError` where the judgments cannot teach the model.
    """
    now = units.sums(pool.score(grades[None], measures, policy)[0][..., counted])
    model = fit_hole_model(pool, grades, FILLED_DEPTH, sources.learned, seed)
    if model is None:
        return FilledHoles(now[None], now, units, seed, 0, None, ())
    batches = model.draws(grades, DRAWS, pool.batch(measures))
    sums = np.concatenate([units.sums(pool.score(sets, measures, policy)[..., counted]) for sets in batches])
    tried = check_hole_model(model, pool, grades, measures, policy, counted) if check else None
    warnings = model_warnings(model, tried, pool, grades, measures, sources)
    scoring = Scoring(pool, grades, tuple(measures), policy, counted, model)
    return FilledHoles(sums, now, units, seed, len(model.pairs), tried, warnings, scoring)


def expected_drops(
    names: Sequence[str],
    measures: Sequence[Measure],
    compared: Mapping[str, Group],
    filled: FilledHoles | None,
    pairs: bool = True,
) -> tuple[dict[str, Floats], pd.DataFrame]:
    """Return what the differences of all ``pairs`` of the runs ``names`` probably are, and :data:`DROPS` of ``compared``.

    The pairs by measure: float64[P, 9], columns as :data:`EXPECTED`; both are one family. Empty without ``filled``.
    """
    asked = contrasts(names, compared, pairs)
    rows, found = [], dict[str, Floats]()
    if filled is not None and asked:
        weights = np.array([one.weights(len(names)) for one in asked])
        drops = len(asked) - len(compared)
        for place, one in enumerate(measures):
            measured = (weights @ filled.now[:, place]).sum(axis=-1) / filled.units.sizes.sum()
            values = filled.differences(weights, place)
            found[one.name] = values[:drops]
            for (name, group), drop, expected in zip(compared.items(), measured[drops:], values[drops:], strict=True):
                rows.append((name, one.name, group.baseline, len(group.sets), drop, *expected))
    return found, DROPS.frame(rows)
