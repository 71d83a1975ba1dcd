"""Compare scores and the order of runs before and after new judgments (Table 14 of the ECAsT paper), and without a run's own.

Can the judgments be reused for a new run? One run, or all runs of one source, are left out and scored again. A run that
contributed to the pool keeps most of its judgments when it alone is left out, because similar runs contributed them too.
Leaving out whole groups of runs shows what a new team would meet (Voorhees 2000; Buckley et al. 2007).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robustcs.evaluation.grade_sources import SOURCES, sources_of_pool
from robustcs.evaluation.hole_tipping import TIPPING
from robustcs.evaluation.judgments import Merge
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measure import Measure, parse_measure
from robustcs.evaluation.run_pool import Grades, RunPool
from robustcs.inputs.qrels import Qrels
from robustcs.lazy import pd
from robustcs.policy import EvaluationPolicy
from robustcs.result import (
    Result,
    Table,
    TableSpec,
    count,
    difference,
    flag,
    measure,
    number,
    p_value,
    score,
    share,
    table,
    text,
)
from robustcs.statistics import Floats, Mask, settled
from robustcs.statistics.columns import EXACT, P_FLOOR, comparisons
from robustcs.statistics.families import max_t_family
from robustcs.statistics.ranks import RANK_CORRELATIONS, rank_stability, ranks
from robustcs.statistics.sign_flip import paired_tests
from robustcs.statistics.units import Units
from robustcs.studies.augment.judged import TABLES as JUDGED
from robustcs.studies.augment.whatif import FLIPS, WHAT_IF, WhatIf

_WITHOUT = (
    count("unique", "judgments that it alone contributed; these are removed"),
    count("unique_relevant", "those at or above the relevance level", "relevant"),
    score("before", "with all judgments", "with"), score("after", "with the remaining judgments", "without"),
    difference("difference", "after − before", "change"),
    count("rank_before", "rank among all runs, scored with the same judgments"),
    count("rank_after"),
)  # fmt: skip
LEFT_OUT = table(
    "leave_one_out",
    "Every run scored as if it had not contributed to the pool.",
    measure(),
    text("system"),
    *_WITHOUT,
)
GROUPS_OUT = table(
    "leave_group_out", "Every run scored as if no run of its group had contributed to the pool.",
    measure(), text("group"), count("runs", "runs in the group"), text("system"), *_WITHOUT,
    flag("guessed", "true if the groups were guessed from passages that only these runs share"),
)  # fmt: skip
#: Share of their exclusive passages from which two runs or groups count as one source.
_SHARED = 0.25
#: Groups are not joined below this number: with so few, any two share many passages that the others do not retrieve.
_FEWEST = 3


def contributed_alone(
    pool: RunPool, grades: Grades, depth: int, groups: Sequence[int] | None = None
) -> Mask:
    """Return bool[G, N]: whether a judged passage is in the top ``depth`` of the group's runs and of no other run.

    ``groups``: the number of every run's group, from 0; by default every run is a group.
    """
    within = pool.best_ranks() <= depth
    if groups is not None:
        within = np.array(
            [within[np.asarray(groups) == number].any(axis=0) for number in range(max(groups) + 1)]
        )
    return np.asarray(within & (within.sum(axis=0) == 1) & (grades[:-1] > UNJUDGED))


def guessed_groups(pool: RunPool, grades: Grades, depth: int) -> tuple[int, ...]:
    """Guess the group of every run: runs that share many passages contributed by no other run have one source.

    Two groups share the judged passages in their top ``depth`` that both retrieve and no other group does. They are joined if
    these are at least a quarter of the passages that no third group retrieves. Starting from single runs, the two groups with
    the largest share are joined repeatedly. Returns the number of every run's group.
    """
    order = np.argsort(pool.names, kind="stable")
    judged = grades[:-1] > UNJUDGED
    within = [row & judged for row in (pool.best_ranks() <= depth)[order]]
    members = [[int(run)] for run in order]
    while len(within) > _FEWEST:
        table = np.array(within)
        number = table.sum(axis=0)
        alone = (table & (number == 1)).sum(axis=1)
        both = table[:, number == 2].astype(np.int64)
        shared = both @ both.T
        np.fill_diagonal(shared, 0)
        share = shared / np.maximum(shared + alone[:, None] + alone, 1)
        first, second = sorted(map(int, np.unravel_index(int(share.argmax()), share.shape)))
        if share[first, second] < _SHARED:
            break
        within[first] |= within.pop(second)
        members[first] += members.pop(second)
    group_of = {run: number for number, runs in enumerate(members) for run in runs}
    return tuple(group_of[run] for run in range(len(pool.names)))


def leave_one_out(
    pool: RunPool,
    grades: Grades,
    depth: int,
    measures: Sequence[Measure],
    policy: EvaluationPolicy,
    counted: Mask,
    groups: Sequence[int] | None = None,
    names: Mapping[int, str] | None = None,
) -> pd.DataFrame:
    """Score every run as if it, or its group, had not contributed to the pool (Zobel 1998; Buckley et al. 2007).

    The judgments that only the run or its group contributed (:func:`contributed_alone`) are removed, and all runs are scored
    again. Qrels do not record contributors, so the given runs to ``depth`` are assumed to be the contributors. A turn that
    loses its last judgment remains and scores 0. ``counted`` (bool[T]): the turns over which means are taken. ``groups``: the
    number of every run's group, from 0. ``names``: the names of the groups, None if they were guessed.

    Returns :data:`LEFT_OUT`, or :data:`GROUPS_OUT` if ``groups`` are given: one row per measure and run.
    """
    numbers = np.arange(len(pool.names)) if groups is None else np.asarray(groups)
    alone = contributed_alone(pool, grades, depth, numbers.tolist())
    now = pool.score(grades[None], measures, policy)[0][..., counted].mean(axis=-1)
    without = np.empty((len(alone), *now.shape))
    size = pool.batch(measures)
    for start in range(0, len(alone), size):
        withdrawn = alone[start : start + size]
        sets = np.tile(grades, (len(withdrawn), 1))
        sets[:, :-1][withdrawn] = UNJUDGED
        without[start : start + size] = pool.score(sets, measures, policy)[..., counted].mean(
            axis=-1
        )
    members = [
        [name for name, one in zip(pool.names, numbers, strict=True) if one == number]
        for number in range(len(alone))
    ]
    called = dict(
        enumerate(
            f"{runs[0]} and {len(runs) - 1} more" if runs[1:] else runs[0] for runs in members
        )
    )
    spec, own = LEFT_OUT if groups is None else GROUPS_OUT, (numbers, np.arange(len(numbers)))
    frames = []
    for column, one in enumerate(measures):
        level = policy.relevance_level if one.level is None else one.level
        before, after = now[:, column], without[*own, column]
        frames.append(pd.DataFrame({
            "metric": one.name, "group": [(names or called)[number] for number in numbers.tolist()],
            "runs": [len(members[number]) for number in numbers], "system": pool.names,
            "unique": alone.sum(axis=1)[numbers],
            "unique_relevant": (alone & (grades[:-1] >= level)).sum(axis=1)[numbers],
            "before": before, "after": after, "difference": after - before, "rank_before": ranks(before),
            "rank_after": ranks(without[:, :, column])[own], "guessed": names is None,
        }))  # fmt: skip
    return spec.frame(frames)


#: Measures of Table 14 of the ECAsT paper.
DEFAULT_MEASURES = tuple(map(parse_measure, ("ndcg_cut_3", "recall_1000", "map")))
#: Ranks whose new grades are listed for measures without a cutoff.
_SHOWN_RANKS = 10

_MEASURES = table(
    "measures", "Mean scores before and after, over the turns that the old judgments cover.",
    text("system"), measure(), score("before"), score("after"),
    *difference("difference", "after − before", "change").between(
        says="95% CI of this run's change, from the test that gives p; null if fewer than six units change"),
    p_value("p", "two-sided sign-flip test by unit"),
    p_value("p_corrected", "p adjusted by max-T over the runs of a measure", "p adj."),
    count("rank_before", "rank among the runs"), count("rank_after"), count("turns_up", "turns that gain"),
    count("turns_down", "turns that lose"), P_FLOOR,
    EXACT,
    text("note", "limits of the numbers"),
)  # fmt: skip
_RANKING = table(
    "ranking", "Agreement between the rankings of the runs before and after. No rows for fewer than two runs.",
    measure(), text("method", "kendall, tau_ap (the ranking after is the reference) or rbo"),
    number("value", "agreement on these turns; 1: same order; null if all runs are tied"),
    number("ci_low", "one-sided 95% lower limit for as many other units (percentile bootstrap); null for fewer than five",
           "95% lower limit"),
    text("note", "limits of the number"),
)  # fmt: skip
_CONFLICTS = table(
    "conflicts", "Passages judged again with a different grade.",
    text("turn"), text("document"), count("old", "grade before the new file was merged"),
    count("new", "grade in the new file"), count("kept", "grade in the merged judgments"), text("old_file"), text("new_file"),
)  # fmt: skip
_TURNS = table(
    "turns", "Turns whose score changes, the largest change first.",
    text("system"), text("turn"), measure(), score("before"), score("after"), difference("difference", "after − before"),
    text("new_grades", f"rank and new grade of passages judged within the cutoff (without one: in the top {_SHOWN_RANKS}), such"
         " as 1:4 3:0; 2:1→2 if a grade was replaced; empty if only the ideal ranking changed", "new grades"),
)  # fmt: skip
_FILES = table(
    "files", "Contribution of each file of new judgments.",
    text("file"), count("judgments"), count("added", "passages that were unjudged before"),
    count("added_turns", "turns without earlier judgments", "new turns"),
    count("repeated", "passages judged before with the same grade"),
    count("conflicts", "passages judged before with a different grade"),
)  # fmt: skip
#: Largest p of pairs that differ significantly.
ALPHA = 0.05
POWER = table(
    "power", f"Number of pairs of runs that differ significantly at {ALPHA:g}, before and after. No rows for fewer than two"
    " runs.",
    measure(), count("pairs", "pairs of runs"),
    count("adjusted_before", "p adjusted by max-T over all pairs of the measure"), count("adjusted_after"),
    share("adjusted_share_before", "of the pairs", "before", "different pairs"),
    share("adjusted_share_after", "", "after", "different pairs"),
    number("adjusted_floor", "smallest adjusted p that this design can give"),
)  # fmt: skip

TABLES: tuple[TableSpec, ...] = (
    _MEASURES, _RANKING, POWER, _CONFLICTS, _TURNS, _FILES, SOURCES, WHAT_IF, FLIPS, TIPPING, LEFT_OUT, GROUPS_OUT, *JUDGED
)  # fmt: skip


@dataclass(frozen=True)
class Augmentation(Result):
    """The requested tables.

    depth
        The depth of the pool.
    merged
        The merged judgments; None if there are no human judgments yet.
    drawn
        What the tables of what-if are based on, if requested.
    judged_unit
        Kind of the sampling unit of the estimates with judges; empty without them.
    """

    study = "augment"

    depth: int
    merged: Qrels | None
    drawn: WhatIf | None = None
    judged_unit: str = ""

    @property
    def declared(self) -> tuple[TableSpec, ...]:  # type: ignore[override]
        """The tables of all requested parts."""
        return tuple(spec for spec in TABLES if spec.name in self.content)


def built(found: Mapping[str, Any]) -> dict[str, Table]:
    """Return table → the table of this content."""
    return {spec.name: spec.of(found[spec.name]) for spec in TABLES if spec.name in found}


def augment(
    pool: RunPool,
    sources: Sequence[tuple[str, str, Grades]],
    after: Grades,
    merge: Merge,
    measures: Sequence[Measure],
    policy: EvaluationPolicy,
    counted: Mask,
    units: Units,
    seed: int,
    depth: int,
) -> dict[str, pd.DataFrame]:
    """Score every run with the grades of the first source and ``after`` and compare. Return name → table.

    Both cover the turns of the pool, that is, those of the old judgments. A turn that only new judgments cover would change the
    mean by being added, whatever its passages are. ``counted`` (bool[T]): the turns over which means are taken; ``units``:
    their sampling units. ``sources``: name, kind and grades (:meth:`RunPool.grades`) of the old judgments, the new ones and the
    judges, for the top ``depth`` of every run.
    """
    before = sources[0][2]
    turns = np.flatnonzero(counted)
    one, two = (
        pool.score(grades[None], measures, policy)[0][..., turns] for grades in (before, after)
    )
    rows, changed, order = [], [], []
    for column, by in enumerate(measures):
        old, new = one[:, column], two[:, column]
        difference = settled(new - old)
        rows.append(comparisons(units.sums(difference), units.sizes, units.kind, seed, power=False).frame.assign(
            system=pool.names, metric=by.name, before=old.mean(axis=1), after=new.mean(axis=1),
            rank_before=ranks(old.mean(axis=1)), rank_after=ranks(new.mean(axis=1)),
            turns_up=(difference > 0).sum(axis=1), turns_down=(difference < 0).sum(axis=1),
        ))  # fmt: skip
        for run, name in enumerate(pool.names):
            for turn in np.flatnonzero(difference[run]):
                seen = pool.places[run][turns[turn], : by.cutoff or _SHOWN_RANKS]
                changed.append((
                    name, pool.turns[turns[turn]], by.name, old[run, turn], new[run, turn], difference[run, turn],
                    _new_grades(before[seen], after[seen]),
                ))  # fmt: skip
        if len(pool.names) > 1:
            of_units = units.sums(new), units.sums(old), units.sizes
            for method in RANK_CORRELATIONS:
                found = rank_stability(*of_units, seed, method, noun=units.kind)
                order.append((by.name, method, found.value, found.low, found.note))
    turns_moved = _TURNS.frame(changed).sort_values(
        "difference", key=abs, ascending=False, kind="stable", ignore_index=True
    )
    return {
        "measures": _MEASURES.frame(rows),
        "ranking": _RANKING.frame(order),
        "power": discriminative_power(one, two, measures, units, seed),
        "conflicts": _CONFLICTS.frame([vars(one) for one in merge.conflicts]),
        "turns": turns_moved,
        "files": _FILES.frame([vars(one) for one in merge.joined]),
        "sources": SOURCES.frame(
            sources_of_pool(pool, depth, policy.relevance_level, after, sources)
        ),
    }


def discriminative_power(
    before: Floats, after: Floats, measures: Sequence[Measure], units: Units, seed: int
) -> pd.DataFrame:
    """Count the pairs of runs that differ significantly before and after new judgments.

    Follows Sakai (2006), "Evaluating evaluation metrics based on the bootstrap", with a sign-flip test of whole conversations
    instead of the bootstrap over turns. Returns :data:`POWER` for two sets of scores, float64[R, M, T] each, over the same
    turns, whose ``units`` are given.
    """
    first, second = np.triu_indices(len(before), 1)
    rows, pairs = [], len(first)
    for column, one in enumerate(measures if pairs else ()):
        told, floors = [], []
        for scores in (before[:, column], after[:, column]):
            sums = units.sums(settled(scores[first] - scores[second]))
            family = max_t_family(paired_tests(sums, units.sizes, seed, units.kind), sums, seed)
            told.append(int((family.p <= ALPHA).sum()))
            floors.append(family.floor)
        rows.append((one.name, pairs, *told, *(number / pairs for number in told), max(floors)))
    return POWER.frame(rows)


def _new_grades(before: Grades, after: Grades) -> str:
    """Return rank and grade of newly judged passages (``1:4 3:0``), with ``2:1→2`` for a replaced grade."""
    return " ".join(
        f"{rank + 1}:{after[rank]}"
        if before[rank] == UNJUDGED
        else f"{rank + 1}:{before[rank]}→{after[rank]}"
        for rank in np.flatnonzero(before != after)
    )


def without_folders(result: Augmentation) -> Augmentation:
    """Return the result with file names of new judgments without their folders, for storing or sharing."""
    return result.changed(**{
        table: result.tables[table].assign(**{column: [name.rpartition("/")[2] for name in result.tables[table][column]]})
        for table, column in (("files", "file"), ("conflicts", "new_file"), ("sources", "source"))
    })  # fmt: skip
