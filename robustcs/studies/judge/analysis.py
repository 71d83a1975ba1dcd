"""Which unjudged passages are worth judging: those whose grade can change a comparison, not those ranked high.

**Influence.** Let (t, d) be a turn and a passage that nobody judged for it, and D_ab the difference between the mean scores
of two compared systems. Were d judged g, every score of turn t could change: that of a system that ranks d by the gain of
d, and that of *every* system by the ideal ranking or the number of relevant passages, which d joins. The influence is

    influence(t, d) = max over g in 0..G of  Σ over compared (a, b), measures  |D_ab with grade g − D_ab as it stands|

in units of the measure: by at most so much this one grade moves the reported differences, added up. The sum stands inside
the maximum because a passage gets one grade, which moves all comparisons at once. Rank alone would mislead: a passage at
rank 1 of both compared systems leaves their difference in P_3 as it is, whatever its grade; one at rank 3 of a single
paraphrase set does not.

**Order.** Most of these grades are improbable. Where the judgments can teach the hole model, work goes by the expected
influence: the same sum for every grade g, weighed by how probable the model takes g to be
(:func:`robustcs.evaluation.hole_influence.expected_influence`). Else it goes by the influence.

All other holes count as the evaluation counts them (not relevant, not in the ideal ranking), so both are exact for
the next grade and a first-order estimate for many grades together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from robustcs.evaluation.holes import JudgedRun
from robustcs.evaluation.matrix import UNJUDGED, GradeMatrix
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.measures import score_columns
from robustcs.evaluation.turns import Turns
from robustcs.inputs.arrays import as_numpy
from robustcs.inputs.turns import conversation, turn_sort_key
from robustcs.lazy import pd
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated, Result, count, score, table, text
from robustcs.studies.judge.orders import ORDERS, OUTLOOK, State

#: (turn, document).
Pair = tuple[str, str]

#: Hypothetical turns evaluated at a time: bounds working memory.
_BLOCK = 2048

_TABLES = (
    table(
        "worklist",
        "Unjudged passages in the order of work: one topic at a time, in a topic by turn, then by expected influence (where"
        " there is none, by influence).",
        text("topic"), text("turn"), text("document"), count("systems", "that have it in their top k"),
        count("best_rank", "from 1", "best rank"),
        score("influence", "the most that its grade can move the compared differences, added up"),
        text("found_by", "names of these systems"), count("grade", "given so far; null where none is"),
        score("expected_influence", "mean over the grades that the hole model predicts; null where it could not be fitted",
              "expected"),
    ),
    table(
        "topics", "Topics in the order of work: by their total expected influence, or influence where there is none.",
        text("topic"), count("turns"), count("holes", "passages to judge"), count("judged", "grades given so far"),
        score("influence", "sum over its passages"), score("expected_influence", "sum over its passages", "expected"),
    ),
    table(
        "comparisons", "What the influence is about.",
        text("baseline", "empty where a single system is scored"), text("system"), text("metric"),
    ),
    ORDERS,
    OUTLOOK,
)  # fmt: skip


@dataclass(frozen=True)
class Worklist(Result):
    """Holes in the order in which they are judged; what their influence is, the module says.

    ``warnings``: what must stand beside an order that the hole model makes; they are among the notes.
    """

    study = "judge"
    declared = _TABLES

    worklist: pd.DataFrame
    topics: pd.DataFrame
    comparisons: pd.DataFrame
    orders: pd.DataFrame
    outlook: pd.DataFrame
    warnings: tuple[str, ...] = ()

    @property
    def pairs(self) -> list[Pair]:
        """(turn, document) of every hole, in order."""
        return list(zip(self.worklist["turn"], self.worklist["document"], strict=True))


def reach(measures: Sequence[Measure], top: int) -> int | None:
    """The deepest rank that matters: the largest cut-off or ``top``; None is the whole run (a measure without cut-off)."""
    cutoffs = [measure.cutoff for measure in measures]
    return None if None in cutoffs else max(top, *(cutoff or 0 for cutoff in cutoffs))


def judging_worklist(
    systems: Mapping[str, JudgedRun],
    comparisons: Sequence[tuple[str, str]],
    measures: Sequence[Measure],
    policy: EvaluationPolicy,
    top: int,
    max_grade: int,
    turns: Turns,
    notes: Sequence[str] = (),
    expected: Mapping[Pair, float] | None = None,
    warnings: Sequence[str] = (),
) -> Worklist:
    """Rank the unjudged passages in the top ``top`` of all systems by their influence on the comparisons.

    ``comparisons`` are pairs of system names (baseline, system); none of them means that the scores themselves matter.
    Grades run from 0 to ``max_grade``. Only passages of the ``turns`` that count are looked at.
    ``expected``: the expected influence of each of them, by which they are then ordered; ``warnings``: those of the model that
    expects it.
    """
    matrices = [system.top for system in systems.values()]
    counted = turns.counted
    documents, rows, codes, ranks = _pairs(list(systems.values()), counted, top)
    names = list(systems)
    compared = [(names.index(a), names.index(b)) for a, b in comparisons]
    influence = _influence(matrices, rows, ranks, compared, measures, policy, max_grade) / int(counted.sum())
    told = [*(note for matrix in matrices for note in matrix.notes), *notes, *turns.notes, *warnings]
    return Worklist(
        Evaluated(policy, "runs", int(counted.sum()), int(turns.lacking.sum()), tuple(dict.fromkeys(told))),
        *_tables(matrices[0].turns, names, documents, rows, codes, ranks, top, influence, expected),
        _compared(comparisons or [("", name) for name in names], measures),
        ORDERS.frame([]),
        OUTLOOK.frame([]),
        tuple(warnings),
    )


def _pairs(
    systems: Sequence[JudgedRun], counted: npt.NDArray[np.bool_], top: int
) -> tuple[list[str], npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Documents, and per hole in some top k: its turn's row, its document's code, its rank by system (-1: not there)."""
    encoded = pa.concat_arrays([system.unjudged for system in systems]).dictionary_encode()
    documents = encoded.dictionary.to_pylist()
    ends = np.cumsum([len(system.unjudged) for system in systems])[:-1]
    width = max(len(documents), 1)
    places = [np.nonzero(system.top.grades == UNJUDGED) for system in systems]
    codes = np.split(as_numpy(encoded.indices).astype(np.int64), ends)
    keys = [rows * width + own for (rows, _), own in zip(places, codes, strict=True)]
    in_top = [key[(ranks < top) & counted[rows]] for (rows, ranks), key in zip(places, keys, strict=True)]
    pairs = np.unique(np.concatenate(in_top))
    found = np.full((len(pairs), len(systems)), -1, dtype=np.int64)
    for column, ((_, ranks), key) in enumerate(zip(places, keys, strict=True)):
        place = np.searchsorted(pairs, key)
        hit = place < len(pairs)
        hit[hit] = pairs[place[hit]] == key[hit]
        found[place[hit], column] = ranks[hit]
    return documents, pairs // width, pairs % width, found


