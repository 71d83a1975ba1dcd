"""People judged some conversations and a model all: scores and differences corrected by what people say, never a mix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from robustcs.errors import UsageError
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measure import Measure, highest_score
from robustcs.evaluation.run_pool import Grades, RunPool
from robustcs.lazy import pd
from robustcs.policy import EvaluationPolicy
from robustcs.result import TableSpec, count, difference, number, p_value, score, table, text
from robustcs.statistics.estimate import LEAST_UNITS, units_note
from robustcs.statistics.families import holm
from robustcs.statistics.means import cluster_ratio
from robustcs.statistics.prediction_powered import LEAST_PILOT, corrected, judged_sums, selection_test, units_to_judge
from robustcs.statistics.units import Units, units_of
from robustcs.wording import counted as in_words
from robustcs.wording import verb

Mask = npt.NDArray[np.bool_]

#: Ranks that people's judgments must fill, of a measure without a cut-off.
_RANKS = 10
#: Shares of the passages there that people judged: below the first the pairs were sampled, below the second it is told.
_SAMPLED, _WHOLE = 0.5, 0.9

ESTIMATES = table(
    "estimates", "Mean scores over all conversations that the judge judged, had people judged them all.",
    text("run", header="Run"), text("metric"), text("judge"),
    score("human_only", "over the conversations that people judged", "score", "people alone"),
    number("human_ci_low", "for these conversations, had people judged all"), number("human_ci_high"),
    score("judge_only", "over all; not an estimate of what people would say", "judge alone"),
    score("corrected", "the judge over all, corrected by people", "score", "corrected"),
    number("ci_low", "for these conversations, had people judged all"), number("ci_high"),
    number("weight", "of the judge: 0 is people alone, 1 the judge with its mean error taken off"),
    count("judged_units", "conversations, or turns, that people judged"),
    number("worth", "how many judged ones would tell people alone as much", "worth"),
    count("units", "all of them"), number("others_low", "for other conversations like these"), number("others_high"),
    text("note", "what must be known beside the numbers"),
)  # fmt: skip
PAIRS = table(
    "estimate_pairs", "Differences between systems, corrected in the same way.",
    text("first", header="First"), text("second", header="Second"), text("metric"), text("judge"),
    difference("human_only", "first minus second, by people alone", "people alone"),
    difference("judge_only", "by the judge alone", "judge alone"), difference("corrected", "", "corrected"),
    number("ci_low", "for these conversations, of this comparison alone"), number("ci_high"),
    p_value(says="two-sided, from the same t as the interval"),
    p_value("p_corrected", "by Holm over all pairs of judge and measure, for p is of no sign flips", "p adj."),
    number("weight", "of the judge"),
)  # fmt: skip
SAMPLE = table(
    "sample", "Were the judged conversations a random sample? Mean scores under the judge, over all systems.",
    text("judge", header="Judge"), text("metric", header="Measure"),
    score("judged_mean", "of the conversations that people judged", "judged"), score("other_mean", "of the others", "others"),
    p_value("p", "by permutation; a large one proves nothing"), count("judged_units"), count("units"),
)  # fmt: skip
PLAN = table(
    "plan", "How many conversations people must judge for 95 % intervals of the width asked for, in 80 % of studies like this.",
    text("run", header="Run"), text("metric"), text("judge"), number("within", "half of the interval's width"),
    count("with_judge", "with the judge; null before people judged eight, as a pilot", "with the judge"),
    count("people_alone", "without it; before the pilot as if people's scores varied like the judge's", "people alone"),
    count("judged_units", "that people judged so far"), count("units", "all of them"),
)  # fmt: skip
TABLES: tuple[TableSpec, ...] = (ESTIMATES, PAIRS, SAMPLE, PLAN)


@dataclass(frozen=True)
class Estimated:
    """The tables :data:`TABLES`; ``plan`` is None where none is asked for.

    unit, units, turns
        What people judge whole, how many of them the judges judged, and their turns; the most of several judges.
    notes
        What a reader must know of the judged conversations.
    """

    estimates: pd.DataFrame
    estimate_pairs: pd.DataFrame
    sample: pd.DataFrame
    plan: pd.DataFrame | None
    unit: str
    units: int
    turns: int
    notes: tuple[str, ...]

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Table name → frame."""
        found = {spec.name: getattr(self, spec.name) for spec in TABLES}
        return {name: frame for name, frame in found.items() if frame is not None}


