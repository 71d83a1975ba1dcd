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
from robustcs.evaluation.measures import Measure, evaluate
from robustcs.evaluation.ranking import Ranking
from robustcs.inputs.crowd import Grade, as_ratings
from robustcs.inputs.mixed_initiative import Mapped
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.turns import turn_sort_key
from robustcs.result import Evaluated, Result
from robustcs.statistics.intervals import bootstrap_mean
from robustcs.studies.agreement.ratings import MIN_AGREEMENT, agreement_tables, scales_of
from robustcs.studies.crowd.grades import Exclusion, FinalGrade, turn_sets

if TYPE_CHECKING:
    import pandas as pd

#: Criterion → turn set [all, filtered, subset] → judgments.
Judgments = Mapping[str, Mapping[str, Qrels]]


@dataclass(frozen=True)
class Crowd(Result):
    """Tables of parts that were not asked for have no rows.

    qrels
        criterion, turn_set [all, filtered (turns with a relevant grade), subset], turns, pairs, relevant (pairs).
    measures
        run, criterion, turn_set, metric, value, ci_low, ci_high (bootstrap over turns), turns (evaluated), answered (turns that
        the run has).
    agreement
        stage [before, after (leaving out workers)], criterion, items, raters, agreement (of pairs of grades), kappa,
        alpha_nominal, alpha_ordinal, alpha_interval.
    exclusions
        topic, worker, checks (gold checks that the worker graded), failed, grades (left out), reason.
    distribution
        criterion, grade, count, share: final grades.
    grades
        criterion, turn, item, workers, grade, rule [mode, mean]: the final grade of every item.
    mapping
        run, questions, id, exact, normalised, unmapped: how the questions of a run were found in the bank.
    unmapped
        run, turn, question: what the bank lacks; left out of the run.
    pool
        turn, item, runs (how many have it in their top), best_rank, text (of the bank).
    """

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
    import pandas as pd

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
    columns = ["run", "criterion", "turn_set", "metric", "value", "ci_low", "ci_high", "turns", "answered"]
    counts = ["run", "questions", "id", "exact", "normalised", "unmapped"]
    mapping = [
        (one.run.name, len(one.run), *one.how.values(), len(one.unmapped)) for one in mapped
    ]
    unmapped = [(one.run.name, asked.turn, asked.question) for one in mapped for asked in one.unmapped]
    return Crowd(
        evaluated,
        qrels=pd.DataFrame(sizes, columns=["criterion", "turn_set", "turns", "pairs", "relevant"]),
        measures=pd.DataFrame(scores, columns=columns),
        agreement=_agreement(graded, seed),
        exclusions=pd.DataFrame(list(graded.exclusions) if graded else [], columns=list(Exclusion._fields)),
        distribution=_distribution(judgments),
        grades=pd.DataFrame(list(graded.final) if graded else [], columns=list(FinalGrade._fields)),
        mapping=pd.DataFrame(mapping, columns=counts),
        unmapped=pd.DataFrame(unmapped, columns=["run", "turn", "question"]),
        pool=pd.DataFrame(columns=["turn", "item", "runs", "best_rank", "text"]) if pool is None else pool,
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
    import pandas as pd

    columns = ["stage", "criterion", "items", "raters", "agreement", "kappa",
               "alpha_nominal", "alpha_ordinal", "alpha_interval"]  # fmt: skip
    if graded is None:
        return pd.DataFrame(columns=columns)
    stages = [("before", graded.before), *([("after", graded.after)] if graded.checked else [])]
    rows = []
    for stage, grades in stages:
        kappa, alpha, agreement = agreement_tables(scales_of(as_ratings(grades)), MIN_AGREEMENT, seed)
        alphas = alpha.pivot(index="criterion", columns="level", values="value")
        for row, raw in zip(kappa.itertuples(), agreement.itertuples(), strict=True):
            if row.items:
                values = [alphas.loc[row.criterion, level] for level in ("nominal", "ordinal", "interval")]
                rows.append((stage, row.criterion, row.items, row.raters, raw.agreement, row.value, *values))
    criteria = list(dict.fromkeys(grade.criterion for grade in graded.before))
    rows.sort(key=lambda row: criteria.index(row[1]))
    return pd.DataFrame(rows, columns=columns)


def _distribution(judgments: Judgments) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for criterion, sets in judgments.items():
        grades, counts = np.unique(sets["all"].grades, return_counts=True)
        rows += [(criterion, int(grade), int(count), count / counts.sum()) for grade, count in zip(grades, counts, strict=True)]
    return pd.DataFrame(rows, columns=["criterion", "grade", "count", "share"])


def build_pool(rankings: Sequence[Ranking], depth: int, texts: Mapping[str, str]) -> pd.DataFrame:
    """The table ``pool``: what stands in the top ``depth`` of any run, by turn and item. ``texts``: item → text.

    Raises :class:`UsageError` without runs.
    """
    import pandas as pd

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
    return pd.DataFrame(rows, columns=["turn", "item", "runs", "best_rank", "text"])
