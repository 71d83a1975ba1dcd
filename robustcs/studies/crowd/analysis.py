"""Crowd judgments: turn single grades into qrels and texts into runs, and score the runs on the qrels.

Source: CAsT-ReGIn (TREC CAsT 2022), "Crowdsourcing and filtering process", "Evaluation details".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robustcs.conversations import Conversations
from robustcs.errors import UsageError
from robustcs.evaluation.judgments import taken
from robustcs.evaluation.matrix import grade_matrix
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.measures import NATIVE, evaluate
from robustcs.evaluation.ranking import Ranking
from robustcs.evaluation.rating_scales import agreement_tables, rating_units, scales_of
from robustcs.inputs.mixed_initiative import Mapped
from robustcs.inputs.qrels import Qrels, qrels_of_rows
from robustcs.inputs.ratings import GoldCheck, Grade, as_ratings
from robustcs.inputs.turns import turn_sort_key
from robustcs.lazy import pd
from robustcs.messages import Message, OptionName
from robustcs.policy import EvaluationPolicy, Unit
from robustcs.result import (
    Evaluated,
    Result,
    Table,
    computes,
    count,
    score,
    share,
    table,
    text,
)
from robustcs.result import measure as metric
from robustcs.statistics.estimate import MIN_AGREEMENT
from robustcs.statistics.means import mean_estimates
from robustcs.statistics.units import Units, units_of
from robustcs.wording import counted

#: The criterion that combines all others.
COMBINED = "combined"
#: Maximum number of failed checks in a reason.
_SPELLED_OUT = 3


def exclude_workers(
    grades: Sequence[Grade],
    checks: Sequence[GoldCheck],
    tolerance: int,
    conversations: Conversations | None = None,
) -> tuple[list[Grade], Table, int]:
    """Return the remaining grades, the table :data:`Crowd.exclusions`, and the number of checks on items without grades.

    A worker whose grade differs from a gold check by more than ``tolerance`` loses all grades for the topic, in every
    criterion.

    Raises :class:`UsageError` for a check without a criterion if the grades have several.
    """
    criteria = list(dict.fromkeys(grade.criterion for grade in grades))
    if len(criteria) > 1 and any(not check.criterion for check in checks):
        found = (
            f"a gold check names no criterion, but the grades have several: {', '.join(criteria)}"
        )
        raise UsageError("no-criterion", found, "add a column criterion to the gold checks")
    expected = {
        (check.turn, check.item, check.criterion or criteria[0]): check.grade for check in checks
    }
    unit_of = (conversations or Conversations.from_ids(grade.turn for grade in grades)).unit
    given: dict[tuple[str, str], list[Grade]] = {}
    for grade in grades:
        given.setdefault((unit_of(grade.turn), grade.worker), []).append(grade)
    excluded = []
    for (topic, worker), own in given.items():
        checked = [(grade, expected[key]) for grade in own if (key := _item(grade)) in expected]
        failed = [
            (grade, wanted) for grade, wanted in checked if abs(grade.grade - wanted) > tolerance
        ]
        if failed:
            excluded.append(
                (topic, worker, len(checked), len(failed), len(own), _reason(failed, tolerance))
            )
    exclusions = Crowd.exclusions.of(
        sorted(excluded, key=lambda row: (turn_sort_key(row[0]), row[1]))
    )
    out = {(row.topic, row.worker) for row in exclusions}
    kept = [grade for grade in grades if (unit_of(grade.turn), grade.worker) not in out]
    return kept, exclusions, len(expected.keys() - set(map(_item, grades)))


def _item(grade: Grade) -> tuple[str, str, str]:
    return grade.turn, grade.item, grade.criterion


def _reason(failed: Sequence[tuple[Grade, int]], tolerance: int) -> str:
    parts = [
        f"{grade.turn} {grade.item} {grade.criterion}: grade {grade.grade}, gold check {expected}"
        for grade, expected in failed[:_SPELLED_OUT]
    ]
    more = f"; and {len(failed) - _SPELLED_OUT} more" if len(failed) > _SPELLED_OUT else ""
    return f"{'; '.join(parts)}{more} (tolerance {tolerance})"


def final_grade(grades: Sequence[int]) -> tuple[int, str]:
    """Return the mode of the grades and ``mode``; if the mode is tied, their mean, rounded half up, and ``mean``."""
    counts = Counter(grades).most_common(2)
    if len(counts) == 1 or counts[0][1] > counts[1][1]:
        return counts[0][0], "mode"
    # floor(sum / n + 1/2) in integers
    return (2 * sum(grades) + len(grades)) // (2 * len(grades)), "mean"


def aggregate(grades: Iterable[Grade]) -> Table:
    """Return the table :data:`Crowd.grades`, by criterion (in order of appearance), turn and item."""
    pairs: dict[tuple[str, str, str], list[int]] = {}
    for grade in grades:
        pairs.setdefault((grade.criterion, grade.turn, grade.item), []).append(grade.grade)
    criteria = {
        criterion: place for place, criterion in enumerate(dict.fromkeys(key[0] for key in pairs))
    }
    ordered = sorted(
        pairs, key=lambda key: (criteria[key[0]], turn_sort_key(key[1]), turn_sort_key(key[2]))
    )
    return Crowd.grades.of((*key, len(pairs[key]), *final_grade(pairs[key])) for key in ordered)


def as_qrels(name: str, judgments: Collection[tuple[str, str, int]]) -> Qrels:
    """Return (turn, item, grade) as qrels; pairs must be unique."""
    return qrels_of_rows(name, list(judgments), name, [None] * len(judgments))[0]


def qrels_by_criterion(final: Table) -> dict[str, Qrels]:
    """Return criterion → its judgments."""
    by_criterion: dict[str, list[tuple[str, str, int]]] = {}
    for judged in final:
        by_criterion.setdefault(judged.criterion, []).append(
            (judged.turn, judged.item, judged.grade)
        )
    return {
        criterion: as_qrels(criterion, judgments) for criterion, judgments in by_criterion.items()
    }


def with_combined(criteria: Mapping[str, Qrels]) -> tuple[dict[str, Qrels], list[str]]:
    """Add the criterion :data:`COMBINED` to several criteria; return all, and notes.

    The combined grade of an item is its lowest grade, so it is relevant only if it is relevant by every criterion. A mean
    could make an off-topic question relevant because it is novel. Items without a grade for every criterion have no combined
    grade.
    """
    grades: dict[tuple[str, str], list[int]] = {}
    for qrels in criteria.values():
        for turn, item, grade in qrels.rows():
            grades.setdefault((turn, item), []).append(grade)
    whole = [
        (turn, item, min(own)) for (turn, item), own in grades.items() if len(own) == len(criteria)
    ]
    if len(criteria) < 2 or COMBINED in criteria or not whole:
        return dict(criteria), []
    missing = len(grades) - len(whole)
    notes = (
        [f"{COMBINED}: excludes {counted(missing, 'item')} without a grade for every criterion"]
        if missing
        else []
    )
    return {**criteria, COMBINED: as_qrels(COMBINED, whole)}, notes


def only_turns(qrels: Qrels, turns: Collection[str]) -> Qrels | None:
    """Return the judgments of ``turns``; None if there are none."""
    kept = np.isin(np.array(qrels.turns), list(turns))[qrels.turn_codes]
    return taken(qrels, kept) if kept.any() else None


def turn_sets(qrels: Qrels, level: int, subset: Collection[str] | None) -> Mapping[str, Qrels]:
    """Return the judgments on all turns, on turns with a grade of at least ``level`` (filtered), and on ``subset``."""
    relevant = {qrels.turns[code] for code in qrels.turn_codes[qrels.grades >= level]}
    sets = {"all": qrels, "filtered": only_turns(qrels, relevant)}
    if subset is not None:
        sets["subset"] = only_turns(qrels, subset)
    return {name: some for name, some in sets.items() if some is not None}


#: Criterion → turn set [all, filtered, subset] → judgments.
Judgments = Mapping[str, Mapping[str, Qrels]]
_CRITERION, _TURN_SET = (
    text("criterion", header="Criterion"),
    text("turn_set", "all, filtered or subset", "Turn set"),
)
_LEVELS = ("nominal", "ordinal", "interval")


@dataclass(frozen=True)
class Crowd(Result):
    """The result of ``robustcs crowd``. Tables of parts without input have no rows.

    graded
        Grades of the workers, if given.
    seed
        Random seed of the intervals of agreement.
    """

    study = "crowd"

    qrels = table(
        "qrels", "Number of judgments by criterion and turn set; filtered: turns with a relevant grade.",
        _CRITERION, _TURN_SET, count("turns"), count("pairs"), count("relevant", "pairs"),
    )  # fmt: skip
    measures = table(
        "measures", "Mean scores of the runs over turns.",
        text("system", header="System"), _CRITERION, _TURN_SET, metric(),
        *score("value").between(says="95% CI, cluster-robust t over units; null for fewer than five"),
        count("turns", "evaluated"), count("answered", "turns with an item in the run"),
        count("units", "independent conversations or turns"), text("note", "caveats of the interval"),
    )  # fmt: skip
    agreement = table(
        "agreement", "Agreement of the workers before and after the exclusion of unreliable workers.",
        text("stage", "before or after", "Stage"), _CRITERION, count("items"), count("raters"),
        share("agreement", "equal grades among all pairs of grades for the same item", "agree"),
        *score("kappa", header="κ").between(says="95% CI of kappa, nested bootstrap-t over units; null for fewer than five"),
        *(score(f"alpha_{level}", header=level, group="Krippendorff's alpha") for level in _LEVELS),
        count("units", "independent conversations, turns or items"), text("note", "caveats of the interval"),
    )  # fmt: skip
    exclusions = table(
        "exclusions", "Excluded workers, by topic.",
        text("topic", header="Topic"), text("worker", header="Worker"), count("checks", "gold checks that the worker graded"),
        count("failed"), count("grades", "excluded"), text("reason", header="Reason"),
    )  # fmt: skip
    distribution = table(
        "distribution", "Final grades.", _CRITERION, count("grade"), count("count"), share("share", "of the criterion"),
    )  # fmt: skip
    grades = table(
        "grades", "The final grade of each item.",
        text("criterion"), text("turn"), text("item"), count("workers"), count("grade"), text("rule", "mode or mean"),
    )  # fmt: skip
    unmapped = table(
        "unmapped", "Questions that are not in the bank.",
        text("system", header="System"), text("turn", header="Turn"), text("question", header="Question"),
    )  # fmt: skip
    pool = table(
        "pool", "Items in the top of any run, to the depth of the pool.",
        text("turn", header="Turn"), text("item", header="Item"), count("runs", "with the item in their top"),
        count("best_rank"), text("text", "in the bank", "Text"),
    )  # fmt: skip

    graded: GradesPart | None
    seed: int

    @computes(agreement)
    def _agreement(self) -> pd.DataFrame | list[Any]:
        return _agreement(self.graded, self.evaluated.policy.unit, self.seed)


@dataclass(frozen=True)
class GradesPart:
    """Grades of the workers before and after exclusion, and final grades; ``checked``: there were gold checks."""

    before: Sequence[Grade]
    after: Sequence[Grade]
    exclusions: Table
    final: Table
    checked: bool


def judgments_of(
    criteria: Mapping[str, Qrels], level: int, subset: Collection[str] | None
) -> Judgments:
    """Return the judgments of each criterion by turn set."""
    return {criterion: turn_sets(qrels, level, subset) for criterion, qrels in criteria.items()}


def crowd(
    judgments: Judgments,
    rankings: Sequence[Ranking],
    measures: Sequence[Measure],
    evaluated: Evaluated,
    graded: GradesPart | None = None,
    mapped: Sequence[Mapped] = (),
    pool: Sequence[tuple[Any, ...]] = (),
    seed: int = 0,
) -> Crowd:
    """Score the runs on every criterion and turn set, and return the result with all parts."""
    policy = evaluated.policy
    judged = sorted(
        {turn for sets in judgments.values() for turn in sets["all"].turns}, key=turn_sort_key
    )
    units = units_of(judged, evaluated.grouping)
    place = {turn: row for row, turn in enumerate(judged)}
    sizes: list[tuple[Any, ...]] = []
    scores: list[tuple[Any, ...]] = []
    for criterion, sets in judgments.items():
        for name, qrels in sets.items():
            key, relevant = (criterion, name), int((qrels.grades >= policy.relevance_level).sum())
            sizes.append((*key, len(qrels.turns), len(qrels), relevant))
            scores += [
                (run, *key, *row)
                for run, *row in _measures(qrels, rankings, measures, policy, place, units)
            ]
    if scores:
        notes = (*evaluated.notes, *((units.note,) if units.note else ()))
        evaluated = replace(evaluated, notes=notes, unit=units.kind, units=units.count)
    content = Crowd.built(
        qrels=sizes,
        measures=scores,
        exclusions=graded.exclusions if graded else (),
        distribution=_distribution(judgments),
        grades=graded.final if graded else (),
        unmapped=[
            (one.run.name, utterance.turn, utterance.question)
            for one in mapped
            for utterance in one.unmapped
        ],
        pool=pool,
    )
    return Crowd(evaluated, graded, seed, content=content)


def _distribution(judgments: Judgments) -> Iterator[tuple[str, int, int, float]]:
    """Yield criterion, grade, count and share of all judgments."""
    for criterion, sets in judgments.items():
        grades, counts = np.unique(sets["all"].grades, return_counts=True)
        for grade, number in zip(grades.tolist(), counts.tolist(), strict=True):
            yield criterion, grade, number, number / len(sets["all"])


def _measures(
    qrels: Qrels, rankings: Sequence[Ranking], measures: Sequence[Measure], policy: EvaluationPolicy, place: Mapping[str, int],
    units: Units,
) -> Iterator[tuple[Any, ...]]:  # fmt: skip
    """Yield run, measure and mean on the turns of ``qrels``.

    ``place`` and ``units``: row and sampling unit of each turn of all judgments.
    """
    matrices = [grade_matrix(ranking, qrels) for ranking in rankings]
    lacking = (
        np.any([matrix.missing for matrix in matrices], axis=0)
        if matrices
        else np.zeros(0, dtype=bool)
    )
    out = {"zero": np.zeros_like(lacking), "drop": lacking}
    for matrix in matrices:
        use = ~out.get(policy.missing, matrix.missing)
        scores = evaluate(matrix, measures, policy).take(use)
        covered = int((~matrix.missing[use]).sum())
        own = units.take([place[turn] for turn in scores.turns])
        for measure in measures:
            values = scores[measure.name]
            bounds = (0.0, 1.0) if measure.family in NATIVE and not (values < 0).any() else None
            (found,) = mean_estimates(own.sums(values), own.sizes, own.kind, bounds)
            yield matrix.name, measure.name, found, len(values), covered, found.units, found.note


def _agreement(graded: GradesPart | None, unit: Unit, seed: int) -> pd.DataFrame | list[Any]:
    if graded is None:
        return []
    parts = []
    for stage, grades in (("before", graded.before), ("after", graded.after))[: 1 + graded.checked]:
        scales = scales_of(as_ratings(grades))
        kappa, alpha = agreement_tables(scales, MIN_AGREEMENT, rating_units(scales, unit), seed)
        alphas = (
            alpha.pivot(index="criterion", columns="level", values="value")
            .add_prefix("alpha_")
            .reset_index()
        )
        whole = kappa.rename(columns={"value": "kappa"}).assign(stage=stage)
        parts.append(whole[whole["items"] > 0].merge(alphas, on="criterion"))
    criteria = {grade.criterion: place for place, grade in reversed(list(enumerate(graded.before)))}
    return pd.concat(parts).sort_values(
        "criterion", key=lambda names: names.map(criteria), kind="stable", ignore_index=True
    )


def build_pool(
    rankings: Sequence[Ranking], depth: int, texts: Mapping[str, str]
) -> list[tuple[Any, ...]]:
    """Return the rows of the table ``pool``: the items in the top ``depth`` of any run, by turn. ``texts``: item → text.

    Raises :class:`UsageError` without runs.
    """
    if not rankings:
        raise UsageError(
            "no-runs",
            "a pool needs runs",
            Message("add them with ", OptionName("run", "NAME=FILE")),
        )
    ranks: dict[tuple[str, str], list[int]] = {}
    for ranking in rankings:
        for turn, items in ranking.by_turn(depth):
            for rank, item in enumerate(items, 1):
                ranks.setdefault((turn, item), []).append(rank)
    ordered = sorted(ranks, key=lambda pair: tuple(map(turn_sort_key, pair)))
    return [(*pair, len(ranks[pair]), min(ranks[pair]), texts.get(pair[1], "")) for pair in ordered]