def estimate(
    pool: RunPool,
    human: Grades,
    judges: Mapping[str, Grades],
    counted: Mask,
    measures: Sequence[Measure],
    policy: EvaluationPolicy,
    within: float | None,
    seed: int,
) -> Estimated:
    """Correct every judge's scores by the conversations that people judged.

    ``human`` and ``judges`` (int16[N + 1] each) are the grades of the pool's pairs, ``counted`` (bool[T]) the turns that means
    go over, ``within`` the half width to plan for.

    Raises :class:`UsageError` below five judged conversations (unless a plan is asked for, which is then all there is), where
    people judged all of them, and where they judged single passages instead of whole conversations.
    """
    rows: dict[str, list[tuple[Any, ...]]] = {spec.name: [] for spec in TABLES}
    notes: list[str] = []
    unit = "turn"
    most = turns_of_most = 0
    for name, grades in judges.items():
        turns = _turns_of(pool, grades) & counted
        told = _turns_of(pool, human) & turns
        units, judged, turns, left_out = _sampled_units(pool, turns, told, policy)
        _check(name, units, judged, within)
        if within is not None and judged.sum() < LEAST_PILOT:
            notes.append(_draw(units, judged, seed))
        notes += left_out + _check_whole(name, pool, human, grades, turns & told, measures)
        notes += [units.note] if units.note else []
        unit = units.kind
        most, turns_of_most = max((most, turns_of_most), (units.count, int(turns.sum())))
        people, model = (pool.score(side[None], measures, policy)[0][..., turns] for side in (human, grades))
        for place, measure in enumerate(measures):
            _measure(rows, name, measure, pool.names, people[:, place], model[:, place], units, judged, within, seed)
        if judged.sum() >= LEAST_UNITS:
            notes += _suspected(name, rows["sample"][-len(measures) :], units.kind)
    frames = {spec.name: spec.frame(rows[spec.name]) for spec in TABLES}
    plan = frames["plan"].astype({"with_judge": "Int64", "people_alone": "Int64"}) if within is not None else None
    parts = frames["estimates"], frames["estimate_pairs"], frames["sample"], plan
    return Estimated(*parts, unit, most, turns_of_most, tuple(dict.fromkeys(notes)))


def _turns_of(pool: RunPool, grades: Grades) -> Mask:
    """bool[T]: the turns that have a judgment."""
    found = np.zeros(len(pool.turns), dtype=bool)
    found[pool.pair_turns[grades[:-1] > UNJUDGED]] = True
    return found


def _sampled_units(pool: RunPool, turns: Mask, told: Mask, policy: EvaluationPolicy) -> tuple[Units, Mask, Mask, list[str]]:
    """The units of the judge's turns, which of them people judged, and the turns that count.

    Turns of a judged conversation that people passed over count for neither side: nobody knows what people would say of them,
    and they are no random ones.
    """
    names = [pool.turns[row] for row in np.flatnonzero(turns)]
    units = units_of(names, policy.unit)
    judged = np.zeros(units.count, dtype=bool)
    judged[units.codes[told[turns]]] = True
    passed_over = judged[units.codes] & ~told[turns]
    if units.kind == "turn" or not passed_over.any():
        return units, judged, turns, []
    kept = turns.copy()
    kept[np.flatnonzero(turns)[passed_over]] = False
    number = int(passed_over.sum())
    note = f"{in_words(number, 'turn')} of judged conversations that people did not judge {verb(number, 'is', 'are')} left out"
    return units.take(~passed_over), judged, kept, [note]


def _check(name: str, units: Units, judged: Mask, within: float | None) -> None:
    number, kind = int(judged.sum()), units.kind
    if number == units.count:
        advice = "robustcs audit compares the two; estimates need conversations that the judge alone judged"
        raise UsageError("all-judged", f"people judged every {kind} that {name} judged", advice)
    if number < LEAST_UNITS and within is None:
        found = f"people judged {in_words(number, kind)} of {units.count} that {name} judged"
        raise UsageError("few-judged", found, f"an estimate needs {LEAST_UNITS}, drawn at random")


def _draw(units: Units, judged: Mask, seed: int) -> str:
    """A note with units drawn at random, those that people judged already apart, which make a pilot with them."""
    others = np.flatnonzero(~judged)
    number = min(LEAST_PILOT - int(judged.sum()), len(others))
    drawn = sorted(np.random.default_rng(seed).choice(others, number, replace=False).tolist())
    return (
        f"what the judge is worth shows once people judged {LEAST_PILOT} {units.kind}s, drawn at random; with seed {seed} the"
        f" {'next' if judged.any() else 'first'} are {', '.join(units.labels[place] for place in drawn)}"
    )