def _influence(
    matrices: Sequence[GradeMatrix],
    rows: npt.NDArray[np.int64],
    ranks: npt.NDArray[np.int64],
    compared: Sequence[tuple[int, int]],
    measures: Sequence[Measure],
    policy: EvaluationPolicy,
    max_grade: int,
) -> npt.NDArray[np.float64]:
    """float64[holes]: the influence per turn, before it is spread over all turns."""
    base = [_scores(matrix, measures, policy) for matrix in matrices]
    influence = np.zeros(len(rows))
    for start in range(0, len(rows), _BLOCK):
        block = slice(start, start + _BLOCK)
        for grade in range(max_grade + 1):
            changes = [
                _with_grade(matrix, rows[block], ranks[block, column], grade, measures, policy) - base[column][rows[block]]
                for column, matrix in enumerate(matrices)
            ]
            differences = [changes[a] - changes[b] for a, b in compared] or changes
            total = sum(np.abs(difference).sum(axis=1) for difference in differences)
            influence[block] = np.maximum(influence[block], total)
    # what is left of sums that cancel is not an influence
    influence[influence < 1e-12] = 0
    return influence


def _with_grade(
    matrix: GradeMatrix,
    rows: npt.NDArray[np.int64],
    ranks: npt.NDArray[np.int64],
    grade: int,
    measures: Sequence[Measure],
    policy: EvaluationPolicy,
) -> npt.NDArray[np.float64]:
    """float64[holes, measures]: the turn's scores were the hole judged ``grade``."""
    grades = matrix.grades[rows]
    ranked = np.flatnonzero(ranks >= 0)
    grades[ranked, ranks[ranked]] = grade
    judged = np.hstack([matrix.judged[rows], np.full((len(rows), 1), grade, dtype=np.int16)])
    supposed = replace(
        matrix,
        turns=tuple(map(str, range(len(rows)))),
        grades=grades,
        judged=np.sort(judged, axis=1)[:, ::-1],
        retrieved=matrix.retrieved[rows],
        missing=matrix.missing[rows],
    )
    return _scores(supposed, measures, policy)


