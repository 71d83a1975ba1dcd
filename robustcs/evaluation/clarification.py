"""Evaluation of clarifying questions as in ClariQ.

Three tasks: recall of questions, relevance of documents after asking, and the need to ask.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

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
_DOCUMENT_CUTOFFS = (1, 3, 5, 10, 20)
#: Measures of document relevance, as ClariQ names them, in the order of its tables.
DOCUMENT_MEASURES = (
    *(f"NDCG{k}" for k in _DOCUMENT_CUTOFFS),
    *(f"P{k}" for k in _DOCUMENT_CUTOFFS),
    "MRR100",
)
#: ClariQ's name of a measure, without its cutoff → our family of measures.
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

    A question that occurs twice in a topic keeps both ranks, as in the published evaluation of
    ClariQ. All questions with the same score are kept, whereas the official tool keeps only one of
    them.
    """
    # the smallest key comes first
    keys = -run.scores if policy.order == "score" or run.ranks is None else run.ranks
    by_topic: dict[str, list[tuple[float, str]]] = {}
    for topic_code, key, question in zip(
        run.turn_codes.tolist(), keys.tolist(), run.ids.texts(), strict=True
    ):
        by_topic.setdefault(run.turns[topic_code], []).append((key, question))

    lists: dict[str, list[str]] = {}
    tied = 0
    for topic, questions in by_topic.items():
        if policy.order == "score":
            questions.sort(key=lambda row: row[1], reverse=True)
        # the sort is stable: questions with equal keys keep their order
        questions.sort(key=lambda row: row[0])
        tied += _is_tied(questions)
        lists[topic] = [question for _, question in questions][: policy.depth]
    return QuestionLists(lists, tied)


def _is_tied(questions: Sequence[tuple[float, str]]) -> bool:
    """Return whether another question has the key of the best one; ``questions``: (key, id)."""
    best_key, best = questions[0]
    return any(key == best_key and question != best for key, question in questions)


def recalls(lists: Mapping[str, Sequence[str]], relevant: Mapping[str, frozenset[str]]) -> Floats:
    """Return Recall@k = |top k ∩ S| / |S|, float64[topics of ``relevant``, k of :data:`CUTOFFS`].

    ``lists``: topic → its questions, best first; a topic without a list has recall 0. ``relevant``:
    topic → S, its relevant questions, at least one.
    """
    recall = np.zeros((len(relevant), len(CUTOFFS)))
    for row, (topic, questions) in enumerate(relevant.items()):
        ranked = lists.get(topic, ())
        for column, cutoff in enumerate(CUTOFFS):
            hits = questions.intersection(ranked[:cutoff])
            recall[row, column] = len(hits) / len(questions)
    return recall


# ---------------------------------------------------------------- documents


@dataclass(frozen=True)
class DocumentRelevance:
    """Document relevance of a system by measure and unit.

    questions, outcomes
        Unit → question, and unit → outcome; empty if the questions of the system are unknown.
    """

    scores: UnitScores
    questions: Mapping[str, str] = field(default_factory=dict)
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)


def after_questions(performance: QuestionScores, questions: Mapping[str, str]) -> DocumentRelevance:
    """Return the values after asking ``questions``, unit → question.

    A unit without a question had no output and scores 0. A question without a value is not a
    candidate of the unit and gets its worst value.
    """
    scores: UnitScores = {measure: {} for measure in performance}
    outcomes: dict[str, Outcome] = {}
    for measure, units in performance.items():
        for unit, values in units.items():
            question = questions.get(unit)
            if question is None:
                outcomes[unit] = "no output"
                scores[measure][unit] = 0.0
            elif question in values and question not in (BEST, WORST):
                outcomes[unit] = "asked"
                scores[measure][unit] = values[question]
            else:
                outcomes[unit] = "no candidate"
                scores[measure][unit] = worst(values)
    return DocumentRelevance(scores, questions, outcomes)


def worst(values: Mapping[str, float]) -> float:
    """Return the worst value of a unit: that of the table, or else the lowest of its questions."""
    return values[WORST] if WORST in values else min(values.values())


def _best(values: Mapping[str, float]) -> float:
    """Return the best value of a unit: that of the table, or else the highest of its questions."""
    return values[BEST] if BEST in values else max(values.values())


def _without_question(values: Mapping[str, float]) -> float:
    return values[NO_QUESTION]


def baselines(performance: QuestionScores) -> dict[str, UnitScores]:
    """Return the values of three baselines for every measure and unit.

    ``no`` asks no question, ``worst`` the worst one of the unit and measure, and ``best`` the best
    one. ``no`` is absent if a unit has no value without a question.
    """
    by_baseline: dict[str, UnitScores] = {}
    if all(NO_QUESTION in values for units in performance.values() for values in units.values()):
        by_baseline["no"] = _pick(performance, _without_question)
    by_baseline["worst"] = _pick(performance, worst)
    by_baseline["best"] = _pick(performance, _best)
    return by_baseline


def _pick(
    performance: QuestionScores, choose: Callable[[Mapping[str, float]], float]
) -> UnitScores:
    """Return the value that ``choose`` takes from the questions of each measure and unit."""
    scores: UnitScores = {}
    for measure, units in performance.items():
        scores[measure] = {unit: choose(values) for unit, values in units.items()}
    return scores


