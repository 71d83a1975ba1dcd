"""Crowd judgments: from single grades to qrels, from texts to runs, and the evaluation of the ones by the others.

Source: CAsT-ReGIn (TREC CAsT 2022), "Crowdsourcing and filtering process", "Evaluation details".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.matrix import grade_matrix
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.measures import NATIVE, evaluate
from robustcs.evaluation.ranking import Ranking
from robustcs.evaluation.rating_scales import MIN_AGREEMENT, agreement_tables, rating_units, scales_of
from robustcs.inputs.crowd import Grade, as_ratings
from robustcs.inputs.mixed_initiative import Mapped
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.turns import turn_sort_key
from robustcs.lazy import pd
from robustcs.policy import EvaluationPolicy, Unit
from robustcs.result import Evaluated, Result, count, number, score, share, table, text
from robustcs.statistics.means import mean_estimates
from robustcs.statistics.units import Units, units_of
from robustcs.studies.crowd.grades import EXCLUSIONS, GRADES, Exclusion, FinalGrade, turn_sets

#: Criterion → turn set [all, filtered, subset] → judgments.
Judgments = Mapping[str, Mapping[str, Qrels]]
_CRITERION, _TURN_SET = text("criterion", header="Criterion"), text("turn_set", "all, filtered or subset", "Turns")
_LEVELS = ("nominal", "ordinal", "interval")
_QRELS = table(
    "qrels", "The judgments; filtered are turns with a relevant grade.",
    _CRITERION, _TURN_SET, count("turns"), count("pairs"), count("relevant", "pairs"),
)  # fmt: skip
_MEASURES = table(
    "measures", "Means of the runs over turns.",
    text("run", header="Run"), _CRITERION, _TURN_SET, text("metric"), score("value"),
    number("ci_low", "95 %, cluster-robust t over units; null for fewer than five"), number("ci_high"),
    count("turns", "evaluated"), count("answered", "turns that the run has"),
    count("units", "independent conversations or turns"), text("note", "what must be known beside the interval"),
)  # fmt: skip
_AGREEMENT = table(
    "agreement", "How far workers agree, before and after leaving out some of them.",
    text("stage", "before or after", "Stage"), _CRITERION, count("items"), count("raters"),
    share("agreement", "of pairs of grades", "agree"), score("kappa", header="κ"),
    *(score(f"alpha_{level}", header=level, group="Krippendorff's alpha") for level in _LEVELS),
    number("ci_low", "of kappa: 95 %, nested bootstrap-t over units; null for fewer than five"), number("ci_high"),
    count("units", "independent conversations, turns or items"), text("note", "what must be known beside the interval"),
)  # fmt: skip
_DISTRIBUTION = table(
    "distribution", "Final grades.", _CRITERION, count("grade"), count("count"), share("share"),
)  # fmt: skip
_MAPPING = table(
    "mapping", "How the questions of a run were found in the bank.",
    text("run", header="Run"), count("questions"), count("id", group="found in the bank by"),
    count("exact", header="exact text", group="found in the bank by"), count("normalised", group="found in the bank by"),
    count("unmapped", header="not found"),
)  # fmt: skip
_UNMAPPED = table(
    "unmapped", "What the bank lacks.",
    text("run", header="Run"), text("turn", header="Turn"), text("question", header="Question"),
)  # fmt: skip
_POOL = table(
    "pool", "What stands in the top of any run.",
    text("turn", header="Turn"), text("item", header="Item"), count("runs", "that have it in their top"), count("best_rank"),
    text("text", "of the bank", "Text"),
)  # fmt: skip


@dataclass(frozen=True)
class Crowd(Result):
    """Tables of parts that were not asked for have no rows.

    graded_unit
        What is independent in the agreement of workers: conversation, turn or item; empty without grades.
    """

    study = "crowd"
    declared = (_QRELS, _MEASURES, _AGREEMENT, EXCLUSIONS, _DISTRIBUTION, GRADES, _MAPPING, _UNMAPPED, _POOL)

    graded_unit: str
    qrels: pd.DataFrame
    measures: pd.DataFrame
    agreement: pd.DataFrame
    exclusions: pd.DataFrame
    distribution: pd.DataFrame
    grades: pd.DataFrame
    mapping: pd.DataFrame
    unmapped: pd.DataFrame
    pool: pd.DataFrame


@dataclass(frozen=True)
class GradesPart:
    """Grades of workers before and after exclusion, and what they come to; ``checked``: there were gold checks."""

    before: Sequence[Grade]
    after: Sequence[Grade]
    exclusions: Sequence[Exclusion]
    final: Sequence[FinalGrade]
    checked: bool


def judgments_of(criteria: Mapping[str, Qrels], level: int, subset: Collection[str] | None) -> Judgments:
    """Every criterion's judgments by turn set."""
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
    """Put the parts together; runs are evaluated on every criterion and turn set."""
    judged = sorted({turn for sets in judgments.values() for turn in sets["all"].turns}, key=turn_sort_key)
    units = units_of(judged, evaluated.policy.unit)
    scores = [
        row
        for criterion, sets in judgments.items()
        for name, qrels in sets.items()
        for row in _measures(criterion, name, qrels, rankings, measures, evaluated.policy, (judged, units))
    ]
    if scores:
        notes = (*evaluated.notes, *((units.note,) if units.note else ()))
        evaluated = replace(evaluated, notes=notes, unit=units.kind, units=units.count)
    level = evaluated.policy.relevance_level
    sizes = [
        (criterion, name, len(qrels.turns), len(qrels), int((qrels.grades >= level).sum()))
        for criterion, sets in judgments.items()
        for name, qrels in sets.items()
    ]
    mapping = [(one.run.name, len(one.run), *one.how.values(), len(one.unmapped)) for one in mapped]
    unmapped = [(one.run.name, asked.turn, asked.question) for one in mapped for asked in one.unmapped]
    agreement, graded_unit = _agreement(graded, evaluated.policy.unit, seed)
    return Crowd(
        evaluated,
        graded_unit,
        qrels=_QRELS.frame(sizes),
        measures=_MEASURES.frame(scores),
        agreement=agreement,
        exclusions=EXCLUSIONS.frame(graded.exclusions if graded else []),
        distribution=_distribution(judgments),
        grades=GRADES.frame(graded.final if graded else []),
        mapping=_MAPPING.frame(mapping),
        unmapped=_UNMAPPED.frame(unmapped),
        pool=_POOL.frame([]) if pool is None else pool,
    )