def _scores(matrix: GradeMatrix, measures: Sequence[Measure], policy: EvaluationPolicy) -> npt.NDArray[np.float64]:
    return np.stack(list(score_columns(matrix, measures, policy).values()), axis=1)


def _tables(
    turns: Sequence[str],
    names: Sequence[str],
    documents: Sequence[str],
    rows: npt.NDArray[np.int64],
    codes: npt.NDArray[np.int64],
    ranks: npt.NDArray[np.int64],
    top: int,
    influence: npt.NDArray[np.float64],
    expected: Mapping[Pair, float] | None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    found = (ranks >= 0) & (ranks < top)
    frame = pd.DataFrame(
        {
            "topic": [conversation(turns[row]) for row in rows],
            "turn": [turns[row] for row in rows],
            "document": [documents[code] for code in codes],
            "systems": found.sum(axis=1),
            "best_rank": np.where(found, ranks, top).min(axis=1) + 1,
            "influence": influence,
            "found_by": [", ".join(name for name, has in zip(names, row, strict=True) if has) for row in found],
            "grade": pd.array([None] * len(rows), dtype="Int64"),
        }
    )
    pairs = zip(frame["turn"], frame["document"], strict=True)
    frame["expected_influence"] = np.nan if expected is None else np.array([expected[pair] for pair in pairs])
    first = "influence" if expected is None else "expected_influence"
    topics = frame.groupby("topic", as_index=False).agg(
        turns=("turn", "nunique"),
        holes=("turn", "size"),
        judged=("grade", "count"),
        influence=("influence", "sum"),
        expected_influence=("expected_influence", lambda values: values.sum(skipna=False)),
    )
    order = sorted(topics.index, key=lambda row: (-topics[first][row], turn_sort_key(topics["topic"][row])))
    topics = topics.loc[order].reset_index(drop=True)
    place = {topic: number for number, topic in enumerate(topics["topic"])}
    keys = zip(frame["topic"].map(place), rows, -frame[first], frame["document"], strict=True)
    order = [row for _, row in sorted((key, row) for row, key in enumerate(keys))]
    return frame.loc[order].reset_index(drop=True), topics


def _compared(comparisons: Sequence[tuple[str, str]], measures: Sequence[Measure]) -> pd.DataFrame:
    rows = [(baseline, system, measure.name) for baseline, system in comparisons for measure in measures]
    return pd.DataFrame(rows, columns=["baseline", "system", "metric"])


def with_grades(worklist: Worklist, grades: Mapping[Pair, int]) -> Worklist:
    """The worklist with the grades given so far."""
    frame = worklist.worklist.assign(grade=pd.array([grades.get(pair) for pair in worklist.pairs], dtype="Int64"))
    judged = frame.groupby("topic")["grade"].count()
    return replace(worklist, worklist=frame, topics=worklist.topics.assign(judged=worklist.topics["topic"].map(judged)))


def with_outlook(worklist: Worklist, state: State) -> Worklist:
    """The worklist with what judging it probably settles."""
    left = int(worklist.worklist["grade"].isna().sum())
    return replace(worklist, orders=state.order_table(), outlook=state.table(left))
