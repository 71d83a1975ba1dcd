"""What changes once more passages are judged: Table 14 of the ECAsT paper for all runs, and whether their order moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from robustcs.evaluation.augmentation import Conflict, Joined, Merge
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measures import Measure
from robustcs.evaluation.run_pool import Grades, RunPool
from robustcs.policy import EvaluationPolicy
from robustcs.result import Result
from robustcs.statistics.correction import holm
from robustcs.statistics.intervals import bootstrap_mean
from robustcs.statistics.mean_difference import randomisation_test, t_test
from robustcs.statistics.ranks import DECIMALS, rank_correlations, ranks
from robustcs.studies.augment.whatif import WhatIf

if TYPE_CHECKING:
    import pandas as pd

#: Measures of Table 14.
DEFAULT_METRICS = ("ndcg_cut_3", "recall_1000", "map")
#: Ranks whose new grades are listed for a measure without a cut-off.
_SHOWN_RANKS = 10

_MEASURES = [
    "run", "metric", "before", "after", "difference", "ci_low", "ci_high", "p", "p_corrected", "p_t", "rank_before",
    "rank_after", "turns_up", "turns_down",
]  # fmt: skip
_TURNS = ["run", "turn", "metric", "before", "after", "difference", "new_grades"]


@dataclass(frozen=True)
class Change:
    """Before and after new judgments, over the turns that the old ones judged.

    measures
        run, metric, before, after, difference with its bootstrap interval over turns, p of the paired randomisation test,
        p_corrected (Holm, over the runs of a measure), p_t of the paired t test, rank_before, rank_after among the runs,
        turns_up and turns_down: how many turns gain and lose.
    ranking
        metric, method (:data:`robustcs.statistics.ranks.METHODS`; ``tau_ap`` takes the order after as the true one), value,
        ci_low, ci_high (bootstrap over turns); without rows for fewer than two runs.
    conflicts
        turn, document, old, new, kept, old_file, new_file.
    turns
        run, turn, metric, before, after, difference, new_grades (``1:4 3:0``, rank and new grade of what was judged anew
        within the measure's cut-off; empty where only the ideal ranking changed); turns that change, largest change first.
    files
        file, judgments, added, added_turns, repeated, conflicts.
    """

    measures: pd.DataFrame
    ranking: pd.DataFrame
    conflicts: pd.DataFrame
    turns: pd.DataFrame
    files: pd.DataFrame


@dataclass(frozen=True)
class Augmentation(Result):
    """All that was asked for; the parts that were not are None. ``depth`` is the depth of the pool."""

    change: Change | None
    what_if: WhatIf | None
    leave_one_out: pd.DataFrame | None
    depth: int

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables of every part that there is."""
        tables: dict[str, pd.DataFrame] = {}
        if self.change:
            tables |= {name: getattr(self.change, name) for name in ("measures", "ranking", "conflicts", "turns", "files")}
        if self.what_if:
            tables |= {"what_if": self.what_if.scores, "flips": self.what_if.pairs, "rates": self.what_if.rates}
        if self.leave_one_out is not None:
            tables["leave_one_out"] = self.leave_one_out
        return tables


def augment(
    pool: RunPool,
    before: Grades,
    after: Grades,
    merge: Merge,
    measures: Sequence[Measure],
    policy: EvaluationPolicy,
    counted: npt.NDArray[np.bool_],
    seed: int,
) -> Change:
    """Score every run under the grades ``before`` and ``after`` (:meth:`RunPool.grades`) and compare.

    Both go over the turns of the pool, those that the old judgments judged: a turn that only new judgments judge would change
    the mean by joining it, whatever its passages are. ``counted`` (bool[T]) are the turns that means go over.
    """
    import pandas as pd

    turns = np.flatnonzero(counted)
    one, two = (pool.score(grades[None], measures, policy)[0][..., turns] for grades in (before, after))
    rows, changed, order = [], [], []
    for column, measure in enumerate(measures):
        old, new = one[:, column], two[:, column]
        difference = np.round(new - old, DECIMALS)
        place_before, place_after = ranks(old.mean(axis=1)), ranks(new.mean(axis=1))
        p = [randomisation_test(moved, seed) for moved in difference]
        for run, (name, corrected) in enumerate(zip(pool.names, holm(p), strict=True)):
            low, high = bootstrap_mean(difference[run], seed)
            means = float(old[run].mean()), float(new[run].mean())
            rows.append((
                name, measure.name, *means, means[1] - means[0], low, high, p[run], corrected, t_test(difference[run]),
                int(place_before[run]), int(place_after[run]), int((difference[run] > 0).sum()),
                int((difference[run] < 0).sum()),
            ))  # fmt: skip
            for turn in np.flatnonzero(difference[run]):
                seen = pool.places[run][turns[turn], : measure.cutoff or _SHOWN_RANKS]
                changed.append((
                    name, pool.turns[turns[turn]], measure.name, old[run, turn], new[run, turn], difference[run, turn],
                    _new_grades(before[seen], after[seen]),
                ))  # fmt: skip
        if len(pool.names) > 1:
            order += [
                (measure.name, found.method, found.value, found.low, found.high)
                for found in rank_correlations(new, old, seed)
            ]
    moved = pd.DataFrame(changed, columns=_TURNS)
    return Change(
        measures=pd.DataFrame(rows, columns=_MEASURES),
        ranking=pd.DataFrame(order, columns=["metric", "method", "value", "ci_low", "ci_high"]),
        conflicts=pd.DataFrame(merge.conflicts, columns=[*Conflict.__dataclass_fields__]),
        turns=moved.sort_values("difference", key=abs, ascending=False, kind="stable", ignore_index=True),
        files=pd.DataFrame(merge.joined, columns=[*Joined.__dataclass_fields__]),
    )


def _new_grades(before: Grades, after: Grades) -> str:
    """``1:4 3:0``: rank and grade of what was judged anew, ``2:1→2`` where a grade was replaced."""
    return " ".join(
        f"{rank + 1}:{after[rank]}" if before[rank] == UNJUDGED else f"{rank + 1}:{before[rank]}→{after[rank]}"
        for rank in np.flatnonzero(before != after)
    )
