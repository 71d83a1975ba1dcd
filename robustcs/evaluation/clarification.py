"""Evaluation of clarifying questions as in ClariQ: recall of questions, document relevance after asking, clarification need."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from robustcs.errors import UsageError
from robustcs.evaluation.matrix import grade_matrix
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.measures import score_columns
from robustcs.evaluation.ranking import Ranking
from robustcs.inputs.clariq import BEST, NEEDS, NO_QUESTION, WORST, QuestionScores, UnitScores
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.runs import Run
from robustcs.policy import EvaluationPolicy
from robustcs.statistics import Codes, Floats, quotient

#: k of Recall@k.
CUTOFFS = (5, 10, 20, 30)
#: Measures of document relevance, as ClariQ names them, in the order of its tables.
DOCUMENT_MEASURES = (
    *(f"NDCG{k}" for k in (1, 3, 5, 10, 20)), *(f"P{k}" for k in (1, 3, 5, 10, 20)), "MRR100",
)  # fmt: skip
_FAMILIES = {"NDCG": "ndcg", "P": "P", "MRR": "recip_rank"}

#: Outcome for a unit: its question was asked, or has no value for the unit; or there was no output.
Outcome = Literal["asked", "no candidate", "no output"]


# ---------------------------------------------------------------- questions


@dataclass(frozen=True)
class QuestionLists:
    """The questions of a run.

    by_topic
        Topic (or context) → its questions, best first.
    tied
        Number of topics whose best question has the same score (or rank) as another one.
    """

    by_topic: dict[str, list[str]]
    tied: int


def question_lists(run: Run, policy: EvaluationPolicy) -> QuestionLists:
    """Order a run by the policy: by score (float32) descending, ties by question id descending.

    A question that occurs twice in a topic keeps both ranks, as in the published evaluation of ClariQ. All questions with the
    same score are kept, whereas the official tool keeps only one of them.
    """
    keys = -run.scores if policy.order == "score" or run.ranks is None else run.ranks
    rows: dict[str, list[tuple[float, str]]] = {}
    for turn, key, question in zip(
        run.turn_codes.tolist(), keys.tolist(), run.ids.texts(), strict=True
    ):
        rows.setdefault(run.turns[turn], []).append((key, question))
    lists: dict[str, list[str]] = {}
    tied = 0
    for topic, own in rows.items():
        if policy.order == "score":
            own.sort(key=lambda row: row[1], reverse=True)
        own.sort(key=lambda row: row[0])
        tied += any(key == own[0][0] and question != own[0][1] for key, question in own)
        lists[topic] = [question for _, question in own][: policy.depth]
    return QuestionLists(lists, tied)


def recalls(lists: Mapping[str, Sequence[str]], relevant: Mapping[str, frozenset[str]]) -> Floats:
    """Return |top k ∩ S| / |S|: float64[topics of ``relevant``, k of :data:`CUTOFFS`], 0 for a topic without a list."""
    return np.array(
        [[len(wanted.intersection(lists.get(topic, ())[:k])) / len(wanted) for k in CUTOFFS]
         for topic, wanted in relevant.items()]
    ).reshape(len(relevant), len(CUTOFFS))  # fmt: skip


# ---------------------------------------------------------------- documents


@dataclass(frozen=True)
class Asked:
    """Document relevance of a system by measure and unit.

    asked, outcomes
        Unit → question, and unit → outcome; empty if the questions of the system are unknown.
    """

    scores: UnitScores
    asked: Mapping[str, str] = field(default_factory=dict)
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)


def after_asking(performance: QuestionScores, asked: Mapping[str, str]) -> Asked:
    """Return the values after asking ``asked`` (unit → question; a unit without one had no output and scores 0).

    A question without a value is not a candidate of the unit and gets its worst value.
    """
    scores: UnitScores = {measure: {} for measure in performance}
    outcomes: dict[str, Outcome] = {}
    for measure, units in performance.items():
        for unit, values in units.items():
            question = asked.get(unit)
            if question is None:
                scores[measure][unit], outcomes[unit] = 0.0, "no output"
            elif question in values and question not in (BEST, WORST):
                scores[measure][unit], outcomes[unit] = values[question], "asked"
            else:
                scores[measure][unit], outcomes[unit] = worst(values), "no candidate"
    return Asked(scores, asked, outcomes)


def worst(values: Mapping[str, float]) -> float:
    """Return the worst value of a unit: that of the table, or else the lowest of its questions."""
    return values[WORST] if WORST in values else min(values.values())


def baselines(performance: QuestionScores) -> dict[str, UnitScores]:
    """Return the baselines ``no``, ``worst`` and ``best``: no question, or the worst or best one of every unit and measure.

    ``no`` is absent if a unit has no value without a question.
    """
    found: dict[str, UnitScores] = {}
    if all(NO_QUESTION in values for units in performance.values() for values in units.values()):
        found["no"] = _pick(performance, lambda values: values[NO_QUESTION])
    found["worst"] = _pick(performance, worst)
    found["best"] = _pick(
        performance, lambda values: values[BEST] if BEST in values else max(values.values())
    )
    return found


def _pick(
    performance: QuestionScores, choose: Callable[[Mapping[str, float]], float]
) -> UnitScores:
    return {
        measure: {unit: choose(values) for unit, values in units.items()}
        for measure, units in performance.items()
    }


def document_measure(name: str) -> Measure:
    """Return the measure named ``NDCG3``, ``P1`` or ``MRR100`` in ClariQ."""
    family, cutoff = re.fullmatch(r"([A-Z]+)([0-9]+)", name).groups()  # type: ignore[union-attr]
    return Measure(name, _FAMILIES[family], int(cutoff))


def facet_scores(ranking: Ranking, qrels: Qrels, policy: EvaluationPolicy) -> UnitScores:
    """Return the document relevance of a ranking by facet, for the judged facets that it has."""
    matrix = grade_matrix(ranking, qrels)
    columns = score_columns(matrix, [document_measure(name) for name in DOCUMENT_MEASURES], policy)
    return {
        name: {
            facet: float(value)
            for facet, value, lacks in zip(matrix.turns, values, matrix.missing, strict=True) if not lacks
        }
        for name, values in columns.items()
    }  # fmt: skip


def performance_of(ranking: Ranking, qrels: Qrels, policy: EvaluationPolicy) -> QuestionScores:
    """Return the document relevance by question, for a run with ids ``FACET_QUESTION`` (``F0010_Q00697``).

    Unjudged facets are excluded. Raises :class:`UsageError` if no id has this form and a judged facet.
    """
    code_of = {facet: code for code, facet in enumerate(qrels.turns)}
    order = np.argsort(qrels.turn_codes, kind="stable")
    bounds = np.searchsorted(qrels.turn_codes[order], np.arange(len(qrels.turns) + 1))
    asked = [(turn, *turn.rpartition("_")[::2]) for turn in ranking.turns]
    asked = [
        (turn, facet, question) for turn, facet, question in asked if facet in code_of and question
    ]
    if not asked:
        raise UsageError(
            "no-common-facets", f"no id of {ranking.name} consists of a judged facet and a question, such as F0010_Q00697",
            f"check the ids: the first of the run is {ranking.turns[0]!r}, the first facet of the qrels is {qrels.turns[0]!r}",
        )  # fmt: skip
    # the ranking of every question is scored with the qrels of its facet
    rows = [order[bounds[code_of[facet]] : bounds[code_of[facet] + 1]] for _, facet, _ in asked]
    chosen = np.concatenate(rows)
    expanded = Qrels(
        name=qrels.name,
        turns=tuple(turn for turn, _, _ in asked),
        turn_codes=np.repeat(np.arange(len(asked), dtype=np.int32), [len(part) for part in rows]),
        ids=qrels.ids.take(chosen),
        grades=qrels.grades[chosen],
    )
    by_turn = facet_scores(ranking, expanded, policy)
    scores: QuestionScores = {}
    for measure, values in by_turn.items():
        units = scores[measure] = {}
        for turn, facet, question in asked:
            units.setdefault(facet, {})[question] = values[turn]
    return scores


# ---------------------------------------------------------------- clarification need


def confusion(true: npt.ArrayLike, predicted: npt.ArrayLike) -> Codes:
    """Return int64[4, 5]: numbers of topics by true label (row) and predicted label (column 0: no prediction; 1 to 4)."""
    table = np.zeros((len(NEEDS), len(NEEDS) + 1), dtype=np.int64)
    np.add.at(
        table, (np.asarray(true, dtype=np.int64) - 1, np.asarray(predicted, dtype=np.int64)), 1
    )
    return table


def label_scores(table: np.ndarray) -> tuple[Floats, ...]:
    """Return precision, recall and F1 of every label (0 if undefined) from one or several :func:`confusion` tables."""
    right = np.diagonal(table[..., 1:], axis1=-2, axis2=-1)
    return (
        quotient(right, table[..., 1:].sum(axis=-2)),
        quotient(right, table.sum(axis=-1)),
        quotient(2 * right, table[..., 1:].sum(axis=-2) + table.sum(axis=-1)),
    )


def weighted_scores(table: np.ndarray) -> Floats:
    """Return precision, recall and F1 [..., 3], averaged over labels by their number of topics.

    Equal to scikit-learn's ``precision_recall_fscore_support(average="weighted", zero_division=0)``. A topic without a
    prediction counts as wrong.
    """
    support = table.sum(axis=-1)
    return np.stack(
        [quotient((scores * support).sum(-1), support.sum(-1)) for scores in label_scores(table)],
        axis=-1,
    )