def _check_whole(
    name: str, pool: RunPool, human: Grades, grades: Grades, turns: Mask, measures: Sequence[Measure]
) -> list[str]:
    """A note where people did not judge all that the judge judged of the top ranks; refused where that is a sample of pairs."""
    deepest = max(measure.cutoff or _RANKS for measure in measures)
    seen = np.unique(np.concatenate([places[turns, :deepest].ravel() for places in pool.places]))
    seen = seen[grades[seen] > UNJUDGED]
    share = float((human[seen] > UNJUDGED).mean()) if len(seen) else 1.0
    what = f"of the passages in the top {deepest} that {name} judged there, people judged {100 * share:.0f} %"
    if share < _SAMPLED:
        advice = "scores need whole turns: let people judge all passages of some conversations, not some passages of all"
        raise UsageError("sampled-pairs", what, advice)
    return [f"{what}; the others count as not relevant for people"] if share < _WHOLE else []


def _measure(
    rows: dict[str, list[tuple[Any, ...]]],
    judge: str,
    measure: Measure,
    names: Sequence[str],
    people: npt.NDArray[np.float64],
    model: npt.NDArray[np.float64],
    units: Units,
    judged: Mask,
    within: float | None,
    seed: int,
) -> None:
    """The rows of one measure; ``people`` and ``model`` are scores, float64[R, T]."""
    if within is not None:
        rows["plan"] += _plan_rows(judge, measure, names, people, model, units, judged, within)
    if judged.sum() < LEAST_UNITS:
        return
    found = corrected(judged_sums(people, model, units, judged))
    half, alone, others = found.half_width(), found.half_width(alone=True), found.half_width(others=True)
    most = highest_score(measure)
    note = units_note(found.judged, units.kind)

    def inside(value: float) -> float:
        return value if most is None else min(max(value, 0.0), most)

    for place, run in enumerate(names):
        own, value = float(found.people[place]), inside(float(found.value[place]))
        ends = [inside(centre + sign * width) for centre, width in ((own, alone[place]), (value, half[place]))
                for sign in (-1, 1)]  # fmt: skip
        wide = [inside(value + sign * float(others[place])) for sign in (-1, 1)]
        rows["estimates"].append((
            run, measure.name, judge, own, ends[0], ends[1], found.model[place], value, ends[2], ends[3], found.weight,
            found.judged, found.worth[place], found.units, *wide, note,
        ))  # fmt: skip
    totals, sizes = units.sums(model.mean(axis=0)), units.sizes
    means = [float(totals[side].sum() / sizes[side].sum()) for side in (judged, ~judged)]
    p = selection_test(totals, sizes, judged, seed)
    rows["sample"].append((judge, measure.name, *means, p, found.judged, found.units))
    if len(names) > 1:
        rows["estimate_pairs"] += _pair_rows(judge, measure, names, people, model, units, judged)


def _plan_rows(
    judge: str,
    measure: Measure,
    names: Sequence[str],
    people: npt.NDArray[np.float64],
    model: npt.NDArray[np.float64],
    units: Units,
    judged: Mask,
    within: float,
) -> list[tuple[Any, ...]]:
    """How many units every run needs, with the judge and without."""
    number = int(judged.sum())
    if number >= LEAST_PILOT:
        found = corrected(judged_sums(people, model, units, judged))
        alone, pilot = found.people_variance, number
        together: list[int | None] = [units_to_judge(one, number, units.count, within) for one in found.variance.tolist()]
    else:
        alone, pilot = cluster_ratio(units.sums(model), units.sizes).variance, units.count
        together = [None] * len(names)
    return [
        (run, measure.name, judge, within, both, units_to_judge(one, pilot, units.count, within), number, units.count)
        for run, both, one in zip(names, together, alone.tolist(), strict=True)
    ]


def _pair_rows(
    judge: str,
    measure: Measure,
    names: Sequence[str],
    people: npt.NDArray[np.float64],
    model: npt.NDArray[np.float64],
    units: Units,
    judged: Mask,
) -> list[tuple[Any, ...]]:
    first, second = np.array(list(combinations(range(len(names)), 2))).T
    found = corrected(judged_sums(people[first] - people[second], model[first] - model[second], units, judged))
    half, p = found.half_width(), found.p_values()
    return [
        (names[one], names[two], measure.name, judge, found.people[row], found.model[row], found.value[row],
         found.value[row] - half[row], found.value[row] + half[row], p[row], family, found.weight)
        for row, (one, two, family) in enumerate(zip(first, second, holm(p).tolist(), strict=True))
    ]  # fmt: skip


def _suspected(judge: str, rows: Sequence[tuple[Any, ...]], kind: str) -> list[str]:
    """A note where the judged units score otherwise under the judge than the others."""
    [_, metric, judged, others, p, *_] = min(rows, key=lambda row: row[4])
    if p > 0.05:
        return []
    return [
        f"the {kind}s that people judged are hardly a random sample: under {judge} their {metric} is {judged:.3f}, that of the"
        f" others {others:.3f} (p = {p:.3f}); then no correction holds what it says"
    ]
