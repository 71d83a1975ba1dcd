"""Crowd judgments: turn single grades into qrels and texts into runs, and score the runs on the qrels.

Source: CAsT-ReGIn (TREC CAsT 2022), "Crowdsourcing and filtering process", "Evaluation details".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.matrix import grade_matrix
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.measures import NATIVE, evaluate
from robustcs.evaluation.ranking import Ranking
from robustcs.evaluation.rating_scales import agreement_tables, rating_units, scales_of
from robustcs.inputs.mixed_initiative import Mapped
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.ratings import Grade, as_ratings
from robustcs.inputs.turns import turn_sort_key
from robustcs.lazy import pd
from robustcs.policy import EvaluationPolicy, Unit
from robustcs.result import Evaluated, Result, count, score, share, table, text
from robustcs.result import measure as metric
from robustcs.statistics.estimate import MIN_AGREEMENT
from robustcs.statistics.means import mean_estimates
from robustcs.statistics.units import Units, units_of
from robustcs.studies.crowd.grades import EXCLUSIONS, GRADES, Exclusion, FinalGrade, turn_sets

#: Criterion → turn set [all, filtered, subset] → judgments.
Judgments = Mapping[str, Mapping[str, Qrels]]
_CRITERION, _TURN_SET = text("criterion", header="Criterion"), text("turn_set", "all, filtered or subset", "Turns")
_LEVELS = ("nominal", "ordinal", "interval")
_QRELS = table(
    "qrels", "Number of judgments by criterion and turn set; filtered: turns with a relevant grade.",
    _CRITERION, _TURN_SET, count("turns"), count("pairs"), count("relevant", "pairs"),
)  # fmt: skip
_MEASURES = table(
    "measures", "Mean scores of the runs over turns.",
    text("system", header="System"), _CRITERION, _TURN_SET, metric(),
    *score("value").between(says="95% CI, cluster-robust t over units; null for fewer than five"),
    count("turns", "evaluated"), count("answered", "turns with an item in the run"),
    count("units", "independent conversations or turns"), text("note", "caveats of the interval"),
)  # fmt: skip
_AGREEMENT = table(
    "agreement", "Agreement of the workers before and after the exclusion of unreliable workers.",
    text("stage", "before or after", "Stage"), _CRITERION, count("items"), count("raters"),
    share("agreement", "equal grades among all pairs of grades for the same item", "agree"),
    *score("kappa", header="κ").between(says="95% CI of kappa, nested bootstrap-t over units; null for fewer than five"),
    *(score(f"alpha_{level}", header=level, group="Krippendorff's alpha") for level in _LEVELS),
    count("units", "independent conversations, turns or items"), text("note", "caveats of the interval"),
)  # fmt: skip
_UNMAPPED = table(
    "unmapped", "Questions that are not in the bank.",
    text("system", header="System"), text("turn", header="Turn"), text("question", header="Question"),
)  # fmt: skip
_POOL = table(
    "pool", "Items in the top of any run, to the depth of the pool.",
    text("turn", header="Turn"), text("item", header="Item"), count("runs", "with the item in their top"), count("best_rank"),
    text("text", "in the bank", "Text"),
)  # fmt: skip


@dataclass(frozen=True)
class Crowd(Result):
    """The result of ``robustcs crowd``. Tables of parts without input have no rows."""

    study = "crowd"
    declared = (_QRELS, _MEASURES, _AGREEMENT, EXCLUSIONS, GRADES, _UNMAPPED, _POOL)

    qrels: pd.DataFrame
    measures: pd.DataFrame
    agreement: pd.DataFrame
    exclusions: pd.DataFrame
    grades: pd.DataFrame
    unmapped: pd.DataFrame
    pool: pd.DataFrame


@dataclass(frozen=True)
class GradesPart:
    """Grades of the workers before and after exclusion, and final grades; ``checked``: there were gold checks."""

    before: Sequence[Grade]
    after: Sequence[Grade]
    exclusions: Sequence[Exclusion]
    final: Sequence[FinalGrade]
    checked: bool


def judgments_of(criteria: Mapping[str, Qrels], level: int, subset: Collection[str] | None) -> Judgments:
    """Return the judgments of each criterion by turn set."""
    return {criterion: turn_sets(qrels, level, subset) for criterion, qrels in criteria.items()}


def crowd(
    judgments: Judgments,
    rankings: Sequence[Ranking],
    measures: Sequence[Measure],
    evaluated: Evaluated,
    graded: GradesPart | None = None,
    mapped: Sequence[Mapped] = (),
    pool: pd.DataFrame | None = None,
    seed: int = 0,
) -> Crowd:
    """Score the runs on every criterion and turn set, and return the result with all parts."""
    policy = evaluated.policy
    judged = sorted({turn for sets in judgments.values() for turn in sets["all"].turns}, key=turn_sort_key)
    units = units_of(judged, policy.unit)
    place = {turn: row for row, turn in enumerate(judged)}
    sizes: list[tuple[Any, ...]] = []
    scores: list[tuple[Any, ...]] = []
    for criterion, sets in judgments.items():
        for name, qrels in sets.items():
            key, relevant = (criterion, name), int((qrels.grades >= policy.relevance_level).sum())
            sizes.append((*key, len(qrels.turns), len(qrels), relevant))
            scores += [(run, *key, *row) for run, *row in _measures(qrels, rankings, measures, policy, place, units)]
    if scores:
        notes = (*evaluated.notes, *((units.note,) if units.note else ()))
        evaluated = replace(evaluated, notes=notes, unit=units.kind, units=units.count)
    return Crowd(
        evaluated,
        qrels=_QRELS.frame(sizes),
        measures=_MEASURES.frame(scores),
        agreement=_agreement(graded, policy.unit, seed),
        exclusions=EXCLUSIONS.frame(graded.exclusions if graded else []),
        grades=GRADES.frame(graded.final if graded else []),
        unmapped=_UNMAPPED.frame([(one.run.name, asked.turn, asked.question) for one in mapped for asked in one.unmapped]),
        pool=_POOL.frame([]) if pool is None else pool,
    )


def _measures(
    qrels: Qrels, rankings: Sequence[Ranking], measures: Sequence[Measure], policy: EvaluationPolicy, place: Mapping[str, int],
    units: Units,
) -> Iterator[tuple[Any, ...]]:  # fmt: skip
    """Yield run, measure and mean on the turns of ``qrels``.

    ``place`` and ``units``: row and sampling unit of each turn of all judgments.
    """
    matrices = [grade_matrix(ranking, qrels) for ranking in rankings]
    lacking = np.any([matrix.missing for matrix in matrices], axis=0) if matrices else np.zeros(0, dtype=bool)
    out = {"zero": np.zeros_like(lacking), "drop": lacking}
    for matrix in matrices:
        use = ~out.get(policy.missing, matrix.missing)
        scores = evaluate(matrix, measures, policy).take(use)
        answered = int((~matrix.missing[use]).sum())
        own = units.take([place[turn] for turn in scores.turns])
        for measure in measures:
            values = scores[measure.name]
            bounds = (0.0, 1.0) if measure.family in NATIVE and not (values < 0).any() else None
            (found,) = mean_estimates(own.sums(values), own.sizes, own.kind, bounds)
            yield matrix.name, measure.name, found, len(values), answered, found.units, found.note


def _agreement(graded: GradesPart | None, unit: Unit, seed: int) -> pd.DataFrame:
    if graded is None:
        return _AGREEMENT.frame([])
    parts = []
    for stage, grades in (("before", graded.before), ("after", graded.after))[: 1 + graded.checked]:
        scales = scales_of(as_ratings(grades))
        kappa, alpha = agreement_tables(scales, MIN_AGREEMENT, rating_units(scales, unit), seed)
        alphas = alpha.pivot(index="criterion", columns="level", values="value").add_prefix("alpha_").reset_index()
        whole = kappa.rename(columns={"value": "kappa"}).assign(stage=stage)
        parts.append(whole[whole["items"] > 0].merge(alphas, on="criterion"))
    criteria = {grade.criterion: place for place, grade in reversed(list(enumerate(graded.before)))}
    frame = pd.concat(parts).sort_values("criterion", key=lambda names: names.map(criteria), kind="stable", ignore_index=True)
    return frame[[field.name for field in _AGREEMENT.fields]]


def build_pool(rankings: Sequence[Ranking], depth: int, texts: Mapping[str, str]) -> pd.DataFrame:
    """Return the table ``pool``: the items in the top ``depth`` of any run, by turn. ``texts``: item → text.

    Raises :class:`UsageError` without runs.
    """
    if not rankings:
        raise UsageError("no-runs", "a pool needs runs", "add them with --run NAME=FILE")
    ranks: dict[tuple[str, str], list[int]] = {}
    for ranking in rankings:
        for turn, items in ranking.by_turn(depth):
            for rank, item in enumerate(items, 1):
                ranks.setdefault((turn, item), []).append(rank)
    ordered = sorted(ranks, key=lambda pair: tuple(map(turn_sort_key, pair)))
    return _POOL.frame([(*pair, len(ranks[pair]), min(ranks[pair]), texts.get(pair[1], "")) for pair in ordered])