def _measures(
    criterion: str,
    turn_set: str,
    qrels: Qrels,
    rankings: Sequence[Ranking],
    measures: Sequence[Measure],
    policy: EvaluationPolicy,
    judged: tuple[Sequence[str], Units],
) -> list[tuple[Any, ...]]:
    """The rows of a turn set; ``judged``: all turns of the judgments, and their units."""
    matrices = [grade_matrix(ranking, qrels) for ranking in rankings]
    lacking = np.any([matrix.missing for matrix in matrices], axis=0) if matrices else np.zeros(0, dtype=bool)
    uses = {"zero": np.zeros(len(lacking), dtype=bool), "drop": lacking}
    place = {turn: row for row, turn in enumerate(judged[0])}
    rows = []
    for matrix in matrices:
        use = ~uses.get(policy.missing, matrix.missing)
        scores = evaluate(matrix, measures, policy)[use]
        answered = int((~matrix.missing[use]).sum())
        own = judged[1].take([place[turn] for turn in scores.index])
        for measure in measures:
            values = scores[measure.name].to_numpy()
            bounds = (0.0, 1.0) if measure.family in NATIVE and not (values < 0).any() else None
            (found,) = mean_estimates(own.sums(values), own.sizes, own.kind, bounds)
            rows.append((
                matrix.name, criterion, turn_set, measure.name, found.value, found.low, found.high, len(values), answered,
                found.units, found.note,
            ))  # fmt: skip
    return rows


def _agreement(graded: GradesPart | None, unit: Unit, seed: int) -> tuple[pd.DataFrame, str]:
    """The table, and what is independent in it."""
    if graded is None:
        return _AGREEMENT.frame([]), ""
    stages = [("before", graded.before), *([("after", graded.after)] if graded.checked else [])]
    rows, kind = [], ""
    for stage, grades in stages:
        scales = scales_of(as_ratings(grades))
        units = rating_units(scales, unit)
        kind = kind or max(units.values(), key=lambda own: own.count).kind
        kappa, alpha, agreement = agreement_tables(scales, MIN_AGREEMENT, units, seed)
        alphas = alpha.pivot(index="criterion", columns="level", values="value")
        for row, raw in zip(kappa.itertuples(), agreement.itertuples(), strict=True):
            if row.items:
                values = [alphas.loc[row.criterion, level] for level in _LEVELS]
                of_kappa = (row.ci_low, row.ci_high, row.units, row.note)
                rows.append((stage, row.criterion, row.items, row.raters, raw.agreement, row.value, *values, *of_kappa))
    criteria = list(dict.fromkeys(grade.criterion for grade in graded.before))
    rows.sort(key=lambda row: criteria.index(row[1]))
    return _AGREEMENT.frame(rows), kind


def _distribution(judgments: Judgments) -> pd.DataFrame:
    rows = []
    for criterion, sets in judgments.items():
        grades, counts = np.unique(sets["all"].grades, return_counts=True)
        rows += [(criterion, int(grade), int(count), count / counts.sum()) for grade, count in zip(grades, counts, strict=True)]
    return _DISTRIBUTION.frame(rows)


def build_pool(rankings: Sequence[Ranking], depth: int, texts: Mapping[str, str]) -> pd.DataFrame:
    """The table ``pool``: what stands in the top ``depth`` of any run, by turn and item. ``texts``: item → text.

    Raises :class:`UsageError` without runs.
    """
    if not rankings:
        raise UsageError("no-runs", "a pool is made of runs", "name them with --run NAME=FILE")
    ranks: dict[tuple[str, str], list[int]] = {}
    for ranking in rankings:
        for place, turn in enumerate(ranking.turns):
            start, end = int(ranking.starts[place]), int(ranking.starts[place + 1])
            top = ranking.document_codes[start : min(end, start + depth)]
            for rank, code in enumerate(top.tolist(), 1):
                ranks.setdefault((turn, ranking.documents[code].as_py()), []).append(rank)
    ordered = sorted(ranks, key=lambda pair: (turn_sort_key(pair[0]), turn_sort_key(pair[1])))
    rows = [(*pair, len(ranks[pair]), min(ranks[pair]), texts.get(pair[1], "")) for pair in ordered]
    return _POOL.frame(rows)
