"""Can this judge be trusted? People's judgments beside those of a model, of a second person, or of another year."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from robustcs.errors import UsageError
from robustcs.evaluation.hole_features import run_groups
from robustcs.evaluation.judges import Judge
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.run_pool import Grades, RunPool
from robustcs.inputs.turns import turn_depth
from robustcs.lazy import pd
from robustcs.result import Evaluated, Result
from robustcs.statistics.units import Units, units_of
from robustcs.studies.audit.labels import (
    AGREEMENT,
    BETWEEN,
    BIAS,
    CONFLICTS,
    CONFUSION,
    OFF_SCALE,
    Common,
    Mask,
    agreement,
    between_rows,
    bias_rows,
    conflict_rows,
    confusion_rows,
)
from robustcs.studies.audit.systems import (
    CONCLUSIONS,
    MEANS,
    REVERSALS,
    SYSTEMS,
    Scored,
    mean_rows,
    reversal_rows,
    system_rows,
)

#: A run has found what stands in its top.
FOUND = 10
#: Grades of a scale beyond which a table of both grades is none.
_LONGEST_SCALE = 20


@dataclass(frozen=True)
class Audit(Result):
    """Every judge beside the people."""

    study = "audit"
    declared = (AGREEMENT, CONFUSION, BIAS, SYSTEMS, REVERSALS, OFF_SCALE, CONCLUSIONS, MEANS, CONFLICTS, BETWEEN)

    agreement: pd.DataFrame
    confusion: pd.DataFrame
    bias: pd.DataFrame
    systems: pd.DataFrame
    reversals: pd.DataFrame
    off_scale: pd.DataFrame
    conclusions: pd.DataFrame
    means: pd.DataFrame
    conflicts: pd.DataFrame
    judge_conflicts: pd.DataFrame


@dataclass(frozen=True, eq=False)
class People:
    """What judges are held against.

    grades
        int16[N + 1]: of the pool's pairs.
    scale
        The lowest and the highest grade.
    """

    grades: Grades
    scale: tuple[int, int]


def audit(
    pool: RunPool,
    people: People,
    judges: Mapping[str, tuple[Judge, Grades]],
    clipped: bool,
    counted: npt.NDArray[np.bool_],
    measures: Sequence[Measure],
    evaluated: Evaluated,
    seed: int,
) -> Audit:
    """Hold every judge against the people.

    judges
        Name → the judge and its labels of the pool's pairs.
    clipped
        Were grades off the scale clipped? else they were dropped.
    counted
        bool[T]: the turns that means of systems go over.

    Raises :class:`UsageError` for a scale that is none, and where a judge and the people have neither pairs nor systems in
    common.
    """
    lowest, highest = people.scale
    if highest - lowest > _LONGEST_SCALE:
        raise UsageError("long-scale", f"grades go from {lowest} to {highest}", "judge on a scale of a few grades")
    rows: dict[str, list[tuple[Any, ...]]] = {spec.name: [] for spec in Audit.declared}
    notes, audited = list(evaluated.notes), np.zeros(len(pool.turns), dtype=bool)
    for name, (judge, grades) in judges.items():
        both = (people.grades[:-1] > UNJUDGED) & (grades[:-1] > UNJUDGED)
        if not both.any():
            if len(pool.names) < 2:
                advice = "check that their ids belong together; different topics need runs of several systems"
                raise UsageError("no-common-pairs", f"{name} and the people judged no pair in common", advice)
            notes.append(f"{name} and the people judged no pair in common: only the ranking of systems is compared")
        common = _common(pool, people, grades, both, evaluated)
        rows["agreement"].append(_agreement_row(name, common, people.grades, grades, judge, seed))
        if both.any():
            rows["confusion"] += confusion_rows(name, common)
            rows["bias"] += bias_rows(name, common, seed)
            rows["conflicts"] += conflict_rows(name, common, *_ids(pool, both))
        rows["off_scale"] += [(name, grade, times, clipped) for grade, times in judge.off_scale.items()]
        sides = [np.where(np.append(both, True), side, UNJUDGED) if both.any() else side for side in (people.grades, grades)]
        audited |= _turns_of(pool, sides[0])
        if len(pool.names) > 1:
            for metric, human, model in _scores(pool, sides, counted, measures, evaluated):
                rows["systems"] += system_rows(name, metric, human, model, bool(both.any()), seed)
                rows["means"] += mean_rows(name, metric, pool.names, human, model)
                changed, summary = reversal_rows(name, metric, pool.names, human, model, seed)
                rows["reversals"] += changed
                rows["conclusions"].append(summary)
    for one, other in combinations(judges, 2):
        sides = [judges[name][1] for name in (one, other)]
        both = (sides[0][:-1] > UNJUDGED) & (sides[1][:-1] > UNJUDGED)
        rows["judge_conflicts"] += between_rows(one, other, [side[:-1][both] for side in sides], *_ids(pool, both))
    units = units_of(_named(pool, audited), evaluated.policy.unit)
    notes += [units.note] if units.note else []
    evaluated = replace(
        evaluated, turns=int(audited.sum()), notes=tuple(dict.fromkeys(notes)), unit=units.kind, units=units.count
    )
    return Audit(evaluated, **{spec.name: spec.frame(rows[spec.name]) for spec in Audit.declared})


def _ids(pool: RunPool, pairs: Mask) -> tuple[list[str], list[str]]:
    """Turn and document of every pair that ``pairs`` (bool[N]) chooses."""
    turns = [pool.turns[row] for row in pool.pair_turns[pairs]]
    return turns, pool.documents.take(pa.array(pool.pair_documents[pairs])).to_pylist()


def _named(pool: RunPool, turns: Mask) -> list[str]:
    return [pool.turns[row] for row in np.flatnonzero(turns)]


def _turns_of(pool: RunPool, grades: Grades) -> Mask:
    """bool[T]: the turns that have a judgment."""
    found = np.zeros(len(pool.turns), dtype=bool)
    found[pool.pair_turns[grades[:-1] > UNJUDGED]] = True
    return found


def _common(pool: RunPool, people: People, grades: Grades, both: Mask, evaluated: Evaluated) -> Common:
    turns = pool.pair_turns[both]
    present, place = np.unique(turns, return_inverse=True)
    units = units_of([pool.turns[row] for row in present], evaluated.policy.unit)
    depths = np.array([turn_depth(turn) or 0 for turn in pool.turns], dtype=np.int64)[turns]
    slices = {f"depth {depth}": depths == depth for depth in np.unique(depths[depths > 0]).tolist()}
    if len(slices) == 1:
        slices = {}
    found = pool.best_ranks()[:, both] <= FOUND if pool.names else np.zeros((0, len(turns)), dtype=bool)
    groups = np.array(run_groups(pool), dtype=np.int64)
    for group in dict.fromkeys(groups.tolist()):
        members = [name for name, own in zip(pool.names, groups, strict=True) if own == group]
        more = f" and {len(members) - 1} like it" if len(members) > 1 else ""
        slices[f"found by {members[0]}{more}"] = found[groups == group].any(axis=0)
    if len(pool.names):
        slices["found by none"] = ~found.any(axis=0)
    graded = [side[:-1][both].astype(np.int64) for side in (people.grades, grades)]
    level = evaluated.policy.relevance_level
    codes = units.codes[place] if len(place) else place.astype(np.int64)
    return Common(graded[0], graded[1], codes, units, slices, *people.scale, level)


def _agreement_row(name: str, common: Common, human: Grades, model: Grades, judge: Judge, seed: int) -> tuple[Any, ...]:
    found = agreement(common, seed)
    note = found["kappa"].note if len(common.human) else "no pair in common"
    main = found["kappa"]
    pairs = len(common.human)
    ends = [end for key in ("agree", "kappa_weighted", "kappa_level", "alpha") for end in (found[key].low, found[key].high)]
    labels = judge.labels
    return (
        name, pairs, *(found[key].value for key in ("agree", "kappa", "kappa_weighted", "kappa_level", "alpha")),
        main.low, main.high, *ends, main.units,
        int((human[:-1] > UNJUDGED).sum()) - pairs, int((model[:-1] > UNJUDGED).sum()) - pairs,
        labels.unlabelled, labels.fallback, labels.unknown, sum(judge.off_scale.values()), note,
    )  # fmt: skip


def _scores(
    pool: RunPool, sides: Sequence[Grades], counted: Mask, measures: Sequence[Measure], evaluated: Evaluated
) -> list[tuple[str, Scored, Scored]]:
    """Every measure with the systems' scores under people and under the judge, each over the turns that it judged."""
    turns = [_turns_of(pool, side) & counted for side in sides]
    units: list[Units] = [units_of(_named(pool, chosen), evaluated.policy.unit) for chosen in turns]
    scores = [
        pool.score(side[None], measures, evaluated.policy)[0][..., chosen] for side, chosen in zip(sides, turns, strict=True)
    ]
    return [
        (measure.name, *(Scored(of.sums(side[:, place]), of) for side, of in zip(scores, units, strict=True)))  # type: ignore[misc]
        for place, measure in enumerate(measures)
    ]
