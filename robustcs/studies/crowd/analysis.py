"""Crowd judgments: from single grades to qrels, from texts to runs, and the evaluation of the ones by the others.

Source: CAsT-ReGIn (TREC CAsT 2022), "Crowdsourcing and filtering process", "Evaluation details".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.matrix import grade_matrix
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.measures import evaluate
from robustcs.evaluation.ranking import Ranking
from robustcs.evaluation.rating_scales import MIN_AGREEMENT, agreement_tables, scales_of
from robustcs.inputs.crowd import Grade, as_ratings
from robustcs.inputs.mixed_initiative import Mapped
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.turns import turn_sort_key
from robustcs.result import Evaluated, Result, count, number, score, share, table, text
from robustcs.statistics.intervals import bootstrap_mean
from robustcs.studies.crowd.grades import EXCLUSIONS, GRADES, Exclusion, FinalGrade, turn_sets

if TYPE_CHECKING:
    import pandas as pd

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
    text("run", header="Run"), _CRITERION, _TURN_SET, text("metric"), score("value"), number("ci_low", "bootstrap over turns"),
    number("ci_high"), count("turns", "evaluated"), count("answered", "turns that the run has"),
)  # fmt: skip
_AGREEMENT = table(
    "agreement", "How far workers agree, before and after leaving out some of them.",
    text("stage", "before or after", "Stage"), _CRITERION, count("items"), count("raters"),
    share("agreement", "of pairs of grades", "agree"), score("kappa", header="κ"),
    *(score(f"alpha_{level}", header=level, group="Krippendorff's alpha") for level in _LEVELS),
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
    """Tables of parts that were not asked for have no rows."""

    study = "crowd"
    declared = (_QRELS, _MEASURES, _AGREEMENT, EXCLUSIONS, _DISTRIBUTION, GRADES, _MAPPING, _UNMAPPED, _POOL)

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
    scores = [
        row
        for criterion, sets in judgments.items()
        for name, qrels in sets.items()
        for row in _measures(criterion, name, qrels, rankings, measures, evaluated, seed)
    ]
    level = evaluated.policy.relevance_level
    sizes = [
        (criterion, name, len(qrels.turns), len(qrels), int((qrels.grades >= level).sum()))
        for criterion, sets in judgments.items()
        for name, qrels in sets.items()
    ]
    mapping = [(one.run.name, len(one.run), *one.how.values(), len(one.unmapped)) for one in mapped]
    unmapped = [(one.run.name, asked.turn, asked.question) for one in mapped for asked in one.unmapped]
    return Crowd(
        evaluated,
        qrels=_QRELS.frame(sizes),
        measures=_MEASURES.frame(scores),
        agreement=_agreement(graded, seed),
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
    evaluated: Evaluated,
    seed: int,
) -> list[tuple[Any, ...]]:
    matrices = [grade_matrix(ranking, qrels) for ranking in rankings]
    lacking = np.any([matrix.missing for matrix in matrices], axis=0) if matrices else np.zeros(0, dtype=bool)
    use = ~lacking if evaluated.policy.missing == "drop" else np.ones(len(lacking), dtype=bool)
    rows = []
    for matrix in matrices:
        scores = evaluate(matrix, measures, evaluated.policy)[use]
        answered = int((~matrix.missing[use]).sum())
        for name, values in scores.items():
            mean = float(values.mean()) if len(values) else float("nan")
            interval = bootstrap_mean(values.to_numpy(), seed)
            rows.append((matrix.name, criterion, turn_set, name, mean, *interval, len(values), answered))
    return rows


def _agreement(graded: GradesPart | None, seed: int) -> pd.DataFrame:
    if graded is None:
        return _AGREEMENT.frame([])
    stages = [("before", graded.before), *([("after", graded.after)] if graded.checked else [])]
    rows = []
    for stage, grades in stages:
        kappa, alpha, agreement = agreement_tables(scales_of(as_ratings(grades)), MIN_AGREEMENT, seed)
        alphas = alpha.pivot(index="criterion", columns="level", values="value")
        for row, raw in zip(kappa.itertuples(), agreement.itertuples(), strict=True):
            if row.items:
                values = [alphas.loc[row.criterion, level] for level in _LEVELS]
                rows.append((stage, row.criterion, row.items, row.raters, raw.agreement, row.value, *values))
    criteria = list(dict.fromkeys(grade.criterion for grade in graded.before))
    rows.sort(key=lambda row: criteria.index(row[1]))
    return _AGREEMENT.frame(rows)


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
