"""People judged some conversations and a model all: scores and differences corrected by what people say, never a mix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.judgments import JudgedPool
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measure import Measure, highest_score
from robustcs.evaluation.run_pool import Grades, RunPool
from robustcs.lazy import npt, pd
from robustcs.policy import EvaluationPolicy
from robustcs.result import TableSpec, count, difference, measure, number, p_value, score, table, text
from robustcs.statistics.estimate import LEAST_UNITS, units_note
from robustcs.statistics.families import holm
from robustcs.statistics.means import cluster_ratio
from robustcs.statistics.prediction_powered import LEAST_PILOT, corrected, judged_sums, selection_test, units_to_judge
from robustcs.statistics.units import Units, units_of
from robustcs.wording import counted as in_words
from robustcs.wording import verb

#: Ranks that people's judgments must fill, of a measure without a cut-off.
_RANKS = 10
#: Shares of the passages there that people judged: below the first the pairs were sampled, below the second it is told.
_SAMPLED, _WHOLE = 0.5, 0.9
_THESE = "for these conversations, had people judged all"

ESTIMATES = table(
    "estimates", "Mean scores over all conversations that the judge judged, had people judged them all.",
    text("run", header="Run"), measure(), text("judge"),
    *score("human_only", "over the conversations that people judged", "people alone").rounded(3).between(
        "human_ci_low", "human_ci_high", _THESE),
    score("judge_only", "over all; not an estimate of what people would say", "judge alone").rounded(3),
    *score("corrected", "the judge over all, corrected by people").rounded(3).between(says=_THESE),
    number("weight", "of the judge: 0 is people alone, 1 the judge with its mean error taken off"),
    count("judged_units", "conversations, or turns, that people judged"),
    number("worth", "how many judged ones would tell people alone as much").rounded(1),
    count("units", "all of them"), number("others_low", "for other conversations like these"), number("others_high"),
    text("note", "what must be known beside the numbers"),
)  # fmt: skip
PAIRS = table(
    "estimate_pairs", "Differences between systems, corrected in the same way.",
    text("first", header="First"), text("second", header="Second"), measure(), text("judge"),
    difference("human_only", "first minus second, by people alone", "people alone").rounded(3),
    difference("judge_only", "by the judge alone", "judge alone"),
    *difference("corrected").rounded(3).between(says="for these conversations, of this comparison alone"),
    p_value(says="two-sided, from the same t as the interval"),
    p_value("p_corrected", "by Holm over all pairs of judge and measure, for p is of no sign flips", "p adj."),
    number("weight", "of the judge"),
)  # fmt: skip
SAMPLE = table(
    "sample", "Were the judged conversations a random sample? Mean scores under the judge, over all systems.",
    text("judge", header="Judge"), measure(),
    score("judged_mean", "of the conversations that people judged", "judged"), score("other_mean", "of the others", "others"),
    p_value("p", "by permutation; a large one proves nothing"), count("judged_units"), count("units"),
)  # fmt: skip
PLAN = table(
    "plan", "How many conversations people must judge for 95 % intervals of the width asked for, in 80 % of studies like this.",
    text("run", header="Run"), measure(), text("judge"), number("within", "half of the interval's width"),
    count("with_judge", "with the judge; null before people judged eight, as a pilot", "with the judge"),
    count("people_alone", "without it; before the pilot as if people's scores varied like the judge's", "people alone"),
    count("judged_units", "that people judged so far"), count("units", "all of them"),
)  # fmt: skip
TABLES: tuple[TableSpec, ...] = (ESTIMATES, PAIRS, SAMPLE, PLAN)


@dataclass(frozen=True)
class Estimated:
    """The tables :data:`TABLES` by name, without ``plan`` where none is asked for.

    unit, units, turns
        What people judge whole, how many of them the judges judged, and their turns; the most of several judges.
    notes
        What a reader must know of the judged conversations.
    """

    tables: dict[str, pd.DataFrame]
    unit: str
    units: int
    turns: int
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Judge:
    """What a judge says of some units, of which people judged a part.

    turns
        bool[T]: the turns of the pool that count, whose ``units`` these are; ``judged``: bool[K].
    """

    name: str
    grades: Grades
    turns: npt.NDArray[np.bool_]
    units: Units
    judged: npt.NDArray[np.bool_]


def estimate(
    pool: JudgedPool, measures: Sequence[Measure], policy: EvaluationPolicy, within: float | None, seed: int
) -> Estimated:
    """Correct every judge's scores by the conversations that people judged; ``within``: the half width to plan for.

    Raises :class:`UsageError` below five judged conversations (unless a plan is asked for, which is then all there is), where
    people judged all of them, and where they judged single passages instead of whole conversations.
    """
    found: dict[str, list[pd.DataFrame]] = {spec.name: [] for spec in TABLES}
    notes: list[str] = []
    sizes = [(0, 0, "turn")]
    for name, grades in pool.grades.items():
        judge, left_out = _sampled(pool, name, grades, policy)
        units, judged = judge.units, judge.judged
        _check(name, units, judged, within)
        if within is not None and judged.sum() < LEAST_PILOT:
            notes.append(_draw(units, judged, seed))
        notes += left_out + _check_whole(judge, pool, measures)
        notes += [units.note] if units.note else []
        sizes.append((units.count, int(judge.turns.sum()), units.kind))
        people, model = (pool.pool.score(side[None], measures, policy)[0][..., judge.turns] for side in (pool.human, grades))
        for place, one in enumerate(measures):
            tables = _measured(judge, one, pool.pool.names, people[:, place], model[:, place], within, seed)
            for table_, frame in tables.items():
                found[table_].append(frame.assign(judge=name, metric=one.name))
        if judged.sum() >= LEAST_UNITS:
            notes += _suspected(name, pd.concat(found["sample"][-len(measures) :]), units.kind)
    frames = {
        spec.name: pd.concat(found[spec.name], ignore_index=True)[[field.name for field in spec.fields]]
        if found[spec.name] else spec.frame([])
        for spec in TABLES if spec is not PLAN or within is not None
    }  # fmt: skip
    most, turns, _ = max(sizes)
    return Estimated(frames, sizes[-1][2], most, turns, tuple(dict.fromkeys(notes)))


def _sampled(pool: JudgedPool, name: str, grades: Grades, policy: EvaluationPolicy) -> tuple[_Judge, list[str]]:
    """The units of a judge's turns, which of them people judged, and the turns that count.

    Turns of a judged conversation that people passed over count for neither side: nobody knows what people would say of them,
    and they are no random ones.
    """
    turns = _turns_of(pool.pool, grades) & pool.counted
    told = _turns_of(pool.pool, pool.human)[turns]
    units = units_of([pool.pool.turns[row] for row in np.flatnonzero(turns)], policy.unit)
    judged = np.zeros(units.count, dtype=bool)
    judged[units.codes[told]] = True
    passed_over = judged[units.codes] & ~told
    number = int(passed_over.sum())
    if units.kind == "turn" or not number:
        return _Judge(name, grades, turns, units, judged), []
    kept = turns.copy()
    kept[np.flatnonzero(turns)[passed_over]] = False
    note = f"{in_words(number, 'turn')} of judged conversations that people did not judge {verb(number, 'is', 'are')} left out"
    return _Judge(name, grades, kept, units.take(~passed_over), judged), [note]


def _turns_of(pool: RunPool, grades: Grades) -> npt.NDArray[np.bool_]:
    """bool[T]: the turns that have a judgment."""
    return np.isin(np.arange(len(pool.turns)), pool.pair_turns[grades[:-1] > UNJUDGED])


def _check(name: str, units: Units, judged: npt.NDArray[np.bool_], within: float | None) -> None:
    number, kind = int(judged.sum()), units.kind
    if number == units.count:
        advice = "robustcs audit compares the two; estimates need conversations that the judge alone judged"
        raise UsageError("all-judged", f"people judged every {kind} that {name} judged", advice)
    if number < LEAST_UNITS and within is None:
        found = f"people judged {in_words(number, kind)} of {units.count} that {name} judged"
        raise UsageError("few-judged", found, f"an estimate needs {LEAST_UNITS}, drawn at random")


def _draw(units: Units, judged: npt.NDArray[np.bool_], seed: int) -> str:
    """A note with units drawn at random, those that people judged already apart, which make a pilot with them."""
    others = np.flatnonzero(~judged)
    number = min(LEAST_PILOT - int(judged.sum()), len(others))
    drawn = sorted(np.random.default_rng(seed).choice(others, number, replace=False).tolist())
    return (
        f"what the judge is worth shows once people judged {LEAST_PILOT} {units.kind}s, drawn at random; with seed {seed} the"
        f" {'next' if judged.any() else 'first'} are {', '.join(units.labels[place] for place in drawn)}"
    )


def _check_whole(judge: _Judge, pool: JudgedPool, measures: Sequence[Measure]) -> list[str]:
    """A note where people did not judge all that the judge judged of the top ranks; refused where that is a sample of pairs."""
    turns = judge.turns & _turns_of(pool.pool, pool.human)
    deepest = max(one.cutoff or _RANKS for one in measures)
    seen = np.unique(np.concatenate([places[turns, :deepest].ravel() for places in pool.pool.places]))
    seen = seen[judge.grades[seen] > UNJUDGED]
    share = float((pool.human[seen] > UNJUDGED).mean()) if len(seen) else 1.0
    what = f"of the passages in the top {deepest} that {judge.name} judged there, people judged {100 * share:.0f} %"
    if share < _SAMPLED:
        advice = "scores need whole turns: let people judge all passages of some conversations, not some passages of all"
        raise UsageError("sampled-pairs", what, advice)
    return [f"{what}; the others count as not relevant for people"] if share < _WHOLE else []


def _measured(
    judge: _Judge,
    by: Measure,
    names: Sequence[str],
    people: npt.NDArray[np.float64],
    model: npt.NDArray[np.float64],
    within: float | None,
    seed: int,
) -> dict[str, pd.DataFrame]:
    """The rows of one measure; ``people`` and ``model`` are scores, float64[R, T]."""
    units, judged = judge.units, judge.judged
    number = int(judged.sum())
    enough, tables = number >= LEAST_UNITS, dict[str, pd.DataFrame]()
    found = corrected(judged_sums(people, model, units, judged)) if enough else None
    if within is not None:
        together: list[Any] = [None] * len(names)
        pilot, alone = units.count, cluster_ratio(units.sums(model), units.sizes).variance
        if found is not None and number >= LEAST_PILOT:
            pilot, alone = number, found.people_variance
            together = [units_to_judge(one, number, units.count, within) for one in found.variance.tolist()]
        tables["plan"] = pd.DataFrame({
            "run": names, "within": within, "with_judge": pd.array(together, dtype="Int64"),
            "people_alone": [units_to_judge(one, pilot, units.count, within) for one in alone.tolist()],
            "judged_units": number, "units": units.count,
        })  # fmt: skip
    if found is None:
        return tables
    most = highest_score(by)
    inside = np.asarray if most is None else lambda values: np.clip(values, 0.0, most)
    value = inside(found.value)
    half, alone, others = found.half_width(), found.half_width(alone=True), found.half_width(others=True)
    tables["estimates"] = pd.DataFrame({
        "run": names, "human_only": found.people, "human_ci_low": inside(found.people - alone),
        "human_ci_high": inside(found.people + alone), "judge_only": found.model, "corrected": value,
        "ci_low": inside(value - half), "ci_high": inside(value + half), "weight": found.weight,
        "judged_units": found.judged, "worth": found.worth, "units": found.units, "others_low": inside(value - others),
        "others_high": inside(value + others), "note": units_note(found.judged, units.kind),
    })  # fmt: skip
    totals, sizes = units.sums(model.mean(axis=0)), units.sizes
    judged_mean, other_mean = (float(totals[side].sum() / sizes[side].sum()) for side in (judged, ~judged))
    p = selection_test(totals, sizes, judged, seed)
    sample = {"judged_mean": judged_mean, "other_mean": other_mean, "p": p, "judged_units": number, "units": units.count}
    tables["sample"] = pd.DataFrame([sample])
    if len(names) > 1:
        first, second = np.triu_indices(len(names), 1)
        pairs = corrected(judged_sums(people[first] - people[second], model[first] - model[second], units, judged))
        half, p_values, runs = pairs.half_width(), pairs.p_values(), np.array(names, dtype=object)
        tables["estimate_pairs"] = pd.DataFrame({
            "first": runs[first], "second": runs[second], "human_only": pairs.people, "judge_only": pairs.model,
            "corrected": pairs.value, "ci_low": pairs.value - half, "ci_high": pairs.value + half, "p": p_values,
            "p_corrected": holm(p_values), "weight": pairs.weight,
        })  # fmt: skip
    return tables


def _suspected(judge: str, sample: pd.DataFrame, kind: str) -> list[str]:
    """A note where the judged units score otherwise under the judge than the others."""
    row = sample.iloc[sample["p"].argmin()]
    return [
        f"the {kind}s that people judged are hardly a random sample: under {judge} their {row['metric']} is"
        f" {row['judged_mean']:.3f}, that of the others {row['other_mean']:.3f} (p = {row['p']:.3f}); then no correction holds"
        " what it says"
    ] if row["p"] <= 0.05 else []  # fmt: skip