def document_measure(name: str) -> Measure:
    """Return the measure named ``NDCG3``, ``P1`` or ``MRR100`` in ClariQ."""
    family = name.rstrip(string.digits)
    cutoff = int(name.removeprefix(family))
    return Measure(name, _FAMILIES[family], cutoff)


def facet_scores(ranking: Ranking, qrels: Qrels, policy: EvaluationPolicy) -> UnitScores:
    """Return the document relevance of a ranking by facet, for the judged facets that it has."""
    matrix = grade_matrix(ranking, qrels)
    columns = score_columns(matrix, [document_measure(name) for name in DOCUMENT_MEASURES], policy)
    scores: UnitScores = {}
    for name, values in columns.items():
        by_facet = zip(matrix.turns, values, matrix.missing, strict=True)
        scores[name] = {facet: float(value) for facet, value, missing in by_facet if not missing}
    return scores


class _FacetQuestion(NamedTuple):
    """A question that was asked for a facet, and the id of its ranking: ``FACET_QUESTION``."""

    turn: str
    facet: str
    question: str


def performance_of(ranking: Ranking, qrels: Qrels, policy: EvaluationPolicy) -> QuestionScores:
    """Return the document relevance by question, for a run with ids ``FACET_QUESTION``.

    Such an id is ``F0010_Q00697``. Unjudged facets are excluded. Raises :class:`UsageError` if no
    id has this form and a judged facet.
    """
    questions = _facet_questions(ranking, qrels)
    if not questions:
        raise UsageError(
            "no-common-facets",
            f"no id of {ranking.name} consists of a judged facet and a question, such as"
            " F0010_Q00697",
            f"check the ids: the first of the run is {ranking.turns[0]!r}, the first facet of the"
            f" qrels is {qrels.turns[0]!r}",
        )
    by_turn = facet_scores(ranking, _qrels_by_question(qrels, questions), policy)
    scores: QuestionScores = {}
    for measure, values in by_turn.items():
        units: dict[str, dict[str, float]] = {}
        for turn, facet, question in questions:
            units.setdefault(facet, {})[question] = values[turn]
        scores[measure] = units
    return scores


def _facet_questions(ranking: Ranking, qrels: Qrels) -> list[_FacetQuestion]:
    """Return the turns of the ranking whose ids consist of a judged facet and a question."""
    judged = set(qrels.turns)
    questions = []
    for turn in ranking.turns:
        facet, _, question = turn.rpartition("_")
        if facet in judged and question:
            questions.append(_FacetQuestion(turn, facet, question))
    return questions


def _qrels_by_question(qrels: Qrels, questions: Sequence[_FacetQuestion]) -> Qrels:
    """Return qrels for the ranking of every question: those of its facet."""
    code_of = {facet: code for code, facet in enumerate(qrels.turns)}
    # the judgments in the order of facets: those of facet c are order[bounds[c] : bounds[c + 1]]
    order = np.argsort(qrels.turn_codes, kind="stable")
    bounds = np.searchsorted(qrels.turn_codes[order], np.arange(len(qrels.turns) + 1))
    judgments = []
    for _, facet, _ in questions:
        code = code_of[facet]
        judgments.append(order[bounds[code] : bounds[code + 1]])
    rows = np.concatenate(judgments)
    counts = [len(of_question) for of_question in judgments]
    return Qrels(
        name=qrels.name,
        turns=tuple(turn for turn, _, _ in questions),
        turn_codes=np.repeat(np.arange(len(questions), dtype=np.int32), counts),
        ids=qrels.ids.take(rows),
        grades=qrels.grades[rows],
    )


# ---------------------------------------------------------------- clarification need


def confusion(true: npt.ArrayLike, predicted: npt.ArrayLike) -> Codes:
    """Return int64[4, 5]: numbers of topics by true label (row) and predicted label (column).

    Labels are 1 to 4. Column 0 counts the topics without a prediction, whose ``predicted`` is 0.
    """
    table = np.zeros((len(NEEDS), len(NEEDS) + 1), dtype=np.int64)
    rows = np.asarray(true, dtype=np.int64) - 1
    columns = np.asarray(predicted, dtype=np.int64)
    np.add.at(table, (rows, columns), 1)
    return table


def label_scores(table: np.ndarray) -> tuple[Floats, Floats, Floats]:
    """Return precision, recall and F1 of every label, float64[..., 4] each; 0 if undefined.

    ``table``: one or several :func:`confusion` tables, [..., 4, 5].
    """
    predictions = table[..., 1:]
    correct = np.diagonal(predictions, axis1=-2, axis2=-1)
    # topics by predicted label, and by true label including those without a prediction
    predicted, true = predictions.sum(axis=-2), table.sum(axis=-1)
    precision = quotient(correct, predicted)
    recall = quotient(correct, true)
    f1 = quotient(2 * correct, predicted + true)
    return precision, recall, f1


def weighted_scores(table: np.ndarray) -> Floats:
    """Return precision, recall and F1, [..., 3], averaged over labels by their number of topics.

    Equal to scikit-learn's
    ``precision_recall_fscore_support(average="weighted", zero_division=0)``. A topic without a
    prediction counts as wrong.
    """
    support = table.sum(axis=-1)
    topics = support.sum(axis=-1)
    means = [quotient((scores * support).sum(axis=-1), topics) for scores in label_scores(table)]
    return np.stack(means, axis=-1)
