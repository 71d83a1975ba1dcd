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

from robustcs.evaluation.hole_order import Needed, Order
from robustcs.evaluation.holes import JudgedRun
from robustcs.evaluation.matrix import UNJUDGED, GradeMatrix
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.measures import score_columns
from robustcs.evaluation.turns import Turns
from robustcs.inputs.ids import as_numpy
from robustcs.inputs.turns import conversation, turn_sort_key
from robustcs.lazy import pd
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated, Result, count, difference, measure, score, share, table, text
from robustcs.wording import counted as in_words
from robustcs.wording import verb

#: (turn, document).
Pair = tuple[str, str]

#: Columns that lack a value where nothing is known.
_WHOLE = dict.fromkeys(("judgments", "judgments_low", "judgments_high"), "Int64")
#: Hypothetical turns evaluated at a time: bounds working memory.
_BLOCK = 2048

ORDERS = table(
    "orders", "Which of two compared systems is better: is that settled? No rows where a single system is scored.",
    text("baseline"), text("system"), measure(),
    text("state", "proven: the same whatever the grades of the unjudged passages in the top K of all systems; certain: 95 %"
         " of the draws of the hole model agree; open"),
    difference("difference", "baseline − system, unjudged passages not relevant", "now"),
    difference("low", "whatever these grades; null for a measure without bounds"), difference("high"),
    difference("expected", "mean over the draws; null where too few judgments teach the hole model"),
    share("sure", "draws that agree on the order", "sure"),
    count("judgments", "that it probably takes in this order of work: median over the draws", "to judge"),
    count("judgments_low", "80 % of the draws"), count("judgments_high"),
)  # fmt: skip
OUTLOOK = table(
    "outlook", "What judging probably takes until all these orders are settled.",
    count("orders"), count("proven"), count("certain"), count("open"),
    count("judgments", "median over the draws; null where too few judgments teach the hole model", "to judge"),
    count("judgments_low", "80 % of the draws"), count("judgments_high"), count("holes", "that nobody judged so far"),
)  # fmt: skip
COMPARISONS = table(
    "comparisons", "What the influence is about.",
    text("baseline", "empty where a single system is scored"), text("system"), measure(),
)  # fmt: skip
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
    COMPARISONS,
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
    found = _pairs(list(systems.values()), counted, top)
    names = list(systems)
    compared = [(names.index(a), names.index(b)) for a, b in comparisons]
    influence = _influence(matrices, found[1], found[3], compared, measures, policy, max_grade) / int(counted.sum())
    told = [*(note for matrix in matrices for note in matrix.notes), *notes, *turns.notes, *warnings]
    return Worklist(
        Evaluated(policy, "runs", int(counted.sum()), int(turns.lacking.sum()), tuple(dict.fromkeys(told))),
        *_tables(systems, found, top, influence, expected),
        COMPARISONS.frame([(*pair, one.name) for pair in comparisons or [("", name) for name in names] for one in measures]),
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

    def scores(matrix: GradeMatrix) -> npt.NDArray[np.float64]:
        return np.stack(list(score_columns(matrix, measures, policy).values()), axis=1)

    def changes(column: int, block: slice, grade: int) -> npt.NDArray[np.float64]:
        """float64[holes, measures]: what the turn's scores change by were the hole judged ``grade``."""
        matrix, own, places = matrices[column], rows[block], ranks[block, column]
        grades = matrix.grades[own]
        ranked = np.flatnonzero(places >= 0)
        grades[ranked, places[ranked]] = grade
        judged = np.hstack([matrix.judged[own], np.full((len(own), 1), grade, dtype=np.int16)])
        supposed = replace(
            matrix, turns=tuple(map(str, range(len(own)))), grades=grades, judged=np.sort(judged, axis=1)[:, ::-1],
            retrieved=matrix.retrieved[own], missing=matrix.missing[own],
        )  # fmt: skip
        return scores(supposed) - base[column][own]

    base = [scores(matrix) for matrix in matrices]
    influence = np.zeros(len(rows))
    for start in range(0, len(rows), _BLOCK):
        block = slice(start, start + _BLOCK)
        for grade in range(max_grade + 1):
            changed = [changes(column, block, grade) for column in range(len(matrices))]
            differences = [changed[a] - changed[b] for a, b in compared] or changed
            influence[block] = np.maximum(influence[block], sum(np.abs(one).sum(axis=1) for one in differences))
    # what is left of sums that cancel is not an influence
    influence[influence < 1e-12] = 0
    return influence


def _tables(
    systems: Mapping[str, JudgedRun],
    holes: tuple[list[str], npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]],
    top: int,
    influence: npt.NDArray[np.float64],
    expected: Mapping[Pair, float] | None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The worklist and its topics; ``holes``: see :func:`_pairs`."""
    (documents, rows, codes, ranks), names = holes, list(systems)
    turns = next(iter(systems.values())).top.turns
    found = (ranks >= 0) & (ranks < top)
    frame = pd.DataFrame({
        "topic": [conversation(turns[row]) for row in rows], "turn": [turns[row] for row in rows],
        "document": [documents[code] for code in codes], "systems": found.sum(axis=1),
        "best_rank": np.where(found, ranks, top).min(axis=1) + 1, "influence": influence,
        "found_by": [", ".join(name for name, has in zip(names, row, strict=True) if has) for row in found],
        "grade": pd.array([None] * len(rows), dtype="Int64"),
    })  # fmt: skip
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


def with_grades(worklist: Worklist, grades: Mapping[Pair, int]) -> Worklist:
    """The worklist with the grades given so far."""
    frame = worklist.worklist.assign(grade=pd.array([grades.get(pair) for pair in worklist.pairs], dtype="Int64"))
    judged = frame.groupby("topic")["grade"].count()
    return replace(worklist, worklist=frame, topics=worklist.topics.assign(judged=worklist.topics["topic"].map(judged)))


@dataclass(frozen=True)
class State:
    """Where judging stands.

    needed
        Of every order, None where too few judgments teach the hole model, or nothing that could be judged is left;
        ``total`` is that of all together.
    """

    names: tuple[str, ...]
    orders: tuple[Order, ...]
    needed: tuple[Needed, ...] | None
    total: Needed | None

    @property
    def settled(self) -> bool:
        """Is there an order in question, and none of them open?"""
        return bool(self.orders) and all(order.state != "open" for order in self.orders)

    def count(self, state: str) -> int:
        """How many orders are ``proven``, ``certain`` or ``open``."""
        return sum(order.state == state for order in self.orders)

    @property
    def told(self) -> str:
        """One sentence for people; empty where nothing is compared."""
        number = len(self.orders)
        if not number:
            return ""
        parts = [f"{self.count(state)} {state}" for state in ("proven", "certain") if self.count(state)]
        settled = f"{in_words(number, 'order')} of systems: {', '.join(parts) or 'none settled'}"
        if self.settled:
            return settled
        if self.total is None:
            if any(order.sure == order.sure for order in self.orders):  # there are draws, but nothing to ask
                return f"{settled}; no passage that is left to judge settles {verb(number, 'it', 'the others')}"
            return f"{settled}; too few judgments for the hole model to say what the others take"
        of = verb(number, "it", "the others")
        takes = verb(number, "takes", "take")
        return (
            f"{settled}; {of} probably {takes} {in_words(self.total.median, 'judgment')} more"
            f" (80 %: {self.total.low:,} to {self.total.high:,})"
        )

    def order_table(self) -> pd.DataFrame:
        """:data:`ORDERS`."""
        rows = [
            (self.names[one.first], self.names[one.second], one.measure.name, one.state, one.difference, one.low, one.high,
             one.expected, one.sure, *_takes(needed))
            for one, needed in zip(self.orders, self.needed or [None] * len(self.orders), strict=True)
        ]  # fmt: skip
        return ORDERS.frame(rows).astype(_WHOLE)

    def table(self, holes: int) -> pd.DataFrame:
        """:data:`OUTLOOK` where ``holes`` are left."""
        states = [self.count(state) for state in ("proven", "certain", "open")]
        rows = [(len(self.orders), *states, *_takes(self.total), holes)] if self.orders else []
        return OUTLOOK.frame(rows).astype(_WHOLE)


def _takes(needed: Needed | None) -> tuple[int | None, ...]:
    return (needed.median, needed.low, needed.high) if needed else (None, None, None)


def with_outlook(worklist: Worklist, state: State) -> Worklist:
    """The worklist with what judging it probably settles."""
    left = int(worklist.worklist["grade"].isna().sum())
    return replace(worklist, orders=state.order_table(), outlook=state.table(left))
