"""Scores and differences when annotators judged some conversations and a model judge all: the judge corrected by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.judges import JudgedPool
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measure import Measure, highest_score
from robustcs.evaluation.run_pool import Grades
from robustcs.lazy import pd
from robustcs.policy import Evaluated
from robustcs.result import (
    TableSpec,
    count,
    difference,
    measure,
    number,
    p_value,
    score,
    table,
    text,
)
from robustcs.statistics import Floats, Mask
from robustcs.statistics.estimate import LEAST_UNITS, units_note
from robustcs.statistics.families import holm
from robustcs.statistics.means import cluster_ratio
from robustcs.statistics.prediction_powered import (
    LEAST_PILOT,
    corrected,
    judged_sums,
    selection_test,
    units_to_judge,
)
from robustcs.statistics.units import Units, units_of
from robustcs.wording import counted as in_words
from robustcs.wording import verb

#: Ranks that human judgments must cover for measures without a cutoff.
_RANKS = 10
#: Shares of the passages there with human judgments: below the first, single passages were sampled; below the second, a note
#: says so.
_SAMPLED, _WHOLE = 0.5, 0.9
_THESE = "95% CI for human judgments of all these conversations"

ESTIMATES = table(
    "estimates", "Mean scores over all conversations of the judge, as estimates for human judgments of all of them.",
    text("system", header="System"), measure(), text("judge"),
    *score("human_only", "mean over the conversations with human judgments", "human only").rounded(3).between(
        "human_ci_low", "human_ci_high", _THESE),
    score("judge_only", "mean over all; not an estimate for human judgments", "judge only").rounded(3),
    *score("corrected", "mean of the judge over all, corrected by human judgments").rounded(3).between(says=_THESE),
    number("weight", "weight of the judge: 0 is human only, 1 the judge minus its mean error"),
    count("judged_units", "conversations (or turns) with human judgments"),
    number("worth", "number of human-judged units that would be as precise without the judge").rounded(1),
    count("units", "number of all units"), number("others_low", "95% CI for similar conversations"), number("others_high"),
    text("note", "limits of the numbers"),
)  # fmt: skip
PAIRS = table(
    "estimate_pairs", "Differences between systems, corrected likewise.",
    text("first", header="First"), text("second", header="Second"), measure(), text("judge"),
    difference("human_only", "first − second by human judgments only", "human only").rounded(3),
    difference("judge_only", "by the judge only", "judge only"),
    *difference("corrected").rounded(3).between(says="95% CI for these conversations, of this comparison"),
    p_value(says="two-sided, from the same t statistic as the interval"),
    p_value("p_corrected", "p adjusted by Holm over all pairs of the judge and measure (p is not from sign flips)", "p adj."),
    number("weight", "weight of the judge"),
)  # fmt: skip
SAMPLE = table(
    "sample", "Are the human-judged conversations a random sample? Mean scores by the judge over all systems.",
    text("judge", header="Judge"), measure(),
    score("judged_mean", "mean of the human-judged conversations", "judged"),
    score("other_mean", "mean of the others", "others"),
    p_value("p", "permutation test; a large p proves nothing"), count("judged_units"), count("units"),
)  # fmt: skip
PLAN = table(
    "plan", "Number of conversations to judge for a 95% CI of the requested width in 80% of similar studies.",
    text("system", header="System"), measure(), text("judge"), number("within", "half width of the interval"),
    count("with_judge", "with the judge; null before a pilot of eight human-judged units", "with the judge"),
    count("people_alone", "without the judge; before the pilot, the variance of the judge's scores is assumed", "human only"),
    count("judged_units", "units with human judgments so far"), count("units", "number of all units"),
)  # fmt: skip
TABLES: tuple[TableSpec, ...] = (ESTIMATES, PAIRS, SAMPLE, PLAN)


@dataclass(frozen=True)
class Estimated:
    """The tables :data:`TABLES` by name, without ``plan`` if none is requested.

    unit, units, turns
        Kind of the sampling unit, and numbers of units and turns of the judges; the largest if there are several judges.
    notes
        Limits of the judged conversations.
    """

    tables: dict[str, pd.DataFrame]
    unit: str
    units: int
    turns: int
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Judge:
    """Grades of a judge for some units, of which a part has human judgments.

    turns
        bool[T]: the turns of the pool that count; ``units`` are theirs. ``judged`` (bool[K]): units with human judgments.
    """

    name: str
    grades: Grades
    turns: Mask
    units: Units
    judged: Mask


def estimate(
    pool: JudgedPool,
    measures: Sequence[Measure],
    evaluated: Evaluated,
    within: float | None,
    seed: int,
) -> Estimated:
    """Correct every judge's scores by the conversations with human judgments; ``within``: the half width to plan for.

    Raises :class:`UsageError` if fewer than five conversations have human judgments (unless a plan is requested, which is then
    the only result), if all have, or if single passages instead of whole conversations were judged.
    """
    found: dict[str, list[pd.DataFrame]] = {spec.name: [] for spec in TABLES}
    notes: list[str] = []
    sizes = [(0, 0, "turn")]
    for name, grades in pool.grades.items():
        judge, left_out = _sampled(pool, name, grades, evaluated)
        units, judged = judge.units, judge.judged
        _check(name, units, judged, within)
        if within is not None and judged.sum() < LEAST_PILOT:
            notes.append(_draw(units, judged, seed))
        notes += left_out + _check_whole(judge, pool, measures)
        notes += [units.note] if units.note else []
        sizes.append((units.count, int(judge.turns.sum()), units.kind))
        policy = evaluated.policy
        people, model = (
            pool.pool.score(side[None], measures, policy)[0][..., judge.turns]
            for side in (pool.human, grades)
        )
        for place, one in enumerate(measures):
            tables = _measured(
                judge, one, pool.pool.names, people[:, place], model[:, place], within, seed
            )
            for table_, frame in tables.items():
                found[table_].append(frame.assign(judge=name, metric=one.name))
        if judged.sum() >= LEAST_UNITS:
            notes += _suspected(name, pd.concat(found["sample"][-len(measures) :]), units.kind)
    frames = {
        spec.name: spec.frame(found[spec.name])
        for spec in TABLES
        if spec is not PLAN or within is not None
    }
    most, turns, _ = max(sizes)
    return Estimated(frames, sizes[-1][2], most, turns, tuple(dict.fromkeys(notes)))


def _sampled(
    pool: JudgedPool, name: str, grades: Grades, evaluated: Evaluated
) -> tuple[_Judge, list[str]]:
    """Return the units of a judge's turns, which of them have human judgments, and the turns that count.

    Turns without human judgments in a judged conversation count for neither side: their human scores are unknown, and they are
    not a random sample.
    """
    turns = pool.pool.judged(grades) & pool.counted
    told = pool.pool.judged(pool.human)[turns]
    units = units_of([pool.pool.turns[row] for row in np.flatnonzero(turns)], evaluated.grouping)
    judged = np.zeros(units.count, dtype=bool)
    judged[units.codes[told]] = True
    passed_over = judged[units.codes] & ~told
    number = int(passed_over.sum())
    if units.kind == "turn" or not number:
        return _Judge(name, grades, turns, units, judged), []
    kept = turns.copy()
    kept[np.flatnonzero(turns)[passed_over]] = False
    note = f"{in_words(number, 'turn')} without human judgments in judged {units.kind}s {verb(number, 'is', 'are')} excluded"
    return _Judge(name, grades, kept, units.take(~passed_over), judged), [note]


def _check(name: str, units: Units, judged: Mask, within: float | None) -> None:
    number, kind = int(judged.sum()), units.kind
    if number == units.count:
        advice = "compare the two with robustcs audit; estimates require conversations that only the judge judged"
        raise UsageError("all-judged", f"every {kind} judged by {name} has human judgments", advice)
    if number < LEAST_UNITS and within is None:
        found = f"only {number} of {in_words(units.count, kind)} judged by {name} {verb(number, 'has', 'have')} human judgments"
        raise UsageError("few-judged", found, f"judge at least {LEAST_UNITS}, drawn at random")


def _draw(units: Units, judged: Mask, seed: int) -> str:
    """Return a note with units drawn at random that complete a pilot together with those already judged."""
    others = np.flatnonzero(~judged)
    number = min(LEAST_PILOT - int(judged.sum()), len(others))
    drawn = sorted(np.random.default_rng(seed).choice(others, number, replace=False).tolist())
    return (
        f"the value of the judge is known once {LEAST_PILOT} {units.kind}s, drawn at random, have human judgments; with seed"
        f" {seed} the {'next' if judged.any() else 'first'} are {', '.join(units.labels[place] for place in drawn)}"
    )


def _check_whole(judge: _Judge, pool: JudgedPool, measures: Sequence[Measure]) -> list[str]:
    """Return a note if human judgments do not cover all passages of the judge in the top ranks.

    Raises :class:`UsageError` if they cover only a sample of the passages.
    """
    turns = judge.turns & pool.pool.judged(pool.human)
    deepest = max(one.cutoff or _RANKS for one in measures)
    seen = np.unique(
        np.concatenate([places[turns, :deepest].ravel() for places in pool.pool.places])
    )
    seen = seen[judge.grades[seen] > UNJUDGED]
    share = float((pool.human[seen] > UNJUDGED).mean()) if len(seen) else 1.0
    what = f"human judgments cover {100 * share:.0f}% of the passages in the top {deepest} judged by {judge.name}"
    if share < _SAMPLED:
        advice = "judge all passages of some conversations instead of some passages of all"
        raise UsageError("sampled-pairs", what, advice)
    return [f"{what}; the others count as not relevant in human scores"] if share < _WHOLE else []


def _measured(
    judge: _Judge,
    by: Measure,
    names: Sequence[str],
    people: Floats,
    model: Floats,
    within: float | None,
    seed: int,
) -> dict[str, pd.DataFrame]:
    """Return the rows of one measure; ``people`` and ``model``: human scores and scores of the judge, float64[R, T]."""
    units, judged = judge.units, judge.judged
    number = int(judged.sum())
    enough, tables = number >= LEAST_UNITS, dict[str, pd.DataFrame]()
    found = corrected(judged_sums(people, model, units, judged)) if enough else None
    if within is not None:
        together: list[Any] = [None] * len(names)
        pilot, alone = units.count, cluster_ratio(units.sums(model), units.sizes).variance
        if found is not None and number >= LEAST_PILOT:
            pilot, alone = number, found.people_variance
            together = [
                units_to_judge(one, number, units.count, within) for one in found.variance.tolist()
            ]
        tables["plan"] = pd.DataFrame({
            "system": names, "within": within, "with_judge": together,
            "people_alone": [units_to_judge(one, pilot, units.count, within) for one in alone.tolist()],
            "judged_units": number, "units": units.count,
        })  # fmt: skip
    if found is None:
        return tables
    tables["estimates"] = pd.DataFrame(
        {
            "system": names,
            **found.columns(highest_score(by)),
            "note": units_note(found.judged, units.kind),
        }
    )
    totals, sizes = units.sums(model.mean(axis=0)), units.sizes
    judged_mean, other_mean = (
        float(totals[side].sum() / sizes[side].sum()) for side in (judged, ~judged)
    )
    p = selection_test(totals, sizes, judged, seed)
    sample = {
        "judged_mean": judged_mean,
        "other_mean": other_mean,
        "p": p,
        "judged_units": number,
        "units": units.count,
    }
    tables["sample"] = pd.DataFrame([sample])
    if len(names) > 1:
        first, second = np.triu_indices(len(names), 1)
        pairs = corrected(
            judged_sums(people[first] - people[second], model[first] - model[second], units, judged)
        )
        own, runs = pairs.differences(), np.array(names, dtype=object)
        tables["estimate_pairs"] = pd.DataFrame({
            "first": runs[first], "second": runs[second], "human_only": pairs.people, "judge_only": pairs.model, **own,
            "p_corrected": holm(own["p"]), "weight": pairs.weight,
        })  # fmt: skip
    return tables


def _suspected(judge: str, sample: pd.DataFrame, kind: str) -> list[str]:
    """Return a note if the judge scores the human-judged units differently from the others."""
    row = sample.iloc[sample["p"].argmin()]
    note = (
        f"the human-judged {kind}s are probably not a random sample: their {row['metric']} by {judge} is"
        f" {row['judged_mean']:.3f}, that of the others {row['other_mean']:.3f} (p = {row['p']:.3f}); the corrected scores are"
        " then not reliable"
    )
    return [note] if row["p"] <= 0.05 else []
